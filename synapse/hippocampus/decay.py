"""Two laws of forgetting with the same half-life: what is left of 1 after so many half-lives.

The exponential is the law of the seed and of radioactive atoms: every half-life takes half of
what is left. People forget otherwise, fast at first and then ever more slowly, and a power law
describes the published savings scores and reviews far better (``docs/quality.md`` has the
figures). Both laws leave exactly one half after one half-life, so a half-life means the same in
either; they differ in the tail.

Sources: H. Ebbinghaus, *Über das Gedächtnis*, 1885; J. T. Wixted and E. B. Ebbesen, On the form
of forgetting, Psychological Science 2 (1991), doi:10.1111/j.1467-9280.1991.tb00175.x; J. M. J.
Murre and J. Dros, PLoS ONE 10 (2015), doi:10.1371/journal.pone.0120644.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from synapse.hippocampus.model import Floats


class Decay(Protocol):
    """What is left after a time, and its exact inverse."""

    def left(self, half_lives_count: float | Floats) -> Any:
        """What is left of 1, in [0, 1]. Negative counts as none, NaN (unknown) leaves all."""

    def half_lives(self, left: float | Floats) -> Any:
        """After how many half-lives so much is left; 0 for 1 and more, infinite for 0."""


@dataclass(frozen=True, slots=True)
class ExponentialDecay:
    """R(x) = 2^(−x), with x in half-lives.

    >>> ExponentialDecay().left(2.0).item(), ExponentialDecay().half_lives(0.25).item()
    (0.25, 2.0)
    """

    def left(self, half_lives_count: float | Floats) -> Any:
        """See :class:`Decay`."""
        return np.fmin(np.exp2(-np.maximum(half_lives_count, 0.0)), 1.0)

    def half_lives(self, left: float | Floats) -> Any:
        """x = log2(1 / R)"""
        with np.errstate(divide="ignore"):
            return np.abs(np.log2(np.clip(left, 0.0, 1.0)))


@dataclass(frozen=True, slots=True)
class PowerDecay:
    """R(x) = (1 + c · x)^(−a) with c = 2^(1/a) − 1, with x in half-lives.

    >>> decay = PowerDecay(exponent=0.2)
    >>> decay.left(np.array([0.0, 1.0, 33.0])).round(3).tolist()
    [1.0, 0.5, 0.25]
    >>> round(decay.half_lives(0.25).item(), 9)
    33.0
    """

    exponent: float
    """a: the smaller, the longer the tail."""

    @property
    def _scale(self) -> float:
        return float(np.expm1(np.log(2.0) / self.exponent))

    def left(self, half_lives_count: float | Floats) -> Any:
        """See :class:`Decay`."""
        with np.errstate(over="ignore"):
            spread = np.log1p(self._scale * np.maximum(half_lives_count, 0.0))
        return np.fmin(np.exp(-self.exponent * spread), 1.0)

    def half_lives(self, left: float | Floats) -> Any:
        """x = (R^(−1/a) − 1) / c"""
        with np.errstate(divide="ignore", over="ignore"):
            halvings = np.abs(np.log(np.clip(left, 0.0, 1.0)))
            return np.expm1(halvings / self.exponent) / self._scale
