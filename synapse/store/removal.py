"""Removes memories from a graph that still are what was copied of them.

The statement that removes compares everything first: properties, vectors, labels, ends and edges.
What another process has changed meanwhile stays, and the answer names what was removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from redis.exceptions import ResponseError

from synapse.hippocampus.image import MemoryImage
from synapse.store.bites import Bites
from synapse.store.cypher import literal, portions
from synapse.store.images import LINK_ORDER
from synapse.store.values import Contents, is_same, text

# Ends with names of their own would have the planner scan all nodes for each edge.
_FACTS = (
    "UNWIND $rows AS x WITH x, x.p AS p MATCH ()-[e:RELATES_TO {{uuid: x.uuid}}]->() "
    "WHERE startNode(e).uuid = x.source AND endNode(e).uuid = x.target AND {is_same} "
    "DELETE e RETURN x.uuid"
)
_ENTITIES = (
    "UNWIND $rows AS x WITH x, x.p AS p MATCH (n:Entity {{uuid: x.uuid}}) "
    "WHERE labels(n) = x.labels AND {is_same} OPTIONAL MATCH (n)-[r]-(m) "
    "WITH x, n, r, m " + LINK_ORDER + " WITH x, n, collect(CASE WHEN r IS NULL THEN null "
    "ELSE [type(r), startNode(r) = n, m.uuid, properties(r)] END) AS links "
    "WHERE links = x.links DELETE n RETURN x.uuid"
)


_OTHER_VECTOR = re.compile("Vector dimension mismatch|Type mismatch: expected Null or Vectorf32")


def remove(bites: Bites, graph: str, images: Iterable[MemoryImage], contents: Contents) -> set[str]:
    """Remove memories of one kind; return the uuids of those that were unchanged and are gone."""
    groups: dict[tuple[str, ...], list[str]] = {}
    query, item = "", ""
    for image in images:
        query, item = (_FACTS, "e") if image.kind == "fact" else (_ENTITIES, "n")
        names, content = contents[image.uuid]
        row = literal(_known(image))[:-1] + f",{content}}}"
        groups.setdefault(names, []).append(row)
    removed: set[str] = set()
    for names, rows in groups.items():
        asked = query.format(is_same=is_same(names, "x", "p", item))
        for portion in portions(rows):
            removed |= _removed(bites, graph, portion, asked)
    return removed


def _removed(bites: Bites, graph: str, rows: Sequence[str], query: str) -> set[str]:
    try:
        return {text(uuid) for (uuid,) in bites.write(graph, rows, query)}
    except ResponseError as error:
        if not _OTHER_VECTOR.match(str(error)):
            raise
    if len(rows) == 1:
        return set()  # this one has changed
    return set().union(*(_removed(bites, graph, [row], query) for row in rows))


def _known(image: MemoryImage) -> dict[str, Any]:
    if image.kind == "fact":
        source, target = image.ends
        return {"uuid": image.uuid, "source": source, "target": target}
    links = [[k.type, k.is_outgoing, k.other, dict(k.properties)] for k in image.links]
    return {"uuid": image.uuid, "labels": list(image.labels), "links": links}
