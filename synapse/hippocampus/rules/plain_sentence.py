"""The grammar of plain assertions: *⟨s⟩ lives in ⟨o⟩*, *⟨s⟩'s home is in ⟨o⟩*, *⟨o⟩ hired ⟨s⟩*.

Only a few shapes are known: a subject, a verb of the relation or one that begins a value, and the
value; a noun of the relation (*the capital of ⟨s⟩*, *⟨s⟩'s capital*), a form of *be*, and the
value; and both turned around. Dates may stand in front, and at the end whatever cannot change the
meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from synapse.hippocampus.rules.afterwords import leave_it
from synapse.hippocampus.rules.grade import Grade
from synapse.hippocampus.rules.lasting import lasts
from synapse.hippocampus.rules.statement import SUBJECT, TARGET
from synapse.hippocampus.rules.tokens import POSSESSIVE, Token, is_numbered
from synapse.hippocampus.rules.verb_group import VerbGroup
from synapse.hippocampus.rules.vocabulary import Vocabulary

_UNKNOWN_MAX_COUNT = 6
_TO, _FROM = "to", "from"
_OPENERS = frozenset(",(")


@dataclass(frozen=True, slots=True)
class Assertion:
    """How surely a sentence says that the subject has the value now."""

    grade: Grade
    qualifiers: frozenset[str] = frozenset()
    """Words that are not understood and may tell one property from another."""
    kinds: frozenset[str] = frozenset()
    """Those of them right before the word for the property: *metrics* port."""


class _Other(Exception):
    """The sentence has none of the shapes; the grade says what to make of it."""

    def __init__(self, grade: Grade) -> None:
        super().__init__(grade)
        self.grade = grade


class PlainSentence:
    """Reads one sentence for one relation."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._known = vocabulary
        self._words = vocabulary.words
        self._evidence = vocabulary.evidence
        self._begins = vocabulary.begins
        self._unknown: list[str] = []
        self._kinds: list[str] = []
        self._is_about_relation = False
        self._is_value_first = False
        self._other: Grade = "not"

    def read(self, said: Sequence[Token], pronouns: bool) -> Assertion:
        """How surely the sentence gives ⟨s⟩ the value ⟨o⟩.

        Args:
            said: the sentence, in which ⟨o⟩ stands.
            pronouns: whether a pronoun can only mean ⟨s⟩.
        """
        try:
            self._clause(list(said), pronouns)
        except _Other as other:
            return Assertion(other.grade)
        if not self._is_about_relation or len(self._unknown) > _UNKNOWN_MAX_COUNT:
            return Assertion("perhaps")
        return Assertion("plainly", frozenset(self._unknown), frozenset(self._kinds))

    def _clause(self, said: list[Token], pronouns: bool) -> None:
        words = [token.word for token in said]
        value = words.index(TARGET)
        if len(said) == 1:
            self._is_about_relation = True
            return
        subject = self._subject(said, words, value, pronouns)
        first, second = min(subject, value), max(subject, value)
        self._is_value_first = first == value
        lead, between, tail = said[:first], said[first + 1 : second], said[second + 1 :]
        if any(is_numbered(part[0]) for part in (between, tail) if part):
            raise _Other("perhaps")  # "⟨s⟩ 2"
        if between and between[-1].word in self._words.copulas:
            self._other = "perhaps"  # "⟨s⟩'s child is ⟨o⟩" names the child as the value
        phrase = self._noun_phrase(lead)
        if phrase and first == value:
            raise _Other("perhaps")
        if between and between[0].word == POSSESSIVE:
            if phrase or first == value:
                raise _Other(self._of_others([*phrase, *between]))
            phrase, between = self._owned(between[1:])
        elif phrase:
            more, between = self._owned(between)
            phrase = [*phrase, *more]
        self._phrase(phrase)
        if phrase and not self._is_about_relation:
            raise _Other("perhaps")  # "⟨s⟩'s mascot"
        verb = VerbGroup.of(self._last_clause(between), self._words)
        self._verb(verb, bool(phrase))
        if not lasts(verb, [*([] if phrase else lead), *tail], self._known):
            raise _Other("perhaps")
        self._tail(tail, bool(verb.told) and verb.is_simple_present(self._known))

    def _subject(self, said: list[Token], words: list[str], value: int, pronouns: bool) -> int:
        if SUBJECT in words:
            return words.index(SUBJECT)
        if pronouns:
            for place, word in enumerate(words[:value]):
                if word in self._words.pronouns:
                    return place
        raise _Other(self._of_others(said[:value]))

    def _of_others(self, said: Sequence[Token]) -> Grade:
        return self._other if any(map(self._is_other, said)) else "perhaps"

    def _is_other(self, token: Token) -> bool:
        return token.word in self._words.others and token.stem not in self._evidence

    def _noun_phrase(self, lead: list[Token]) -> list[Token]:
        """What stands in front: nothing but dates, or a noun and *of*."""
        w = self._words
        occasional = w.occasional
        if all(t.word in occasional or not t.word.isalpha() for t in lead):
            return []
        if any(map(self._is_other, lead)):
            raise _Other(self._other)
        start = max((i + 1 for i, t in enumerate(lead) if t.word in ",:"), default=0)
        if any(t.word not in occasional and t.word.isalpha() for t in lead[:start]):
            raise _Other("perhaps")
        phrase = lead[start:]
        ends_well = phrase and (
            phrase[-1].word in w.prepositions | w.relatives | w.determiners
            or not w.relatives.isdisjoint(t.word for t in phrase)
        )
        if not ends_well or phrase[0].word not in w.determiners:
            raise _Other("perhaps")
        return phrase

    def _owned(self, between: list[Token]) -> tuple[list[Token], list[Token]]:
        """The noun that ⟨s⟩ owns, and what follows it from the last form of *be* on."""
        forms = self._words.forms
        places = [i for i, t in enumerate(between) if t.word in forms and t.word != POSSESSIVE]
        if any(map(self._is_other, between)):
            raise _Other(self._other)
        if not places:
            verbs = [i for i, t in enumerate(between) if i and t.stem in self._begins]
            if not verbs:
                raise _Other("perhaps")
            places = verbs[:1]
        place = places[-1]
        while place and (
            between[place - 1].word in self._words.adverbs or between[place - 1].word in forms
        ):
            place -= 1
        if self._known.narrows_itself(between[:place]):
            raise _Other("perhaps")
        return between[:place], between[place:]

    def _phrase(self, phrase: list[Token]) -> None:
        if self._known.names_another(phrase):
            raise _Other("perhaps")
        for place, token in enumerate(phrase):
            if token.word in self._words.relatives or token.word in self._words.past:
                continue
            self._take(token, phrase[place + 1] if place + 1 < len(phrase) else None)

    def _take(self, token: Token, following: Token | None = None) -> None:
        """One word of a phrase."""
        if self._is_other(token):
            raise _Other(self._other)
        if not token.is_word and token.word not in (SUBJECT, TARGET):
            raise _Other("perhaps")
        tells_apart = self._known.modifies(token, following)
        if token.stem in self._evidence and not tells_apart:
            self._is_about_relation = True
        elif tells_apart or not self._known.knows(token, following):
            if token.word in self._words.relatives | self._words.joins | self._words.pronouns:
                raise _Other("perhaps")
            self._unknown.append(token.stem)
            known = self._known
            if following and (following.stem in known.own or following.stem in known.nouns):
                self._kinds.append(token.stem)

    def _last_clause(self, between: list[Token]) -> list[Token]:
        """What follows the last *and* that goes on with another verb of the same subject."""
        w = self._words
        for place in range(len(between) - 2, 0, -1):
            if between[place].word in w.joins:
                before, after = between[:place], between[place + 1 :]
                verb = next((t for t in after if t.word not in w.adverbs), after[0])
                goes_on = verb.stem in self._evidence or verb.stem in self._begins
                if goes_on and not any(
                    t.is_name or not t.is_word or t.word in w.relatives or self._is_other(t)
                    for t in before
                ):
                    return after
                raise _Other(self._of_others(between))
        return between

    def _verb(self, verb: VerbGroup, has_phrase: bool) -> None:
        """The verb and what follows it up to the second name."""
        known = self._known
        if not verb.told:
            if not verb.is_helped or (not has_phrase and not verb.forms & self._words.copulas):
                raise _Other("perhaps")
            if verb.is_past:
                raise _Other("doubtfully")
            self._is_about_relation |= not has_phrase
            return
        head, follows = verb.told[0], list(verb.told[1:])
        grade = verb.grade(known)
        if grade != "plainly":
            raise _Other(grade)
        if has_phrase and not known.tells_of_property(head, verb.is_helped):
            raise _Other("perhaps")
        if head.stem in self._begins:
            opens = head.stem in known.opening and not has_phrase
            self._is_about_relation |= opens or head.stem in self._evidence
        elif verb.is_helped or head.stem in self._evidence:
            self._take(head, follows[0] if follows else None)
        elif head.stem not in known.light_verbs:
            raise _Other(self._of_others(verb.told))
        if (
            known.gives_away(head, self._is_value_first, verb.is_passive)
            or known.sets_beside(follows, head, verb.is_passive)
            or known.holds_another(verb.taken)
        ):
            raise _Other("perhaps")
        self._complement(follows)

    def _complement(self, rest: list[Token]) -> None:
        if self._known.names_another(rest):
            raise _Other("perhaps")
        place = 0
        while place < len(rest):
            token = rest[place]
            if token.word == _FROM:
                words = [t.word for t in rest]
                if _TO not in words[place:]:
                    raise _Other("perhaps")
                place = words.index(_TO, place)
                continue
            if token.is_name:
                raise _Other("perhaps")
            self._take(token, rest[place + 1] if place + 1 < len(rest) else None)
            place += 1

    def _tail(self, tail: list[Token], is_simple_present: bool) -> None:
        """What follows both names."""
        w = self._words
        if is_simple_present and any(t.word in w.occasions for t in tail):
            raise _Other("perhaps")
        for place, token in enumerate(tail):
            following = tail[place + 1] if place + 1 < len(tail) else None
            if token.word in w.openers or token.word in w.joins or token.word in _OPENERS:
                if not leave_it(tail[place:], self._known):
                    raise _Other("perhaps")
                return
            if token.is_name and token.word not in w.occasions:
                raise _Other("perhaps")
            if token.word not in "!" and token.word not in w.reasons:
                if self._known.narrows(token):
                    raise _Other("perhaps")
                led = place > 0 and tail[place - 1].word in w.prepositions
                if token.word in w.rates and following and not led:
                    self._unknown.append(following.stem)
                self._take(token, following)
