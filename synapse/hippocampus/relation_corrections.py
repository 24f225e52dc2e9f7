"""Whether a graph holds corrected statements: second values that replace the first.

A graph that somebody keeps up to date by telling it the new value has a mark of its own: many
subjects have a second value, hardly any a third, and none two at one moment. One relation alone
can look like that for another reason, so a relation is judged by all others.
"""

from __future__ import annotations

from math import lgamma

import numpy as np

from synapse.hippocampus.model import Floats
from synapse.hippocampus.relation_evidence import Evidence

FEW_COUNT = 5
"""Fewer corrected subjects of its own do not make a property certain."""
_PRIOR = -1.0
"""Log odds that a graph holds corrected statements before anything is seen: about one in four."""
_MISTAKE_RATIO = 0.01
_PAIRS_RATIO = 0.4
"""How often all subjects of a property have just two values, beside that their values add up."""
_LIKENESS_COUNT = 2.0
"""A property is as like the others as if they were this many subjects of its own."""
_TOGETHER_COST = 5.0
_LOG_GAMMA = np.vectorize(lgamma, otypes=[np.float64])


def support_for_corrections(evidence: Evidence, single: Floats) -> Floats:
    """Log odds that the graph holds corrected statements, as the *other* properties show it.

    Three stories tell how many values the subjects of a property have. *Corrected*: some have a
    second one, a third one comes by mistake. *Adding up*: each value is followed by one more with
    the same chance. *Pairs*: all have two, as everybody has two parents. With n subjects, of
    which n2 have a second and n3 a third value, v values beyond the first, and e = 0.01::

        corrected = B(1 + n2, 1 + n - n2) · (1 - e)^(n2 - n3) · e^n3
        adding up = B(a + v, b + n) / B(a, b)
        pairs     = 0.4 · (1 - e)^n2 · e^(n - n2 + n3)

    B is the Beta function: the unknown chances are averaged over, that of one more value near its
    mean in this graph, a / (a + b). A property that holds one value anyway (with chance p, as its
    words say) has hardly any third value whatever the graph is like, so it shows little::

        support = ln corrected - ln (p · corrected + (1 - p) · max (adding up, pairs))

    Its own support counts against a property only, and two values at one moment count against all.

    Args:
        evidence: the counts.
        single: chance by words that each property holds one value, shape (properties,).

    Returns:
        Log odds, shape (properties,).
    """
    own = _support(evidence, single)
    others = own.sum() - _TOGETHER_COST * float(evidence.together_count.sum()) - own
    odds: Floats = _PRIOR + others + np.minimum(own, 0.0)
    return odds


def _support(evidence: Evidence, single: Floats) -> Floats:
    """What each property shows by itself; nothing where no subject has a second value."""
    support = np.zeros(len(single))
    told = np.flatnonzero(evidence.shared_subjects_count)
    if not len(told):
        return support
    subjects, second, third, steps = (
        column[told].astype(np.float64)
        for column in (evidence.subjects_count, evidence.shared_subjects_count,
                       evidence.third_count, evidence.steps_count)
    )  # fmt: skip
    mistake, right = np.log(_MISTAKE_RATIO), np.log1p(-_MISTAKE_RATIO)
    corrected = _log_beta(1.0 + second, 1.0 + subjects - second)
    corrected += third * mistake + (second - third) * right
    more = evidence.steps_count.sum() / (evidence.steps_count + evidence.subjects_count).sum()
    a, b = _LIKENESS_COUNT * more, _LIKENESS_COUNT * (1.0 - more)
    adding = _log_beta(a + steps, b + subjects) - _log_beta(a, b)
    pairs = second * right + (subjects - second + third) * mistake + np.log(_PAIRS_RATIO)
    other = np.maximum(adding, pairs)
    single = np.clip(single[told], 1e-6, 1.0 - 1e-6)
    support[told] = corrected - np.logaddexp(np.log(single) + corrected, np.log1p(-single) + other)
    return support


def _log_beta(a: Floats, b: Floats) -> Floats:
    result: Floats = _LOG_GAMMA(a) + _LOG_GAMMA(b) - _LOG_GAMMA(a + b)
    return result
