"""How what Graphiti has written sits with what was known, put into the durable queue once."""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cached_property

from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.prediction_error import (
    PredictionError,
    PredictionErrorDetector,
    contradiction_surprise,
    novelty_surprise,
    stated_values,
)
from synapse.hippocampus.relation_table import RelationTable
from synapse.hippocampus.room import Surprise
from synapse.hippocampus.rules.spoken import PhraseHearing
from synapse.integrations.arrival import Arrivals, Moment, begun_s, said_again_s
from synapse.integrations.ingestion import Ingested, Noticed, Said


class Observer:
    """Judges what an ingestion has brought, and puts it into the durable queue.

    Args:
        store: where the graph is.
        detector: the rules.
    """

    def __init__(self, store: MemoryStore, detector: PredictionErrorDetector) -> None:
        self._store = store
        self._detector = detector

    def observe(
        self, graph: str, what: Ingested, relations: RelationTable, now_s: float
    ) -> list[Noticed]:
        """Judge what was said and record the outcome, once for each episode.

        A fact that is said again is expected, whatever it replaced when it was new, unless it has
        meanwhile been replaced: then it contradicts what had replaced it. That one fact
        contradicts another is recorded once for the two statements, whichever of them is observed
        first, and however often, in however large a result.

        Args:
            graph: name of the graph.
            what: from :func:`~synapse.integrations.ingestion.ingested`.
            relations: what the whole graph shows about its relations.
            now_s: the moment, seconds since 1970.
        """
        if not what.said:
            return []
        hearing = self._detector.hearing()
        matters = self._detector.matters(what.statements, relations)
        known = self._store.read_subjects(graph, matters, matters, hearing.hear)
        statements = _Statements(known, what, relations)
        noticed = statements.judged(self._detector, now_s, hearing)
        surprises: defaultdict[str, list[Surprise]] = defaultdict(list)
        for one in noticed:
            event = statements.event(one) if one.against else ""
            said = one.fact, one.against, one.rule, one.surprise, now_s, one.kind, event
            surprises[_told_in(one, what)].append(Surprise(*said))
        self._store.record_surprises(graph, surprises)
        return noticed


_Slot = tuple[int, int]
"""Row of the subject, property."""


class _Statements:
    """What one call has stated, beside what was known of its subjects."""

    def __init__(self, known: GraphSnapshot, what: Ingested, relations: RelationTable) -> None:
        self._known = known
        self._relations = relations
        row_of = {uuid: row for row, uuid in enumerate(known.facts.uuid)}
        self._said = [
            (row_of[one.fact], one, _is_new(one, known, what))
            for one in what.said
            if one.fact in row_of
        ]
        new = ((row, one) for row, one, is_new in self._said if is_new)
        self._arrivals = Arrivals(known, what, new)
        self._place = {row: place for place, (row, _, _) in reversed([*enumerate(self._said)])}

    def judged(
        self, detector: PredictionErrorDetector, now_s: float, hearing: PhraseHearing
    ) -> list[Noticed]:
        rows = list(dict.fromkeys(row for row, _, _ in self._said))
        errors = detector.judge_all(self._known, rows, now_s, self._relations, hearing)
        error_of = dict(zip(rows, errors, strict=True))
        return [self._noticed(row, one, error_of[row], is_new) for row, one, is_new in self._said]

    def event(self, one: Noticed) -> str:
        """Names two statements that contradict each other, the same from either side."""
        first = self._arrivals.first_episode(self._known.facts.uuid.index(one.against))
        return json.dumps(sorted([(one.fact, one.said_in), (one.against, first)]))

    def _noticed(self, row: int, one: Said, error: PredictionError, is_new: bool) -> Noticed:
        moment = self._arrivals.moment_of(row, one, is_new=is_new)
        if error.kind == "novel" and is_new:
            return Noticed(one.fact, error.kind, error.surprise, said_in=one.episode)
        if error.kind == "expected" and (not is_new or self._was_known(row, error, moment)):
            return Noticed(one.fact, "expected", 0.0, said_in=one.episode)
        for found in error.findings:
            other = found.fact if found.by == row else found.by
            if other < 0 or not self._arrivals.had_fact(other, moment):
                continue
            if is_new and found.fact == row and self._arrivals.had_begun_with(other, moment):
                continue  # the other fact of the same episode tells it
            if is_new or self._is_news(other, row, one, moment):
                support_count = max(len(self._known.facts.episodes[other]), 1)
                surprise = contradiction_surprise(found.confidence, support_count)
                said = self._known.facts.uuid[other], found.rule, found.evidence, one.episode
                return Noticed(one.fact, "contradicts", surprise, *said)
        if not is_new:
            return Noticed(one.fact, "expected", 0.0, said_in=one.episode)
        surprise = novelty_surprise(self._values_before(row, moment))
        return Noticed(one.fact, "novel", surprise, said_in=one.episode)

    def _was_known(self, row: int, error: PredictionError, moment: Moment) -> bool:
        """Whether a copy of a fact was there before it: Graphiti may store one statement twice."""
        value_of = self._value_of
        copies = {end for found in error.findings for end in (found.fact, found.by)}
        copies |= {other for other in self._beside(row) if value_of[other] == value_of[row]}
        return any(
            self._arrivals.had_fact(copy, moment)
            and not (
                self._arrivals.had_begun_with(copy, moment) and self._place[copy] > self._place[row]
            )
            for copy in copies - {row, -1}
        )

    def _values_before(self, row: int, moment: Moment) -> int:
        """How many other values the property of a fact had before it was stated."""
        others = (o for o in self._beside(row) if self._arrivals.had_fact(o, moment))
        return len({self._value_of[other] for other in others} - {self._value_of[row]})

    def _beside(self, row: int) -> list[int]:
        """The other facts that give values to the same property."""
        return [other for other in self._slots[self._slot_of[row]] if other != row]

    @cached_property
    def _value_of(self) -> list[int]:
        values: list[int] = stated_values(self._known).tolist()
        return values

    @cached_property
    def _slots(self) -> dict[_Slot, list[int]]:
        """The facts of each property."""
        slots: defaultdict[_Slot, list[int]] = defaultdict(list)
        for row, slot in enumerate(self._slot_of):
            slots[slot].append(row)
        return slots

    @cached_property
    def _slot_of(self) -> list[_Slot]:
        """The property that each fact gives a value to."""
        facts = self._known.facts
        properties = self._relations.properties(facts.relation).tolist()
        return list(zip(facts.source.tolist(), properties, strict=True))

    def _is_news(self, other: int, row: int, one: Said, moment: Moment) -> bool:
        """Whether what a fact that is said again contradicts was said since it was said last."""
        own_s, other_s = (self._last_said_s(fact, one, moment) for fact in (row, other))
        return not own_s >= other_s

    def _last_said_s(self, row: int, one: Said, moment: Moment) -> float:
        """When a fact had been said last, before that moment."""
        before = said_again_s(self._known, self._arrivals.episodes_before(row, one, moment))
        return max([begun_s(self._known, row), *before])


def _is_new(one: Said, known: GraphSnapshot, what: Ingested) -> bool:
    """To a triplet that is known already Graphiti gives an episode that it does not keep."""
    if not one.is_new:
        return False
    return one.episode in ("", *what.episodes) or one.episode in known.episodes.uuid


def _told_in(one: Noticed, what: Ingested) -> str:
    """What is recorded once: an episode, or a triplet."""
    if one.said_in in what.episodes:
        return one.said_in
    return f"{one.fact}@{one.said_in}" if one.said_in else one.fact
