"""Carries out a plan: the one way in which Graphiti's own data are changed.

The decision stands in the ledger and in the journal first, in one atomic step; then the graph is
written, each memory only where it still is what the plan was made from; then ledger and journal
are settled. A run that dies in between is understood by the next one, and applying the same plan
again completes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

import numpy as np

from synapse.errors import LockBusy, StoreError, shown
from synapse.hippocampus.caps import refuse_excess
from synapse.hippocampus.checked import CHANGED, PINNED, Checked, check
from synapse.hippocampus.journal import Journal, JournaledChange, Outcome, RunEntry, runs_of
from synapse.hippocampus.ledger import ON_ITS_WAY, Entry, begun, confirmed
from synapse.hippocampus.ledger import changes as ledger_changes
from synapse.hippocampus.plan import ArchiveChange, ConsolidationPlan, EndChange, FactState
from synapse.hippocampus.plan_file import MemoryPlan, PlannedChange
from synapse.hippocampus.ports import LOCK_TTL_S, MemoryStore
from synapse.hippocampus.restoration import ALREADY_THERE, RESTORED, notes_in
from synapse.hippocampus.room import Room


@dataclass(frozen=True, slots=True)
class Job:
    """Who carries out a plan, and why."""

    run_id: str
    """Names the run in the journal."""
    command: str
    now_s: float
    """The moment that it decides for."""
    max_changes: int | None = None
    """What somebody has allowed for this run, in place of the caps."""
    is_capped: bool = True
    """False for what a person decided memory by memory, and for undoing."""
    undoes: RunEntry | None = None
    """The run whose changes are taken back."""
    back: frozenset[str] = frozenset()
    """Uuids of those of its memories that are back, or never went."""
    by_person: bool = False
    """Whether a person decided what is archived: no run proposes it again by itself."""
    dry_run: bool = False
    at_s: float | None = None
    """When it does so by the clock, where that is another moment; what is archived ages from here
    on."""

    @property
    def settles(self) -> bool:
        """Whether the journal learns something even where nothing is left to change."""
        return self.undoes is not None and (bool(self.back) or not self.undoes.is_settled)


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of a plan. In a dry run: what would become of it."""

    room: Room
    """As it is afterwards."""
    plan: MemoryPlan
    done: frozenset[str] = frozenset()
    """Uuids of the memories that were changed."""
    already: frozenset[str] = frozenset()
    """Uuids of those that had been changed so before."""
    left: Mapping[str, str] = field(default_factory=dict)
    """Why each of the others was left as it is, by uuid."""
    run_id: str = ""
    """Names the run in the journal; empty where nothing was written."""
    earlier: RunEntry | None = None
    """The run that had applied the same plan, or begun to."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What there is to say of memories that came back: what is lost, what is there twice."""

    def count(self, *does: str) -> int:
        """How many memories were changed in these ways."""
        return sum(c.do in does and c.memory in self.done for c in self.plan.changes)


class Applier:
    """Writes into a graph, its ledger and its journal.

    Args:
        store: where they are.
        lock_token: holds the lock; no two processes may share one.
    """

    def __init__(self, store: MemoryStore, lock_token: str) -> None:
        self._store = store
        self._token = lock_token

    def apply(
        self, plan: MemoryPlan, room: Room, job: Job, journal: Journal | None = None
    ) -> Applied:
        """Carry out a plan, and free the lock.

        Args:
            plan: what is to change.
            room: what is kept beside the graph, just read.
            job: who does it.
            journal: what runs have noted, where that was read after the room already.

        Raises:
            SafetyCap: the plan changes more than one run may; nothing was written.
            LockBusy: another run works on the graph or has finished meanwhile; nothing was written.
            LockLost: the lock passed to another run; what was written stays, and the journal says
                what was to come.
        """
        is_empty = not plan.changes and not job.settles
        if journal is None:
            journal = {} if is_empty else self._store.read_journal(plan.graph)
        own = {name: entry for name, entry in journal.items() if name == job.run_id}
        begun = next(iter(runs_of(own)), None)
        if job.is_capped and not job.dry_run:
            refuse_excess(plan, journal, job.now_s, job.at_s, job.max_changes)
        if job.dry_run or is_empty:
            checked = check(self._store, plan, room, begun)
            done = frozenset(change.memory for change in checked.ready)
            return Applied(room, plan, done, checked.already, checked.left, notes=checked.notes)
        with self.locked(plan.graph, room.revision):
            checked = check(self._store, plan, room, begun)
            already, is_over = checked.already, begun is None or begun.is_settled
            settles = job.settles or (job.undoes is not None and bool(already))
            if not checked.ready and is_over and not settles:
                return Applied(room, plan, frozenset(), already, checked.left)
            noted, run = self._begin(plan, room, job, checked, begun)
            done, left, notes = self._write(plan, job, checked)
            ledger = _settled(plan, room.ledger, noted.ledger, done | already)
            settled = _settled_runs(run, job.undoes, done | already | job.back, left)
            room = self._note(plan.graph, noted, ledger, settled)
            run_id = job.run_id if run.changes else ""
            return Applied(room, plan, done, already, left, run_id, notes=notes)

    def note(self, graph: str, room: Room, entries: Mapping[str, Entry]) -> Room:
        """Write entries into the ledger, and free the lock.

        Raises:
            LockBusy: another run works on the graph or has finished meanwhile; nothing was written.
        """
        with self.locked(graph, room.revision):
            return self._note(graph, room, {**room.ledger, **entries}, ())

    @contextmanager
    def locked(self, graph: str, revision: int) -> Iterator[None]:
        """Hold the lock on a graph whose room is still of this revision."""
        if not self._store.acquire_lock(graph, self._token, LOCK_TTL_S):
            raise LockBusy(
                f"another run works on graph {shown(graph)}; nothing was written, try again"
            )
        try:
            if self._store.summarize_room(graph).revision != revision:
                raise LockBusy(f"another run finished on graph {shown(graph)} meanwhile; run again")
            yield
        except BaseException:
            with suppress(StoreError):  # it expires by itself, and the first error says more
                self._store.release_lock(graph, self._token)
            raise
        self._store.release_lock(graph, self._token)

    def _begin(
        self, plan: MemoryPlan, room: Room, job: Job, checked: Checked, resumed: RunEntry | None
    ) -> tuple[Room, RunEntry]:
        run = RunEntry(
            run_id=job.run_id,
            plan_id=plan.id,
            command=job.command,
            now=plan.now,
            now_s=job.now_s,
            at_s=job.at_s,
            config_digest=plan.config_digest,
            seen=plan.seen,
            undoes=None if job.undoes is None else job.undoes.run_id,
            changes=tuple(
                JournaledChange.of(change, room.ledger.get(change.memory))
                for change in checked.ready
            ),
        )
        if resumed is not None:
            run = resumed.resumed(run.changes)
        ledger = dict(room.ledger)
        for change in checked.ready:
            if change.is_end:
                ledger[change.memory] = begun(ledger.get(change.memory), change, job.run_id)
        runs = (run,) if run.changes else ()
        return self._note(plan.graph, room, ledger, runs), run

    def _write(
        self, plan: MemoryPlan, job: Job, checked: Checked
    ) -> tuple[frozenset[str], dict[str, str], dict[str, str]]:
        graph, ready, states = plan.graph, checked.ready, checked.states
        ends = [_end_change(change, states) for change in ready if change.is_end]
        done = self._store.change_ends(graph, ends, self._token) if ends else set()
        archives = [
            ArchiveChange(c.memory, c.kind, c.before, c.reason, by_person=job.by_person)
            for c in ready if c.do == "archive"
        ]  # fmt: skip
        if archives:
            at_s = job.now_s if job.at_s is None else job.at_s
            done |= self._store.archive(graph, archives, job.run_id, at_s, self._token)
        back = {change.memory for change in ready if change.do == "restore"}
        # Of those that are there already the archive may still hold what a run that died copied.
        wanted = back | {c.memory for c in plan.changes if c.do == "restore"} & checked.already
        told = self._store.restore(graph, wanted, self._token) if wanted else {}
        done |= {m for m in back if told[m].startswith(RESTORED) or told[m] == ALREADY_THERE}
        stayed = [change.uuid for change in archives if change.uuid not in done]
        told |= dict.fromkeys(self._store.read_pins(graph, stayed) if stayed else (), PINNED)
        left = {c.memory: told.get(c.memory, CHANGED) for c in ready if c.memory not in done}
        return frozenset(done), {**checked.left, **left}, notes_in(told, wanted)

    def _note(
        self, graph: str, room: Room, ledger: dict[str, Entry], runs: Sequence[RunEntry]
    ) -> Room:
        """Write ledger and journal in one step."""
        self._store.apply(
            ConsolidationPlan(
                graph=graph,
                run_id="",
                config_digest="",
                base_revision=room.revision,
                traces=room.traces,
                changed=np.zeros(len(room.traces), np.bool_),
                ledger=ledger_changes(room.ledger, ledger),
                journal={run.run_id: run.as_dict() for run in runs},
                interim=True,
            ),
            self._token,
        )
        return replace(room, revision=room.revision + 1, ledger=ledger)


def _end_change(change: PlannedChange, states: Mapping[str, FactState]) -> EndChange:
    assert change.to is not None
    by_before = None if change.by is None else states[change.by]
    return EndChange(
        change.memory, states[change.memory], change.to.invalid_at, change.to.expired_at,
        change.by, by_before,
    )  # fmt: skip


def _settled(
    plan: MemoryPlan,
    before: Mapping[str, Entry],
    noted: Mapping[str, Entry],
    made: AbstractSet[str],
) -> dict[str, Entry]:
    """The ledger once it is known what was written."""
    ledger = dict(noted)
    for change in plan.changes:
        memory, entry = change.memory, ledger.get(change.memory)
        if change.do == "restore" and memory in made and change.claim:
            ledger.setdefault(memory, change.claim)
        if not change.is_end or entry is None:
            continue
        if memory in made and entry["state"] in ON_ITS_WAY:
            ledger[memory] = confirmed(entry)
        elif memory not in made and memory in before:
            ledger[memory] = before[memory]
        elif memory not in made:
            del ledger[memory]
    return ledger


def _settled_runs(
    run: RunEntry, undone: RunEntry | None, made: AbstractSet[str], left: Mapping[str, str]
) -> list[RunEntry]:
    outcomes: dict[str, Outcome] = {
        **dict.fromkeys(left, "left"), **dict.fromkeys(made, "done")
    }  # fmt: skip
    settled = [run.settled(outcomes)] if run.changes else []
    if undone is not None:
        settled.append(undone.settled(dict.fromkeys(made, "undone")))
    return settled
