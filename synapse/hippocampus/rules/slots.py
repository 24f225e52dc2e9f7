"""Same subject, same property, another value: for properties that hold one value at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from math import exp, log, log1p

import numpy as np

from synapse.hippocampus.finding import Finding, date, shown
from synapse.hippocampus.model import Ints
from synapse.hippocampus.numeric import SECONDS_PER_DAY, among, distinct
from synapse.hippocampus.rules.doubts import weighed
from synapse.hippocampus.rules.grade import REVIEW_RATIO, UNREAD_CONFIDENCE
from synapse.hippocampus.rules.graph_reading import EVENT, SINGLE, GraphReading
from synapse.hippocampus.rules.short_forms import is_short_form
from synapse.hippocampus.rules.spelling import is_refinement, is_spelling
from synapse.hippocampus.rules.statement import PLAIN, Mood
from synapse.hippocampus.rules.succession import Step, Succession
from synapse.hippocampus.rules.told import told

SAME_PROPERTY, OTHER_STATE, CORRECTED = "same_property", "other_state", "correction"
SPELLING_CONFIDENCE, CORRECTION_CONFIDENCE, STATE_CONFIDENCE = 0.6, 0.9, 0.9
NAMES_BOTH_CONFIDENCE = 0.7
"""Of values that differ in spelling alone, of corrections, of states such as *open*, *closed*."""
_CONFIDENCE_MAX = 0.98
_NO_SAYING_DAYS = 4_000.0


def slot_findings(graph: GraphReading, is_settled: Callable[[Finding], bool]) -> Iterator[Finding]:
    """Active facts whose property has a newer value.

    Args:
        graph: the graph.
        is_settled: tells of a finding that a person has rejected it.
    """
    stated = graph.speaking & graph.time.speaks
    single = np.flatnonzero(stated & (graph.cardinality == SINGLE))
    open_slots = np.flatnonzero(
        stated & (graph.cardinality != SINGLE) & (graph.cardinality != EVENT)
    )
    changed = _changed(graph, open_slots)
    for rows, rule in (
        (_changed(graph, single), SAME_PROPERTY),
        (_states(graph, changed), OTHER_STATE),
        (_corrections(graph, changed), CORRECTED),
    ):
        if len(rows):
            yield from _Slots(graph, rows, rule).findings(is_settled)


def _states(graph: GraphReading, rows: Ints) -> Ints:
    """Facts whose value is a state of which a thing is in one at a time."""
    return rows[graph.state[graph.snapshot.facts.target[rows]] >= 0]


def _changed(graph: GraphReading, rows: Ints) -> Ints:
    """Of the rows those whose slot has more than one target."""
    if len(rows) < 2:
        return rows[:0]
    facts = graph.snapshot.facts
    slot = _slot(graph, rows)
    order = np.lexsort((facts.target[rows], slot))
    slot, target = slot[order], facts.target[rows][order]
    differs = (slot[1:] == slot[:-1]) & (target[1:] != target[:-1])
    # Equal slots stand side by side: number them, and mark the numbers.
    number = np.cumsum(np.append(True, slot[1:] != slot[:-1])) - 1
    changed = np.zeros(len(rows), np.bool_)
    changed[number[1:][differs]] = True
    found: Ints = rows[order[changed[number]]]
    return found


def _slot(graph: GraphReading, rows: Ints) -> Ints:
    facts = graph.snapshot.facts
    return facts.source[rows] * (int(graph.property.max(initial=0)) + 1) + graph.property[rows]


def _corrections(graph: GraphReading, rows: Ints) -> Ints:
    """Facts of slots in which somebody corrects something."""
    spoken, corrects = rows[graph.spoken.corrections[rows]], graph.reader.corrects
    said = [row for row in spoken.tolist() if corrects(graph.masked(row))]
    if not said:
        return rows[:0]
    return rows[among(_slot(graph, rows), _slot(graph, np.array(said)))]


class _Slots:
    """The slots of some facts, and what has been replaced in them."""

    def __init__(self, graph: GraphReading, rows: Ints, rule: str) -> None:
        self._graph, self._rule = graph, rule
        self._moods = graph.moods(rows)
        left_out = [row for row, mood in self._moods.items() if not _takes_part(mood)]
        if left_out:
            rows = rows[~among(rows, np.array(left_out))]
        slot = _slot(graph, rows)
        if rule == OTHER_STATE:
            kind = graph.state[graph.snapshot.facts.target[rows]]
            slot = slot * (len(graph.languages[0].states) + 1) + kind
        self._succession = Succession(graph.snapshot, graph.time, rows, slot, _values(graph, rows))

    def findings(self, is_settled: Callable[[Finding], bool]) -> Iterator[Finding]:
        """What a newer value has replaced."""
        places = self._succession.places()
        for place in places[self._graph.active[self._succession.row[places]]].tolist():
            finding = self._first(place, is_settled)
            if finding is not None:
                yield finding

    def _first(self, place: int, is_settled: Callable[[Finding], bool]) -> Finding | None:
        """The first step that is told plainly and not rejected, else the first one at all."""
        unread: Finding | None = None
        rejected: Finding | None = None
        for step in self._succession.steps(place):
            finding, is_plain = self._finding(step)
            if finding is None:
                continue
            if is_settled(finding):
                rejected = rejected or finding
            elif is_plain:
                return finding
            else:
                unread = unread or finding
        return unread or rejected

    def _finding(self, step: Step) -> tuple[Finding | None, bool]:
        """The finding, none where the two facts can both be true; whether it is told plainly."""
        graph = self._graph
        old, new = self._moods.get(step.old, PLAIN), self._moods.get(step.new, PLAIN)
        if new.adds or (new.is_past and not old.is_past):
            return None, False
        if self._rule == CORRECTED and not new.corrects:
            return None, False
        parted = graph.scopes_part(step.old, step.new)
        if parted == "yes" or _only_refines(graph, step):
            return None, False
        said = told(graph, step.old, step.new)
        if said == "not":
            return None, False
        review = parted == "perhaps" or said == "doubtfully"
        confidence = self._confidence(step, new)
        facts = graph.snapshot.facts
        old_value, new_value = int(facts.target[step.old]), int(facts.target[step.new])
        if said == "perhaps" or graph.related.holds(old_value, new_value):
            confidence = min(confidence, UNREAD_CONFIDENCE)
        name = shown(graph.target_name(step.new))
        finding = Finding(
            fact=step.old,
            by=step.new,
            verdict="needs review" if review else "missed",
            rule=CORRECTED if new.corrects else self._rule,
            confidence=round(confidence * (REVIEW_RATIO if review else 1.0), 3),
            invalid_at_s=step.at_s,
            evidence=f"From {date(step.at_s)} on, a newer fact gives the same property the value "
            f'"{name}".',
        )
        sure = weighed(graph, finding)
        return sure, sure is finding and said == "plainly" and not review

    def _confidence(self, step: Step, new: Mood) -> float:
        graph = self._graph
        old_name, new_name = graph.target_name(step.old), graph.target_name(step.new)
        if is_spelling(old_name, new_name) or is_short_form(old_name, new_name):
            return SPELLING_CONFIDENCE
        if new.corrects:
            return CORRECTION_CONFIDENCE
        if _names_both(graph, step):
            return NAMES_BOTH_CONFIDENCE
        if self._rule == OTHER_STATE:
            return STATE_CONFIDENCE
        if _is_new_year(step.at_s) and _is_new_year(float(graph.time.start_s[step.old])):
            days = (step.at_s - float(graph.time.start_s[step.old])) / SECONDS_PER_DAY
            holders = self._holders.get(step.old, 1)
            return min(yearly_confidence(step, holders, days), _CONFIDENCE_MAX)
        return min(float(graph.single[graph.time.relation[step.old]]), _CONFIDENCE_MAX)

    @cached_property
    def _holders(self) -> dict[int, int]:
        """How many subjects have had the same value, by fact."""
        rows = distinct(self._succession.row)
        facts = self._graph.snapshot.facts
        value = facts.target[rows] * (int(self._graph.property.max(initial=0)) + 1)
        _, group, count = np.unique(
            value + self._graph.property[rows], return_inverse=True, return_counts=True
        )
        return dict(zip(rows.tolist(), count[group].tolist(), strict=True))


def _names_both(graph: GraphReading, step: Step) -> bool:
    """Whether one value's name, or the newer sentence, speaks of the other value too.

    *Kreuzberg, Berlin* after *Berlin*, *Rome and Paris* after *Rome*, 3 after 3.12: without a word
    of change both may be true.
    """
    old, new = (graph.target_name(row).casefold() for row in (step.old, step.new))
    text = graph.snapshot.facts.text[step.new].casefold()
    return _holds(text, old) or _holds(new, old) or _holds(old, new)


def _holds(text: str, name: str) -> bool:
    """Whether a name stands in a text, and no letter, digit or underscore right beside it."""
    place = text.find(name) if name else -1
    while place >= 0:
        beside = text[max(0, place - 1) : place] + text[place + len(name) :][:1]
        if not any(c == "_" or c.isalnum() for c in beside):
            return True
        place = text.find(name, place + 1)
    return False


def _takes_part(mood: Mood) -> bool:
    return mood.asserts and not mood.negates and not mood.recalls


def _only_refines(graph: GraphReading, step: Step) -> bool:
    old, new = graph.target_name(step.old), graph.target_name(step.new)
    if old[:4].casefold() != new[:4].casefold() and old[-4:].casefold() != new[-4:].casefold():
        return False
    is_a_name = "name" in graph.reader.families(graph.relation_name(step.old))
    return not is_a_name and is_refinement(old, new)


def _values(graph: GraphReading, rows: Ints) -> Ints:
    names = graph.snapshot.entities.name
    targets, target_of_row = np.unique(graph.snapshot.facts.target[rows], return_inverse=True)
    number_of: dict[str, int] = {}
    values = [graph.amounts.value(names[target]) for target in targets.tolist()]
    numbers = [number_of.setdefault(value, len(number_of)) for value in values]
    return np.array(numbers, np.int64)[target_of_row]


def _is_new_year(time_s: float) -> bool:
    if time_s % SECONDS_PER_DAY:
        return False
    moment = np.datetime64(int(time_s), "s")
    return bool(moment == moment.astype("datetime64[Y]"))


def yearly_confidence(step: Step, holders_count: int, days: float) -> float:
    """How sure a succession is where dates are known to the year alone.

    Values that stood side by side then look like values that followed each other. The fewer of a
    slot's values come later, the fewer subjects share the older one, and the longer it stood alone,
    the surer is the succession:

        logit p = 0.2 + 1.57 ln(n / k) - 0.30 ln h - 0.33 t + 0.50 u
                  + 0.40 ln(1 + d) + 0.16 ln(1 + b) - 0.39 ln(1 + a)

    n: sayings in the slot; k: those from the newer one on; h: subjects that have had the older
    value; t, u: 1 if another value began together with the older, the newer one; d: days from the
    older to the newer value; b, a: days from the moment before to the older value and from the
    newer value to the moment after, 4,000 where there is none. The weights were fitted to dated
    memberships, offices and places of two public sets, Wikidata12k (Wikidata, CC0) and YAGO11k
    (YAGO, CC BY).

    >>> last = Step(old=0, new=1, at_s=0.0, slot_count=6, later_count=1)
    >>> first = Step(old=0, new=1, at_s=0.0, slot_count=6, later_count=5)
    >>> round(yearly_confidence(last, 1, 730.0), 2), round(yearly_confidence(first, 1, 730.0), 2)
    (0.98, 0.77)
    """
    before_days, after_days = (
        min(gap_s / SECONDS_PER_DAY, _NO_SAYING_DAYS)
        for gap_s in (step.since_before_s, step.until_after_s)
    )
    logit = (
        0.2
        + 1.57 * log(step.slot_count / step.later_count)
        - 0.30 * log(holders_count)
        - 0.33 * (not step.old_is_alone)
        + 0.50 * (not step.new_is_alone)
        + 0.40 * log1p(max(days, 0.0))
        + 0.16 * log1p(before_days)
        - 0.39 * log1p(after_days)
    )
    return 1.0 / (1.0 + exp(-logit))
