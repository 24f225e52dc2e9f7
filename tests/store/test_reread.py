"""An unchanged graph is recognised by its digest; a changed one never is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.cluster import RedisCluster

from synapse.hippocampus.model import GraphOutline, GraphSnapshot
from synapse.store import columns
from synapse.store.collector import Collector
from synapse.store.connection import Connection, connect
from synapse.store.reader import read_graph, read_graph_unless
from synapse.store.table import Part
from synapse.store.wire import held_wire
from tests.store.test_reader import ENTITIES, FACTS, HOSTILE, Watched, write, write_hub

GRAPH = """
CREATE (a:Entity:Person {uuid: 'a', name: 'Ada', summary: 'S', group_id: 'g', created_at: $t}),
(b:Entity {uuid: 'b', name: 'Bob', labels: ['Pilot']}),
(e:Episodic {uuid: 'e', group_id: 'g', created_at: $t, valid_at: $t})-[:MENTIONS]->(a),
(:Episodic {uuid: 'd'}), (:Entity {name: 'left out'}),
(a)-[:RELATES_TO {uuid: 'f', name: 'KNOWS', fact: 'F', group_id: 'g', episodes: ['e', 'd'],
created_at: $t, valid_at: $t, invalid_at: $t, expired_at: $t}]->(b)
"""
AT = "2026-01-01T00:00:00+00:00"


@pytest.fixture
def client(falkordb_uri: str) -> Iterator[Connection]:
    connection = connect(falkordb_uri, answer_within_s=60)
    yield connection
    connection.close()


def assert_same(one: object, other: object) -> None:
    np.testing.assert_equal(asdict(one), asdict(other))  # type: ignore[call-overload]


def assert_rereads(client: Connection, graph: str) -> GraphSnapshot:
    """Both answers of ``read_graph_unless`` are what ``read_graph`` gives."""
    read = read_graph(client, graph)
    outline = read_graph_unless(client, graph, read.digest)
    assert isinstance(outline, GraphOutline)
    assert_same(outline, read.outline())
    assert_same(read_graph_unless(client, graph, "another"), read)
    return read


# --- what changes the digest, and what does not ---------------------------------------------------

CHANGES = [
    *(f"MATCH (n:Entity {{uuid: 'a'}}) SET n.{name} = 'new'" for name in ("uuid", "name")),
    *(f"MATCH (n:Entity {{uuid: 'a'}}) SET n.{name} = 'new'" for name in ("summary", "group_id")),
    "MATCH (n:Entity {uuid: 'a'}) SET n.created_at = '2026-01-01T00:00:00.000001+00:00'",
    "MATCH (n:Entity {uuid: 'a'}) REMOVE n.created_at",
    "MATCH (n:Entity {uuid: 'a'}) SET n:Author",
    "MATCH (n:Entity {uuid: 'b'}) SET n.labels = ['Pilot', 'Tool']",
    "MATCH (n:Entity {uuid: 'b'}) REMOVE n:Entity",
    *(f"MATCH (n:Episodic {{uuid: 'e'}}) SET n.{name} = 'new'" for name in ("uuid", "group_id")),
    *(f"MATCH (n:Episodic {{uuid: 'e'}}) SET n.{at} = 'new'" for at in ("created_at", "valid_at")),
    *(f"MATCH ()-[x:RELATES_TO]->() SET x.{name} = 'new'" for name in ("uuid", "name", "fact")),
    *(f"MATCH ()-[x:RELATES_TO]->() SET x.{name} = 'new'" for name in ("group_id", "created_at")),
    *(f"MATCH ()-[x:RELATES_TO]->() REMOVE x.{at}" for at in ("valid_at", "invalid_at")),
    "MATCH ()-[x:RELATES_TO]->() REMOVE x.expired_at",
    "MATCH ()-[x:RELATES_TO]->() SET x.episodes = ['d', 'e']",
    "MATCH ()-[x:RELATES_TO]->() SET x.episodes = ['e']",
    "MATCH ()-[x:RELATES_TO]->() SET x.episodes = []",
    "MATCH ()-[x:RELATES_TO]->() DELETE x",
    "MATCH (a)-[x:RELATES_TO]->(b) CREATE (a)-[y:RELATES_TO]->(b) SET y = properties(x)",
    "MATCH (a)-[x:RELATES_TO]->(b) CREATE (b)-[y:RELATES_TO]->(a) SET y = properties(x) DELETE x",
    "MATCH ()-[x:MENTIONS]->() DELETE x",
    "MATCH (e)-[:MENTIONS]->(a) CREATE (e)-[:MENTIONS]->(a)",
    "MATCH (n:Entity {name: 'left out'}) DELETE n",
    "CREATE (:Entity {uuid: 'z'})",
    "CREATE (:Episodic {uuid: 'z'})",
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_noticed(client: Connection, graph_name: str, change: str) -> None:
    write(client, graph_name, GRAPH, t=AT)
    before = assert_rereads(client, graph_name)
    write(client, graph_name, change)
    after = read_graph_unless(client, graph_name, before.digest)
    assert isinstance(after, GraphSnapshot)
    assert after.digest != before.digest
    assert_rereads(client, graph_name)


def test_what_is_not_read_does_not_count(client: Connection, graph_name: str) -> None:
    write(client, graph_name, GRAPH, t=AT)
    before = read_graph(client, graph_name).digest
    write(client, graph_name, "MATCH (n) SET n.name_embedding = vecf32([0.5]), n.own = 'word'")
    write(client, graph_name, "CREATE (:Community {uuid: 'c'})-[:HAS_MEMBER]->(:Saga)")
    assert read_graph(client, graph_name).digest == before


LOOKALIKES = [
    "CREATE (:Entity {uuid: 'u', name: 'a\x1fb', summary: 'c'})",
    "CREATE (:Entity {uuid: 'u', name: 'a', summary: 'b\x1fc'})",
    "CREATE (:Entity {uuid: 'u', name: 'a', summary: 'b', labels: ['c']})",
    "CREATE (:Entity {uuid: 'u', labels: ['a', 'b']})",
    "CREATE (:Entity {uuid: 'u', labels: ['a\x1eb']})",
    "CREATE (:Entity {uuid: 'u', labels: ['a\x1fb']})",
    "CREATE (:Entity {uuid: 'u\x1fv'}), (:Entity {uuid: ''})",
    "CREATE (:Entity {uuid: 'u'}), (:Entity {uuid: 'v\x1f'})",
    "CREATE (:Entity {uuid: ''}), (:Entity {uuid: 'u\x1fv'})",
    "CREATE (:Entity {uuid: 'u\x1fv'})",
    "CREATE (:Entity {uuid: 'u', name: 'x\x1e', summary: 'y'})",
    "CREATE (:Entity {uuid: 'u', name: 'x', summary: '\x1ey'})",
]


def test_graphs_that_look_alike_when_joined_differ(client: Connection, graph_name: str) -> None:
    digests = set()
    for query in LOOKALIKES:
        client.delete(graph_name)
        write(client, graph_name, query)
        digests.add(assert_rereads(client, graph_name).digest)
    assert len(digests) == len(LOOKALIKES)


# --- how it was read makes no difference ----------------------------------------------------------


@pytest.mark.parametrize("odd", ["", 7, "fields \x1f apart", "items \x1e apart"])
def test_the_same_whatever_the_steps(
    client: Connection, graph_name: str, monkeypatch: pytest.MonkeyPatch, odd: object
) -> None:
    write(client, graph_name, ENTITIES, n=700)
    write(client, graph_name, "MATCH (n:Entity {uuid: 'n400'}) SET n.name = $odd", odd=odd)
    write(
        client,
        graph_name,
        """MATCH (a:Entity) MATCH (b:Entity) WHERE ID(b) % 89 = ID(a) % 83
        CREATE (a)-[:RELATES_TO {uuid: a.uuid + b.uuid, name: $odd, episodes: [a.uuid, $odd]}]->(b)
        CREATE (:Episodic {uuid: a.uuid})-[:MENTIONS]->(b)""",
        odd=odd,
    )
    write(client, graph_name, "MATCH (a)-[x:RELATES_TO]->() WHERE ID(a) > 5 SET x.name = 'R'")
    wide = assert_rereads(client, graph_name)
    for step in (1, 50):
        monkeypatch.setattr(columns, "FIRST_STEP", step)
        monkeypatch.setattr(columns, "LARGEST_STEP", 3 * step)
        assert_same(read_graph(client, graph_name), wide)


@pytest.mark.parametrize("largest", [100_000, 500], ids=["shares", "target ranges"])
def test_the_same_whether_or_not_a_hub_is_divided(
    client: Connection, graph_name: str, monkeypatch: pytest.MonkeyPatch, largest: int
) -> None:
    write(client, graph_name, ENTITIES, n=2_000)
    for time in "xy":
        write_hub(client, graph_name, time, copies=5)
    monkeypatch.setattr(columns, "LIMIT_MS", 10_000)
    whole = read_graph(client, graph_name)
    monkeypatch.setattr(columns, "LIMIT_MS", 1)
    monkeypatch.setattr(columns, "LINKS_PER_SHARE", 3_000)
    monkeypatch.setattr(columns, "LARGEST_HUB_LINKS", largest)
    watched = Watched(client)
    assert_same(read_graph(watched, graph_name), whole)  # type: ignore[arg-type]
    assert any("ID(a) = $source" in query for _, _, query, *_ in watched.asked)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts(client: Connection, graph_name: str, text: str) -> None:
    write(
        client,
        graph_name,
        """CREATE (a:Entity {uuid: $t, name: $t})-[:RELATES_TO {uuid: $t, fact: $t, name: $t,
        episodes: [$t, 'e']}]->(a), (:Episodic {uuid: $t})-[:MENTIONS]->(a)""",
        t=text,
    )
    assert_rereads(client, graph_name)


UUIDS = st.sampled_from(["", "a", "b", "c", "d", "\x1f", "e\x1ef", "é"])
WORDS = st.text(alphabet="aB \x1e\x1fé'\\", max_size=4)
NODES = st.lists(st.tuples(UUIDS, WORDS, st.sampled_from(["Entity", "Episodic"])), max_size=6)
LINKS = st.lists(
    st.tuples(
        st.integers(0, 5), st.integers(0, 5), UUIDS, WORDS, st.lists(UUIDS, max_size=3),
        st.sampled_from(["RELATES_TO", "MENTIONS"]),
    ),
    max_size=8,
)  # fmt: skip


@given(NODES, LINKS)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_graph(client: Connection, graph_name: str, nodes: Any, links: Any) -> None:
    client.delete(graph_name)
    write(client, graph_name, "CREATE (:Community)")
    for uuid, name, label in nodes:
        write(client, graph_name, f"CREATE (:{label} {{uuid: $u, name: $n}})", u=uuid, n=name)
    for source, target, uuid, fact, episodes, kind in links:
        write(
            client,
            graph_name,
            f"""MATCH (a) WHERE ID(a) = $a + 1 MATCH (b) WHERE ID(b) = $b + 1
            CREATE (a)-[:{kind} {{uuid: $u, fact: $f, episodes: $e}}]->(b)""",
            a=source,
            b=target,
            u=uuid,
            f=fact,
            e=episodes,
        )
    assert_rereads(client, graph_name)


# --- asking ahead ---------------------------------------------------------------------------------


def test_a_failure_while_a_query_is_under_way_leaves_the_client_usable(
    falkordb_uri: str, graph_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Collector, part: Part) -> None:
        raise MemoryError

    with redis.Redis.from_url(falkordb_uri, max_connections=1, protocol=2) as client:
        write(client, graph_name, ENTITIES, n=600)
        read = read_graph(client, graph_name)
        with monkeypatch.context() as patch:
            patch.setattr(Collector, "add", fail)
            with pytest.raises(MemoryError):
                read_graph(client, graph_name)
            with pytest.raises(MemoryError):  # the connection is closed before it is given back
                read_graph(Watched(client), graph_name)  # type: ignore[arg-type]
        assert client.ping() is True, "and not the answer to the query before"
        assert_same(read_graph(client, graph_name), read)


def test_a_refused_query_leaves_the_client_usable(falkordb_uri: str, graph_name: str) -> None:
    with redis.Redis.from_url(falkordb_uri, max_connections=1, protocol=2) as client:
        client.set(graph_name, "text")
        with pytest.raises(redis.ResponseError):
            read_graph(client, graph_name)
        assert client.get(graph_name) == b"text"


def test_others_get_through_while_an_answer_waits(
    client: Connection, graph_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(client, graph_name, ENTITIES, n=3_000)
    write(client, graph_name, FACTS, n=500)
    collect, got_through = Collector.add, []

    def add(self: Collector, part: Part) -> None:
        write(client, graph_name, "CREATE (:Community)")
        got_through.append(client.ping())
        collect(self, part)

    monkeypatch.setattr(Collector, "add", add)
    watched = Watched(client)
    assert len(read_graph(watched, graph_name).facts) == 500  # type: ignore[arg-type]
    assert len(got_through) > 8 and all(got_through)


def test_the_next_range_is_asked_for_before_an_answer_is_read(
    client: Connection, graph_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(client, graph_name, ENTITIES, n=3_000)
    collect, asked_counts = Collector.add, []

    def add(self: Collector, part: Part) -> None:
        asked_counts.append(len([q for q in watched.asked if "low=" in q[2]]))
        collect(self, part)

    monkeypatch.setattr(Collector, "add", add)
    watched = Watched(client)
    read_graph(watched, graph_name)  # type: ignore[arg-type]
    ranges = [query for _, _, query, *_ in watched.asked if "low=" in query]
    assert len(ranges) == len(set(ranges)), "no range is asked for twice"
    assert any(count >= place + 3 for place, count in enumerate(asked_counts))


def test_an_answer_that_came_early_is_not_asked_for_again(
    client: Connection, graph_name: str
) -> None:
    write(client, graph_name, ENTITIES, n=3_000)
    write(client, graph_name, "MATCH (a) WHERE ID(a) % 100 = 7 SET a.name = 'odd \x1f name'")
    watched = Watched(client)
    read = read_graph(watched, graph_name)  # type: ignore[arg-type]
    assert read.entities.name.count("odd \x1f name") == 30
    ranges = [arguments for arguments in watched.asked if "low=" in arguments[2]]
    assert any("--compact" in arguments for arguments in ranges)
    assert len(ranges) == len(set(ranges))


def test_what_is_said_about_a_command_sent_ahead_is_told_when_it_is_asked(
    client: Connection,
) -> None:
    done: list[str] = []
    with held_wire(client) as ask:
        wrong = ("GRAPH.RO_QUERY", "no such graph", "RETURN 1")
        assert ask(("PING",), lambda: done.append("first"), wrong) == b"PONG"
        assert ask(("ECHO", "other"), lambda: None) == b"other"
        with pytest.raises(redis.ResponseError):
            ask(wrong, lambda: done.append("last"))
        assert ask(("ECHO", "after"), lambda: None, ("ECHO", "never asked")) == b"after"
    assert done == ["first", "last"]
    assert client.ping() is True, "and not the answer that nobody asked for"


def test_a_client_without_one_pool_reads_the_same(client: Connection, graph_name: str) -> None:
    assert not hasattr(RedisCluster, "connection_pool")

    class OnlyExecutes:
        def execute_command(self, *arguments: Any) -> Any:
            command: Any = client.execute_command
            return command(*arguments)

    write(client, graph_name, GRAPH, t=AT)
    plain: Any = OnlyExecutes()
    assert_same(assert_rereads(plain, graph_name), read_graph(client, graph_name))
