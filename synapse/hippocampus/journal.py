"""What runs changed in Graphiti's own data: written before it is changed, and settled afterwards.

Each change goes through these outcomes::

    "" (begun) ---> done ---> undone
        |                     (by another run, which has an entry of its own)
        +---------> left      (it had changed meanwhile, or is gone)

A run that dies leaves changes that are only begun; what the graph holds tells whether they were
made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from synapse.errors import StoreError, UsageError, shown
from synapse.hippocampus.image import Kind
from synapse.hippocampus.plan_file import Do, Ends, PlannedChange, Seen

Outcome = Literal["", "done", "left", "undone"]
Journal = Mapping[str, Mapping[str, Any]]
"""Entries by run id, as JSON values."""


class JournaledChange(BaseModel):
    """One change with what was there before."""

    model_config = ConfigDict(frozen=True)

    do: Do
    memory: str
    kind: Kind = "fact"
    by: str | None = None
    was: Ends | None = None
    to: Ends | None = None
    before: str = ""
    """Digest of the memory before the change."""
    reason: str = ""
    evidence: str = ""
    claim: dict[str, Any] = {}
    entry: dict[str, Any] | None = None
    """What the ledger said about an archived fact."""
    outcome: Outcome = ""

    @model_validator(mode="after")
    def _ends_are_known(self) -> Self:
        if self.do in ("end", "reopen") and (self.was is None or self.to is None):
            raise ValueError(f"{self.do} needs was and to")
        return self

    @classmethod
    def of(cls, change: PlannedChange, entry: dict[str, Any] | None = None) -> JournaledChange:
        """What to note of a planned change."""
        same = change.model_dump(exclude={"text", "by_text", "by_before"})
        return cls(**same, entry=None if change.is_end else entry)


class RunEntry(BaseModel):
    """One run."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    plan_id: str
    command: str
    now: str
    """The moment that its plan was made for."""
    now_s: float
    """The moment that it decided for."""
    at_s: float | None = None
    """When it did so by the clock, where that is known."""
    config_digest: str
    seen: Seen = Seen()
    undoes: str | None = None
    """The run that this one undoes."""
    is_settled: bool = False
    """Whether the run came to its end; if not, it died or is at work."""
    changes: tuple[JournaledChange, ...] = ()

    @property
    def done_at_s(self) -> float:
        """When it was done, seconds since 1970."""
        return self.now_s if self.at_s is None else self.at_s

    def settled(self, outcomes: Mapping[str, Outcome]) -> RunEntry:
        """The same run with outcomes by memory; what has one keeps it where none is given."""
        changes = tuple(
            c.model_copy(update={"outcome": outcomes.get(c.memory, c.outcome)})
            for c in self.changes
        )
        return self.model_copy(update={"changes": changes, "is_settled": True})

    def resumed(self, changes: Iterable[JournaledChange]) -> RunEntry:
        """The same run, at work again on these changes; what it knew of one before stays."""
        wanted = {change.memory: change for change in changes}
        known = {change.memory for change in self.changes}
        again = tuple(
            c.model_copy(update={"outcome": ""}) if c.memory in wanted else c for c in self.changes
        )
        new = tuple(change for memory, change in wanted.items() if memory not in known)
        return self.model_copy(update={"changes": (*again, *new), "is_settled": False})

    def having(self, *outcomes: Outcome) -> list[JournaledChange]:
        """Its changes of these outcomes."""
        return [change for change in self.changes if change.outcome in outcomes]

    def as_dict(self) -> dict[str, Any]:
        """JSON values; what is empty is left out."""
        return self.model_dump(mode="json", exclude_defaults=True)


def runs_of(journal: Journal, since_s: float = -math.inf) -> list[RunEntry]:
    """The runs in a journal, oldest first.

    Args:
        journal: what runs have noted.
        since_s: earlier runs are left out, and not even understood.

    Raises:
        StoreError: an entry cannot be understood.
    """
    runs = []
    for run_id, entry in journal.items():
        moments_s = [entry.get("now_s"), entry.get("at_s") or -math.inf]
        if all(isinstance(moment_s, float) and moment_s < since_s for moment_s in moments_s):
            continue
        try:
            runs.append(RunEntry.model_validate(entry))
        except ValidationError as error:
            raise StoreError(
                f"field {shown(run_id)} of the room's journal cannot be understood; "
                "upgrade Synapse, or take it from a backup"
            ) from error
    return sorted(runs, key=lambda run: (run.done_at_s, run.run_id))


def newest(journal: Journal, count: int) -> dict[str, Mapping[str, Any]]:
    """The last so many entries of a journal; one whose moment is unknown counts as the newest.

    >>> list(newest({"b": {"now_s": 2.0}, "a": {"now_s": 1.0, "at_s": 3.0}, "c": {}}, 2))
    ['a', 'c']
    """

    def done_at_s(run_id: str) -> tuple[float, str]:
        at_s = journal[run_id].get("at_s") or journal[run_id].get("now_s")
        return (at_s if isinstance(at_s, float) else math.inf), run_id

    return {run_id: journal[run_id] for run_id in sorted(journal, key=done_at_s)[-count:]}


def named_run(runs: Iterable[RunEntry], name: str) -> RunEntry:
    """The run of a name, or of the beginning of one.

    Raises:
        UsageError: there is none, or there are several.
    """
    found = [run for run in runs if name and run.run_id.startswith(name)]
    exact = [run for run in found if run.run_id == name]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        raise UsageError(f"{len(found)} runs begin with {shown(name)}; give more of the name")
    raise UsageError(f"no run {shown(name)} has changed this graph; see synapse runs")


def run_of_plan(runs: Iterable[RunEntry], plan_id: str) -> RunEntry | None:
    """The last run that applied a plan, if any."""
    return next((run for run in reversed(list(runs)) if run.plan_id == plan_id), None)
