"""Prediction errors: how a new fact sits with what is known about its subject.

A memory predicts what it will be told. A fact that says what is known is *expected*, one about
something unknown is *novel*, one that the rules of contradiction set against a known fact
*contradicts*. Only the last two teach anything (Rescorla and Wagner, 1972).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from synapse.hippocampus.bearing import Bearing, Told
from synapse.hippocampus.config import ContradictionConfig
from synapse.hippocampus.contradiction import ContradictionDetector
from synapse.hippocampus.finding import Finding
from synapse.hippocampus.lexicon.english_changes import LANGUAGES
from synapse.hippocampus.matters import Matters
from synapse.hippocampus.model import GraphSnapshot, Ints
from synapse.hippocampus.relation_table import RelationTable
from synapse.hippocampus.rules.spoken import PhraseHearing
from synapse.hippocampus.wording import Wording, relation_codes

Kind = Literal["expected", "novel", "contradicts"]


@dataclass(frozen=True, slots=True)
class PredictionError:
    """How one new fact sits with the known ones."""

    kind: Kind
    surprise: float
    """From 0 to 1."""
    findings: tuple[Finding, ...]
    """What it contradicts or repeats, the surest first; a late fact may itself be the one that
    loses."""


class PredictionErrorDetector:
    """Judges one new fact at a time by the rules of contradiction.

    Args:
        config: the constants of the rules.
        languages: how each language speaks of change.
    """

    def __init__(
        self, config: ContradictionConfig, languages: Sequence[Wording] = LANGUAGES
    ) -> None:
        self._detector = ContradictionDetector(config, languages)
        self._bearing: Bearing | None = None

    def hearing(self) -> PhraseHearing:
        """What may hear the facts while they are being read; see :meth:`judge_all`."""
        return self._detector.hearing()

    def matters(self, statements: Sequence[Told], relations: RelationTable) -> dict[str, Matters]:
        """What has to be known to judge some statements, by the uuids of their subjects."""
        bearing = self._bearing
        if bearing is None or bearing.relations is not relations:
            bearing = self._bearing = Bearing(self._detector.readers, relations)
        return bearing.of(statements)

    def judge(
        self,
        known: GraphSnapshot,
        fact: int,
        now_s: float,
        relations: RelationTable | None = None,
    ) -> PredictionError:
        """Judge a new fact.

        Args:
            known: the facts of its subject, the new one among them.
            fact: row of the new fact.
            now_s: the moment, seconds since 1970.
            relations: what the whole graph shows about its relations.
        """
        return self.judge_all(known, [fact], now_s, relations)[0]

    def judge_all(
        self,
        known: GraphSnapshot,
        new: Sequence[int],
        now_s: float,
        relations: RelationTable | None = None,
        hearing: PhraseHearing | None = None,
    ) -> list[PredictionError]:
        """Judge several new facts, each against all others; see :meth:`judge`.

        Args:
            known: the facts of their subjects, the new ones among them.
            new: rows of the new facts.
            now_s: the moment, seconds since 1970.
            relations: what the whole graph shows about its relations.
            hearing: what has heard the facts while they were read.
        """
        if not len(new):
            return []
        spoken = hearing.spoken(known.facts.text) if hearing else None
        of_fact: defaultdict[int, list[Finding]] = defaultdict(list)
        for finding in self._detector.detect(
            known, now_s, relations, about=new, spoken=spoken
        ).findings:
            for fact in {finding.fact, finding.by}:
                of_fact[fact].append(finding)
        values = _Values(known, relations)
        return [self._judged(known, fact, of_fact[fact], values) for fact in new]

    def _judged(
        self,
        known: GraphSnapshot,
        fact: int,
        mine: Sequence[Finding],
        values: _Values,
    ) -> PredictionError:
        against = [f for f in mine if f.verdict in ("missed", "superseded", "needs review")]
        if against:
            against.sort(key=lambda f: (-f.confidence, known.facts.uuid[f.fact]))
            other = against[0].fact if against[0].by == fact else against[0].by
            support_count = max(len(known.facts.episodes[other]), 1)
            return PredictionError(
                "contradicts",
                contradiction_surprise(against[0].confidence, support_count),
                tuple(against),
            )
        again = tuple(f for f in mine if f.verdict == "duplicate")
        same, other_count = values.beside(fact)
        if again or same:
            return PredictionError("expected", 0.0, again)
        return PredictionError("novel", novelty_surprise(other_count), ())


class _Values:
    """Which values the facts give to the properties of their subjects."""

    def __init__(self, known: GraphSnapshot, relations: RelationTable | None) -> None:
        facts = known.facts
        names = facts.relation
        code = relation_codes(names)[0] if relations is None else relations.properties(names)
        _, slot = np.unique(
            facts.source * (int(code.max(initial=0)) + 1) + code, return_inverse=True
        )
        _, first, number, count = np.unique(
            slot * (len(known.entities) + len(facts)) + stated_values(known),
            return_index=True, return_inverse=True, return_counts=True,
        )  # fmt: skip
        self._same_count = count[number]
        self._values_count = np.bincount(slot[first])[slot]

    def beside(self, fact: int) -> tuple[bool, int]:
        """Whether another fact says the same, and how many other values the property has."""
        return bool(self._same_count[fact] > 1), int(self._values_count[fact]) - 1


def stated_values(known: GraphSnapshot) -> Ints:
    """Number of the value that each fact states, shape (facts,): its object, and what links an
    entity to itself states a value of its own."""
    facts = known.facts
    own = len(known.entities) + np.arange(len(facts))
    return np.where(facts.source == facts.target, own, facts.target)


def contradiction_surprise(confidence: float, support_count: int) -> float:
    """Surprise of a contradiction: the surer it is and the better known the old fact, the more.

    s = 1/2 + c/2 (1 - 2^-n), with c the confidence and n the episodes that support the old fact.

    >>> round(contradiction_surprise(0.9, 1), 3), round(contradiction_surprise(0.9, 5), 3)
    (0.725, 0.936)
    """
    return 0.5 + 0.5 * confidence * (1.0 - 2.0**-support_count)


def novelty_surprise(known_values_count: int) -> float:
    """Surprise of something new: less where the subject has had many values of the property.

    s = 1 / (2 + k), with k the other known values of the same property.

    >>> novelty_surprise(0), novelty_surprise(2)
    (0.5, 0.25)
    """
    return 1.0 / (2.0 + known_values_count)
