from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from synapse.hippocampus.config import SalienceConfig
from synapse.hippocampus.salience import SalienceParts, SalienceScorer

SCORER = SalienceScorer()
NAN = float("nan")


def entity(age_days: float, facts: int, superseded: bool, hits: int) -> SalienceParts[float]:
    return SalienceParts(
        SCORER.recency(age_days),
        SCORER.frequency(facts),
        SCORER.correction(superseded),
        SCORER.emotion(hits),
    )


def test_recency_halves_exactly_every_half_life() -> None:
    assert [SCORER.recency(7.0 * n) for n in range(4)] == [1.0, 0.5, 0.25, 0.125]


@pytest.mark.parametrize("age_days", [NAN, -1.0, -1e300, float("-inf"), 0.0])
def test_unknown_and_future_ages_are_fresh(age_days: float) -> None:
    assert SCORER.recency(age_days) == 1.0
    assert SCORER.recency(np.array([age_days])).tolist() == [1.0]


def test_frequency_is_full_at_nine_and_stays_full() -> None:
    assert SCORER.frequency(0) == 0.0
    assert SCORER.frequency(8) < 1.0
    assert [SCORER.frequency(n) for n in (9, 10, 10_000, float("inf"), NAN)] == [1.0] * 5
    assert SCORER.frequency(-5) == 0.0


def test_four_keyword_hits_are_full_emotion() -> None:
    assert [SCORER.emotion(n) for n in (0, 1, 4, 10**9)] == [0.0, 0.3, 1.0, 1.0]


def test_only_a_credible_correction_counts() -> None:
    assert SCORER.correction(np.array([True, False])).tolist() == [0.3, 0.0]


@pytest.mark.parametrize(
    ("parts", "salience"),
    [
        (entity(0.0, 0, False, 0), 0.3500),
        (entity(7.0, 3, False, 0), 0.3556),
        (entity(7.0, 3, True, 0), 0.4156),
        (entity(30.0, 9, False, 3), 0.4529),
        (entity(0.0, 9, True, 4), 0.8600),
    ],
)
def test_the_total_of_known_entities(parts: SalienceParts[float], salience: float) -> None:
    assert round(SCORER.total(parts), 4) == salience


def test_importance_does_not_depend_on_age() -> None:
    young, old = (SCORER.importance(entity(age, 3, True, 1)) for age in (0.0, 1e6))
    assert young == old == SCORER.total(entity(0.0, 3, True, 1))


def test_a_fact_counts_as_one_event_where_its_episode_is_unknown() -> None:
    without, with_one = SCORER.fact_frequency(np.array([0, 1]), np.array([2, 2]))
    assert without == with_one > 0.0


def test_a_fact_is_as_connected_as_its_weaker_end() -> None:
    values = SCORER.fact_frequency(np.array([1, 1, 9]), np.array([1, 9, 9]))
    assert values[0] == SCORER.frequency(1)
    assert values[0] < values[1] < values[2] == 1.0


def test_floats_give_floats_and_arrays_give_arrays() -> None:
    column = np.array([0.0, 7.0])
    assert type(SCORER.recency(7.0)) is float
    assert type(SCORER.frequency(3)) is float
    assert type(SCORER.correction(True)) is float
    assert type(SCORER.emotion(1)) is float
    assert type(SCORER.total(entity(1.0, 1, False, 1))) is float
    parts = SalienceParts(SCORER.recency(column), column / 7.0, column * 0.0, column * 0.0)
    assert SCORER.total(parts).shape == SCORER.importance(parts).shape == (2,)
    assert SCORER.frequency(np.zeros(0, np.int64)).shape == (0,)


def test_columns_kept_in_single_precision_are_scored_in_double() -> None:
    column = np.array([0.5], np.float32)
    assert SCORER.total(SalienceParts(column, column, column, column)).dtype == np.float64


def test_constants_come_from_the_configuration() -> None:
    scorer = SalienceScorer(SalienceConfig(recency_half_life_days=30.0, emotion_per_hit=0.5))
    assert scorer.recency(30.0) == 0.5
    assert scorer.emotion(2) == 1.0
    with pytest.raises(ValidationError, match="four weights must add up to 1"):
        SalienceConfig(recency_weight=0.5)
