"""Changes of one graph, as people ask for them: plan, apply, undo, and what runs have done."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from synapse.errors import UsageError, shown
from synapse.hippocampus.applier import Applied, Applier, Job
from synapse.hippocampus.archived import newest_first
from synapse.hippocampus.bring_back import named, plan_bring_back
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.journal import RunEntry, named_run, newest, run_of_plan, runs_of
from synapse.hippocampus.plan_file import MemoryPlan
from synapse.hippocampus.planning import Planned, empty_plan, plan_prune, plan_resolve
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.recalled import NO_RECALL_KNOWN, is_any_recall_known
from synapse.hippocampus.room import Room
from synapse.hippocampus.scope import Scope
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.stamps import iso_time
from synapse.hippocampus.undo import Inverse, Present, facts_of, inverse


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run, and what of it can be undone now."""

    entry: RunEntry
    undoing: Inverse


@dataclass(frozen=True, slots=True)
class Undone:
    """What became of undoing a run."""

    entry: RunEntry
    """The run that was to be undone."""
    applied: Applied
    """``left`` names what stays as it is, with the reason."""


class GraphChanges:
    """Plans and carries out changes of one graph.

    Args:
        store: where it is.
        scope: the graph, and the group in it.
        config: the constants.
    """

    def __init__(self, store: MemoryStore, scope: Scope, config: HippocampusConfig) -> None:
        self._store = store
        self._scope = scope
        self._config = config

    def plan(
        self, thoughts: Thoughts, room: Room, *, resolve: bool, prune: bool,
        max_changes: int | None = None, at_s: float | None = None,
    ) -> Planned:  # fmt: skip
        """What a run would change; nothing is written.

        Args:
            thoughts: about the graph.
            room: what is kept beside it.
            resolve: whether facts that are contradicted for certain end.
            prune: whether candidates move into the archive, as many as one run may.
            max_changes: so many instead.
            at_s: the moment by the clock, where the thoughts are about another one.
        """
        planned = Planned(empty_plan(self._scope, thoughts))
        if resolve:
            ledger = thoughts.followed(room.ledger)
            planned = plan_resolve(self._store, self._scope, thoughts, ledger)
        if not prune:
            return planned
        ends = planned.plan.changes
        pruned = plan_prune(
            self._store, self._scope, thoughts, self._journal(), max_changes, ends, at_s
        )
        both = pruned.plan.model_copy(update={"changes": (*ends, *pruned.plan.changes)})
        memories = thoughts.snapshot.memory_uuids
        blind = bool(pruned.plan.changes) and not is_any_recall_known(room, memories)
        return replace(
            planned,
            plan=both,
            waiting_count=pruned.waiting_count,
            why_nothing=pruned.why_nothing,
            warnings=(*pruned.warnings, *((NO_RECALL_KNOWN,) if blind else ())),
        )

    def apply(self, plan: MemoryPlan, job: Job, lock_token: str) -> Applied:
        """Carry out a plan, complete what a run that died has begun of it, or try what was left.

        Raises:
            UsageError: the plan is of another graph, was made with another configuration, or was
                applied and undone.
            SafetyCap, LockBusy, LockLost: as :meth:`~synapse.hippocampus.applier.Applier.apply`.
        """
        graph = self._scope.graph
        if plan.graph != graph:
            raise UsageError(f"the plan is for graph {shown(plan.graph)}, not for {shown(graph)}")
        if plan.config_digest != self._config.digest:
            raise UsageError(
                f"the plan was made with configuration {plan.config_digest}, "
                f"this one is {self._config.digest}; make a new plan"
            )
        room, journal = self._store.read_room(graph), self._journal()
        same = {n: entry for n, entry in journal.items() if entry.get("plan_id") == plan.id}
        earlier = run_of_plan(runs_of(same), plan.id)
        if earlier is not None and earlier.is_settled:
            already = {change.memory for change in earlier.having("done")}
            if earlier.having("undone"):
                raise UsageError(
                    f"run {earlier.run_id} applied the plan and was undone; make a new plan"
                )
            if already.issuperset(change.memory for change in plan.changes):
                return Applied(room, plan, already=frozenset(already), earlier=earlier)
        if earlier is not None:
            job = replace(job, run_id=earlier.run_id)
        applied = Applier(self._store, lock_token).apply(plan, room, job, journal)
        return replace(applied, earlier=earlier)

    def restore(self, name: str, job: Job, lock_token: str) -> Applied:
        """Bring back what somebody wants from the archive, with the ends that facts need.

        Args:
            name: uuid of a memory, or a run that moved some, or the beginning of its name.
            job: who wants it; never capped.
            lock_token: holds the lock while something is written.

        Raises:
            UsageError: the archive knows neither.
            LockBusy, LockLost: as :meth:`~synapse.hippocampus.applier.Applier.apply`.
        """
        graph = self._scope.graph
        archive = self._store.read_archive(graph)
        told = self._store.foresee_restore(graph, named(archive, name))
        found = plan_bring_back(
            archive, told, self._journal(), self._scope, job.now_s, self._config.digest
        )
        applied = self.apply(found.plan, replace(job, is_capped=False), lock_token)
        already, left = applied.already | found.already, {**found.left, **applied.left}
        return replace(applied, already=already, left=left)

    def undo(self, name: str, job: Job, lock_token: str) -> Undone:
        """Bring back what a run has changed, where the graph still holds what it wrote.

        Args:
            name: the run, or the beginning of its name.
            job: the run that undoes; never capped.
            lock_token: holds the lock while something is written.

        Raises:
            UsageError: there is no such run.
            LockBusy, LockLost: as :meth:`~synapse.hippocampus.applier.Applier.apply`.
        """
        room, journal = self._store.read_room(self._scope.graph), self._journal()
        entry = named_run(runs_of({n: e for n, e in journal.items() if n.startswith(name)}), name)
        present = self._present([entry], room)
        found = inverse(entry, replace(present, gone=self._gone_again(entry, present)))
        plan = MemoryPlan(
            graph=self._scope.graph,
            group_id=self._scope.group_id,
            now=iso_time(job.now_s),
            config_digest=self._config.digest,
            seen=entry.seen,
            changes=found.changes,
        )
        undoing = {n: e for n, e in journal.items() if e.get("undoes") == entry.run_id}
        begun = next((run for run in runs_of(undoing) if not run.is_settled), None)
        run_id = job.run_id if begun is None else begun.run_id
        unmarked = {change.memory for change in entry.having("", "done")}
        back = found.already & unmarked
        job = replace(job, run_id=run_id, is_capped=False, undoes=entry, back=back)
        applied = Applier(self._store, lock_token).apply(plan, room, job, journal)
        already, left = found.already | applied.already, {**found.left, **applied.left}
        return Undone(entry, replace(applied, already=already, left=left))

    def runs(self, last_count: int | None = None) -> list[PastRun]:
        """What runs have changed, oldest first, and what of it can be undone now.

        Args:
            last_count: so many of the last ones; all where it is left out.
        """
        journal = self._journal()
        runs = runs_of(journal if last_count is None else newest(journal, last_count))
        present = self._present(runs, self._store.read_room(self._scope.graph))
        return [PastRun(run, inverse(run, present)) for run in runs]

    def _journal(self) -> dict[str, dict[str, Any]]:
        return self._store.read_journal(self._scope.graph)

    def _gone_again(self, run: RunEntry, present: Present) -> frozenset[str]:
        """What a run has archived, is in the archive no longer, and not in the graph."""
        entries = newest_first(present.archive)
        moved = {change.memory for change in run.changes if change.do == "archive"}
        back = {u for u in moved if u not in entries or entries[u].state == "restored"}
        return frozenset(back - self._store.read_images(self._scope.graph, back).keys())

    def _present(self, runs: list[RunEntry], room: Room) -> Present:
        graph, facts = self._scope.graph, facts_of(runs)
        states = self._store.read_facts(graph, facts) if facts else {}
        moved = any(change.do == "archive" for run in runs for change in run.changes)
        is_any_gone = not facts <= states.keys()
        return Present(
            states=states,
            ledger=room.ledger,
            archive=tuple(self._store.read_archive(graph)) if moved or is_any_gone else (),
        )
