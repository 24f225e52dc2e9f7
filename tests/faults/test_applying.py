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
from synapse.hippocampus.changes import GraphChanges
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.consolidation import ConsolidationEngine, Run
from synapse.hippocampus.plan_file import MemoryPlan, PlannedChange
from synapse.hippocampus.scope import Scope
from synapse.store import open_store
from synapse.store.embedded import EmbeddedServer
from synapse.store.falkordb import FalkorStore
from tests.support.canonical_dump import canonical_dump
from tests.support.dying import DyingConnection
from tests.support.processes import kill
from tests.support.rounds import Ground, every_point, random_rounds


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
def test_a_server_killed_while_a_plan_is_applied(
    new_server: Callable[..., EmbeddedServer], after: bool
) -> None:
    server = new_server()
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
        server = new_server(folder=server.folder)
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


@pytest.mark.parametrize("at_write", range(2, 16, 3))
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
        engine = ConsolidationEngine(store, config, lambda: 0.0)
        thoughts = engine.recollect(Run(Scope(name), now_s, "look"))
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
