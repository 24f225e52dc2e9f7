"""The one thing the hippocampus asks of the outside world: a store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

from synapse.hippocampus.archived import ArchivedMemory
from synapse.hippocampus.co_recall import Links
from synapse.hippocampus.image import MemoryImage
from synapse.hippocampus.interference import NearDuplicates
from synapse.hippocampus.matters import Matters
from synapse.hippocampus.memory_keys import Keys
from synapse.hippocampus.model import GraphOutline, GraphSnapshot
from synapse.hippocampus.plan import ArchiveChange, ConsolidationPlan, EndChange, FactState
from synapse.hippocampus.recall import RecallSet
from synapse.hippocampus.room import Pin, Room, RoomSummary, Surprise
from synapse.hippocampus.traces import TraceTable

LOCK_TTL_S = 60.0
"""How long a run that is heard of no more keeps others away."""


Hear = Callable[[Sequence[str]], None]
"""Takes the next texts."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """Who records recalls, so that what is written again is not counted again."""

    name: str = ""
    """Of one process, unlike any other's; empty: whatever is recorded counts."""
    first_number: int = 1
    """Of the first recall set, counted by graph; what it has written before is known by that."""


NOBODY = Recorder()


class MemoryStore(Protocol):
    """Graphiti graphs, and Synapse's room beside each of them.

    Reading never creates a graph. Every method raises a leaf of
    :class:`~synapse.errors.StoreError` where the server does not do what it must.
    """

    uri: str
    """Where it is; it may hold the password: never print it."""

    def graphs(self) -> list[str]:
        """Names of the graphs there are, sorted, without Synapse's own."""

    def read_graph(self, graph: str, hear: Hear | None = None) -> GraphSnapshot:
        """All entities, facts, episodes and mentions of one graph.

        Args:
            graph: name of the graph; it is never created.
            hear: is given the texts of its facts as they come in, some at a time.

        Raises:
            UnknownGraph: there is no graph of that name.
            IncompleteRead: rows are missing and reading again did not help.
        """

    def read_graph_unless(
        self, graph: str, digest: str, hear: Hear | None = None
    ) -> GraphSnapshot | GraphOutline:
        """The outline of the graph if it still has this digest, else all of it.

        An unchanged graph costs little more than the transfer: its texts and times are compared,
        not understood. Nothing is heard of it.

        Raises:
            UnknownGraph, IncompleteRead: as :meth:`read_graph`.
        """

    def read_room(self, graph: str) -> Room:
        """What is kept beside the graph."""

    def summarize_room(self, graph: str) -> RoomSummary:
        """Sizes and last run, without reading the traces."""

    def lock_holder(self, graph: str) -> str | None:
        """Token of the run that works on the graph, if any."""

    def await_lock(self, graph: str, wait_s: float) -> bool:
        """Wait at most so long until nobody works on the graph; say whether that is so."""

    def acquire_lock(self, graph: str, token: str, ttl_s: float) -> bool:
        """Take the lock unless another token holds it; a dead holder's lock expires by itself."""

    def release_lock(self, graph: str, token: str) -> None:
        """Give the lock back if ``token`` still holds it."""

    def apply(self, plan: ConsolidationPlan, lock_token: str) -> None:
        """Write the plan in one atomic step and raise the revision by one.

        Raises:
            LockLost: ``lock_token`` does not hold the lock, or the room's revision is no longer
                the plan's. Nothing was written.
        """

    def read_subjects(
        self,
        graph: str,
        subjects: Collection[str],
        matters: Mapping[str, Matters] = MappingProxyType({}),
        hear: Hear | None = None,
    ) -> GraphSnapshot:
        """The facts that start at some entities, in milliseconds; see ``store.neighbourhood``.

        The summaries of entities are left empty.

        Args:
            graph: name of the graph.
            subjects: uuids of the entities.
            matters: by subject, all that is read where it has many facts.
            hear: is given the texts of the facts as they come in, while the rest is awaited.

        Raises:
            UnknownGraph: there is no graph of that name.
        """

    def find_entities(self, graph: str, names: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Uuids of the entities of each name, the oldest first; names of none are left out.

        Those in the same letters, or if there are none those that differ in upper and lower case.
        """

    def confirm_fact(self, graph: str, fact: str, episode: str) -> bool:
        """Add an episode to those that support a fact; say whether it was new."""

    def write_embeddings(
        self, graph: str, kind: str, vectors: Mapping[str, Sequence[float]]
    ) -> None:
        """Give entities or facts (``kind``) their embeddings, by uuid."""

    def read_traces(self, graph: str, keys: Keys) -> TraceTable:
        """What is kept about the memories of these keys; those without a trace are left out."""

    def read_facts(self, graph: str, facts: Collection[str]) -> dict[str, FactState]:
        """These facts as the graph holds them now, by uuid; those that are gone are left out.

        Raises:
            UnknownGraph: there is no graph of that name.
        """

    def change_ends(self, graph: str, changes: Sequence[EndChange], lock_token: str) -> set[str]:
        """Write when facts ended, each only where its end is still what it was before.

        Few at a time, the lock checked before each part. Nothing but ``invalid_at`` and
        ``expired_at`` of the named facts is touched.

        Returns:
            Uuids of the facts that were written; the others have changed meanwhile.

        Raises:
            LockLost: ``lock_token`` does not hold the lock any more; parts written before stay.
        """

    def append_journal(
        self, graph: str, run_id: str, entry: Mapping[str, Any], lock_token: str
    ) -> None:
        """Write what a run changes in Graphiti's own data, before it does; replaces its entry.

        Raises:
            LockLost: ``lock_token`` does not hold the lock; nothing was written.
        """

    def read_journal(self, graph: str) -> dict[str, dict[str, Any]]:
        """All entries of the journal, by run id."""

    def read_images(self, graph: str, uuids: Collection[str]) -> dict[str, MemoryImage]:
        """These memories with everything that they consist of; those that are gone are left out.

        Raises:
            UnknownGraph: there is no graph of that name.
        """

    def archive(
        self,
        graph: str,
        changes: Sequence[ArchiveChange],
        run_id: str,
        now_s: float,
        lock_token: str,
    ) -> set[str]:
        """Move memories into the archive, facts before entities, few at a time.

        Each is copied and the copy verified, then removed if it still is what it was before, then
        marked as archived. Stopped at any point, each memory is in the graph or in the archive;
        calling again completes what was begun. An entity goes only when no fact hangs on it any
        more. A pinned memory stays: a pin and the removal of its memory come one after the other,
        and where the pin came first nothing is removed. The lock is checked and extended before
        each part.

        Returns:
            Uuids of the memories that are in the archive now, moved by this call or by one that
            was stopped; the others have changed, are gone, are pinned, or have an obstacle.

        Raises:
            LockLost: ``lock_token`` does not hold the lock any more; what was moved stays so.
        """

    def restore(self, graph: str, uuids: Collection[str], lock_token: str) -> dict[str, str]:
        """Bring archived memories back exactly as they were, entities before facts.

        Returns:
            Uuid -> ``"restored"``, ``"already there"`` or a sentence that says why not; a
            ``"restored; …"`` says what could not come along. Ends of a fact that come along are
            listed too. A graph that is gone is made again for what its archive holds.

        Raises:
            UnknownGraph: there is no graph of that name, and no archive of one.
            LockLost: ``lock_token`` does not hold the lock any more; what was restored stays so.
        """

    def foresee_restore(self, graph: str, uuids: Collection[str]) -> dict[str, str]:
        """What :meth:`restore` would say, as the graph and its archive are now.

        Nothing is written, and no lock is needed.
        """

    def archived_graphs(self) -> list[str]:
        """Names of the graphs that have an archive, sorted, whether or not they still exist."""

    def read_archive(self, graph: str, run_id: str | None = None) -> list[ArchivedMemory]:
        """Entries of the archive, oldest first: all, or those of one run."""

    def read_archived_images(self, graph: str, uuids: Collection[str]) -> dict[str, MemoryImage]:
        """What the archive holds of these memories, the newest of each."""

    def purge(self, graph: str, before_s: float, lock_token: str) -> int:
        """Free for good what was archived before a moment; tombstones stay.

        Returns:
            How many memories were freed. This is the only write that cannot be taken back.

        Raises:
            LockLost: ``lock_token`` does not hold the lock any more; what was freed stays so.
        """

    def record_surprises(self, graph: str, noticed: Mapping[str, Sequence[Surprise]]) -> int:
        """Append to the durable queue that the next run drains.

        Args:
            graph: the graph.
            noticed: by the uuid of the episode, what was noticed in it; it is recorded once,
                however often it is told. So is each event, in whatever episodes it is noticed.
                Without a uuid it is recorded whenever it is told.

        Returns:
            Of how many episodes they were recorded; those told before are not among them.
        """

    def record_recalls(
        self, graph: str, recall_sets: Sequence[RecallSet], recorder: Recorder = NOBODY
    ) -> None:
        """Append to the durable queue that the next run folds.

        Args:
            graph: the graph.
            recall_sets: in the order of their numbers.
            recorder: who records them; what it has recorded within a week is not recorded again.

        Raises:
            QueueFull: more than 100,000 sets would wait; none of these is recorded, and none that
                waits is lost.
        """

    def read_links(self, graph: str, memories: Collection[str]) -> Links:
        """With which others these memories were recalled; those that never were are left out."""

    def import_recalls(self, graph: str, recall_sets: Sequence[RecallSet]) -> int:
        """Append those recall sets that no import has appended before, known by their digest.

        Returns:
            How many were new.

        Raises:
            QueueFull: no more may wait; what came before is imported, ``taken_count`` says how
                many.
        """

    def near_duplicates(self, graph: str, similarity_min: float) -> NearDuplicates:
        """Pairs of entities, and of facts, whose stored embeddings are at least this alike.

        Compared are facts of one entity (of one with more than 100 those with the same other end)
        and entities whose names share a word that at most 50 names hold.

        Raises:
            UnknownGraph: there is no graph of that name.
        """

    def read_pins(self, graph: str, memories: Collection[str]) -> dict[str, Pin]:
        """The pins of these memories; those that are not pinned are left out."""

    def pin(self, graph: str, memory: str, pin: Pin) -> bool:
        """Pin a memory, or pin it anew; say whether it was not pinned before."""

    def unpin(self, graph: str, memory: str) -> bool:
        """Take a pin back; say whether there was one."""

    def record_failure(self, graph: str) -> int:
        """Count a failed run; return how many failed since one succeeded (apply() resets it)."""

    def clear_failures(self, graph: str) -> None:
        """Forget earlier failures after a run that had nothing to write."""

    def write_memory(self, graph: str, nodes_and_edges: GraphDocument) -> dict[str, int]:
        """Add a memory to a graph in Graphiti's own shape; existing uuids are left as they are.

        Returns:
            How many ``entities``, ``facts``, ``episodes`` and ``mentions`` were added.
        """

    def close(self) -> None:
        """Free connections; stop a private server."""


@dataclass(frozen=True, slots=True)
class GraphDocument:
    """A memory in Graphiti's shape, ready to be written: property maps with string times.

    ``entities``: uuid, name, group_id, summary, created_at, labels (list). ``episodes``: uuid,
    name, group_id, source, source_description, content, created_at, valid_at. ``facts``: uuid,
    source_node_uuid, target_node_uuid, name, fact, group_id, episodes (list), created_at, and
    optionally valid_at, invalid_at, expired_at. ``mentions``: uuid, episode_uuid, entity_uuid,
    group_id, created_at. Other keys are written as they are; ``None`` values are left out.
    """

    entities: tuple[dict[str, Any], ...] = ()
    facts: tuple[dict[str, Any], ...] = ()
    episodes: tuple[dict[str, Any], ...] = ()
    mentions: tuple[dict[str, Any], ...] = ()
