"""What is known when sentences about one relation are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile

from synapse.hippocampus.lexicon.assertions import AssertionWords
from synapse.hippocampus.lexicon.words import is_past, stem
from synapse.hippocampus.rules.statement import SUBJECT, TARGET
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
    opening: frozenset[str]
    """Verbs that begin a value of this very relation."""
    is_of_people: bool
    """Its values are people, who move and change without being replaced."""

    @cached_property
    def begins(self) -> frozenset[str]:
        """Verbs that begin a value."""
        return frozenset(map(stem, self.words.begins))

    @property
    def light(self) -> frozenset[str]:
        """Words, not stems, that may stand anywhere."""
        return self.words.light

    @cached_property
    def other_nouns(self) -> frozenset[str]:
        """Nouns that do not speak of the relation."""
        return self.nouns - self.evidence

    @cached_property
    def occupations(self) -> frozenset[str]:
        """Occupations, where the relation is one of which they tell."""
        return self.evidence & frozenset(map(stem, self.words.occupations))

    @cached_property
    def _held(self) -> frozenset[str]:
        return self.own | self.occupations

    def names_another(self, phrase: Sequence[Token]) -> bool:
        """Whether a noun stands before the value that the value only belongs to: *the mayor of*."""
        return any(
            token.stem in self.other_nouns
            and following.word in self.words.prepositions
            and not (following.word == _OF and token.word in self.words.sorts)
            for token, following in pairwise(phrase)
        )

    def sets_beside(self, complement: Sequence[Token], verb: Token, passive: bool) -> bool:
        """Whether the last preposition puts the value beside the subject: *works with*.

        Of posts many verbs give the value with any preposition: *was hired by*, *signed with*.
        """
        w = self.words
        led = [
            token.word
            for token in complement
            if token.word in w.prepositions or token.word in w.apart
        ]
        if not led:
            return False
        of_post = bool(self.occupations) and (passive or verb.stem in self.begins)
        gives = of_post or (passive and verb.stem in self.evidence)
        return led[-1] in w.apart or (not gives and led[-1] in w.companions - self.companions)

    def gives_away(self, verb: Token, is_value_first: bool, passive: bool) -> bool:
        """Whether the wrong one gets a post: *⟨s⟩ hired ⟨o⟩* of an employer ⟨o⟩."""
        if self.is_of_people:
            return verb.stem in self._appoints and is_value_first != passive
        return verb.stem in self._takes_on and is_value_first == passive

    @cached_property
    def _takes_on(self) -> frozenset[str]:
        return frozenset(map(stem, self.words.takes_on))

    def holds_another(self, told: Sequence[Token]) -> bool:
        """Whether what the subject has or takes is not the property: *has an apartment in*."""
        if not told or told[0].word not in self.words.indefinite:
            return False
        thing = takewhile(lambda token: token.word not in self.words.prepositions, told)
        return not any(token.stem in self._held for token in thing)

    @cached_property
    def _changes(self) -> frozenset[str]:
        return self._becomes | self._appoints | frozenset(map(stem, self.words.changes))

    @cached_property
    def _becomes(self) -> frozenset[str]:
        return frozenset(map(stem, self.words.becomes))

    @cached_property
    def _appoints(self) -> frozenset[str]:
        return frozenset(map(stem, self.words.appoints))

    def tells_of_property(self, verb: Token, helped: bool) -> bool:
        """Whether a verb says what a property is or becomes: not *the mayor of ⟨s⟩ joined*."""
        if helped and (verb.word in self.light or self._is_state(verb)):
            return True
        return verb.stem in (self._becomes if self.is_of_people else self._changes)

    def _is_state(self, verb: Token) -> bool:
        return verb.stem in self.evidence and is_past(verb.word)

    def begins_by(self, verb: Token) -> bool:
        """Whether a past tense tells of a beginning, not of a state that was: *took place*."""
        return verb.stem in self.begins and (verb.stem in self.opening or verb.stem not in self.own)

    def narrows_itself(self, owned: Sequence[Token]) -> bool:
        """Whether a noun of the subject is made another one: *nationality by birth*."""
        return any(
            token.word in self.words.prepositions and following.stem in self.other_nouns
            for token, following in pairwise(owned)
        )

    def modifies(self, token: Token, following: Token | None) -> bool:
        """Whether a noun makes the relation's own one another property: *the default port*."""
        if following is None:
            return False
        if token.word in self.words.lesser:
            return following.stem in self.evidence
        return token.stem in self.other_nouns and following.stem in self.own

    def knows(self, token: Token, following: Token | None) -> bool:
        """Whether a word that does not speak of the relation is understood beside one that does."""
        return (
            token.word in self.light
            or (token.stem in self.nouns and not is_past(token.word))
            or self.is_field(token, following)
            or token.word in (SUBJECT, TARGET)
            or token.word in self.words.occasions
            or any(map(str.isdigit, token.word))
        )

    def is_field(self, token: Token, following: Token | None) -> bool:
        """Whether a word tells what somebody works as together with the next one."""
        if token.word not in self.words.fields or following is None:
            return False
        return following.stem in self.occupations or following.word in self.words.fields

    def takes_back(self, told: Sequence[Token]) -> bool:
        """Whether a clause behind the value tells of a further change, or that it failed."""
        return any(t.word in self.words.failing or t.stem in self._reverses for t in told)

    @cached_property
    def _reverses(self) -> frozenset[str]:
        return frozenset(map(stem, self.words.bare))

    def narrows(self, token: Token) -> bool:
        """Whether a word behind the value tells where alone it holds: *in the region*."""
        w = self.words
        return token.stem in self.other_nouns and not (
            token.word in w.occasions or token.word in w.reasons
        )
