"""Brings archived memories of a FalkorDB graph back as they were.

Each statement creates only what is not there, so calling again completes what was begun. The
content leaves the archive when the graph has been seen to hold exactly the same again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from synapse.hippocampus.archived import ArchivedMemory, newest_first
from synapse.hippocampus.image import Link, MemoryImage, digests
from synapse.hippocampus.restoration import (
    CHANGED,
    LOST,
    RESTORED,
    Restoration,
    decide,
    left_out,
    names_of_ends,
)
from synapse.store.archive import settle
from synapse.store.archive_graph import ArchiveGraph, Record
from synapse.store.bites import Bites
from synapse.store.cypher import literal, portions
from synapse.store.images import TWIN, read_images, read_some
from synapse.store.keys import Connection
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
_NAMESAKES = (
    "UNWIND $rows AS x MATCH (n:Entity {name: x.name}) WHERE n.group_id = x.group_id "
    "RETURN x.uuid, min(n.uuid)"
)


def restore(
    connection: Connection, graph: str, uuids: Collection[str], keep_lock: Callable[[], None]
) -> dict[str, str]:
    """Bring memories back, entities before facts; say what became of each."""
    keep_lock()
    bites = Bites(connection, keep_lock)
    kept = ArchiveGraph(bites, graph)
    settle(connection, kept, graph)
    records = _newest(kept.about(uuids))
    ends = {end for record in records.values() for end in record.entry.ends}
    records |= _newest(kept.about(ends - records.keys()))
    present = read_images(connection, graph, {*uuids, *ends})
    archive = [record.entry for record in records.values()]
    namesakes = _namesakes(bites, graph, archive, {*uuids, *ends} - present.keys())
    found = decide(uuids, archive, digests(present), namesakes)
    _leave_ambiguous(found, present)
    lacking: dict[str, MemoryImage] = {}
    for some in (found.entities, found.facts):
        for bite in bites.of([records[uuid] for uuid in some]):
            images = kept.images(bite)
            whole = [r for r in bite if r.entry.uuid in images]
            found.outcomes |= {r.entry.uuid: LOST for r in bite if r not in whole}
            told = _put_back(kept, bites, graph, whole, images)
            lacking |= {u: images[u] for u, said in told.items() if said.startswith(f"{RESTORED};")}
            found.outcomes |= told
    # A link between two of them came along with the later one.
    now = read_images(connection, graph, lacking) if lacking else {}
    whole_now = {u for u, image in lacking.items() if u in now and not _missing(image, now[u])}
    found.outcomes |= dict.fromkeys(whole_now, RESTORED)
    return found.told()


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
    images = {record.entry.uuid: images[record.entry.uuid] for record in records}
    kept.set_state(records, "restoring")
    _create(bites, graph, images.values())
    now = read_some(bites, graph, list(images))
    missing = {u: _missing(image, now[u]) for u, image in images.items() if u in now}
    if any(missing.values()):
        _create_links(bites, graph, missing)
        now = read_some(bites, graph, list(images))
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
    for uuid, links in missing.items():
        for link in links:
            row = literal({"uuid": uuid, "other": link.other, "p": dict(link.properties)})
            groups.setdefault((link.type, link.other_label, link.is_outgoing), []).append(row)
    for (kind, label, is_outgoing), rows in groups.items():
        source, target = ("n", "m") if is_outgoing else ("m", "n")
        edge = f"({source})-[r:`{kind}`]->({target})"
        for portion in portions(rows):
            bites.write(graph, portion, _LINK.format(label=label, edge=edge))


def _missing(wanted: MemoryImage, found: MemoryImage) -> list[Link]:
    """The links that the memory had and lacks now; equal ones are counted."""
    there = Counter(map(_named, found.links))
    missing = []
    for link in wanted.links:
        there[_named(link)] -= 1
        if there[_named(link)] < 0:
            missing.append(link)
    return missing


def _named(link: Link) -> str:
    return json.dumps(link.canonical(), sort_keys=True)


def _outcome(wanted: MemoryImage, found: MemoryImage | None) -> str:
    if found is None:
        return "it could not be written back: its ends have changed meanwhile; try again"
    if found.digest == wanted.digest:
        return RESTORED
    lost = _missing(wanted, found)
    if lost and len(found.links) + len(lost) == len(wanted.links):
        return left_out(lost)
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
