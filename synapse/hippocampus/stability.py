"""Stability: how much rehearsal makes a memory's half-life longer.

Rehearsals are the episodes that support a memory and its recalls. Two findings about
people shape what they add:

* *Spacing*: repetitions far apart help more than repetitions close together. N. J. Cepeda et al.,
  Distributed practice in verbal recall tasks, Psychological Bulletin 132 (2006),
  doi:10.1037/0033-2909.132.3.354.
* *Testing*: what had to be recalled is kept far longer than what was only met again. H. L.
  Roediger and J. D. Karpicke, Test-enhanced learning, Psychological Science 17 (2006),
  doi:10.1111/j.1467-9280.2006.01693.x. So a recall weighs more than a further episode.

The ideas are theirs, the formulas below are ours. Stability is a function of the times of the
rehearsals alone: it is worked out anew each time and never added to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from synapse.hippocampus.config import ForgettingConfig
from synapse.hippocampus.model import Bools, Floats, Ints
from synapse.hippocampus.numeric import SECONDS_PER_DAY, Number, as_given
from synapse.hippocampus.recall import RECENT_MAX_COUNT


def _none() -> Floats:
    return np.zeros(0)


def _nobody() -> Ints:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Recalls:
    """Recalls of many memories: when, and of which. Shape (recalls,), in any order."""

    times_s: Floats = field(default_factory=_none)
    memory: Ints = field(default_factory=_nobody)
    """Number of the memory, in the order of every per-memory array."""
    ranks: Floats | None = None
    """In which place the memory came, from 1; NaN where unknown, ``None`` where all are."""

    @property
    def known_ranks(self) -> Floats:
        """The ranks, NaN where unknown."""
        return np.full(len(self.times_s), np.nan) if self.ranks is None else self.ranks


class Stability:
    """Works out stability from the times of rehearsals.

    >>> stability, day = Stability(), 86_400.0
    >>> stability.of([0.0]), stability.of([0.0, 365 * day]), stability.of([0.0], [365 * day])
    (1.0, 2.0, 17.0)
    """

    def __init__(self, config: ForgettingConfig | None = None) -> None:
        self.config = config or ForgettingConfig()

    def of(
        self,
        episodes_s: Sequence[float],
        recalls_s: Sequence[float] = (),
        recorded_s: float = float("nan"),
    ) -> float:
        """What the rehearsals of one memory make of its half-life.

        σ = min(σ_max, 1 + g_e · Σ (1 − exp(−d / D)) + g_r · Σ (1 − exp(−r / D)))

        d runs over the gaps between the episodes in order of time, r over the gaps between the
        recalls; the first episode, or the record of the memory if that is older or there is no
        episode, opens their row where it is older than every recall.

        Without a repetition σ is 1. Repetitions close together add next to nothing, each one far
        from the last adds up to its gain. A further rehearsal never lowers σ: at either end of a
        row it adds a gap, and in the middle it splits one, d = x + y, where f(d) = 1 − exp(−d/D)
        is concave and 0 at 0, hence f(x) + f(y) >= f(x + y). The two kinds stand in rows of their
        own so that an episode never takes from what a recall gives. So no recall needs to be left
        out for being close to another: it adds next to nothing by itself.

        With :data:`~synapse.hippocampus.recall.RECENT_MAX_COUNT` recalls older ones are no longer
        known: then σ is σ_max (unless g_r is 0), so that one more, which takes the place of the
        oldest, does not lower it.

        Args:
            episodes_s: when episodes supported the memory, seconds since 1970, in any order.
                Unknown times are left out, here and in the next.
            recalls_s: when it was recalled.
            recorded_s: when the memory itself was recorded.

        Returns:
            In [1, ``stability_max``]; g_e is ``episode_gain``, g_r ``recall_gain``, D
            ``spacing_days``.

        >>> day = 86_400.0
        >>> round(Stability().of([0.0, 1.0, 2.0]), 4)
        1.0
        >>> round(Stability().of([0.0, 3 * day, 6 * day]), 4)
        2.2642
        """
        episodes, recalls = np.asarray(episodes_s, np.float64), np.asarray(recalls_s, np.float64)
        recalled = Recalls(recalls, np.zeros(len(recalls), np.int64))
        offsets = np.array([0, len(episodes)], np.int64)
        return float(self.column(episodes, offsets, recalled, np.array([recorded_s]))[0])

    def column(
        self,
        times_s: Floats,
        offsets: Ints,
        recalls: Recalls | None = None,
        recorded_s: Floats | None = None,
    ) -> Floats:
        """:meth:`of` many memories at once.

        Args:
            times_s: the episodes of all memories, memory after memory.
            offsets: those of memory i are ``times_s[offsets[i]:offsets[i + 1]]``.
            recalls: the recalls of those memories that have any.
            recorded_s: when each memory was recorded, shape (memories,); NaN where unknown.

        Returns:
            Shape (memories,).

        >>> Stability().column(np.zeros(3), np.array([0, 1, 1, 3])).tolist()
        [1.0, 1.0, 1.0]
        """
        memories_count = len(offsets) - 1
        memory = np.repeat(np.arange(memories_count), np.diff(offsets))
        times_s, memory = _in_order(times_s, memory)
        sums = self.config.episode_gain * self._spaced(times_s, memory, memories_count)
        if recalls is not None and len(recalls.times_s):
            opened_s = _opened_s(times_s, memory, memories_count)
            if recorded_s is not None:
                known_s = np.where(np.isfinite(recorded_s), recorded_s, np.nan)
                opened_s = np.fmin(opened_s, known_s)
            rows = _with_opening(recalls, opened_s)
            sums += self.config.recall_gain * self._spaced(*_in_order(*rows), memories_count)
            if self.config.recall_gain:
                sums[_is_full(recalls, memories_count)] = np.inf
        return np.minimum(1.0 + sums, self.config.stability_max)

    def raised(self, stability: Number, weight: Number | float, boost: float) -> Number:
        """Stability of a memory that more than its rehearsals speaks for.

        σ' = min(σ_max, σ · (1 + β · w))

        Args:
            stability: σ, see :meth:`of`.
            weight: w in [0, 1], its association (:mod:`~synapse.hippocampus.hebbian`) or the
                demand for it (:mod:`~synapse.hippocampus.demand`); NaN (unknown) counts as the
                most.
            boost: β, ``stability_boost`` or ``demand_boost``.

        Returns:
            In [σ, ``stability_max``].

        >>> Stability().raised(2.0, 0.5, boost=0.5)
        2.5
        """
        bounded_weight = np.maximum(np.fmin(weight, 1.0), 0.0)
        raised = np.multiply(stability, 1.0 + boost * bounded_weight)
        return as_given(np.fmin(raised, self.config.stability_max), stability)

    def durable(
        self, stability: Number, lifetime_days: Number | float, lasts_days: float
    ) -> Number:
        """Stability of a fact whose relation is known to last.

        σ' = max(σ, min(σ_max, L / T))

        What is expected to be still true is not forgotten: such a fact stays above the threshold
        at least as long as half of the facts of its relation stay true. A short life never makes
        a memory weaker; that a fact has outlived its relation is a hint of its own.

        Args:
            stability: σ, see :meth:`of`.
            lifetime_days: L, the median lifetime of the relation's facts; NaN where unknown.
            lasts_days: T, how long a memory of salience 0 and stability 1 stays above it.

        Returns:
            In [σ, ``stability_max``].

        >>> Stability().durable(2.0, 300.0, 100.0), Stability().durable(2.0, 9.0, 100.0)
        (3.0, 2.0)
        """
        wanted = np.minimum(np.divide(lifetime_days, lasts_days), self.config.stability_max)
        return as_given(np.fmax(stability, wanted), stability)

    def regained(self, stability: Number, former: Number | float) -> Number:
        """Stability of a memory that was archived and came back.

        σ' = min(σ_max, max(σ, σ_then))

        Relearning what was once known takes less than learning it: H. Ebbinghaus, *Memory*
        (1885), measured just these savings. So it starts from where it was.

        Args:
            stability: σ, see :meth:`of`.
            former: σ_then, what it was when it went; NaN where it never did, or nothing is known.

        Returns:
            In [σ, ``stability_max``].

        >>> Stability().regained(1.0, 9.0), Stability().regained(2.0, float("nan"))
        (9.0, 2.0)
        """
        again = np.fmax(stability, np.minimum(former, self.config.stability_max))
        return as_given(again, stability)

    def _spaced(self, times_s: Floats, memory: Ints, memories_count: int) -> Floats:
        is_gap = memory[1:] == memory[:-1]
        with np.errstate(over="ignore"):
            gaps_days = np.diff(times_s)[is_gap] / SECONDS_PER_DAY
            spaced = -np.expm1(-gaps_days / self.config.spacing_days)
        # Summed memory by memory, so that one memory's last digit never depends on another.
        return np.bincount(memory[1:][is_gap], spaced, memories_count).astype(np.float64)


def _opened_s(times_s: Floats, memory: Ints, memories_count: int) -> Floats:
    """The first episode of each memory, rows in order; NaN where there is none."""
    is_first = np.append(True, memory[1:] != memory[:-1])[: len(memory)]
    opened_s = np.full(memories_count, np.nan)
    opened_s[memory[is_first]] = times_s[is_first]
    return opened_s


def _with_opening(recalls: Recalls, opened_s: Floats) -> tuple[Floats, Ints]:
    """The recalls, and before them what opens the row of each memory that was recalled."""
    oldest_s = np.full(len(opened_s), np.nan)
    known = np.isfinite(recalls.times_s)
    np.fmin.at(oldest_s, recalls.memory[known], recalls.times_s[known])
    opened = np.flatnonzero(opened_s < oldest_s)
    return (
        np.concatenate([recalls.times_s, opened_s[opened]]),
        np.concatenate([recalls.memory, opened]),
    )


def _is_full(recalls: Recalls, memories_count: int) -> Bools:
    """Memories with as many recalls as are kept."""
    known = recalls.memory[np.isfinite(recalls.times_s)]
    return np.bincount(known, minlength=memories_count) >= RECENT_MAX_COUNT


def _in_order(times_s: Floats, memory: Ints) -> tuple[Floats, Ints]:
    """Known times only, each memory's in order; columns that are so already are not copied."""
    known = np.isfinite(times_s)
    if not known.all():
        times_s, memory = times_s[known], memory[known]
    if ((times_s[1:] < times_s[:-1]) & (memory[1:] == memory[:-1])).any() or (
        memory[1:] < memory[:-1]
    ).any():
        order = np.lexsort((times_s, memory))
        times_s, memory = times_s[order], memory[order]
    return times_s, memory
