from __future__ import annotations

import numpy as np
import pytest

from synapse.hippocampus.config import ForgettingConfig
from synapse.hippocampus.forgetting import ForgettingCurve

CURVE = ForgettingCurve()
DAY_S = 86_400.0
NAN = float("nan")


def test_half_life_runs_from_7_to_28_days() -> None:
    assert CURVE.half_life_days(0.0) == 7.0
    assert CURVE.half_life_days(1.0) == 28.0
    assert CURVE.half_life_days(0.86) == pytest.approx(7.0 * 3.58)
    assert CURVE.half_life_days(0.0, stability=2.0) == 14.0


@pytest.mark.parametrize("salience", [0.0, 0.25, 0.3, 0.86, 1.0])
def test_one_half_life_leaves_exactly_one_half(salience: float) -> None:
    assert CURVE.strength(CURVE.half_life_days(salience), salience) == 0.5


def test_values_out_of_range_are_bounded() -> None:
    assert CURVE.half_life_days(7.0) == CURVE.half_life_days(NAN) == 28.0
    assert CURVE.half_life_days(-1.0) == 7.0
    assert CURVE.half_life_days(0.0, stability=0.1) == 7.0
    assert CURVE.half_life_days(0.0, 1e9) == CURVE.half_life_days(0.0, NAN) == 42.0


@pytest.mark.parametrize("age_days", [NAN, -5.0, float("-inf")])
def test_unknown_and_future_ages_are_fresh(age_days: float) -> None:
    assert CURVE.strength(age_days, 0.0) == 1.0
    assert CURVE.strength(np.array([age_days, 7.0]), 0.0).tolist() == [1.0, 0.5]


def test_endless_age_is_forgotten() -> None:
    assert CURVE.strength(float("inf"), 1.0) == 0.0


@pytest.mark.parametrize(
    ("days_since_recall", "strength"),
    [(30.0, 0.2821), (1.0, 0.7727), (60.0, 0.0439), (NAN, 0.0439), (-2.0, 0.8)],
)
def test_recall_of_a_memory_60_days_old(days_since_recall: float, strength: float) -> None:
    assert round(CURVE.strength(60.0, 0.3, 1.0, days_since_recall), 4) == strength


def test_a_fresh_memory_gains_nothing_from_recall() -> None:
    assert CURVE.strength(0.5, 0.0, days_since_recall=0.1) == CURVE.strength(0.5, 0.0)


def test_the_threshold_is_crossed_after_30_days_at_salience_0() -> None:
    assert round(CURVE.days_until(0.05, 0.0), 2) == 30.25
    assert round(CURVE.days_until(0.05, 1.0), 2) == 121.01


def test_thresholds_at_the_ends() -> None:
    assert CURVE.days_until(0.0, 0.5) == CURVE.days_until(-1.0, 0.5) == float("inf")
    assert CURVE.days_until(1.0, 0.5) == CURVE.days_until(3.0, 0.5) == 0.0


def test_stability_is_1_without_repetition() -> None:
    assert CURVE.stability([]) == CURVE.stability([5.0]) == CURVE.stability([NAN, 5.0, NAN]) == 1.0


def test_massed_repetition_adds_next_to_nothing() -> None:
    assert CURVE.stability([60.0 * minute for minute in range(10)]) < 1.001


def test_spaced_repetition_adds_up_to_the_gain_each_and_is_capped() -> None:
    years_s = [365.0 * DAY_S * n for n in range(100)]
    assert CURVE.stability(years_s[:3]) == pytest.approx(2.0)
    assert CURVE.stability(years_s) == 6.0
    assert CURVE.stability([0.0, 7 * DAY_S]) == pytest.approx(1.0 + 0.5 * (1.0 - np.exp(-1.0)))


def test_stabilities_of_rows_equal_those_of_single_memories() -> None:
    rows = [[], [3.0], [9 * DAY_S, 0.0, NAN, 2 * DAY_S], [], [NAN], [0.0, DAY_S]]
    offsets = np.cumsum([0, *map(len, rows)])
    column = CURVE.stabilities(np.array([t for row in rows for t in row]), offsets)
    assert column.tolist() == [CURVE.stability(row) for row in rows]


def test_no_memories() -> None:
    assert CURVE.stabilities(np.zeros(0), np.zeros(1, np.int64)).tolist() == []
    assert CURVE.strength(np.zeros(0), np.zeros(0), np.zeros(0)).tolist() == []


def test_association_raises_stability_up_to_the_cap() -> None:
    assert CURVE.associated_stability(2.0, 0.0, stability_boost=0.5) == 2.0
    assert CURVE.associated_stability(2.0, 0.5, stability_boost=0.5) == 2.5
    assert CURVE.associated_stability(5.9, 1.0, stability_boost=0.5) == 6.0
    column = CURVE.associated_stability(np.array([1.0, 2.0]), np.array([0.0, 1.0]), 0.5)
    assert column.tolist() == [1.0, 3.0]


def test_floats_give_floats_and_arrays_give_arrays() -> None:
    column = np.array([1.0, 2.0])
    for value in (
        CURVE.half_life_days(0.5),
        CURVE.strength(1.0, 0.5, 1.0, 0.5),
        CURVE.days_until(0.05, 0.5),
        CURVE.stability([0.0, DAY_S]),
        CURVE.associated_stability(1.0, 0.5, 0.5),
    ):
        assert type(value) is float
    assert CURVE.strength(column, 0.5).shape == (2,)
    assert CURVE.strength(column, column / 2.0, column, column).shape == (2,)
    assert CURVE.days_until(0.05, column / 2.0).shape == (2,)


def test_constants_come_from_the_configuration() -> None:
    curve = ForgettingCurve(ForgettingConfig(base_half_life_days=1.0, salience_boost=0.0))
    assert curve.strength(1.0, 1.0) == 0.5
