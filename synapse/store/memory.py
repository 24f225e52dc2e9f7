"""A store in plain dictionaries: for examples, notebooks and fast tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from synapse.hippocampus.archived import ArchivedMemory
from synapse.hippocampus.co_recall import Links
from synapse.hippocampus.image import MemoryImage
from synapse.hippocampus.interference import NearDuplicates
from synapse.hippocampus.matters import Matters
from synapse.hippocampus.memory_keys import Keys
from synapse.hippocampus.model import GraphOutline, GraphSnapshot
from synapse.hippocampus.plan import ArchiveChange, ConsolidationPlan, EndChange, FactState
from synapse.hippocampus.ports import NOBODY, GraphDocument, Hear, Recorder
from synapse.hippocampus.recall import RecallSet
from synapse.hippocampus.room import Pin, Room, RoomSummary, Surprise
from synapse.hippocampus.traces import TraceTable
from synapse.store.document import refuse_own_graph, storable
from synapse.store.keys import unknown_graph
from synapse.store.memory_archive import read_images
from synapse.store.memory_graph import Items, snapshot_of
from synapse.store.memory_room import MemoryRoom
from synapse.store.records import new_entry, traces_of


class InMemoryStore:
    """A :class:`~synapse.hippocampus.ports.MemoryStore` that forgets everything with the process.

    Args:
        clock: seconds that never go back; locks expire by it.

    >>> store = InMemoryStore()
    >>> store.write_memory("my-agent", GraphDocument(entities=({"uuid": "a", "name": "Ada"},)))
    {'entities': 1, 'facts': 0, 'episodes': 0, 'mentions': 0}
    >>> store.graphs(), store.read_graph("my-agent").entities.name
    (['my-agent'], ['Ada'])
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.uri = "memory:"
        self._clock = clock
        self._graphs: dict[str, Items] = {}
        self._rooms: dict[str, MemoryRoom] = {}

    def graphs(self) -> list[str]:
        """Names of the graphs there are, sorted."""
        return sorted(self._graphs)

    def read_graph(self, graph: str, hear: Hear | None = None) -> GraphSnapshot:
        """All entities, facts, episodes and mentions of one graph."""
        snapshot = snapshot_of(graph, self._known(graph))
        if hear is not None:
            hear(snapshot.facts.text)
        return snapshot

    def read_graph_unless(
        self, graph: str, digest: str, hear: Hear | None = None
    ) -> GraphSnapshot | GraphOutline:
        """The outline of the graph if it still has this digest, else all of it."""
        snapshot = self.read_graph(graph)
        return snapshot.outline() if snapshot.digest == digest else self.read_graph(graph, hear)

    def read_room(self, graph: str) -> Room:
        """What is kept beside the graph."""
        return self._room(graph).kept

    def summarize_room(self, graph: str) -> RoomSummary:
        """Sizes and last run."""
        return self._room(graph).summary()

    def lock_holder(self, graph: str) -> str | None:
        """Token of the run that works on the graph, if any."""
        return self._room(graph).lock_holder()

    def await_lock(self, graph: str, wait_s: float) -> bool:
        """Say whether nobody works on the graph; waiting would not change a single process."""
        return self.lock_holder(graph) is None

    def acquire_lock(self, graph: str, token: str, ttl_s: float) -> bool:
        """Take the lock unless another token holds it, or extend one's own."""
        return self._room(graph).acquire_lock(token, ttl_s)

    def release_lock(self, graph: str, token: str) -> None:
        """Give the lock back if ``token`` still holds it."""
        self._room(graph).release_lock(token)

    def apply(self, plan: ConsolidationPlan, lock_token: str) -> None:
        """Write the plan in one step and raise the revision by one."""
        self._room(plan.graph).apply(plan, lock_token)

    def read_facts(self, graph: str, facts: Collection[str]) -> dict[str, FactState]:
        """These facts as the graph holds them now, by uuid."""
        return self._known(graph).states(facts)

    def change_ends(self, graph: str, changes: Sequence[EndChange], lock_token: str) -> set[str]:
        """Write when facts ended, each only where its end is still what it was before."""
        room = self._room(graph)
        return self._known(graph).change_ends(changes, lambda: room.require_lock(lock_token))

    def append_journal(
        self, graph: str, run_id: str, entry: Mapping[str, Any], lock_token: str
    ) -> None:
        """Write what a run changes in Graphiti's own data, before it does."""
        self._room(graph).append_journal(run_id, entry, lock_token)

    def read_journal(self, graph: str) -> dict[str, dict[str, Any]]:
        """All entries of the journal, by run id."""
        return self._room(graph).journal()

    def read_images(self, graph: str, uuids: Collection[str]) -> dict[str, MemoryImage]:
        """These memories with everything that they consist of."""
        return read_images(self._known(graph), uuids)

    def archive(
        self,
        graph: str,
        changes: Sequence[ArchiveChange],
        run_id: str,
        now_s: float,
        lock_token: str,
    ) -> set[str]:
        """Move memories into the archive, facts before entities."""
        room = self._room(graph)
        kept = traces_of(changes, room.kept.traces)
        return room.archive.move(
            self._known(graph),
            changes,
            lambda change, image: new_entry(change, image, kept, run_id, now_s, "archived"),
            lambda: room.keep_lock(lock_token),
            lambda memory: memory in room.kept.pins,
        )

    def restore(self, graph: str, uuids: Collection[str], lock_token: str) -> dict[str, str]:
        """Bring archived memories back exactly as they were, entities before facts."""
        room, kept = self._room(graph), self._known_or_archived(graph)
        told = room.archive.restore(kept, uuids, lambda: room.keep_lock(lock_token))
        if kept.entities:
            self._graphs[graph] = kept
        return told

    def foresee_restore(self, graph: str, uuids: Collection[str]) -> dict[str, str]:
        """What :meth:`restore` would say; nothing is written."""
        return self._room(graph).archive.foresee(self._known_or_archived(graph), uuids)

    def archived_graphs(self) -> list[str]:
        """Names of the graphs that have an archive, sorted, whether or not they still exist."""
        return sorted(name for name, room in self._rooms.items() if room.archive.entries())

    def read_archive(self, graph: str, run_id: str | None = None) -> list[ArchivedMemory]:
        """Entries of the archive, oldest first: all, or those of one run."""
        return self._room(graph).archive.entries(run_id)

    def read_archived_images(self, graph: str, uuids: Collection[str]) -> dict[str, MemoryImage]:
        """What the archive holds of these memories, the newest of each."""
        return self._room(graph).archive.images(uuids)

    def purge(self, graph: str, before_s: float, lock_token: str) -> int:
        """Free for good what was archived before a moment; tombstones stay."""
        room = self._room(graph)
        return room.archive.purge(before_s, lambda: room.keep_lock(lock_token))

    def read_subjects(
        self,
        graph: str,
        subjects: Collection[str],
        matters: Mapping[str, Matters] = MappingProxyType({}),
        hear: Hear | None = None,
    ) -> GraphSnapshot:
        """The facts that start at some entities."""
        kept = self._known(graph).about(subjects)
        if hear is not None:
            hear([fact["fact"] for fact in kept.facts.values()])
        return snapshot_of(graph, kept)

    def find_entities(self, graph: str, names: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Uuids of the entities of each name, the oldest first."""
        return self._graphs.get(graph, Items()).named(names)

    def confirm_fact(self, graph: str, fact: str, episode: str) -> bool:
        """Add an episode to those that support a fact."""
        return self._known(graph).confirm(fact, episode)

    def write_embeddings(
        self, graph: str, kind: str, vectors: Mapping[str, Sequence[float]]
    ) -> None:
        """Give entities or facts their embeddings."""
        kept = self._known(graph)
        items, name = (
            (kept.entities, "name_embedding")
            if kind == "entity"
            else (kept.facts, "fact_embedding")
        )
        for uuid, vector in vectors.items():
            items[uuid][name] = list(vector)

    def read_traces(self, graph: str, keys: Keys) -> TraceTable:
        """What is kept about some memories."""
        traces = self.read_room(graph).traces
        return traces[np.isin(traces["key"], keys)]

    def record_surprises(self, graph: str, noticed: Mapping[str, Sequence[Surprise]]) -> int:
        """Append to the queue that the next run drains, once for each episode."""
        room = self._room(graph)
        return sum(room.record_surprises(uuid, surprises) for uuid, surprises in noticed.items())

    def record_recalls(
        self, graph: str, recall_sets: Sequence[RecallSet], recorder: Recorder = NOBODY
    ) -> None:
        """Append to the queue that the next run folds."""
        self._room(graph).record_recalls(recall_sets, recorder)

    def read_links(self, graph: str, memories: Collection[str]) -> Links:
        """With which others these memories were recalled."""
        links = self.read_room(graph).links
        return {memory: links[memory] for memory in memories if memory in links}

    def import_recalls(self, graph: str, recall_sets: Sequence[RecallSet]) -> int:
        """Append those recall sets that no import has appended before."""
        return self._room(graph).import_recalls(recall_sets)

    def near_duplicates(self, graph: str, similarity_min: float) -> NearDuplicates:
        """Pairs of entities, and of facts, whose stored embeddings are at least this alike."""
        self._known(graph)
        return NearDuplicates()  # a document brings no embeddings

    def read_pins(self, graph: str, memories: Collection[str]) -> dict[str, Pin]:
        """The pins of these memories."""
        pins = self.read_room(graph).pins
        return {memory: pins[memory] for memory in memories if memory in pins}

    def pin(self, graph: str, memory: str, pin: Pin) -> bool:
        """Pin a memory, or pin it anew; say whether it was not pinned before."""
        return self._room(graph).pin(memory, pin)

    def unpin(self, graph: str, memory: str) -> bool:
        """Take a pin back; say whether there was one."""
        return self._room(graph).unpin(memory)

    def record_failure(self, graph: str) -> int:
        """Count a failed run; return how many failed since one succeeded."""
        return self._room(graph).record_failure()

    def clear_failures(self, graph: str) -> None:
        """Forget earlier failures after a run that had nothing to write."""
        self._room(graph).clear_failures()

    def write_memory(self, graph: str, nodes_and_edges: GraphDocument) -> dict[str, int]:
        """Add a memory to a graph; existing uuids are left as they are."""
        refuse_own_graph(graph)
        document = storable(nodes_and_edges)
        kept = self._graphs.get(graph, Items())
        after = self._graphs[graph] = kept.with_document(document)
        return {
            part: len(getattr(after, part)) - len(getattr(kept, part))
            for part in ("entities", "facts", "episodes", "mentions")
        }

    def close(self) -> None:
        """Nothing to free."""

    def _room(self, graph: str) -> MemoryRoom:
        refuse_own_graph(graph)
        return self._rooms.setdefault(graph, MemoryRoom(graph, self._clock))

    def _known(self, graph: str) -> Items:
        refuse_own_graph(graph)
        if graph not in self._graphs:
            raise unknown_graph(graph)
        return self._graphs[graph]

    def _known_or_archived(self, graph: str) -> Items:
        if graph not in self._graphs and self._room(graph).archive.entries():
            return Items()
        return self._known(graph)
