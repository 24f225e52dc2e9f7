"""A sentence as words, marks and punctuation."""

from __future__ import annotations

import re
from typing import NamedTuple

from synapse.hippocampus.lexicon.words import stem

POSSESSIVE = "'s"
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_TOKEN = re.compile(
    r"⟨[sox]⟩|['’]s?(?!\w)|[^\W_]+(?:[-'’.&+/][^\W_]+)*|[,;:()!?“”\"«»—–]",
)
_OWN_QUOTES = re.compile(r"[\"“”«»'‘’]+(⟨[sox]⟩)[\"“”«»'‘’]+(?!s)")

_YEAR = re.compile(r"(?:19|20)\d\d")


class Token(NamedTuple):
    """One word, mark or punctuation sign of a sentence."""

    word: str
    """In lower case."""
    stem: str
    is_name: bool
    """It is written with a capital."""

    @property
    def is_word(self) -> bool:
        """Whether it is neither a mark nor punctuation."""
        return self.word[0].isalnum()


def sentences(text: str) -> list[str]:
    """The sentences of a text.

    >>> sentences("It is so. Or is it?")
    ['It is so.', 'Or is it?']
    """
    return _SENTENCE.split(text)


def tokens(sentence: str) -> list[Token]:
    """The words, marks and signs of a sentence; quotes around a single name are left out.

    >>> [token.word for token in tokens("⟨s⟩'s home is '⟨o⟩', LIVES_IN")]
    ['⟨s⟩', "'s", 'home', 'is', '⟨o⟩', ',', 'lives', 'in']
    """
    found = _TOKEN.findall(_OWN_QUOTES.sub(r"\1", sentence))
    return [_token(text) for text in found]


def is_numbered(following: Token | None) -> bool:
    """Whether what follows a name makes it the name of something else: *Apollo 13*; years do not.

    >>> [is_numbered(token) for token in tokens("13 2026 13th flew")]
    [True, False, False, False]
    """
    if following is None or not following.word.replace(".", "").isdigit():
        return False
    return _YEAR.fullmatch(following.word) is None


def _token(text: str) -> Token:
    if text.startswith("⟨"):
        return Token(text, text, False)
    if text in ("'", "’", "’s"):
        return Token(POSSESSIVE, POSSESSIVE, False)
    word = text.casefold().replace("’", "'")
    return Token(word, stem(word), text[0].isupper() and text != "I" and not text.isupper())
