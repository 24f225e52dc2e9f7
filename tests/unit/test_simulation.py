"""Looking ahead: what fades when, and which configurations are refused."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
import pytest

from synapse.demo import DEMO_NOW, demo_path
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.simulation import MOMENTS_COUNT, simulate
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.standing import Standing
from synapse.integrations.memory_file import read_memory_file
from synapse.store.memory import InMemoryStore
from tests.support.small_graphs import small_graph

DAY_S = 86_400.0
NOW_S = datetime.fromisoformat(DEMO_NOW).timestamp()


@pytest.fixture(scope="module")
def demo() -> Standing:
    store = InMemoryStore()
    store.write_memory("demo", read_memory_file(demo_path(), group_id="demo", now_iso=DEMO_NOW))
    return Thoughts(store.read_graph("demo"), NOW_S, HippocampusConfig()).standing


def with_constants(standing: Standing, **forgetting: Any) -> Standing:
    config = HippocampusConfig.model_validate({"forgetting": forgetting})
    return Standing(standing.outline, standing.kept, standing.now_s, config, standing.usage)


def test_each_moment_shows_what_a_run_would_propose_then(demo: Standing) -> None:
    found = simulate(demo, 120.0)
    assert [moment.days for moment in found.moments] == [10.0 * n for n in range(13)]
    assert len(found.moments) == MOMENTS_COUNT + 1
    last = Standing(demo.outline, demo.kept, NOW_S + 120 * DAY_S, demo.config, demo.usage)
    ranked = last.pruning.ranked_candidates
    assert sum(found.moments[-1].candidates.values()) == len(ranked) > 0
    assert found.moments[-1].first == tuple(demo.outline.memory_uuids[row] for row in ranked[:5])
    assert found.memories == {"entity": 55, "fact": 128}


def test_nothing_becomes_strong_again_by_itself(demo: Standing) -> None:
    weak = [sum(moment.weak.values()) for moment in simulate(demo, 700.0).moments]
    assert weak == sorted(weak) and weak[0] == 0 < weak[-1]


def test_the_default_is_not_refused_for_the_demo(demo: Standing) -> None:
    assert simulate(demo, 90.0).refused is None


def test_a_configuration_that_condemns_everything_is_refused(demo: Standing) -> None:
    seed = with_constants(demo, curve="exponential", base_half_life_days=0.05)
    refused = simulate(seed, 90.0).refused
    assert refused is not None and len(refused) < 130
    assert refused.startswith("every memory falls below 0.05 within ")


def test_a_configuration_that_condemns_a_kind_is_refused() -> None:
    busy = [(0, 1, [n]) for n in range(2)]
    times_s = [NOW_S - 300 * DAY_S, NOW_S - 290 * DAY_S, *(NOW_S - n * DAY_S for n in range(9))]
    graph = small_graph(2, busy, times_s, [(n, e) for n in range(2, 11) for e in (0, 1)])
    refused = simulate(Thoughts(graph, NOW_S, HippocampusConfig()).standing, 90.0).refused
    assert refused is not None and refused.startswith("every fact falls below 0.3 within ")


def test_no_memories_no_refusal() -> None:
    found = simulate(Thoughts(small_graph(0), NOW_S, HippocampusConfig()).standing, 90.0)
    assert found.refused is None
    assert all(moment.weak == {"entity": 0, "fact": 0} for moment in found.moments)


def test_unknown_times_never_become_weak() -> None:
    graph = small_graph(2, [(0, 1, [])] * 2)
    found = simulate(Thoughts(graph, NOW_S, HippocampusConfig()).standing, 30_000.0)
    assert sum(found.moments[-1].weak.values()) == 0
    assert np.isfinite(found.threshold)
