"""Sentences that name the value that ends: *X instead of Y*, *left Y*, *moved from Y to Z*."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isnan

from synapse.hippocampus.cue_hits import KnownNames, find_hits
from synapse.hippocampus.finding import Finding, date, shown
from synapse.hippocampus.rules.ending import ENDED
from synapse.hippocampus.rules.grade import REVIEW_RATIO, UNREAD_CONFIDENCE, Grade
from synapse.hippocampus.rules.graph_reading import EVENT, SINGLE, GraphReading
from synapse.hippocampus.rules.statement import TARGET, hide_name, scopes_part
from synapse.hippocampus.timeline import Timeline
from synapse.hippocampus.wording import Cue, Wording

OTHER_RELATION_RATIO = 0.8
"""What is left of a cue's confidence where the two facts have different relations."""

_NAMES_MAX_COUNT = 64
"""Names of a source with more are not looked for one by one."""

MOVED_ON_CONFIDENCE = 0.9
"""Of *left ⟨x⟩ and joined ⟨o⟩*."""
_AND_NOW = re.compile(rf"{ENDED} and .*{TARGET}")

Name = tuple[int, str]
"""Row of a source, and the folded name of a target."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A fact whose text says that something has ended."""

    order: tuple[float, float]
    """When it begins and when it was recorded."""
    uuid: str
    row: int
    cue: Cue


class _Claims:
    """Claims about one name of one source, searchable by time."""

    def __init__(self, claims: list[Claim]) -> None:
        self._claims = sorted(claims, key=lambda claim: (claim.order, claim.uuid))
        self._orders = [claim.order for claim in self._claims]

    def first_against(self, row: int, time: Timeline) -> Claim | None:
        """The first claim newer than a fact that no later episode has confirmed again."""
        created_s, support_s = float(time.created_s[row]), float(time.support_s[row])
        recorded_s = inf if isnan(created_s) else created_s
        place = bisect_right(self._orders, (float(time.start_s[row]), recorded_s))
        if place < len(self._claims) and not isnan(support_s):
            claim = self._claims[place]
            if support_s > max(claim.order[0], float(time.support_s[claim.row])):
                place = max(place, bisect_left(self._orders, (support_s, -inf)))
        return self._claims[place] if place < len(self._claims) else None


def claims_against(graph: GraphReading) -> dict[Name, list[Claim]]:
    """What sentences say has ended, by source and name."""
    facts, time, names = graph.snapshot.facts, graph.time, graph.folded_names
    claims: defaultdict[Name, list[Claim]] = defaultdict(list)
    others = _Others(graph)
    for row, wording, cues in _speakers(graph):
        source, own = int(facts.source[row]), names[facts.target[row]]
        if not others.may_be_named(source, own, facts.text[row]):
            continue
        created_s = float(time.created_s[row])
        order = (float(time.start_s[row]), -inf if isnan(created_s) else created_s)
        for hit in find_hits(facts.text[row], wording, others.known(source), cues):
            if hit.name != own:
                claims[source, hit.name].append(Claim(order, facts.uuid[row], row, hit.cue))
    return claims


def claimed(graph: GraphReading, claims: dict[Name, list[Claim]]) -> Iterator[Finding]:
    """Active facts that a newer fact's text names as ended."""
    for (source, name), about in claims.items():
        rows = [row for row in graph.named.rows(source, name) if graph.active[row]]
        yield from _losers(graph, rows, about)


class _Others:
    """What else the facts of a source are about."""

    def __init__(self, graph: GraphReading) -> None:
        self._named, self._names = graph.named, graph.folded_names
        self._last_words = [name.rpartition(" ")[2] for name in self._names]
        self._ends: dict[int, list[tuple[str, str]]] = {}
        self._known: dict[int, KnownNames] = {}

    def may_be_named(self, source: int, own: str, text: str) -> bool:
        """Whether a text may name one of them: at least the last word of a name stands there."""
        ends = self._ends.get(source)
        if ends is None:
            ends = self._ends[source] = [
                (self._last_words[target], self._names[target])
                for target in self._named.targets(source)
            ]
        if len(ends) > _NAMES_MAX_COUNT and len(self.known(source)) > _NAMES_MAX_COUNT:
            return True
        text = text.casefold()
        for last_word, name in ends:  # noqa: SIM110 - tens of thousands of texts
            if last_word in text and name != own:
                return True
        return False

    def known(self, source: int) -> KnownNames:
        """All of them."""
        known = self._known.get(source)
        if known is None:
            known = self._known[source] = KnownNames(self._named.names(source))
        return known


def _speakers(graph: GraphReading) -> list[tuple[int, Wording, list[int]]]:
    """Facts whose texts may hold cues, with the language and the cues."""
    may_speak, texts = graph.speaking & graph.time.speaks, graph.snapshot.facts.text
    found = []
    for wording, cues_of in zip(graph.languages, graph.spoken.cues, strict=True):
        for row, listed in cues_of.items():
            if may_speak[row]:
                cues = [cue for cue in listed if _may_match(wording.cues[cue], texts[row])]
                if cues:
                    found.append((row, wording, cues))
    return found


def _may_match(cue: Cue, text: str) -> bool:
    return not cue.also or any(map(text.casefold().__contains__, cue.also))


def _losers(graph: GraphReading, rows: list[int], about: list[Claim]) -> Iterator[Finding]:
    time = graph.time
    by_relation: defaultdict[int, list[Claim]] = defaultdict(list)
    for claim in about:
        by_relation[int(time.relation[claim.row])].append(claim)
    of_relation = {code: _Claims(claims) for code, claims in by_relation.items()}
    of_any = _Claims(about)
    for row in rows:
        best: Finding | None = None
        for claims in (of_relation.get(int(time.relation[row])), of_any):
            first = claims.first_against(row, time) if claims else None
            if first is not None and can_end(graph, row, first.cue):
                finding = _missed_by(graph, row, first)
                if finding is not None and (best is None or finding.confidence > best.confidence):
                    best = finding
        if best is not None:
            yield best


def can_end(graph: GraphReading, row: int, cue: Cue) -> bool:
    """Whether a phrase can speak of a fact's relation: events and origins do not end."""
    relation = graph.time.relation[row]
    if graph.cardinality[row] == EVENT or graph.is_fixed[relation]:
        return False
    if not cue.families:
        return True
    families = graph.reader.families(graph.relation_name(row))
    families |= graph.reader.families(graph.masked(row))
    return bool(families & cue.families)


def _missed_by(graph: GraphReading, row: int, claim: Claim) -> Finding | None:
    grade = _grade(graph, row, claim)
    if grade == "not":
        return None
    related = graph.property[row] == graph.property[claim.row]
    confidence = claim.cue.confidence * (1.0 if related else OTHER_RELATION_RATIO)
    if grade == "plainly" and related and _begins_anew(graph, row, claim):
        confidence = max(confidence, MOVED_ON_CONFIDENCE)
    if grade == "perhaps":
        confidence = min(confidence, UNREAD_CONFIDENCE)
    review = grade == "doubtfully"
    cue = claim.cue.name.replace("_", " ")
    return Finding(
        fact=row,
        by=claim.row,
        verdict="needs review" if review else "missed",
        rule=f"cue_{claim.cue.name}",
        confidence=round(confidence * (REVIEW_RATIO if review else 1.0), 3),
        invalid_at_s=claim.order[0],
        evidence=f"A newer fact of the same source, from {date(claim.order[0])}, "
        f'says "{cue}" of "{shown(graph.target_name(row))}".',
    )


def _grade(graph: GraphReading, row: int, claim: Claim) -> Grade:
    """How surely the newer sentence means that the value has ended."""
    masked = hide_name(graph.masked(claim.row), graph.target_name(row), ENDED)
    grade = graph.endings.cue_grade(masked, claim.cue, graph.relation_name(row))
    parted = graph.scopes_part(row, claim.row) != "no" and _are_parted(graph, row, claim, masked)
    if grade == "plainly" and (parted or graph.tells_of_earlier_years(claim.row)):
        return "perhaps"
    return grade


def _begins_anew(graph: GraphReading, row: int, claim: Claim) -> bool:
    """Whether the newer sentence gives a property of one value its next one as well."""
    if graph.cardinality[row] != SINGLE:
        return False
    masked = hide_name(graph.masked(claim.row), graph.target_name(row), ENDED)
    return claim.cue.families != frozenset() and _AND_NOW.search(masked) is not None


def _are_parted(graph: GraphReading, row: int, claim: Claim, masked: str) -> bool:
    """Whether circumstances differ, the older value aside: *moved from Monday to Friday*."""
    mood = graph.reader.mood(masked, graph.relation_name(claim.row))
    return scopes_part(graph.full_mood(row), mood) != "no"
