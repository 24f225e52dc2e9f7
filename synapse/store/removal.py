"""Removes memories from a graph that still are what was copied of them.

The statement that removes compares everything first: properties, vectors, labels, ends and edges.
What another process has changed meanwhile stays, and the answer names what was removed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from synapse.hippocampus.image import MemoryImage
from synapse.store.bites import Bites
from synapse.store.cypher import literal, portions
from synapse.store.images import LINK_ORDER
from synapse.store.values import split, with_vectors

_FACTS = (
    "UNWIND $rows AS x WITH x, x.p AS p MATCH (a)-[e:RELATES_TO {{uuid: x.uuid}}]->(b) "
    "WHERE a.uuid = x.source AND b.uuid = x.target AND properties(e) = {whole} "
    "DELETE e RETURN x.uuid"
)
_ENTITIES = (
    "UNWIND $rows AS x WITH x, x.p AS p MATCH (n:Entity {{uuid: x.uuid}}) "
    "WHERE labels(n) = x.labels AND properties(n) = {whole} OPTIONAL MATCH (n)-[r]-(m) "
    "WITH x, n, r, m " + LINK_ORDER + " WITH x, n, collect(CASE WHEN r IS NULL THEN null "
    "ELSE [type(r), startNode(r) = n, m.uuid, properties(r)] END) AS links "
    "WHERE links = x.links DELETE n RETURN x.uuid"
)


def remove(bites: Bites, graph: str, images: Iterable[MemoryImage]) -> set[str]:
    """Remove memories of one kind; return the uuids of those that were unchanged and are gone."""
    groups: dict[tuple[str, ...], list[str]] = {}
    query = ""
    for image in images:
        query = _FACTS if image.kind == "fact" else _ENTITIES
        names, content = split(dict(image.properties))
        row = literal(_known(image))[:-1] + f",{content}}}"
        groups.setdefault(names, []).append(row)
    removed: set[str] = set()
    for names, rows in groups.items():
        for portion in portions(rows):
            asked = query.format(whole=with_vectors(names, "x", "p"))
            removed.update(uuid.decode() for (uuid,) in bites.write(graph, portion, asked))
    return removed


def _known(image: MemoryImage) -> dict[str, Any]:
    if image.kind == "fact":
        source, target = image.ends
        return {"uuid": image.uuid, "source": source, "target": target}
    links = [[k.type, k.is_outgoing, k.other, dict(k.properties)] for k in image.links]
    return {"uuid": image.uuid, "labels": list(image.labels), "links": links}
