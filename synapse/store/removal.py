"""Removes memories from a graph that still are what was copied of them.

The statement that removes compares everything first: properties, vectors, labels, ends and edges.
What another process has changed meanwhile stays, and the answer names what was removed. What is
pinned stays too, however late the pin came: a memory is gone before it was pinned, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from redis.exceptions import ResponseError

from synapse.hippocampus.image import MemoryImage
from synapse.store.bites import Bites
from synapse.store.cypher import literal, portions
from synapse.store.images import LINK_ORDER
from synapse.store.lock import Pinned
from synapse.store.probe import Probe, is_other_vector
from synapse.store.values import decoded, is_same, lists, parts

# Ends with names of their own would have the planner scan all nodes for each edge.
_FACTS = (
    "{probe}UNWIND $rows AS x WITH {carried}x, x.p AS p "
    "MATCH ()-[e:RELATES_TO {{uuid: x.uuid}}]->() "
    "WHERE startNode(e).uuid = x.source AND endNode(e).uuid = x.target AND {unchanged} "
    "DELETE e RETURN collect([x.uuid])"
)
_ENTITIES = (
    "{probe}UNWIND $rows AS x WITH {carried}x, x.p AS p MATCH (n:Entity {{uuid: x.uuid}}) "
    "WHERE labels(n) = x.labels AND {unchanged} OPTIONAL MATCH (n)-[r]-(m) "
    "WITH x, n, r, m " + LINK_ORDER + " WITH x, n, collect(CASE WHEN r IS NULL THEN null "
    "ELSE [type(r), startNode(r) = n, m.uuid, properties(r)] END) AS links "
    "WHERE links = x.links DELETE n RETURN collect([x.uuid])"
)


def remove(
    bites: Bites,
    graph: str,
    images: Iterable[MemoryImage],
    probe: Probe | None,
    distances: Mapping[str, str],
) -> set[str]:
    """Remove memories of one kind; return the uuids of those that are gone.

    Those that have changed, and those that are pinned, stay.

    Args:
        bites: asks the server.
        graph: name of the graph.
        images: what was copied.
        probe: what the distances are from.
        distances: of the embeddings of some; all numbers of the others are compared.
    """
    groups: dict[tuple[str, Probe | None, tuple[str, ...]], dict[str, str]] = {}
    for image in images:
        others, vectors = parts(image.properties)
        names = tuple(vectors)
        known = f"{literal(_known(image))[:-1]},p:{literal(others)}"
        if probe is not None and image.uuid in distances and names == (probe.name,):
            row, by = f"{known},far:{distances[image.uuid]}}}", probe
        else:
            row, by = f"{known}{lists(vectors.values())}}}", None
        groups.setdefault((image.kind, by, names), {})[image.uuid] = row
    removed: set[str] = set()
    for key, rows in groups.items():
        query, left = _query(*key), iter(rows.items())
        for portion in portions(rows.values()):
            removed |= _removed(bites, graph, dict(islice(left, len(portion))), query)
    return removed


def _query(kind: str, probe: Probe | None, names: tuple[str, ...]) -> str:
    query, item = (_FACTS, "e") if kind == "fact" else (_ENTITIES, "n")
    if probe is None:
        return query.format(probe="", carried="", unchanged=is_same(names, "p", item, "x"))
    unchanged = f"{is_same(names, 'p', item)} AND {probe.is_as_far(item, 'x.far')}"
    return query.format(probe=probe.clause, carried="probe, ", unchanged=unchanged)


def _removed(bites: Bites, graph: str, rows: Mapping[str, str], query: str) -> set[str]:
    if not rows:
        return set()
    try:
        return {decoded(uuid) for (uuid,) in bites.remove(graph, rows, query)}
    except Pinned as pinned:
        rest = {uuid: row for uuid, row in rows.items() if uuid not in pinned.memories}
        return _removed(bites, graph, rest, query)
    except ResponseError as error:
        if not is_other_vector(error):
            raise
    if len(rows) == 1:
        return set()  # this one has changed
    return set().union(*(_removed(bites, graph, dict([row]), query) for row in rows.items()))


def _known(image: MemoryImage) -> dict[str, Any]:
    if image.kind == "fact":
        source, target = image.ends
        return {"uuid": image.uuid, "source": source, "target": target}
    links = [[k.type, k.is_outgoing, k.other, dict(k.properties)] for k in image.links]
    return {"uuid": image.uuid, "labels": list(image.labels), "links": links}
