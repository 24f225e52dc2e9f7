"""What every formula shares: a float in gives a float out, an array in gives an array out."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import numpy as np

from synapse.hippocampus.model import Bools, Floats, Ints

Number = TypeVar("Number", float, Floats)
"""One value or a column of values. Arguments of one call are broadcast against each other."""

SECONDS_PER_DAY = 86_400.0
SECONDS_PER_HOUR = 3_600.0


def as_given(result: Any, like: Number) -> Number:
    """The result in the caller's own type: a float for floats, an array for arrays.

    >>> as_given(np.float64(0.5), 2.0), as_given(np.array([0.5]), np.array([2.0]))
    (0.5, array([0.5]))
    """
    return cast(Number, result if np.ndim(result) else float(result))


def distinct(numbers: Ints) -> Ints:
    """Each number once, ascending.

    NumPy's own ``unique`` hashes them, which takes several times as long where most differ.

    >>> distinct(np.array([7, 2, 7])).tolist()
    [2, 7]
    """
    ordered = np.sort(numbers)
    once: Ints = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return once


def among(numbers: Ints, some: Ints) -> Bools:
    """Which numbers are some of these.

    NumPy's own ``isin`` takes several times as long where there are a few hundred.

    >>> among(np.array([7, 2, 7, 3]), np.array([7, 5])).tolist()
    [True, False, True, False]
    """
    if not len(some):
        return np.zeros(len(numbers), np.bool_)
    ordered = np.sort(some)
    place = np.minimum(np.searchsorted(ordered, numbers), len(ordered) - 1)
    return np.asarray(ordered[place] == numbers, np.bool_)


def halved(elapsed: float | Floats, half_life: float | Floats) -> Any:
    """What is left of 1 after ``elapsed``, in [0, 1]: exp(−ln 2 · elapsed / half_life).

    Written as 2^(−elapsed / half_life), so that one half-life leaves exactly one half. Time that
    lies in the future counts as none, and so does an unknown (NaN) time: what is not known must
    never make a memory weaker.

    >>> float(halved(14.0, 7.0)), float(halved(-3.0, 7.0)), float(halved(float("nan"), 7.0))
    (0.25, 1.0, 1.0)
    """
    with np.errstate(over="ignore"):
        halvings_count = np.divide(np.maximum(elapsed, 0.0), half_life)
    return np.fmin(np.exp2(-halvings_count), 1.0)
