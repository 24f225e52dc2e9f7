"""Moves memories into the archive of a FalkorDB graph, and frees them for good.

Copied and verified, then removed, then marked: a run that dies in between leaves a memory in the
graph, in the archive, or in both, and :func:`settle` decides which by looking at the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from redis.exceptions import ResponseError

from synapse.hippocampus.archived import ArchivedMemory
from synapse.hippocampus.image import Kind, Link, MemoryImage
from synapse.hippocampus.plan import ArchiveChange
from synapse.hippocampus.shared_links import (
    ENTITY,
    completed,
    missing_links,
    seen_from_the_others,
)
from synapse.hippocampus.traces import TraceTable
from synapse.store.archive_graph import ArchiveGraph, Record
from synapse.store.bites import Bites, uncollected
from synapse.store.failures import is_without_graph
from synapse.store.images import read_again, read_images
from synapse.store.keys import Connection
from synapse.store.lock import HeldLock
from synapse.store.probe import Probe
from synapse.store.records import new_entry, traces_of
from synapse.store.removal import remove


def read_archive(connection: Connection, graph: str, run_id: str | None) -> list[ArchivedMemory]:
    """All entries, or those of one run, oldest first."""
    return [record.entry for record in ArchiveGraph(Bites(connection), graph).records(run_id)]


def read_archived_images(
    connection: Connection, graph: str, uuids: Collection[str]
) -> dict[str, MemoryImage]:
    """What is kept of these memories, the newest of each."""
    bites = Bites(connection)
    archive = ArchiveGraph(bites, graph)
    images: dict[str, MemoryImage] = {}
    newest = {r.entry.uuid: r for r in archive.about(uuids) if r.entry.has_content}
    for bite in bites.of(list(newest.values())):
        images |= archive.images(bite)
    return images


def archive(
    connection: Connection,
    graph: str,
    changes: Sequence[ArchiveChange],
    traces: TraceTable,
    run_id: str,
    now_s: float,
    lock: HeldLock,
) -> set[str]:
    """Move memories, facts before entities; return the uuids of those that are in the archive.

    Args:
        connection: a client that answers with bytes.
        graph: its name.
        changes: at most one for each memory.
        traces: what is kept about them.
        run_id: the run that moves them.
        now_s: the moment, in seconds since 1970.
        lock: what writes; raises where it is lost.
    """
    lock.keep()
    bites = Bites(connection, lock)
    kept = ArchiveGraph(bites, graph)
    settle(connection, kept, graph)
    kept_traces = traces_of(changes, traces)
    before = [record for record in kept.records(run_id) if _is_away(record)]
    moving = _Moving(
        bites,
        graph,
        kept,
        new_entry=lambda change, image: new_entry(
            change, image, kept_traces, run_id, now_s, "archived"
        ),
        before=before,
    )
    kept.prepare()
    kinds: tuple[Kind, ...] = ("fact", "entity")
    moved: set[str] = set()
    for kind in kinds:
        of_kind = sorted((c for c in changes if c.kind == kind), key=lambda change: change.uuid)
        moved |= moving.move(of_kind, kind) if of_kind else set()
    return moved


class _Moving:
    """One run that moves memories.

    Args:
        bites: asks the server.
        graph: where the memories are.
        kept: where they go.
        new_entry: makes the entry of a memory.
        before: what the run has moved before it died, if it did.
    """

    def __init__(
        self,
        bites: Bites,
        graph: str,
        kept: ArchiveGraph,
        new_entry: Callable[[ArchiveChange, MemoryImage], ArchivedMemory],
        before: Sequence[Record],
    ) -> None:
        self._bites = bites
        self._graph = graph
        self._kept = kept
        self._new_entry = new_entry
        self._before = {(r.entry.uuid, r.entry.digest) for r in before}
        self._links: dict[str, list[Link]] = {}
        """What entities that are away hold of edges to others, by uuids of the others."""
        for bite in bites.of([record for record in before if record.entry.kind == "entity"]):
            self._remember_links(kept.images(bite).values())
        self._last_number = kept.last_number()

    def move(self, changes: Sequence[ArchiveChange], kind: Kind) -> set[str]:
        """Move memories of one kind; return the uuids of those that are in the archive."""
        moved: set[str] = set()
        first = [change.uuid for change in changes[:1]]
        probe = Probe.of(read_again(self._bites, self._graph, first, kind, None)[0].values())
        for bite in self._bites.of(changes):
            tried: Sequence[ArchiveChange] = bite
            while tried:
                with uncollected():
                    moved_here, probe = self._move_some(tried, kind, probe)
                moved |= moved_here
                # An edge went with its other end: the memory is what it was all the same.
                is_any = bool(moved_here)
                tried = [c for c in bite if is_any and c.uuid in self._links.keys() - moved]
        return moved

    def _move_some(
        self, changes: Sequence[ArchiveChange], kind: Kind, probe: Probe | None
    ) -> tuple[set[str], Probe | None]:
        """Move as many as one query should carry; also return the probe for the next ones."""
        uuids = [change.uuid for change in changes]
        images, distances = read_again(self._bites, self._graph, uuids, kind, probe)
        gone = (c for c in changes if c.uuid not in images)
        moved = {c.uuid for c in gone if (c.uuid, c.before_digest) in self._before}
        copies = {c.uuid: self._as_planned(c, images[c.uuid]) for c in changes if c.uuid in images}
        ready = [c for c in changes if _is_ready(c, copies.get(c.uuid))]
        if ready:
            records = self._records(ready, copies)
            removed = self._moved(records, copies, images, probe, distances)
            self._remember_links(copies[uuid] for uuid in removed)
            moved |= removed
        return moved, Probe.of(images.values())

    def _as_planned(self, change: ArchiveChange, image: MemoryImage) -> MemoryImage:
        """The memory with the edges that have gone with their other ends."""
        return image if image.digest == change.before_digest else completed(image, self._links)

    def _remember_links(self, images: Iterable[MemoryImage]) -> None:
        for uuid, links in seen_from_the_others(images).items():
            self._links.setdefault(uuid, []).extend(links)

    def _records(
        self, changes: Sequence[ArchiveChange], images: Mapping[str, MemoryImage]
    ) -> list[Record]:
        entries = (self._new_entry(change, images[change.uuid]) for change in changes)
        records = [Record(n, entry) for n, entry in enumerate(entries, self._last_number + 1)]
        self._last_number += len(records)
        return records

    def _moved(
        self,
        records: Sequence[Record],
        copies: Mapping[str, MemoryImage],
        images: Mapping[str, MemoryImage],
        probe: Probe | None,
        distances: Mapping[str, str],
    ) -> set[str]:
        """Copy, remove and mark some memories of one kind.

        A copy goes only where its memory is seen in the graph again: what the answer does not
        name may be gone all the same.
        """
        copied = self._kept.write(records, copies)
        still = [images[record.entry.uuid] for record in copied]
        removed = remove(self._bites, self._graph, still, probe, distances)
        doubtful = [record for record in records if record.entry.uuid not in removed]
        seen = read_images(
            self._bites.connection, self._graph, [record.entry.uuid for record in doubtful]
        )
        self._kept.drop([record for record in doubtful if record.entry.uuid in seen])
        self._kept.settle(self._last_number)
        return removed | {image.uuid for image in still if image.uuid not in seen}


def settle(connection: Connection, kept: ArchiveGraph, graph: str) -> None:
    """Finish what a run that died has left half-way."""
    unfinished = kept.unfinished()
    if not unfinished:
        return
    now = read_present(connection, graph, [record.entry.uuid for record in unfinished])
    for bite in kept.bites.of(unfinished):
        was = kept.images(bite)
        pairs = {u: (was[u], now[u]) for u in was if u in now and not now[u].obstacle}
        same = {u for u, (image, is_now) in pairs.items() if image.content == is_now.content}
        restored = [r for r in bite if r.entry.state == "restoring" and r.entry.uuid in same]
        kept.free(restored, "restored")
        same |= _bereft(connection, graph, pairs)
        kept.drop([r for r in bite if r.entry.state == "copied" and r.entry.uuid in same])
    if any(record.entry.state == "copied" for record in unfinished):
        kept.settle(kept.last_number())


def read_present(
    connection: Connection, graph: str, uuids: Collection[str]
) -> dict[str, MemoryImage]:
    """These memories by uuid; none where the graph is gone, and only its archive is left."""
    try:
        return read_images(connection, graph, uuids)
    except ResponseError as error:
        if not is_without_graph(error):
            raise
        return {}


def purge(connection: Connection, graph: str, before_s: float, lock: HeldLock) -> int:
    """Free what was archived before a moment; tombstones stay."""
    lock.keep()
    bites = Bites(connection, lock)
    kept = ArchiveGraph(bites, graph)
    settle(connection, kept, graph)
    records = kept.records()
    old = [r for r in records if _is_away(r) and r.entry.at_s < before_s]
    gone = {record.entry.uuid: record.number for record in old}
    # An entry of an earlier time, from which the memory came back, still tells its text.
    told = [
        r for r in records
        if r.entry.state == "restored" and r.number < gone.get(r.entry.uuid, 0)
    ]  # fmt: skip
    for bite in bites.of([*told, *old]):
        kept.free(bite, "purged")
    kept.drop_strays()
    return len(old)


def _is_ready(change: ArchiveChange, image: MemoryImage | None) -> bool:
    return (
        image is not None
        and not image.obstacle
        and not image.facts
        and image.kind == change.kind
        and image.digest == change.before_digest
    )


def _is_away(record: Record) -> bool:
    return record.entry.state == "archived"


def _bereft(
    connection: Connection, graph: str, pairs: Mapping[str, tuple[MemoryImage, MemoryImage]]
) -> set[str]:
    """Memories that are as they were, but for edges that went with their other ends.

    Args:
        connection: a client that answers with bytes.
        graph: where they are.
        pairs: each of them as it was and as it is, by uuid.
    """
    lacking = {u: missing_links(was.links, now.links) for u, (was, now) in pairs.items()}
    others = {link.other for links in lacking.values() for link in links}
    present = read_present(connection, graph, others) if others else {}
    return {
        uuid
        for uuid, (was, now) in pairs.items()
        if all(k.other_label == ENTITY and k.other not in present for k in lacking[uuid])
        and replace(now, links=(*now.links, *lacking[uuid])).content == was.content
    }
