"""Whether two values may be one, told in other words, or no values of one kind.

*30 minutes* and *half an hour*, *noon* and *12:00*, *v2* and *2.0.0* are one value; *14 km* and
*5 hours*, *Q1 2027* and *February 2027* cannot be compared. None of them ends the other.
"""

from __future__ import annotations

import re
from functools import lru_cache

from synapse.hippocampus.lexicon.english_doubts import (
    DEMONYM_ENDINGS,
    NATIONS,
    OTHER_DEMONYMS,
    SAME_STATES,
    STATE_NOUNS,
)
from synapse.hippocampus.lexicon.words import split_name
from synapse.hippocampus.rules.dates import iso_date
from synapse.hippocampus.rules.measures import MeasureReader
from synapse.hippocampus.rules.short_forms import is_short_form
from synapse.hippocampus.wording import CACHED_COUNT, Wording

_ISO_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?$")
_VERSION = re.compile(
    r"^[\^~<>= ]*(?:v(?!0\d)|ver\.?|version)? ?(\d+|\d+(?:\.\d+)+[\w.+,<>=~^-]*)$", re.IGNORECASE
)
_CLOCK = re.compile(r"^\d{1,2}(?::\d\d)(?: ?[ap]\.?m\.?)?$|^\d{1,2} ?[ap]\.?m\.?$", re.IGNORECASE)
_PHONE = re.compile(r"^\+?[\d\s()/.-]+$")
_IDENTIFIER_DIGITS_MIN_COUNT, _SHARED_DIGITS_MIN_COUNT = 6, 5
_TOLD_APART = frozenset(("identifier", "name"))
"""Kinds of which one may replace the other."""
_NUMBERED_NAME = re.compile(r"^(\D*[^\W\d_])[\s-]+v?\d[\d.]*$")
_DIGITS, _NO_WORDS = re.compile(r"\d+"), re.compile(r"[\d\s.,]+")
_STEM_MIN_COUNT, _ROOT_COUNT = 4, 3
_UNIT_LETTERS_MAX_COUNT = 2
_WORD = re.compile(r"[^\W_]+")
_CAPITALS_MIN_COUNT = 3


class SameValues:
    """Compares the values of one language."""

    def __init__(self, wording: Wording) -> None:
        self._months = wording.months
        self._measures = MeasureReader(wording)
        self.may_be_one = lru_cache(CACHED_COUNT)(self._may_be_one)

    def _may_be_one(self, old: str, new: str) -> bool:
        """Whether two values may be one, or cannot be compared."""
        (kind, value), (other_kind, other) = self._kind(old), self._kind(new)
        if kind != other_kind:
            return not ({kind, other_kind} <= _TOLD_APART)
        if kind == "date":
            return value.startswith(other) or other.startswith(value)
        if kind == "number":
            return _without_zeros(value) == _without_zeros(other)
        if kind == "identifier":
            short, long = sorted((value.lstrip("0"), other.lstrip("0")), key=len)
            return len(short) >= _SHARED_DIGITS_MIN_COUNT and long.endswith(short)
        if kind == "name":
            return _are_near(value, other)
        measure, other_measure = self._measures.read(old), self._measures.read(new)
        return bool(measure and other_measure and measure.is_same(other_measure))

    def _kind(self, text: str) -> tuple[str, str]:
        """What a value is, and what of it is compared."""
        text = text.strip()
        if not text:
            return "name", ""
        if day := iso_date(text, self._months) or (text if _ISO_DATE.match(text) else ""):
            return "date", day
        digits = "".join(_DIGITS.findall(text))
        if _PHONE.match(text) and len(digits) >= _IDENTIFIER_DIGITS_MIN_COUNT:
            return "identifier", digits
        if number := _VERSION.match(text):
            return "number", number[1]
        if _CLOCK.match(text):
            return "clock", text
        measure = self._measures.read(text)
        if measure is not None:
            bare = not measure.dimension and not measure.units
            return ("number", f"{measure.amount:g}") if bare else (f"in {measure.dimension}", text)
        starts = text[0].isdigit() or text[0] in "+-$€£."
        rest = _NO_WORDS.sub(" ", text).strip()
        letters_count = sum(map(str.isalpha, rest))
        if starts and (rest.islower() or letters_count <= _UNIT_LETTERS_MAX_COUNT):
            return f"counted {rest}", text
        return "name", text


def _without_zeros(version: str) -> str:
    parts = [part.lstrip("0") for part in version.split(".")]
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return ".".join(parts)


def _are_near(old: str, new: str) -> bool:
    """Whether one name may stand for the other: *High St*, *PostgreSQL* and *Postgres 16*."""
    if _adds_a_letter(old, new) or _adds_a_letter(new, old) or _are_one_address(old, new):
        return True
    numbered, other_numbered = _NUMBERED_NAME.match(old), _NUMBERED_NAME.match(new)
    if (numbered is None) == (other_numbered is None):
        return False
    bare = [match[1] if match else name for match, name in (
        (numbered, old), (other_numbered, new)
    )]  # fmt: skip
    short, long = sorted((name.casefold() for name in bare), key=len)
    near = len(short) >= _STEM_MIN_COUNT and long.startswith(short)
    return near or is_short_form(*bare)


def _are_one_address(old: str, new: str) -> bool:
    """Whether two names with numbers have the same words, perhaps shortened, or more of them."""
    words, others = _WORD.findall(old.casefold()), _WORD.findall(new.casefold())
    if not any(map(str.isdigit, old)) or min(len(words), len(others)) < 2:
        return False
    pairs = zip(words, others, strict=False)
    return sorted(words) == sorted(others) or all(
        _abbreviates(*sorted(pair, key=len)) for pair in pairs
    )


def _adds_a_letter(short: str, name: str) -> bool:
    """Whether capitals stand for a name and one word more: *NYC* for New York."""
    initials = "".join(word[0] for word in name.split())
    return (
        short.isupper()
        and len(short) >= _CAPITALS_MIN_COUNT
        and short[:-1] == initials
        and not name.isupper()
    )


def _abbreviates(short: str, long: str) -> bool:
    if short == long:
        return True
    if not (short.rstrip(".").isalpha() and long.startswith(short[0])):
        return False
    letters = iter(long)
    return all(letter in letters for letter in short.rstrip("."))


def is_same_state(old: str, new: str) -> bool:
    """Whether two states are one in other words.

    >>> is_same_state("on", "Enabled"), is_same_state("open", "closed")
    (True, False)
    """
    pair = {old.casefold().replace(" ", "_"), new.casefold().replace(" ", "_")}
    return any(pair <= states for states in SAME_STATES)


def holds_any_state(relation: str) -> bool:
    """Whether a relation holds whatever is so of a thing, not one property of it.

    >>> holds_any_state("HAS_STATUS"), holds_any_state("MARITAL_STATUS"), holds_any_state("OPENS")
    (True, False, False)
    """
    words = [word for word in split_name(relation) if word not in ("has", "is", "in", "current")]
    return len(words) == 1 and words[0] in STATE_NOUNS


def names_people_and_country(relation: str, old: str, new: str) -> bool:
    """Whether of a nationality one value is a country and the other one its people.

    >>> [names_people_and_country("HAS_NATIONALITY", *pair) for pair in (
    ...     ("Dutch", "Netherlands"), ("Poland", "Polish"), ("Japan", "Poland"))]
    [True, True, False]
    """
    if NATIONS.isdisjoint(split_name(relation)):
        return False
    old, new = old.casefold(), new.casefold()
    if new in OTHER_DEMONYMS.get(old, ()) or old in OTHER_DEMONYMS.get(new, ()):
        return True
    one_is_people = old.endswith(DEMONYM_ENDINGS) != new.endswith(DEMONYM_ENDINGS)
    return one_is_people and old[:_ROOT_COUNT] == new[:_ROOT_COUNT]
