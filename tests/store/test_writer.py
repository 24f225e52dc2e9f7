"""What Synapse loads into a graph is Graphiti's own shape: Graphiti reads it back."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
import redis
from graphiti_core.edges import EntityEdge, EpisodicEdge
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
from graphiti_core.search.search_filters import SearchFilters
from graphiti_core.search.search_utils import edge_fulltext_search, node_fulltext_search

from synapse.errors import UsageError
from synapse.hippocampus.ports import GraphDocument, MemoryStore
from synapse.store import indices
from synapse.store.indices import create_indices
from tests.support.graphiti_world import UNDER_CONSTRUCTION, World, write

MORNING = "2026-01-05T08:00:00+00:00"
NOON = "2026-01-06T12:00:00.123456+00:00"
ADA, BOB = str(uuid.uuid4()), str(uuid.uuid4())
MONDAY = str(uuid.uuid4())
F1, F2, LOOP, M1 = (str(uuid.uuid4()) for _ in range(4))

DOCUMENT = GraphDocument(
    entities=(
        {
            "uuid": ADA,
            "name": "Ada",
            "group_id": "g",
            "summary": 'writes "engines"',
            "created_at": MORNING,
            "labels": ["Entity", "Person"],
            "age": 36,
            "tags": ["a", "b"],
            "name_embedding": [0.1, 0.2],
        },
        {"uuid": BOB, "name": "Bob", "group_id": "g", "created_at": MORNING},
    ),
    episodes=(
        {
            "uuid": MONDAY,
            "name": "chat",
            "group_id": "g",
            "source": "message",
            "source_description": "a chat",
            "content": "Ada: I know Bob.",
            "created_at": NOON,
            "valid_at": MORNING,
        },
    ),
    facts=(
        {
            "uuid": F1,
            "source_node_uuid": ADA,
            "target_node_uuid": BOB,
            "name": "KNOWS",
            "fact": "Ada knows Bob",
            "group_id": "g",
            "episodes": [MONDAY],
            "created_at": NOON,
            "valid_at": MORNING,
            "invalid_at": NOON,
            "expired_at": NOON,
            "weight": 0.5,
        },
        {
            "uuid": F2,
            "source_node_uuid": ADA,
            "target_node_uuid": BOB,
            "name": "LIKES",
            "fact": "Ada likes Bob",
            "group_id": "g",
            "created_at": NOON,
            "valid_at": None,
        },
        {
            "uuid": LOOP,
            "source_node_uuid": BOB,
            "target_node_uuid": BOB,
            "name": "TRUSTS",
            "fact": "Bob trusts himself",
            "group_id": "g",
            "created_at": NOON,
        },
    ),
    mentions=(
        {
            "uuid": M1,
            "episode_uuid": MONDAY,
            "entity_uuid": ADA,
            "group_id": "g",
            "created_at": NOON,
        },
    ),
)


@pytest.fixture
def client(falkordb_uri: str) -> Iterator[Any]:
    with redis.Redis.from_url(falkordb_uri) as opened:
        yield opened


def rows(client: Any, graph: str, query: str) -> list[list[Any]]:
    found: list[list[Any]] = client.execute_command("GRAPH.RO_QUERY", graph, query)[1]
    return found


def counts(client: Any, graph: str) -> tuple[int, int]:
    return (
        rows(client, graph, "MATCH (n) RETURN count(n)")[0][0],
        rows(client, graph, "MATCH ()-[e]->() RETURN count(e)")[0][0],
    )


def test_graphiti_reads_every_item(store: MemoryStore, falkordb_uri: str, graph_name: str) -> None:
    store.write_memory(graph_name, DOCUMENT)

    async def story(world: World) -> tuple[EntityNode, EntityEdge, EpisodicNode, EpisodicEdge]:
        return (
            await EntityNode.get_by_uuid(world.driver, ADA),
            await EntityEdge.get_by_uuid(world.driver, F1),
            await EpisodicNode.get_by_uuid(world.driver, MONDAY),
            await EpisodicEdge.get_by_uuid(world.driver, M1),
        )

    ada, fact, monday, mention = write(falkordb_uri, graph_name, story)
    morning = datetime(2026, 1, 5, 8, tzinfo=UTC)
    noon = datetime(2026, 1, 6, 12, 0, 0, 123456, tzinfo=UTC)
    assert (ada.name, ada.summary, ada.group_id) == ("Ada", 'writes "engines"', "g")
    assert (ada.created_at, set(ada.labels)) == (morning, {"Entity", "Person"})
    assert ada.attributes == {"age": 36, "tags": ["a", "b"]}
    assert ada.name_embedding is None
    assert (fact.source_node_uuid, fact.target_node_uuid, fact.name) == (ADA, BOB, "KNOWS")
    assert (fact.fact, fact.episodes, fact.created_at) == ("Ada knows Bob", [MONDAY], noon)
    assert (fact.valid_at, fact.invalid_at, fact.expired_at) == (morning, noon, noon)
    assert fact.attributes == {"weight": 0.5}
    assert (monday.name, monday.source, monday.content) == (
        "chat",
        EpisodeType.message,
        "Ada: I know Bob.",
    )
    assert (monday.created_at, monday.valid_at) == (noon, morning)
    assert (monday.entity_edges, monday.source_description) == ([F1], "a chat")
    assert (mention.source_node_uuid, mention.target_node_uuid) == (MONDAY, ADA)


def test_graphiti_finds_it_by_text_and_along_edges(
    store: MemoryStore, falkordb_uri: str, graph_name: str
) -> None:
    store.write_memory(graph_name, DOCUMENT)

    async def story(world: World) -> list[set[str]]:
        driver = world.driver
        anything = SearchFilters()
        facts = await edge_fulltext_search(driver, "likes", anything, group_ids=["g"])
        nodes = await node_fulltext_search(driver, "engines", anything, group_ids=["g"])
        around = await EntityEdge.get_by_node_uuid(driver, BOB)
        said = await EpisodicNode.get_by_entity_node_uuid(driver, ADA)
        return [{item.uuid for item in found} for found in (facts, nodes, around, said)]

    assert write(falkordb_uri, graph_name, story) == [{F2}, {ADA}, {F1, F2, LOOP}, {MONDAY}]


def test_graphiti_saves_over_it(store: MemoryStore, falkordb_uri: str, graph_name: str) -> None:
    store.write_memory(graph_name, DOCUMENT)

    async def story(world: World) -> None:
        ada = await EntityNode.get_by_uuid(world.driver, ADA)
        ada.summary = "changed"
        await ada.generate_name_embedding(world.embedder)
        await ada.save(world.driver)
        fact = await EntityEdge.get_by_uuid(world.driver, F1)
        await fact.generate_embedding(world.embedder)
        await fact.save(world.driver)

    write(falkordb_uri, graph_name, story)
    read = store.read_graph(graph_name)
    assert sorted(read.facts.uuid) == sorted([F1, F2, LOOP])
    assert read.entities.summary[read.entities.uuid.index(ADA)] == "changed"


def test_leaves_what_graphiti_wrote_as_it_is(
    store: MemoryStore, client: Any, falkordb_uri: str, graph_name: str
) -> None:
    async def story(world: World) -> None:
        ada = await world.entity("Ada", uuid=ADA, summary="Graphiti's own")
        await world.fact(ada, "KNOWS", ada, "Ada knows herself", uuid=F1)

    write(falkordb_uri, graph_name, story)
    everything = "MATCH (n {{uuid: '{0}'}}) RETURN n", "MATCH ()-[e {{uuid: '{0}'}}]->() RETURN e"
    queries = [query.format(item) for query, item in zip(everything, (ADA, F1), strict=True)]
    before = [rows(client, graph_name, query) for query in queries]
    store.write_memory(graph_name, DOCUMENT)
    assert [rows(client, graph_name, query) for query in queries] == before
    assert counts(client, graph_name) == (3, 4)


def test_the_indices_are_those_of_graphiti(
    store: MemoryStore, client: Any, falkordb_uri: str, graph_name: str
) -> None:
    async def story(world: World) -> None:
        """Graphiti creates its indices by itself."""

    theirs = graph_name + "-theirs"
    write(falkordb_uri, theirs, story)
    create_indices(client, graph_name)
    assert rows(client, graph_name, UNDER_CONSTRUCTION) == []
    create_indices(client, graph_name)
    query = (
        "CALL db.indexes() YIELD label, properties, types, language, stopwords, entitytype "
        "RETURN label, properties, types, language, stopwords, entitytype"
    )
    try:
        assert sorted(rows(client, graph_name, query)) == sorted(rows(client, theirs, query))
    finally:
        client.execute_command("GRAPH.DELETE", theirs)


def test_indices_are_waited_for_while_there_is_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    left_counts, pauses_s = [3, 2, 0], []
    monkeypatch.setattr(indices.time, "sleep", pauses_s.append)
    assert indices.are_built(lambda *_: [[], [[left_counts.pop(0)]], []], "g", patience_s=1.0)
    assert len(pauses_s) == 2
    pauses_s.clear()
    assert not indices.are_built(lambda *_: [[], [[1]], []], "g", patience_s=1.0)
    assert len(pauses_s) > 5 and sum(pauses_s) == pytest.approx(1.0)


def test_loading_into_a_graph_twice_adds_nothing(
    store: MemoryStore, client: Any, graph_name: str
) -> None:
    store.write_memory(graph_name, DOCUMENT)
    assert counts(client, graph_name) == (3, 4)
    store.write_memory(graph_name, DOCUMENT)
    store.write_memory(graph_name, replace(DOCUMENT, entities=(), episodes=()))
    assert counts(client, graph_name) == (3, 4)


def test_a_refused_document_creates_no_graph(
    store: MemoryStore, client: Any, graph_name: str
) -> None:
    with pytest.raises(UsageError):
        store.write_memory(graph_name, replace(DOCUMENT, entities=DOCUMENT.entities[:1]))
    assert client.exists(graph_name) == 0


def test_labels_properties_and_values_arrive_as_they_are(
    store: MemoryStore, client: Any, graph_name: str
) -> None:
    properties = {
        "spaced key": 'a "b" \\',
        'd"q': "`",
        "yes": True,
        "no": False,
        "big": 2**63 - 1,
        "small": -(2**63),
        "tiny": 1.5e-7,
        "huge": 1e308,
        "mixed": ["x", 1, 2.5, True],
        "empty": "",
        "none": None,
    }
    ada = {"uuid": "ada", "labels": ["_A1", "Entity", "Person", "_A1"], **properties}
    store.write_memory(graph_name, GraphDocument(entities=(ada,)))
    ((node,),) = rows(client, graph_name, "MATCH (n:Entity:Person:_A1) RETURN n")
    kept = {k.decode(): v for k, v in dict(node)[b"properties"]}
    assert {name: kept[name] for name in properties if name in kept} == {
        "spaced key": b'a "b" \\',
        'd"q': b"`",
        "yes": b"true",
        "no": b"false",
        "big": 2**63 - 1,
        "small": -(2**63),
        "tiny": b"1.5e-07",
        "huge": b"1e+308",
        "mixed": b"[x, 1, 2.500000, true]",
        "empty": b"",
    }
    assert "labels" not in kept


def test_many_parallel_facts_on_one_hub(store: MemoryStore, client: Any, graph_name: str) -> None:
    """More than one batch of each kind, in a few seconds."""
    names = [f"entity {i}" for i in range(1200)]
    said = [f"episode {i}" for i in range(600)]
    document = GraphDocument(
        entities=tuple(
            {"uuid": n, "name": n, "labels": ["City"] * (i % 2)} for i, n in enumerate(names)
        ),
        episodes=tuple({"uuid": e, "content": "x" * 3000} for e in said),
        facts=tuple(
            {
                "uuid": f"fact {i}",
                "source_node_uuid": names[0],
                "target_node_uuid": names[i % 3],
                "fact": "text",
                "episodes": [said[i % 600]],
            }
            for i in range(5000)
        ),
        mentions=tuple(
            {"uuid": f"m {i}", "episode_uuid": said[i % 600], "entity_uuid": names[i % 1200]}
            for i in range(1800)
        ),
    )
    start_s = time.perf_counter()
    store.write_memory(graph_name, document)
    took_s = time.perf_counter() - start_s
    assert counts(client, graph_name) == (1800, 6800)
    assert rows(client, graph_name, "MATCH (n:City) RETURN count(n)") == [[600]]
    assert len(store.read_graph(graph_name).facts) == 5000
    assert took_s < 30
