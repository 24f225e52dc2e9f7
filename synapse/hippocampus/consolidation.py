"""The run: read, think, plan, apply, report.

Thinking is pure (:mod:`~synapse.hippocampus.stages`), and so is comparing it with what is kept
(:mod:`~synapse.hippocampus.room_plan`); :meth:`ConsolidationEngine.consolidate` is the one place
that applies it. A dry run is the same run without the last step, and a run over an unchanged graph
one that remembers instead of :mod:`~synapse.hippocampus.thinking`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from synapse.errors import (
    LockBusy,
    SafetyCap,
    StoreError,
    StoreUnreachable,
    SynapseError,
    UnknownGraph,
    shown,
)
from synapse.hippocampus.archived import not_to_propose
from synapse.hippocampus.caps import taken_count
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.found import Found
from synapse.hippocampus.ledger import is_bereft
from synapse.hippocampus.memo import Memo
from synapse.hippocampus.model import GraphOutline, GraphSnapshot
from synapse.hippocampus.near_duplicates import near_duplicates
from synapse.hippocampus.plan import ConsolidationPlan
from synapse.hippocampus.ports import LOCK_TTL_S, MemoryStore
from synapse.hippocampus.recalled import Recalled
from synapse.hippocampus.report import ConsolidationReport, Durations, Recalls, Status
from synapse.hippocampus.resolution import is_waiting
from synapse.hippocampus.resolved import Resolved
from synapse.hippocampus.room import Room
from synapse.hippocampus.run import Outcome, Run
from synapse.hippocampus.stamps import iso_time
from synapse.hippocampus.standing import Kept, Standing
from synapse.hippocampus.summary import summarize, tell_lapsed, tell_resolved
from synapse.hippocampus.traces import empty_traces
from synapse.hippocampus.usage import Usage

if TYPE_CHECKING:
    from synapse.hippocampus.thinking import Thinking

__all__ = ["ConsolidationEngine", "Outcome", "Run"]

LOUD_FAILURES_COUNT = 3


class _Overtaken(LockBusy):
    """Another run or a belief was written while this run was thinking: it may think anew."""


class ConsolidationEngine:
    """Runs over the graphs of one store.

    Args:
        store: where graphs and rooms are.
        config: the constants.
        stopwatch: seconds that only grow, for the durations in the report.
    """

    def __init__(
        self, store: MemoryStore, config: HippocampusConfig, stopwatch: Callable[[], float]
    ) -> None:
        self._store = store
        self._config = config
        self._stopwatch = stopwatch

    def consolidate(self, run: Run) -> Outcome:
        """One graph. Raises nothing that Synapse raises on purpose: see ``Outcome.error``."""
        try:
            try:
                return self._consolidate(run)
            except _Overtaken:
                if not run.lock_wait_s:
                    raise
                return self._consolidate(run)
        except LockBusy as busy:
            return self.stopped(run, "lock_busy", busy)
        except SynapseError as error:
            return self._failed(run, error)
        except Exception as error:  # noqa: BLE001  one graph's surprise must not stop the others
            return self._failed(run, _unexpected(error))

    def _consolidate(self, run: Run) -> Outcome:
        graph = run.scope.graph
        started_s = self._stopwatch()
        if not run.dry_run and not self._store.await_lock(graph, run.lock_wait_s):
            raise LockBusy(
                f"another run works on graph {shown(graph)}; it will be done by that run"
            )
        room = self._store.read_room(graph)
        found = self._find(run, room)
        room = replace(room, traces=empty_traces())  # compared by now: free them before writing
        report = summarize(
            found.known, found.standing, room,
            schemas=run.schemas, prune=run.prune, recalls=_recalls(found, room, run),
            **_header(run),
        )  # fmt: skip
        if found.resolved is not None:
            sure = self._config.contradictions.resolve_confidence
            tell_resolved(report, found.resolved, found.ledger or room.ledger, sure)
        plan = found.plan
        tell_lapsed(report, plan.ledger)
        think_s = self._stopwatch()
        changed_count = int(plan.changed.sum())
        report.retention.changed = changed_count
        report.retention.unchanged = report.seen.entities + report.seen.facts - changed_count
        report.wakeAgent |= bool(
            report.online_contradictions.count or report.contradictions.resolved
        ) or any(c.before is None or is_bereft(c.after or {}) for c in plan.ledger)
        if not run.dry_run and self._write(run, found, room, report):
            report.wrote.traces = changed_count
            report.wrote.findings = len(plan.ledger)
        report.durations_s = Durations(
            read=round(found.read_s - started_s, 3),
            think=round(think_s - found.read_s, 3),
            write=round(self._stopwatch() - think_s, 3),
        )
        return Outcome(report, found.thoughts, ledger=found.ledger)

    def _find(self, run: Run, room: Room) -> Found:
        """Think about the graph, or remember what was thought when it was the same."""
        thinking, snapshot = cache(lambda: self._thinking(run)), None
        memo = Memo.read(room.memo) if self._may_remember(run, room) else None
        if memo and memo.holds(self._config, room.ledger, run.now_s):
            seen = self._store.read_graph_unless(
                run.scope.graph, memo.graph_digest, lambda texts: thinking().hear(texts)
            )
            if isinstance(seen, GraphSnapshot):
                snapshot = seen
            elif found := self._remembered(run, room, memo, seen):
                return found
        if snapshot is None:
            snapshot = thinking().read()
        return thinking().found(snapshot, room, self._stopwatch())

    def _thinking(self, run: Run) -> Thinking:
        from synapse.hippocampus.thinking import Thinking

        return Thinking(self._store, self._config, run)

    def _may_remember(self, run: Run, room: Room) -> bool:
        """Whether nothing but the graph itself can make a run think anew."""
        if not run.scope.whole_graph or run.full_lists or room.surprises or room.recalls:
            return False
        sure = self._config.contradictions.resolve_confidence
        return not (run.resolve and is_waiting(room.ledger, sure))

    def _remembered(self, run: Run, room: Room, memo: Memo, seen: GraphOutline) -> Found | None:
        """What a run over an unchanged graph knows; ``None`` where a memory has no trace, or others
        are nearly the same."""
        graph, read_s = run.scope.graph, self._stopwatch()
        kept = Kept.from_traces(room.traces, seen)
        if kept is None or self._has_other_near_duplicates(graph, memo):
            return None
        usage = Usage.of(
            seen.memory_uuids, room.profiles, room.links, room.pins,
            taken_count(self._store.read_journal(graph), run.now_s),
            not_to_propose(self._store.read_archive(graph)) if run.prune else frozenset(),
        )  # fmt: skip
        standing = Standing(seen, kept, run.now_s, self._config, usage)
        plan = ConsolidationPlan(graph, run.run_id, self._config.digest, room.revision)
        nothing = Resolved(room, is_dry=run.dry_run) if run.resolve else None
        return Found(memo.known, standing, plan, read_s, resolved=nothing)

    def _has_other_near_duplicates(self, graph: str, memo: Memo) -> bool:
        """Whether embeddings have changed, which nothing else of a graph tells."""
        now = near_duplicates(self._store, graph, self._config.interference)
        return now.digest != memo.near_digest

    def _write(self, run: Run, found: Found, room: Room, report: ConsolidationReport) -> bool:
        plan = found.plan
        if plan.is_empty:
            if room.failures_count:
                self._store.clear_failures(plan.graph)
            return False
        self._store.await_lock(plan.graph, run.lock_wait_s)
        if not self._store.acquire_lock(plan.graph, plan.run_id, LOCK_TTL_S):
            return _leave_to_another(found, report, "works on it")
        try:
            if self._store.summarize_room(plan.graph).revision != plan.base_revision:
                return _leave_to_another(found, report, "finished meanwhile")
            self._store.apply(replace(plan, run_record=report.as_record()), plan.run_id)
        finally:
            self._release(plan, report)
        return True

    def _release(self, plan: ConsolidationPlan, report: ConsolidationReport) -> None:
        try:
            self._store.release_lock(plan.graph, plan.run_id)
        except StoreError as error:
            report.warnings.append(f"the lock stays until it expires in {LOCK_TTL_S:g} s: {error}")

    def _failed(self, run: Run, error: SynapseError) -> Outcome:
        outcome = self.stopped(run, "failed", error)
        if run.dry_run or isinstance(error, (StoreUnreachable, UnknownGraph, SafetyCap)):
            return outcome
        try:
            failures_count = self._store.record_failure(run.scope.graph)
        except StoreError as second:
            outcome.report.warnings.append(f"the failure could not be recorded: {second}")
            return outcome
        if failures_count >= LOUD_FAILURES_COUNT:
            outcome.report.warnings.append(f"failure {failures_count} in a row on this graph")
        return outcome

    def stopped(self, run: Run, status: Status, error: SynapseError) -> Outcome:
        """The outcome of a run that did not come to its end, or never began."""
        report = ConsolidationReport(
            status=status, error=str(error), config_digest=self._config.digest, **_header(run)
        )
        return Outcome(report, error=error)


def _leave_to_another(found: Found, report: ConsolidationReport, what: str) -> bool:
    """Keep no scores; a run that has ended facts must still say so."""
    if found.resolved is None or not found.resolved.has_written:
        raise _Overtaken(f"another run on graph {shown(report.graph)} {what}; nothing was written")
    report.warnings.append(f"another run {what}; scores are left to it")
    return False


def _header(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "graph": run.scope.graph,
        "group_id": run.scope.group_id,
        "now": iso_time(run.now_s),
        "dry_run": run.dry_run,
        "wakeAgent": run.always_wake,
    }


def _recalls(found: Found, room: Room, run: Run) -> Recalls:
    recalled = found.thoughts.recalled if found.thoughts else Recalled()
    return Recalls(
        counted=recalled.counted_count,
        exposures=recalled.exposures_count,
        pending=len(room.recalls) if run.dry_run else 0,
    )


def _unexpected(error: Exception) -> SynapseError:
    wrapped = SynapseError(
        f"unexpected {type(error).__name__}: {error}; run again with -v for the whole story"
    )
    wrapped.__cause__ = error
    return wrapped
