"""What a diagnosis reads from real servers, and that it changes none of them."""

from __future__ import annotations

import math
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
import redis

from synapse.errors import UnknownGraph
from synapse.hippocampus.health import GraphHealth, Queue, ServerHealth, Stamps
from synapse.hippocampus.recall import RecallSet
from synapse.hippocampus.room import Surprise
from synapse.store import open_store
from synapse.store.embedded import EmbeddedServer
from synapse.store.falkordb import FalkorStore
from synapse.store.keys import room_key
from synapse.store.rights import ACL_RULES, least_rights
from tests.store.test_connection import cluster  # noqa: F401  the fixture
from tests.store.test_room import everything

NewServer = Callable[..., EmbeddedServer]
NOW_S = 1_783_000_000.0
SMALL = (
    "CREATE (a:Entity {uuid: 'a', name: 'A', group_id: 'g'}), (b:Entity {uuid: 'b', name: 'B'}), "
    "(a)-[:RELATES_TO {uuid: 'f', fact: 'A knows B', group_id: 'other'}]->(b)"
)


class Place:
    """A server of one's own, its owner, and its users."""

    def __init__(self, server: EmbeddedServer) -> None:
        self.uri = server.uri
        self.owner: Any = redis.Redis.from_url(server.uri, protocol=2)
        self.ask: Any = self.owner.execute_command
        self.ask("GRAPH.QUERY", "g", SMALL)

    def as_user(self, *rules: str) -> FalkorStore:
        """The store of a user with these rights."""
        self.ask("ACL", "SETUSER", "agent", "reset", "on", ">secret", *rules)
        return open_store(self.uri.replace("unix://", "unix://agent:secret@"))

    def server(self, clock: Callable[[], float] = lambda: NOW_S) -> ServerHealth:
        with closing(open_store(self.uri)) as store:
            return store.inspect_server("g", clock)

    def graph(self, now_s: float = NOW_S) -> GraphHealth:
        with closing(open_store(self.uri)) as store:
            return store.inspect_graph("g", now_s)


@pytest.fixture
def place(new_server: NewServer) -> Iterator[Place]:
    made = Place(new_server())
    yield made
    made.owner.close()


# --- the server -----------------------------------------------------------------------------------


def test_a_server_of_our_own_is_sound(place: Place) -> None:
    health = place.server()
    assert health.module_version is not None and health.module_version > 40_000
    assert (health.role, health.is_append_only, health.save_points) == ("master", True, "")
    assert (health.maxmemory_bytes, health.maxmemory_policy) == (0, "noeviction")
    assert (health.resultset_size, health.failed_writes) == (-1, ())
    assert (health.graphs, health.orphaned_rooms) == (("g",), ())


def test_what_the_owner_has_set_is_seen(place: Place) -> None:
    place.ask("GRAPH.CONFIG", "SET", "RESULTSET_SIZE", 10)
    place.ask("CONFIG", "SET", "maxmemory", 2**30, "maxmemory-policy", "allkeys-lru")
    place.ask("CONFIG", "SET", "appendonly", "no", "save", "3600 1")
    health = place.server()
    assert (health.resultset_size, health.maxmemory_bytes) == (10, 2**30)
    assert (health.maxmemory_policy, health.is_append_only) == ("allkeys-lru", False)
    assert health.save_points == "3600 1"


def test_a_limit_on_answers_cuts_no_count(place: Place) -> None:
    place.ask("GRAPH.QUERY", "g", "UNWIND range(1, 50) AS i CREATE (:Entity {uuid: toString(i)})")
    place.ask("GRAPH.CONFIG", "SET", "RESULTSET_SIZE", 10)
    contents = place.graph().contents
    assert contents is not None and contents.entities_count == 52


def test_the_clocks_are_compared(place: Place) -> None:
    def theirs_s() -> float:
        return float(place.ask("TIME")[0])

    for ours_s, ahead_s in ((theirs_s, 0.0), (lambda: theirs_s() - 3600.0, 3600.0)):
        assert place.server(ours_s).clock_ahead_s == pytest.approx(ahead_s, abs=5.0)


def test_the_comparison_is_tried_on_a_graph_that_is_gone_afterwards(place: Place) -> None:
    place.ask("GRAPH.QUERY", "canary", "CREATE INDEX FOR (n:N) ON (n.s)")
    place.ask("GRAPH.QUERY", "canary", "UNWIND range(100, 199) AS i CREATE (:N {s: toString(i)})")
    found = place.ask("GRAPH.RO_QUERY", "canary", "MATCH (n:N) WHERE n.s < '150' RETURN count(n)")
    before = everything(place.owner)
    assert place.server().compares_wrongly is (found[1][0][0] != 50)
    assert everything(place.owner) == before
    assert sorted(place.ask("KEYS", "*")) == [b"canary", b"g"]


def test_the_comparison_waits_for_its_index(place: Place) -> None:
    told = {place.server().compares_wrongly for _ in range(60)}
    assert len(told) == 1, "a server that still builds the index compares without it"


def test_a_full_server_is_diagnosed(place: Place) -> None:
    place.ask("CONFIG", "SET", "maxmemory", 1)
    health, graph = place.server(), place.graph()
    assert (health.maxmemory_bytes, health.compares_wrongly) == (1, None)
    assert graph.rights.missing == () and graph.contents is not None


def test_a_replica_is_diagnosed(new_server: NewServer) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # and does not listen
        nobody = str(held.getsockname()[1])
        server = new_server(options=["--replicaof", "127.0.0.1", nobody])
        with closing(open_store(server.uri)) as store:
            health = store.inspect_server("g", lambda: NOW_S)
    assert (health.role, health.compares_wrongly, health.graphs) == ("slave", None, ())


def test_a_room_without_its_graph_is_found(place: Place) -> None:
    for key in ("synapse:{g}:meta", "synapse:{old}:meta", "synapse:{old}:pins", "synapse:{a}b}:x"):
        place.ask("HSET", key, "a", "b")
    place.ask("SET", "synapse:other", "x")
    assert place.server().orphaned_rooms == ("a}b", "old")


def test_a_node_of_a_cluster_is_diagnosed(cluster: list[int]) -> None:  # noqa: F811
    with closing(open_store(f"redis://127.0.0.1:{cluster[0]}")) as store:
        for name in ("g", "g2", "g3", "g4"):  # on both nodes
            store._connection.execute_command("GRAPH.QUERY", name, SMALL)
            health = store.inspect_server(name, lambda: NOW_S)
            assert health.module_version is not None and health.compares_wrongly is not None
            graph = store.inspect_graph(name, NOW_S)
            assert graph.rights.missing == () and graph.room is not None
            assert graph.contents is not None and graph.contents.facts_count == 1


# --- rights ---------------------------------------------------------------------------------------


def test_the_least_rights_are_enough_and_each_is_needed(place: Place) -> None:
    line = least_rights("g", "agent").replace(">PASSWORD", ">secret")
    place.ask(*line.split())
    uri = place.uri.replace("unix://", "unix://agent:secret@")
    with closing(open_store(uri)) as store:
        assert store.inspect_graph("g", NOW_S).rights.missing == ()
        assert store.inspect_server("g", lambda: NOW_S).compares_wrongly is not None
    keys = ("~g", "~synapse:{g}:*")
    place.ask("CONFIG", "RESETSTAT")
    rules = ACL_RULES.split()
    for rule in rules:
        with closing(place.as_user(*keys, *(r for r in rules if r != rule))) as store:
            rights = store.inspect_graph("g", NOW_S).rights
        together = {"+multi", "+discard"}
        assert set(rights.missing) == (together if rule in together else {rule})
        assert rights.least == least_rights("g")
    for missing, kept in (keys, keys[::-1]):
        with closing(place.as_user(kept, *rules)) as store:
            assert store.inspect_graph("g", NOW_S).rights.missing == (missing,)
    calls = {name.split("_", 1)[1] for name, stats in place.owner.info("commandstats").items()
             if stats["calls"] > 0}  # fmt: skip
    assert not calls & {"hset", "hsetnx", "hincrby", "hdel", "xadd", "xdel", "xtrim", "set", "del",
                        "pexpire", "eval", "graph.QUERY"}  # fmt: skip


def test_a_user_who_may_do_next_to_nothing_is_diagnosed(place: Place) -> None:
    with closing(place.as_user("+graph.ro_query", "~nothing")) as store:
        health = store.inspect_server("g", lambda: NOW_S)
        assert health == ServerHealth()
        graph = store.inspect_graph("g", NOW_S)
        assert graph.rights.missing and graph.contents is None and graph.room is None


def test_a_user_who_may_only_read_learns_about_the_graph(place: Place) -> None:
    with closing(place.as_user("~g", "+graph.ro_query", "+multi", "+discard")) as store:
        graph = store.inspect_graph("g", NOW_S)
    assert graph.contents is not None and graph.room is None
    assert "~synapse:{g}:*" not in graph.rights.missing  # no command that could use it
    assert {"+hset", "+eval", "+graph.query"} <= set(graph.rights.missing)


# --- graphs and rooms -----------------------------------------------------------------------------


def test_a_graph_that_is_not_there_is_not_created(store: FalkorStore) -> None:
    with pytest.raises(UnknownGraph):
        store.inspect_graph("nowhere", NOW_S)
    assert "nowhere" not in store.graphs()


def test_what_a_graph_lacks_is_counted(place: Place) -> None:
    contents = place.graph().contents
    assert contents is not None
    assert contents.items_by_group == {"g": 1, "": 1, "other": 1}
    assert (contents.undated_facts_count, contents.unmentioned_entities_count) == (1, 2)


def test_times_are_counted_as_they_are_written(place: Place) -> None:
    stamps = [
        "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5+00:00", "2026-01-01T00:00:00+05:30",
        "2026-01-01T00:00:00-08", "2026-01-01 00:00:00", "2026-01-01T00:00:00.123456", "2026-01-01",
        "soon", "2026-13-01T00:00:00Z", "", "2126-01-01T00:00:00Z", "2126-01-01T00:00:00",
    ]  # fmt: skip
    listed = ", ".join(f"'{stamp}'" for stamp in stamps)
    for query in (
        f"UNWIND [{listed}] AS s CREATE (:Entity {{uuid: s, created_at: s}})",
        "CREATE (:Entity {uuid: 'n', created_at: 5})",
        "CREATE (:Episodic {uuid: 'e', created_at: '\x1f', valid_at: ['2026-01-01']})",
    ):
        place.ask("GRAPH.QUERY", "g", query)
    contents = place.graph().contents
    assert contents is not None
    assert contents.stamps["created_at of entities"] == Stamps(
        known_count=9, naive_count=4, unreadable_count=3, future_count=2
    )
    assert contents.stamps["valid_at of facts"] == Stamps()
    assert contents.stamps["created_at of episodes"].unreadable_count == 1


def test_what_waits_is_counted_with_its_age(place: Place) -> None:
    with closing(open_store(place.uri)) as store:
        store.record_surprises("g", {"": [Surprise("f", "", "r", 0.5, NOW_S)]})
        store.record_recalls("g", [RecallSet((("a", 1),), "search", NOW_S)] * 2)
        room = store.inspect_graph("g", NOW_S).room
        assert room is not None
        assert (room.surprises.waiting_count, room.recalls.waiting_count) == (1, 2)
        assert 0.0 <= room.recalls.oldest_age_s < 60.0
    told_s, _ = place.ask("TIME")
    place.ask("DEL", room_key("g", "surprises"))
    entry = ("fact", "f", "against", "", "rule", "r", "surprise_ratio", "0.5", "at_s", "1.0")
    place.ask("XADD", room_key("g", "surprises"), f"{(int(told_s) - 864_000) * 1000}-0", *entry)
    room = place.graph().room
    assert room is not None
    assert room.surprises == Queue(1, pytest.approx(864_000, abs=60))


def test_a_lock_is_found_with_what_is_left_of_it(place: Place) -> None:
    with closing(open_store(place.uri)) as store:
        assert store.acquire_lock("g", "run", 60.0)
    room = place.graph().room
    assert room is not None and room.lock_holder == "run"
    assert room.lock_left_s is not None and 0.0 < room.lock_left_s <= 60.0
    place.ask("SET", room_key("g", "lock"), "for ever")
    room = place.graph().room
    assert room is not None
    assert (room.lock_holder, room.lock_left_s) == ("for ever", math.inf)


def test_runs_that_failed_or_stopped_are_found(place: Place) -> None:
    with closing(open_store(place.uri)) as store:
        store.record_failure("g")
        assert store.acquire_lock("g", "me", 60.0)
        entry = {"plan_id": "p", "command": "apply", "now": "", "now_s": 1.0, "config_digest": ""}
        store.append_journal("g", "dead", {"run_id": "dead", **entry}, "me")
        store.append_journal("g", "done", {"run_id": "done", "is_settled": True, **entry}, "me")
    room = place.graph().room
    assert room is not None
    assert (room.failures_count, room.unfinished_runs) == (1, ("dead",))


def test_a_damaged_room_is_told_and_hides_nothing_else(place: Place) -> None:
    place.ask("HSET", room_key("g", "meta"), "revision", "many")
    health = place.graph()
    assert health.room is not None and "revision" in health.room.damage
    assert health.contents is not None and health.contents.entities_count == 2


def test_looking_at_a_graph_writes_nothing(place: Place) -> None:
    before = everything(place.owner)
    place.graph()
    assert everything(place.owner) == before
