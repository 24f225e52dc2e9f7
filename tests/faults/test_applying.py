"""Applying and undoing that is killed at any write, on a real server: nothing lost or doubled."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from synapse.hippocampus.applier import Job
from synapse.hippocampus.changes import GraphChanges
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.consolidation import ConsolidationEngine, Run
from synapse.hippocampus.plan_file import PlannedChange
from synapse.hippocampus.scope import Scope
from synapse.store import open_store
from synapse.store.embedded import EmbeddedServer
from tests.support.canonical_dump import canonical_dump
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
