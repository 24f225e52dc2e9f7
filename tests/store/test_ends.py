"""Ends of facts are written by comparing first, on every store; and how FalkorDB does it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import redis

from synapse.errors import LockLost, UnknownGraph
from synapse.hippocampus.plan import ConsolidationPlan, EndChange, FactState
from synapse.hippocampus.ports import GraphDocument, MemoryStore
from synapse.store import cypher, ends, open_store
from synapse.store.cypher import literal, with_rows
from synapse.store.indices import create_indices
from synapse.store.lock import HeldLock
from tests.support.dying import DyingConnection

MORNING, NOON, EVENING = (f"2026-01-05T{hour}:00:00+00:00" for hour in ("08", "12", "20"))


def facts(*uuids: str, **more: Any) -> GraphDocument:
    ends_of = {"source_node_uuid": "ada", "target_node_uuid": "bob"}
    return GraphDocument(
        entities=({"uuid": "ada", "name": "Ada"}, {"uuid": "bob", "name": "Bob"}),
        facts=tuple(
            {
                "uuid": u,
                **ends_of,
                "name": "KNOWS",
                "fact": f"{u} says",
                "valid_at": MORNING,
                **more,
            }
            for u in uuids
        ),
    )


def ended(fact: str, before: FactState | None = None) -> EndChange:
    return EndChange(fact, before or FactState(f"{fact} says", MORNING), NOON, EVENING)


def locked(store: MemoryStore, graph: str) -> str:
    assert store.acquire_lock(graph, "mine", 60.0)
    return "mine"


def test_writes_what_is_unchanged_and_names_it(any_store: MemoryStore, graph_name: str) -> None:
    any_store.write_memory(graph_name, facts("a", "b"))
    any_store.write_memory(graph_name, facts("c", invalid_at=MORNING))
    token = locked(any_store, graph_name)
    changes = [ended("a"), ended("c"), ended("gone")]
    assert any_store.change_ends(graph_name, changes, token) == {"a"}
    now = any_store.read_facts(graph_name, ["a", "b", "c", "gone"])
    assert now == {
        "a": FactState("a says", MORNING, NOON, EVENING),
        "b": FactState("b says", MORNING),
        "c": FactState("c says", MORNING, MORNING),
    }
    assert any_store.change_ends(graph_name, changes, token) == set()


@pytest.mark.parametrize(
    "other",
    [
        {"text": "something else"},
        {"valid_at": NOON},
        {"invalid_at": NOON},
        {"expired_at": NOON},
        {"episodes": ("e1", "e2")},
        {"episodes": ()},
        {"episodes": ("e2",)},
    ],
    ids=str,
)
@pytest.mark.parametrize("whose", ["before", "by_before"])
def test_whatever_changed_on_either_side_stops_the_write(
    any_store: MemoryStore, graph_name: str, other: dict[str, Any], whose: str
) -> None:
    known = GraphDocument(episodes=tuple({"uuid": u, "valid_at": MORNING} for u in ("e1", "e2")))
    any_store.write_memory(graph_name, known)
    any_store.write_memory(graph_name, facts("a", "b", episodes=["e1"]))
    token, now = locked(any_store, graph_name), any_store.read_facts(graph_name, ["a", "b"])
    change = replace(ended("a", now["a"]), by="b", by_before=now["b"])
    seen = replace(change, **{whose: replace(getattr(change, whose), **other)})
    assert any_store.change_ends(graph_name, [seen], token) == set()
    assert any_store.read_facts(graph_name, ["a", "b"]) == now
    gone = replace(change, by="gone")
    assert any_store.change_ends(graph_name, [gone], token) == set()
    assert any_store.change_ends(graph_name, [change], token) == {"a"}


@pytest.mark.parametrize("order", [1, -1])
def test_what_this_call_ends_may_replace_something_itself(
    any_store: MemoryStore, graph_name: str, order: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["a", "b", "c", "d"]
    any_store.write_memory(graph_name, facts(*names))
    monkeypatch.setattr(cypher, "BATCH_COUNT", 1)
    token, now = locked(any_store, graph_name), any_store.read_facts(graph_name, names)
    chain = [
        replace(ended(old, now[old]), by=new, by_before=now[new]) for old, new in pairwise(names)
    ][::order]
    assert any_store.change_ends(graph_name, chain, token) == {"a", "b", "c"}


@pytest.mark.parametrize("invalid_at", [None, "", "2026-01-03T10:00:00", "soon"])
def test_what_was_read_comes_back_exactly(
    any_store: MemoryStore, graph_name: str, invalid_at: str | None
) -> None:
    any_store.write_memory(graph_name, facts("a", invalid_at=invalid_at))
    token = locked(any_store, graph_name)
    before = any_store.read_facts(graph_name, ["a"])
    assert any_store.change_ends(graph_name, [ended("a", before["a"])], token) == {"a"}
    after = any_store.read_facts(graph_name, ["a"])["a"]
    back = EndChange("a", after, before["a"].invalid_at, before["a"].expired_at)
    assert any_store.change_ends(graph_name, [back], token) == {"a"}
    assert any_store.read_facts(graph_name, ["a"]) == before
    assert any_store.change_ends(graph_name, [back], token) == set()


def test_without_the_lock_nothing_is_written(any_store: MemoryStore, graph_name: str) -> None:
    any_store.write_memory(graph_name, facts("a"))
    for holder in (None, "somebody"):
        if holder:
            any_store.acquire_lock(graph_name, holder, 60.0)
        with pytest.raises(LockLost, match="passed"):
            any_store.change_ends(graph_name, [ended("a")], "mine")
    assert any_store.read_facts(graph_name, ["a"])["a"].invalid_at is None


def test_reading_never_creates_a_graph(any_store: MemoryStore, graph_name: str) -> None:
    with pytest.raises(UnknownGraph):
        any_store.read_facts(graph_name, ["a"])
    assert graph_name not in any_store.graphs()


def test_strange_uuids_are_data(any_store: MemoryStore, graph_name: str) -> None:
    strange = ['quote " and \\', "emoji 🧠", "'}) DETACH DELETE n //", "$rows", "{a: 1}"]
    any_store.write_memory(graph_name, facts(*strange))
    token = locked(any_store, graph_name)
    wanted = [*strange, "nul \0 inside"]
    assert set(any_store.read_facts(graph_name, wanted)) == set(strange)
    written = any_store.change_ends(graph_name, [ended(uuid) for uuid in wanted], token)
    assert written == set(strange)


def test_a_write_in_the_middle_of_a_run_leaves_its_record(
    any_store: MemoryStore, graph_name: str
) -> None:
    token = locked(any_store, graph_name)
    plan = ConsolidationPlan(graph_name, "run", "c0ffee", 0, run_record={"run_id": "first"})
    any_store.apply(plan, token)
    any_store.record_failure(graph_name)
    any_store.apply(ConsolidationPlan(graph_name, "next", "", 1, interim=True), token)
    room = any_store.read_room(graph_name)
    assert (room.revision, room.failures_count) == (2, 1)
    assert room.last_run == {"run_id": "first"}


@pytest.fixture
def raw(falkordb_uri: str, graph_name: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(falkordb_uri) as client:
        yield client


def test_the_index_is_used(raw: redis.Redis, graph_name: str) -> None:
    create_indices(raw, graph_name)
    same = ["a", "", "", [["", ""]], []]
    for query, row in (
        (ends.READ, "a"),
        (ends.WRITE, [NOON, EVENING, same]),
        (ends.WRITE_BESIDE, [NOON, EVENING, same, same]),
    ):
        explained = raw.execute_command(
            "GRAPH.EXPLAIN", graph_name, with_rows([literal(row)], query)
        )
        plan = b"\n".join(explained).decode()
        assert plan.count("Edge By Index Scan") == query.count("MATCH"), plan
        assert "Label Scan" not in plan, plan


def test_at_most_five_hundred_a_query(
    store: MemoryStore, raw: redis.Redis, graph_name: str
) -> None:
    names = [f"f{i}" for i in range(1_234)]
    store.write_memory(graph_name, facts(*names))
    token = locked(store, graph_name)

    def lose_lock() -> None:
        store.release_lock(graph_name, token)

    with pytest.raises(LockLost):
        held = HeldLock(DyingConnection(raw, 3, False, lose_lock), graph_name, token)
        ends.change_ends(graph_name, [ended(name) for name in names], held)
    now = store.read_facts(graph_name, names)
    assert [now[name].invalid_at for name in names] == [NOON] * 1_000 + [None] * 234
    queries = "cmdstat_graph.QUERY"
    before = raw.info("commandstats")[queries]["calls"]
    held = HeldLock(raw, graph_name, locked(store, graph_name))
    written = ends.change_ends(graph_name, [ended(name) for name in names], held)
    assert written == set(names[1_000:])
    assert raw.info("commandstats")[queries]["calls"] - before == 3


def test_of_racing_writers_one_wins(store: MemoryStore, falkordb_uri: str, graph_name: str) -> None:
    names = [f"f{i}" for i in range(100)]
    store.write_memory(graph_name, facts(*names))
    token, won = locked(store, graph_name), {}

    def write(number: int) -> None:
        stamp = f"2026-02-0{number}T00:00:00+00:00"
        changes = [EndChange(n, FactState(f"{n} says", MORNING), stamp, stamp) for n in names]
        other = open_store(falkordb_uri)
        won[stamp] = other.change_ends(graph_name, changes, token)
        other.close()

    writers = [threading.Thread(target=write, args=(number,)) for number in range(1, 5)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(name for names_won in won.values() for name in names_won) == sorted(names)
    for name, state in store.read_facts(graph_name, names).items():
        assert state.invalid_at == state.expired_at
        assert state.invalid_at is not None and name in won[state.invalid_at]
