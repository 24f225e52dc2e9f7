"""Memories with everything that they consist of, read exactly.

FalkorDB prints a number of 64 bits with 15 digits, which is not always all of it: what is missing
is asked for, as the difference between the number and what it was printed as.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from redis.exceptions import ResponseError

from synapse.hippocampus.image import Kind, Link, MemoryImage, Vector
from synapse.store.bites import Bites
from synapse.store.cypher import literal, portions
from synapse.store.keys import Connection
from synapse.store.probe import Probe, distance_in, is_other_vector
from synapse.store.values import Unstorable, decoded

Key = TypeVar("Key", str, int)

TWIN = "shares its uuid with another memory"
NOT_ONE = "has a {} edge to a node that shares its uuid"
INEXACT = "holds, in a list of lists or on an edge, a number of more digits than can be read"
LINK_ORDER = "ORDER BY type(r), r.uuid, m.uuid"
"""Links in one order, so that lists of them can be compared in a query."""

_ENTITIES = (
    "{probe}UNWIND $rows AS u MATCH (n:Entity {{uuid: u}}) WITH n, {far} AS far "
    "OPTIONAL MATCH (n)-[r]-(m) WITH n, far, r, m " + LINK_ORDER + " WITH n, far, "
    "collect(CASE WHEN r IS NULL OR type(r) = 'RELATES_TO' THEN null "
    "ELSE [type(r), startNode(r) = n, m.uuid, properties(r), labels(m)] END) AS links, "
    "collect(CASE WHEN type(r) = 'RELATES_TO' THEN coalesce(r.uuid, '') END) AS facts "
    "RETURN collect([n.uuid, properties(n), labels(n), links, facts, far])"
)
# With labelled ends the planner would scan all nodes for each edge that it finds.
_FACTS = (
    "UNWIND $rows AS u MATCH (a)-[e:RELATES_TO {uuid: u}]->(b) "
    "OPTIONAL MATCH (s:Entity {uuid: a.uuid}) WITH a, e, b, count(s) AS sources_count "
    "OPTIONAL MATCH (t:Entity {uuid: b.uuid}) "
    "WITH a, e, b, sources_count, count(t) AS targets_count RETURN collect([e.uuid, properties(e), "
    "a.uuid, b.uuid, a.name, b.name, sources_count, targets_count, null])"
)
_FACTS_AGAIN = (
    "{probe}UNWIND $rows AS u MATCH (a)-[e:RELATES_TO {{uuid: u}}]->(b) "
    "RETURN collect([e.uuid, properties(e), a.uuid, b.uuid, a.name, b.name, 1, 1, {far}])"
)
"""Without looking whether the ends are unique."""
_PATTERNS = {
    "entity": "(x:Entity {uuid: row.key})",
    "fact": "()-[x:RELATES_TO {uuid: row.key}]->()",
}
_REST = (
    "UNWIND $rows AS row MATCH {} UNWIND row.parts AS part "
    "WITH row, part, properties(x)[part.name] AS value "
    # Both branches of a CASE are evaluated: each must suit any value.
    "WITH row, part, CASE WHEN part.place IS NULL THEN [value] ELSE value END AS listed "
    "WITH row, part, listed[coalesce(part.place, 0)] - part.printed AS rest "
    "RETURN collect([row.key, part.name, part.place, rest])"
)

_NOT_ONE = (
    "MATCH (m:`{}`) WHERE m.uuid IN $rows WITH m.uuid AS uuid, count(m) AS count WHERE count > 1 "
    "RETURN collect([uuid])"
)
_DIFFERENT = (
    "UNWIND $rows AS row MATCH {} UNWIND row.parts AS part "
    "WITH row, properties(x)[part.name] = part.printed AS is_same WHERE NOT is_same "
    "RETURN collect([row.key])"
)
_DIFFERENT_LINKS = (
    "UNWIND $rows AS row MATCH (n:Entity {uuid: row.key})-[r]-(m) WHERE type(r) <> 'RELATES_TO' "
    "WITH row, n, r, m " + LINK_ORDER + " WITH row, n, "
    "collect([type(r), startNode(r) = n, m.uuid, properties(r)]) AS links "
    "WHERE NOT links = row.printed RETURN collect([row.key])"
)


def read_images(
    connection: Connection, graph: str, uuids: Collection[str]
) -> dict[str, MemoryImage]:
    """These memories by uuid; those that are gone, or that no index finds, are left out."""
    images: dict[str, MemoryImage] = {}
    bites = Bites(connection)
    for bite in bites.of(sorted(uuid for uuid in set(uuids) if "\0" not in uuid)):
        images |= read_some(bites, graph, bite)
    return images


def read_some(bites: Bites, graph: str, uuids: Collection[str]) -> dict[str, MemoryImage]:
    """As many memories as one query should carry."""
    images: dict[str, MemoryImage] = {}
    for kind in _UNDERSTOOD:
        rows = bites.read(graph, list(map(literal, uuids)), _QUERIES[kind])
        found = _understood(bites, graph, uuids, kind, rows)
        twins = images.keys() & found.keys()
        images |= found | {uuid: replace(found[uuid], obstacle=TWIN) for uuid in twins}
    return images


def not_one(bites: Bites, graph: str, links: Iterable[Link]) -> set[tuple[str, str]]:
    """Label and uuid of other ends of links that several nodes have: which is meant is unknown."""
    return other_ends(bites, graph, links, _NOT_ONE)


def other_ends(bites: Bites, graph: str, links: Iterable[Link], query: str) -> set[tuple[str, str]]:
    """Label and uuid of those other ends of links that a query names.

    Args:
        bites: asks the server.
        graph: name of the graph.
        links: from any memories.
        query: collects uuids among ``$rows`` of nodes with the label ``{}``.
    """
    wanted: dict[str, set[str]] = {}
    for each in links:
        wanted.setdefault(each.other_label, set()).add(each.other)
    return {
        (label, decoded(uuid))
        for label, uuids in wanted.items()
        for portion in portions(map(literal, sorted(uuids)))
        for (uuid,) in bites.read(graph, portion, query.format(label))
    }


def read_again(
    bites: Bites, graph: str, uuids: Collection[str], kind: Kind, probe: Probe | None
) -> tuple[dict[str, MemoryImage], dict[str, str]]:
    """Memories of one kind that were looked at before, and how far some are from the probe.

    Args:
        bites: asks the server.
        graph: name of the graph.
        uuids: of as many memories as one query should carry.
        kind: what they are.
        probe: of the embeddings that they are expected to have; ``None`` where that is unknown.
    """
    query, item = (_FACTS_AGAIN, "e") if kind == "fact" else (_ENTITIES, "n")
    made, far = ("", "null") if probe is None else (probe.clause, probe.distance(item))
    try:
        rows = bites.read(graph, list(map(literal, uuids)), query.format(probe=made, far=far))
    except ResponseError as error:
        if probe is None or not is_other_vector(error):
            raise
        return read_again(bites, graph, uuids, kind, None)
    distances = {decoded(uuid): distance_in(far) for uuid, *_, far in rows}
    return _understood(bites, graph, uuids, kind, rows), {u: d for u, d in distances.items() if d}


def _understood(
    bites: Bites, graph: str, uuids: Collection[str], kind: Kind, rows: list[Any]
) -> dict[str, MemoryImage]:
    """What a reply is about."""
    wanted = set(uuids)
    images: dict[str, MemoryImage] = {}
    for row in rows:
        image = _UNDERSTOOD[kind](row)
        if image.uuid not in wanted:
            continue  # the index takes blanks at the ends away
        if image.uuid in images:
            image = replace(image, obstacle=TWIN)
        images[image.uuid] = image
    printed = {uuid: i.properties for uuid, i in images.items() if not i.obstacle}
    for uuid, properties in exact(bites, graph, _PATTERNS[kind], printed).items():
        images[uuid] = replace(images[uuid], properties=properties)
    ambiguous = not_one(bites, graph, (k for image in images.values() for k in image.links))
    for uuid, image in images.items() if ambiguous else ():
        types = {k.type for k in image.links if (k.other_label, k.other) in ambiguous}
        if types and not image.obstacle:
            images[uuid] = replace(image, obstacle=NOT_ONE.format(min(types)))
    whole = [image for image in images.values() if not image.obstacle]
    for uuid in _inexact(bites, graph, _PATTERNS[kind], whole):
        images[uuid] = replace(images[uuid], obstacle=INEXACT)
    return images


def _inexact(bites: Bites, graph: str, pattern: str, images: Collection[MemoryImage]) -> set[str]:
    """Which memories hold lists of lists, or links, that differ from what was printed of them."""
    nested, linked = [], []
    for image in images:
        values = image.properties.items()
        parts = [{"name": n, "printed": value} for n, value in values if _is_nested(value)]
        if parts:
            nested.append(literal({"key": image.uuid, "parts": parts}))
        if any(_has(float, value) for k in image.links for value in k.properties.values()):
            printed = [[k.type, k.is_outgoing, k.other, dict(k.properties)] for k in image.links]
            linked.append(literal({"key": image.uuid, "printed": printed}))
    answers = bites.read(graph, nested, _DIFFERENT.format(pattern)) if nested else []
    answers += bites.read(graph, linked, _DIFFERENT_LINKS) if linked else []
    return {decoded(uuid) for (uuid,) in answers}


def exact(
    bites: Bites, graph: str, pattern: str, printed: Mapping[Key, Mapping[str, Any]]
) -> dict[Key, dict[str, Any]]:
    """Properties whose numbers have more digits than were printed, with all of them.

    Args:
        bites: asks the server.
        graph: where the properties are.
        pattern: finds ``x``, which has them, by ``row.key``.
        printed: properties as they were read, by key.
    """
    parts = {key: list(_floats(properties)) for key, properties in printed.items()}
    rows = [literal({"key": key, "parts": floats}) for key, floats in parts.items() if floats]
    completed: dict[Key, dict[str, Any]] = {}
    for row in bites.read(graph, rows, _REST.format(pattern)) if rows else ():
        key, name, place, rest = map(decoded, row)
        if rest:
            properties = completed.setdefault(key, dict(printed[key]))
            if place is None:
                properties[name] += rest
            else:
                listed = properties[name] = list(properties[name])
                listed[place] += rest
    return completed


def _entity(row: list[Any]) -> MemoryImage:
    uuid, properties, labels, links, facts, _ = row
    known: tuple[str, Kind] = (decoded(uuid), "entity")
    try:
        return MemoryImage(
            *known,
            _storable(decoded(properties)),
            labels=tuple(decoded(labels)),
            links=tuple(map(link, decoded(links))),
            facts=tuple(decoded(facts)),
        )
    except Unstorable as reason:
        return MemoryImage(*known, {}, obstacle=str(reason))


def link(listed: list[Any]) -> Link:
    """One edge of an entity, from its parts in a reply."""
    kind, is_outgoing, other, properties, labels = listed
    if not isinstance(other, str) or not labels:
        raise Unstorable(f"has a {kind} edge to a node without uuid or label")
    if any(_has(Vector, value) for value in properties.values()):
        raise Unstorable(f"has a {kind} edge with a vector")
    # The Entity label comes first where there are several: it has an index.
    label = "Entity" if "Entity" in labels else labels[0]
    return Link(kind, other, label, is_outgoing, properties)


def _fact(row: list[Any]) -> MemoryImage:
    uuid, properties, *ends, source_name, target_name, sources, targets, _ = row
    known: tuple[str, Kind] = (decoded(uuid), "fact")
    if decoded(sources) != 1 or decoded(targets) != 1:
        return MemoryImage(*known, {}, obstacle="has an end that shares its uuid or is no entity")
    try:
        ends = [decoded(end) for end in ends]
        if not all(isinstance(end, str) for end in ends):
            raise Unstorable("has an end whose uuid is no text")
        names = (decoded(source_name), decoded(target_name))
        return MemoryImage(
            *known,
            _storable(decoded(properties)),
            ends=tuple(ends),
            end_names=tuple(name if isinstance(name, str) else "" for name in names),
        )
    except Unstorable as reason:
        return MemoryImage(*known, {}, obstacle=str(reason))


def _storable(properties: dict[str, Any]) -> dict[str, Any]:
    if any(isinstance(value, list) and _has(Vector, value) for value in properties.values()):
        raise Unstorable("holds a list with a vector in it")
    return properties


def _has(kind: type, value: Any) -> bool:
    """Whether a value is of a kind, or a list, however deep, with one that is."""
    if isinstance(value, list):
        return any(_has(kind, part) for part in value)
    return isinstance(value, kind)


def _is_nested(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(part, list) for part in value)


def _floats(properties: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, value in properties.items():
        if isinstance(value, str):
            continue
        if isinstance(value, float):
            yield {"name": name, "place": None, "printed": value}
        elif isinstance(value, list):
            for place, part in enumerate(value):
                if isinstance(part, float):
                    yield {"name": name, "place": place, "printed": part}


_QUERIES = {"entity": _ENTITIES.format(probe="", far="null"), "fact": _FACTS}
_UNDERSTOOD: dict[Kind, Callable[[list[Any]], MemoryImage]] = {"entity": _entity, "fact": _fact}
