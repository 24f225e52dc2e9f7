"""What a run has decided to write, as a value: nothing is written by deciding."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple, dataclass, field, replace
from typing import Any

import numpy as np

from synapse.hippocampus.co_recall import Links
from synapse.hippocampus.image import Kind
from synapse.hippocampus.memory_keys import Keys
from synapse.hippocampus.model import Bools
from synapse.hippocampus.recall import Profiles
from synapse.hippocampus.traces import TraceTable, empty_traces


@dataclass(frozen=True, slots=True)
class Change:
    """One item: its value before and after, and why.

    >>> Change("fact-1", None, {"verdict": "missed"}, "newer value").inverse().after is None
    True
    """

    target: str
    """Uuid of the memory that the change is about."""
    before: Any
    after: Any
    """``None`` means: no entry."""
    reason: str
    evidence: tuple[str, ...] = ()
    """Uuids of the facts that speak for the change."""

    def inverse(self) -> Change:
        """The change that brings ``before`` back."""
        return replace(self, before=self.after, after=self.before, reason=f"undo: {self.reason}")


@dataclass(frozen=True, slots=True)
class FactState:
    """One fact as its graph holds it now; times as they are written there, ``None`` for none."""

    text: str
    valid_at: str | None = None
    invalid_at: str | None = None
    expired_at: str | None = None
    episodes: tuple[str, ...] = ()
    """Uuids of the episodes that say it, in the graph's own order."""

    @property
    def ends(self) -> dict[str, str | None]:
        """The two times at which it stopped to hold, and to be believed."""
        return {"invalid_at": self.invalid_at, "expired_at": self.expired_at}

    @property
    def digest(self) -> str:
        """Names the fact in exactly this state.

        >>> FactState("x").digest == FactState("x", episodes=("said again",)).digest
        False
        """
        return hashlib.blake2b(json.dumps(astuple(self)).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class EndChange:
    """When a fact ended, before and after: one of two kinds of write to Graphiti's own data.

    It is written only where the fact, and the one that replaces it, still are what they were: a
    fact that was said again meanwhile, or whose replacement was taken back, keeps its end.
    """

    fact: str
    """Uuid of the fact."""
    before: FactState
    invalid_at: str | None
    expired_at: str | None
    by: str | None = None
    """Uuid of the fact that replaces it, if any."""
    by_before: FactState | None = None
    """That fact, as it was; it may have got an end by a change of the same call."""


@dataclass(frozen=True, slots=True)
class ArchiveChange:
    """A memory that moves into the archive: the other kind of write to Graphiti's own data.

    It is moved only where it still is what it was ``before``.
    """

    uuid: str
    kind: Kind
    before_digest: str
    """Digest of its :class:`~synapse.hippocampus.image.MemoryImage`."""
    reason: str
    by_person: bool = False
    """Whether a person decided that it goes: no run proposes it again by itself."""


@dataclass(frozen=True, slots=True)
class ConsolidationPlan:
    """Everything one run writes into Synapse's room of one graph, in one atomic step.

    ``traces`` is the whole table as it is to be; ``changed`` marks the rows that differ from
    what is kept, ``removed`` names the keys that are kept and no longer belong to a memory.
    """

    graph: str
    run_id: str
    config_digest: str
    base_revision: int
    """Revision of the room the plan was made from; a room that moved on refuses the plan."""
    traces: TraceTable = field(default_factory=empty_traces)
    changed: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))
    removed: Keys = field(default_factory=lambda: np.zeros(0, "S16"))
    ledger: tuple[Change, ...] = ()
    surprises: tuple[str, ...] = ()
    """Ids of the prediction errors that this run has taken over."""
    profiles: Profiles = field(default_factory=dict)
    """Recall profiles as they are to be, of those memories whose profile changed."""
    links: Links = field(default_factory=dict)
    """Likewise the partners of memories that were recalled together."""
    forgotten: frozenset[str] = frozenset()
    """Memories whose recalls need not be remembered any more."""
    folded: str = ""
    """Id of the last recall set that this run has folded, and with it all before it."""
    memo: dict[str, Any] | None = None
    """What to remember of this run; ``None`` where that is kept already."""
    run_record: dict[str, Any] = field(default_factory=dict)
    journal: dict[str, Any] = field(default_factory=dict)
    """Run id -> what that run changes in Graphiti's own data; written in the same step."""
    interim: bool = False
    """Not the end of a run: the record of the last run and earlier failures stay as they are."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return not (
            self.changed.any()
            or len(self.removed)
            or self.ledger
            or self.surprises
            or self.forgotten
            or self.folded
            or self.journal
            or self.memo is not None
        )
