"""A graph of the shape that Graphiti writes, of any size, the same for the same arguments.

Entities live in topics of about 200; an episode speaks of one topic and yields 25 facts, and a few
entities are met everywhere, so that degrees are skewed and the greatest hub holds some 3 % of all
facts. One fact in twenty is invalidated, each with the successor that replaced it. The newest
1 % of the episodes are held back until :func:`grow`.

Run as a script, it fills a graph: ``synthetic_graph.py build|grow URI GRAPH ENTITIES``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from synapse.store.connection import connect
from synapse.store.writer import create_indices

NOW = "2026-01-01T00:00:00Z"
"""The moment the graph ends, and the one to consolidate it at."""

SEED = 20_260_101
YEAR_S = 365 * 86_400
NOW_US = np.datetime64("2026-01-01T00:00:00", "us")
FACTS_PER_ENTITY, FACTS_PER_EPISODE, ENTITIES_PER_EPISODE = 5, 25, 5
MENTIONS_PER_EPISODE = 15
ENTITIES_PER_TOPIC = 200
HELD_BACK_RATIO = 0.01
EMBEDDING_SIZE = 384
BATCH_COUNT = 5000
UNDATED_RATIO, MIDNIGHT_RATIO = 0.2, 0.2
INVALIDATED_RATIO = 0.05
ELSEWHERE_RATIO = 0.1
"""Fact ends that lie outside the topic of their episode."""

RELATIONS = [
    f"{verb}_{what}"
    for verb in ("USES", "OWNS", "RUNS", "NEEDS", "KNOWS", "LIKES", "MOVES", "TESTS")
    for what in ("SERVICE", "LIBRARY", "MACHINE", "PERSON", "PLACE")
]
ENDINGS = [
    "as agreed in the meeting of that week",
    "and the team keeps the notes about it",
    "which was checked twice on the staging host",
    "because the old way took far too long",
    "until the next review of the whole plan",
    "and it is urgent, the error must be gone",
    "a critical point that nobody should forget",
    "and no longer what stood there before it",
]
ENDING_WEIGHTS = (0.26, 0.25, 0.2, 0.1, 0.1, 0.04, 0.04, 0.01)

Ints = npt.NDArray[np.int64]
Times = npt.NDArray[np.datetime64]


@dataclass(frozen=True)
class SyntheticGraph:
    """Columns of a whole graph; facts and mentions are in the order of their episodes."""

    entity_uuid: list[str]
    episode_uuid: list[str]
    episode_at: Times
    fact_uuid: list[str]
    fact_episode: Ints
    """The episode a fact was first said in."""
    fact_again: list[list[int]]
    """Later episodes that said it again."""
    source: Ints
    target: Ints
    relation: Ints
    ending: Ints
    created_at: Times
    valid_at: Times
    successor: Ints
    """The fact that replaced this one, or -1."""
    mention_episode: Ints
    mention_entity: Ints
    kept_episodes_count: int
    """Episodes up to here are built at first, the others held back."""


def generate(entities_count: int) -> SyntheticGraph:
    """The graph with this many entities, five times as many facts, a fifth as many episodes."""
    rng = np.random.default_rng([SEED, entities_count])
    kept = max(1, entities_count // ENTITIES_PER_EPISODE)
    episodes_count = kept + max(1, round(kept * HELD_BACK_RATIO))
    fact_episode = np.repeat(np.arange(episodes_count), FACTS_PER_EPISODE)
    mention_episode = np.repeat(np.arange(episodes_count), MENTIONS_PER_EPISODE)
    weights = _skewed(rng, entities_count)
    topic = rng.integers(max(1, entities_count // ENTITIES_PER_TOPIC), size=episodes_count)
    source = _choose(rng, weights, topic[fact_episode])
    target = _choose(rng, weights, topic[fact_episode])
    relation = rng.integers(len(RELATIONS), size=len(fact_episode))
    episode_at = _episode_times(rng, kept, episodes_count)
    successor = _successors(rng, kept * FACTS_PER_EPISODE, fact_episode)
    for column in (source, relation):
        column[successor[successor >= 0]] = column[successor >= 0]
    said_at = episode_at[fact_episode]
    return SyntheticGraph(
        entity_uuid=_uuids(rng, entities_count),
        episode_uuid=_uuids(rng, episodes_count),
        episode_at=episode_at,
        fact_uuid=_uuids(rng, len(fact_episode)),
        fact_episode=fact_episode,
        fact_again=_repetitions(rng, fact_episode, kept),
        source=source,
        target=target,
        relation=relation,
        ending=rng.choice(len(ENDINGS), len(fact_episode), p=ENDING_WEIGHTS),
        created_at=said_at + rng.integers(1_000_001, 60_000_000, len(said_at)).astype("m8[us]"),
        valid_at=_valid_times(rng, said_at, is_dated=_among(len(said_at), successor)),
        successor=successor,
        mention_episode=mention_episode,
        mention_entity=_choose(rng, weights, topic[mention_episode]),
        kept_episodes_count=kept,
    )


def _skewed(rng: np.random.Generator, count: int) -> npt.NDArray[np.float64]:
    """How often each entity is met: the quantiles of a Pareto distribution, shuffled."""
    return rng.permutation(((np.arange(count) + 0.5) / count) ** (-1 / 1.3))


def _choose(rng: np.random.Generator, weights: npt.NDArray[np.float64], topic: Ints) -> Ints:
    """One entity for each topic: mostly one of the topic, sometimes any, by weight."""
    ends = np.concatenate([[0.0], np.cumsum(weights)])
    low = ends[topic * ENTITIES_PER_TOPIC]
    high = ends[np.minimum((topic + 1) * ENTITIES_PER_TOPIC, len(weights))]
    elsewhere = rng.random(len(topic)) < ELSEWHERE_RATIO
    low, high = np.where(elsewhere, 0.0, low), np.where(elsewhere, ends[-1], high)
    place = np.searchsorted(ends, low + rng.random(len(topic)) * (high - low), side="right") - 1
    return np.minimum(place, len(weights) - 1)


def _episode_times(rng: np.random.Generator, kept: int, count: int) -> Times:
    """Ascending over a year; those held back lie in the last day."""
    year_s = np.sort(rng.random(kept)) * (YEAR_S - 86_400)
    last_day_s = YEAR_S - 86_400 + np.sort(rng.random(count - kept)) * 80_000
    seconds = np.concatenate([year_s, last_day_s])
    return NOW_US - np.timedelta64(YEAR_S, "s") + (seconds * 1e6).astype("m8[us]")


def _successors(rng: np.random.Generator, kept_count: int, fact_episode: Ints) -> Ints:
    """Pairs of an earlier and a later fact; no fact is in two of them."""
    pairs_count = int(kept_count * INVALIDATED_RATIO)
    chosen = rng.choice(kept_count, 2 * pairs_count, replace=False).reshape(-1, 2)
    old, new = chosen.min(axis=1), chosen.max(axis=1)
    apart = fact_episode[old] < fact_episode[new]
    successor = np.full(len(fact_episode), -1)
    successor[old[apart]] = new[apart]
    return successor


def _repetitions(rng: np.random.Generator, fact_episode: Ints, kept: int) -> list[list[int]]:
    """None for 70 % of the facts, one or two later episodes for the others."""
    counts = rng.choice(3, len(fact_episode), p=(0.7, 0.2, 0.1))
    last = np.where(fact_episode < kept, kept, fact_episode.max() + 1)
    draws = fact_episode + 1 + rng.integers(50, size=(2, len(fact_episode)))
    return [
        [episode for episode in dict.fromkeys(drawn[:count]) if episode < end]
        for count, end, drawn in zip(counts.tolist(), last.tolist(), draws.T.tolist(), strict=True)
    ]


def _valid_times(
    rng: np.random.Generator, said_at: Times, is_dated: npt.NDArray[np.bool_]
) -> Times:
    """When each fact holds from: when it was said, a midnight, or unknown."""
    chance = rng.random(len(said_at))
    valid_at = said_at.copy()
    midnight = (chance < MIDNIGHT_RATIO) & ~is_dated
    valid_at[midnight] = said_at[midnight].astype("M8[D]")
    valid_at[(chance > 1 - UNDATED_RATIO) & ~is_dated] = np.datetime64("NaT")
    return valid_at


def _among(count: int, rows: Ints) -> npt.NDArray[np.bool_]:
    marked = np.zeros(count, np.bool_)
    marked[rows[rows >= 0]] = True
    return marked


def _uuids(rng: np.random.Generator, count: int) -> list[str]:
    digits = rng.bytes(16 * count).hex()
    return [
        f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"
        for h in (digits[i : i + 32] for i in range(0, len(digits), 32))
    ]


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
        relation, new = RELATIONS[graph.relation[row]], int(graph.successor[row])
        episodes = [int(graph.fact_episode[row]), *graph.fact_again[row]]
        text = f"{_name(source)} {relation.lower().replace('_', ' ')} {_name(target)} "
        properties = _literal(
            {
                "uuid": graph.fact_uuid[row],
                "name": relation,
                "fact": text + ENDINGS[graph.ending[row]],
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
        statuses = {""}
        while statuses != {"OPERATIONAL"}:
            time.sleep(0.05)
            reply = self._query("CALL db.indexes() YIELD status RETURN status")
            statuses = {status.decode() for (status,) in reply[1]}

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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("action", choices=("build", "grow"))
    parser.add_argument("uri")
    parser.add_argument("graph")
    parser.add_argument("entities", type=int)
    parser.add_argument("--embeddings", action="store_true")
    arguments = parser.parse_args()
    graph, writer = generate(arguments.entities), GraphWriter(arguments.uri, arguments.graph)
    if arguments.action == "build":
        writer.build(graph, with_embeddings=arguments.embeddings)
    else:
        writer.grow(graph)
    print(f"{arguments.action}: done", file=sys.stderr)


if __name__ == "__main__":
    main()
