"""Brings archived memories of a FalkorDB graph back as they were.

Each statement creates only what is not there, so calling again completes what was begun. The
content leaves the archive when the graph has been seen to hold exactly the same again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from synapse.hippocampus.archived import ArchivedMemory, newest_first
from synapse.hippocampus.image import Link, MemoryImage, digests
from synapse.hippocampus.restoration import (
    ALREADY_THERE,
    CHANGED,
    LOST,
    RESTORED,
    Restoration,
    came_back,
    decide,
    names_of_ends,
)
from synapse.hippocampus.shared_links import (
    ENTITY,
    completed,
    missing_links,
    seen_from_the_others,
)
from synapse.store.archive import settle
from synapse.store.archive_graph import ArchiveGraph, Record
from synapse.store.bites import Bites, is_there
from synapse.store.cypher import literal, portions
from synapse.store.images import TWIN, not_one, other_ends, read_images, read_some
from synapse.store.indices import create_indices
from synapse.store.keys import Connection, unknown_graph
from synapse.store.lock import HeldLock
from synapse.store.values import decoded, lists, parts, set_vectors

_ENTITY = (
    "UNWIND $rows AS x WITH x, x.p AS p OPTIONAL MATCH (o:Entity {{uuid: x.uuid}}) "
    "WITH x, p, o WHERE o IS NULL CREATE (n{labels}) SET n = p{set}"
)
_FACT = (
    "UNWIND $rows AS x WITH x, x.p AS p OPTIONAL MATCH ()-[o:RELATES_TO {{uuid: x.uuid}}]->() "
    "WITH x, p, o WHERE o IS NULL "
    "MATCH (a:Entity {{uuid: x.source}}) MATCH (b:Entity {{uuid: x.target}}) "
    "CREATE (a)-[e:RELATES_TO]->(b) SET e = p{set}"
)
_LINK = (
    "UNWIND $rows AS x MATCH (n:Entity {{uuid: x.uuid}}) MATCH (m:`{label}` {{uuid: x.other}}) "
    "CREATE {edge} SET r = x.p"
)
_NODES = (
    "UNWIND $rows AS u MATCH (m:`{}` {{uuid: u}}) WITH u, count(m) AS count WHERE count = 1 "
    "RETURN collect([u])"
)
_NAMESAKES = (
    "UNWIND $rows AS x MATCH (n:Entity {name: x.name}) WHERE n.group_id = x.group_id "
    "WITH x.uuid AS uuid, min(n.uuid) AS namesake RETURN collect([uuid, namesake])"
)


def restore(
    connection: Connection, graph: str, uuids: Collection[str], lock: HeldLock
) -> dict[str, str]:
    """Bring memories back, entities before facts; say what became of each."""
    lock.keep()
    bites = Bites(connection, lock)
    kept = ArchiveGraph(bites, graph)
    settle(connection, kept, graph)
    found, records, present = _decided(connection, kept, graph, uuids)
    kept.free(_back_by_itself(found, records, present), "restored")
    if found.entities and not is_there(bites, graph):
        create_indices(connection, graph)
    lacking: dict[str, MemoryImage] = {}
    for some in (found.entities, found.facts):
        for bite in bites.of([records[uuid] for uuid in some]):
            images = kept.images(bite)
            whole = [r for r in bite if r.entry.uuid in images]
            found.outcomes |= {r.entry.uuid: LOST for r in bite if r not in whole}
            told = _put_back(kept, bites, graph, whole, images)
            lacking |= {u: images[u] for u, said in told.items() if said.startswith(f"{RESTORED};")}
            found.outcomes |= told
    now = read_images(connection, graph, lacking) if lacking else {}
    lost = {u: missing_links(lacking[u].links, now[u].links) for u in lacking if u in now}
    found.outcomes |= _told_of_links(kept, lost)
    return found.told()


def foresee(connection: Connection, graph: str, uuids: Collection[str]) -> dict[str, str]:
    """What :func:`restore` would say; nothing is written."""
    bites = Bites(connection)
    kept = ArchiveGraph(bites, graph)
    found, records, present = _decided(connection, kept, graph, uuids)
    links: dict[str, tuple[Link, ...]] = {}
    for bite in bites.of([records[uuid] for uuid in (*found.entities, *found.facts)]):
        images = kept.images(bite)
        found.outcomes |= dict.fromkeys((r.entry.uuid for r in bite), LOST)
        for uuid, image in images.items():
            is_back = uuid in present and present[uuid].content == image.content
            found.outcomes[uuid] = ALREADY_THERE if is_back else RESTORED
            links |= {} if is_back else {uuid: image.links}
    there = {(ENTITY, uuid) for uuid in links}
    if there and is_there(bites, graph):
        there |= other_ends(bites, graph, chain.from_iterable(links.values()), _NODES)
    gone = {u: [k for k in ks if (k.other_label, k.other) not in there] for u, ks in links.items()}
    found.outcomes |= _told_of_links(kept, {u: ks for u, ks in gone.items() if ks})
    return found.told()


def _back_by_itself(
    found: Restoration, records: Mapping[str, Record], present: Mapping[str, MemoryImage]
) -> list[Record]:
    """Entries about memories that the graph holds again exactly as they were."""
    return [
        record
        for uuid, record in records.items()
        if found.outcomes.get(uuid) == ALREADY_THERE
        and record.entry.state == "archived"
        and record.entry.digest == present[uuid].digest
    ]


def _decided(
    connection: Connection, kept: ArchiveGraph, graph: str, uuids: Collection[str]
) -> tuple[Restoration, dict[str, Record], dict[str, MemoryImage]]:
    """What is to come back, the entries about it, and what of all that the graph holds."""
    records = _newest(kept.about(uuids))
    ends = {end for record in records.values() for end in record.entry.ends}
    records |= _newest(kept.about(ends - records.keys()))
    present, namesakes = {}, {}
    archive = [record.entry for record in records.values()]
    if is_there(kept.bites, graph):
        present = read_images(connection, graph, {*uuids, *ends})
        namesakes = _namesakes(kept.bites, graph, archive, {*uuids, *ends} - present.keys())
    elif not records:
        raise unknown_graph(graph)
    found = decide(uuids, archive, digests(present), namesakes)
    _leave_ambiguous(found, present)
    return found, records, present


def _told_of_links(kept: ArchiveGraph, lost: Mapping[str, Sequence[Link]]) -> dict[str, str]:
    """What is said of memories that came back without these links, once all are back."""
    archived = _archived_ends(kept, lost.values())
    return {
        u: came_back(
            [link for link in links if link.other not in archived],
            [link for link in links if link.other in archived],
        )
        for u, links in lost.items()
    }


def _archived_ends(kept: ArchiveGraph, lost: Iterable[Iterable[Link]]) -> dict[str, Record]:
    """The archived entities at the other ends of links, by uuid."""
    others = {link.other for links in lost for link in links if link.other_label == ENTITY}
    newest = _newest(kept.about(others)) if others else {}
    return {uuid: record for uuid, record in newest.items() if record.entry.has_content}


def _hand_over(kept: ArchiveGraph, images: Iterable[MemoryImage]) -> None:
    """Leave the edges of entities to archived ones with those: whoever is back last has them."""
    seen = seen_from_the_others(images)
    for record in _archived_ends(kept, (image.links for image in images)).values():
        for image in kept.images([record]).values():
            kept.rewrite(record, completed(image, seen))


def _newest(records: Sequence[Record]) -> dict[str, Record]:
    newest = newest_first(record.entry for record in records)
    return {r.entry.uuid: r for r in records if r.entry is newest[r.entry.uuid]}


def _leave_ambiguous(found: Restoration, present: Mapping[str, MemoryImage]) -> None:
    """Leave facts whose ends cannot be told apart."""
    for uuid, memory in list(found.facts.items()):
        twins = [end for end in memory.ends if end in present and present[end].obstacle == TWIN]
        if twins:
            del found.facts[uuid]
            found.outcomes[uuid] = f"its end {twins[0]} {TWIN}"


def _put_back(
    kept: ArchiveGraph,
    bites: Bites,
    graph: str,
    records: Sequence[Record],
    images: dict[str, MemoryImage],
) -> dict[str, str]:
    """Create some memories of one kind, look at them, and free what is back."""
    seen = seen_from_the_others(images.values())
    images = {r.entry.uuid: completed(images[r.entry.uuid], seen) for r in records}
    kept.set_state(records, "restoring")
    _create(bites, graph, images.values())
    now = read_some(bites, graph, list(images))
    missing = _missing(images, now)
    if any(missing.values()):
        _create_links(bites, graph, _once(missing))
        now = read_some(bites, graph, list(images))
        missing = _missing(images, now)
        _hand_over(kept, [replace(images[u], links=tuple(links)) for u, links in missing.items()])
    outcomes = {u: _outcome(image, now.get(u)) for u, image in images.items()}
    back = {uuid for uuid, outcome in outcomes.items() if outcome.startswith(RESTORED)}
    kept.free([r for r in records if r.entry.uuid in back], "restored")
    kept.set_state([r for r in records if r.entry.uuid not in back], "archived")
    return outcomes


def _create(bites: Bites, graph: str, images: Iterable[MemoryImage]) -> None:
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    query = _FACT
    for image in images:
        others, vectors = parts(image.properties)
        known = {"uuid": image.uuid}
        if image.kind == "entity":
            query = _ENTITY
        else:
            known["source"], known["target"] = image.ends
        row = f"{literal(known)[:-1]},p:{literal(others)}{lists(vectors.values())}}}"
        groups.setdefault((image.labels, tuple(vectors)), []).append(row)
    item = "n" if query == _ENTITY else "e"
    for (labels, names), rows in groups.items():
        labelled = "".join(f":`{label}`" for label in labels)
        asked = query.format(labels=labelled, set=set_vectors(names, "x", item))
        for portion in portions(rows):
            bites.write(graph, portion, asked)


def _create_links(bites: Bites, graph: str, missing: dict[str, list[Link]]) -> None:
    groups: dict[tuple[str, str, bool], list[str]] = {}
    ambiguous = not_one(bites, graph, (link for links in missing.values() for link in links))
    for uuid, links in missing.items():
        for link in links:
            if (link.other_label, link.other) in ambiguous:
                continue
            row = literal({"uuid": uuid, "other": link.other, "p": dict(link.properties)})
            groups.setdefault((link.type, link.other_label, link.is_outgoing), []).append(row)
    for (kind, label, is_outgoing), rows in groups.items():
        source, target = ("n", "m") if is_outgoing else ("m", "n")
        edge = f"({source})-[r:`{kind}`]->({target})"
        for portion in portions(rows):
            bites.write(graph, portion, _LINK.format(label=label, edge=edge))


def _missing(
    images: Mapping[str, MemoryImage], now: Mapping[str, MemoryImage]
) -> dict[str, list[Link]]:
    """The links that memories had and lack now, of those that are there, by uuid."""
    return {u: missing_links(image.links, now[u].links) for u, image in images.items() if u in now}


def _once(missing: Mapping[str, list[Link]]) -> dict[str, list[Link]]:
    """Of an edge between two of the memories only one end's."""
    return {
        uuid: [k for k in links if k.other_label != ENTITY or not uuid > k.other in missing]
        for uuid, links in missing.items()
    }


def _outcome(wanted: MemoryImage, found: MemoryImage | None) -> str:
    if found is None:
        return "it could not be written back: its ends have changed meanwhile; try again"
    if found.digest == wanted.digest:
        return RESTORED
    lost = missing_links(wanted.links, found.links)
    if lost and len(found.links) + len(lost) == len(wanted.links):
        return came_back(lost)
    return CHANGED


def _namesakes(
    bites: Bites, graph: str, archive: Sequence[ArchivedMemory], ends: Collection[str]
) -> dict[str, str]:
    """For each entity that is gone: another of its name and group."""
    known: dict[str, tuple[str, str]] = names_of_ends(archive)
    named = ((end, *known[end]) for end in sorted(ends) if end in known)
    rows = [literal({"uuid": u, "name": name, "group_id": group}) for u, name, group in named]
    if not rows:
        return {}
    found: list[Any] = bites.read(graph, rows, _NAMESAKES)
    return {decoded(end): decoded(other) for end, other in found}
