"""Relation names read as language: which word decides, and what it says.

A name is read in this order. Words that only fill are dropped (*is*, *has*, *the*). A mark in
front decides alone (*current*, *primary*; *former*, *other*). A verb decides with its preposition
(*works at* one, *works on* many; *moved to* is an event), a past tense without a known state is an
event. Else the head of the noun phrase decides: the last noun, or the one before *of* (*place of
birth*); a plural holds many. With *of* at the end the subject itself plays the role (*capital of*,
*member of*).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, lru_cache

from synapse.hippocampus.lexicon.words import is_past, is_plain, is_plural, split_name, stem
from synapse.hippocampus.wording import CACHED_COUNT


class Kind(Enum):
    """What a name says: the chances of one value at a time, of many, and of an event."""

    ONE = (0.93, 0.05, 0.02)
    ONE_USUALLY = (0.72, 0.24, 0.04)
    ONE_GUESS = (0.58, 0.34, 0.08)
    UNKNOWN = (0.46, 0.36, 0.18)
    MANY_GUESS = (0.20, 0.62, 0.18)
    MANY = (0.06, 0.87, 0.07)
    EVENT = (0.04, 0.16, 0.80)

    @property
    def chances(self) -> tuple[float, float, float]:
        """One, many, event; they add up to 1."""
        return self.value

    @property
    def meaning(self) -> str:
        """The kind in words."""
        return _MEANINGS[self.name]


_MEANINGS = {
    "ONE": "one value at a time",
    "ONE_USUALLY": "usually one value at a time",
    "ONE_GUESS": "one value rather than many",
    "UNKNOWN": "nothing",
    "MANY_GUESS": "many values rather than one",
    "MANY": "many values",
    "EVENT": "events",
}

Words = Mapping[Kind, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a name alone says, and the words that say so."""

    kind: Kind
    reason: str


@dataclass(frozen=True)
class RelationLexicon:
    """The words of one language that tell how many values a relation holds.

    Phrases and compounds are written with spaces or ``_`` between their words; every word stands
    in its plain form and stands for its inflections too.
    """

    language: str
    fillers: frozenset[str] = frozenset()
    prepositions: frozenset[str] = frozenset()
    one_marks: frozenset[str] = frozenset()
    """Words in front that pick one of several: *current*, *primary*."""
    amount_marks: frozenset[str] = frozenset()
    """Words in front that turn even a plural into one number: *total*."""
    many_marks: frozenset[str] = frozenset()
    """Words in front that speak of several: *other*, *former*."""
    nouns: Words = field(default_factory=dict)
    """Nouns by how many of them a subject has at a time."""
    roles_of: Words = field(default_factory=dict)
    """Nouns by how many things one is the … of at a time."""
    verbs: Words = field(default_factory=dict)
    """Verbs, with their preposition where it matters."""
    memberships: Words = field(default_factory=dict)
    """What one is a member of, by how many of them one belongs to at a time."""
    place_words: frozenset[str] = frozenset()
    """Prepositions that name a place: *is at*."""
    state_words: frozenset[str] = frozenset()
    """Words after a participle that make it a state: *rendered using*."""
    light_verbs: frozenset[str] = frozenset()
    """Verbs that say less than their noun: *uses version*."""
    one_endings: tuple[str, ...] = ()
    """Endings of nouns of which a subject has one rather than many."""
    definite_sentences: tuple[str, ...] = ()
    """Regular expressions of sentences, with ⟨s⟩ and ⟨o⟩ for the two names, that presuppose one
    value: *the mayor of ⟨s⟩ is ⟨o⟩*."""
    synonyms: tuple[tuple[str, ...], ...] = ()
    """Names of one property; the first one stands for all."""

    def read(self, relation: str) -> Reading:
        """What the words of a name say about how many values its relation holds.

        >>> from synapse.hippocampus.lexicon.english import ENGLISH_RELATIONS
        >>> for name in ("WORKS_AT", "works on", "hasPorts", "VISITED", "capital_of"):
        ...     print(ENGLISH_RELATIONS.read(name).kind.name)
        ONE
        MANY
        MANY
        EVENT
        ONE_USUALLY
        """
        core = self._core(split_name(relation))
        if not core:
            return Reading(Kind.UNKNOWN, "no word of it is known")
        marks, core = self._marks(core)
        plural = is_plural(self._head(core))
        for mark in marks:
            if mark in self.many_marks:
                return Reading(Kind.MANY, f"'{mark}'")
            if mark in self.amount_marks or (mark in self.one_marks and not plural):
                return Reading(Kind.ONE, f"'{mark}'")
        has = split_name(relation)[0] in ("has", "have", "had")
        verb = None if has and not is_past(core[0]) else self._read_verb(core)
        return verb or self._read_noun(core, has or len(core) > 1)

    def normal(self, relation: str) -> str:
        """A name as names are compared: without case, inflection, fillers and word order.

        It is not a text to be read by people.

        >>> from synapse.hippocampus.lexicon.english import ENGLISH_RELATIONS
        >>> normal = ENGLISH_RELATIONS.normal
        >>> normal("WORKS_AT") == normal("worked at") == normal("isWorkingFor")
        True
        >>> normal("PLACE_OF_RESIDENCE") == normal("lives in")
        True
        >>> normal("CAPITAL_OF") == normal("HAS_CAPITAL")
        False
        """
        return self._normal(relation)

    @cached_property
    def _normal(self) -> Callable[[str], str]:
        @lru_cache(CACHED_COUNT)
        def normal(relation: str) -> str:
            plain = self._plain(relation) or relation.strip()  # a symbol is a name of its own
            return self._synonyms.get(plain, plain)

        return normal

    def _core(self, words: tuple[str, ...]) -> list[str]:
        first = 0
        while first < len(words) - 1 and words[first] in self.fillers:
            first += 1
        return list(words[first:])

    def _marks(self, core: list[str]) -> tuple[list[str], list[str]]:
        marks = self.one_marks | self.many_marks | self.amount_marks
        first = 0
        while first < len(core) - 1 and core[first] in marks:
            if core[first + 1] in self.prepositions:
                break
            first += 1
        return core[:first], core[first:]

    def _read_verb(self, core: list[str]) -> Reading | None:
        stems = [stem(word) for word in core]
        for count in range(min(len(stems), 4), 0, -1):
            kind = self._verbs.get(" ".join(stems[:count]))
            if kind is not None and not (count == 1 and self._is_noun_here(core, stems[0])):
                verb = f"the verb '{' '.join(core[:count])}'"
                whole = self._with_object(kind, core, count)
                if whole is not kind and is_past(core[0]):
                    verb = f"the past tense '{core[0]}'"
                elif whole is not kind:
                    verb += f" with '{self._head(core[count:])}'"
                return Reading(whole, verb)
        return self._read_unknown_verb(core)

    def _is_noun_here(self, core: list[str], first: str) -> bool:
        """*name*, *use_case*; also *used by*, which is read as a passive."""
        followed = core[1] if len(core) > 1 else ""
        if followed == "by":
            return True
        noun = first in self._nouns and is_plain(core[0])
        return noun and (followed not in self.prepositions or followed == "of")

    def _with_object(self, kind: Kind, core: list[str], count: int) -> Kind:
        """A verb with the noun that follows its first ``count`` words."""
        if kind is Kind.MANY and count == 1 and is_past(core[0]):
            state = len(core) > 1 and core[1] in self.state_words
            return Kind.ONE_GUESS if state else Kind.EVENT
        if kind is not Kind.MANY or len(core) == count or core[count] in self.prepositions:
            return kind
        head = self._head(core[count:])
        noun = None if is_plural(head) else self._nouns.get(stem(head))
        if noun is Kind.ONE and count == 1 and stem(core[0]) in self._light:
            return Kind.ONE_USUALLY
        if noun is Kind.ONE_USUALLY and count == 1 and stem(core[0]) in self._light:
            return Kind.ONE_GUESS
        slot = noun in (Kind.ONE, Kind.ONE_USUALLY) if count > 1 else noun is None
        return Kind.MANY_GUESS if slot and not is_plural(head) else kind

    def _read_unknown_verb(self, core: list[str]) -> Reading | None:
        first, followed = core[0], core[1] if len(core) > 1 else ""
        if is_past(first) and followed == "by":
            often = self._verbs.get(stem(first)) is Kind.MANY
            return Reading(Kind.MANY if often else Kind.ONE_USUALLY, f"'{first} by'")
        if is_past(first):
            still = followed in self.state_words
            return Reading(
                Kind.ONE_GUESS if still else Kind.EVENT,
                f"the state '{first} {followed}'" if still else f"the past tense '{first}'",
            )
        activity = first.endswith("ing") and len(first) > 5 and followed in self.prepositions
        present = is_plural(first) and followed
        if (activity or present) and stem(first) not in self._nouns:
            return Reading(Kind.MANY_GUESS, f"the present tense '{first}'")
        return None

    def _read_noun(self, core: list[str], stands_for_one: bool) -> Reading:
        head = self._head(core)
        if core[-1] == "of" and len(core) > 1:
            kind = self._roles.get(stem(head), Kind.MANY_GUESS)
            return Reading(kind, f"the role '{head} of'")
        if head == "member" and "of" in core and stem(core[-1]) in self._memberships:
            return Reading(self._memberships[stem(core[-1])], f"membership of one '{core[-1]}'")
        if is_plural(head):
            plural = f"the plural '{head}'" if len(core) > 1 or stands_for_one else f"'{head}'"
            return Reading(Kind.MANY, plural)
        place = core.index(head)
        compound = f"{stem(core[place - 1])} {stem(head)}" if place else ""
        kind_of_noun = self._nouns.get(compound) or self._nouns.get(stem(head))
        if kind_of_noun is Kind.ONE_USUALLY and core[-1] in self.place_words:
            return Reading(Kind.MANY_GUESS, f"a '{head}' {core[-1]} each of several places")
        if kind_of_noun is not None:
            return Reading(kind_of_noun, f"the noun '{head}'")
        if core[0] in self.place_words:
            return Reading(Kind.ONE_USUALLY, f"the place word '{core[0]}'")
        if stands_for_one or head.endswith(self.one_endings):
            return Reading(Kind.ONE_GUESS, f"the noun '{head}'")
        return Reading(Kind.UNKNOWN, f"the unknown word '{head}'")

    def _head(self, core: list[str]) -> str:
        """The noun that decides: the last one before a preposition, participles aside."""
        words = core[:]
        while len(words) > 1 and words[-1] in self.prepositions:
            words.pop()
        cut = next((i for i, w in enumerate(words) if i and w in self.prepositions), len(words))
        words = words[:cut]
        while len(words) > 1 and is_past(words[-1]):
            words.pop()
        return words[-1]

    def _plain(self, relation: str) -> str:
        words = split_name(relation)
        dropped = self.fillers | {"current", "currently", "now"}
        kept = [word for word in words if word not in dropped] or list(words)
        if "of" in kept[1:-1]:
            place = kept.index("of", 1)
            kept = kept[place + 1 :] + kept[:place]
        if len(kept) == 1 and kept[0].endswith(("er", "or")):
            verb = stem(kept[0][:-2])
            if verb in self._verbs or f"{verb} by" in self._verbs:
                return f"{verb} by"
        return " ".join("in" if w in ("within", "inside") else stem(w) for w in kept)

    def names_of(self, normal: str) -> tuple[str, ...]:
        """The other names of a property, by its normal name."""
        return self._names.get(normal, ())

    @cached_property
    def _names(self) -> dict[str, tuple[str, ...]]:
        return {self._plain(names[0]): names for names in self.synonyms}

    @property
    def noun_stems(self) -> frozenset[str]:
        """Stems of nouns of which a subject has one at a time, or usually."""
        kinds = (Kind.ONE, Kind.ONE_USUALLY)
        return frozenset(noun for noun, kind in self._nouns.items() if kind in kinds)

    @cached_property
    def definite_patterns(self) -> tuple[re.Pattern[str], ...]:
        """The sentences that presuppose one value, compiled."""
        return tuple(map(re.compile, self.definite_sentences))

    @cached_property
    def _nouns(self) -> dict[str, Kind]:
        return _index(self.nouns)

    @cached_property
    def _roles(self) -> dict[str, Kind]:
        many = {noun: kind for noun, kind in self._nouns.items() if kind is Kind.MANY}
        return many | _index(self.roles_of)

    @cached_property
    def _verbs(self) -> dict[str, Kind]:
        return _index(self.verbs)

    @cached_property
    def _memberships(self) -> dict[str, Kind]:
        return _index(self.memberships)

    @cached_property
    def _light(self) -> frozenset[str]:
        return frozenset(map(stem, self.light_verbs))

    @cached_property
    def _synonyms(self) -> dict[str, str]:
        return {self._plain(n): self._plain(names[0]) for names in self.synonyms for n in names}


def _index(words: Words) -> dict[str, Kind]:
    return {
        " ".join(map(stem, phrase.replace("_", " ").split())): kind
        for kind, phrases in words.items()
        for phrase in phrases
    }
