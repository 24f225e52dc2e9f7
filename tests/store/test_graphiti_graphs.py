"""Graphs that Graphiti wrote are read back as Graphiti meant them, old versions included."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from redis import Redis

from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.ports import MemoryStore
from synapse.store.embedded import EmbeddedServer

pytest.importorskip("graphiti_core")

from tests.support.graphiti_world import Fact, World, write
from tests.support.processes import kill_once_on_disk

MONDAY = datetime(2026, 3, 2, 9, 30, 15, 123456, tzinfo=UTC)
TUESDAY = MONDAY + timedelta(days=1)


def facts_of(snapshot: GraphSnapshot) -> dict[str, dict[str, Any]]:
    """Every fact by its text, with names and uuids in place of row numbers."""
    facts, entities, episodes = snapshot.facts, snapshot.entities, snapshot.episodes
    return {
        facts.text[row]: {
            "uuid": facts.uuid[row],
            "relation": facts.relation[row],
            "ends": (entities.name[facts.source[row]], entities.name[facts.target[row]]),
            "created_at": facts.created_at_s[row],
            "valid_at": facts.valid_at_s[row],
            "invalid_at": facts.invalid_at_s[row],
            "expired_at": facts.expired_at_s[row],
            "episodes": [episodes.uuid[e] for e in facts.episodes[row].tolist()],
        }
        for row in range(len(facts))
    }


def mentions_of(snapshot: GraphSnapshot) -> Counter[tuple[str, str]]:
    """How often each episode mentions each entity, by episode uuid and entity name."""
    rows = zip(snapshot.mentions.episode.tolist(), snapshot.mentions.entity.tolist(), strict=True)
    episodes, entities = snapshot.episodes.uuid, snapshot.entities.name
    return Counter((episodes[e], entities[n]) for e, n in rows)


def unknown(value: float) -> bool:
    return bool(np.isnan(value))


# --- written by today's Graphiti -----------------------------------------------------------------


def test_an_episode_is_read_back_whole(
    falkordb_uri: str, graph_name: str, store: MemoryStore
) -> None:
    async def story(world: World) -> tuple[str, datetime]:
        result = await world.episode(
            "Alice uses PostgreSQL and likes it; Bob listens.",
            at=MONDAY,
            facts=[
                Fact("Alice", "USES", "PostgreSQL", "Alice uses PostgreSQL"),
                Fact("Alice", "LIKES", "PostgreSQL", "Alice likes PostgreSQL", valid_at=None),
            ],
            entities=["Bob"],
        )
        return result.episode.uuid, result.episode.created_at

    episode, created_at = write(falkordb_uri, graph_name, story)
    snapshot = store.read_graph(graph_name)
    assert snapshot.graph == graph_name
    assert sorted(snapshot.entities.name) == ["Alice", "Bob", "PostgreSQL"]
    assert snapshot.entities.labels == [(), (), ()]
    assert snapshot.group_ids() == {graph_name}
    assert snapshot.episodes.uuid == [episode]
    assert snapshot.episodes.valid_at_s.tolist() == [MONDAY.timestamp()]
    assert snapshot.episodes.created_at_s.tolist() == [created_at.timestamp()]
    facts = facts_of(snapshot)
    assert set(facts) == {"Alice uses PostgreSQL", "Alice likes PostgreSQL"}
    uses, likes = facts["Alice uses PostgreSQL"], facts["Alice likes PostgreSQL"]
    assert (uses["relation"], uses["ends"]) == ("USES", ("Alice", "PostgreSQL"))
    assert uses["episodes"] == likes["episodes"] == [episode]
    assert uses["valid_at"] == MONDAY.timestamp()
    assert unknown(uses["invalid_at"])
    assert unknown(uses["expired_at"])
    assert unknown(likes["valid_at"])
    assert mentions_of(snapshot) == {
        (episode, "Alice"): 1,
        (episode, "Bob"): 1,
        (episode, "PostgreSQL"): 1,
    }
    assert snapshot.left_out == {}


def test_a_repeated_fact_is_one_fact_with_both_episodes(
    falkordb_uri: str, graph_name: str, store: MemoryStore
) -> None:
    async def story(world: World) -> list[str]:
        known = Fact("Alice", "USES", "Redis", "Alice uses Redis")
        reworded = Fact("Alice", "USES", "Redis", "Redis is what Alice uses", repeats=[known.text])
        texts = [("Monday", known), ("Tuesday, verbatim", known), ("Wednesday", reworded)]
        said = [await world.episode(text, facts=[fact]) for text, fact in texts]
        return [result.episode.uuid for result in said]

    episodes = write(falkordb_uri, graph_name, story)
    facts = facts_of(store.read_graph(graph_name))
    assert set(facts) == {"Alice uses Redis"}
    assert facts["Alice uses Redis"]["episodes"] == episodes


def test_graphiti_invalidates_what_a_later_episode_contradicts(
    falkordb_uri: str, graph_name: str, store: MemoryStore
) -> None:
    async def story(world: World) -> tuple[datetime, datetime]:
        old = Fact("Service", "USES", "PostgreSQL", "The service uses PostgreSQL")
        await world.episode("The service uses PostgreSQL.", at=MONDAY, facts=[old])
        before = datetime.now(UTC)
        await world.episode(
            "The service moved to MySQL.",
            at=TUESDAY,
            facts=[
                Fact("Service", "USES", "MySQL", "The service uses MySQL", contradicts=[old.text]),
            ],
        )
        return before, datetime.now(UTC)

    before, after = write(falkordb_uri, graph_name, story)
    facts = facts_of(store.read_graph(graph_name))
    old, new = facts["The service uses PostgreSQL"], facts["The service uses MySQL"]
    assert old["invalid_at"] == new["valid_at"] == TUESDAY.timestamp()
    assert before.timestamp() <= old["expired_at"] <= after.timestamp()
    assert unknown(new["invalid_at"])
    assert unknown(new["expired_at"])
    assert len(old["episodes"]) == 1


def test_parallel_facts_and_self_loops_are_all_there(
    falkordb_uri: str, graph_name: str, store: MemoryStore
) -> None:
    async def story(world: World) -> None:
        alice, bob = await world.entity("Alice"), await world.entity("Bob")
        for n in range(12):
            await world.fact(alice, "KNOWS", bob, f"fact {n}", valid_at=MONDAY)
        await world.fact(bob, "KNOWS", alice, "the other way round")
        for n in range(3):
            await world.fact(alice, "KNOWS", alice, f"loop {n}")

    write(falkordb_uri, graph_name, story)
    facts = facts_of(store.read_graph(graph_name))
    assert Counter(fact["ends"] for fact in facts.values()) == {
        ("Alice", "Bob"): 12,
        ("Bob", "Alice"): 1,
        ("Alice", "Alice"): 3,
    }


def test_save_and_add_triplet_are_read_like_episodes(
    falkordb_uri: str, graph_name: str, store: MemoryStore
) -> None:
    async def story(world: World) -> str:
        carol = await world.entity("Carol", labels=["Person"], summary="A colleague.")
        dan = await world.entity("Dan", created_at=TUESDAY)
        episode = await world.bare_episode("Carol met Dan.", at=MONDAY)
        await world.mention(episode, carol)
        await world.mention(episode, dan)
        await world.fact(
            carol,
            "MET",
            dan,
            "Carol met Dan",
            episodes=[episode.uuid, "an-episode-that-is-gone", episode.uuid],
            valid_at=MONDAY,
            invalid_at=TUESDAY,
            expired_at=TUESDAY,
        )
        await world.triplet(carol, Fact("", "TRUSTS", "", "Carol trusts Dan", MONDAY), dan)
        return episode.uuid

    episode = write(falkordb_uri, graph_name, story)
    snapshot = store.read_graph(graph_name)
    carol, dan = (snapshot.entities.name.index(name) for name in ("Carol", "Dan"))
    assert snapshot.entities.labels[carol] == ("Person",)
    assert snapshot.entities.summary[carol] == "A colleague."
    assert snapshot.entities.created_at_s[dan] == TUESDAY.timestamp()
    facts = facts_of(snapshot)
    assert facts["Carol met Dan"]["episodes"] == [episode]
    assert facts["Carol met Dan"]["invalid_at"] == TUESDAY.timestamp()
    assert facts["Carol met Dan"]["expired_at"] == TUESDAY.timestamp()
    assert facts["Carol trusts Dan"]["episodes"] == []
    assert facts["Carol trusts Dan"]["valid_at"] == MONDAY.timestamp()
    assert mentions_of(snapshot) == {(episode, "Carol"): 1, (episode, "Dan"): 1}


def test_sagas_and_communities_are_no_memories(
    falkordb_uri: str, graph_name: str, store: MemoryStore
) -> None:
    async def story(world: World) -> None:
        for day, at in (("Monday", MONDAY), ("Tuesday", TUESDAY)):
            fact = Fact("Alice", "MET", f"Guest {day}", f"Alice met a guest on {day}")
            await world.episode(f"On {day} Alice met a guest.", at=at, facts=[fact], saga="Visits")
        await world.graphiti.build_communities(group_ids=[world.stored_group])

    write(falkordb_uri, graph_name, story)
    snapshot = store.read_graph(graph_name)
    assert sorted(snapshot.entities.name) == ["Alice", "Guest Monday", "Guest Tuesday"]
    assert len(snapshot.facts) == 2
    assert len(snapshot.episodes) == 2
    assert len(snapshot.mentions) == 4


def test_the_default_group_lives_in_default_db_under_every_spelling(
    new_server: Callable[..., EmbeddedServer],
) -> None:
    # On a server of its own: Graphiti looks for the default group in default_db, whatever graph
    # it was told to write.
    from synapse.store import open_store

    async def story(world: World) -> None:
        fact = Fact("Alice", "USES", "Redis", "Alice uses Redis")
        await world.episode("Alice uses Redis.", facts=[fact])

    server = new_server()
    write(server.uri, "default_db", story, group_id=None)
    with closing(open_store(server.uri)) as store:
        assert store.graphs() == ["default_db"]
        snapshot = store.read_graph("default_db")
    assert snapshot.group_ids() == {"_"}
    for spelling in ("", "_", "\\_"):
        part = snapshot.only_group(spelling)
        assert (len(part.entities), len(part.facts), len(part.mentions)) == (2, 1, 2)
    assert len(snapshot.only_group("another").entities) == 0


def test_a_stray_of_another_group_is_kept_apart(
    falkordb_uri: str, graph_name: str, store: MemoryStore
) -> None:
    async def story(world: World) -> None:
        alice, bob = [await world.entity(name, group_id="tenant") for name in ("Alice", "Bob")]
        edge = world.edge(alice, "KNOWS", bob, "Alice knows Bob", {"group_id": "tenant"})
        await world.graphiti.add_triplet(alice, edge, bob)
        await world.fact(await world.entity("Carol"), "KNOWS", alice, "Carol knows Alice")

    write(falkordb_uri, graph_name, story)
    snapshot = store.read_graph(graph_name)
    assert snapshot.group_ids() == {"tenant", graph_name}
    assert snapshot.only_group("tenant").facts.text == ["Alice knows Bob"]
    # A fact across groups belongs to neither.
    assert snapshot.only_group(graph_name).facts.text == []
    assert snapshot.only_group(graph_name).entities.name == ["Carol"]


def test_texts_are_data(falkordb_uri: str, graph_name: str, store: MemoryStore) -> None:
    texts = [
        'it\'s "quoted" \\ and {braced}',
        "🧠 naïve\n\ttext",
        "x\x1ey\x1fz",
        "', '",
        "ä" * 9999,
    ]

    async def story(world: World) -> None:
        alice = await world.entity(texts[0], summary=texts[1])
        for text in texts:
            await world.fact(alice, "SAYS", alice, text)

    write(falkordb_uri, graph_name, story)
    snapshot = store.read_graph(graph_name)
    assert sorted(snapshot.facts.text) == sorted(texts)
    assert snapshot.entities.name == [texts[0]]
    assert snapshot.entities.summary == [texts[1]]


def test_what_graphiti_wrote_survives_a_killed_server(
    new_server: Callable[..., EmbeddedServer],
) -> None:
    from synapse.store import open_store

    async def story(world: World) -> None:
        old = Fact("Alice", "LIVES_IN", "Paris", "Alice lives in Paris")
        new = Fact("Alice", "LIVES_IN", "Rome", "Alice lives in Rome", contradicts=[old.text])
        await world.episode("Alice lives in Paris.", at=MONDAY, facts=[old])
        await world.episode("Alice lives in Rome now.", at=TUESDAY, facts=[new])

    def read(server: EmbeddedServer) -> tuple[Any, ...]:
        with closing(open_store(server.uri)) as store:
            snapshot = store.read_graph("g")
        # As text, because NaN does not equal itself.
        return repr(facts_of(snapshot)), mentions_of(snapshot)

    server = new_server()
    write(server.uri, "g", story)
    before = read(server)
    assert before[0].count("Alice lives in") == 2
    kill_once_on_disk(server)
    assert read(server.start()) == before


def test_an_empty_graph_is_empty(falkordb_uri: str, graph_name: str, store: MemoryStore) -> None:
    async def story(world: World) -> None:
        await world.cypher("RETURN 1")  # the indices alone

    write(falkordb_uri, graph_name, story)
    snapshot = store.read_graph(graph_name)
    assert len(snapshot.memory_uuids) == len(snapshot.episodes) == len(snapshot.mentions) == 0


# --- written by older versions -------------------------------------------------------------------


def cypher(connection: Any, graph: str, query: str) -> None:
    connection.execute_command("GRAPH.QUERY", graph, query)


def old_fact(connection: Redis, graph: str, properties: str, labels: str = "['Entity']") -> None:
    """One fact and its episode in the shape that Graphiti 0.17 to 0.29 left behind."""
    cypher(
        connection,
        graph,
        f"""CREATE (a:Entity {{uuid: 'a', name: 'Alice', group_id: '\\\\_', summary: '',
                   labels: {labels}, created_at: '2024-05-01T10:00:00.5+00:00'}}),
                   (b:Entity:Tool {{uuid: 'b', name: 'Redis', group_id: '\\\\_', summary: '',
                   labels: ['Entity', 'Tool'], created_at: '2024-05-01T10:00:00+00:00'}}),
                   (s:Episodic {{uuid: 's', name: 'said', group_id: '\\\\_', source: 'message',
                   source_description: '', content: 'Alice uses Redis', entity_edges: ['f'],
                   created_at: '2024-05-01T10:00:00+00:00',
                   valid_at: '2024-05-01T05:30:00+05:30'}}),
                   (s)-[:MENTIONS {{uuid: 'm', group_id: '\\\\_',
                   created_at: '2024-05-01T10:00:00+00:00'}}]->(a),
                   (a)-[:RELATES_TO {{uuid: 'f', name: 'USES', fact: 'Alice uses Redis',
                   group_id: '\\\\_', episodes: ['s'], {properties}}}]->(b)""",
    )


def test_an_old_graph_needs_neither_reference_time_nor_saga(
    connection: Redis, graph_name: str, store: MemoryStore
) -> None:
    old_fact(connection, graph_name, "created_at: '2024-05-01T10:00:00+00:00'")
    snapshot = store.read_graph(graph_name)
    assert snapshot.group_ids() == {"\\_"}
    labels = dict(zip(snapshot.entities.name, snapshot.entities.labels, strict=True))
    assert labels == {"Alice": (), "Redis": ("Tool",)}
    assert snapshot.episodes.valid_at_s.tolist() == [
        datetime(2024, 5, 1, tzinfo=UTC).timestamp()  # 05:30 at +05:30 is midnight
    ]
    fact = facts_of(snapshot)["Alice uses Redis"]
    assert fact["ends"] == ("Alice", "Redis")
    assert fact["episodes"] == ["s"]
    assert mentions_of(snapshot) == {("s", "Alice"): 1}
    assert len(snapshot.only_group("_").facts) == 1


@pytest.mark.parametrize(
    ("stamp", "moment"),
    [
        ("2024-05-01T10:00:00+00:00", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("2024-05-01T10:00:00Z", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("2024-05-01T15:30:00+05:30", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("2024-05-01T03:00:00-07:00", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("2024-05-01T10:00:00", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("2024-05-01T10:00:00.250000+00:00", datetime(2024, 5, 1, 10, 0, 0, 250000, UTC)),
        ("2024-05-01T10:00:00.250000", datetime(2024, 5, 1, 10, 0, 0, 250000, UTC)),
        ("2024-05-01", datetime(2024, 5, 1, tzinfo=UTC)),
        ("", None),
        ("soon", None),
    ],
)
def test_every_stamp_of_the_past_is_understood(
    stamp: str, moment: datetime | None, connection: Redis, graph_name: str, store: MemoryStore
) -> None:
    dates = ", ".join(f"{key}: '{stamp}'" for key in ("valid_at", "invalid_at", "expired_at"))
    old_fact(connection, graph_name, f"created_at: '2024-05-01T10:00:00+00:00', {dates}")
    fact = facts_of(store.read_graph(graph_name))["Alice uses Redis"]
    expected = nan if moment is None else moment.timestamp()
    for key in ("valid_at", "invalid_at", "expired_at"):
        assert fact[key] == pytest.approx(expected, abs=1e-6, nan_ok=True)


def test_a_graph_without_dates_or_episode_lists_is_read(
    connection: Redis, graph_name: str, store: MemoryStore
) -> None:
    cypher(
        connection,
        graph_name,
        "CREATE (a:Entity {uuid: 'a', name: 'A'})-[:RELATES_TO {uuid: 'f', fact: 'A is A'}]->(a)",
    )
    snapshot = store.read_graph(graph_name)
    assert snapshot.facts.text == ["A is A"]
    assert snapshot.facts.episodes[0].tolist() == []
    assert unknown(snapshot.facts.created_at_s[0])
    assert unknown(snapshot.entities.created_at_s[0])
    assert snapshot.group_ids() == {""}


# --- a real memory -------------------------------------------------------------------------------


def test_a_real_memory_of_july_2025(
    new_server: Callable[..., EmbeddedServer], shared_data: Path, tmp_path: Path
) -> None:
    from synapse.store import open_store

    folder = shared_data / "graphiti_real"
    shutil.copyfile(folder / "july.rdb", tmp_path / "dump.rdb")
    with closing(open_store(new_server(tmp_path).uri)) as store:
        assert "graphiti_migration" in store.graphs()
        snapshot = store.read_graph("graphiti_migration")
    counts = (len(snapshot.entities), len(snapshot.episodes), len(snapshot.facts))
    assert counts == (393, 686, 309)

    exported = _lines(folder / "july.edges.jsonl")
    uuids = snapshot.entities.uuid
    assert {
        snapshot.facts.uuid[row]: (
            snapshot.facts.relation[row],
            uuids[snapshot.facts.source[row]],
            uuids[snapshot.facts.target[row]],
        )
        for row in range(len(snapshot.facts))
    } == {
        edge["uuid"]: (edge["name"], edge["source_node_uuid"], edge["target_node_uuid"])
        for edge in exported
    }
    for key in ("created_at", "valid_at", "invalid_at", "expired_at"):
        column = dict(zip(snapshot.facts.uuid, getattr(snapshot.facts, f"{key}_s"), strict=True))
        for edge in exported:
            stamp = edge.get(key)
            expected = datetime.fromisoformat(stamp).timestamp() if stamp else nan
            assert column[edge["uuid"]] == pytest.approx(expected, abs=1e-6, nan_ok=True)
    names = dict(zip(uuids, snapshot.entities.name, strict=True))
    assert mentions_of(snapshot) == Counter(
        (mention["episode"], names[mention["entity"]])
        for mention in _lines(folder / "july.mentions.jsonl")
    )


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]
