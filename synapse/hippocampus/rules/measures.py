"""Quantities told in words and in numbers: *an hour and a half*, *5 ft 7*, *half*, *EUR 5.00*."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from synapse.hippocampus.lexicon.english_doubts import MEASURED, OTHER_UNITS, PARTS
from synapse.hippocampus.wording import CACHED_COUNT, Wording

_PART = re.compile(r"([$€£]?)(\d[\d,]*(?:\.\d+)?)([^\W\d_]*|%)|([^\W\d_]+)")
_COUNTED, _AND, _PART_OF = frozenset(("a", "an")), "and", "of"
_FEET, _INCHES = frozenset(("ft", "feet", "foot")), 12.0
_ROUNDING_RATIO = 0.02
"""By how much two equal quantities may differ, where one was converted and rounded."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One quantity."""

    dimension: str
    """Empty for mere numbers and shares."""
    amount: float
    """In the smallest unit of the dimension."""
    units: tuple[str, ...]
    """As they were written."""

    def is_same(self, other: Measure) -> bool:
        """Whether two quantities of one dimension are one, roundings aside."""
        larger = max(abs(self.amount), abs(other.amount))
        ratio = 1e-9 if self.units == other.units else _ROUNDING_RATIO
        return abs(self.amount - other.amount) <= ratio * larger


class MeasureReader:
    """Reads the quantities of one language.

    >>> from synapse.hippocampus.lexicon.english_changes import ENGLISH
    >>> read = MeasureReader(ENGLISH).read
    >>> read("an hour and a half").is_same(read("90 minutes"))
    True
    >>> read("5 ft 7").is_same(read("1.70 m")), read("half").is_same(read("50%"))
    (True, True)
    >>> read("two and a half hours").is_same(read("150 minutes"))
    True
    >>> read("14 km").dimension, read("12 euros per month"), read("Acme")
    ('length', None, None)
    """

    def __init__(self, wording: Wording) -> None:
        self._units: Mapping[str, tuple[str, float]] = OTHER_UNITS | {
            name: (dimension, size)
            for dimension, sizes in wording.units
            for name, size in sizes.items()
        }
        numbers = {word: float(i) for i, word in enumerate(wording.number_words)}
        magnitudes = {word.casefold(): size for word, size in wording.magnitudes.items()}
        self._number_of = numbers | PARTS | {w: n for w, n in magnitudes.items() if w != "m"}
        self.read = lru_cache(CACHED_COUNT)(self._read)

    def _read(self, text: str) -> Measure | None:
        """The quantity that a text consists of, ``None`` if it is anything else."""
        words: list[str] = []
        for part in text.casefold().split():
            found = _PART.fullmatch(part)
            if found is None:
                return None
            words += [group for group in found.groups() if group]
        if len(words) > 1 and words[-1] in MEASURED:
            words.pop()
        return self._sum(words)

    def _sum(self, words: list[str]) -> Measure | None:
        """The sum of quantities of one dimension; a unit may stand before its number."""
        amount, dimension, size, units = 0.0, "", 1.0, list[str]()
        waiting: float | None = None
        whole, counted = 0.0, False
        for word in words:
            number = self._number(word)
            if number is not None or word in _COUNTED:
                number = 1.0 if number is None else number
                waiting = number if waiting is None else waiting * number
                counted = True
            elif word in self._units:
                known, size = self._units[word]
                if units and known != dimension:
                    return None
                dimension = known
                units.append(word)
                amount += (whole + (waiting or 0.0)) * size
                whole, waiting = 0.0, None
            elif word == _AND:
                whole, waiting = waiting or 0.0, None  # "two and a half"
            elif word != _PART_OF:
                return None
        waiting = whole if waiting is None and whole else waiting
        if waiting is not None:
            last_is_feet = bool(units) and bool(amount) and units[-1] in _FEET
            amount += waiting * (size / _INCHES if last_is_feet and waiting >= 1.0 else size)
        return Measure(dimension, amount, tuple(units)) if counted else None

    def _number(self, word: str) -> float | None:
        if word[0].isdigit():
            return float(word.replace(",", ""))
        return self._number_of.get(word)
