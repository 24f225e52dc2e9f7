"""What somebody wants back from the archive, as a plan like any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synapse.errors import UsageError, shown
from synapse.hippocampus.archived import ArchivedMemory, newest_first
from synapse.hippocampus.journal import Journal
from synapse.hippocampus.ledger import is_decision
from synapse.hippocampus.plan_file import MemoryPlan, PlannedChange
from synapse.hippocampus.restoration import ALREADY_THERE, RESTORED
from synapse.hippocampus.scope import Scope
from synapse.hippocampus.stamps import iso_time


@dataclass(frozen=True, slots=True)
class BringBack:
    """A plan that brings memories back, and why others stay."""

    plan: MemoryPlan
    already: frozenset[str]
    """Uuids of memories that the graph holds."""
    left: dict[str, str]
    """Why each of the others stays in the archive, by uuid."""


def named(archive: Sequence[ArchivedMemory], name: str) -> list[str]:
    """The memories that a uuid, or a run or the beginning of its name, stands for.

    Raises:
        UsageError: the archive knows neither, or several runs begin like that.

    >>> entry = ArchivedMemory("a", "fact", "", "run-1", 1.0, "", "archived", "")
    >>> named([entry], "a"), named([entry], "run")
    (['a'], ['a'])
    """
    if any(memory.uuid == name for memory in archive):
        return [name]
    run = run_named(archive, name, "memory or run")
    return [memory.uuid for memory in archive if memory.run_id == run]


def run_named(archive: Sequence[ArchivedMemory], name: str, what: str = "run") -> str:
    """The run of this name, or whose name begins so.

    Args:
        archive: all entries.
        name: of the run.
        what: was looked for, for the sentence that it is not there.

    Raises:
        UsageError: it moved nothing here, or several runs begin like that.
    """
    runs = {memory.run_id for memory in archive}
    runs = {name} if name in runs else {run for run in runs if name and run.startswith(name)}
    if len(runs) > 1:
        raise UsageError(f"several runs begin with {shown(name)}; write more of it")
    if not runs:
        raise UsageError(f"the archive knows no {what} {shown(name)}; see synapse archive list")
    return runs.pop()


def plan_bring_back(
    archive: Sequence[ArchivedMemory],
    told: Mapping[str, str],
    journal: Journal,
    scope: Scope,
    now_s: float,
    config_digest: str,
) -> BringBack:
    """Plan to bring memories back, with the ends of facts that they need.

    Args:
        archive: all entries, oldest first.
        told: what would become of each of them, by uuid.
        journal: knows what was decided about them when they went.
        scope: which graph.
        now_s: the moment.
        config_digest: names the configuration.
    """
    newest = newest_first(archive)
    coming = [newest[uuid] for uuid, said in told.items() if said.startswith(RESTORED)]
    decided = {run: _decided(journal.get(run, {})) for run in {m.run_id for m in coming}}
    changes = tuple(
        PlannedChange(
            do="restore",
            memory=memory.uuid,
            kind=memory.kind,
            text=memory.name,
            reason=f"asked for; archived by run {memory.run_id}: {memory.reason}",
            before=memory.digest,
            claim=decided[memory.run_id].get(memory.uuid, {}),
        )
        for memory in sorted(coming, key=lambda memory: (memory.kind, memory.uuid))
    )
    plan = MemoryPlan(
        graph=scope.graph,
        group_id=scope.group_id,
        now=iso_time(now_s),
        config_digest=config_digest,
        changes=changes,
    )
    already = frozenset(uuid for uuid, said in told.items() if said == ALREADY_THERE)
    planned = {change.memory for change in changes}
    left = {uuid: said for uuid, said in told.items() if uuid not in planned | already}
    return BringBack(plan, already, left)


def _decided(run: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What the ledger said about the memories that a run has archived, by uuid."""
    changes = run.get("changes")
    noted = [c for c in changes if isinstance(c, Mapping)] if isinstance(changes, list) else []
    return {
        str(change.get("memory")): change["entry"]
        for change in noted
        if is_decision(change.get("entry"))
    }
