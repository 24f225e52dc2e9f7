"""Demand: how high and how often a memory came up when somebody asked.

A search that finds a memory says two things more than that it was recalled: in which place, and
whether the question was answered from it again and again of late. Both tell how likely it is to
be needed again: J. R. Anderson and L. J. Schooler, Reflections of the Environment in Memory,
Psychological Science 2 (1991), doi:10.1111/j.1467-9280.1991.tb00174.x, found that what was met
often and close together has the best odds of being met once more.

SmartMemory's evolution algorithms multiply log(1 + count), 1 / (1 + mean rank) and the ratio of two
recall rates, and add that to retention with every cycle. Here each day brings its own rank and
its own rate: a further recall, one in a poor place, or an old one that becomes known late would
worsen a mean or a ratio, and must never make a memory weaker. Demand follows from the recalls
alone, not from the moment at which it is asked for, nor from how often.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synapse.hippocampus.model import Floats, Ints
from synapse.hippocampus.numeric import SECONDS_PER_DAY
from synapse.hippocampus.recall import RECENT_MAX_COUNT
from synapse.hippocampus.stability import Recalls

RATE_DAYS = 7.0
"""The days with a recall among this many make a day's rate."""
FULL_WEIGHT = 14.0
"""Asked for every day of a week and always found first: 1/2 + 2/2 + ... + 7/2."""


def demand(recalls_s: Sequence[float], ranks: Sequence[float]) -> float:
    """Demand for one memory, 0 to 1.

    d = min(1, ln(1 + Σ n_i / (1 + k_i)) / ln(1 + W))

    i runs over the days (UTC) with a recall; k_i is the best rank in which one of them gave the
    memory, 1 the first; n_i the number of such days within the seven up to day i, itself included;
    W is :data:`FULL_WEIGHT`.

    Every term is positive and none falls when a recall is added or a rank gets better, and nor
    does their sum. With :data:`~synapse.hippocampus.recall.RECENT_MAX_COUNT` recalls older ones
    are no longer known: then d is 1, so that one more, which takes the place of the oldest, does
    not lower it.

    Args:
        recalls_s: when it was recalled, seconds since 1970, in any order.
        ranks: the rank of each; NaN or below 1 where unknown, which adds nothing.

    >>> day = 86_400.0
    >>> round(demand([0.0], [1]), 3), round(demand([0.0], [9]), 3), demand([0.0], [float("nan")])
    (0.15, 0.035, 0.0)
    >>> round(demand([0.0, 60 * day, 120 * day], [1, 1, 1]), 3)
    0.338
    >>> demand([n * day for n in range(7)], [1] * 7)
    1.0
    """
    times_s = np.asarray(recalls_s, np.float64)
    known = Recalls(times_s, np.zeros(len(times_s), np.int64), np.asarray(ranks, np.float64))
    return float(demands(known, 1)[0])


def demands(recalls: Recalls, memories_count: int) -> Floats:
    """:func:`demand` for many memories at once, shape (memories,).

    >>> demands(Recalls(np.zeros(1), np.array([1]), np.array([1.0])), 3).round(3).tolist()
    [0.0, 0.15, 0.0]
    """
    known = np.isfinite(recalls.times_s)
    times_s, memory = recalls.times_s[known], recalls.memory[known]
    ranks = recalls.known_ranks[known]
    weight = np.zeros(len(ranks))
    np.divide(1.0, 1.0 + ranks, out=weight, where=ranks >= 1.0)
    day = np.floor(times_s / SECONDS_PER_DAY)
    order = np.lexsort((-weight, day, memory))
    day, of_day, weight = day[order], memory[order], weight[order]
    is_first = np.append(True, (np.diff(day) != 0) | (np.diff(of_day) != 0))[: len(day)]
    day, of_day, weight = day[is_first], of_day[is_first], weight[is_first]
    total = np.bincount(of_day, weight * _rates(day, of_day), memories_count)
    wanted: Floats = np.minimum(np.log1p(total) / np.log1p(FULL_WEIGHT), 1.0)
    wanted[np.bincount(memory, minlength=memories_count) >= RECENT_MAX_COUNT] = 1.0
    return wanted


def _rates(day: Floats, memory: Ints) -> Floats:
    """Days of the same memory within the week up to each; rows in order of memory and day."""
    count = np.ones(len(day))
    for back in range(1, len(day)):
        is_near = (memory[back:] == memory[:-back]) & (day[back:] - day[:-back] < RATE_DAYS)
        if not is_near.any():  # then none that lies further back is near either
            break
        count[back:] += is_near
    return count
