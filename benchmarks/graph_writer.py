"""Fills a graph with synthetic data: ``graph_writer.py build|grow URI GRAPH ENTITIES``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from synthetic_graph import (
    ENDINGS,
    FACTS_PER_EPISODE,
    MENTIONS_PER_EPISODE,
    NOW_US,
    YEAR_S,
    SyntheticGraph,
    Times,
    generate,
)

from synapse.store.connection import connect
from synapse.store.indices import are_built, create_indices

EMBEDDING_SIZE = 384
BATCH_COUNT = 5000


def _stamps(times: Times) -> list[str]:
    """As Graphiti writes them: microseconds only where they are not zero; empty if unknown."""
    texts = np.datetime_as_string(times, unit="us").tolist()
    return ["" if t == "NaT" else f"{t.removesuffix('.000000')}+00:00" for t in texts]


def _literal(item: dict[str, Any]) -> str:
    """A map parameter. No text here holds a quote or a backslash."""
    cells = (
        f"{k}:[{','.join(map(_quoted, v))}]" if isinstance(v, list) else f"{k}:{_quoted(v)}"
        for k, v in item.items()
        if v != ""
    )
    return f"{{{','.join(cells)}}}"


def _quoted(text: str) -> str:
    return f'"{text}"'


def entity_rows(graph: SyntheticGraph) -> Iterator[str]:
    """Property maps of all entities."""
    ages_us = np.linspace(1, 0, len(graph.entity_uuid)) * (YEAR_S - 1) * 1e6
    stamps = _stamps(NOW_US - ages_us.astype("m8[us]"))
    for row, (uuid, created_at) in enumerate(zip(graph.entity_uuid, stamps, strict=True)):
        yield _literal(
            {
                "uuid": uuid,
                "name": _name(row),
                "group_id": "bench",
                "summary": f"{_name(row)} is part of the work that the team does every week.",
                "created_at": created_at,
            }
        )


def episode_rows(graph: SyntheticGraph, first: int, end: int) -> Iterator[str]:
    """Property maps of some episodes."""
    stamps = _stamps(graph.episode_at[first:end])
    for row, at in zip(range(first, end), stamps, strict=True):
        yield _literal(
            {
                "uuid": graph.episode_uuid[row],
                "name": f"conversation {row}",
                "group_id": "bench",
                "source": "message",
                "source_description": "chat",
                "content": f"user: what was said in conversation {row}, in a few sentences.",
                "created_at": at,
                "valid_at": at,
            }
        )


def fact_rows(graph: SyntheticGraph, first: int, end: int) -> Iterator[str]:
    """``[source row, target row, property map]`` of some facts."""
    created, valid = _stamps(graph.created_at), _stamps(graph.valid_at)
    said = _stamps(graph.episode_at)
    for row in range(first, end):
        source, target = int(graph.source[row]), int(graph.target[row])
        relation = graph.relation_names[graph.relation[row]]
        new = int(graph.successor[row]) if graph.is_ended[row] else -1
        named = int(graph.names_fact[row])
        ending = ENDINGS[graph.ending[row]]
        if named >= 0:
            ending = f"instead of {_name(int(graph.target[named]))}, {ending}"
        episodes = [int(graph.fact_episode[row]), *graph.fact_again[row]]
        text = f"{_name(source)} {relation.lower().replace('_', ' ')} {_name(target)} "
        properties = _literal(
            {
                "uuid": graph.fact_uuid[row],
                "name": relation,
                "fact": text + ending,
                "group_id": "bench",
                "episodes": [graph.episode_uuid[episode] for episode in episodes],
                "created_at": created[row],
                "reference_time": said[episodes[0]],
                "valid_at": valid[row],
                "invalid_at": valid[new] if new >= 0 else "",
                "expired_at": created[new] if new >= 0 else "",
                "source_node_uuid": graph.entity_uuid[source],
                "target_node_uuid": graph.entity_uuid[target],
            }
        )
        yield f"[{source},{target},{properties}]"


def mention_rows(graph: SyntheticGraph, first: int, end: int, first_id: int) -> Iterator[str]:
    """``[episode's node, entity's node, property map]`` of the mentions of some episodes."""
    stamps = _stamps(graph.episode_at)
    rows = slice(first * MENTIONS_PER_EPISODE, end * MENTIONS_PER_EPISODE)
    episodes, entities = graph.mention_episode[rows].tolist(), graph.mention_entity[rows].tolist()
    for episode, entity in dict.fromkeys(zip(episodes, entities, strict=True)):
        uuid = f"{graph.episode_uuid[episode][:24]}{entity:012x}"
        properties = _literal({"uuid": uuid, "group_id": "bench", "created_at": stamps[episode]})
        yield f"[{first_id + episode - first},{entity},{properties}]"


def _name(row: int) -> str:
    return f"{('river', 'stone', 'maple', 'cloud', 'ember')[row % 5]} {row}"


class GraphWriter:
    """Fills one graph; the numbers of the nodes of a fresh graph are their rows."""

    def __init__(self, uri: str, name: str) -> None:
        self._connection = connect(uri, answer_within_s=600.0)
        self._name = name

    def build(self, graph: SyntheticGraph, *, with_embeddings: bool) -> None:
        """Create everything but what is held back, then the indices that Graphiti creates."""
        self._create_nodes("Entity", entity_rows(graph))
        self._create_episodes(graph, 0, graph.kept_episodes_count)
        if with_embeddings:
            self._embed("(a:Entity)", "a.name_embedding")
            self._embed("(a:Entity)-[e:RELATES_TO]->()", "e.fact_embedding")
        create_indices(self._connection, self._name)
        while not are_built(self._connection.execute_command, self._name, patience_s=60.0):
            pass

    def grow(self, graph: SyntheticGraph) -> None:
        """Add the episodes that were held back, with their facts and mentions."""
        self._create_episodes(graph, graph.kept_episodes_count, len(graph.episode_uuid))

    def _create_episodes(self, graph: SyntheticGraph, first: int, end: int) -> None:
        first_id = self._create_nodes("Episodic", episode_rows(graph, first, end))
        facts = fact_rows(graph, first * FACTS_PER_EPISODE, end * FACTS_PER_EPISODE)
        self._create_edges("RELATES_TO", facts)
        self._create_edges("MENTIONS", mention_rows(graph, first, end, first_id))

    def _create_nodes(self, label: str, rows: Iterable[str]) -> int:
        """Create nodes whose numbers follow each other; the first number."""
        first_ids = []
        for batch in _batches(rows):
            create = f"UNWIND $rows AS r CREATE (n:{label}) SET n = r RETURN min(ID(n)), max(ID(n))"
            ((first_id, last_id),) = self._query(f"CYPHER rows=[{','.join(batch)}] {create}")[1]
            if last_id - first_id != len(batch) - 1:
                raise SystemExit(f"the numbers of {label} nodes have gaps; use a fresh graph")
            first_ids.append(first_id)
        return int(first_ids[0])

    def _create_edges(self, kind: str, rows: Iterable[str]) -> None:
        create = (
            "UNWIND $rows AS r WITH r[0] AS s, r[1] AS t, r[2] AS p "
            f"MATCH (a) WHERE ID(a) = s MATCH (b) WHERE ID(b) = t CREATE (a)-[e:{kind}]->(b) "
            "SET e = p"
        )
        for batch in _batches(rows):
            self._query(f"CYPHER rows=[{','.join(batch)}] {create}")

    def _embed(self, pattern: str, where: str) -> None:
        ((last_id,),) = self._query("MATCH (a:Entity) RETURN max(ID(a))")[1]
        for low in range(0, last_id + 1, 1000):
            self._query(
                f"MATCH {pattern} WHERE ID(a) >= {low} AND ID(a) < {low + 1000} "
                f"SET {where} = vecf32([i IN range(1, {EMBEDDING_SIZE}) | rand() - 0.5])"
            )

    def _query(self, query: str) -> Any:
        return self._connection.execute_command("GRAPH.QUERY", self._name, query)  # type: ignore[no-untyped-call]


def _batches(rows: Iterable[str]) -> Iterator[list[str]]:
    rows = iter(rows)
    while batch := list(islice(rows, BATCH_COUNT)):
        yield batch


def main() -> None:
    """Build or grow one graph."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("build", "grow"))
    parser.add_argument("uri")
    parser.add_argument("graph")
    parser.add_argument("entities", type=int)
    parser.add_argument("--embeddings", action="store_true")
    parser.add_argument("--harsh", action="store_true")
    arguments = parser.parse_args()
    graph = generate(arguments.entities, harsh=arguments.harsh)
    writer = GraphWriter(arguments.uri, arguments.graph)
    if arguments.action == "build":
        writer.build(graph, with_embeddings=arguments.embeddings)
    else:
        writer.grow(graph)


if __name__ == "__main__":
    main()
