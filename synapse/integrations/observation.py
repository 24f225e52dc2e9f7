"""How what Graphiti has written sits with what was known, put into the durable queue once."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from math import inf, isnan

import numpy as np

from synapse.hippocampus.finding import Finding
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.ports import MemoryStore, Surprise
from synapse.hippocampus.prediction_error import (
    PredictionError,
    PredictionErrorDetector,
    novelty_surprise,
)
from synapse.hippocampus.relation_table import RelationTable
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
        self, graph: str, what: Ingested, relations: RelationTable | None, now_s: float
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
        matters = {
            subject: what.objects[subject].union(
                *(relations.names(name) if relations else {name} for name in named)
            )
            for subject, named in what.relations.items()
        }
        known = self._store.read_subjects(graph, what.relations, matters)
        noticed = _Statements(known, what, relations).judged(self._detector, now_s)
        surprises: defaultdict[str, list[Surprise]] = defaultdict(list)
        for one in noticed:
            surprises[_told_in(one, what)].append(_as_surprise(one, known, now_s))
        for told_in, of_one in surprises.items():
            self._store.record_surprises(graph, of_one, told_in)
        return noticed


@dataclass(frozen=True, slots=True)
class _Statements:
    """What one call has stated, beside what is known of its subjects."""

    known: GraphSnapshot
    what: Ingested
    relations: RelationTable | None

    def judged(self, detector: PredictionErrorDetector, now_s: float) -> list[Noticed]:
        row_of = {uuid: row for row, uuid in enumerate(self.known.facts.uuid)}
        said = [(row_of[one.fact], one) for one in self.what.said if one.fact in row_of]
        rows = list(dict.fromkeys(row for row, _ in said))
        errors = detector.judge_all(self.known, rows, now_s, self.relations)
        error_of = dict(zip(rows, errors, strict=True))
        new = {row for row, one in said if self._is_new(one)}
        return [self._noticed(row, one, error_of[row], new) for row, one in said]

    def _noticed(self, row: int, one: Said, error: PredictionError, new: set[int]) -> Noticed:
        uuids, is_new = self.known.facts.uuid, self._is_new(one)
        if is_new:  # what the same call brings in its place tells it
            against = [f for f in error.findings if not (f.fact == row and f.by in new)]
        else:
            against = [f for f in error.findings if self._is_news(f, row, one)]
        if error.kind == "contradicts" and against:
            first = against[0]
            other = uuids[first.fact if first.by == row else first.by]
            said = other, first.rule, first.evidence, one.episode
            return Noticed(one.fact, "contradicts", error.surprise, *said)
        if not is_new:
            return Noticed(one.fact, "expected", 0.0, said_in=one.episode)
        if error.kind == "contradicts":
            surprise = novelty_surprise(self._values_before(row, new))
            return Noticed(one.fact, "novel", surprise, said_in=one.episode)
        return Noticed(one.fact, error.kind, error.surprise, said_in=one.episode)

    def _is_new(self, one: Said) -> bool:
        """To a triplet that is known already Graphiti gives an episode that it does not keep."""
        is_kept = one.episode in ("", *self.what.episodes) or (
            one.episode in self.known.episodes.uuid
        )
        return one.is_new and is_kept

    def _values_before(self, row: int, new: set[int]) -> int:
        """How many values the property of a fact had before this call."""
        facts = self.known.facts
        name = facts.relation[row]
        names = self.relations.names(name) if self.relations else {name}
        beside = np.flatnonzero(facts.source == facts.source[row]).tolist()
        return sum(facts.relation[other] in names for other in beside if other not in new)

    def _is_news(self, found: Finding, row: int, one: Said) -> bool:
        """Whether what a fact that is said again contradicts was said since it was said last.

        An episode that states a fact tells since when it holds, later ones that it still does.
        """
        if found.fact == row:
            return True
        facts, episodes = self.known.facts, self.known.episodes
        other_s = max([self._begun_s(found.fact), *self._said_s(found.fact)[1:]])
        here = self.what.episodes
        later = here[here.index(one.episode) :] if one.episode in here else (one.episode,)
        before = [e for e in facts.episodes[row].tolist() if episodes.uuid[e] not in later]
        before_s = episodes.valid_at_s[before].tolist() if before else [self._begun_s(row)]
        return not any(said_s >= other_s for said_s in before_s)

    def _begun_s(self, row: int) -> float:
        """Since when a fact holds, as far as anything tells."""
        facts = self.known.facts
        told_s = [float(facts.valid_at_s[row]), *self._said_s(row), float(facts.created_at_s[row])]
        return next((at_s for at_s in told_s if not isnan(at_s)), inf)

    def _said_s(self, row: int) -> list[float]:
        episodes = self.known.facts.episodes[row]
        said_s: list[float] = np.sort(self.known.episodes.valid_at_s[episodes]).tolist()
        return said_s


def _told_in(one: Noticed, what: Ingested) -> str:
    """What is recorded once: an episode, or a triplet."""
    if one.said_in in what.episodes:
        return one.said_in
    return f"{one.fact}@{one.said_in}" if one.said_in else one.fact


def _as_surprise(one: Noticed, known: GraphSnapshot, now_s: float) -> Surprise:
    event = _event(one, known) if one.against else ""
    return Surprise(one.fact, one.against, one.rule, one.surprise, now_s, one.kind, event)


def _event(one: Noticed, known: GraphSnapshot) -> str:
    """Names two statements that contradict each other, the same from either side."""
    episodes = known.episodes
    supporting = known.facts.episodes[known.facts.uuid.index(one.against)].tolist()
    told = [
        (episodes.created_at_s[e], episodes.valid_at_s[e], episodes.uuid[e]) for e in supporting
    ]
    first = min(told)[-1] if told else ""
    return json.dumps(sorted([(one.fact, one.said_in), (one.against, first)]))
