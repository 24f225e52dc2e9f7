"""Forgetting: how strong a memory is now, and when it will have faded.

A memory fades by one of the two laws of :mod:`~synapse.hippocampus.decay`, with a half-life of
its own: salience makes it longer, and so does every rehearsal
(:mod:`~synapse.hippocampus.stability`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from synapse.hippocampus.config import ForgettingConfig
from synapse.hippocampus.decay import Decay, ExponentialDecay, PowerDecay
from synapse.hippocampus.model import Floats
from synapse.hippocampus.numeric import Number, as_given

NEVER = float("nan")
"""Days since a recall that did not happen."""


class ForgettingCurve:
    """Forgetting with a half-life of each memory's own.

    >>> curve = ForgettingCurve()
    >>> curve.strength(7.0, salience=0.0), curve.strength(28.0, salience=1.0)
    (0.5, 0.5)
    """

    def __init__(self, config: ForgettingConfig | None = None) -> None:
        self.config = config or ForgettingConfig()
        self.decay: Decay = (
            PowerDecay(self.config.power_exponent)
            if self.config.curve == "power"
            else ExponentialDecay()
        )

    def half_life_days(self, salience: Number, stability: Number | float = 1.0) -> Number:
        """After how many days half the strength is left.

        h = h0 · (1 + b · s) · σ, in days; for the exponential the time constant is τ = h / ln 2

        Args:
            salience: s in [0, 1], of the moment of the last touch. NaN (unknown) counts as 1.
            stability: σ in [1, ``stability_max``]. NaN counts as the most.

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

        S = R(t / h), and with a recall r < t days ago max(S, c · R(r / (k · h)))

        Args:
            age_days: t, days since the last touch; negative counts as 0, NaN (unknown) as fresh.
            salience: see :meth:`half_life_days`.
            stability: see :meth:`half_life_days`.
            days_since_recall: r; NaN where the memory was never recalled.

        Returns:
            In [0, 1]; R is the decay, h the half-life, c ``recall_ceiling``, k ``recall_boost``.

        >>> curve = ForgettingCurve(ForgettingConfig(curve="exponential"))
        >>> round(curve.strength(60.0, 0.3), 4)
        0.0439
        >>> round(curve.strength(60.0, 0.3, days_since_recall=1.0), 4)
        0.7727
        >>> round(ForgettingCurve().strength(60.0, 0.3), 4)
        0.3717
        """
        half_life = self._half_life_days(salience, stability)
        unaided = self._left(age_days, half_life)
        recalled = self.config.recall_ceiling * self._left(
            days_since_recall, self.config.recall_boost * half_life
        )
        is_recalled = np.less(days_since_recall, age_days)
        return as_given(np.where(is_recalled, np.maximum(unaided, recalled), unaided), age_days)

    def days_until(
        self, threshold: Number | float, salience: Number, stability: Number | float = 1.0
    ) -> Number:
        """Age at which strength has fallen to the threshold: the inverse of :meth:`strength`.

        t = h · R⁻¹(θ)

        Args:
            threshold: θ; from 1 on it is reached at once, 0 is never reached.
            salience: see :meth:`half_life_days`.
            stability: see :meth:`half_life_days`.

        Returns:
            Days since the last touch, from 0 to infinity.

        >>> round(ForgettingCurve().days_until(0.3, salience=0.0), 2)
        92.7
        >>> curve = ForgettingCurve(ForgettingConfig(curve="exponential"))
        >>> round(curve.days_until(0.05, salience=0.0), 2)
        30.25
        """
        return as_given(
            self._half_life_days(salience, stability) * self.decay.half_lives(threshold), salience
        )

    def _left(self, elapsed_days: Any, half_life_days: Any) -> Any:
        with np.errstate(over="ignore"):
            return self.decay.left(np.divide(np.maximum(elapsed_days, 0.0), half_life_days))

    def _half_life_days(self, salience: float | Floats, stability: float | Floats) -> Any:
        config = self.config
        bounded_salience = np.maximum(np.fmin(salience, 1.0), 0.0)
        bounded_stability = np.maximum(np.fmin(stability, config.stability_max), 1.0)
        stretch = (1.0 + config.salience_boost * bounded_salience) * bounded_stability
        return config.base_half_life_days * stretch
