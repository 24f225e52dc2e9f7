"""Patterns in which case does not matter, found quickly.

A pattern that ignores case takes several times as long as the same one in a text of lower case. So
the text is put into lower case once for all patterns, wherever that finds the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_CAPITAL = re.compile(r"(?<!\\)[A-Z]")
_OTHER_LETTERS = re.compile(r"[^\x00-\x7f\u2010-\u2027⟨⟩]")
"""Beyond ASCII lower case may be longer, or not all that ignoring case means."""


class Phrase:
    """One pattern; an empty one is never found.

    The places of a match are those in the text; its words may be in lower case. A part of a pattern
    may mind case, ``(?-i:may)`` for what is no month, but not in a condition that must not hold.

    >>> phrase = Phrase(r"\\bno longer\\b")
    >>> phrase.search("Ann NO LONGER lives there").span(), phrase.search("Nolonger")
    ((4, 13), None)
    """

    __slots__ = ("_any_case", "_lower_case", "_minds_case")

    def __init__(self, pattern: str) -> None:
        self._any_case = re.compile(pattern or r"(?!)", re.IGNORECASE)
        lower_case = re.compile(pattern or r"(?!)")
        self._lower_case = None if _CAPITAL.search(pattern) else lower_case
        self._minds_case = "(?-i:" in pattern

    def search(self, text: str) -> re.Match[str] | None:
        """Where the pattern is found first."""
        lowered = _lowered(text)
        if lowered is None or self._lower_case is None:
            return self._any_case.search(text)
        found = self._lower_case.search(lowered)
        return self._any_case.search(text) if found and self._minds_case else found

    def begins(self, text: str) -> bool:
        """Whether the text begins with the pattern."""
        return self._any_case.match(text) is not None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Everywhere where the pattern is found."""
        lowered = _lowered(text)
        if lowered is None or self._lower_case is None or self._minds_case:
            return self._any_case.finditer(text)
        return self._lower_case.finditer(lowered)

    def findall(self, text: str) -> list[str]:
        """All that is found, as it stands in the text."""
        return self._any_case.findall(text)

    def split(self, text: str) -> list[str]:
        """What stands between all that is found."""
        return self._any_case.split(text)

    def sub(self, replacement: str, text: str) -> str:
        """The text with another one in place of all that is found."""
        return self._any_case.sub(replacement, text)


@lru_cache(4_096)
def compiled(pattern: str) -> Phrase:
    """The phrase of a pattern."""
    return Phrase(pattern)


@lru_cache(1_024)
def _lowered(text: str) -> str | None:
    return None if _OTHER_LETTERS.search(text) else text.lower()
