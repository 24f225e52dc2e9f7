"""Values in sentences: numbers, versions, ports, dates, quantities with units, states.

Two sentences that differ in their values alone have one *shape*. Equal quantities in other units
are one value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from synapse.hippocampus.wording import Wording

_TOKEN = re.compile(
    r"⟨[so]⟩|[$€£]?[+-]?\d+(?:[.,:/\-–]\d+)*(?:\.(?=\w))?[A-Za-z%°]*[\w.]*(?<!\.)|[^\W\d_]+(?:['’][^\W\d_]+)?",
)
_NUMBER = re.compile(r"^([$€£]?)([+-]?\d[\d,]*(?:\.\d+)?)([A-Za-z%]*)$")
_CLOCK = re.compile(r"^(\d{1,2})(?::(\d\d))?(am|pm)?$", re.IGNORECASE)
_IDENTIFIER = re.compile(r"^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9]{9,}$")
_WEAK_WORDS = frozenset(
    ["a", "an", "the", "now", "currently", "today", "recently", "already", "still", "just", "only"]
)
_CACHED_COUNT = 65_536


@dataclass(frozen=True, slots=True)
class Shape:
    """A sentence without its values, and the values."""

    frame: str
    values: tuple[str, ...]
    words_count: int
    """Words of the frame."""
    identifiers_count: int = 0
    """Values that only tell things apart, such as long keys."""


class AmountReader:
    """Finds the values in sentences of one language.

    >>> from synapse.hippocampus.lexicon.english_changes import ENGLISH
    >>> reader = AmountReader(ENGLISH)
    >>> old, new = reader.shape("⟨s⟩ has port 80"), reader.shape("⟨s⟩ now has port 81")
    >>> old.frame == new.frame, old.values, new.values
    (True, ('80',), ('81',))
    >>> reader.value("5 km") == reader.value("5000 m"), reader.value("5 km") == reader.value("5 kg")
    (True, False)
    >>> reader.value("3pm") == reader.value("15:00"), reader.value("1,200") == reader.value("1200")
    (True, True)
    """

    def __init__(self, wording: Wording) -> None:
        self._unit_of = {
            name: (dimension, size)
            for dimension, sizes in wording.units
            for name, size in sizes.items()
        }
        self._number_of = {word: str(i) for i, word in enumerate(wording.number_words)}
        self._states_of = {word: f"⟨{min(s)}⟩" for s in wording.states for word in s}
        self.shape = lru_cache(_CACHED_COUNT)(self._shape)

    def value(self, text: str) -> str:
        """A value as values are compared; names stay as they are, folded."""
        if not any(map(str.isdigit, text)):
            return spelling(text)
        tokens = _TOKEN.findall(text)
        if len(tokens) > 2 or (len(tokens) == 2 and tokens[1].casefold() not in self._unit_of):
            return spelling(text)
        rest = re.sub(r"[\s.]", "", _TOKEN.sub("", text))
        return self._quantity(tokens[0], tokens[1] if len(tokens) == 2 else "")[0] + rest

    def _shape(self, masked: str) -> Shape:
        tokens = _TOKEN.findall(masked)
        frame: list[str] = []
        values: list[str] = []
        words_count = identifiers_count = place = 0
        while place < len(tokens):
            token = tokens[place].casefold()
            following = tokens[place + 1] if place + 1 < len(tokens) else ""
            place += 1
            if any(c.isdigit() for c in token) and not token.startswith("⟨"):
                value, dimension, took = self._quantity_of(token, following)
                place += took
                frame.append(f"⟨{dimension}⟩")
                values.append(value)
                identifiers_count += bool(_IDENTIFIER.match(token))
            elif token in self._number_of and following:
                value, dimension, took = self._quantity_of(self._number_of[token], following)
                place += took
                frame.append(f"⟨{dimension}⟩")
                values.append(value)
            elif token in self._states_of:
                frame.append(self._states_of[token])
                values.append(token)
            elif token not in _WEAK_WORDS:
                frame.append(token)
                words_count += not token.startswith("⟨")
        return Shape(" ".join(frame), tuple(values), words_count, identifiers_count)

    def _quantity_of(self, token: str, following: str) -> tuple[str, str, int]:
        took = int(following.casefold() in self._unit_of)
        value, dimension = self._quantity(token, following if took else "")
        return value, dimension, took

    def _quantity(self, token: str, unit: str) -> tuple[str, str]:
        clock = _CLOCK.match(token)
        if clock and (clock[2] or clock[3]) and not unit:
            hour = (
                int(clock[1]) % 12 + 12 * (clock[3].casefold() == "pm")
                if clock[3]
                else int(clock[1])
            )
            return f"{hour:02d}:{clock[2] or '00'}", "number"
        number = _NUMBER.match(token)
        if not number:
            return token.casefold(), "number"
        unit = (number[3] or unit).casefold()
        known = self._unit_of.get(unit)
        if number[3] and known is None:
            return token.casefold(), "number"
        amount = float(number[2].replace(",", ""))
        if known is None:
            exact = number[2].replace(",", "")
            return f"{number[1]}{exact}", "number"
        return f"{amount * known[1]:.9g} {known[0]}", known[0]


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
    """Whether two values have the same letters and digits.

    >>> is_spelling("^1.2", ">=1.2"), is_spelling("JaneDoe", "janedoe"), is_spelling("1.2", "12.")
    (True, True, False)
    """
    first, other = left[:1], right[:1]
    if first.isalnum() and other.isalnum() and first.isascii() and other.isascii():
        return first.lower() == other.lower() and _letters(left) == _letters(right)
    return _letters(left) == _letters(right)


@lru_cache(_CACHED_COUNT)
def _letters(name: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", name.casefold()))


@lru_cache(_CACHED_COUNT)
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


@lru_cache(_CACHED_COUNT)
def _name_words(name: str) -> tuple[str, ...]:
    if "://" in name or "@" in name:
        return (name.casefold(),)
    words = re.findall(r"[^\s,;()\[\]]+", spelling(name))
    articles = ("the", "a", "an")
    return tuple(words[1:] if len(words) > 1 and words[0] in articles else words)
