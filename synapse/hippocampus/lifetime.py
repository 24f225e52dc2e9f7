"""How long facts stay true: the median of a duration that has not always been seen to end."""

from __future__ import annotations

import numpy as np

from synapse.hippocampus.model import Bools, Floats, Ints
from synapse.hippocampus.numeric import SECONDS_PER_DAY


def median_lifetime_days(durations_days: Floats, ended: Bools) -> float | None:
    """The Kaplan-Meier median of lifetimes, some of which still go on.

    Facts that are still true have lived *at least* so long. Leaving them out would make every
    relation look short-lived, so each counts as alive until the present and then drops out::

        S(t) = prod over ends t_i <= t of (1 - d_i / n_i)        median = min { t : S(t) <= 1/2 }

    where d_i is the number of facts that end after exactly t_i days, and n_i the number that have
    neither ended nor dropped out before (a fact that drops out at t_i still counts there).

    Args:
        durations_days: how long each fact has lived, shape (facts,); negative and unknown
            durations are left out.
        ended: whether that was its end, shape (facts,).

    Returns:
        The median in days; ``None`` where fewer than half of the facts are seen to end.

    Source:
        E. L. Kaplan and P. Meier, Nonparametric estimation from incomplete observations, Journal
        of the American Statistical Association 53 (1958), 457-481.

    >>> days = np.array([1.0, 2.0, 4.0, 5.0, 9.0])
    >>> median_lifetime_days(days, np.array([True, True, False, True, False]))
    5.0
    >>> median_lifetime_days(days, np.zeros(5, bool)) is None
    True
    """
    known = durations_days >= 0.0
    lived_days = np.sort(durations_days[known])
    ends_days, ends_count = np.unique(durations_days[known & ended], return_counts=True)
    at_risk = len(lived_days) - np.searchsorted(lived_days, ends_days)
    survival = np.cumprod(1.0 - ends_count / at_risk)
    below = np.flatnonzero(survival <= 0.5 + 1e-12)
    return float(ends_days[below[0]]) if len(below) else None


def outlives_s(start_s: Floats, ended: Bools, lifetime_days: Floats) -> Floats:
    """From when on each fact has outlived half of its relation without having been said to end.

    Args:
        start_s: when each fact begins, shape (facts,), like the next two; NaN where unknown.
        ended: whether it has ended.
        lifetime_days: the median of its relation, NaN where unknown.

    Returns:
        Shape (facts,); NaN for facts that have ended and where nothing can be said.

    >>> outlives_s(np.zeros(2), np.array([False, True]), np.array([9.0, 9.0])).tolist()
    [777600.0, nan]
    """
    return np.where(ended, np.nan, start_s + lifetime_days * SECONDS_PER_DAY)


def median_lifetimes_days(
    start_s: Floats,
    end_s: Floats,
    ended: Bools,
    now_s: float,
    group: Ints,
    groups_count: int,
    min_ends_count: int,
) -> list[float | None]:
    """The median lifetime of the facts of each group, see :func:`median_lifetime_days`.

    Args:
        start_s: when each fact begins, shape (facts,), like the next two.
        end_s: when it ends.
        ended: whether it has ended by ``now_s``; a fact that has not has lived until then.
        now_s: the present moment.
        group: number of each fact's group.
        groups_count: how many groups there are.
        min_ends_count: groups with fewer ended facts get ``None``.
    """
    lived_days = (np.where(ended, end_s, now_s) - start_s) / SECONDS_PER_DAY
    ends = np.bincount(group[ended & (lived_days >= 0.0)], minlength=groups_count)
    group = group.astype(np.min_scalar_type(groups_count))  # small numbers are sorted faster
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(groups_count + 1))
    medians: list[float | None] = [None] * groups_count
    for number in np.flatnonzero(ends >= min_ends_count).tolist():
        rows = order[bounds[number] : bounds[number + 1]]
        medians[number] = median_lifetime_days(lived_days[rows], ended[rows])
    return medians
