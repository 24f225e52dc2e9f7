"""What words say: relation names made comparable, and phrases that announce a change.

The phrases are data (see :mod:`~synapse.hippocampus.lexicon.english_changes`). A language is one
:class:`Wording`; adding a language or a phrase is adding a row, and no code knows any word of any
language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np

from synapse.hippocampus.model import Ints
from synapse.hippocampus.phrase import Phrase, compiled

DUPLICATE_RELATION = "IS_DUPLICATE_OF"
"""Graphiti's housekeeping: this relation says nothing about the world."""

CACHED_COUNT = 65_536
"""So many answers about sentences and names are remembered by each function that reads them."""

NAME_EDGES = "\"'`“”‘’«»()[]{}<>,;:!?.…"
"""Punctuation that is no part of a name beside which it stands."""

_BETWEEN_WORDS = re.compile(r"[\s_\-]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Cue:
    """One phrase that announces a change, and where the name of the value that ends stands."""

    name: str
    needles: tuple[str, ...]
    """Lower-case parts, one of which is in every text in which the pattern can match: the cheap
    first test."""
    pattern: str
    """Regular expression of the phrase; case does not matter."""
    ended: Literal["after", "before"]
    """On which side of the phrase the ended value is named."""
    confidence: float
    """How often, from 0 to 1, the phrase means what it seems to mean."""
    skipped_words_count: int = 0
    """How many words of any kind may stand between the phrase and the name."""
    families: frozenset[str] = frozenset()
    """Families of relations that the phrase can end; empty for all."""
    also: tuple[str, ...] = ()
    """Parts one of which is in the text as well, if there are any."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """A phrase that begins a new value, which ends the one before: *moved to*."""

    pattern: str
    families: frozenset[str]
    """Families of relations whose value it begins."""
    confidence: float
    only: frozenset[str] = frozenset()
    """Words of which the old relation has one; empty for no such condition."""


@dataclass(frozen=True, slots=True)
class Ending:
    """A phrase that says of the fact's own two entities that something between them ended."""

    pattern: str
    families: frozenset[str]
    """Families of relations that end; empty: whatever the sentence itself speaks of."""
    confidence: float


@dataclass(frozen=True, slots=True)
class Opposites:
    """Words of which one denies the other: *like* and *dislike*."""

    name: str
    yes: frozenset[str]
    no: frozenset[str]


@dataclass(frozen=True)
class Wording:
    """How one language speaks of change.

    A cue counts only where the name stands whole (see ``followers``) and the sentence states
    something: a sentence with a word of ``vetoes``, or a question, states nothing, and a phrase
    shortly after one of ``negations`` says the opposite. All patterns are regular expressions in
    which case does not matter; an empty one never matches.
    """

    language: str
    cues: tuple[Cue, ...]
    fillers: frozenset[str]
    """Words that may stand between a phrase and the name: *instead of using the …*."""
    followers: frozenset[str]
    """Words that may follow the name directly; any other makes it part of a longer name."""
    negations: frozenset[str]
    vetoes: str
    """Questions, plans, wishes and additions."""
    asks: str = ""
    """Questions."""
    supposes: str = ""
    """Plans, wishes, guesses."""
    adds: str = ""
    """What comes in addition."""
    recalls: str = ""
    """What was so once."""
    corrects: str = ""
    """Corrections of what was said before."""
    correction_needles: tuple[str, ...] = ()
    """Lower-case parts, one of which is in every text that corrects."""
    negates: str = ""
    """Denials."""
    half_denied: str = ""
    """What may follow one that denies less than the whole: *not always*."""
    mood_needles: tuple[str, ...] = ()
    """Lower-case parts, one of which is in every text that is more than a plain statement; words of
    ``past_states`` and ``scopes``, and question marks, are looked for anyway."""
    past_states: frozenset[str] = frozenset()
    """Past tenses of verbs that describe a state: *lived*."""
    scopes: tuple[tuple[str, frozenset[str]], ...] = ()
    """Kinds of circumstances under which a statement holds, with their words."""
    families: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Words of relations that speak of one matter."""
    beginnings: tuple[Beginning, ...] = ()
    endings: tuple[Ending, ...] = ()
    definite: str = ""
    """Sentences that give the one value of something: *⟨o⟩ is the mayor of ⟨s⟩*."""
    conditions: str = ""
    """A condition under which a sentence holds, as the first group: *for reads*."""
    condition_needles: tuple[str, ...] = ()
    """Lower-case parts, one of which is in every text that has a condition."""
    beginning_needles: tuple[str, ...] = ()
    """Lower-case parts, one of which is in every text that a beginning can match."""
    denial_needles: tuple[str, ...] = ()
    """Lower-case parts, one of which is in every text that an ending or a denial can match."""
    blockers: frozenset[str] = frozenset()
    """Words that part an ending from a name: what follows them did not end."""
    opposites: tuple[Opposites, ...] = ()
    states: tuple[frozenset[str], ...] = ()
    """States of which a thing is in one at a time."""
    relates: str = ""
    """Relations of which one end is a part of the other, or another name of it."""
    fixed: frozenset[str] = frozenset()
    """Words of relations that never end."""
    units: tuple[tuple[str, Mapping[str, float]], ...] = ()
    """Units of one dimension with their size."""
    magnitudes: Mapping[str, float] = field(default_factory=dict)
    """Marks of large numbers; here case matters."""
    months: Sequence[str] = ()
    number_words: Sequence[str] = ()
    """Names of the numbers from zero on."""
    first_person: str = ""
    """The speaker speaks of herself."""
    never: str = ""
    """The speaker says that she never did something; what follows tells what."""
    clause_ends: str = ""
    """Where a clause ends."""
    function_words: frozenset[str] = frozenset()
    """Words that say little about the matter of a sentence."""

    @cached_property
    def matchers(self) -> tuple[tuple[Cue, Phrase], ...]:
        """Each cue with its phrase."""
        return tuple((cue, compiled(cue.pattern)) for cue in self.cues)

    @cached_property
    def _veto(self) -> Phrase:
        return compiled(self.vetoes)

    def denies(self, before: str, after: str) -> bool:
        """Whether what stands around a phrase in its sentence takes its force away."""
        negated = not self.negations.isdisjoint(_words(before)[-3:])
        return negated or bool(self._veto.search(before) or self._veto.search(after))


def fold_name(name: str) -> str:
    """A name as it is compared: words in lower case, without punctuation at their edges.

    >>> fold_name(" Berlin,  Germany ")
    'berlin germany'
    """
    plain = name.replace(" ", "").isalnum()
    return " ".join(name.casefold().split() if plain else _words(name))


@lru_cache(CACHED_COUNT)
def normal_relation(relation: str) -> str:
    """A relation name as it is compared.

    >>> normal_relation("works at"), normal_relation("Works-At"), normal_relation("worksAt")
    ('WORKS_AT', 'WORKS_AT', 'WORKS_AT')
    """
    return "_".join(_BETWEEN_WORDS.split(relation.strip())).upper()


def relation_codes(relations: Sequence[str]) -> tuple[Ints, list[str]]:
    """Number the relations: one code per item, and the sorted normal names the codes stand for.

    >>> codes, names = relation_codes(["uses", "KNOWS", "Uses"])
    >>> codes.tolist(), names
    ([1, 0, 1], ['KNOWS', 'USES'])
    """
    normal = {relation: normal_relation(relation) for relation in set(relations)}
    names = sorted(set(normal.values()))
    code_of_name = {name: code for code, name in enumerate(names)}
    code_of = {relation: code_of_name[name] for relation, name in normal.items()}
    codes = np.fromiter(map(code_of.__getitem__, relations), np.int64, len(relations))
    return codes, names


def _words(text: str) -> list[str]:
    return [word for token in text.casefold().split() if (word := token.strip(NAME_EDGES))]
