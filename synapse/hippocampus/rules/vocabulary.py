"""What is known when sentences about one relation are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile

from synapse.hippocampus.lexicon.assertions import AssertionWords
from synapse.hippocampus.lexicon.words import stem
from synapse.hippocampus.rules.tokens import Token

_OF = "of"


@dataclass(frozen=True)
class Vocabulary:
    """Words of one relation and of all; all but :attr:`words` and :attr:`companions` are stems."""

    words: AssertionWords
    own: frozenset[str]
    """Words of the relation itself."""
    evidence: frozenset[str]
    """All words that speak of the relation."""
    nouns: frozenset[str]
    """Nouns that may stand in any sentence about one value."""
    light_verbs: frozenset[str]
    """Verbs that say less than their noun: *plays the position of*."""
    companions: frozenset[str]
    """Prepositions of the relation that elsewhere put a value beside the subject: *lives with*."""

    @cached_property
    def begins(self) -> frozenset[str]:
        """Verbs that begin a value."""
        return frozenset(map(stem, self.words.begins))

    @cached_property
    def light(self) -> frozenset[str]:
        """Words, not stems, that may stand anywhere."""
        w = self.words
        return w.determiners | w.prepositions | w.adverbs | w.adjectives

    @cached_property
    def other_nouns(self) -> frozenset[str]:
        """Nouns that do not speak of the relation."""
        return self.nouns - self.evidence

    @cached_property
    def _held(self) -> frozenset[str]:
        return self.own | (self.evidence & frozenset(map(stem, self.words.occupations)))

    def names_another(self, phrase: Sequence[Token]) -> bool:
        """Whether a noun stands before the value that the value only belongs to: *the mayor of*."""
        return any(
            token.stem in self.other_nouns
            and following.word in self.words.prepositions
            and not (following.word == _OF and token.word in self.words.sorts)
            for token, following in pairwise(phrase)
        )

    def sets_beside(self, complement: Sequence[Token]) -> bool:
        """Whether the last preposition puts the value beside the subject: *works with*."""
        led = [token.word for token in complement if token.word in self.words.prepositions]
        return bool(led) and led[-1] in self.words.companions - self.companions

    def holds_another(self, told: Sequence[Token]) -> bool:
        """Whether what the subject has or takes is not the property: *has an apartment in*."""
        if not told or told[0].word not in self.words.indefinite:
            return False
        thing = takewhile(lambda token: token.word not in self.words.prepositions, told)
        return not any(token.stem in self._held for token in thing)

    def narrows(self, token: Token) -> bool:
        """Whether a word behind the value tells where alone it holds: *in the region*."""
        w = self.words
        return token.stem in self.other_nouns and token.word not in w.occasions | w.reasons
