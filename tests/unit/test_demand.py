"""Demand: the ranks and rates of recalls, and what they do to a memory."""

from __future__ import annotations

import numpy as np
import pytest

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.demand import demand, demands
from synapse.hippocampus.recall import RECENT_MAX_COUNT, RecallProfile, RecallSet, fold
from synapse.hippocampus.recalled import Recalled
from synapse.hippocampus.stability import Recalls
from synapse.hippocampus.stages import Thoughts
from tests.support.small_graphs import small_graph

DAY_S = 86_400.0
NOW_S = 20_000 * DAY_S
FACT = 2
GRAPH = small_graph(2, [(0, 1, [0])], [NOW_S - 800 * DAY_S])


def recalled(*ranks_by_day: tuple[float, int]) -> Recalled:
    """What is known after the fact came in these ranks, so many days ago."""
    sets = [
        RecallSet((("fact-0", rank),), "search", NOW_S - day * DAY_S) for day, rank in ranks_by_day
    ]
    return Recalled(profiles=fold({}, {}, sets)[0])


def thoughts(known: Recalled, **forgetting: float) -> Thoughts:
    config = HippocampusConfig.model_validate({"forgetting": forgetting})
    return Thoughts(GRAPH, NOW_S, config, known)


def test_nobody_asked_or_no_rank_is_known() -> None:
    assert demand([], []) == 0.0
    assert demand([0.0, DAY_S], [np.nan, 0.0]) == 0.0
    assert demands(Recalls(np.zeros(2), np.array([0, 2])), 3).tolist() == [0.0] * 3
    assert demands(Recalls(), 2).tolist() == [0.0, 0.0]


def test_the_first_place_says_more_than_the_ninth_and_often_more_than_once() -> None:
    first, ninth = demand([0.0], [1]), demand([0.0], [9])
    assert 0.0 < ninth < first < demand([0.0, 90 * DAY_S], [1, 1]) < demand([0.0, DAY_S], [1, 1])


def test_a_week_is_over_after_seven_days() -> None:
    apart, together = demand([0.0, 7 * DAY_S], [1, 1]), demand([0.0, 7 * DAY_S - 1.0], [1, 1])
    assert apart == demand([0.0, 70 * DAY_S], [1, 1]) < together


def test_rows_equal_single_memories_in_any_order() -> None:
    rng = np.random.default_rng(7)
    memory = rng.integers(0, 9, 300)
    times_s, ranks = rng.random(300) * 90 * DAY_S, rng.integers(0, 12, 300).astype(float)
    times_s[:5], ranks[5:9] = np.nan, np.nan
    together = demands(Recalls(times_s, memory, ranks), 10)
    single = [demand(times_s[memory == i], ranks[memory == i]) for i in range(10)]
    np.testing.assert_allclose(together, single, rtol=1e-14)
    assert together[9] == 0.0


def test_what_answers_best_lasts_longest() -> None:
    best, worse, unknown = (
        thoughts(recalled((400.0, 1))),
        thoughts(recalled((400.0, 30))),
        thoughts(Recalled(profiles={"fact-0": RecallProfile(recent_s=(NOW_S - 400 * DAY_S,))})),
    )
    lasting = [known.standing.lasts_days[FACT] for known in (best, worse, unknown)]
    assert lasting == sorted(lasting, reverse=True) and lasting[0] > lasting[2]
    assert best.standing.strength[FACT] > unknown.standing.strength[FACT]
    assert best.demand[FACT] == demand([0.0], [1])
    factor = 1.0 + 0.25 * best.demand[FACT]
    assert best.stability[FACT] == pytest.approx(unknown.stability[FACT] * factor)


def test_it_can_be_switched_off() -> None:
    without = thoughts(recalled((400.0, 1)), demand_boost=0.0)
    assert without.stability[FACT] == pytest.approx(17.0)
    assert thoughts(recalled((400.0, 1)), demand_boost=10.0).stability[FACT] == 32.0


def test_a_day_counts_once_with_its_best_rank() -> None:
    hours = [(9.0, 5), (9.0 - 5 / 24, 2), (9.0 - 6 / 24, 7)]
    assert thoughts(recalled(*hours)).demand[FACT] == thoughts(recalled((9.0, 2))).demand[FACT]


def test_ranks_go_with_the_hours_that_are_no_longer_kept() -> None:
    days = range(RECENT_MAX_COUNT + 16, -1, -1)
    known = recalled(*((float(day), 1 + day) for day in days)).profiles["fact-0"]
    assert len(known.recent_s) == len(known.recent_ranks) == RECENT_MAX_COUNT
    assert known.recent_ranks[-1] == 1 and known.recent_ranks[0] == RECENT_MAX_COUNT


def test_a_further_recall_in_a_poor_place_takes_nothing_where_the_oldest_falls_out() -> None:
    often = [(20.0 * n + 1.0, 700) for n in range(RECENT_MAX_COUNT)]
    assert 0.0 < thoughts(recalled(*often[:-1])).demand[FACT] < 1.0
    assert thoughts(recalled(*often)).demand[FACT] == 1.0
    assert thoughts(recalled(*often, (0.0, 999_999))).demand[FACT] == 1.0
