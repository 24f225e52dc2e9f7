"""A graph as the rules of contradiction read it: times, properties, and what each sentence does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from synapse.hippocampus.lexicon.english import ENGLISH_RELATIONS
from synapse.hippocampus.lexicon.english_assertions import ENGLISH_ASSERTIONS
from synapse.hippocampus.lexicon.words import split_name
from synapse.hippocampus.model import Bools, Floats, GraphSnapshot, Ints
from synapse.hippocampus.phrase import compiled
from synapse.hippocampus.relation_table import Relation, RelationTable
from synapse.hippocampus.rules.amounts import AmountReader, Shape
from synapse.hippocampus.rules.assertion import AssertionReader
from synapse.hippocampus.rules.ending import EndingReader
from synapse.hippocampus.rules.named import NamedFacts
from synapse.hippocampus.rules.related_values import RelatedValues
from synapse.hippocampus.rules.roles import earliest_and_latest, relations_by_role
from synapse.hippocampus.rules.same_value import SameValues
from synapse.hippocampus.rules.spoken import PhraseSearch, Spoken
from synapse.hippocampus.rules.stance import StanceReader
from synapse.hippocampus.rules.statement import (
    PLAIN,
    Mood,
    StatementReader,
    hide_names,
    scopes_part,
)
from synapse.hippocampus.timeline import Timeline
from synapse.hippocampus.wording import Wording, fold_name

SINGLE, MULTI, EVENT, UNKNOWN = range(4)
"""Cardinalities as numbers."""
_YEAR = re.compile(r"(?<![\w.:/-])(?:1[5-9]|20)\d\d(?![\w/]|[:.-]\d)")
_SENTENCES_MAX_COUNT = 2_000


class Readers:
    """What reads sentences, made once for all graphs."""

    def __init__(self, languages: Sequence[Wording]) -> None:
        self.languages = tuple(languages)
        self.statements = StatementReader(self.languages[0])
        self.amounts = AmountReader(self.languages[0])
        self.assertions = AssertionReader(self.statements, ENGLISH_ASSERTIONS, ENGLISH_RELATIONS)
        self.endings = EndingReader(self.assertions)
        self.stances = StanceReader(self.statements, self.endings)
        self.same_values = SameValues(self.languages[0])

    @cached_property
    def phrases(self) -> PhraseSearch:
        """What finds phrases in texts."""
        return PhraseSearch(self.languages)


class GraphReading:
    """One snapshot at one moment, with what is known about its relations.

    Args:
        snapshot: the graph.
        now_s: the moment, seconds since 1970.
        relations: what the graph shows about its relations; without it nothing is known to hold
            one value at a time.
        readers: of the languages; sentences are read in the first one.
        time: the times of its facts, where they have been read already.
        spoken: phrases of interest in their texts, where they have been found already.
    """

    def __init__(
        self,
        snapshot: GraphSnapshot,
        now_s: float,
        relations: RelationTable | None,
        readers: Readers,
        time: Timeline | None = None,
        spoken: Spoken | None = None,
    ) -> None:
        self.snapshot = snapshot
        self.time = Timeline.of(snapshot, now_s) if time is None else time
        self.relations = relations
        self.languages = readers.languages
        self.reader = readers.statements
        self.amounts = readers.amounts
        self.stances = readers.stances
        self.assertions = readers.assertions
        self.endings = readers.endings
        self.same_values = readers.same_values
        self._readers = readers
        self._spoken = spoken
        self._moods: dict[int, Mood] = {}
        self._masked: dict[int, str] = {}

    @cached_property
    def active(self) -> Bools:
        """Facts that have begun and that nobody has ended, shape (facts,)."""
        time = self.time
        return time.has_begun & ~time.ended & ~time.retired

    @cached_property
    def speaking(self) -> Bools:
        """Facts that can replace another: those that have begun and were not taken back at once."""
        time = self.time
        return time.has_begun & ~(time.end_s <= time.start_s)

    @cached_property
    def property(self) -> Ints:
        """Number of each fact's property, shape (facts,)."""
        return self.property_of_relation[self.time.relation]

    @cached_property
    def property_of_relation(self) -> Ints:
        """Property of each of :attr:`Timeline.relation_names`."""
        names = self.time.relation_names
        if self.relations is None:
            return np.arange(len(names))
        return self.relations.properties(names)[self._meant]

    @cached_property
    def _relations(self) -> list[Relation]:
        """What is known about each of :attr:`Timeline.relation_names`."""
        known = self.relations
        return [] if known is None else list(map(known.relation, self.time.relation_names))

    @cached_property
    def cardinality_of_relation(self) -> Ints:
        """Cardinality of each of :attr:`Timeline.relation_names`."""
        return self._named_cardinality[self._meant]

    @cached_property
    def _named_cardinality(self) -> Ints:
        names = self.time.relation_names
        if self.relations is None:
            return np.full(len(names), UNKNOWN)
        order = {"single": SINGLE, "multi": MULTI, "event": EVENT, "unknown": UNKNOWN}
        codes = [order[relation.cardinality] for relation in self._relations]
        return np.array(codes, np.int64)

    @cached_property
    def _meant(self) -> Ints:
        """The relation that each relation's sentences name, mostly itself."""
        names, time = self.time.relation_names, self.time
        meant = np.arange(len(names))
        open_ = (self._named_cardinality == SINGLE) | (self._named_cardinality == UNKNOWN)
        if self.relations is None or open_.sum() < 2:
            return meant
        rows = earliest_and_latest(time.relation, time.start_s, len(names))
        rows = rows[open_[time.relation[rows]]][:_SENTENCES_MAX_COUNT]
        sentences = [(int(time.relation[row]), self.masked(row)) for row in rows.tolist()]
        for relation, other in relations_by_role(names, open_.tolist(), sentences).items():
            if self._named_cardinality[other] == SINGLE:
                meant[relation] = other
        return meant

    @cached_property
    def cardinality(self) -> Ints:
        """Cardinality of each fact's relation, shape (facts,)."""
        return self.cardinality_of_relation[self.time.relation]

    @cached_property
    def single(self) -> Floats:
        """Chance of each relation to hold one value at a time, by :attr:`Timeline.relation`."""
        if self.relations is None:
            return np.zeros(len(self.time.relation_names))
        return np.array([relation.single for relation in self._relations])[self._meant]

    @cached_property
    def is_fixed(self) -> Bools:
        """Relations that never end, by number: births, foundations."""
        return np.array(list(map(self.reader.is_fixed, self.time.relation_names)), np.bool_)

    @cached_property
    def related(self) -> RelatedValues:
        """Values that can both be true, as the graph itself says."""
        relates = compiled(self.languages[0].relates)
        names = self.time.relation_names
        told = [relates.search(" ".join(split_name(name))) is not None for name in names]
        rows = np.flatnonzero(np.array(told, np.bool_)[self.time.relation])
        facts = self.snapshot.facts
        return RelatedValues(facts.source[rows], facts.target[rows])

    def relation_name(self, row: int) -> str:
        """The relation of a fact, as relations are compared."""
        return self.time.relation_names[int(self.time.relation[row])]

    def source_name(self, row: int) -> str:
        """Name of the fact's source."""
        return self._source_names[row]

    def target_name(self, row: int) -> str:
        """Name of the fact's target."""
        return self._target_names[row]

    @cached_property
    def _source_names(self) -> list[str]:
        return list(
            map(self.snapshot.entities.name.__getitem__, self.snapshot.facts.source.tolist())
        )

    @cached_property
    def _target_names(self) -> list[str]:
        return list(
            map(self.snapshot.entities.name.__getitem__, self.snapshot.facts.target.tolist())
        )

    @cached_property
    def folded_names(self) -> list[str]:
        """The name of each entity as names are compared."""
        return list(map(fold_name, self.snapshot.entities.name))

    @cached_property
    def named(self) -> NamedFacts:
        """Facts that speak, by source and by the folded name of their target."""
        facts = self.snapshot.facts
        speaking = np.flatnonzero(self.time.speaks)
        return NamedFacts(self.folded_names, facts.source, facts.target, speaking)

    def masked(self, row: int) -> str:
        """The fact's sentence with marks in place of its two names."""
        known = self._masked.get(row)
        if known is None:
            text = self.snapshot.facts.text[row]
            known = hide_names(text, self._source_names[row], self._target_names[row])
            self._masked[row] = known
        return known

    def tells_of_earlier_years(self, row: int) -> bool:
        """Whether a sentence names a year before the one in which its fact begins."""
        years, start_s = _YEAR.findall(self.masked(row)), float(self.time.start_s[row])
        if not years or not np.isfinite(start_s):
            return False
        start = np.datetime64(int(start_s), "s").astype("datetime64[Y]")
        return any(np.datetime64(year, "Y") < start for year in years)

    def state_of(self, name: str) -> int:
        """Number of the set of exclusive states that a name belongs to, -1 for none."""
        return self._state_of.get(name.casefold(), -1)

    @cached_property
    def state(self) -> Ints:
        """The same of each entity's name, shape (entities,)."""
        names = self.snapshot.entities.name
        return np.fromiter(map(self.state_of, names), np.int64, len(names))

    @cached_property
    def _state_of(self) -> dict[str, int]:
        return {w: i for i, words in enumerate(self.languages[0].states) for w in words}

    def mood(self, row: int) -> Mood:
        """What the fact's sentence does; its circumstances may be left out."""
        return PLAIN if self.is_plain[row] else self.full_mood(row)

    def moods(self, rows: Ints) -> dict[int, Mood]:
        """The same of many facts: those whose sentence is more than a plain statement."""
        return {row: self.full_mood(row) for row in rows[~self.is_plain[rows]].tolist()}

    def full_mood(self, row: int) -> Mood:
        """The same, with its circumstances, and whether it tells what somebody did."""
        known = self._moods.get(row)
        if known is None:
            known = self.reader.mood(self.masked(row), self.relation_name(row))
            self._moods[row] = known
        return known

    def scopes_part(self, old: int, new: int) -> Literal["no", "perhaps", "yes"]:
        """Whether two facts hold under different circumstances."""
        if not (self.spoken.scopes[old] or self.spoken.scopes[new]):
            return "no"
        return scopes_part(self._scoped_mood(old), self._scoped_mood(new))

    def _scoped_mood(self, row: int) -> Mood:
        """The mood with its circumstances; texts without a word of any need not be read."""
        if self.spoken.scopes[row] or self.reader.may_scope(self.snapshot.facts.text[row]):
            return self.full_mood(row)
        return PLAIN

    @cached_property
    def is_plain(self) -> Bools:
        """Facts of which neither the relation nor a word of the text tells anything special."""
        asking = np.array(["?" in text for text in self.snapshot.facts.text], np.bool_)
        named = np.array(list(map(self.reader.is_plain, self.time.relation_names)), np.bool_)
        return named[self.time.relation] & ~(asking | self.spoken.moods)

    @cached_property
    def spoken(self) -> Spoken:
        """Facts whose texts hold phrases of interest."""
        found = self._spoken
        return self._readers.phrases.find(self.snapshot.facts.text) if found is None else found

    def shape(self, row: int) -> Shape:
        """The fact's sentence without its values, and the values."""
        return self.amounts.shape(self.masked(row))
