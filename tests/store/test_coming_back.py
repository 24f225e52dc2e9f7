"""What was archived and comes back through a new episode is as firm as it was, on every store."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from synapse.hippocampus.archived import ArchivedMemory, former_stability, likeness
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.consolidation import ConsolidationEngine, Outcome, Run
from synapse.hippocampus.explanation import explain
from synapse.hippocampus.plan import ArchiveChange
from synapse.hippocampus.ports import GraphDocument, MemoryStore
from synapse.hippocampus.recall import RecallSet
from synapse.hippocampus.recollector import Recollector
from synapse.hippocampus.scope import Scope
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.stamps import iso_time
from synapse.store.memory import InMemoryStore

DAY_S = 86_400.0
START_S = 20_000 * DAY_S
CONFIG = HippocampusConfig()


def told(prefix: str, days: list[float], relation: str = "WORKS_AT", **fact: Any) -> GraphDocument:
    """Ada's job, told in an episode on each of these days; all uuids begin with the prefix."""
    at = [iso_time(START_S + day * DAY_S) for day in days]
    episodes = tuple(
        {"uuid": f"{prefix}-e{n}", "name": "e", "created_at": t, "valid_at": t}
        for n, t in enumerate(at)
    )
    names = {"ada": "Ada", "acme": "Acme"}
    return GraphDocument(
        tuple(
            {"uuid": f"{prefix}-{key}", "name": name, "created_at": at[0]}
            for key, name in names.items()
        ),
        ({"uuid": f"{prefix}-job", "source_node_uuid": f"{prefix}-ada",
          "target_node_uuid": f"{prefix}-acme", "name": relation,
          "fact": f"Ada works at Acme ({prefix}).", "episodes": [e["uuid"] for e in episodes],
          "created_at": at[0], "valid_at": at[0], **fact},),
        episodes,
    )  # fmt: skip


def consolidate(store: MemoryStore, graph: str, day: float, **more: Any) -> Outcome:
    run = Run(Scope(graph), START_S + day * DAY_S, f"day {day}", **more)
    outcome = ConsolidationEngine(store, CONFIG, lambda: 0.0).consolidate(run)
    assert outcome.error is None
    return outcome


def stability(store: MemoryStore, graph: str, day: float) -> dict[str, float]:
    """What is kept for each memory that the graph holds."""
    consolidate(store, graph, day)
    standing = consolidate(store, graph, day, full_lists=True, dry_run=True).thoughts.standing
    kept = standing.kept.stability
    return dict(zip(standing.outline.memory_uuids, kept.tolist(), strict=True))


def archive(store: MemoryStore, graph: str, day: float) -> None:
    """Everything goes, as it is now."""
    assert store.acquire_lock(graph, "mine", 60.0)
    for kind in ("fact", "entity"):
        images = store.read_images(graph, store.read_graph(graph).memory_uuids).values()
        changes = [ArchiveChange(i.uuid, i.kind, i.digest, "") for i in images if i.kind == kind]
        at_s = START_S + day * DAY_S
        assert store.archive(graph, changes, "run", at_s, "mine") == {c.uuid for c in changes}
    store.release_lock(graph, "mine")
    assert store.read_graph(graph).memory_uuids == []


@pytest.fixture
def firm(any_store: MemoryStore, graph_name: str) -> dict[str, float]:
    """A memory that five episodes and a recall have made firm; then it is archived."""
    any_store.write_memory(graph_name, told("old", [0, 10, 20, 30, 40]))
    asked = RecallSet((("old-job", 1),), "test", START_S + 50 * DAY_S)
    any_store.record_recalls(graph_name, [asked])
    firm = stability(any_store, graph_name, 60.0)
    assert firm["old-job"] > firm["old-ada"] > 4.0
    archive(any_store, graph_name, 400.0)
    consolidate(any_store, graph_name, 401.0)
    return firm


@pytest.mark.parametrize("purged", [False, True])
def test_it_comes_back_under_new_uuids(any_store, graph_name, firm, purged: bool) -> None:
    if purged:
        any_store.acquire_lock(graph_name, "mine", 60.0)
        assert any_store.purge(graph_name, math.inf, "mine") == 3
        any_store.release_lock(graph_name, "mine")
    any_store.write_memory(graph_name, told("new", [500.0]))
    again = stability(any_store, graph_name, 501.0)
    assert {uuid.replace("new", "old"): value for uuid, value in again.items()} == firm
    traces = any_store.read_room(graph_name).traces
    assert sorted(traces["stability"].tolist()) == sorted(firm.values())


def test_it_comes_back_under_its_own_uuid(any_store, graph_name, firm) -> None:
    changed = told("old", [500.0])
    any_store.write_memory(graph_name, changed)
    assert stability(any_store, graph_name, 501.0) == firm


def test_another_memory_starts_from_where_it_is(any_store, graph_name, firm) -> None:
    any_store.write_memory(graph_name, told("new", [500.0], relation="OWNS"))
    again = stability(any_store, graph_name, 501.0)
    thoughts = consolidate(any_store, graph_name, 501.0, full_lists=True, dry_run=True).thoughts
    told_of = [explain(thoughts, row).former_stability for row in range(3)]
    assert told_of == [firm["old-ada"], firm["old-acme"], None]
    assert again["new-job"] == 1.0
    assert (again["new-ada"], again["new-acme"]) == (firm["old-ada"], firm["old-acme"])


def test_it_grows_from_there_and_never_beyond_the_cap(any_store, graph_name, firm) -> None:
    any_store.write_memory(graph_name, told("new", [500.0 + 30.0 * n for n in range(60)]))
    again = stability(any_store, graph_name, 3_000.0)
    assert again["new-job"] == CONFIG.forgetting.stability_max
    assert again["new-job"] > firm["old-job"]


def test_how_often_runs_come_by_changes_nothing(any_store, graph_name, firm) -> None:
    any_store.write_memory(graph_name, told("new", [500.0]))
    often = [stability(any_store, graph_name, day) for day in (500.0, 500.25, 500.5, 501.0, 530.0)]
    assert all(kept == often[0] for kept in often)


def test_a_broken_tombstone_never_makes_a_memory_weaker() -> None:
    store = InMemoryStore()
    store.write_memory("g", told("new", [0.0, 100.0]))
    graph = store.read_graph("g")
    plain = Recollector(store, CONFIG).recollect(Scope("g"), START_S + 200 * DAY_S)
    for value in (math.nan, -3.0, 0.0, 1.0):
        entries = [
            ArchivedMemory(
                uuid, "fact", "", "", 1.0, "", "archived", "", trace={"stability": value}
            )
            for uuid in graph.memory_uuids
        ]
        assert former_stability(entries) == {}
    for value in (math.nan, -3.0, 0.5):
        recalled = type(plain.recalled)(former_stability=dict.fromkeys(graph.memory_uuids, value))
        now = Thoughts(graph, plain.now_s, CONFIG, recalled)
        np.testing.assert_array_equal(now.stability, plain.stability)
    recalled = type(plain.recalled)(former_stability=dict.fromkeys(graph.memory_uuids, math.inf))
    assert (Thoughts(graph, plain.now_s, CONFIG, recalled).stability == 32.0).all()


def test_what_is_alike() -> None:
    assert likeness("fact", "g", "Ada", "WORKS_AT", "ACME") == likeness(
        "fact", "g", " ada", "works_at", "Acme "
    )
    different = {
        likeness("entity", "g", "Ada"), likeness("entity", "h", "Ada"),
        likeness("fact", "g", "Ada"), likeness("fact", "g", "a", "b", "c"),
        likeness("fact", "g", "c", "b", "a"),
    }  # fmt: skip
    assert len(different) == 5
    assert likeness("entity", "g", " ") == likeness("fact", "g", "a", "b", "") == ""
    assert likeness("entity", "g", "\ud800")
