"""Graphs nobody would draw: bounded time and sane output."""

import time

import numpy as np
import pytest

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.explanation import explain
from synapse.hippocampus.full_report import full_report
from synapse.hippocampus.room import Room
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.summary import summarize, timeless
from tests.support.small_graphs import UNKNOWN, small_graph

NOW_S = 1_780_000_000.0
DAY_S = 86_400.0
HEADER = {"run_id": "r", "graph": "g", "group_id": None, "now": "", "dry_run": True}

GRAPHS = {
    "nothing at all": small_graph(0),
    "one entity without a mention": small_graph(1),
    "a community of two": small_graph(2, [(0, 1, [])]),
    "no valid_at anywhere": small_graph(3, [(0, 1, [0]), (1, 2, [])], [UNKNOWN]),
    "facts without episodes": small_graph(3, [(0, 1, []), (1, 2, [])], fact_valid_s=[1.0, 2.0]),
    "self-loops only": small_graph(1, [(0, 0, [0])] * 50, [NOW_S - DAY_S]),
    "everything in the future": small_graph(2, [(0, 1, [0])], [NOW_S + 900 * DAY_S]),
    "before 1970": small_graph(2, [(0, 1, [0])], [-1e10]),
    "a giant episode": small_graph(
        1_000, [(i, (i + 1) % 1_000, [0]) for i in range(1_000)], [NOW_S],
        [(0, i) for i in range(1_000)],
    ),
    "a hub": small_graph(
        10_001,
        [(0, i + 1, [i % 500]) for i in range(10_000)],
        [NOW_S - i * DAY_S for i in range(500)],
    ),
    "parallel facts": small_graph(2, [(0, 1, [0])] * 5_000, [NOW_S]),
}  # fmt: skip


@pytest.mark.parametrize("name", GRAPHS)
def test_every_stage_ends_soon_and_sanely(name):
    graph = GRAPHS[name]
    started = time.process_time()
    thoughts = Thoughts(graph, NOW_S, HippocampusConfig())
    report = summarize(
        timeless(thoughts, {}), thoughts.standing, Room(), schemas=True, prune=True, **HEADER
    )
    full_report(report, thoughts)
    assert time.process_time() - started < 5.0
    memories_count = len(graph.entities) + len(graph.facts)
    assert len(thoughts.traces) == memories_count
    for values in (thoughts.standing.strength, thoughts.standing.salience, thoughts.association):
        assert values.shape == (memories_count,)
        assert ((values >= 0.0) & (values <= 1.0)).all()
    assert (thoughts.standing.kept.stability >= 1.0).all()
    pruning = report.pruning
    assert pruning.kept + pruning.spared + pruning.candidates == memories_count


@pytest.mark.parametrize("name", [name for name in GRAPHS if len(GRAPHS[name].entities)])
def test_every_memory_can_be_explained(name):
    thoughts = Thoughts(GRAPHS[name], NOW_S, HippocampusConfig())
    card = explain(thoughts, len(thoughts.snapshot.memory_uuids) - 1)
    assert card.strength == pytest.approx(float(thoughts.standing.strength[-1]))
    assert card.salience == pytest.approx(sum(f.contribution for f in card.factors), abs=1e-6)


def test_unknown_times_are_never_candidates():
    thoughts = Thoughts(GRAPHS["facts without episodes"], NOW_S, HippocampusConfig())
    unknown = np.isnan(thoughts.touched.last_touch_s)
    candidates = np.zeros(len(unknown), bool)
    candidates[thoughts.standing.pruning.ranked_candidates] = True
    assert not (unknown & candidates).any()


def test_fading_memories_fall_below_the_threshold_within_the_horizon():
    ages_days = [1.0, 150.0, 205.0, 212.0, 216.0, 224.0, 400.0]
    graph = small_graph(
        8, [(i, i + 1, [i]) for i in range(7)], [NOW_S - age * DAY_S for age in ages_days]
    )
    config = HippocampusConfig()
    now = Thoughts(graph, NOW_S, config)
    horizon_s = config.forgetting.fading_horizon_days * DAY_S
    later = Thoughts(graph, NOW_S + horizon_s, config)
    threshold = config.prune_below
    falls = (now.standing.strength >= threshold) & (later.standing.strength < threshold)
    assert falls.any() and not falls.all()
    assert now.standing.fading.tolist() == falls.tolist()
