"""What Synapse keeps beside one graph: its room, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from synapse.hippocampus.co_recall import Links
from synapse.hippocampus.recall import Profiles, RecallSet
from synapse.hippocampus.traces import TraceTable, empty_traces


@dataclass(frozen=True, slots=True)
class Surprise:
    """A prediction error noticed while an episode was ingested."""

    fact: str
    """Uuid of the new fact."""
    against: str
    """Uuid of the known fact it contradicts; empty where there is none."""
    rule: str
    surprise_ratio: float
    at_s: float
    kind: str = "contradicts"
    """``contradicts``, ``novel`` or ``expected``."""
    event: str = ""
    """Names what happened; it is recorded once. Empty: whatever is recorded counts."""
    id: str = ""
    """Given by the store when the surprise is recorded."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A person's wish that a memory is never pruned."""

    at_s: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Room:
    """What Synapse keeps beside one graph. A graph never seen before has an empty room."""

    revision: int = 0
    """Grows by one with every write."""
    traces: TraceTable = field(default_factory=empty_traces)
    ledger: Mapping[str, Any] = field(default_factory=dict)
    """Fact uuid -> what Synapse decided about it. To look at a damaged one raises a StoreError."""
    surprises: tuple[Surprise, ...] = ()
    """Recorded and not yet taken over by a run, oldest first."""
    recalls: tuple[RecallSet, ...] = ()
    """Recorded and not yet folded by a run, in the order of their arrival."""
    profiles: Profiles = field(default_factory=dict)
    """How each memory was recalled; only those that ever were."""
    links: Links = field(default_factory=dict)
    """Which memories were recalled together."""
    pins: Mapping[str, Pin] = field(default_factory=dict)
    """By the uuid of the memory."""
    last_run: dict[str, Any] = field(default_factory=dict)
    memo: dict[str, Any] = field(default_factory=dict)
    """What the last run that thought has found out."""
    failures_count: int = 0
    """Runs that failed since the last one that did not."""


@dataclass(frozen=True, slots=True)
class RoomSummary:
    """Sizes and last run of a room, cheap to read."""

    traces_count: int = 0
    ledger_count: int = 0
    surprises_count: int = 0
    recalls_count: int = 0
    """Recall sets that wait to be folded."""
    recalled_count: int = 0
    """Memories with a recall profile."""
    pins_count: int = 0
    revision: int = 0
    failures_count: int = 0
    last_run: dict[str, Any] = field(default_factory=dict)
    lock_holder: str | None = None
