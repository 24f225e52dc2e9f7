"""What a run does that cannot remember: think about the graph.

All that it takes is as much to import as a small graph is to read, so a run that only remembers
does without it.
"""

from __future__ import annotations

from synapse.hippocampus.applier import Job
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.found import Found
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.recollector import Recollector
from synapse.hippocampus.resolving import resolve
from synapse.hippocampus.room import Room
from synapse.hippocampus.room_plan import plan_room
from synapse.hippocampus.run import Run
from synapse.hippocampus.summary import timeless

RESOLVE = "consolidate --resolve"


class Thinking:
    """The thinking of one run.

    Args:
        store: where graph and room are.
        config: the constants.
        run: what is asked for.
    """

    def __init__(self, store: MemoryStore, config: HippocampusConfig, run: Run) -> None:
        self._store = store
        self._recollector = Recollector(store, config)
        self._run = run
        self._hearing = self._recollector.hearing()
        self.hear = self._hearing.hear
        """Is to be given the texts of the graph where somebody else reads it."""

    def read(self) -> GraphSnapshot:
        """The graph."""
        return self._store.read_graph(self._run.scope.graph, self.hear)

    def found(self, snapshot: GraphSnapshot, room: Room, read_s: float) -> Found:
        """Everything that the run wants to know, and the plan that follows from it.

        Args:
            snapshot: the graph.
            room: what is kept beside it.
            read_s: when the graph had been read, by the stopwatch.
        """
        run, resolved = self._run, None
        thoughts = self._recollector.think(run.scope, run.now_s, room, snapshot, self._hearing)
        if run.resolve:
            job = Job(
                run.run_id, RESOLVE, run.now_s, run.max_changes, dry_run=run.dry_run, at_s=run.at_s
            )
            resolved = resolve(self._store, run.run_id, run.scope, thoughts, room, job)
            room = resolved.room
            if resolved.has_written:
                thoughts = self._recollector.recollect(run.scope, run.now_s)
        ledger = thoughts.followed(room.ledger)
        if resolved:
            ledger = {**ledger, **resolved.given_up}
        told = resolved.seen_in(ledger) if resolved else ledger
        known = timeless(thoughts, ledger)
        seen = known if told == ledger else timeless(thoughts, told)
        whole = None if run.scope.whole_graph else snapshot
        # To compare and to write needs memory, too.
        standing = thoughts.standing if run.full_lists else thoughts.only_standing()
        plan = plan_room(thoughts, known, ledger, room, run.run_id, whole)
        return Found(seen, standing, plan, read_s, thoughts, told, resolved)
