"""The inverse of a run: a plan that brings back what was there, where that is still ours to do.

An end is taken back only where the graph still holds what the run wrote; whoever wrote something
else since then has the last word. Undoing is planned like everything else: the plan of an undo is
applied, journaled and can be undone itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from synapse.hippocampus.archived import ArchivedMemory, newest_first
from synapse.hippocampus.journal import JournaledChange, RunEntry
from synapse.hippocampus.ledger import KEEP_NEW, UNDO, Entry
from synapse.hippocampus.plan import FactState
from synapse.hippocampus.plan_file import Do, Ends, PlannedChange

_NOT_OURS = "it no longer is what the run wrote"
_GONE = "it is gone from the graph"
_GONE_AGAIN = "it came back and has gone from the graph since"
_NOWHERE = "it is neither in the graph nor in the archive"
_PURGED = "it was purged and is gone for good"


@dataclass(frozen=True, slots=True)
class Inverse:
    """What brings a run's changes back, and why some cannot be."""

    changes: tuple[PlannedChange, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)
    already: frozenset[str] = frozenset()
    """What is back without the undoing."""

    @property
    def count(self) -> int:
        """How many memories would become something else than they are."""
        return sum(change.was is None or change.was != change.to for change in self.changes)


@dataclass(frozen=True, slots=True)
class Present:
    """What undoing looks at."""

    states: Mapping[str, FactState]
    """Facts of the graph."""
    ledger: Mapping[str, Entry]
    archive: tuple[ArchivedMemory, ...] = ()
    gone: frozenset[str] = frozenset()
    """Memories that were archived, and that neither the graph nor the archive holds."""


def inverse(run: RunEntry, present: Present) -> Inverse:
    """What brings back what a run has changed, and nobody has undone."""
    archived = newest_first(present.archive)
    own = {memory.uuid: memory for memory in present.archive if memory.run_id == run.run_id}
    changes, left, already = [], {}, set()
    for change in run.having("", "done"):
        if change.to is not None:
            found = _inverse_end(change, present, archived.get(change.memory))
        elif change.do == "archive":
            found = _inverse_archive(change, own.get(change.memory), archived)
            if found is None and change.memory in present.gone:
                found = _GONE_AGAIN if change.memory in archived else _NOWHERE
        else:
            found = _planned(change, "archive", before=change.before)
        if isinstance(found, str):
            left[change.memory] = found
        elif found is not None:
            changes.append(found)
        else:
            already.add(change.memory)
    return Inverse(tuple(changes), left, frozenset(already))


def facts_of(runs: Iterable[RunEntry]) -> set[str]:
    """The facts whose ends some runs have written."""
    return {change.memory for run in runs for change in run.changes if change.to is not None}


def _inverse_end(
    change: JournaledChange, present: Present, memory: ArchivedMemory | None
) -> PlannedChange | str | None:
    assert change.was is not None and change.to is not None
    state, entry = present.states.get(change.memory), present.ledger.get(change.memory, {})
    if state is None:
        return _why_gone(memory)
    now = Ends(**state.ends)
    if now == change.was and (change.do == "reopen" or entry.get("state") == "undone"):
        return None  # nothing is left to undo
    if now not in (change.to, change.was):
        return _NOT_OURS
    # Where the graph shows the old end already, the ledger still has to learn that it is wanted.
    do: Do = "reopen" if change.do == "end" else "end"
    claim = {**change.claim, "decision": UNDO if do == "reopen" else KEEP_NEW}
    return _planned(
        change, do, text=state.text, was=now, to=change.was, before=state.digest,
        claim={"by": change.by, **claim}, evidence=change.evidence,
    )  # fmt: skip


def _why_gone(memory: ArchivedMemory | None) -> str:
    if memory is None or memory.state == "restored":
        return _GONE
    if memory.is_removed_for_good:
        return _PURGED
    return f"run {memory.run_id} archived it; undo that run first"


def _inverse_archive(
    change: JournaledChange, memory: ArchivedMemory | None, newest: Mapping[str, ArchivedMemory]
) -> PlannedChange | str | None:
    if memory is None or memory.state == "restored":
        return None  # it never went, or is back
    if memory.is_removed_for_good:
        return _PURGED
    later = newest[memory.uuid].run_id
    if later != memory.run_id:
        return f"run {later} archived it again since; undo that run first"
    return _planned(
        change, "restore", text=memory.name, before=change.before, claim=change.entry or {}
    )


def _planned(change: JournaledChange, do: Do, **more: Any) -> PlannedChange:
    reason = _reason_of_inverse(change.reason)
    return PlannedChange(do=do, memory=change.memory, kind=change.kind, reason=reason, **more)


def _reason_of_inverse(reason: str) -> str:
    """Why something is taken back, or done again.

    >>> _reason_of_inverse("faded"), _reason_of_inverse("undo: faded")
    ('undo: faded', 'again: faded')
    >>> _reason_of_inverse("again: faded"), _reason_of_inverse("undo: undo: faded")
    ('undo: faded', 'undo: faded')
    """
    prefix = "undo: "
    while reason.startswith(("undo: ", "again: ")):
        word, _, reason = reason.partition(" ")
        is_undone = (word == "undo:") == (prefix == "undo: ")
        prefix = "again: " if is_undone else "undo: "
    return prefix + reason
