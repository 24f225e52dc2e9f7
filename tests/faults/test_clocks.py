"""Clocks that jump backwards, between runs and between applying and undoing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from random import Random
from typing import Any

import pytest

from synapse.demo import DEMO_NOW, demo_path
from synapse.hippocampus.applier import Job
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.consolidation import ConsolidationEngine, Run
from synapse.hippocampus.recall import RecallSet, fold
from synapse.hippocampus.scope import Scope
from synapse.integrations.memory_file import read_memory_file
from synapse.store.falkordb import FalkorStore
from tests.support.canonical_dump import canonical_dump
from tests.support.rounds import NOW_S as GROUND_NOW_S
from tests.support.rounds import Ground, not_made

DAY_S = 86_400.0
NOW_S = datetime.fromisoformat(DEMO_NOW).timestamp() + 540.0 * DAY_S
"""Late enough for memories that have faded."""
JUMPS_DAYS = (0.01, 30.0, 400.0, 20_000.0)


def fill(store: FalkorStore, graph: str) -> list[str]:
    store.write_memory(graph, read_memory_file(demo_path(), group_id=graph, now_iso=DEMO_NOW))
    return sorted(store.read_graph(graph).memory_uuids)


def consolidate(store: FalkorStore, graph: str, now_s: float, name: str) -> dict[str, Any]:
    engine = ConsolidationEngine(store, HippocampusConfig(), lambda: 0.0)
    run = Run(Scope(graph), now_s, name, schemas=True, prune=True, resolve=True, max_changes=50)
    outcome = engine.consolidate(run)
    assert outcome.error is None, outcome.error
    told = outcome.report.as_dict()
    for compared_with_the_last_run in ("changed", "unchanged"):
        del told["retention"][compared_with_the_last_run]
    return {name: told[name] for name in ("now", "seen", "retention", "hebbian", "pruning")}


def recalled(memories: list[str], at_s: float) -> list[RecallSet]:
    return [RecallSet(((memories[n], 1), (memories[n + 5], 2)), "search", at_s) for n in range(4)]


@pytest.mark.parametrize("jump_days", JUMPS_DAYS)
def test_a_run_before_the_last_one_changes_nothing_for_the_next(
    store: FalkorStore, graph_name: str, jump_days: float
) -> None:
    steady, jumpy = f"{graph_name}-steady", f"{graph_name}-jumpy"
    told: dict[str, Any] = {}
    for graph in (steady, jumpy):
        memories = fill(store, graph)
        store.record_recalls(graph, recalled(memories, NOW_S - 3 * DAY_S))
        consolidate(store, graph, NOW_S, "first")
        if graph == jumpy:
            consolidate(store, graph, NOW_S - jump_days * DAY_S, "jumped")
        told[graph] = consolidate(store, graph, NOW_S, "again")
    assert told[steady] == told[jumpy]
    before, after = store.read_room(steady), store.read_room(jumpy)
    assert before.traces.tobytes() == after.traces.tobytes()
    assert (before.profiles, before.links) == (after.profiles, after.links)
    assert {f: e["state"] for f, e in before.ledger.items()} == {
        f: e["state"] for f, e in after.ledger.items()
    }


@pytest.mark.parametrize("jump_days", JUMPS_DAYS)
def test_an_earlier_moment_makes_nothing_more_prunable(
    store: FalkorStore, graph_name: str, jump_days: float
) -> None:
    fill(store, graph_name)
    now = consolidate(store, graph_name, NOW_S, "first")
    jumped = consolidate(store, graph_name, NOW_S - jump_days * DAY_S, "jumped")
    assert now["pruning"]["candidates"] > 0
    assert jumped["pruning"]["candidates"] <= now["pruning"]["candidates"]
    assert jumped["retention"]["mean_strength"] >= now["retention"]["mean_strength"]


def test_recalls_recorded_by_a_clock_that_jumps_are_folded_once(
    store: FalkorStore, graph_name: str
) -> None:
    memories, recorded = fill(store, graph_name), []
    for number, jump_days in enumerate((0.0, 40.0, 1.0, -3.0, 90.0)):
        sets = recalled(memories, NOW_S - jump_days * DAY_S)
        store.record_recalls(graph_name, sets)
        recorded.append(sets)
        consolidate(store, graph_name, NOW_S - jump_days * DAY_S, f"run-{number}")
    room = store.read_room(graph_name)
    assert room.recalls == ()
    everything = [each for sets in recorded for each in sets]
    profiles, _ = fold({}, {}, everything)
    assert {m: p.total_count for m, p in room.profiles.items()} == {
        m: p.total_count for m, p in profiles.items()
    }


@pytest.fixture
def ground(falkordb_uri: str, graph_name: str) -> Iterator[Ground]:
    opened = Ground(falkordb_uri, graph_name)
    yield opened
    opened.close()


@pytest.mark.parametrize("jump_days", JUMPS_DAYS)
def test_a_plan_is_applied_and_taken_back_whatever_the_clock_says(
    ground: Ground, jump_days: float
) -> None:
    random = Random(35)
    memories = ground.fill(random)
    plan, before = ground.plan(random, memories), canonical_dump(ground.uri, ground.graph)
    changes = ground.changes_by(ground.store)

    def job(name: str, jumps: float) -> Job:
        now_s = GROUND_NOW_S - jumps * jump_days * DAY_S
        return Job(name, name, now_s, max_changes=1_000)

    changes.apply(plan, job("run", 0.0), "one")
    after = canonical_dump(ground.uri, ground.graph)
    assert not_made(ground, plan) == 0 and after != before
    again = changes.apply(plan, job("again", 1.0), "two")
    assert not again.done and again.earlier is not None and again.earlier.run_id == "run"
    assert changes.undo("run", job("undo", 1.0), "three").applied.done
    assert canonical_dump(ground.uri, ground.graph) == before
    assert not changes.undo("run", job("twice", 2.0), "four").applied.done
    assert changes.undo("undo", job("redo", 3.0), "five").applied.done
    assert canonical_dump(ground.uri, ground.graph) == after
    assert changes.undo("redo", job("last", 4.0), "six").applied.done
    assert canonical_dump(ground.uri, ground.graph) == before
    assert ground.missing(memories) == 0
