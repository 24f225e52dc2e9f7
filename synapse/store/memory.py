"""A store in plain dictionaries: for examples, notebooks and fast tests."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from synapse.errors import LockLost, UnknownGraph
from synapse.hippocampus.archived import ArchivedMemory
from synapse.hippocampus.co_recall import Links
from synapse.hippocampus.image import MemoryImage
from synapse.hippocampus.interference import NearDuplicates
from synapse.hippocampus.matters import Matters
from synapse.hippocampus.model import (
    GraphOutline,
    GraphSnapshot,
    Keys,
)
from synapse.hippocampus.plan import ArchiveChange, ConsolidationPlan, EndChange, FactState
from synapse.hippocampus.ports import (
    LOCK_TTL_S,
    NOBODY,
    GraphDocument,
    Hear,
    Pin,
    Recorder,
    Room,
    RoomSummary,
    Surprise,
)
from synapse.hippocampus.recall import RecallSet
from synapse.hippocampus.traces import TraceTable
from synapse.store.document import refuse_dangling, refuse_own_graph, shown, storable
from synapse.store.memory_archive import Archive, read_images
from synapse.store.memory_graph import Items, snapshot_of, state_of
from synapse.store.recalls import RECALLS_MAX_COUNT, queue_full
from synapse.store.records import new_entry, traces_of


@dataclass(slots=True)
class _Lock:
    token: str
    expires_s: float


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
        self._rooms: dict[str, Room] = {}
        self._archives: defaultdict[str, Archive] = defaultdict(Archive)
        self._journals: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        self._locks: dict[str, _Lock] = {}
        self._surprises_count = 0
        self._noticed: set[tuple[str, str]] = set()
        self._recalls_count = 0
        self._recorded: Counter[tuple[str, str]] = Counter()
        self._imported: set[tuple[str, bytes]] = set()

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
        refuse_own_graph(graph)
        return self._rooms.get(graph, Room())

    def summarize_room(self, graph: str) -> RoomSummary:
        """Sizes and last run."""
        room = self.read_room(graph)
        return RoomSummary(
            traces_count=len(room.traces),
            ledger_count=len(room.ledger),
            surprises_count=len(room.surprises),
            recalls_count=len(room.recalls),
            recalled_count=len(room.profiles),
            pins_count=len(room.pins),
            revision=room.revision,
            failures_count=room.failures_count,
            last_run=room.last_run,
            lock_holder=self.lock_holder(graph),
        )

    def lock_holder(self, graph: str) -> str | None:
        """Token of the run that works on the graph, if any."""
        refuse_own_graph(graph)
        lock = self._locks.get(graph)
        return lock.token if lock and self._clock() < lock.expires_s else None

    def await_lock(self, graph: str, wait_s: float) -> bool:
        """Say whether nobody works on the graph; waiting would not change a single process."""
        return self.lock_holder(graph) is None

    def acquire_lock(self, graph: str, token: str, ttl_s: float) -> bool:
        """Take the lock unless another token holds it, or extend one's own."""
        if self.lock_holder(graph) not in (None, token):
            return False
        self._locks[graph] = _Lock(token, self._clock() + ttl_s)
        return True

    def release_lock(self, graph: str, token: str) -> None:
        """Give the lock back if ``token`` still holds it."""
        if self.lock_holder(graph) == token:
            del self._locks[graph]

    def apply(self, plan: ConsolidationPlan, lock_token: str) -> None:
        """Write the plan in one step and raise the revision by one."""
        room = self.read_room(plan.graph)
        self._refuse_without_lock(plan.graph, lock_token)
        if room.revision != plan.base_revision:
            raise LockLost(
                f"another run wrote the room of {shown(plan.graph)}; nothing was written"
            )
        self._journals[plan.graph] |= _copied(plan.journal)
        after = {change.target: change.after for change in plan.ledger}
        ledger = {fact: _copied(decision) for fact, decision in (room.ledger | after).items()}
        profiles, links = {**room.profiles, **plan.profiles}, {**room.links, **plan.links}
        folded = next((n for n, r in enumerate(room.recalls, 1) if r.id == plan.folded), 0)
        self._rooms[plan.graph] = replace(
            room,
            revision=room.revision + 1,
            traces=plan.traces.copy(),
            ledger={fact: decision for fact, decision in ledger.items() if decision is not None},
            surprises=tuple(s for s in room.surprises if s.id not in set(plan.surprises)),
            recalls=room.recalls[folded:],
            profiles={m: profiles[m] for m in profiles.keys() - plan.forgotten},
            links={m: links[m] for m in links.keys() - plan.forgotten},
            last_run=room.last_run if plan.interim else _copied(plan.run_record),
            failures_count=room.failures_count if plan.interim else 0,
            memo=room.memo if plan.memo is None else _copied(plan.memo),
        )

    def read_facts(self, graph: str, facts: Collection[str]) -> dict[str, FactState]:
        """These facts as the graph holds them now, by uuid."""
        kept = self._known(graph).facts
        return {fact: state_of(kept[fact]) for fact in facts if fact in kept}

    def change_ends(self, graph: str, changes: Sequence[EndChange], lock_token: str) -> set[str]:
        """Write when facts ended, each only where its end is still what it was before."""
        kept, written = self._known(graph).facts, set()
        before = {uuid: state_of(kept[uuid]) for uuid in _named(changes) if uuid in kept}
        for change in changes:
            self._refuse_without_lock(graph, lock_token)
            if _is_same(before, change.fact, change.before) and (
                change.by is None or _is_same(before, change.by, change.by_before)
            ):
                fact = {**kept[change.fact], "invalid_at": change.invalid_at}
                fact["expired_at"] = change.expired_at
                kept[change.fact] = {k: v for k, v in fact.items() if v is not None}
                written.add(change.fact)
        return written

    def append_journal(
        self, graph: str, run_id: str, entry: Mapping[str, Any], lock_token: str
    ) -> None:
        """Write what a run changes in Graphiti's own data, before it does."""
        refuse_own_graph(graph)
        self._refuse_without_lock(graph, lock_token)
        self._journals[graph][run_id] = _copied(dict(entry))

    def read_journal(self, graph: str) -> dict[str, dict[str, Any]]:
        """All entries of the journal, by run id."""
        refuse_own_graph(graph)
        entries: dict[str, dict[str, Any]] = _copied(self._journals[graph])
        return entries

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
        kept = traces_of(changes, self.read_room(graph).traces)
        return self._archives[graph].move(
            self._known(graph),
            changes,
            lambda change, image: new_entry(change, image, kept, run_id, now_s, "archived"),
            lambda: self._keep_lock(graph, lock_token),
        )

    def restore(self, graph: str, uuids: Collection[str], lock_token: str) -> dict[str, str]:
        """Bring archived memories back exactly as they were, entities before facts."""
        kept = self._known_or_archived(graph)
        told = self._archives[graph].restore(
            kept, uuids, lambda: self._keep_lock(graph, lock_token)
        )
        if kept.entities:
            self._graphs[graph] = kept
        return told

    def foresee_restore(self, graph: str, uuids: Collection[str]) -> dict[str, str]:
        """What :meth:`restore` would say; nothing is written."""
        return self._archives[graph].foresee(self._known_or_archived(graph), uuids)

    def archived_graphs(self) -> list[str]:
        """Names of the graphs that have an archive, sorted, whether or not they still exist."""
        return sorted(name for name, archive in self._archives.items() if archive.entries())

    def read_archive(self, graph: str, run_id: str | None = None) -> list[ArchivedMemory]:
        """Entries of the archive, oldest first: all, or those of one run."""
        refuse_own_graph(graph)
        return self._archives[graph].entries(run_id)

    def read_archived_images(self, graph: str, uuids: Collection[str]) -> dict[str, MemoryImage]:
        """What the archive holds of these memories, the newest of each."""
        refuse_own_graph(graph)
        return self._archives[graph].images(uuids)

    def purge(self, graph: str, before_s: float, lock_token: str) -> int:
        """Free for good what was archived before a moment; tombstones stay."""
        refuse_own_graph(graph)
        return self._archives[graph].purge(before_s, lambda: self._keep_lock(graph, lock_token))

    def read_subjects(
        self,
        graph: str,
        subjects: Collection[str],
        matters: Mapping[str, Matters] = MappingProxyType({}),
        hear: Hear | None = None,
    ) -> GraphSnapshot:
        """The facts that start at some entities."""
        kept = self._known(graph)
        facts = {u: f for u, f in kept.facts.items() if f["source_node_uuid"] in subjects}
        ends = {f[end] for f in facts.values() for end in ("source_node_uuid", "target_node_uuid")}
        support = {uuid for fact in facts.values() for uuid in fact.get("episodes", ())}
        if hear is not None:
            hear([fact["fact"] for fact in facts.values()])
        return snapshot_of(
            graph,
            Items(
                {
                    u: {**e, "summary": ""}
                    for u, e in kept.entities.items()
                    if u in ends or u in subjects
                },
                facts,
                {u: e for u, e in kept.episodes.items() if u in support},
            ),
        )

    def find_entities(self, graph: str, names: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Uuids of the entities of each name, the oldest first."""
        kept = self._graphs.get(graph, Items()).entities.values()
        oldest_first = sorted(kept, key=lambda e: (e.get("created_at") or "", e["uuid"]))
        exact: defaultdict[str, list[str]] = defaultdict(list)
        alike: defaultdict[str, list[str]] = defaultdict(list)
        for entity in oldest_first:
            exact[entity["name"]].append(entity["uuid"])
            alike[entity["name"].lower()].append(entity["uuid"])
        found = {name: exact.get(name) or alike.get(name.lower()) for name in names}
        return {name: tuple(uuids) for name, uuids in found.items() if uuids}

    def confirm_fact(self, graph: str, fact: str, episode: str) -> bool:
        """Add an episode to those that support a fact."""
        kept = self._known(graph).facts.get(fact)
        if kept is None or episode in kept.get("episodes", []):
            return False
        kept["episodes"] = [*kept.get("episodes", []), episode]
        return True

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
        return sum(self._record(graph, uuid, surprises) for uuid, surprises in noticed.items())

    def _record(self, graph: str, episode: str, surprises: Sequence[Surprise]) -> bool:
        room = self.read_room(graph)
        if episode and (graph, episode) in self._noticed:
            return False
        self._noticed.add((graph, episode))
        wanted = [s for s in surprises if not s.event or self._is_first(graph, s.event)]
        first = self._surprises_count + 1
        self._surprises_count += len(wanted)
        new = (replace(s, event="", id=f"{number}-0") for number, s in enumerate(wanted, first))
        self._rooms[graph] = replace(room, surprises=(*room.surprises, *new))
        return True

    def _is_first(self, graph: str, event: str) -> bool:
        is_first = (graph, event) not in self._noticed
        self._noticed.add((graph, event))
        return is_first

    def record_recalls(
        self, graph: str, recall_sets: Sequence[RecallSet], recorder: Recorder = NOBODY
    ) -> None:
        """Append to the queue that the next run folds."""
        room = self.read_room(graph)
        last = self._recorded[graph, recorder.name]
        numbered = enumerate(recall_sets, recorder.first_number)
        wanted = [r for n, r in numbered if r.ranks and (n > last or not recorder.name)]
        if wanted and len(room.recalls) + len(wanted) > RECALLS_MAX_COUNT:
            raise queue_full(graph)
        first = self._recalls_count + 1
        self._recalls_count += len(wanted)
        new = (replace(r, id=f"{number}-0") for number, r in enumerate(wanted, first))
        self._rooms[graph] = replace(room, recalls=(*room.recalls, *new))
        self._recorded[graph, recorder.name] = max(
            last, recorder.first_number + len(recall_sets) - 1
        )

    def read_links(self, graph: str, memories: Collection[str]) -> Links:
        """With which others these memories were recalled."""
        links = self.read_room(graph).links
        return {memory: links[memory] for memory in memories if memory in links}

    def import_recalls(self, graph: str, recall_sets: Sequence[RecallSet]) -> int:
        """Append those recall sets that no import has appended before."""
        imported_count = 0
        for recall_set in recall_sets:
            event = (graph, recall_set.digest)
            if recall_set.ranks and event not in self._imported:
                if len(self.read_room(graph).recalls) >= RECALLS_MAX_COUNT:
                    raise queue_full(graph, imported_count)
                self._imported.add(event)
                self.record_recalls(graph, [recall_set])
                imported_count += 1
        return imported_count

    def near_duplicates(self, graph: str, similarity_min: float) -> NearDuplicates:
        """Pairs of entities, and of facts, whose stored embeddings are at least this alike."""
        self._known(graph)
        return NearDuplicates()  # a document brings no embeddings

    def pin(self, graph: str, memory: str, pin: Pin) -> bool:
        """Pin a memory, or pin it anew; say whether it was not pinned before."""
        room = self.read_room(graph)
        self._rooms[graph] = replace(room, pins={**room.pins, memory: pin})
        return memory not in room.pins

    def unpin(self, graph: str, memory: str) -> bool:
        """Take a pin back; say whether there was one."""
        room = self.read_room(graph)
        if memory not in room.pins:
            return False
        pins = {name: pin for name, pin in room.pins.items() if name != memory}
        self._rooms[graph] = replace(room, pins=pins)
        return True

    def record_failure(self, graph: str) -> int:
        """Count a failed run; return how many failed since one succeeded."""
        room = self.read_room(graph)
        self._rooms[graph] = replace(room, failures_count=room.failures_count + 1)
        return room.failures_count + 1

    def clear_failures(self, graph: str) -> None:
        """Forget earlier failures after a run that had nothing to write."""
        room = self.read_room(graph)
        if room.failures_count:
            self._rooms[graph] = replace(room, failures_count=0)

    def write_memory(self, graph: str, nodes_and_edges: GraphDocument) -> dict[str, int]:
        """Add a memory to a graph; existing uuids are left as they are."""
        refuse_own_graph(graph)
        document = storable(nodes_and_edges)
        kept = self._graphs.get(graph, Items())
        entities = {e["uuid"]: e for e in document.entities} | kept.entities
        episodes = {e["uuid"]: e for e in document.episodes} | kept.episodes
        refuse_dangling(document, entities, episodes)
        after = Items(
            entities,
            {f["uuid"]: f for f in document.facts} | kept.facts,
            episodes,
            {m["uuid"]: m for m in document.mentions} | kept.mentions,
        )
        self._graphs[graph] = after
        return {
            part: len(getattr(after, part)) - len(getattr(kept, part))
            for part in ("entities", "facts", "episodes", "mentions")
        }

    def close(self) -> None:
        """Nothing to free."""

    def _known(self, graph: str) -> Items:
        refuse_own_graph(graph)
        if graph not in self._graphs:
            raise UnknownGraph(f"there is no graph named {shown(graph)}")
        return self._graphs[graph]

    def _known_or_archived(self, graph: str) -> Items:
        if graph not in self._graphs and self._archives[graph].entries():
            return Items()
        return self._known(graph)

    def _keep_lock(self, graph: str, lock_token: str) -> None:
        self._refuse_without_lock(graph, lock_token)
        self.acquire_lock(graph, lock_token, LOCK_TTL_S)

    def _refuse_without_lock(self, graph: str, lock_token: str) -> None:
        if self.lock_holder(graph) != lock_token:
            raise LockLost(
                f"the lock on {shown(graph)} passed to another run; nothing more is written"
            )


def _named(changes: Iterable[EndChange]) -> set[str]:
    return {uuid for change in changes for uuid in (change.fact, change.by) if uuid is not None}


def _is_same(states: Mapping[str, FactState], uuid: str, before: FactState | None) -> bool:
    return before is not None and uuid in states and _bare(states[uuid]) == _bare(before)


def _bare(state: FactState) -> tuple[Any, ...]:
    """What of a fact is compared; an absent time and an empty one are the same."""
    return tuple(value or "" for value in astuple(state))


def _copied(value: Any) -> Any:
    """The value as it would come back from a server."""
    return json.loads(json.dumps(value))
