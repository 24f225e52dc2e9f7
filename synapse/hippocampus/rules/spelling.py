"""Two names of one value: other letters for the same, or one that says the other more exactly."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from synapse.hippocampus.wording import CACHED_COUNT

_WRAPPING = re.compile(r"^(?:[a-z][a-z+.-]*://)?(?:www\.)?|/+$")
_VERSION = re.compile(r"^(?:version |ver\.? |v\.? ?)(?=\d)")
_PHONE = re.compile(r"^\+?[\d\s()/-]+$")
_PHONE_DIGITS_MIN_COUNT = 7
_MAY_WRAP = frozenset("hwv")
"""First letters of schemes, *www* and *version*."""


def spelling(name: str) -> str:
    """A name as it is told from others: only ordinary capitals are folded.

    >>> spelling("Berlin") == spelling("BERLIN"), spelling("JaneDoe") == spelling("janedoe")
    (True, False)
    """
    if name.isascii() and name.islower():
        return " ".join(name.split())
    return " ".join(
        word.casefold() if word.istitle() or word.isupper() or word.islower() else word
        for word in name.split()
    )


def is_spelling(left: str, right: str) -> bool:
    """Whether two values have the same letters and digits; accents, a URL's scheme, and what stands
    between letters do not count, but what parts numbers does.

    >>> is_spelling("^1.2", ">=1.2"), is_spelling("JaneDoe", "janedoe"), is_spelling("1.2", "12.")
    (True, True, False)
    >>> is_spelling("https://acme.org/", "www.acme.org"), is_spelling("co-founder", "Cofounder")
    (True, True)
    >>> is_spelling("v1.2", "1.2"), is_spelling("+1 (555) 0100-22", "+1555010022")
    (True, True)
    """
    for place in (0, -1):
        first, other = left[place : place + 1 or None], right[place : place + 1 or None]
        if first.isalnum() and other.isalnum() and first.isascii() and other.isascii():
            same = first.lower() == other.lower()
            if not same and (place or not {first.lower(), other.lower()} & _MAY_WRAP):
                return False
    if _letters(left) == _letters(right):
        return True
    return ("." in left or "." in right) and _abbreviates(left.split(), right.split())


def _abbreviates(left: list[str], right: list[str]) -> bool:
    """Whether names differ only in words of which one stands for the other: *St.* for *Saint*.

    >>> _abbreviates(["St.", "Gallen"], ["Saint", "Gallen"]), _abbreviates(["1."], ["12"])
    (True, False)
    """
    return len(left) == len(right) and all(
        one == other or _stands_for(one, other) or _stands_for(other, one)
        for one, other in zip(left, right, strict=True)
    )


def _stands_for(short: str, long: str) -> bool:
    letters = short[:-1].casefold()
    if not (short.endswith(".") and letters.isalpha() and long.casefold().startswith(letters[0])):
        return False
    rest = iter(long.casefold())
    return all(letter in rest for letter in letters)


@lru_cache(CACHED_COUNT)
def _letters(name: str) -> tuple[str, ...]:
    folded = unicodedata.normalize("NFKD", name.casefold()) if not name.isascii() else name.lower()
    folded = "".join(c for c in folded if not unicodedata.combining(c))
    folded = _VERSION.sub("", _WRAPPING.sub("", folded.strip()))
    words = tuple(re.findall(r"\w+", folded))
    if not any(map(str.isdigit, folded)):
        return ("".join(words),)
    if _PHONE.match(folded) and sum(map(str.isdigit, folded)) >= _PHONE_DIGITS_MIN_COUNT:
        return ("".join(words),)
    return words


@lru_cache(CACHED_COUNT)
def is_refinement(left: str, right: str) -> bool:
    """Whether one of two names only says the other one more exactly.

    >>> is_refinement("Germany", "Berlin, Germany"), is_refinement("Acme", "Acme Research")
    (True, True)
    >>> is_refinement("Berlin", "Bern"), is_refinement("3.1", "3.1.2")
    (False, False)
    """
    short, long = sorted((_name_words(left), _name_words(right)), key=len)
    if not short or len(short) == len(long):
        return bool(short) and short == long
    if not any(c.isalpha() for c in "".join(short)):
        return False
    if any(c.isdigit() for c in "".join(short)):
        return False
    return long[: len(short)] == short or long[-len(short) :] == short


@lru_cache(CACHED_COUNT)
def _name_words(name: str) -> tuple[str, ...]:
    if "://" in name or "@" in name:
        return (name.casefold(),)
    words = re.findall(r"[^\s,;()\[\]]+", spelling(name))
    articles = ("the", "a", "an")
    return tuple(words[1:] if len(words) > 1 and words[0] in articles else words)
