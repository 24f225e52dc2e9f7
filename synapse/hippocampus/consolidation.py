"""The run: read, think, plan, apply, report.

Thinking is pure (:mod:`~synapse.hippocampus.stages`); :func:`make_plan` compares it with what is
kept and returns a value; :meth:`ConsolidationEngine.consolidate` is the one place that applies
it. A dry run is the same run without the last step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from synapse.errors import (
    LockBusy,
    SafetyCap,
    StoreError,
    StoreUnreachable,
    SynapseError,
    UnknownGraph,
)
from synapse.hippocampus.applier import Job
from synapse.hippocampus.archived import former_stability, not_to_propose
from synapse.hippocampus.caps import spent_on
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.hearing import Hearing
from synapse.hippocampus.interference import NearDuplicates
from synapse.hippocampus.ledger import changes, follow
from synapse.hippocampus.memo import Memo
from synapse.hippocampus.model import GraphOutline, GraphSnapshot
from synapse.hippocampus.plan import ConsolidationPlan
from synapse.hippocampus.ports import LOCK_TTL_S, MemoryStore, Room
from synapse.hippocampus.recalled import Recalled, changed
from synapse.hippocampus.report import ConsolidationReport, Durations, Recalls, Status, Timeless
from synapse.hippocampus.resolution import is_waiting
from synapse.hippocampus.resolved import Resolved, resolve
from synapse.hippocampus.scope import Scope, require_group
from synapse.hippocampus.stages import NO_DUPLICATES, Thoughts
from synapse.hippocampus.stamps import iso_time
from synapse.hippocampus.standing import Kept, Standing
from synapse.hippocampus.summary import summarize, tell_lapsed, tell_resolved, timeless
from synapse.hippocampus.traces import (
    TraceTable,
    changed_rows,
    empty_traces,
    key_order,
    removed_keys,
)
from synapse.hippocampus.usage import Usage

LOUD_FAILURES_COUNT = 3
RESOLVE = "consolidate --resolve"


class _Overtaken(LockBusy):
    """Another run or a belief was written while this run was thinking: it may think anew."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a caller asks for."""

    scope: Scope
    now_s: float
    run_id: str
    schemas: bool = False
    prune: bool = False
    resolve: bool = False
    """Whether certain contradictions are written into the graph."""
    max_changes: int | None = None
    """How many facts may be ended by this run, in place of the caps."""
    lock_wait_s: float = 0.0
    """How long to wait for another run at work on the graph."""
    dry_run: bool = False
    full_lists: bool = False
    """Whether the caller wants the thoughts behind the report, which takes thinking anew."""
    always_wake: bool = False
    """Whether a host that is silent about runs without news is to speak about this one."""
    at_s: float | None = None
    """The moment by the clock, where ``now_s`` is another one."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A report, and the thoughts behind it (``None`` where the run failed or remembered)."""

    report: ConsolidationReport
    thoughts: Thoughts | None = None
    error: SynapseError | None = None
    ledger: dict[str, Any] = field(default_factory=dict)
    """What is decided about the facts that the thoughts are about."""


@dataclass(frozen=True, slots=True)
class _Found:
    """What a run knows, by thinking or by remembering (then without ``thoughts``)."""

    known: Timeless
    standing: Standing
    plan: ConsolidationPlan
    read_s: float
    """When the graph had been read, by the stopwatch."""
    thoughts: Thoughts | None = None
    ledger: dict[str, Any] = field(default_factory=dict)
    resolved: Resolved | None = None
    """What became of the contradictions, where they were to be resolved."""


def make_plan(
    thoughts: Thoughts, known: Timeless, ledger: dict[str, Any], room: Room, run: Run,
    whole: GraphOutline | None = None,
) -> ConsolidationPlan:  # fmt: skip
    """Compare what was thought with what is kept.

    Args:
        thoughts: what the run has thought.
        known: the part of it that does not depend on the moment.
        ledger: what is decided about the facts that the thoughts are about.
        room: what is kept.
        run: what was asked for.
        whole: the whole graph, where the run looks at one group of it: what is kept about the
            memories of the others stays.
    """
    traces, recalled = thoughts.traces, thoughts.recalled
    memories = (whole or thoughts.snapshot).memory_uuids
    forgotten = recalled.forgotten(memories, run.now_s)
    if whole is not None:
        traces = _with_other_groups(traces, room.traces, whole)
        others = set(whole.fact_uuids).difference(thoughts.snapshot.facts.uuid)
        ledger = {u: e for u, e in room.ledger.items() if u in others} | ledger
    return ConsolidationPlan(
        graph=run.scope.graph,
        run_id=run.run_id,
        config_digest=thoughts.config.digest,
        base_revision=room.revision,
        traces=traces,
        changed=changed_rows(room.traces, traces),
        removed=removed_keys(room.traces, traces),
        ledger=changes(room.ledger, ledger),
        memo=_new_memo(thoughts, known, ledger, room) if whole is None else None,
        surprises=tuple(surprise.id for surprise in room.surprises),
        profiles=changed(room.profiles, recalled.profiles, forgotten),
        links=changed(room.links, recalled.links, forgotten),
        forgotten=forgotten,
        folded=recalled.folded,
    )


def _new_memo(
    thoughts: Thoughts, known: Timeless, ledger: dict[str, Any], room: Room
) -> dict[str, Any] | None:
    memo = Memo.of(thoughts.snapshot, thoughts.config, ledger, thoughts.now_s, known)
    kept = memo.model_dump(mode="json")
    return None if kept == room.memo else kept


def _with_other_groups(own: TraceTable, kept: TraceTable, whole: GraphOutline) -> TraceTable:
    elsewhere = np.setdiff1d(whole.keys(), own["key"])
    others = kept[np.isin(kept["key"], elsewhere)]
    both = np.concatenate([own, others])
    return both[key_order(both["key"])]


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
        self.store = store
        self.config = config
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
        if not run.dry_run and not self.store.await_lock(graph, run.lock_wait_s):
            raise LockBusy(f"another run works on graph {graph!r}; it will be done by that run")
        room = self.store.read_room(graph)
        found = self._find(run, room)
        room = replace(room, traces=empty_traces())  # compared by now: free them before writing
        report = summarize(
            found.known, found.standing, room,
            schemas=run.schemas, prune=run.prune, recalls=_recalls(found, room, run),
            **_header(run),
        )  # fmt: skip
        if found.resolved is not None:
            sure = self.config.contradictions.resolve_confidence
            tell_resolved(report, found.resolved, found.ledger or room.ledger, sure)
        plan = found.plan
        tell_lapsed(report, plan.ledger)
        think_s = self._stopwatch()
        changed_count = int(plan.changed.sum())
        report.retention.changed = changed_count
        report.retention.unchanged = report.seen.entities + report.seen.facts - changed_count
        report.wakeAgent |= bool(
            report.online_contradictions.count or report.contradictions.resolved
        ) or any(change.before is None for change in plan.ledger)
        if not run.dry_run and self._write(run, found, room, report):
            report.wrote.traces = changed_count
            report.wrote.findings = len(plan.ledger)
        report.durations_s = Durations(
            read=round(found.read_s - started_s, 3),
            think=round(think_s - found.read_s, 3),
            write=round(self._stopwatch() - think_s, 3),
        )
        return Outcome(report, found.thoughts, ledger=found.ledger)

    def recollect(self, run: Run, room: Room | None = None) -> Thoughts:
        """Read the graph and begin to think about it.

        Args:
            run: what is asked for.
            room: what is kept beside the graph, where the caller has read it already.

        Raises:
            UnknownGraph: no such graph, or the graph does not hold the group.
        """
        if room is None:
            room = self.store.read_room(run.scope.graph)
        hearing = self._hearing()
        snapshot = self.store.read_graph(run.scope.graph, hearing.hear)
        return self._scoped(run, snapshot, room, hearing)

    def _hearing(self) -> Hearing:
        return Hearing(self.config.salience.emotion_words)

    def _recalled(self, run: Run, room: Room) -> Recalled:
        archive = self.store.read_archive(run.scope.graph)
        return replace(
            Recalled.of(room),
            archived_count=self._archived_count(run),
            former_stability=former_stability(archive),
            archive=tuple(archive),
        )

    def _archived_count(self, run: Run) -> int:
        """Memories that runs have taken of late."""
        journal = self.store.read_journal(run.scope.graph)
        return sum(len(taken) for taken in spent_on(journal, run.now_s).values())

    def _restored(self, run: Run) -> frozenset[str]:
        """What a run that looks at pruning leaves alone."""
        return (
            not_to_propose(self.store.read_archive(run.scope.graph)) if run.prune else frozenset()
        )

    def _scoped(self, run: Run, snapshot: GraphSnapshot, room: Room, hearing: Hearing) -> Thoughts:
        require_group(run.scope, snapshot.group_ids())
        if run.scope.group_id is not None and not run.scope.whole_graph:
            snapshot = snapshot.only_group(run.scope.group_id)
        return Thoughts(
            snapshot, run.now_s, self.config, self._recalled(run, room),
            self._near_duplicates(run.scope.graph), room.ledger, hearing,
        )  # fmt: skip

    def _near_duplicates(self, graph: str) -> NearDuplicates:
        wanted = self.config.interference
        if not wanted.enabled:
            return NO_DUPLICATES
        return self.store.near_duplicates(graph, wanted.similarity_min)

    def _find(self, run: Run, room: Room) -> _Found:
        """Think about the graph, or remember what was thought when it was the same."""
        graph, memo = run.scope.graph, Memo.read(room.memo)
        hearing = self._hearing()
        may_remember = run.scope.whole_graph and not run.full_lists
        may_remember = may_remember and not room.surprises and not room.recalls
        if run.resolve:
            sure = self.config.contradictions.resolve_confidence
            may_remember = may_remember and not is_waiting(room.ledger, sure)
        if memo and may_remember and memo.holds(self.config, room.ledger, run.now_s):
            seen = self.store.read_graph_unless(graph, memo.graph_digest, hearing.hear)
            if isinstance(seen, GraphSnapshot):
                return self._think(run, room, seen, hearing)
            read_s = self._stopwatch()
            kept = Kept.from_traces(room.traces, seen)
            if kept is not None:
                usage = Usage.of(
                    seen.memory_uuids, room.profiles, room.links, room.pins,
                    self._archived_count(run), self._restored(run),
                )  # fmt: skip
                standing = Standing(seen, kept, run.now_s, self.config, usage)
                plan = ConsolidationPlan(graph, run.run_id, self.config.digest, room.revision)
                nothing = Resolved(room, is_dry=run.dry_run) if run.resolve else None
                return _Found(memo.known, standing, plan, read_s, resolved=nothing)
        snapshot = self.store.read_graph(graph, hearing.hear)
        return self._think(run, room, snapshot, hearing)

    def _think(self, run: Run, room: Room, snapshot: GraphSnapshot, hearing: Hearing) -> _Found:
        read_s = self._stopwatch()
        thoughts = self._scoped(run, snapshot, room, hearing)
        resolved = None
        if run.resolve:
            job = Job(
                run.run_id, RESOLVE, run.now_s, run.max_changes, dry_run=run.dry_run, at_s=run.at_s
            )
            resolved = resolve(self.store, run.run_id, run.scope, thoughts, room, job)
            room = resolved.room
            if resolved.has_written:
                thoughts = self.recollect(run)
        ledger = follow(room.ledger, thoughts.snapshot, thoughts.contradictions.findings)
        if resolved:
            ledger = resolved.seen_in({**ledger, **resolved.given_up})
        known = timeless(thoughts, ledger)
        whole = None if run.scope.whole_graph else snapshot.outline()
        # To compare and to write needs memory, too.
        standing = thoughts.standing if run.full_lists else thoughts.only_standing()
        plan = make_plan(thoughts, known, ledger, room, run, whole)
        return _Found(known, standing, plan, read_s, thoughts, ledger, resolved)

    def _write(self, run: Run, found: _Found, room: Room, report: ConsolidationReport) -> bool:
        plan = found.plan
        if plan.is_empty:
            if room.failures_count:
                self.store.clear_failures(plan.graph)
            return False
        self.store.await_lock(plan.graph, run.lock_wait_s)
        if not self.store.acquire_lock(plan.graph, plan.run_id, LOCK_TTL_S):
            return _leave_to_another(found, report, "works on it")
        try:
            if self.store.summarize_room(plan.graph).revision != plan.base_revision:
                return _leave_to_another(found, report, "finished meanwhile")
            self.store.apply(replace(plan, run_record=report.as_record()), plan.run_id)
        finally:
            self._release(plan, report)
        return True

    def _release(self, plan: ConsolidationPlan, report: ConsolidationReport) -> None:
        try:
            self.store.release_lock(plan.graph, plan.run_id)
        except StoreError as error:
            report.warnings.append(f"the lock stays until it expires in {LOCK_TTL_S:g} s: {error}")

    def _failed(self, run: Run, error: SynapseError) -> Outcome:
        outcome = self.stopped(run, "failed", error)
        if run.dry_run or isinstance(error, (StoreUnreachable, UnknownGraph, SafetyCap)):
            return outcome
        try:
            failures_count = self.store.record_failure(run.scope.graph)
        except StoreError as second:
            outcome.report.warnings.append(f"the failure could not be recorded: {second}")
            return outcome
        if failures_count >= LOUD_FAILURES_COUNT:
            outcome.report.warnings.append(f"failure {failures_count} in a row on this graph")
        return outcome

    def stopped(self, run: Run, status: Status, error: SynapseError) -> Outcome:
        """The outcome of a run that did not come to its end, or never began."""
        report = ConsolidationReport(
            status=status, error=str(error), config_digest=self.config.digest, **_header(run)
        )
        return Outcome(report, error=error)


def _leave_to_another(found: _Found, report: ConsolidationReport, what: str) -> bool:
    """Keep no scores; a run that has ended facts must still say so."""
    if found.resolved is None or not found.resolved.has_written:
        raise _Overtaken(f"another run on graph {report.graph!r} {what}; nothing was written")
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


def _recalls(found: _Found, room: Room, run: Run) -> Recalls:
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
