"""What a graph shows about each relation: one value at a time, many, or events; and for how long.

Three sources are pooled. A *lexicon* says what the words of a name mean. The *graph* shows whether
values begin one after another or side by side, and whether its sentences presuppose one value. The
*user* has the last word. What the words say is a prior chance and what the graph shows a limited
factor on its odds, so a small graph leaves the words as they are and a large one can overrule them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synapse.hippocampus.config import RelationsConfig
from synapse.hippocampus.lexicon.english import ENGLISH_RELATIONS
from synapse.hippocampus.lexicon.grammar import Kind, Reading, RelationLexicon
from synapse.hippocampus.lifetime import median_lifetimes_days
from synapse.hippocampus.model import Floats, GraphSnapshot, Ints
from synapse.hippocampus.numeric import SECONDS_PER_DAY
from synapse.hippocampus.relation_corrections import FEW_COUNT, support_for_corrections
from synapse.hippocampus.relation_evidence import (
    Evidence,
    Statements,
    count_evidence,
    support_for_single,
)
from synapse.hippocampus.relation_names import Groups, Told, join_by_shape, read_sentences
from synapse.hippocampus.relation_reasons import (
    DEFINITE,
    HOUSEKEEPING,
    MEASURES,
    UNDECIDED,
    said,
    shown,
)
from synapse.hippocampus.relation_table import Cardinality, Relation, RelationTable
from synapse.hippocampus.timeline import Timeline
from synapse.hippocampus.wording import DUPLICATE_RELATION

_DEFINITE_PER_FACT, _DEFINITE_MAX = 1.0, 3.0
_MEASURE_PER_FACT, _MEASURE_MAX = 0.5, 1.0
_MOST_RATIO = 0.6
_CORRECTIONS_MAX = 4.0
_FEW_CORRECTED_MAX = 0.85
"""With few corrected subjects of its own a property is not made surer than this by the others: less
than is asked of what is written into a graph."""


class RelationLearner:
    """Learns what a graph shows about its relations.

    Args:
        config: the constants, and the user's own lists, which beat everything learned.
        lexicon: the words of the language in which relations are named.
        use_words: ``False`` leaves the lexicon out, for comparison.
        use_graph: ``False`` leaves the graph's evidence out, for comparison.
    """

    def __init__(
        self,
        config: RelationsConfig,
        lexicon: RelationLexicon = ENGLISH_RELATIONS,
        *,
        use_words: bool = True,
        use_graph: bool = True,
    ) -> None:
        self._config = config
        self._lexicon = lexicon
        self._use_words = use_words
        self._use_graph = use_graph
        listed: tuple[tuple[Cardinality, tuple[str, ...]], ...] = (
            ("event", config.event),
            ("multi", config.multi),
            ("single", config.single),
        )
        self._listed = {self.normal(name): kind for kind, names in listed for name in names}

    def normal(self, relation: str) -> str:
        """A name as names are compared."""
        return self._lexicon.normal(relation)

    def by_name(self, relation: str) -> Relation:
        """What a name alone says, or the user about it."""
        reading = self._read(relation)
        return self._relation([relation], np.array(reading.kind.chances), [said(relation, reading)])

    def learn(
        self, snapshot: GraphSnapshot, now_s: float, time: Timeline | None = None
    ) -> RelationTable:
        """Pool words, graph and the user's lists.

        Args:
            snapshot: the graph.
            now_s: the moment, seconds since 1970; what begins later shows nothing yet.
            time: the times of its facts at that moment, where they have been read already.
        """
        names, name_of_fact = _number(snapshot.facts.relation)
        told = read_sentences(snapshot, name_of_fact, len(names)) if self._use_graph else []
        members, property_of_name = self._properties(names, told)
        time = Timeline.of(snapshot, now_s) if time is None else time
        prop = property_of_name[name_of_fact]
        evidence = count_evidence(_statements(snapshot, time, prop), len(members), SECONDS_PER_DAY)
        lifetimes = median_lifetimes_days(
            time.start_s, time.end_s, time.ended, now_s, prop, len(members),
            self._config.min_ends_count,
        )  # fmt: skip
        frequency = np.bincount(name_of_fact, minlength=len(names))
        readings = [self._read(name) for name in names]
        words = np.array([r.kind.chances for r in readings]).reshape(-1, 3)
        prior = np.array([frequency[m] @ words[m] / frequency[m].sum() for m in members])
        prior = prior.reshape(-1, 3)
        texts = [self._support_of_texts([told[i] for i in m] if told else []) for m in members]
        chances, correcting = self._pool(prior, evidence, np.array([s for s, _ in texts]))
        relations = []
        for code, numbers in enumerate(members):
            ordered = sorted(numbers, key=lambda i: (-int(frequency[i]), names[i]))
            reasons = [said(names[ordered[0]], readings[ordered[0]])]
            if self._use_graph:
                reasons += [*shown(evidence, code, correcting[code] > 0), *texts[code][1]]
            relations.append(
                self._relation(
                    [names[i] for i in ordered], chances[code], reasons,
                    int(evidence.facts_count[code]), lifetimes[code],
                )
            )  # fmt: skip
        code_of = {name: int(property_of_name[i]) for i, name in enumerate(names)}
        by_normal_name = {self.normal(name): code for name, code in code_of.items()}
        return RelationTable(tuple(relations), by_normal_name | code_of, self.normal, self.by_name)

    def _read(self, relation: str) -> Reading:
        if self._use_words:
            return self._lexicon.read(relation)
        return Reading(Kind.UNKNOWN, "no word")

    def _properties(self, names: list[str], told: list[Told]) -> tuple[list[list[int]], Ints]:
        groups = Groups(len(names))
        first: dict[str, int] = {}
        for number, name in enumerate(names):
            groups.join(first.setdefault(self.normal(name), number), number)
        join_by_shape(told, groups)
        roots = [groups.find(number) for number in range(len(names))]
        code_of = {root: code for code, root in enumerate(sorted(set(roots)))}
        members: list[list[int]] = [[] for _ in code_of]
        for number, root in enumerate(roots):
            members[code_of[root]].append(number)
        return members, np.array([code_of[root] for root in roots], np.int64)

    def _support_of_texts(self, told: list[Told]) -> tuple[float, list[str]]:
        """Log support for one value from how facts are told, and the reasons in words."""
        count = sum(sample.facts_count for sample in told)
        definite = sum(s.matching_count(self._lexicon.definite_patterns) for s in told)
        measures = sum(sample.measures_count for sample in told)
        support, reasons = 0.0, []
        if count and definite >= _MOST_RATIO * count:
            support += min(_DEFINITE_MAX, _DEFINITE_PER_FACT * definite)
            reasons.append(DEFINITE)
        if count and measures >= _MOST_RATIO * count:
            support += min(_MEASURE_MAX, _MEASURE_PER_FACT * measures)
            reasons.append(MEASURES)
        return support, reasons

    def _pool(self, prior: Floats, evidence: Evidence, texts: Floats) -> tuple[Floats, Floats]:
        """Chances of single, multi and event by property, and how far the graph corrects each.

        Events come one by one or in bunches: for them the times show nothing either way, which
        the mean of both likelihoods says.
        """
        if not self._use_graph:
            return prior, np.zeros(len(prior))
        single = np.exp(support_for_single(evidence))
        odds = prior * np.stack(
            [single * np.exp(texts), np.ones_like(single), 0.5 * single + 0.5], 1
        )
        chances = odds / odds.sum(axis=1, keepdims=True)
        correcting = np.clip(support_for_corrections(evidence, prior[:, 0]), 0.0, _CORRECTIONS_MAX)
        return _corrected(chances, evidence, correcting), correcting

    def _relation(
        self,
        names: list[str],
        chances: Floats,
        reasons: list[str],
        facts_count: int = 0,
        lifetime_days: float | None = None,
    ) -> Relation:
        kind, confidence = self._decide(chances)
        single = float(chances[0])
        if names[0] == DUPLICATE_RELATION:
            reasons = [HOUSEKEEPING]
        elif kind == "unknown":
            reasons = [*reasons, UNDECIDED]
        listed = next((name for name in names if self.normal(name) in self._listed), None)
        if listed is not None:
            kind, confidence = self._listed[self.normal(listed)], 1.0
            single = float(kind == "single")
            reasons = [f"{listed} is listed as {kind}."]
        return Relation(
            names[0], tuple(names), kind, confidence, single, facts_count, lifetime_days,
            tuple(reasons), listed is not None,
        )  # fmt: skip

    def _decide(self, chances: Floats) -> tuple[Cardinality, float]:
        single, multi, event = (float(chance) for chance in chances)
        confidence = max(single, multi + event)
        if confidence < self._config.min_confidence_ratio:
            return "unknown", confidence
        if single > multi + event:
            return "single", confidence
        return ("multi" if multi >= event else "event"), confidence


def _corrected(chances: Floats, evidence: Evidence, correcting: Floats) -> Floats:
    """The chances where second values are corrections; events are held back half as much."""
    odds = chances * np.exp(np.outer(correcting, [0.0, -1.0, -0.5]))
    single = odds[:, 0] / odds.sum(axis=1)
    few = evidence.corrected_count < FEW_COUNT
    most = np.where(few, np.maximum(chances[:, 0], _FEW_CORRECTED_MAX), 1.0)
    single = np.minimum(single, most)
    rest = odds[:, 1:] / odds[:, 1:].sum(axis=1, keepdims=True)
    return np.column_stack([single, rest * (1.0 - single)[:, None]])


def _number(relations: Sequence[str]) -> tuple[list[str], Ints]:
    names = sorted(set(relations))
    code_of = {name: code for code, name in enumerate(names)}
    return names, np.fromiter(map(code_of.__getitem__, relations), np.int64, len(relations))


def _statements(snapshot: GraphSnapshot, time: Timeline, prop: Ints) -> Statements:
    """Entities of one name are one value, and an end that a machine concluded, or
    that has not come, shows nothing."""
    code_of: dict[str, int] = {}
    value = [code_of.setdefault(name.casefold(), len(code_of)) for name in snapshot.entities.name]
    facts = snapshot.facts
    return Statements(
        subject=facts.source,
        property=prop,
        value=np.array(value, np.int64)[facts.target],
        start_s=time.start_s,
        end_s=np.where(time.retired | ~time.ended, np.nan, time.end_s),
        handed_over_s=time.end_s,
        is_self_loop=facts.source == facts.target,
        counts=time.speaks,
    )
