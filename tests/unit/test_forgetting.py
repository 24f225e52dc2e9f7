from __future__ import annotations

import numpy as np
import pytest

from synapse.hippocampus.config import ForgettingConfig
from synapse.hippocampus.forgetting import ForgettingCurve

EXPONENTIAL = ForgettingCurve(ForgettingConfig(curve="exponential"))
POWER = ForgettingCurve(ForgettingConfig(curve="power"))
NAN = float("nan")


@pytest.fixture(params=[EXPONENTIAL, POWER], ids=["exponential", "power"])
def curve(request: pytest.FixtureRequest) -> ForgettingCurve:
    return request.param


def test_half_life_runs_from_7_to_28_days(curve: ForgettingCurve) -> None:
    assert curve.half_life_days(0.0) == 7.0
    assert curve.half_life_days(1.0) == 28.0
    assert curve.half_life_days(0.86) == pytest.approx(7.0 * 3.58)
    assert curve.half_life_days(0.0, stability=2.0) == 14.0


@pytest.mark.parametrize("salience", [0.0, 0.25, 0.3, 0.86, 1.0])
def test_one_half_life_leaves_exactly_one_half(curve: ForgettingCurve, salience: float) -> None:
    assert curve.strength(curve.half_life_days(salience), salience) == 0.5


def test_values_out_of_range_are_bounded(curve: ForgettingCurve) -> None:
    assert curve.half_life_days(7.0) == curve.half_life_days(NAN) == 28.0
    assert curve.half_life_days(-1.0) == 7.0
    assert curve.half_life_days(0.0, stability=0.1) == 7.0
    most_days = 7.0 * curve.config.stability_max
    assert curve.half_life_days(0.0, 1e9) == curve.half_life_days(0.0, NAN) == most_days


@pytest.mark.parametrize("age_days", [NAN, -5.0, float("-inf")])
def test_unknown_and_future_ages_are_fresh(curve: ForgettingCurve, age_days: float) -> None:
    assert curve.strength(age_days, 0.0) == 1.0
    assert curve.strength(np.array([age_days, 7.0]), 0.0).tolist() == [1.0, 0.5]


def test_endless_age_is_forgotten(curve: ForgettingCurve) -> None:
    assert curve.strength(float("inf"), 1.0) == 0.0


@pytest.mark.parametrize(
    ("days_since_recall", "strength"),
    [(30.0, 0.2821), (1.0, 0.7727), (60.0, 0.0439), (NAN, 0.0439), (-2.0, 0.8)],
)
def test_recall_of_a_memory_60_days_old(days_since_recall: float, strength: float) -> None:
    assert round(EXPONENTIAL.strength(60.0, 0.3, 1.0, days_since_recall), 4) == strength


def test_a_fresh_memory_gains_nothing_from_recall(curve: ForgettingCurve) -> None:
    assert curve.strength(0.5, 0.0, days_since_recall=0.1) >= curve.strength(0.5, 0.0)
    assert EXPONENTIAL.strength(0.5, 0.0, days_since_recall=0.1) == EXPONENTIAL.strength(0.5, 0.0)


def test_the_seed_threshold_is_crossed_after_30_to_121_days() -> None:
    assert round(EXPONENTIAL.days_until(0.05, 0.0), 2) == 30.25
    assert round(EXPONENTIAL.days_until(0.05, 1.0), 2) == 121.01


def test_both_curves_agree_at_the_half_life_and_the_power_curve_has_the_longer_tail() -> None:
    ages_days = np.array([0.5, 3.5, 14.0, 70.0, 700.0])
    exponential, power = EXPONENTIAL.strength(ages_days, 0.0), POWER.strength(ages_days, 0.0)
    assert (power < exponential).tolist() == [True, True, False, False, False]


def test_a_quarter_is_left_after_33_half_lives_on_the_power_curve() -> None:
    assert POWER.days_until(0.25, 0.0) == pytest.approx(33.0 * 7.0)
    assert POWER.strength(33.0 * 28.0, 1.0) == pytest.approx(0.25)


def test_thresholds_at_the_ends(curve: ForgettingCurve) -> None:
    assert curve.days_until(0.0, 0.5) == curve.days_until(-1.0, 0.5) == float("inf")
    assert curve.days_until(1.0, 0.5) == curve.days_until(3.0, 0.5) == 0.0


def test_floats_give_floats_and_arrays_give_arrays(curve: ForgettingCurve) -> None:
    column = np.array([1.0, 2.0])
    for value in (
        curve.half_life_days(0.5),
        curve.strength(1.0, 0.5, 1.0, 0.5),
        curve.days_until(0.05, 0.5),
    ):
        assert type(value) is float
    assert curve.strength(column, 0.5).shape == (2,)
    assert curve.strength(column, column / 2.0, column, column).shape == (2,)
    assert curve.days_until(0.05, column / 2.0).shape == (2,)
    assert curve.strength(np.zeros(0), np.zeros(0), np.zeros(0)).tolist() == []


def test_constants_come_from_the_configuration() -> None:
    config = ForgettingConfig(base_half_life_days=1.0, salience_boost=0.0)
    assert ForgettingCurve(config).strength(1.0, 1.0) == 0.5
    hyperbola = ForgettingCurve(ForgettingConfig(power_exponent=1.0))
    assert hyperbola.strength(21.0, 0.0) == pytest.approx(0.25)
