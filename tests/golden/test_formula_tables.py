"""The formulas against tables that were computed with forty decimal digits and an exact ln 2."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from synapse.hippocampus.config import ForgettingConfig
from synapse.hippocampus.demand import demand
from synapse.hippocampus.forgetting import ForgettingCurve
from synapse.hippocampus.salience import SalienceParts, SalienceScorer

HERE = Path(__file__).parent
CURVE, SCORER = ForgettingCurve(ForgettingConfig(curve="exponential")), SalienceScorer()
POWER = ForgettingCurve(ForgettingConfig(curve="power"))
CURVES = pytest.mark.parametrize(
    ("curve", "suffix"), [(CURVE, ""), (POWER, "_power")], ids=["exponential", "power"]
)


def table(name: str) -> dict[str, np.ndarray]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key] or "nan") for row in rows]) for key in rows[0]}


@CURVES
def test_strength(curve: ForgettingCurve, suffix: str) -> None:
    rows = table(f"strength{suffix}.csv")
    strength = curve.strength(
        rows["age_days"], rows["salience"], rows["stability"], rows["days_since_recall"]
    )
    np.testing.assert_allclose(strength, rows["strength"], rtol=0, atol=2e-15)


@CURVES
def test_strength_of_single_memories_equals_the_column(curve: ForgettingCurve, suffix: str) -> None:
    rows = table(f"strength{suffix}.csv")
    names = ("age_days", "salience", "stability", "days_since_recall")
    single = [curve.strength(*map(float, row)) for row in zip(*map(rows.get, names), strict=True)]
    assert all(type(value) is float for value in single)
    np.testing.assert_allclose(single, rows["strength"], rtol=0, atol=2e-15)


def test_salience_and_importance() -> None:
    rows = table("salience.csv")
    parts = SalienceParts(
        SCORER.recency(rows["age_days"]),
        SCORER.frequency(rows["facts_count"]),
        SCORER.correction(rows["is_superseded"] > 0),
        SCORER.emotion(rows["hits_count"]),
    )
    np.testing.assert_allclose(SCORER.total(parts), rows["salience"], rtol=0, atol=2e-15)
    np.testing.assert_allclose(SCORER.importance(parts), rows["importance"], rtol=0, atol=2e-15)


@CURVES
def test_days_until(curve: ForgettingCurve, suffix: str) -> None:
    rows = table(f"days_until{suffix}.csv")
    for threshold, salience, days in zip(*rows.values(), strict=True):
        assert curve.days_until(float(threshold), float(salience)) == pytest.approx(days, rel=1e-13)


@pytest.mark.parametrize(
    ("salience", "rounded"),
    [
        (0.0, [0.9057, 0.5000, 0.2500, 0.0513, 0.0026, 0.0000]),
        (0.3, [0.9492, 0.6943, 0.4821, 0.2094, 0.0439, 0.0019]),
        (0.5, [0.9612, 0.7579, 0.5743, 0.3048, 0.0929, 0.0086]),
        (0.86, [0.9727, 0.8240, 0.6789, 0.4361, 0.1902, 0.0362]),
        (1.0, [0.9755, 0.8409, 0.7071, 0.4758, 0.2264, 0.0513]),
    ],
)
def test_strength_at_ages_a_reader_can_check_by_hand(salience: float, rounded: list[float]) -> None:
    ages_days = np.array([1.0, 7.0, 14.0, 30.0, 60.0, 120.0])
    assert CURVE.strength(ages_days, salience).round(4).tolist() == rounded


def test_demand() -> None:
    with (HERE / "demand.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        recalls_s = [float(day) * 86_400.0 for day in row["days"].split()]
        ranks = [float(rank.replace("?", "nan")) for rank in row["ranks"].split()]
        assert demand(recalls_s, ranks) == pytest.approx(float(row["demand"]), rel=0, abs=2e-15)
