"""Writes a memory into a FalkorDB graph in the shape that Graphiti gives its own.

What is written can be read back with Graphiti's ``EntityNode``, ``EntityEdge`` and
``EpisodicNode``. Embeddings are left out: until its own code saves them, Graphiti finds such
memories by full text and along edges, not by similarity. Values travel as parameters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from redis.exceptions import ResponseError

from synapse.hippocampus.ports import GraphDocument
from synapse.store.cypher import batches, listed, with_rows
from synapse.store.document import Item, refuse_dangling, storable
from synapse.store.failures import is_without_graph
from synapse.store.indices import create_indices

# redis-py types every reply as text or bytes and differs between releases; ours are bytes.
Connection = Any

_ENTITY, _EPISODE = "(x:Entity {uuid: u})", "(x:Episodic {uuid: u})"
# With labelled ends the planner would scan all nodes for each edge that it finds.
_FACT, _MENTION = "()-[x:RELATES_TO {uuid: u}]->()", "()-[x:MENTIONS {uuid: u}]->()"

_CREATE_FACTS = (
    "MATCH (a:Entity {uuid: row.source_node_uuid}) MATCH (b:Entity {uuid: row.target_node_uuid}) "
    "CREATE (a)-[e:RELATES_TO]->(b) SET e = row"
)
_CREATE_MENTIONS = (
    "MATCH (a:Episodic {uuid: row.episode_uuid}) MATCH (b:Entity {uuid: row.entity_uuid}) "
    "CREATE (a)-[e:MENTIONS]->(b) SET e = row.properties"
)


def write_document(connection: Connection, graph: str, document: GraphDocument) -> dict[str, int]:
    """Add a memory to a graph, creating the graph and Graphiti's indices where they are missing.

    Items whose uuid the graph holds already are left as they are, so loading twice adds nothing.

    Returns:
        How many entities, facts, episodes and mentions were added.

    Raises:
        UsageError: the document does not fit into the graph; nothing was written.
    """
    document = storable(document)
    facts, mentions = document.facts, document.mentions
    new_entities, new_episodes = _uuids(document.entities), _uuids(document.episodes)
    ends = {f[end] for f in facts for end in ("source_node_uuid", "target_node_uuid")}
    ends.update(m["entity_uuid"] for m in mentions)
    old_entities = _held(connection, graph, _ENTITY, new_entities | ends)
    mentioning = {m["episode_uuid"] for m in mentions}
    old_episodes = _held(connection, graph, _EPISODE, new_episodes | mentioning)
    refuse_dangling(document, old_entities | new_entities, old_episodes | new_episodes)
    old_facts = _held(connection, graph, _FACT, _uuids(facts))
    old_mentions = _held(connection, graph, _MENTION, _uuids(mentions))
    new = {
        "entities": _without(document.entities, old_entities),
        "facts": _without(facts, old_facts),
        "episodes": _without(document.episodes, old_episodes),
        "mentions": _without(mentions, old_mentions),
    }
    create_indices(connection, graph)
    _create_nodes(connection, graph, "Episodic", new["episodes"])
    _create_entities(connection, graph, new["entities"])
    _create(connection, graph, _CREATE_FACTS, new["facts"])
    rows = ({**m, "properties": _mention(m)} for m in new["mentions"])
    _create(connection, graph, _CREATE_MENTIONS, rows)
    return {part: len(items) for part, items in new.items()}


def _held(connection: Connection, graph: str, pattern: str, uuids: Collection[str]) -> set[str]:
    """Which of the uuids the graph holds already; none where there is no such graph."""
    query = f"UNWIND $rows AS u MATCH {pattern} RETURN collect(DISTINCT [u])"
    held: set[str] = set()
    for rows in batches(sorted(uuids)):
        try:
            asked = with_rows(rows, query)
            reply = connection.execute_command("GRAPH.RO_QUERY", graph, asked, "--compact")
        except ResponseError as error:
            if not is_without_graph(error):
                raise
            return set()
        held.update(uuid.decode() for ((_, uuid),) in listed(reply))
    return held


def _create_entities(connection: Connection, graph: str, entities: Iterable[Item]) -> None:
    by_labels: dict[str, list[Item]] = {}
    for entity in entities:
        labels = ":".join(["Entity", *(f"`{label}`" for label in entity["labels"])])
        rows = by_labels.setdefault(labels, [])
        rows.append({k: v for k, v in entity.items() if k != "labels"})
    for labels, rows in by_labels.items():
        _create_nodes(connection, graph, labels, rows)


def _create_nodes(connection: Connection, graph: str, labels: str, rows: Iterable[Item]) -> None:
    _create(connection, graph, f"CREATE (n:{labels}) SET n = row", rows)


def _create(connection: Connection, graph: str, clause: str, items: Iterable[Item]) -> None:
    for rows in batches(items):
        query = with_rows(rows, f"UNWIND $rows AS row {clause}")
        connection.execute_command("GRAPH.QUERY", graph, query)


def _uuids(items: Iterable[Item]) -> set[str]:
    return {item["uuid"] for item in items}


def _without(items: Iterable[Item], held: Collection[str]) -> list[Item]:
    return [item for item in items if item["uuid"] not in held]


def _mention(item: Item) -> Item:
    return {k: v for k, v in item.items() if k not in ("episode_uuid", "entity_uuid")}
