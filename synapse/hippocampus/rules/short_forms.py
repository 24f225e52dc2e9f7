"""Two names of which one is a short form of the other: initials, first letters, counted letters."""

from __future__ import annotations

import re
from functools import lru_cache

from synapse.hippocampus.wording import CACHED_COUNT

_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z][a-z]+|[A-Z]+(?![a-z])")
_COUNTED = re.compile(r"([a-z]+)(\d+)([a-z]+)")
_UNHEARD = frozenset(("of", "the", "and", "for", "in", "a", "an", "de"))
_ARTICLES = frozenset(("the", "a", "an"))
_LETTERS_MIN_COUNT = 3
"""Fewer first letters stand for too many words."""


def is_short_form(left: str, right: str) -> bool:
    """Whether one of two names may be a short form of the other.

    >>> is_short_form("NYC", "New York City"), is_short_form("JavaScript", "JS")
    (True, True)
    >>> is_short_form("Acme Corp", "The Acme Corporation"), is_short_form("Postgres", "PostgreSQL")
    (True, True)
    >>> is_short_form("k8s", "Kubernetes"), is_short_form("Acme", "Zeta")
    (True, False)
    """
    if _first(left) != _first(right):
        return False
    return _is_short_form(*sorted((left, right), key=len))


def _first(name: str) -> str:
    if name[:4].casefold() == "the ":
        name = name[4:]
    return name[:1].casefold()


@lru_cache(CACHED_COUNT)
def _is_short_form(short: str, long: str) -> bool:
    briefs, words = _words(short), _words(long)
    if not briefs or not words:
        return False
    if len(briefs) == len(words) and all(map(_begins, briefs, words)):
        return briefs != words
    if all(len(word) == 1 for word in briefs):
        briefs = ["".join(briefs)]
    if len(briefs) > 1:
        return False
    counted = _COUNTED.fullmatch(briefs[0])
    if counted and len(words) == 1:
        first, count, last = counted.groups()
        letters = len(first) + int(count[:2]) + len(last)
        return words[0].startswith(first) and words[0].endswith(last) and len(words[0]) == letters
    return len(briefs[0]) > 1 and briefs[0].isalpha() and briefs[0] in _initials(long, words)


def _words(name: str) -> list[str]:
    words = _WORD.findall(name.casefold())
    return words[1:] if len(words) > 1 and words[0] in _ARTICLES else words


def _initials(name: str, words: list[str]) -> set[str]:
    parts = [part.casefold() for part in _PART.findall(name)] if len(words) == 1 else []
    heard = [word for word in words if word not in _UNHEARD]
    return {
        "".join(word[0] for word in listed) for listed in (words, heard, parts) if len(listed) > 1
    }


def _begins(left: str, right: str) -> bool:
    short, long = sorted((left, right), key=len)
    if short == long:
        return True
    return len(short) >= _LETTERS_MIN_COUNT and long.isalpha() and long.startswith(short)
