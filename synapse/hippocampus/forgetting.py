"""Forgetting: how strong a memory is now, and when it will have faded.

Strength halves at a steady rate; salience and spaced repetition make the half-life longer.

The exponential is the law that is *configured* here, not the one that Ebbinghaus fitted: his
savings scores of 1885 fall fast and then very slowly, and a power law or his own logarithmic
equation describes them far better than any exponential.

Sources: H. Ebbinghaus, *Über das Gedächtnis*, 1885, for forgetting as a function of time. The
spacing effect (repetitions far apart help more than repetitions close together): N. J. Cepeda et
al., Distributed practice in verbal recall tasks, Psychological Bulletin 132 (2006),
doi:10.1037/0033-2909.132.3.354; the idea is theirs, the formula below is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from synapse.hippocampus.config import ForgettingConfig
from synapse.hippocampus.model import Floats, Ints
from synapse.hippocampus.numeric import SECONDS_PER_DAY, Number, as_given, halved

NEVER = float("nan")
"""Days since a recall that did not happen."""


class ForgettingCurve:
    """Exponential forgetting with a half-life of each memory's own.

    >>> curve = ForgettingCurve()
    >>> curve.strength(7.0, salience=0.0), curve.strength(28.0, salience=1.0)
    (0.5, 0.5)
    """

    def __init__(self, config: ForgettingConfig | None = None) -> None:
        self.config = config or ForgettingConfig()

    def half_life_days(self, salience: Number, stability: Number | float = 1.0) -> Number:
        """After how many days half the strength is left.

        h = h0 · (1 + b · s) · σ, in days; the time constant is τ = h / ln 2

        Args:
            salience: s in [0, 1], of the moment of the last touch. NaN (unknown) counts as 1.
            stability: σ in [1, ``stability_max``], see :meth:`stability`. NaN counts as the most.

        Returns:
            Days; h0 is ``base_half_life_days``, b is ``salience_boost``.

        >>> ForgettingCurve().half_life_days(0.0), ForgettingCurve().half_life_days(1.0)
        (7.0, 28.0)
        """
        return as_given(self._half_life_days(salience, stability), salience)

    def strength(
        self,
        age_days: Number,
        salience: Number | float,
        stability: Number | float = 1.0,
        days_since_recall: Number | float = NEVER,
    ) -> Number:
        """How much of a memory is left.

        S = 2^(−t / h), and with a recall r < t days ago max(S, c · 2^(−r / (k · h)))

        Args:
            age_days: t, days since the last touch; negative counts as 0, NaN (unknown) as fresh.
            salience: see :meth:`half_life_days`.
            stability: see :meth:`half_life_days`.
            days_since_recall: r; NaN where the memory was never recalled.

        Returns:
            In [0, 1]; h is the half-life, c is ``recall_ceiling``, k is ``recall_boost``.

        >>> curve = ForgettingCurve()
        >>> round(curve.strength(60.0, 0.3), 4)
        0.0439
        >>> round(curve.strength(60.0, 0.3, days_since_recall=1.0), 4)
        0.7727
        """
        half_life = self._half_life_days(salience, stability)
        unaided = halved(age_days, half_life)
        recalled = self.config.recall_ceiling * halved(
            days_since_recall, self.config.recall_boost * half_life
        )
        is_recalled = np.less(days_since_recall, age_days)
        return as_given(np.where(is_recalled, np.maximum(unaided, recalled), unaided), age_days)

    def days_until(
        self, threshold: float, salience: Number, stability: Number | float = 1.0
    ) -> Number:
        """Age at which strength has fallen to the threshold: the inverse of :meth:`strength`.

        t = h · log2(1 / θ)

        Args:
            threshold: θ; from 1 on it is reached at once, 0 is never reached.
            salience: see :meth:`half_life_days`.
            stability: see :meth:`half_life_days`.

        Returns:
            Days since the last touch, from 0 to infinity.

        >>> round(ForgettingCurve().days_until(0.05, salience=0.0), 2)
        30.25
        """
        with np.errstate(divide="ignore"):
            halvings_count = np.abs(np.log2(np.minimum(np.maximum(threshold, 0.0), 1.0)))
        return as_given(self._half_life_days(salience, stability) * halvings_count, salience)

    def stability(self, times_s: Floats | Sequence[float]) -> float:
        """What spaced repetition of one memory adds to its half-life.

        σ = min(σ_max, 1 + g · Σ (1 − exp(−d / D))), over the gaps d between repetitions in order
        of time

        Without a repetition σ is 1. Repetitions close together add next to nothing, each one far
        from the last adds up to g. A further repetition never lowers σ: at either end it adds a
        gap, and in the middle it splits one, d = x + y, where 1 − exp(−d / D) is concave and 0
        at 0, hence subadditive: f(x) + f(y) >= f(x + y).

        Args:
            times_s: when the memory was rehearsed, seconds since 1970, in any order. Unknown
                times are left out.

        Returns:
            In [1, ``stability_max``]; g is ``stability_gain``, D is ``spacing_days``.

        >>> day = 86_400.0
        >>> curve = ForgettingCurve()
        >>> curve.stability([0.0]), round(curve.stability([0.0, 1.0, 2.0]), 4)
        (1.0, 1.0)
        >>> round(curve.stability([0.0, 7 * day, 14 * day]), 4)
        1.6321
        """
        times = np.asarray(times_s, np.float64)
        return float(self.stabilities(times, np.array([0, len(times)], np.int64))[0])

    def stabilities(self, times_s: Floats, offsets: Ints) -> Floats:
        """:meth:`stability` of many memories at once.

        Args:
            times_s: the rehearsals of all memories, memory after memory.
            offsets: those of memory i are ``times_s[offsets[i]:offsets[i + 1]]``.

        Returns:
            Shape (memories,).

        >>> ForgettingCurve().stabilities(np.zeros(3), np.array([0, 1, 1, 3])).tolist()
        [1.0, 1.0, 1.0]
        """
        memories_count = len(offsets) - 1
        memory = np.repeat(np.arange(memories_count), np.diff(offsets))
        times, memory = _in_order(times_s, memory)
        is_gap = memory[1:] == memory[:-1]
        with np.errstate(over="ignore"):
            gaps_days = np.diff(times)[is_gap] / SECONDS_PER_DAY
            spaced = -np.expm1(-gaps_days / self.config.spacing_days)
        # Summed memory by memory, so that one memory's last digit never depends on another.
        sums: Floats = np.bincount(memory[1:][is_gap], spaced, memories_count).astype(np.float64)
        return np.minimum(1.0 + self.config.stability_gain * sums, self.config.stability_max)

    def associated_stability(
        self, stability: Number, association_weight: Number | float, stability_boost: float
    ) -> Number:
        """Stability of a memory that is tied to others by co-activation.

        σ' = min(σ_max, σ · (1 + β · w))

        Args:
            stability: σ, see :meth:`stability`.
            association_weight: w in [0, 1], see :mod:`~synapse.hippocampus.hebbian`.
            stability_boost: β of :class:`~synapse.hippocampus.config.HebbianConfig`.

        Returns:
            In [σ, ``stability_max``].

        >>> ForgettingCurve().associated_stability(2.0, 0.5, stability_boost=0.5)
        2.5
        """
        bounded_weight = np.maximum(np.fmin(association_weight, 1.0), 0.0)
        raised = np.multiply(stability, 1.0 + stability_boost * bounded_weight)
        return as_given(np.fmin(raised, self.config.stability_max), stability)

    def _half_life_days(self, salience: float | Floats, stability: float | Floats) -> Any:
        config = self.config
        bounded_salience = np.maximum(np.fmin(salience, 1.0), 0.0)
        bounded_stability = np.maximum(np.fmin(stability, config.stability_max), 1.0)
        stretch = (1.0 + config.salience_boost * bounded_salience) * bounded_stability
        return config.base_half_life_days * stretch


def _in_order(times_s: Floats, memory: Ints) -> tuple[Floats, Ints]:
    """Known times only, each memory's in order; columns that are so already are not copied."""
    known = np.isfinite(times_s)
    if not known.all():
        times_s, memory = times_s[known], memory[known]
    if ((times_s[1:] < times_s[:-1]) & (memory[1:] == memory[:-1])).any():
        order = np.lexsort((times_s, memory))
        times_s, memory = times_s[order], memory[order]
    return times_s, memory
