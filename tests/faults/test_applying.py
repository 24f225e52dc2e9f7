"""Applying and undoing that is killed at any write, on a real server: nothing lost or doubled."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from random import Random

import pytest
import redis

from synapse.errors import OutOfMemory, StoreUnreachable
from synapse.hippocampus.applier import Job
from synapse.hippocampus.caps import spent_on
from synapse.hippocampus.changes import GraphChanges
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.journal import named_run, runs_of
from synapse.hippocampus.plan_file import MemoryPlan, PlannedChange, Seen
from synapse.hippocampus.recollector import Recollector
from synapse.hippocampus.room import Pin
from synapse.hippocampus.scope import Scope
from synapse.store import open_store
from synapse.store.embedded import EmbeddedServer
from synapse.store.falkordb import FalkorStore
from tests.properties.test_archive import build
from tests.support.canonical_dump import canonical_dump
from tests.support.dying import DyingConnection
from tests.support.processes import kill
from tests.support.rounds import NOW_S, Ground, every_point, plan_to_archive, random_rounds


@pytest.fixture
def ground(falkordb_uri: str, graph_name: str) -> Iterator[Ground]:
    opened = Ground(falkordb_uri, graph_name)
    yield opened
    opened.close()


def test_random_changes_are_undone_to_the_last_property(ground: Ground) -> None:
    tally = random_rounds(ground, 40)
    assert tally.is_clean, tally
    assert tally.rounds == 40 and tally.kills > 10 and tally.completed > 3 and tally.changes > 100


def test_a_run_killed_at_every_single_write(ground: Ground) -> None:
    tally = every_point(ground)
    assert tally.is_clean, tally
    assert tally.kills > 60


def _one_plan(ground: Ground) -> tuple[list[str], MemoryPlan, list[str]]:
    """A memory, a plan for it, and what the graph looks like before."""
    random = Random(35)
    memories = ground.fill(random)
    return memories, ground.plan(random, memories), canonical_dump(ground.uri, ground.graph)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("completes", [False, True], ids=["undone", "completed"])
def test_an_edge_between_two_that_go_does_not_keep_the_second_one(
    ground: Ground, after: bool, completes: bool
) -> None:
    # Memories with and without an embedding are removed by different statements.
    people = [([], {}, [0.5, 1.0] if place == 1 else None, "name") for place in range(3)]
    knows = [(0, 4, "one"), (1, 5, "two"), (1, 5, "two"), (2, 3, "three")]
    for at_write in count(1):
        ground.empty()
        names = build(ground.connection, ground.graph, people, [], knows)
        before = canonical_dump(ground.uri, ground.graph)
        plan = plan_to_archive(ground, *names)
        act = partial(ground.apply, plan=plan, name="run")
        is_killed = ground.killed(at_write, after, act)
        assert ground.missing(names) == 0
        if completes or not is_killed:
            applied = ground.apply(ground.store, plan, "run")
            assert applied.left == {} and applied.done | applied.already == set(names)
            assert ground.store.read_images(ground.graph, names) == {}
        if ground.is_begun():
            ground.undo(ground.store, "undo")
        assert canonical_dump(ground.uri, ground.graph) == before
        archive = ground.store.read_archive(ground.graph)
        assert {memory.state for memory in archive} <= {"restored"}
        if not is_killed:
            break
    assert at_write > 5


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_server_killed_while_a_plan_is_applied(
    new_server: Callable[..., EmbeddedServer], after: bool
) -> None:
    # Otherwise the last second of what was acknowledged may be lost, all of it in order.
    always = ["--appendfsync", "always"]
    server = new_server(options=always)
    for at_write in count(1):
        with closing(Ground(server.uri, f"g{at_write}")) as ground:
            memories, plan, before = _one_plan(ground)
            end = DyingConnection(ground.connection, at_write, after, partial(kill, server))
            with suppress(StoreUnreachable):
                ground.apply(FalkorStore(end, server.uri), plan, "run")
            is_killed = end.writes_count >= at_write
        if not is_killed:
            break
        server.stop()
        server = new_server(folder=server.folder, options=always)
        with closing(Ground(server.uri, f"g{at_write}")) as ground:
            assert ground.missing(memories) == 0
            ground.connection.unlink(f"synapse:{{g{at_write}}}:lock")
            applied = ground.apply(ground.store, plan, "run")
            assert {*applied.done, *applied.already, *applied.left} == {
                change.memory for change in plan.changes
            } or applied.earlier.is_settled
            ground.undo(ground.store, "undo")
            assert canonical_dump(server.uri, ground.graph) == before
    assert at_write > 10


@pytest.mark.parametrize("at_write", range(2, 13, 3))
def test_a_connection_that_breaks_stops_the_run_and_the_next_one_completes_it(
    ground: Ground, at_write: int
) -> None:
    def break_off() -> None:
        raise redis.ConnectionError("connection reset by peer")

    _, plan, before = _one_plan(ground)
    end = DyingConnection(ground.connection, at_write, True, break_off)
    with pytest.raises(StoreUnreachable):
        ground.apply(FalkorStore(end, ground.uri), plan, "run")
    assert ground.store.lock_holder(ground.graph) is None, "it was given back on the way out"
    applied = ground.apply(ground.store, plan, "run")
    assert applied.earlier is None or applied.earlier.run_id == "run"
    assert ground.undo(ground.store, "undo").applied.done
    assert canonical_dump(ground.uri, ground.graph) == before


@pytest.mark.parametrize("at_write", [1, 2, 3, 5, 9])
def test_a_server_without_memory_refuses_and_is_completed_later(
    new_server: Callable[..., EmbeddedServer], at_write: int
) -> None:
    with closing(Ground(new_server().uri, "g")) as ground:
        _, plan, before = _one_plan(ground)
        ground.connection.config_set("maxmemory-policy", "noeviction")
        full = partial(ground.connection.config_set, "maxmemory", 1)
        end = DyingConnection(ground.connection, at_write, True, full)
        with pytest.raises(OutOfMemory):
            ground.apply(FalkorStore(end, ground.uri), plan, "run")
        ground.connection.config_set("maxmemory", 0)
        ground.connection.unlink("synapse:{g}:lock")
        ground.apply(ground.store, plan, "run")
        ground.undo(ground.store, "undo")
        assert canonical_dump(ground.uri, "g") == before


def test_a_real_memory_is_planned_applied_and_brought_back(
    new_server: Callable[..., EmbeddedServer], shared_data: Path, tmp_path: Path
) -> None:
    name, now_s = "graphiti_migration", datetime(2025, 9, 1, tzinfo=UTC).timestamp()
    shutil.copyfile(shared_data / "graphiti_real" / "july.rdb", tmp_path / "dump.rdb")
    uri, config = new_server(tmp_path).uri, HippocampusConfig()
    before = canonical_dump(uri, name)
    with closing(open_store(uri)) as store:
        changes = GraphChanges(store, Scope(name), config)
        thoughts = Recollector(store, config).recollect(Scope(name), now_s)
        ends = changes.plan(thoughts, store.read_room(name), resolve=True, prune=False).plan
        weak = thoughts.standing.strength.argsort()[:200].tolist()
        images = store.read_images(name, [thoughts.snapshot.memory_uuids[row] for row in weak])
        ended = {memory for change in ends.changes for memory in (change.memory, change.by)}
        moves = tuple(
            PlannedChange(do="archive", memory=i.uuid, kind=i.kind, before=i.digest, reason="weak")
            for i in images.values()
            if i.uuid not in ended
        )
        plan = ends.model_copy(update={"changes": (*ends.changes, *moves)})
        applied = changes.apply(plan, Job("run", "apply", now_s, max_changes=1_000), "token")
        assert len(applied.done) > 100 and canonical_dump(uri, name) != before
        undone = changes.undo("run", Job("undo", "undo", now_s), "another")
        assert undone.applied.done == applied.done and not undone.applied.left
    assert canonical_dump(uri, name) == before


class _Killed(BaseException):
    """The run ends here."""


def _five_facts(ground: Ground) -> None:
    """One entity pair with five facts, of which three are to be archived."""
    ground.empty()
    query = partial(ground.connection.execute_command, "GRAPH.QUERY", ground.graph)
    query("CREATE (:Entity {uuid: 'a', name: 'A', group_id: ''}), (:Entity {uuid: 'b', name: 'B'})")
    query(
        "MATCH (a {uuid: 'a'}), (b {uuid: 'b'}) UNWIND range(1, 5) AS i "
        "CREATE (a)-[:RELATES_TO {uuid: 'f' + i, fact: 'fact ' + i}]->(b)"
    )


def _to_archive(ground: Ground, *uuids: str) -> MemoryPlan:
    images = ground.store.read_images(ground.graph, uuids).values()
    return MemoryPlan(
        graph=ground.graph,
        now="2026-01-01T00:00:00Z",
        config_digest=HippocampusConfig().digest,
        seen=Seen(entities=50, facts=50),
        changes=tuple(
            PlannedChange(do="archive", memory=i.uuid, kind=i.kind, before=i.digest, reason="weak")
            for i in images
        ),
    )


def _die_after_the_journal(ground: Ground, plan: MemoryPlan, at_write: int = 2) -> None:
    def die() -> None:
        raise _Killed

    end = DyingConnection(ground.connection, at_write, True, die)
    with suppress(_Killed):
        ground.apply(FalkorStore(end, ground.uri), plan, "run")
    ground.connection.unlink(f"synapse:{{{ground.graph}}}:lock")
    assert not ground.store.read_journal(ground.graph)["run"].get("is_settled", False)


@pytest.mark.parametrize("is_pinned_first", [True, False])
@pytest.mark.parametrize("at_write", [2, 4, 6])
def test_a_pin_protects_from_a_run_that_is_completed(
    ground: Ground, is_pinned_first: bool, at_write: int
) -> None:
    _five_facts(ground)
    plan, pin = _to_archive(ground, "f1", "f2", "f3"), Pin(100.0, "must stay")
    before = canonical_dump(ground.uri, ground.graph)
    if is_pinned_first:
        ground.store.pin(ground.graph, "f1", pin)
    _die_after_the_journal(ground, plan, at_write)
    was_there = "f1" in ground.store.read_images(ground.graph, ["f1"])
    ground.store.pin(ground.graph, "f1", pin)
    applied = ground.apply(ground.store, plan, "run")
    assert was_there or not is_pinned_first
    assert ("f1" in ground.store.read_images(ground.graph, ["f1"])) == was_there
    assert ("f1" in applied.left) == was_there
    ground.undo(ground.store, "undo")
    assert canonical_dump(ground.uri, ground.graph) == before


def test_a_pin_that_comes_between_the_check_and_the_removal_is_told(ground: Ground) -> None:
    told = set()
    for at_write in range(1, 14):
        _five_facts(ground)
        pin = partial(ground.store.pin, ground.graph, "f1", Pin(100.0, "must stay"))
        end = DyingConnection(ground.connection, at_write, False, pin)
        plan = _to_archive(ground, "f1", "f2")
        applied = ground.apply(FalkorStore(end, ground.uri), plan, "run")
        is_there = "f1" in ground.store.read_images(ground.graph, ["f1"])
        assert applied.left == ({"f1": "it is pinned"} if is_there else {})
        assert applied.done == ({"f2"} if is_there else {"f1", "f2"})
        run = ground.store.read_journal(ground.graph)["run"]
        outcomes = {c["memory"]: c["outcome"] for c in run["changes"]}
        assert outcomes.get("f1", "left") == ("left" if is_there else "done")
        told.add((is_there, "f1" in outcomes))
    assert told >= {(True, True), (False, True)}


@pytest.mark.parametrize("is_changed_first", [True, False])
def test_what_a_completed_run_moves_stands_in_its_journal(
    ground: Ground, is_changed_first: bool
) -> None:
    _five_facts(ground)
    plan, before = _to_archive(ground, "f1", "f2"), canonical_dump(ground.uri, ground.graph)
    query = partial(ground.connection.execute_command, "GRAPH.QUERY", ground.graph)
    change = "MATCH ()-[e {uuid: 'f1'}]->() SET e.fact = '%s'"
    if is_changed_first:
        query(change % "other")
    _die_after_the_journal(ground, plan)
    query(change % ("fact 1" if is_changed_first else "other"))
    applied = ground.apply(ground.store, plan, "run")
    moved = {"f1", "f2"} if is_changed_first else {"f2"}
    assert applied.done == moved and applied.left.keys() == {"f1", "f2"} - moved
    run = ground.store.read_journal(ground.graph)["run"]
    assert {c["memory"] for c in run["changes"] if c["outcome"] == "done"} == moved
    ground.undo(ground.store, "undo")
    query(change % "fact 1")
    assert canonical_dump(ground.uri, ground.graph) == before


def test_what_a_plan_had_to_leave_is_tried_again(ground: Ground) -> None:
    _five_facts(ground)
    plan, before = _to_archive(ground, "f1", "f2"), canonical_dump(ground.uri, ground.graph)
    ground.store.pin(ground.graph, "f1", Pin(100.0, "must stay"))
    for _ in range(2):
        applied = ground.apply(ground.store, plan, "run")
        assert applied.left == {"f1": "it is pinned"}
    assert applied.already == {"f2"} and not applied.done
    ground.store.unpin(ground.graph, "f1")
    applied = ground.apply(ground.store, plan, "again")
    assert applied.done == {"f1"} and applied.run_id == "run"
    ground.undo(ground.store, "undo")
    assert canonical_dump(ground.uri, ground.graph) == before


@pytest.mark.parametrize("at_write", [2, 4, 6])
def test_undoing_a_run_that_died_settles_it(ground: Ground, at_write: int) -> None:
    _five_facts(ground)
    plan, before = _to_archive(ground, "f1", "f2", "f3"), canonical_dump(ground.uri, ground.graph)
    _die_after_the_journal(ground, plan, at_write)
    assert spent_on(ground.store.read_journal(ground.graph), NOW_S)["fact"]
    ground.undo(ground.store, "undo")
    journal = ground.store.read_journal(ground.graph)
    dead = named_run(runs_of(journal), "run")
    assert dead.is_settled and len(dead.having("undone")) == 3
    assert not spent_on(journal, NOW_S)["fact"]
    assert canonical_dump(ground.uri, ground.graph) == before


def test_undoing_that_died_is_settled_by_undoing_again(ground: Ground) -> None:
    def die() -> None:
        raise _Killed

    for at_write in count(1):
        _five_facts(ground)
        before = canonical_dump(ground.uri, ground.graph)
        ground.apply(ground.store, _to_archive(ground, "f1", "f2", "f3"), "run")
        end = DyingConnection(ground.connection, at_write, True, die)
        with suppress(_Killed):
            ground.undo(FalkorStore(end, ground.uri), "undo")
        ground.connection.unlink(f"synapse:{{{ground.graph}}}:lock")
        ground.undo(ground.store, "again")
        journal = ground.store.read_journal(ground.graph)
        assert canonical_dump(ground.uri, ground.graph) == before
        assert all(run.is_settled and not run.having("") for run in runs_of(journal))
        assert not spent_on(journal, NOW_S)["fact"]
        if end.writes_count < at_write:
            break
    assert at_write > 5
