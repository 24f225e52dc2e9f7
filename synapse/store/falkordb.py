"""FalkorDB as a store: Graphiti's graphs, and Synapse's room beside each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from synapse.hippocampus.archived import ArchivedMemory
from synapse.hippocampus.co_recall import Links
from synapse.hippocampus.health import GraphHealth, ServerHealth
from synapse.hippocampus.image import MemoryImage
from synapse.hippocampus.interference import NearDuplicates
from synapse.hippocampus.matters import Matters
from synapse.hippocampus.memory_keys import Keys, trace_keys
from synapse.hippocampus.model import GraphOutline, GraphSnapshot
from synapse.hippocampus.plan import ArchiveChange, ConsolidationPlan, EndChange, FactState
from synapse.hippocampus.ports import NOBODY, GraphDocument, Hear, Recorder
from synapse.hippocampus.recall import RecallSet
from synapse.hippocampus.room import Pin, Room, RoomSummary, Surprise
from synapse.hippocampus.traces import TraceTable
from synapse.store import archive, beliefs, diagnosis, ends, journal, lock, recalls, room, surprises
from synapse.store.connection import Connection, connect, list_archived, list_graphs
from synapse.store.document import refuse_own_graph
from synapse.store.failures import explained, naming_misplaced
from synapse.store.images import read_images
from synapse.store.neighbourhood import read_subjects
from synapse.store.reader import read_graph, read_graph_unless
from synapse.store.restore import foresee, restore
from synapse.store.similarity import near_duplicates
from synapse.store.writer import write_document


class FalkorStore:
    """A :class:`~synapse.hippocampus.ports.MemoryStore` on a FalkorDB server.

    Args:
        connection: a client of protocol 3 that answers with bytes and never repeats a command by
            itself.
        uri: where it is connected to, for the sentences of errors.
        on_close: called after the connections are closed.
    """

    def __init__(
        self, connection: Connection, uri: str, on_close: Callable[[], None] = lambda: None
    ) -> None:
        self._connection = connection
        self.uri = uri
        self._on_close = on_close

    @classmethod
    def open(
        cls,
        uri: str,
        on_close: Callable[[], None] = lambda: None,
        tls: Mapping[str, Any] = MappingProxyType({}),
    ) -> FalkorStore:
        """Connect to a ``redis://``, ``rediss://`` or ``unix://`` address."""
        return cls(connect(uri, tls=tls), uri, on_close)

    def graphs(self) -> list[str]:
        """Names of the graphs there are, sorted, without Synapse's own."""
        with explained(self.uri):
            return list_graphs(self._connection)

    def read_graph(self, graph: str, hear: Hear | None = None) -> GraphSnapshot:
        """All entities, facts, episodes and mentions of one graph."""
        with self._at_work_on(graph) as connection:
            return read_graph(connection, graph, hear)

    def read_graph_unless(
        self, graph: str, digest: str, hear: Hear | None = None
    ) -> GraphSnapshot | GraphOutline:
        """The outline of the graph if it still has this digest, else all of it."""
        with self._at_work_on(graph) as connection:
            return read_graph_unless(connection, graph, digest, hear)

    def read_room(self, graph: str) -> Room:
        """What is kept beside the graph."""
        with self._at_work_on(graph) as connection:
            return room.read_room(connection, graph)

    def summarize_room(self, graph: str) -> RoomSummary:
        """Sizes and last run, without reading the traces."""
        with self._at_work_on(graph) as connection:
            return room.summarize_room(connection, graph)

    def lock_holder(self, graph: str) -> str | None:
        """Token of the run that works on the graph, if any."""
        with self._at_work_on(graph) as connection:
            return lock.lock_holder(connection, graph)

    def await_lock(self, graph: str, wait_s: float) -> bool:
        """Wait at most so long until nobody works on the graph."""
        with self._at_work_on(graph) as connection:
            return lock.await_lock(connection, graph, wait_s)

    def acquire_lock(self, graph: str, token: str, ttl_s: float) -> bool:
        """Take the lock unless another token holds it, or extend one's own."""
        with self._at_work_on(graph) as connection:
            return lock.acquire_lock(connection, graph, token, ttl_s)

    def release_lock(self, graph: str, token: str) -> None:
        """Give the lock back if ``token`` still holds it."""
        with self._at_work_on(graph) as connection:
            lock.release_lock(connection, graph, token)

    def apply(self, plan: ConsolidationPlan, lock_token: str) -> None:
        """Write the plan in one transaction and raise the revision by one."""
        with self._at_work_on(plan.graph) as connection:
            room.apply(connection, plan, lock_token)

    def read_facts(self, graph: str, facts: Collection[str]) -> dict[str, FactState]:
        """These facts as the graph holds them now, by uuid."""
        with self._at_work_on(graph) as connection:
            return ends.read_facts(connection, graph, facts)

    def change_ends(self, graph: str, changes: Sequence[EndChange], lock_token: str) -> set[str]:
        """Write when facts ended, each only where its end is still what it was before."""
        with self._at_work_on(graph) as connection:
            held = lock.HeldLock(connection, graph, lock_token)
            return ends.change_ends(graph, changes, held)

    def append_journal(
        self, graph: str, run_id: str, entry: Mapping[str, Any], lock_token: str
    ) -> None:
        """Write what a run changes in Graphiti's own data, before it does."""
        with self._at_work_on(graph) as connection:
            journal.append_journal(connection, graph, run_id, entry, lock_token)

    def read_journal(self, graph: str) -> dict[str, dict[str, Any]]:
        """All entries of the journal, by run id."""
        with self._at_work_on(graph) as connection:
            return journal.read_journal(connection, graph)

    def read_images(self, graph: str, uuids: Collection[str]) -> dict[str, MemoryImage]:
        """These memories with everything that they consist of."""
        with self._at_work_on(graph) as connection:
            return read_images(connection, graph, uuids)

    def archive(
        self,
        graph: str,
        changes: Sequence[ArchiveChange],
        run_id: str,
        now_s: float,
        lock_token: str,
    ) -> set[str]:
        """Move memories into the archive, facts before entities."""
        with self._at_work_on(graph) as connection:
            entities, facts = (
                [change.uuid for change in changes if change.kind == kind]
                for kind in ("entity", "fact")
            )
            traces = room.read_some_traces(connection, graph, trace_keys(entities, facts))
            held = lock.HeldLock(connection, graph, lock_token)
            return archive.archive(connection, graph, changes, traces, run_id, now_s, held)

    def restore(self, graph: str, uuids: Collection[str], lock_token: str) -> dict[str, str]:
        """Bring archived memories back exactly as they were, entities before facts."""
        with self._at_work_on(graph) as connection:
            held = lock.HeldLock(connection, graph, lock_token)
            return restore(connection, graph, uuids, held)

    def foresee_restore(self, graph: str, uuids: Collection[str]) -> dict[str, str]:
        """What :meth:`restore` would say; nothing is written."""
        with self._at_work_on(graph) as connection:
            return foresee(connection, graph, uuids)

    def archived_graphs(self) -> list[str]:
        """Names of the graphs that have an archive, sorted, whether or not they still exist."""
        with explained(self.uri):
            return list_archived(self._connection)

    def read_archive(self, graph: str, run_id: str | None = None) -> list[ArchivedMemory]:
        """Entries of the archive, oldest first: all, or those of one run."""
        with self._at_work_on(graph) as connection:
            return archive.read_archive(connection, graph, run_id)

    def read_archived_images(self, graph: str, uuids: Collection[str]) -> dict[str, MemoryImage]:
        """What the archive holds of these memories, the newest of each."""
        with self._at_work_on(graph) as connection:
            return archive.read_archived_images(connection, graph, uuids)

    def purge(self, graph: str, before_s: float, lock_token: str) -> int:
        """Free for good what was archived before a moment; tombstones stay."""
        with self._at_work_on(graph) as connection:
            held = lock.HeldLock(connection, graph, lock_token)
            return archive.purge(connection, graph, before_s, held)

    def read_subjects(
        self,
        graph: str,
        subjects: Collection[str],
        matters: Mapping[str, Matters] = MappingProxyType({}),
        hear: Hear | None = None,
    ) -> GraphSnapshot:
        """The facts that start at some entities."""
        with self._at_work_on(graph) as connection:
            return read_subjects(connection, graph, subjects, matters, hear)

    def find_entities(self, graph: str, names: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Uuids of the entities of each name, the oldest first."""
        with self._at_work_on(graph) as connection:
            return beliefs.find_entities(connection, graph, names)

    def confirm_fact(self, graph: str, fact: str, episode: str) -> bool:
        """Add an episode to those that support a fact."""
        with self._at_work_on(graph) as connection:
            return beliefs.confirm_fact(connection, graph, fact, episode)

    def write_embeddings(
        self, graph: str, kind: str, vectors: Mapping[str, Sequence[float]]
    ) -> None:
        """Give entities or facts their embeddings."""
        with self._at_work_on(graph) as connection:
            beliefs.write_embeddings(connection, graph, kind, vectors)

    def read_traces(self, graph: str, keys: Keys) -> TraceTable:
        """What is kept about some memories."""
        with self._at_work_on(graph) as connection:
            return room.read_some_traces(connection, graph, keys)

    def record_surprises(self, graph: str, noticed: Mapping[str, Sequence[Surprise]]) -> int:
        """Append to the durable queue that the next run drains, once for each episode."""
        with self._at_work_on(graph) as connection:
            return surprises.record_surprises(connection, graph, noticed)

    def record_recalls(
        self, graph: str, recall_sets: Sequence[RecallSet], recorder: Recorder = NOBODY
    ) -> None:
        """Append to the durable queue that the next run folds."""
        with self._at_work_on(graph) as connection:
            recalls.record_recalls(connection, graph, recall_sets, recorder)

    def read_links(self, graph: str, memories: Collection[str]) -> Links:
        """With which others these memories were recalled."""
        with self._at_work_on(graph) as connection:
            return recalls.read_links(connection, graph, memories)

    def import_recalls(self, graph: str, recall_sets: Sequence[RecallSet]) -> int:
        """Append those recall sets that no import has appended before."""
        with self._at_work_on(graph) as connection:
            return recalls.import_recalls(connection, graph, recall_sets)

    def near_duplicates(self, graph: str, similarity_min: float) -> NearDuplicates:
        """Pairs of entities, and of facts, whose stored embeddings are at least this alike."""
        with self._at_work_on(graph) as connection:
            return near_duplicates(connection, graph, similarity_min)

    def read_pins(self, graph: str, memories: Collection[str]) -> dict[str, Pin]:
        """The pins of these memories."""
        with self._at_work_on(graph) as connection:
            return recalls.read_pins(connection, graph, memories)

    def pin(self, graph: str, memory: str, pin: Pin) -> bool:
        """Pin a memory, or pin it anew; say whether it was not pinned before."""
        with self._at_work_on(graph) as connection:
            return recalls.pin(connection, graph, memory, pin)

    def unpin(self, graph: str, memory: str) -> bool:
        """Take a pin back; say whether there was one."""
        with self._at_work_on(graph) as connection:
            return recalls.unpin(connection, graph, memory)

    def record_failure(self, graph: str) -> int:
        """Count a failed run; return how many failed since one succeeded."""
        with self._at_work_on(graph) as connection:
            return room.record_failure(connection, graph)

    def clear_failures(self, graph: str) -> None:
        """Forget earlier failures after a run that had nothing to write."""
        with self._at_work_on(graph) as connection:
            room.clear_failures(connection, graph)

    def write_memory(self, graph: str, nodes_and_edges: GraphDocument) -> dict[str, int]:
        """Add a memory to a graph in Graphiti's own shape; return how much of it was new."""
        with self._at_work_on(graph) as connection:
            return write_document(connection, graph, nodes_and_edges)

    def inspect_server(self, graph: str, clock: Callable[[], float]) -> ServerHealth:
        """What is known about the server that holds a graph, or would hold it."""
        with self._at_work_on(graph) as connection:
            return diagnosis.read_server(connection, graph, clock)

    def inspect_graph(self, graph: str, now_s: float) -> GraphHealth:
        """What is known about a graph and the room beside it."""
        with self._at_work_on(graph) as connection:
            return diagnosis.read_graph_health(connection, graph, now_s)

    def close(self) -> None:
        """Free the connections; stop a private server."""
        self._connection.close()
        self._on_close()

    @contextmanager
    def _at_work_on(self, graph: str) -> Iterator[Connection]:
        refuse_own_graph(graph)
        with explained(self.uri), naming_misplaced(self._connection, graph):
            yield self._connection
