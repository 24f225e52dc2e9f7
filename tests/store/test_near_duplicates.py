"""Near-duplicates by stored embeddings."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import redis

from synapse.errors import UnknownGraph
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.consolidation import ConsolidationEngine, Outcome, Run
from synapse.hippocampus.interference import NearDuplicate, NearDuplicates
from synapse.hippocampus.ports import GraphDocument
from synapse.hippocampus.scope import Scope
from synapse.store import likeness, similarity
from synapse.store.cypher import with_rows
from synapse.store.falkordb import FalkorStore
from synapse.store.memory import InMemoryStore
from tests.store.test_contract import entity, fact

Vectors = dict[str, list[float]]
Embedded = Callable[[GraphDocument, Vectors], None]


@pytest.fixture
def embedded(store: FalkorStore, graph_name: str, connection: redis.Redis) -> Embedded:
    """Write a memory with embeddings, as Graphiti stores them."""

    def write(document: GraphDocument, vectors: Vectors) -> None:
        store.write_memory(graph_name, document)
        for pattern, vector in (
            ("MATCH (x:Entity {uuid: r[0]})", "name_embedding"),
            ("MATCH ()-[x:RELATES_TO {uuid: r[0]}]->()", "fact_embedding"),
        ):
            rows = ",".join(f"['{uuid}', {values}]" for uuid, values in vectors.items())
            query = f"UNWIND [{rows}] AS r {pattern} SET x.{vector} = vecf32(r[1])"
            connection.execute_command("GRAPH.QUERY", graph_name, query)

    return write


def cosine(a: list[float], b: list[float]) -> float:
    x, y = np.array(a), np.array(b)
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


def crowd(facts_count: int, seed: int, size: int = 8) -> tuple[GraphDocument, Vectors]:
    """Facts between a few entities, many of them alike."""
    draw = random.Random(seed)
    names = [f"n{number}" for number in range(6)]
    facts = tuple(
        fact(f"f{number:04}", draw.choice(names), draw.choice(names))
        for number in range(facts_count)
    )
    themes = [[draw.gauss(0.0, 1.0) for _ in range(size)] for _ in range(5)]
    vectors = {
        f["uuid"]: [value + draw.gauss(0.0, 0.2) for value in draw.choice(themes)] for f in facts
    }
    return GraphDocument(entities=tuple(map(entity, names)), facts=facts), vectors


def test_facts_of_one_entity_are_compared_exactly(
    embedded: Embedded, store: FalkorStore, graph_name: str
) -> None:
    document, vectors = crowd(120, seed=1)
    embedded(document, vectors)
    near = store.near_duplicates(graph_name, 0.85)
    source = {f["uuid"]: f["source_node_uuid"] for f in document.facts}
    pairs = [(a, b) for a in vectors for b in vectors if a < b and source[a] == source[b]]
    close = [(a, b) for a, b in pairs if cosine(vectors[a], vectors[b]) >= 0.85]
    assert [pair[:2] for pair in near.pairs] == close
    assert 100 < len(close) < len(pairs)
    assert near.left_out_count == 0


def test_facts_of_a_hub_are_compared_where_they_lead_to_the_same_entity(
    embedded: Embedded, store: FalkorStore, graph_name: str
) -> None:
    count = likeness.SOURCE_FACTS_MAX_COUNT + 1
    entities = tuple(map(entity, ["hub", *(f"t{number}" for number in range(5))]))
    facts = tuple(fact(f"f{number:04}", "hub", f"t{number % 5}") for number in range(count))
    vectors = {f["uuid"]: [1.0, 0.1] for f in facts}
    embedded(GraphDocument(entities=entities, facts=facts), vectors)
    near = store.near_duplicates(graph_name, 0.85)
    pairs = [(a, b) for a in vectors for b in vectors if a < b and int(a[1:]) % 5 == int(b[1:]) % 5]
    assert [pair[:2] for pair in near.pairs] == pairs


def test_too_many_facts_between_two_entities_are_left_out_and_counted(
    embedded: Embedded, store: FalkorStore, graph_name: str
) -> None:
    count = likeness.ENDS_FACTS_MAX_COUNT + 1
    facts = tuple(fact(f"f{number:04}", "a", "b") for number in range(count))
    vectors = {f["uuid"]: [1.0, 0.1] for f in facts}
    document = GraphDocument(entities=(entity("a"), entity("b")), facts=facts)
    embedded(document, vectors)
    assert store.near_duplicates(graph_name, 0.85) == NearDuplicates((), count)
    config = HippocampusConfig.model_validate({"interference": {"enabled": True}})
    run = Run(Scope(graph_name), now_s=1.9e9, run_id="run")
    warnings = ConsolidationEngine(store, config, lambda: 0.0).consolidate(run).report.warnings
    assert any(f"{count} facts not compared" in warning for warning in warnings)


def test_entities_are_compared_where_their_names_share_a_word(
    embedded: Embedded, store: FalkorStore, graph_name: str
) -> None:
    names = ["auth_service", "AuthService", "Auth service (old)", "billing", "mail", ""]
    entities = tuple(entity(f"e{row}", name=name) for row, name in enumerate(names))
    near_by = [1.0, 0.2, 0.0]
    vectors = {f"e{row}": near_by for row in range(6)} | {"e1": [1.0, 0.0, 0.1]}
    embedded(GraphDocument(entities=entities), vectors)
    near = store.near_duplicates(graph_name, 0.85)
    assert [pair[:2] for pair in near.pairs] == [("e0", "e1"), ("e0", "e2"), ("e1", "e2")]
    assert near.pairs[1] == NearDuplicate("e0", "e2", 1.0)


def test_a_word_that_many_names_hold_tells_nothing(
    embedded: Embedded, store: FalkorStore, graph_name: str
) -> None:
    count = likeness.WORD_ENTITIES_MAX_COUNT + 1
    entities = tuple(entity(f"e{n:02}", name=f"service {n}x") for n in range(count))
    vectors = {f"e{n:02}": [1.0] for n in range(count)}
    embedded(GraphDocument(entities=entities), vectors)
    assert store.near_duplicates(graph_name, 0.85).pairs == ()


@pytest.mark.parametrize("hub", [False, True])
def test_embeddings_of_several_models_are_told_apart(
    embedded: Embedded, store: FalkorStore, graph_name: str, hub: bool
) -> None:
    count = likeness.SOURCE_FACTS_MAX_COUNT + 1 if hub else 6
    facts = tuple(fact(f"f{number:04}", "my a", "my b") for number in range(count))
    vectors = {f["uuid"]: [1.0] * (2 + n % 2) for n, f in enumerate(facts)}
    vectors |= {"my a": [1.0, 0.0], "my b": [1.0, 0.0, 0.0], "my c": [1.0, 0.0, 0.1]}
    entities = (entity("my a"), entity("my b"), entity("my c"))
    embedded(GraphDocument(entities=entities, facts=facts), vectors)
    near = store.near_duplicates(graph_name, 0.85)
    same = [
        (a, b) for a in vectors for b in vectors if a < b and len(vectors[a]) == len(vectors[b])
    ]
    assert [pair[:2] for pair in near.pairs] == [
        pair for pair in same if pair == ("my b", "my c") or "my" not in pair[0] + pair[1]
    ]


def test_what_has_no_usable_embedding_is_like_nothing(
    embedded: Embedded, store: FalkorStore, graph_name: str, connection: redis.Redis
) -> None:
    facts = tuple(fact(name, "a", "b") for name in ("f1", "f2", "f3", "f4", "f5"))
    document = GraphDocument(entities=(entity("a"), entity("b")), facts=facts)
    embedded(document, {"f1": [1.0, 0.0], "f2": [0.0, 0.0], "f3": [1.0, 0.01]})
    strange = "MATCH ()-[x:RELATES_TO {uuid: 'f4'}]->() SET x.fact_embedding = "
    for value in ("'text'", "[1.0, 0.0]", "7"):
        connection.execute_command("GRAPH.QUERY", graph_name, strange + value)
        near = store.near_duplicates(graph_name, 0.85)
        assert [pair[:2] for pair in near.pairs] == [("f1", "f3")]


@pytest.mark.parametrize("pairs_per_trip", [1, 50, 100_000])
def test_how_many_go_in_one_trip_changes_nothing(
    embedded: Embedded,
    store: FalkorStore,
    graph_name: str,
    pairs_per_trip: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embedded(*crowd(150, seed=2))
    whole = store.near_duplicates(graph_name, 0.85)
    monkeypatch.setattr(similarity, "PAIRS_PER_TRIP", pairs_per_trip)
    monkeypatch.setattr(similarity, "NODES_PER_TRIP", 2)
    assert store.near_duplicates(graph_name, 0.85) == whole
    assert whole.pairs


def test_an_unknown_graph_stays_unknown(store: FalkorStore, graph_name: str) -> None:
    for each in (store, InMemoryStore()):
        with pytest.raises(UnknownGraph):
            each.near_duplicates(graph_name, 0.85)
        assert graph_name not in each.graphs()


def test_a_graph_without_embeddings_has_no_near_duplicates(
    store: FalkorStore, graph_name: str
) -> None:
    document, _ = crowd(20, seed=3)
    store.write_memory(graph_name, document)
    assert store.near_duplicates(graph_name, 0.85) == NearDuplicates()


def test_the_links_of_a_hub_are_not_walked_for_each_of_its_targets(
    store: FalkorStore, graph_name: str, connection: redis.Redis
) -> None:
    store.write_memory(graph_name, crowd(20, seed=4)[0])
    query = with_rows(["[0, 1]"], similarity._SAME_ENDS + similarity._TWO_FACTS + "RETURN count(a)")
    plan = connection.execute_command("GRAPH.EXPLAIN", graph_name, query)
    assert sum("Expand Into" in step for step in plan) == 2
    assert not any("Traverse" in step or "Scan" in step for step in plan)


def test_a_run_that_looks_for_them_weakens_one_of_each_pair_and_remembers_it(
    embedded: Embedded, store: FalkorStore, graph_name: str
) -> None:
    embedded(*crowd(40, seed=5))
    run = Run(Scope(graph_name), now_s=1.9e9, run_id="first")

    def consolidate(enabled: bool, run: Run) -> Outcome:
        config = HippocampusConfig.model_validate({"interference": {"enabled": enabled}})
        return ConsolidationEngine(store, config, lambda: 0.0).consolidate(run)

    apart = consolidate(False, replace(run, dry_run=True)).thoughts
    near = consolidate(True, run).thoughts
    assert apart is not None and near is not None
    pairs = {frozenset(pair[:2]) for pair in store.near_duplicates(graph_name, 0.85).pairs}
    weaker = near.standing.strength < apart.standing.strength
    weakened = {uuid for uuid, w in zip(near.snapshot.memory_uuids, weaker, strict=True) if w}
    assert 0 < len(weakened) < 40
    assert all(pair & weakened for pair in pairs)
    assert (near.standing.strength[~weaker] == apart.standing.strength[~weaker]).all()
    again = consolidate(True, replace(run, run_id="again"))
    assert again.thoughts is None
    mean = round(float(near.standing.strength.mean()), 4)
    assert again.report.retention.mean_strength == mean
