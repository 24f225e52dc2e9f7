"""Earlier invalidations, checked: is there a fact that could have caused them?

A cause is a later fact that begins near the end: another value of the same single-valued property,
a sentence that names the ended value, the contrary about the same two entities, or the same
sentence with another value. Events and values of many-valued properties end nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from synapse.hippocampus.finding import Finding, date
from synapse.hippocampus.model import Bools, Ints
from synapse.hippocampus.numeric import among
from synapse.hippocampus.rules.claims import Claim, Name, can_end
from synapse.hippocampus.rules.graph_reading import EVENT, MULTI, SINGLE, GraphReading
from synapse.hippocampus.rules.spelling import is_refinement
from synapse.hippocampus.timeline import nearest_successors
from synapse.hippocampus.wording import CACHED_COUNT

RULE_CONFIDENCE = {
    "same_property": 0.9,
    "cue": 0.85,
    "denied": 0.85,
    "other_value": 0.8,
    "same_sentence": 0.7,
    "same_relation": 0.6,
    "no_successor": 0.5,
}
"""How far each rule is to be believed, before the distance in time is counted."""
_SAME_FRAME_RATIO = 0.6
PLAIN_END_RATIO = 0.8
"""What is left of that where Graphiti did not retire the fact itself."""
_SHARED = {
    "same_property": "source and property",
    "cue": "source that names its value as ended",
    "denied": "two entities that says the contrary",
    "other_value": "two entities with another value",
    "same_sentence": "source, said of the one value of something,",
    "same_relation": "source and relation",
}


def audited(
    graph: GraphReading,
    claims: dict[Name, list[Claim]],
    tolerance_s: float,
    about: Sequence[int] | None = None,
) -> Iterator[Finding]:
    """What has ended, with what could have caused it.

    Args:
        graph: the graph.
        claims: what sentences say has ended.
        tolerance_s: how far from an end its cause may begin.
        about: the only facts of interest, as what has ended or as its cause; all by default.
    """
    ended = np.flatnonzero(graph.time.ended)
    if about is not None:
        ended = ended[_may_concern(graph, ended, np.array(about, np.int64), tolerance_s)]
    if not len(ended):
        return
    successor = np.full(len(ended), -1, np.int64)
    rule = np.full(len(ended), "no_successor", np.dtypes.ObjectDType())
    for name, found in _causes(graph, claims, ended, tolerance_s):
        new = (successor < 0) & (found >= 0)
        successor[new] = found[new]
        rule[new] = name
    for old, by, name in zip(ended.tolist(), successor.tolist(), rule.tolist(), strict=True):
        if by >= 0:
            yield _superseded(graph, old, by, name, tolerance_s)
        elif graph.time.retired[old]:
            yield _doubtful(graph, old, tolerance_s)


def _may_concern(graph: GraphReading, ended: Ints, about: Ints, tolerance_s: float) -> Bools:
    """Which ended facts are among some, or end where one of them begins."""
    start_s, end_s = np.sort(graph.time.start_s[about]), graph.time.end_s[ended]
    far_s = tolerance_s + 1.0  # sums are rounded
    first, last = (np.searchsorted(start_s, end_s + sign * far_s) for sign in (-1.0, 1.0))
    is_among = np.zeros(len(graph.time.end_s), np.bool_)
    is_among[about] = True
    return (first < last) | is_among[ended]


def _causes(
    graph: GraphReading, claims: dict[Name, list[Claim]], ended: Ints, tolerance_s: float
) -> Iterator[tuple[str, Ints]]:
    facts, time = graph.snapshot.facts, graph.time

    def nearest(
        rows: Ints, group: Ints, differs: _Differs, may_follow: Bools | None = None
    ) -> Ints:
        found = np.full(len(ended), -1, np.int64)
        found[rows] = nearest_successors(
            time, ended[rows], group, facts.uuid, tolerance_s, differs, may_follow
        )
        return found

    slot = facts.source * (int(graph.property.max(initial=0)) + 1) + graph.property
    pair = np.minimum(facts.source, facts.target) * len(graph.snapshot.entities)
    pair = pair + np.maximum(facts.source, facts.target)
    cardinality = graph.cardinality[ended]
    replaces, denies, retells = _Replaces(graph), _Denies(graph), _Retells(graph)
    yield "same_property", nearest(np.flatnonzero(cardinality == SINGLE), slot, replaces)
    yield "cue", _claimed(graph, claims, ended, tolerance_s)
    yield "denied", nearest(np.flatnonzero(time.speaks[ended]), pair, denies)
    yield (
        "other_value",
        nearest(np.flatnonzero(cardinality != EVENT), pair, retells, graph.speaking),
    )
    unknown = (cardinality != SINGLE) & (cardinality != MULTI) & (cardinality != EVENT)
    yield "same_sentence", nearest(np.flatnonzero(cardinality == MULTI), slot, _Definite(graph))
    yield "same_relation", nearest(np.flatnonzero(unknown), slot, replaces)


class _Differs:
    """Tells for aligned rows of old and new facts whether the new one can have caused the end."""

    def __init__(self, graph: GraphReading) -> None:
        self.graph = graph

    def __call__(self, old: Ints, new: Ints) -> Bools:
        pairs = zip(old.tolist(), new.tolist(), strict=True)
        return np.array([self.could(o, n) for o, n in pairs], np.bool_)

    def could(self, old: int, new: int) -> bool:
        raise NotImplementedError


class _Replaces(_Differs):
    """Another value of the same property, stated as true."""

    def could(self, old: int, new: int) -> bool:
        graph = self.graph
        facts = graph.snapshot.facts
        if facts.source[new] == facts.target[new] or facts.target[old] == facts.target[new]:
            return False
        names = graph.target_name(old), graph.target_name(new)
        return graph.mood(new).states_now() and not is_refinement(*names)


class _Definite(_Replaces):
    """The same sentence with another value, where it gives the one value of something."""

    def __init__(self, graph: GraphReading) -> None:
        super().__init__(graph)
        self._is_definite: dict[int, bool] = {}

    def could(self, old: int, new: int) -> bool:
        graph = self.graph
        is_definite = self._is_definite.get(old)
        if is_definite is None:
            is_definite = graph.reader.definite.search(graph.masked(old)) is not None
            self._is_definite[old] = is_definite
        return (
            is_definite
            and graph.shape(old).frame == graph.shape(new).frame
            and super().could(old, new)
        )


class _Denies(_Differs):
    """The contrary about the same two entities."""

    def __init__(self, graph: GraphReading) -> None:
        super().__init__(graph)
        self._reader = graph.stances

    def could(self, old: int, new: int) -> bool:
        graph, reader = self.graph, self._reader
        if graph.is_fixed[graph.time.relation[old]] or graph.cardinality[old] == EVENT:
            return False
        before = reader.of_relation(graph.relation_name(old))
        after = reader.of_relation(graph.relation_name(new))
        said = reader.denial(graph.masked(new), graph.relation_name(new))
        if said is not None and said.grade == "not":
            said = None
        if said is None and after.yes:
            return not before.yes and bool(before.matters & after.matters)
        matters = (said.matters if said else frozenset()) | (
            frozenset() if after.yes else after.matters
        )
        return graph.mood(new).asserts and before.yes and bool(matters & before.matters)


class _Retells(_Differs):
    """The same sentence about the same two entities, with another value."""

    def could(self, old: int, new: int) -> bool:
        graph = self.graph
        facts = graph.snapshot.facts
        if facts.source[old] != facts.source[new] or graph.cardinality[new] == EVENT:
            return False
        before, after = graph.shape(old), graph.shape(new)
        return (
            _is_same_frame(before.frame, after.frame)
            and bool(before.values)
            and before.values != after.values
            and not before.identifiers_count
            and not graph.full_mood(new).acts
            and graph.mood(new).asserts
        )


def _is_same_frame(left: str, right: str) -> bool:
    old, new = set(left.split()), set(right.split())
    return left == right or len(old & new) >= _SAME_FRAME_RATIO * len(old | new)


def _claimed(
    graph: GraphReading, claims: dict[Name, list[Claim]], ended: Ints, tolerance_s: float
) -> Ints:
    """For each ended fact a fact that names its value as ended, near the end."""
    found = np.full(len(ended), -1, np.int64)
    facts, time = graph.snapshot.facts, graph.time
    if not claims:
        return found
    about_sources = among(facts.source[ended], np.array([source for source, _ in claims]))
    for i in np.flatnonzero(about_sources & time.speaks[ended]).tolist():
        row = int(ended[i])
        key = (int(facts.source[row]), graph.folded_names[int(facts.target[row])])
        if key not in claims:
            continue
        about = sorted(claims[key], key=lambda c: (c.order, c.uuid))
        first = bisect_left(about, float(time.end_s[row]) - tolerance_s, key=lambda c: c.order[0])
        for claim in about[first : first + 4]:
            begins_s = claim.order[0]
            near = abs(begins_s - time.end_s[row]) <= tolerance_s
            if near and begins_s > time.start_s[row] and can_end(graph, row, claim.cue):
                found[i] = claim.row
                break
    return found


def _superseded(graph: GraphReading, old: int, new: int, rule: str, tolerance_s: float) -> Finding:
    time = graph.time
    end_s = float(time.end_s[old])
    gap_s = abs(float(time.start_s[new]) - end_s)
    closeness = 1.0 - 0.5 * gap_s / tolerance_s if tolerance_s else 1.0
    trust = 1.0 if time.retired[old] else PLAIN_END_RATIO
    begins = "at that moment" if gap_s == 0 else f"{gap_s / 3600:.1f} hours from then"
    return Finding(
        fact=old,
        by=new,
        verdict="superseded",
        rule=rule,
        confidence=round(RULE_CONFIDENCE[rule] * closeness * trust, 3),
        invalid_at_s=end_s,
        evidence=f"It ended on {date(end_s)}, and a newer fact of the same {_SHARED[rule]} begins "
        f"{begins}.",
    )


def _doubtful(graph: GraphReading, old: int, tolerance_s: float) -> Finding:
    end_s = float(graph.time.end_s[old])
    return Finding(
        fact=old,
        by=-1,
        verdict="doubtful",
        rule="no_successor",
        confidence=RULE_CONFIDENCE["no_successor"],
        invalid_at_s=end_s,
        evidence=_unexplained(date(end_s), bool(graph.cardinality[old] == EVENT), tolerance_s),
    )


@lru_cache(CACHED_COUNT)
def _unexplained(day: str, is_event: bool, tolerance_s: float) -> str:
    why, stays = "of the same property, or that denies it, or that names its value as ended,", ""
    if is_event:
        why, stays = "that denies it", "; what happened stays true"
    return (
        f"It was retired as of {day}, but no newer fact {why} begins within "
        f"{tolerance_s / 3600:g} hours of it{stays}."
    )
