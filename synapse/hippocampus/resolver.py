"""Carries out what :mod:`~synapse.hippocampus.resolution` has decided.

The decision stands in the ledger first; then the graph is written, each fact only where its end
still is what was read; what the graph shows afterwards decides what the ledger says in the end. So
a run that dies in between is understood by the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from synapse.errors import LockBusy
from synapse.hippocampus.ledger import Entry, follow
from synapse.hippocampus.ledger import changes as ledger_changes
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.plan import ConsolidationPlan, EndChange, FactState
from synapse.hippocampus.ports import LOCK_TTL_S, MemoryStore, Room
from synapse.hippocampus.resolution import Step, decide, is_unchanged
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.stamps import parse_stamp


@dataclass(frozen=True, slots=True)
class Written:
    """What became of some steps. In a dry run: what would become of them."""

    room: Room
    """As it is after the decisions were noted."""
    steps: tuple[Step, ...] = ()
    """Those that the ledger has noted. Where there are any, the lock is held."""
    facts: frozenset[str] = frozenset()
    """Uuids of the facts whose end was written."""
    changed: tuple[str, ...] = ()
    """Uuids of the facts that were left alone since they, or what replaces them, have changed."""

    @property
    def resolved_count(self) -> int:
        """Facts that were ended."""
        return sum(step.uuid in self.facts and not step.is_undo for step in self.steps)

    @property
    def reopened_count(self) -> int:
        """Facts that were made valid again."""
        return len(self.facts) - self.resolved_count

    @property
    def reverted_count(self) -> int:
        """Decisions that an ingestion had overwritten."""
        return sum(step.is_revert for step in self.steps)

    def seen_in(self, ledger: Mapping[str, Entry]) -> dict[str, Entry]:
        """A ledger for a report: facts that were left alone say so."""
        left = {
            uuid: ledger[uuid] | {"state": "changed"} for uuid in self.changed if uuid in ledger
        }
        return {**ledger, **left}

    def shown_in(self, snapshot: GraphSnapshot) -> GraphSnapshot:
        """The snapshot with what was written."""
        invalid_at_s, expired_at_s = (
            snapshot.facts.invalid_at_s.copy(), snapshot.facts.expired_at_s.copy()
        )  # fmt: skip
        for step in self.steps:
            if step.uuid in self.facts:
                after = step.entry["after"]
                invalid_at_s[step.fact] = parse_stamp(after["invalid_at"] or "")
                expired_at_s[step.fact] = parse_stamp(after["expired_at"] or "")
        facts = replace(snapshot.facts, invalid_at_s=invalid_at_s, expired_at_s=expired_at_s)
        return replace(snapshot, facts=facts, digest="")


class Resolver:
    """Writes decisions of one run into a graph, and into its ledger.

    Args:
        store: where they are.
        run_id: names the run, and holds the lock.
        dry_run: whether nothing is to be written.
    """

    def __init__(self, store: MemoryStore, run_id: str, dry_run: bool = False) -> None:
        self._store = store
        self._run_id = run_id
        self._dry_run = dry_run

    def resolve(
        self, thoughts: Thoughts, room: Room, think_again: Callable[[], Thoughts]
    ) -> tuple[Thoughts, Written]:
        """End what is contradicted for certain, and repeat what was reverted.

        Args:
            thoughts: about the graph as it is.
            room: what is kept beside it.
            think_again: reads the graph anew.

        Returns:
            Thoughts about the graph as it is afterwards, and what was written.
        """
        snapshot, findings = thoughts.snapshot, thoughts.contradictions.findings
        ledger = follow(room.ledger, snapshot, findings)
        sure = thoughts.config.contradictions.resolve_confidence
        written = self.write(
            snapshot, room, decide(snapshot, findings, ledger, thoughts.now_s, sure)
        )
        if not written.facts:
            return thoughts, written
        if self._dry_run:
            after = written.shown_in(snapshot)
            return Thoughts(after, thoughts.now_s, thoughts.config, thoughts.recalled), written
        with self._lock_freed_on_failure(snapshot.graph):
            return think_again(), written

    def write(self, snapshot: GraphSnapshot, room: Room, steps: Sequence[Step]) -> Written:
        """Note steps in the ledger, then write them into the graph; keeps the lock.

        Raises:
            LockBusy: another run works on the graph or has finished meanwhile; nothing was written.
            LockLost: the lock passed to another run; the next run sees how far this one came.
        """
        if not steps:
            return Written(room)
        graph = snapshot.graph
        states = self._store.read_facts(graph, _named(snapshot, steps))
        noted = tuple(_ready(snapshot, steps, states, self._run_id))
        changed = {step.uuid for step in steps} - {step.uuid for step in noted}
        if not noted:
            return Written(room, changed=tuple(sorted(changed)))
        entries = {step.uuid: step.entry for step in noted}
        changes = [_end_change(snapshot, step, states) for step in noted if not step.is_given_up]
        facts = {change.fact for change in changes}
        self.note(graph, room, entries)
        if not self._dry_run:
            with self._lock_freed_on_failure(graph):
                facts = self._store.change_ends(graph, changes, self._run_id)
        changed |= {change.fact for change in changes} - facts
        after = replace(room, revision=room.revision + 1, ledger=room.ledger | entries)
        return Written(after, noted, frozenset(facts), tuple(sorted(changed)))

    def note(self, graph: str, room: Room, entries: Mapping[str, Entry]) -> None:
        """Write entries into the ledger, unless this is a dry run; keeps the lock.

        Raises:
            LockBusy: another run works on the graph or has finished meanwhile; nothing was written.
        """
        if self._dry_run:
            return
        if not self._store.acquire_lock(graph, self._run_id, LOCK_TTL_S):
            raise LockBusy(f"another run works on graph {graph!r}; nothing was written")
        with self._lock_freed_on_failure(graph):
            if self._store.summarize_room(graph).revision != room.revision:
                raise LockBusy(f"another run finished on graph {graph!r} meanwhile")
            self._store.apply(_ledger_plan(graph, room, entries, self._run_id), self._run_id)

    @contextmanager
    def _lock_freed_on_failure(self, graph: str) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._store.release_lock(graph, self._run_id)
            raise


def _named(snapshot: GraphSnapshot, steps: Sequence[Step]) -> set[str]:
    uuid = snapshot.facts.uuid
    return {step.uuid for step in steps} | {uuid[step.by] for step in steps if step.by >= 0}


def _ready(
    snapshot: GraphSnapshot, steps: Sequence[Step], states: Mapping[str, FactState], run_id: str
) -> Iterator[Step]:
    """The steps whose facts have not changed since they were read, complete for the ledger."""
    uuid = snapshot.facts.uuid
    for step in steps:
        rows = [row for row in (step.fact, step.by) if row >= 0]
        if all(is_unchanged(snapshot, row, states.get(uuid[row])) for row in rows):
            before = states[step.uuid]
            ends = {"invalid_at": before.invalid_at, "expired_at": before.expired_at}
            seen = {} if step.is_given_up else {"before": ends, "run_id": run_id}
            yield replace(step, entry=step.entry | seen)


def _end_change(snapshot: GraphSnapshot, step: Step, states: Mapping[str, FactState]) -> EndChange:
    after = step.entry["after"]
    by = snapshot.facts.uuid[step.by] if step.by >= 0 else None
    return EndChange(
        step.uuid, states[step.uuid], after["invalid_at"], after["expired_at"],
        by, None if by is None else states[by],
    )  # fmt: skip


def _ledger_plan(
    graph: str, room: Room, entries: Mapping[str, Entry], run_id: str
) -> ConsolidationPlan:
    return ConsolidationPlan(
        graph=graph,
        run_id=run_id,
        config_digest="",
        base_revision=room.revision,
        traces=room.traces,
        changed=np.zeros(len(room.traces), np.bool_),
        ledger=ledger_changes(room.ledger, room.ledger | dict(entries)),
        interim=True,
    )
