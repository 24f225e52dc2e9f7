"""What a belief needs of a graph: entities by name, one more episode of a fact, embeddings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from redis.exceptions import ResponseError

from synapse.store.cypher import batches, listed, literal, with_rows
from synapse.store.failures import is_without_graph

# redis-py types every reply as text or bytes and differs between releases; ours are bytes.
Connection = Any

_EXACT = (
    "UNWIND $rows AS w MATCH (n:Entity {name: w}) "
    "WITH w, n ORDER BY n.created_at, n.uuid RETURN collect([w, n.uuid])"
)
_ALIKE = (
    "UNWIND $rows AS w MATCH (n:Entity) WHERE toLower(n.name) = toLower(w) "
    "WITH w, n ORDER BY n.created_at, n.uuid RETURN collect([w, n.uuid])"
)
_CONFIRM = (
    "UNWIND $rows AS x MATCH ()-[e:RELATES_TO {uuid: x[0]}]->() WHERE NOT x[1] IN e.episodes "
    "SET e.episodes = e.episodes + [x[1]] RETURN collect([e.uuid])"
)
_EMBED = {
    "entity": "UNWIND $rows AS x MATCH (n:Entity {uuid: x[0]}) SET n.name_embedding = vecf32(x[1])",
    "fact": "UNWIND $rows AS x MATCH ()-[e:RELATES_TO {uuid: x[0]}]->() "
    "SET e.fact_embedding = vecf32(x[1])",
}


def find_entities(
    connection: Connection, graph: str, names: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Uuids of the entities of each name, the oldest first.

    A name in the same letters wins; else those that differ in upper and lower case only.
    """
    found = _found(connection, graph, _EXACT, names)
    return found | _found(connection, graph, _ALIKE, set(names) - found.keys())


def confirm_fact(connection: Connection, graph: str, fact: str, episode: str) -> bool:
    """Add an episode to those that support a fact; say whether it was new."""
    query = with_rows([literal([fact, episode])], _CONFIRM)
    return bool(listed(connection.execute_command("GRAPH.QUERY", graph, query, "--compact")))


def write_embeddings(
    connection: Connection, graph: str, kind: str, vectors: Mapping[str, Sequence[float]]
) -> None:
    """Give entities or facts their embeddings, by uuid."""
    for rows in batches([uuid, list(map(float, vector))] for uuid, vector in vectors.items()):
        connection.execute_command("GRAPH.QUERY", graph, with_rows(rows, _EMBED[kind]))


def _found(
    connection: Connection, graph: str, query: str, names: Collection[str]
) -> dict[str, tuple[str, ...]]:
    if not names:
        return {}
    rows = with_rows([literal(name) for name in sorted(names)], query)
    try:
        reply = connection.execute_command("GRAPH.RO_QUERY", graph, rows, "--compact")
    except ResponseError as error:
        if not is_without_graph(error):
            raise
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for (_, name), (_, uuid) in listed(reply):
        found[name.decode()] = (*found.get(name.decode(), ()), uuid.decode())
    return found
