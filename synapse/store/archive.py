"""Moves memories into the archive of a FalkorDB graph, and frees them for good.

Copied and verified, then removed, then marked: a run that dies in between leaves a memory in the
graph, in the archive, or in both, and :func:`settle` decides which by looking at the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from synapse.hippocampus.archived import ArchivedMemory
from synapse.hippocampus.image import Kind, MemoryImage
from synapse.hippocampus.plan import ArchiveChange
from synapse.hippocampus.traces import TraceTable
from synapse.store.archive_graph import ArchiveGraph, Record
from synapse.store.bites import Bites
from synapse.store.images import read_again, read_images
from synapse.store.keys import Connection
from synapse.store.probe import Probe
from synapse.store.records import new_entry
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
    keep_lock: Callable[[], None],
) -> set[str]:
    """Move memories, facts before entities; return the uuids of those that are in the archive.

    Args:
        connection: a client that answers with bytes.
        graph: its name.
        changes: at most one for each memory.
        traces: what is kept about them.
        run_id: the run that moves them.
        now_s: the moment, in seconds since 1970.
        keep_lock: called before each write; raises where the lock is lost.
    """
    keep_lock()
    bites = Bites(connection, keep_lock)
    kept = ArchiveGraph(bites, graph)
    settle(connection, kept, graph)
    before = {(r.entry.uuid, r.entry.digest) for r in kept.records(run_id) if _is_away(r)}
    number = kept.last_number()
    moved: set[str] = set()
    kept.prepare()
    kinds: tuple[Kind, ...] = ("fact", "entity")
    for kind in kinds:
        of_kind = sorted((c for c in changes if c.kind == kind), key=lambda change: change.uuid)
        first, _ = read_again(bites, graph, [c.uuid for c in of_kind[:1]], kind, None)
        probe = Probe.of(first.values())
        for bite in bites.of(of_kind):
            uuids = [change.uuid for change in bite]
            images, distances = read_again(bites, graph, uuids, kind, probe)
            moved |= {
                c.uuid for c in bite if c.uuid not in images and (c.uuid, c.before_digest) in before
            }
            ready = [c for c in bite if _is_ready(c, images.get(c.uuid))]
            entries = [
                new_entry(c, images[c.uuid], traces, run_id, now_s, "archived") for c in ready
            ]
            records = [Record(n, entry) for n, entry in enumerate(entries, number + 1)]
            number += len(records)
            copied = kept.write(records, images)
            still = [images[record.entry.uuid] for record in copied]
            removed = remove(bites, graph, still, probe, distances)
            kept.drop([r for r in records if r.entry.uuid not in removed])
            if records:
                kept.settle(number)
            moved |= removed
            probe = Probe.of(images.values())
    return moved


def settle(connection: Connection, kept: ArchiveGraph, graph: str) -> None:
    """Finish what a run that died has left half-way."""
    unfinished = kept.unfinished()
    if not unfinished:
        return
    now = read_images(connection, graph, [record.entry.uuid for record in unfinished])
    for bite in kept.bites.of(unfinished):
        was = kept.images(bite)
        same = [r for r in bite if _is_same(now.get(r.entry.uuid), was.get(r.entry.uuid))]
        kept.drop([r for r in same if r.entry.state == "copied"])
        kept.free([r for r in same if r.entry.state == "restoring"], "restored")
    if any(record.entry.state == "copied" for record in unfinished):
        kept.settle(kept.last_number())


def purge(
    connection: Connection, graph: str, before_s: float, keep_lock: Callable[[], None]
) -> int:
    """Free what was archived before a moment; tombstones stay."""
    keep_lock()
    bites = Bites(connection, keep_lock)
    kept = ArchiveGraph(bites, graph)
    settle(connection, kept, graph)
    records = kept.records()
    old = [r for r in records if _is_away(r) and r.entry.at_s < before_s]
    gone = {record.entry.uuid for record in old}
    # An entry of an earlier time, from which the memory came back, still tells its text.
    told = [r for r in records if r.entry.uuid in gone and r.entry.state == "restored"]
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


def _is_same(now: MemoryImage | None, was: MemoryImage | None) -> bool:
    if now is None or was is None or now.obstacle:
        return False
    return now.content == was.content
