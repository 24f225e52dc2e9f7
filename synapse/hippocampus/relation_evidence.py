"""What the times of facts show about how many values a relation holds.

Values of a relation that holds one at a time begin one after another. Values that stand side by
side also begin side by side: in one episode, at one date. A value whose end is the very moment at
which the next one begins came before it, however short it was, and if it ended as it began.
Only the excess counts: with dates known to the year alone, values that follow each other quickly
begin "together" by chance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from synapse.hippocampus.model import Bools, Floats, Ints
from synapse.hippocampus.numeric import SECONDS_PER_DAY

_YEAR_DAYS, _MONTH_DAYS = 365.25, 30.44
_SAME_RESOLUTION_RATIO = 0.95
_UNKNOWN_SPAN_S = 30.0 * SECONDS_PER_DAY
_FINEST_S = 1.0

_SLIP = np.array([0.003, 0.02, 0.06, 0.2])
"""Share of successions of a single-valued relation that seem simultaneous by mistake."""
_SLIP_WEIGHT = np.array([0.35, 0.35, 0.2, 0.1])
_BATCH = np.array([0.05, 0.15, 0.3, 0.5, 0.75])
"""Share of the further values of a multi-valued relation that come together with another."""
_CHANCE_RATIO_SINGLE = 0.5
"""Successive values keep apart: they meet by chance about half as often as independent ones."""
_CHANCE_MAX = 1.0 - 1e-9
"""Nothing is certain to meet by chance, however many values one moment has."""
_SUPPORT_MAX = 5.0
"""No count of facts speaks louder than this, in logs: words keep some say."""
_SUPPORT_PER_SIGHT = 0.75
"""Nor does one pair of values seen side by side: any extraction has slips. One leaves words that
say *usually one* in doubt, but not overruled, and words that say *one* no longer certain. Dates
that are known to the month or the year alone say no more than that altogether."""
_OVERLAP = np.array([0.2, 0.4, 0.6, 0.8])


@dataclass(frozen=True, slots=True)
class Evidence:
    """Counts of one graph by property. Columns have shape (properties,)."""

    facts_count: Ints
    subjects_count: Ints
    shared_subjects_count: Ints
    """Subjects with more than one value."""
    third_count: Ints
    """Subjects with more than two values."""
    steps_count: Ints
    """Further values: values beyond the first one of each subject."""
    together_count: Ints
    """Steps at the same moment as the value before."""
    chance_count: Floats
    """Steps that independent beginnings would have had at the same moment."""
    overlaps_count: Ints
    """Steps before the written end of the value before."""
    replacements_count: Ints
    """Steps close to the written end of the value before."""
    returns_count: Ints
    """Values that came back after another one."""
    repeats_count: Ints
    """Facts that only repeat a value."""
    self_loops_count: Ints
    resolution_days: Floats
    """To what unit the times of the property are known."""
    opportunity_ratio: float
    """Share of all facts that begin together with another fact of their subject."""

    @property
    def corrected_count(self) -> Ints:
        """Subjects with a second value and no third."""
        return self.shared_subjects_count - self.third_count


@dataclass(frozen=True, slots=True)
class Statements:
    """The facts of a graph as subject, property, value and time, shape (facts,) each."""

    subject: Ints
    property: Ints
    value: Ints
    start_s: Floats
    end_s: Floats
    """Ends that somebody wrote; NaN where there is none, and where a machine concluded it."""
    handed_over_s: Floats
    """All ends, whoever has written them: they only tell which of two values came first."""
    is_self_loop: Bools
    counts: Bools
    """Statements about the world that have a time; all others only add to the totals."""


def count_evidence(facts: Statements, properties_count: int, tolerance_s: float) -> Evidence:
    """Count what the graph shows, property by property.

    Sorts and joins; nothing is compared pairwise, so the cost is that of sorting the facts.

    Args:
        facts: the statements.
        properties_count: how many properties there are.
        tolerance_s: how close to an end a replacement begins.
    """
    row = np.flatnonzero(facts.counts)
    slot = _codes(facts.subject[row], facts.property[row])
    moments_s, moment = np.unique(facts.start_s[row], return_inverse=True)
    resolution_s = _resolution_s(moments_s, moment, facts.property[row], properties_count)
    is_passed_on = facts.handed_over_s[row] == facts.start_s[row]
    opportunity_ratio = _share_of_doubles(_codes(facts.subject[row], moment)[~is_passed_on])
    order = _order(slot, 2 * moment + ~is_passed_on, facts.value[row])
    row, slot = row[order], slot[order]
    prop, value = facts.property[row], facts.value[row]
    start_s, end_s = facts.start_s[row], facts.end_s[row]
    is_first = np.zeros(len(row), np.bool_)
    is_first[np.unique(_codes(slot, value), return_index=True)[1]] = True
    chain = np.flatnonzero(is_first)
    step = slot[chain][1:] == slot[chain][:-1]
    before, after = chain[:-1][step], chain[1:][step]
    apart_s = start_s[after] - start_s[before]
    hands_over = facts.handed_over_s[row][before] == start_s[after]
    together = (apart_s < 0.5 * resolution_s[prop[after]]) & ~hands_over
    known_end = ~np.isnan(end_s[before])
    gap_s = start_s[after] - end_s[before]
    near = np.maximum(tolerance_s, resolution_s[prop[after]])

    def count(rows: Ints) -> Ints:
        return np.bincount(prop[rows], minlength=properties_count)

    again = (slot[1:] == slot[:-1]) & (value[1:] != value[:-1]) & ~is_first[1:]
    back = 1 + np.flatnonzero(again)
    begins = np.flatnonzero(np.append(True, ~step)) if len(chain) else chain
    values_count = np.diff(np.append(begins, len(chain)))
    head = chain[begins]
    return Evidence(
        facts_count=np.bincount(facts.property, minlength=properties_count),
        subjects_count=count(head),
        shared_subjects_count=count(head[values_count > 1]),
        third_count=count(head[values_count > 2]),
        steps_count=count(after),
        together_count=count(after[together]),
        chance_count=_chance(
            start_s[chain], prop[head], values_count, resolution_s, properties_count
        ),
        overlaps_count=count(after[known_end & (gap_s < -near)]),
        replacements_count=count(after[known_end & (np.abs(gap_s) <= near)]),
        returns_count=count(back),
        repeats_count=count(np.flatnonzero(~is_first)) - count(back),
        self_loops_count=np.bincount(
            facts.property[facts.is_self_loop], minlength=properties_count
        ),
        resolution_days=resolution_s / SECONDS_PER_DAY,
        opportunity_ratio=opportunity_ratio,
    )


def _codes(left: Ints, right: Ints) -> Ints:
    width = int(right.max(initial=0)) + 1
    return left * width + right


def _order(slot: Ints, moment: Ints, value: Ints) -> Ints:
    """Rows by slot, then moment, then value; as one number where that is large enough."""
    widths = [int(column.max(initial=0)) + 1 for column in (slot, moment, value)]
    if math.prod(widths) < 2**63:
        return np.argsort(_codes(_codes(slot, moment), value), kind="stable")
    return np.lexsort((value, moment, slot))


def _share_of_doubles(codes: Ints) -> float:
    """Share of the items whose code another item has too."""
    if not len(codes):
        return 0.0
    ordered = np.sort(codes)
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    return 1.0 - float((np.diff(ends, prepend=-1) == 1).sum()) / len(codes)


def _resolution_s(moments_s: Floats, moment: Ints, prop: Ints, properties_count: int) -> Floats:
    """To what unit the times of each property are known: a second, a day, a month or a year."""
    day = np.floor(moments_s / SECONDS_PER_DAY)
    whole = moments_s == day * SECONDS_PER_DAY
    date = day.astype(np.int64).astype("datetime64[D]")
    month = date.astype("datetime64[M]")
    first = whole & (date == month.astype("datetime64[D]"))
    january = first & (month == date.astype("datetime64[Y]").astype("datetime64[M]"))
    total = np.maximum(np.bincount(prop, minlength=properties_count), 1)
    resolution_s = np.full(properties_count, _FINEST_S)
    for fits, days in ((whole, 1.0), (first, _MONTH_DAYS), (january, _YEAR_DAYS)):
        share = np.bincount(prop[fits[moment]], minlength=properties_count) / total
        resolution_s[share >= _SAME_RESOLUTION_RATIO] = days * SECONDS_PER_DAY
    return resolution_s


def _chance(
    start_s: Floats,
    prop: Ints,
    values_count: Ints,
    resolution_s: Floats,
    properties_count: int,
) -> Floats:
    """Expected steps within one unit of time if values began independently: m(1 - e^(-m u/L))."""
    if not len(start_s):
        return np.zeros(properties_count)
    last = np.cumsum(values_count) - 1
    span_s = start_s[last] - start_s[last - values_count + 1]
    typical_s = float(np.median(span_s[span_s > 0])) if (span_s > 0).any() else _UNKNOWN_SPAN_S
    unit_s = resolution_s[prop]
    length_s = np.maximum(np.maximum(span_s, typical_s), unit_s)
    steps = values_count - 1
    expected = steps * -np.expm1(-steps * unit_s / length_s)
    return np.bincount(prop, expected, minlength=properties_count).astype(np.float64)


def support_for_single(evidence: Evidence) -> Floats:
    """Log of how much better "one at a time" explains the counts than "many", shape (properties,).

    Steps that begin together are binomial. Under *one at a time* their rate is half the rate of
    chance plus a small slip, under *many* it is the rate of chance plus a batch share; slip and
    share are averaged over a few plausible values. The number of steps counts only as far as the
    graph gives several facts of one subject at one moment at all: where every fact has a moment
    of its own, that no two begin together shows nothing. Against one value each pair that is seen
    side by side counts, but none for more than a fixed amount.
    """
    steps = evidence.steps_count
    rate = np.minimum(evidence.chance_count / np.maximum(steps, 1), _CHANCE_MAX)
    trust = min(1.0, 4.0 * evidence.opportunity_ratio)
    single = _CHANCE_RATIO_SINGLE * rate[:, None]
    single = single + _SLIP * (1.0 - single)
    many = rate[:, None] + _BATCH * (1.0 - rate[:, None])
    beginnings = _marginal(steps, evidence.together_count, single, _SLIP_WEIGHT) - _marginal(
        steps, evidence.together_count, many, np.full(len(_BATCH), 1 / len(_BATCH))
    )
    trials = evidence.overlaps_count + evidence.replacements_count
    shape = (len(steps), 1)
    ends = _marginal(trials, evidence.overlaps_count, np.tile(_SLIP, shape), _SLIP_WEIGHT)
    ends -= _marginal(
        trials,
        evidence.overlaps_count,
        np.tile(_OVERLAP, shape),
        np.full(len(_OVERLAP), 1 / len(_OVERLAP)),
    )
    beginnings = np.where(evidence.together_count > 0, beginnings, trust * beginnings)
    coarse = evidence.resolution_days >= _MONTH_DAYS
    limit = np.where(coarse, _SUPPORT_PER_SIGHT, _SUPPORT_MAX)
    sights = evidence.together_count + evidence.overlaps_count
    return np.clip(beginnings + ends, -np.minimum(limit, _SUPPORT_PER_SIGHT * sights), limit)


def _marginal(trials: Ints, hits: Ints, rates: Floats, weights: Floats) -> Floats:
    logs = hits[:, None] * np.log(rates) + (trials - hits)[:, None] * np.log1p(-rates)
    peak = logs.max(axis=1, keepdims=True)
    total: Floats = peak[:, 0] + np.log((np.exp(logs - peak) * weights).sum(axis=1))
    return total
