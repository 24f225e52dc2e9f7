"""What rehearsal adds to stability: spacing, testing, the cap; one formula for one and for many."""

from __future__ import annotations

import numpy as np
import pytest

from synapse.hippocampus.config import ForgettingConfig
from synapse.hippocampus.recall import RECENT_MAX_COUNT
from synapse.hippocampus.stability import Recalls, Stability

STABILITY = Stability()
DAY_S = 86_400.0
YEAR_S = 365.0 * DAY_S
NAN = float("nan")


def test_it_is_1_without_repetition() -> None:
    assert STABILITY.of([]) == STABILITY.of([5.0]) == STABILITY.of([NAN, 5.0, NAN]) == 1.0
    assert STABILITY.of([], [5.0]) == STABILITY.of([], [NAN]) == 1.0


def test_massed_repetition_adds_next_to_nothing() -> None:
    assert STABILITY.of([60.0 * minute for minute in range(10)]) < 1.003
    assert STABILITY.of([0.0], [60.0]) < 1.01


def test_spaced_episodes_add_up_to_the_gain_each_and_are_capped() -> None:
    years_s = [YEAR_S * n for n in range(100)]
    assert STABILITY.of(years_s[:3]) == pytest.approx(3.0)
    assert STABILITY.of(years_s) == 32.0
    assert STABILITY.of([0.0, 3 * DAY_S]) == pytest.approx(1.0 + (1.0 - np.exp(-1.0)))


def test_a_recall_weighs_as_much_as_sixteen_episodes() -> None:
    assert STABILITY.of([0.0], [YEAR_S]) == pytest.approx(17.0)
    assert STABILITY.of([], [0.0, YEAR_S]) == pytest.approx(17.0)


def test_an_episode_takes_nothing_from_the_recall_after_it() -> None:
    assert STABILITY.of([0.0, YEAR_S], [YEAR_S + 1.0]) >= STABILITY.of([0.0], [YEAR_S + 1.0])


def test_an_episode_before_every_recall_opens_their_row() -> None:
    between = STABILITY.of([0.0, 2 * YEAR_S], [YEAR_S])
    assert between == pytest.approx(1.0 + 1.0 + 16.0)
    assert STABILITY.of([2 * YEAR_S], [YEAR_S]) == 1.0


def test_the_record_opens_the_row_of_recalls_where_no_episode_does() -> None:
    assert STABILITY.of([], [YEAR_S], recorded_s=0.0) == pytest.approx(17.0)
    assert STABILITY.of([NAN], [YEAR_S], recorded_s=0.0) == pytest.approx(17.0)
    assert STABILITY.of([YEAR_S - 1.0], [YEAR_S], recorded_s=0.0) == pytest.approx(17.0)
    assert STABILITY.of([], [YEAR_S], recorded_s=YEAR_S) == 1.0
    assert STABILITY.of([], [YEAR_S], recorded_s=NAN) == STABILITY.of([], [], recorded_s=0.0) == 1.0


def test_a_row_with_as_many_recalls_as_are_kept_is_as_firm_as_can_be() -> None:
    weak = Stability(ForgettingConfig(recall_gain=0.01))
    times_s = [60.0 * n for n in range(RECENT_MAX_COUNT)]
    assert weak.of([0.0], times_s[1:]) < 1.01
    assert weak.of([0.0], times_s) == 32.0
    assert Stability(ForgettingConfig(recall_gain=0.0)).of([0.0], times_s) == 1.0


def test_rows_equal_single_memories_in_any_order_of_recalls() -> None:
    rows = [[], [3.0], [9 * DAY_S, 0.0, NAN, 2 * DAY_S], [], [NAN], [0.0, DAY_S], [DAY_S]]
    recalls = [[], [5 * DAY_S, NAN], [DAY_S, 8 * DAY_S], [DAY_S, 0.0], [3.0], [], [0.0, 9 * DAY_S]]
    times = np.array([t for row in recalls for t in row])
    memory = np.repeat(np.arange(len(rows)), [*map(len, recalls)])
    shuffled = np.random.default_rng(3).permutation(len(times))
    column = STABILITY.column(
        np.array([t for row in rows for t in row]),
        np.cumsum([0, *map(len, rows)]),
        Recalls(times[shuffled], memory[shuffled]),
    )
    single = [STABILITY.of(*both) for both in zip(rows, recalls, strict=True)]
    assert column.tolist() == single
    assert single[2] > single[5] > 1.0


def test_no_memories() -> None:
    assert STABILITY.column(np.zeros(0), np.zeros(1, np.int64), Recalls()).tolist() == []


def test_association_raises_it_up_to_the_cap() -> None:
    assert STABILITY.raised(2.0, 0.0, boost=0.5) == 2.0
    assert STABILITY.raised(2.0, 0.5, boost=0.5) == 2.5
    assert STABILITY.raised(31.0, 1.0, boost=0.5) == 32.0
    column = STABILITY.raised(np.array([1.0, 2.0]), np.array([0.0, 1.0]), 0.5)
    assert column.tolist() == [1.0, 3.0]
    assert type(STABILITY.raised(1.0, 0.5, 0.5)) is float


def test_constants_come_from_the_configuration() -> None:
    config = ForgettingConfig(episode_gain=0.25, recall_gain=2.0, stability_max=3.0)
    assert Stability(config).of([0.0, YEAR_S]) == pytest.approx(1.25)
    assert Stability(config).of([0.0], [YEAR_S]) == pytest.approx(3.0)
