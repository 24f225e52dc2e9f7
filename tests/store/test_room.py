"""Synapse's room on a FalkorDB server: what it touches, what it survives."""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import redis

from synapse.errors import AccessRefused, LockLost, OutOfMemory, StoreError
from synapse.hippocampus.co_recall import CoRecall
from synapse.hippocampus.kept_ledger import as_kept
from synapse.hippocampus.memory_keys import memory_keys
from synapse.hippocampus.plan import ArchiveChange, Change, ConsolidationPlan
from synapse.hippocampus.ports import GraphDocument, MemoryStore
from synapse.hippocampus.recall import RecallProfile, RecallSet, fold, hour_of
from synapse.hippocampus.room import Pin, Surprise
from synapse.hippocampus.traces import TRACE_DTYPE, TraceTable, trace_table
from synapse.store import open_store, room
from synapse.store.embedded import EmbeddedServer
from synapse.store.rights import ACL_RULES
from synapse.store.trace_blocks import bucket_and_field

FOUND = {"verdict": "missed", "by": "g", "rule": "r", "confidence": 0.9, "state": "found"}
NewServer = Callable[..., EmbeddedServer]


@pytest.fixture
def client(falkordb_uri: str) -> Iterator[redis.Redis]:
    """Answers with bytes, as the room needs it."""
    with redis.Redis.from_url(falkordb_uri) as opened:
        yield opened


def ask(client: redis.Redis, graph: bytes, query: str) -> Any:
    connection: Any = client
    return connection.execute_command("GRAPH.RO_QUERY", graph, query)[1]


def table(uuids: list[str], stability: float = 1.0) -> TraceTable:
    return trace_table(memory_keys(uuids), {"stability": np.full(len(uuids), stability)})


def many(count: int) -> list[str]:
    """Uuids that look random."""
    stride = 0x9E3779B97F4A7C15F39CC0605CEDC835
    return [str(uuid.UUID(int=number * stride % 2**128)) for number in range(1, count + 1)]


def plan(graph: str, traces: TraceTable, revision: int = 0, **more: Any) -> ConsolidationPlan:
    return ConsolidationPlan(
        graph, "run", "c0ffee", revision, traces, np.ones(len(traces), np.bool_), **more
    )


def full_plan(graph: str, waiting: MemoryStore) -> ConsolidationPlan:
    """A plan that makes use of every part of a room."""
    waiting.record_surprises(graph, {"": [Surprise("f", "g", "rule", 0.5, 1.0)]})
    waiting.record_recalls(graph, [RecallSet((("a", 1), ("b", 2)), "search", 1.0)])
    waiting.pin(graph, "a", Pin(1.0))
    seen = waiting.read_room(graph)
    profiles, links = fold(seen.profiles, seen.links, seen.recalls)
    return plan(
        graph,
        table(many(500)),
        profiles=profiles,
        links=links,
        forgotten=frozenset({"gone"}),
        folded=seen.recalls[-1].id,
        ledger=(Change("f", None, FOUND, ""), Change("gone", {}, None, "")),
        surprises=tuple(s.id for s in waiting.read_room(graph).surprises),
        removed=memory_keys(["gone"]),
        run_record={"run_id": "run"},
    )


def everything(client: redis.Redis) -> dict[bytes, object]:
    """Every key of the server: graphs as their items, other keys as the server dumps them."""
    found: dict[bytes, object] = {}
    for key in client.scan_iter(count=1000):
        if client.type(key) == b"graphdata":
            asked = (
                "MATCH (n) RETURN n ORDER BY ID(n)",
                "MATCH ()-[e]->() RETURN e ORDER BY ID(e)",
                "CALL db.indexes() YIELD label, properties RETURN label, properties",
            )
            found[key] = [ask(client, key, query) for query in asked]
        else:
            found[key] = client.dump(key)
    return found


def room_keys(client: redis.Redis, graph: str) -> set[str]:
    return {key.decode() for key in client.scan_iter(match=f"synapse:{{{graph}}}:*", count=1000)}


def test_a_run_writes_nothing_outside_its_room(
    store: MemoryStore, client: redis.Redis, graph_name: str
) -> None:
    names = ({"uuid": "ada", "name": "Ada"}, {"uuid": "bob", "name": "Bob"})
    store.write_memory(graph_name, GraphDocument(entities=names))
    before = everything(client)
    assert store.acquire_lock(graph_name, "me", 60.0)
    store.apply(full_plan(graph_name, store), "me")
    store.record_failure(graph_name)
    store.clear_failures(graph_name)
    store.release_lock(graph_name, "me")
    after = everything(client)
    own = room_keys(client, graph_name)
    assert {key: after[key] for key in after if key.decode() not in own} == before
    parts = {key.removeprefix(f"synapse:{{{graph_name}}}:").partition(":")[0] for key in own}
    assert parts <= {
        "meta", "traces", "ledger", "surprises", "recalls", "profiles", "links", "pins",
    }  # fmt: skip


def test_looking_leaves_no_key(store: MemoryStore, client: redis.Redis, graph_name: str) -> None:
    store.read_room(graph_name)
    store.summarize_room(graph_name)
    store.lock_holder(graph_name)
    store.release_lock(graph_name, "nobody")
    store.clear_failures(graph_name)
    store.record_surprises(graph_name, {"": []})
    assert room_keys(client, graph_name) == set()


def test_one_memory_is_found_without_reading_the_others(
    store: MemoryStore, client: redis.Redis, graph_name: str
) -> None:
    uuids = many(3000)
    assert store.acquire_lock(graph_name, "me", 60.0)
    store.apply(plan(graph_name, table(uuids)), "me")
    for key in memory_keys(uuids[:40]).tolist():
        bucket, field = bucket_and_field(key)
        (records,) = client.hmget(room.room_key(graph_name, f"traces:{bucket:02x}"), field)
        assert isinstance(records, bytes)
        assert key in np.frombuffer(records, TRACE_DTYPE)["key"]
        assert len(records) <= 20 * TRACE_DTYPE.itemsize


def test_racing_writers_of_one_revision(
    store: MemoryStore, falkordb_uri: str, graph_name: str
) -> None:
    assert store.acquire_lock(graph_name, "shared", 60.0)
    outcomes: list[str] = []

    def race(number: int) -> None:
        racer = open_store(falkordb_uri)
        start.wait()
        try:
            racer.apply(plan(graph_name, table(many(200), float(number))), "shared")
            outcomes.append("wrote")
        except LockLost:
            outcomes.append("refused")
        racer.close()

    start = threading.Barrier(6)
    racers = [threading.Thread(target=race, args=(number,)) for number in range(6)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert sorted(outcomes) == ["refused"] * 5 + ["wrote"]
    after = store.read_room(graph_name)
    assert after.revision == 1
    assert len(set(after.traces["stability"].tolist())) == 1


class Interrupted:
    """A client that lets something happen between the look at the room and the transaction."""

    def __init__(self, client: redis.Redis, event: Callable[[], object]) -> None:
        self._client = client
        self._event = event

    def pipeline(self, transaction: bool) -> Any:
        pipe: Any = self._client.pipeline(transaction=transaction)
        execute = pipe.execute

        def interrupted() -> Any:
            self._event()
            return execute()

        pipe.execute = interrupted
        return pipe


def test_a_takeover_in_the_last_moment_stops_the_write(
    store: MemoryStore, client: redis.Redis, graph_name: str
) -> None:
    def take_over() -> None:
        store.release_lock(graph_name, "me")
        store.acquire_lock(graph_name, "heir", 60.0)

    assert store.acquire_lock(graph_name, "me", 60.0)
    planned = full_plan(graph_name, store)
    before = everything(client)
    with pytest.raises(LockLost):
        room.apply(Interrupted(client, take_over), planned, "me")
    assert store.lock_holder(graph_name) == "heir"
    lock = room.room_key(graph_name, "lock").encode()
    assert everything(client) | {lock: before[lock]} == before


def test_a_lock_extended_in_the_last_moment_does_no_harm(
    store: MemoryStore, client: redis.Redis, graph_name: str
) -> None:
    extended: list[bool] = []

    def extend_once() -> None:
        if not extended:
            extended.append(store.acquire_lock(graph_name, "me", 90.0))
            store.record_failure(graph_name)

    assert store.acquire_lock(graph_name, "me", 60.0)
    room.apply(Interrupted(client, extend_once), plan(graph_name, table(["ada"])), "me")
    assert extended == [True]
    assert store.read_room(graph_name).revision == 1


def test_extending_moves_the_end_of_the_lock(
    store: MemoryStore, client: redis.Redis, graph_name: str
) -> None:
    key = room.room_key(graph_name, "lock")
    assert store.acquire_lock(graph_name, "me", 5.0)
    assert 0 < client.pttl(key) <= 5_000
    assert store.acquire_lock(graph_name, "me", 500.0)
    assert client.pttl(key) > 5_000


def test_a_room_is_read_at_one_revision(
    store: MemoryStore, falkordb_uri: str, graph_name: str
) -> None:
    """While another thread writes, all that is read belongs together."""
    uuids = many(2000)
    assert store.acquire_lock(graph_name, "me", 600.0)
    store.apply(plan(graph_name, table(uuids, 1.0), 0, run_record={"n": 1}), "me")
    done = threading.Event()

    def keep_writing() -> None:
        writer = open_store(falkordb_uri)
        for revision in range(1, 30):
            number = float(revision + 1)
            ledger = (Change("f", None, FOUND | {"n": number}, ""),)
            more: dict[str, Any] = {"ledger": ledger, "run_record": {"n": number}}
            writer.apply(plan(graph_name, table(uuids, number), revision, **more), "me")
        writer.close()
        done.set()

    writing = threading.Thread(target=keep_writing)
    writing.start()
    try:
        while not done.is_set():
            try:
                seen = store.read_room(graph_name)
            except StoreError as error:
                assert "changes while it is read" in str(error)
                continue
            assert set(seen.traces["stability"].tolist()) == {float(seen.revision)}
            assert seen.last_run == {"n": seen.revision}
            assert seen.ledger == ({"f": FOUND | {"n": seen.revision}} if seen.revision > 1 else {})
    finally:
        writing.join()
    assert store.read_room(graph_name).revision == 30


def test_out_of_memory_writes_nothing(new_server: NewServer) -> None:
    server = new_server()
    store = open_store(server.uri)
    with redis.Redis.from_url(server.uri) as client:
        assert store.acquire_lock("g", "me", 600.0)
        small = full_plan("g", store)
        big = plan("g", table(many(100_000)))
        before = everything(client)
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", client.info("memory")["used_memory"] + 2_000_000)
        with pytest.raises(OutOfMemory):
            store.apply(big, "me")
        client.config_set("maxmemory", 1)
        with pytest.raises(OutOfMemory):
            store.apply(small, "me")
        with pytest.raises(OutOfMemory):
            store.record_surprises("g", {"": [Surprise("f", "g", "rule", 1.0, 0.0)]})
        assert store.read_room("g").revision == 0
        assert everything(client) == before
        client.config_set("maxmemory", 0)
        store.apply(small, "me")
        assert store.read_room("g").revision == 1
    store.close()


@pytest.fixture
def user_uri(new_server: NewServer) -> Iterator[Callable[[str], str]]:
    """The address of a server for a user with the given rights on the graph ``g``."""
    server = new_server()
    with redis.Redis.from_url(server.uri) as admin:

        def allow(rules: str) -> str:
            keys = ["resetkeys", "~g", "~synapse:{g}:*"]
            admin.execute_command("ACL", "SETUSER", "me", "on", ">secret", *keys, *rules.split())
            return server.uri.replace("unix://", "unix://me:secret@")

        yield allow


def test_the_listed_rights_are_enough(user_uri: Callable[[str], str]) -> None:
    store = open_store(user_uri(ACL_RULES))
    store.write_memory("g", GraphDocument(entities=({"uuid": "a", "name": "Ada"},)))
    assert store.read_graph("g").entities.name == ["Ada"]
    assert store.acquire_lock("g", "me", 60.0)
    assert store.acquire_lock("g", "me", 60.0)
    store.record_failure("g")
    store.apply(full_plan("g", store), "me")
    store.record_failure("g")
    store.clear_failures("g")
    after = store.read_room("g")
    assert (after.revision, len(after.traces), after.surprises, after.recalls) == (1, 500, (), ())
    assert store.unpin("g", "a")
    assert store.import_recalls("g", [RecallSet((("a", 1),), "log", 1.0)]) == 1
    assert store.summarize_room("g").lock_holder == "me"
    (image,) = store.read_images("g", ["a"]).values()
    change = ArchiveChange("a", "entity", image.digest, "faded")
    assert store.archive("g", [change], "run", 1.0, "me") == {"a"}
    assert store.restore("g", ["a"], "me") == {"a": "restored"}
    assert store.archive("g", [change], "run", 1.0, "me") == {"a"}
    assert store.purge("g", 2.0, "me") == 1
    store.append_journal("g", "run", {}, "me")
    assert store.read_journal("g") == {"run": {}}
    store.release_lock("g", "me")
    assert store.lock_holder("g") is None
    store.close()


@pytest.mark.parametrize("missing", ["xdel", "xtrim"])
def test_a_missing_right_leaves_the_room_as_it_was(
    user_uri: Callable[[str], str], missing: str
) -> None:
    rules = ACL_RULES + " +dump +type +scan"
    uri = user_uri(rules.replace(f"+{missing}", f"-{missing}"))
    store = open_store(uri)
    assert store.acquire_lock("g", "me", 60.0)
    planned = full_plan("g", store)
    with redis.Redis.from_url(uri) as client:
        before = everything(client)
        with pytest.raises(AccessRefused):
            store.apply(planned, "me")
        assert everything(client) == before
    store.close()


def test_a_room_of_a_newer_synapse_is_left_alone(
    store: MemoryStore, client: redis.Redis, graph_name: str
) -> None:
    assert store.acquire_lock(graph_name, "me", 60.0)
    client.hset(room.room_key(graph_name, "meta"), "schema_version", "999")
    before = everything(client)
    attempts: tuple[Callable[[], object], ...] = (
        lambda: store.read_room(graph_name),
        lambda: store.summarize_room(graph_name),
        lambda: store.apply(plan(graph_name, table(["ada"])), "me"),
    )
    for attempt in attempts:
        with pytest.raises(StoreError, match=r"newer Synapse; upgrade"):
            attempt()
    assert everything(client) == before


@pytest.mark.parametrize("ranks", [b"", b",[2,7]"])
def test_profiles_of_earlier_versions_are_read(
    store: MemoryStore, client: redis.Redis, graph_name: str, ranks: bytes
) -> None:
    """They kept counted recalls to the second, how many there were, and at first no ranks."""
    kept = b'[9,12,30,4,1,{"search":12},1500000000.5,[1600000000.5,1600090000.25]' + ranks + b"]"
    assert store.acquire_lock(graph_name, "me", 60.0)
    store.apply(plan(graph_name, table(["ada"])), "me")
    client.hset(room.room_key(graph_name, "profiles"), "ada", kept)
    seen = store.read_room(graph_name)
    profile = seen.profiles["ada"]
    assert profile == RecallProfile(
        search_count=12,
        rank_sum=30,
        top1_count=4,
        exposure_count=1,
        sources={"search": 12},
        first_s=1500000000.5,
        latest_s=1600090000.25,
        recent_s=(hour_of(1600000000.5), hour_of(1600090000.25)),
        recent_ranks=(2, 7) if ranks else (0, 0),
    )
    again = RecallSet((("ada", 1),), "search", 1600000000.0)
    profiles, links = fold(seen.profiles, seen.links, [again])
    store.apply(plan(graph_name, table([]), seen.revision, profiles=profiles, links=links), "me")
    assert store.read_room(graph_name).profiles == profiles
    assert profiles["ada"].recent_ranks == ((1, 7) if ranks else (1, 0))


def test_pairs_of_earlier_versions_are_read(
    store: MemoryStore, client: redis.Redis, graph_name: str
) -> None:
    assert store.acquire_lock(graph_name, "me", 60.0)
    store.apply(plan(graph_name, table(["ada"])), "me")
    client.hset(room.room_key(graph_name, "links"), "ada", b'{"bob":[4,1600000000.5]}')
    seen = store.read_room(graph_name)
    assert seen.links == {"ada": {"bob": CoRecall((18518,), 3)}}
    together = [RecallSet((("ada", 1), ("bob", 2)), "search", at_s) for at_s in (1.6e9, 1.7e9)]
    profiles, links = fold(seen.profiles, seen.links, together)
    assert links["ada"]["bob"].times_count == links["bob"]["ada"].times_count == 5
    store.apply(plan(graph_name, table([]), seen.revision, profiles=profiles, links=links), "me")
    assert store.read_room(graph_name).links == links


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("traces:63", "c", b"short"),
        ("ledger", "f", b"{not json"),
        ("profiles", "f", b"[1, 2]"),
        ("profiles", "f", b'[1, 1, 1, 1, 0, {}, null, ["late"]]'),
        ("profiles", "f", b"7"),
        ("profiles", "f", b"[1, 1, 1, 1, 0, {}, null, [NaN]]"),
        ("links", "f", b'{"g": 3}'),
        ("links", "f", b"[]"),
        ("links", "f", b'{"g": [[], 0]}'),
        ("links", "f", b'{"g": [["soon"], 0]}'),
        ("pins", "f", b"{}"),
        ("pins", "f", b"{not json"),
        ("meta", "last_run", b"\xff"),
        ("meta", "last_run", b"[1]"),
        ("meta", "memo", b"7"),
        ("ledger", "f", b"[1, 2]"),
        ("ledger", "f", b"{}"),
        ("ledger", "f", as_kept(FOUND | {"state": ["found"]})),
        ("ledger", "f", as_kept(FOUND | {"state": "resolved"})),
        ("ledger", "f", as_kept(FOUND | {"confidence": "high"})),
        ("ledger", "f", as_kept(FOUND | {"decisions": ["keep-old"]})),
        ("ledger", "f", as_kept(FOUND | {"after": {"invalid_at": 7, "expired_at": None}})),
        ("ledger", "f", as_kept(FOUND | {"evidence": {}})),
        ("meta", "revision", b"many"),
        ("meta", "schema_version", b""),
    ],
)
def test_damage_is_named(
    store: MemoryStore,
    client: redis.Redis,
    graph_name: str,
    part: str,
    field: str,
    value: bytes,
) -> None:
    assert store.acquire_lock(graph_name, "me", 60.0)
    store.apply(plan(graph_name, table(["ada"])), "me")
    client.hset(room.room_key(graph_name, part), field, value)
    with pytest.raises(StoreError) as refusal:
        dict(store.read_room(graph_name).ledger)  # understood only when somebody looks
    assert f":{part}" in str(refusal.value)
    shown = "field 63" if part.startswith("traces") else f"field {field} of"
    assert shown in str(refusal.value)
    assert len(str(refusal.value)) < 130


@pytest.mark.parametrize("part", ["meta", "ledger", "traces:a0", "pins", "recalls", "journal"])
def test_a_key_of_another_kind_is_named(
    store: MemoryStore, client: redis.Redis, graph_name: str, part: str
) -> None:
    assert store.acquire_lock(graph_name, "me", 60.0)
    store.apply(plan(graph_name, table(["ada"])), "me")
    key = room.room_key(graph_name, part)
    client.delete(key)
    client.set(key, "x") if part != "journal" else client.xadd(key, {"a": "b"})
    with pytest.raises(StoreError, match=f"key {re.escape(key)} holds another kind of value"):
        store.read_journal(graph_name) if part == "journal" else store.read_room(graph_name)


@pytest.mark.parametrize("value", [b"[1]", b"7", b"null", b"{", b'"run"'])
def test_a_damaged_entry_of_the_journal_is_named(
    store: MemoryStore, client: redis.Redis, graph_name: str, value: bytes
) -> None:
    client.hset(room.room_key(graph_name, "journal"), "run-1", value)
    with pytest.raises(StoreError, match=r"field run-1 of .*:journal"):
        store.read_journal(graph_name)


@pytest.mark.parametrize(
    "value",
    [
        "{not json",
        "7",
        '[[["a", 0]], "search", 1.0, true]',
        '[[["a", 1]], "search", NaN, true]',
        '[[["a", 1]], "", 1.0, true]',
        '[["a"], "search", 1.0, true]',
    ],
)
def test_a_damaged_recall_is_named(
    store: MemoryStore, client: redis.Redis, graph_name: str, value: str
) -> None:
    entry_id = client.xadd(room.room_key(graph_name, "recalls"), {"set": value})
    assert isinstance(entry_id, bytes)
    with pytest.raises(StoreError, match=entry_id.decode()) as refusal:
        store.read_room(graph_name)
    assert len(str(refusal.value)) < 130


def test_what_is_kept_can_be_read_by_hand(
    store: MemoryStore, client: redis.Redis, graph_name: str
) -> None:
    assert store.acquire_lock(graph_name, "me", 60.0)
    store.apply(full_plan(graph_name, store), "me")
    meta = client.hgetall(room.room_key(graph_name, "meta"))
    last_run = meta.pop(b"last_run")
    assert json.loads(last_run) == {"run_id": "run"}
    assert meta == {
        b"schema_version": b"1",
        b"revision": b"1",
        b"config_digest": b"c0ffee",
        b"traces_count": b"500",
    }
    assert client.hgetall(room.room_key(graph_name, "ledger")) == {b"f": as_kept(FOUND)}
    profiles = client.hgetall(room.room_key(graph_name, "profiles"))
    assert profiles[b"b"] == b'[1,2,0,0,{"search":1},1.0,1.0,[0],[2]]'
    assert client.hgetall(room.room_key(graph_name, "links"))[b"a"] == b'{"b":[[0],0]}'
    assert client.hgetall(room.room_key(graph_name, "pins")) == {
        b"a": b'{"at_s": 1.0, "reason": ""}'
    }
