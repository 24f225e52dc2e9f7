"""The run: read, think, plan, apply, report.

Thinking is pure (:mod:`~synapse.hippocampus.stages`); :func:`make_plan` compares it with what is
kept and returns a value; :meth:`ConsolidationEngine.consolidate` is the one place that applies
it. A dry run is the same run without the last step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from synapse.errors import LockBusy, StoreError, StoreUnreachable, SynapseError, UnknownGraph
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.plan import Change, ConsolidationPlan
from synapse.hippocampus.ports import MemoryStore, Room
from synapse.hippocampus.report import ConsolidationReport, Durations, Status
from synapse.hippocampus.scope import Scope, require_group
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.summary import iso_time, summarize
from synapse.hippocampus.traces import TraceTable, changed_rows, empty_traces, removed_keys

LOCK_TTL_S = 60.0
LOUD_FAILURES_COUNT = 3


@dataclass(frozen=True, slots=True)
class Run:
    """What a caller asks for."""

    scope: Scope
    now_s: float
    run_id: str
    schemas: bool = False
    prune: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """A report, and the thoughts behind it (``None`` where the run could not think)."""

    report: ConsolidationReport
    thoughts: Thoughts | None = None
    error: SynapseError | None = None


def make_plan(thoughts: Thoughts, room: Room, run: Run) -> ConsolidationPlan:
    """Compare what was thought with what is kept.

    Where the run looks at one group of a shared graph, what is kept about the others stays.
    """
    traces = thoughts.traces
    findings = ledger_entries(thoughts)
    if not run.scope.whole_graph:
        traces = _with_other_groups(traces, room.traces)
        own = set(thoughts.snapshot.facts.uuid)
        findings = {u: e for u, e in room.ledger.items() if u not in own} | findings
    return ConsolidationPlan(
        graph=run.scope.graph,
        run_id=run.run_id,
        config_digest=thoughts.config.digest,
        base_revision=room.revision,
        traces=traces,
        changed=changed_rows(room.traces, traces),
        removed=removed_keys(room.traces, traces),
        ledger=_ledger_changes(room.ledger, findings),
        surprises=tuple(surprise.id for surprise in room.surprises),
    )


def ledger_entries(thoughts: Thoughts) -> dict[str, Any]:
    """The findings that wait for a decision: those that Graphiti has not recorded itself."""
    uuid = thoughts.snapshot.facts.uuid
    return {
        uuid[finding.fact]: {
            "verdict": finding.verdict,
            "by": uuid[finding.by] if finding.by >= 0 else None,
            "rule": finding.rule,
            "confidence": finding.confidence,
            "state": "found",
        }
        for finding in thoughts.contradictions.findings
        if finding.verdict != "superseded"
    }


def _with_other_groups(own: TraceTable, kept: TraceTable) -> TraceTable:
    others = kept[~np.isin(kept["key"], own["key"])] if len(kept) else empty_traces()
    both = np.concatenate([own, others])
    return both[np.argsort(both["key"], kind="stable")]


def _ledger_changes(before: dict[str, Any], after: dict[str, Any]) -> tuple[Change, ...]:
    changes = []
    for uuid in sorted(before.keys() | after.keys()):
        old, new = before.get(uuid), after.get(uuid)
        if old != new:
            reason = f"{new['verdict']} by rule {new['rule']}" if new else "no longer found"
            by = new.get("by") if new else None
            changes.append(Change(uuid, old, new, reason, (by,) if by else ()))
    return tuple(changes)


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
            return self._consolidate(run)
        except LockBusy as busy:
            return self._stopped(run, "lock_busy", busy)
        except SynapseError as error:
            return self._failed(run, error)
        except Exception as error:  # noqa: BLE001  one graph's surprise must not stop the others
            return self._failed(run, _unexpected(error))

    def _consolidate(self, run: Run) -> Outcome:
        graph = run.scope.graph
        started_s = self._stopwatch()
        if not run.dry_run and self.store.lock_holder(graph) is not None:
            raise LockBusy(f"another run works on graph {graph!r}; it will be done by that run")
        room = self.store.read_room(graph)
        thoughts = self.recollect(run)
        read_s = self._stopwatch()
        report = summarize(thoughts, room, schemas=run.schemas, prune=run.prune, **_header(run))
        plan = make_plan(thoughts, room, run)
        think_s = self._stopwatch()
        report.retention.changed = int(plan.changed.sum())
        report.retention.unchanged = (
            report.retention.entities + report.retention.facts - report.retention.changed
        )
        report.wakeAgent = bool(plan.surprises) or any(c.before is None for c in plan.ledger)
        if not run.dry_run and self._write(plan, room, report):
            report.wrote.traces = report.retention.changed
            report.wrote.findings = len(plan.ledger)
        report.durations_s = Durations(
            read=round(read_s - started_s, 3),
            think=round(think_s - read_s, 3),
            write=round(self._stopwatch() - think_s, 3),
        )
        return Outcome(report, thoughts)

    def recollect(self, run: Run) -> Thoughts:
        """Read the graph and begin to think about it.

        Raises:
            UnknownGraph: no such graph, or the graph does not hold the group.
        """
        snapshot = self.store.read_graph(run.scope.graph)
        require_group(run.scope, snapshot.group_ids())
        if run.scope.group_id is not None and not run.scope.whole_graph:
            snapshot = snapshot.only_group(run.scope.group_id)
        return Thoughts(snapshot, run.now_s, self.config)

    def _write(self, plan: ConsolidationPlan, room: Room, report: ConsolidationReport) -> bool:
        if plan.is_empty:
            if room.failures_count:
                self.store.clear_failures(plan.graph)
            return False
        if not self.store.acquire_lock(plan.graph, plan.run_id, LOCK_TTL_S):
            raise LockBusy(f"another run works on graph {plan.graph!r}; nothing was written")
        try:
            if self.store.summarize_room(plan.graph).revision != plan.base_revision:
                raise LockBusy(f"another run finished on graph {plan.graph!r} meanwhile")
            self.store.apply(replace(plan, run_record=report.as_record()), plan.run_id)
        finally:
            self.store.release_lock(plan.graph, plan.run_id)
        return True

    def _failed(self, run: Run, error: SynapseError) -> Outcome:
        outcome = self._stopped(run, "failed", error)
        if run.dry_run or isinstance(error, (StoreUnreachable, UnknownGraph)):
            return outcome
        try:
            failures_count = self.store.record_failure(run.scope.graph)
        except StoreError as second:
            outcome.report.warnings.append(f"the failure could not be recorded: {second}")
            return outcome
        if failures_count >= LOUD_FAILURES_COUNT:
            outcome.report.warnings.append(f"failure {failures_count} in a row on this graph")
        return outcome

    def _stopped(self, run: Run, status: Status, error: SynapseError) -> Outcome:
        report = ConsolidationReport(
            status=status, error=str(error), config_digest=self.config.digest, **_header(run)
        )
        return Outcome(report, error=error)


def _header(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "graph": run.scope.graph,
        "group_id": run.scope.group_id,
        "now": iso_time(run.now_s),
        "dry_run": run.dry_run,
    }


def _unexpected(error: Exception) -> SynapseError:
    wrapped = SynapseError(
        f"unexpected {type(error).__name__}: {error}; run again with -v for the whole story"
    )
    wrapped.__cause__ = error
    return wrapped
