"""Salience: how much a memory matters, from four signs that the graph shows.

===========  ======  =====================================================================
part         weight  value in [0, 1]
===========  ======  =====================================================================
recency        0.35  2^(−age / half-life), half-life 7 days
frequency      0.30  min(1, log10(1 + n)), n facts of an entity (or see fact_frequency)
correction     0.20  0.3 where a credible newer fact supersedes this one, else 0
emotion        0.15  min(1, 0.3 · h), h keyword hits
===========  ======  =====================================================================

With these constants salience is at most 0.35 + 0.30 + 0.20 · 0.3 + 0.15 = 0.86, because a
correction counts 0.3 at most. The forgetting curve slows decay by 1 + 3 · salience: by 3.58 in
the strongest case, not by 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, overload

import numpy as np

from synapse.hippocampus.config import SalienceConfig
from synapse.hippocampus.model import Bools, Floats, Ints
from synapse.hippocampus.numeric import Number, as_given, halved


@dataclass(frozen=True, slots=True)
class SalienceParts(Generic[Number]):
    """The four parts of one memory, or of a column of memories, each in [0, 1]."""

    recency: Number
    frequency: Number
    correction: Number
    emotion: Number


class SalienceScorer:
    """Scores memories by four weighted parts that stay visible.

    >>> scorer = SalienceScorer()
    >>> parts = SalienceParts(scorer.recency(7.0), scorer.frequency(3), 0.0, 0.0)
    >>> round(scorer.total(parts), 4), round(scorer.importance(parts), 4)
    (0.3556, 0.5306)
    """

    def __init__(self, config: SalienceConfig | None = None) -> None:
        self.config = config or SalienceConfig()

    def recency(self, age_days: Number) -> Number:
        """How fresh a memory is: 1 when just touched, one half after a half-life.

        recency = exp(−ln 2 · a / h)

        Args:
            age_days: a, days since the last touch; negative counts as 0, NaN (unknown) as fresh.

        Returns:
            In [0, 1]; h is ``recency_half_life_days``.

        >>> SalienceScorer().recency(7.0), SalienceScorer().recency(float("nan"))
        (0.5, 1.0)
        """
        return as_given(halved(age_days, self.config.recency_half_life_days), age_days)

    @overload
    def frequency(self, count: float) -> float: ...
    @overload
    def frequency(self, count: Ints | Floats) -> Floats: ...
    def frequency(self, count: float | Ints | Floats) -> float | Floats:
        """How often a memory occurs: logarithmic, full from 9 on.

        frequency = min(1, log10(1 + n))

        Args:
            count: n, for an entity the number of its facts; NaN (unknown) counts as full.

        Returns:
            In [0, 1].

        >>> [round(SalienceScorer().frequency(n), 3) for n in (0, 1, 9, 1_000)]
        [0.0, 0.301, 1.0, 1.0]
        """
        known = np.maximum(np.asarray(count, np.float64), 0.0)
        value: Floats = np.fmin(np.log10(1.0 + known), 1.0)
        return as_given(value, value)

    def fact_frequency(self, episodes_count: Ints, weaker_end_count: Ints) -> Floats:
        """Frequency of facts: their own support, and how well connected they are.

        frequency = (f(max(1, e)) + f(d)) / 2 with f(n) = min(1, log10(1 + n))

        A fact itself is at least one event, so e is at least 1 where its episode is not known.
        Of its two ends the less connected one counts: a fact about a hub is not important because
        the hub is, but a fact between two well-connected entities holds the graph together.

        Args:
            episodes_count: e, distinct episodes that support the fact, shape (facts,).
            weaker_end_count: d, facts of the end that has fewer of them, shape (facts,).

        Returns:
            Shape (facts,), in [0, 1].

        >>> SalienceScorer().fact_frequency(np.array([0, 9]), np.array([1, 9])).round(3).tolist()
        [0.301, 1.0]
        """
        support = self.frequency(np.maximum(episodes_count, 1))
        return 0.5 * (support + self.frequency(weaker_end_count))

    @overload
    def correction(self, is_superseded: bool) -> float: ...
    @overload
    def correction(self, is_superseded: Bools) -> Floats: ...
    def correction(self, is_superseded: bool | Bools) -> float | Floats:
        """Mistakes are remembered: ``correction_value`` where a memory was corrected, else 0.

        Args:
            is_superseded: whether a credible newer fact replaces this one. An ``invalid_at``
                alone is not enough.

        >>> SalienceScorer().correction(True), SalienceScorer().correction(False)
        (0.3, 0.0)
        """
        value = np.where(is_superseded, self.config.correction_value, 0.0)
        return as_given(value, value)

    @overload
    def emotion(self, hits_count: float) -> float: ...
    @overload
    def emotion(self, hits_count: Ints | Floats) -> Floats: ...
    def emotion(self, hits_count: float | Ints | Floats) -> float | Floats:
        """Words that stir raise attention, a few of them already in full.

        emotion = min(1, 0.3 · h)

        Args:
            hits_count: h, see :func:`~synapse.hippocampus.keywords.count_hits`.

        Returns:
            In [0, 1].

        >>> SalienceScorer().emotion(2), SalienceScorer().emotion(40)
        (0.6, 1.0)
        """
        known = np.maximum(np.asarray(hits_count, np.float64), 0.0)
        value: Floats = np.fmin(self.config.emotion_per_hit * known, 1.0)
        return as_given(value, value)

    def total(self, parts: SalienceParts[Number]) -> Number:
        """Salience now: the weighted sum of the four parts.

        Returns:
            In [0, 1], with the default constants at most 0.86.

        >>> round(SalienceScorer().total(SalienceParts(1.0, 1.0, 0.3, 1.0)), 4)
        0.86
        """
        config = self.config
        return as_given(
            np.minimum(
                config.recency_weight * np.asarray(parts.recency, np.float64)
                + config.frequency_weight * np.asarray(parts.frequency, np.float64)
                + config.correction_weight * np.asarray(parts.correction, np.float64)
                + config.emotion_weight * np.asarray(parts.emotion, np.float64),
                1.0,
            ),
            parts.recency,
        )

    def importance(self, parts: SalienceParts[Number]) -> Number:
        """Salience at the moment of the last touch: the total with recency 1.

        This is what the forgetting curve takes. Recency falls with age, and so does strength;
        with the present salience age would be counted twice.

        >>> round(SalienceScorer().importance(SalienceParts(0.0, 0.0, 0.0, 0.0)), 4)
        0.35
        """
        fresh = np.ones_like(np.asarray(parts.recency, np.float64))
        return self.total(
            SalienceParts(
                as_given(fresh, parts.recency), parts.frequency, parts.correction, parts.emotion
            )
        )
