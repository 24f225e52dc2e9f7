"""The verb of a statement, with its forms of *be* and *have*, and what its tense tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from synapse.hippocampus.lexicon.assertions import AssertionWords
from synapse.hippocampus.lexicon.words import is_past, is_plain
from synapse.hippocampus.rules.grade import Grade
from synapse.hippocampus.rules.tokens import POSSESSIVE, Token
from synapse.hippocampus.rules.vocabulary import Vocabulary

_TO = "to"


@dataclass(frozen=True)
class VerbGroup:
    """*has been*, *hired*, *by the city of*.

    >>> from synapse.hippocampus.lexicon.english_assertions import ENGLISH_ASSERTIONS
    >>> from synapse.hippocampus.rules.tokens import tokens
    >>> verb = VerbGroup.of(tokens("was now hired by"), ENGLISH_ASSERTIONS)
    >>> verb.is_helped, verb.is_passive, [token.word for token in verb.told]
    (True, True, ['hired', 'by'])
    """

    words: AssertionWords
    forms: frozenset[str]
    """Forms of *be* and *have*, and adverbs."""
    told: Sequence[Token]
    """From the verb itself on; empty if there is none."""

    @classmethod
    def of(cls, told: Sequence[Token], words: AssertionWords) -> VerbGroup:
        """The verb group at the beginning of some words."""
        forms = [token.word for token in takewhile(lambda token: _helps(token, words), told)]
        return cls(words, frozenset(forms), told[len(forms) :])

    @property
    def is_helped(self) -> bool:
        """Whether a form of *be* or *have* stands before the verb."""
        return bool(self.forms & self.words.forms)

    @property
    def is_past(self) -> bool:
        """Whether the form of *be* or *have* is a past tense."""
        return bool(self.forms & self.words.past)

    @property
    def is_perfect(self) -> bool:
        """Whether it tells what has been so."""
        return bool(self.forms & self.words.owning) and not (
            self.told and not is_past(self.told[0].word)
        )

    @property
    def is_passive(self) -> bool:
        """Whether something is done to the one who stands before it."""
        helped = self.forms & (self.words.copulas | self.words.been)
        return bool(helped and self.told) and is_past(self.told[0].word)

    @property
    def taken(self) -> Sequence[Token]:
        """What the subject has, or does something to: *has a flat*, *took a flat*."""
        if self.forms & self.words.owning:
            return self.told
        return () if self.is_helped else self.told[1:]

    def is_simple_present(self, known: Vocabulary) -> bool:
        """Whether it is a simple present of a verb that begins something: *moves to*."""
        head = self.told[0]
        begins = head.stem in known.begins and head.stem not in known.evidence
        return begins and not self.is_helped and not is_past(head.word)

    def grade(self, known: Vocabulary) -> Grade:
        """What the tense tells: whether it is so now, was so, or is yet to be."""
        head = self.told[0]
        begins = head.stem in known.begins and head.stem not in known.evidence
        past, going_on = is_past(head.word), head.word.endswith("ing")
        if not self.is_helped:
            once = past and not known.begins_by(head)
            advice = begins and is_plain(head.word) and not past
            return "perhaps" if once or going_on or advice else "plainly"
        if head.word == _TO or (begins and going_on):
            return "perhaps"
        if self.forms & self.words.pluperfect and past:
            return "perhaps" if begins else "not"
        if self.is_past and not past:
            return "doubtfully"
        was = self.is_past and head.stem not in known.begins  # "was based in"
        is_at_it = going_on and head.stem not in known.own  # "is running for"
        return "perhaps" if was or is_at_it else "plainly"


def _helps(token: Token, words: AssertionWords) -> bool:
    return token.word in words.forms or token.word in words.adverbs or token.word == POSSESSIVE
