"""What a text says has ended: phrases of change beside names that are known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

from synapse.hippocampus.wording import NAME_EDGES, Cue, Wording

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_NAME_WORDS_MAX = 8
_WORDS_MAX = 16
_WINDOW_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class Hit:
    """A cue in a text, and the known name that it says has ended."""

    cue: Cue
    name: str
    """Folded, see :func:`~synapse.hippocampus.wording.fold_name`."""


class KnownNames:
    """Names that could have ended, and how many words the longest of them has.

    Args:
        names: folded, see :func:`~synapse.hippocampus.wording.fold_name`.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        words_count = 1 + max(map(str.count, self._names, repeat(" ")), default=0)
        self._words_count_max = min(words_count, _NAME_WORDS_MAX)

    def __len__(self) -> int:
        return len(self._names)

    def longest(self, words: Sequence[str]) -> str | None:
        """The longest known name that the words begin with."""
        for count in range(min(len(words), self._words_count_max), 0, -1):
            name = " ".join(words[:count])
            if name in self._names:
                return name
        return None

    def longest_at_end(self, text: str) -> str | None:
        """The longest known name that a text ends with."""
        words: list[str] = []
        for token in reversed(text.casefold().split()):
            if len(words) == self._words_count_max:
                break
            if word := token.strip(NAME_EDGES):
                words.insert(0, word)
        for first in range(len(words)):
            name = " ".join(words[first:])
            if name in self._names:
                return name
        return None


def find_hits(
    text: str, wording: Wording, known: KnownNames, numbers: Iterable[int] | None = None
) -> Iterator[Hit]:
    """Cues in a text that name something known as ended.

    Args:
        text: any text; only sentences that state something count.
        wording: the language.
        known: the names that could have ended.
        numbers: the cues to look for, by their number; all if none are given.

    >>> from synapse.hippocampus.lexicon.english_changes import ENGLISH
    >>> known = KnownNames({"postgresql"})
    >>> [hit.name for hit in find_hits("A uses MongoDB instead of PostgreSQL.", ENGLISH, known)]
    ['postgresql']
    >>> list(find_hits("Should A use MongoDB instead of PostgreSQL?", ENGLISH, known))
    []
    """
    for number in range(len(wording.matchers)) if numbers is None else numbers:
        cue, pattern = wording.matchers[number]
        for match in pattern.finditer(text):
            before, after = _before(text, match), _after(text, match)
            if cue.ended == "before":
                name = known.longest_at_end(before)
            else:
                name = _named_first(after, cue, wording, known)
            if name is not None and not wording.denies(before, after):
                yield Hit(cue, name)


def _before(text: str, match: re.Match[str]) -> str:
    """What stands before a phrase in its sentence."""
    start = match.start()
    before = text[max(0, start - _WINDOW_CHARACTERS) : start]
    return _SENTENCE_END.split(before)[-1] if _may_end(before) else before


def _after(text: str, match: re.Match[str]) -> str:
    """What stands behind a phrase in its sentence."""
    end = match.end()
    after = text[end : end + _WINDOW_CHARACTERS]
    return _SENTENCE_END.split(after, maxsplit=1)[0] if _may_end(after) else after


def _may_end(text: str) -> bool:
    """Whether a sentence may end within a text: quicker to find out than where it does."""
    return "." in text or "!" in text or "?" in text or "\n" in text


def _named_first(after: str, cue: Cue, wording: Wording, known: KnownNames) -> str | None:
    """The known name that follows a phrase, with nothing but fillers in between."""
    folded = [(token, _fold(token)) for token in after.split(maxsplit=_WORDS_MAX)[:_WORDS_MAX]]
    tokens = [token for token, word in folded if word]
    words = [word for _, word in folded if word]
    skipped_count = 0
    for start, word in enumerate(words):
        name = known.longest(words[start:])
        if name is not None:
            end = start + name.count(" ") + 1
            closed = end == len(words) or tokens[end - 1][-1] in NAME_EDGES
            return name if closed or words[end] in wording.followers else None
        if word not in wording.fillers:
            skipped_count += 1
            if skipped_count > cue.skipped_words_count:
                return None
    return None


def _fold(token: str) -> str:
    return token.strip(NAME_EDGES).casefold()
