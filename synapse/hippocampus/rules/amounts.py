"""Values in sentences: numbers, versions, ports, dates, quantities with units, states.

Two sentences that differ in their values alone have one *shape*. Equal quantities in other units
are one value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from synapse.hippocampus.rules.dates import iso_date
from synapse.hippocampus.rules.spelling import spelling
from synapse.hippocampus.wording import CACHED_COUNT, Wording

_TOKEN = re.compile(
    r"⟨[so]⟩|[$€£]?[+-]?\d+(?:[.,:/\-–]\d+)*(?:\.(?=\w))?[A-Za-z%°]*[\w.]*(?<!\.)|[^\W\d_]+(?:['’][^\W\d_]+)?",
)
_NUMBER = re.compile(r"^([$€£]?)([+-]?\d[\d,]*(?:\.\d+)?)([A-Za-z%]*)$")
_CLOCK = re.compile(r"^(\d{1,2})(?::(\d\d))? ?(?:([ap])\.?m\.?|h|o'clock)?$", re.IGNORECASE)
_OFFSET = re.compile(r"^(?:utc|gmt) ?([+-])0?(\d{1,2})(?::?00)?$", re.IGNORECASE)
_IDENTIFIER = re.compile(r"^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9]{9,}$")
_WEAK_WORDS = frozenset(
    ["a", "an", "the", "now", "currently", "today", "recently", "already", "still", "just", "only"]
)


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
    >>> reader.value("50k") == reader.value("50,000"), reader.value("$5") == reader.value("5 USD")
    (True, True)
    >>> reader.value("March 5, 2026") == reader.value("2026-03-05"), reader.value("three")
    (True, '3')
    """

    def __init__(self, wording: Wording) -> None:
        self._unit_of = {
            name: (dimension, size)
            for dimension, sizes in wording.units
            for name, size in sizes.items()
        }
        self._magnitudes = {mark: ("", size) for mark, size in wording.magnitudes.items()}
        self._sizes = self._magnitudes | self._unit_of
        self._months = wording.months
        self._number_of = {word: str(i) for i, word in enumerate(wording.number_words)}
        self._states_of = {word: f"⟨{min(s)}⟩" for s in wording.states for word in s}
        self.shape = lru_cache(CACHED_COUNT)(self._shape)

    def value(self, text: str) -> str:
        """A value as values are compared; names stay as they are, folded."""
        if not any(map(str.isdigit, text)):
            return self._number_of.get(text.casefold()) or spelling(text)
        tokens = _TOKEN.findall(text)
        if len(tokens) > 1 and (day := iso_date(text, self._months)):
            return day
        if clock := self._clock(text):
            return clock
        if offset := _OFFSET.match(text):
            return f"utc{offset[1]}{offset[2]}"
        if parts := self._sum(tokens):
            return parts
        if not 0 < len(tokens) <= 3 or any(t.casefold() not in self._sizes for t in tokens[1:]):
            return spelling(text)
        rest = re.sub(r"[\s.]", "", _TOKEN.sub("", text))
        return self._quantity(tokens[0], *tokens[1:])[0] + rest

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
        value, dimension = self._quantity(token, *([following] if took else []))
        return value, dimension, took

    def _sum(self, tokens: list[str]) -> str:
        """Several quantities of one dimension as one: *1 h 30 min*."""
        if len(tokens) < 4 or len(tokens) % 2:
            return ""
        pairs = list(zip(tokens[::2], tokens[1::2], strict=True))
        units = [self._unit_of.get(unit.casefold(), ("", 0.0)) for _, unit in pairs]
        if len({dimension for dimension, _ in units}) > 1 or not units[0][0]:
            return ""
        if not all(number.replace(".", "", 1).isdigit() for number, _ in pairs):
            return ""
        amount = sum(float(pair[0]) * unit[1] for pair, unit in zip(pairs, units, strict=True))
        return f"{amount:.12g} {units[0][0]}"

    @staticmethod
    def _clock(text: str) -> str:
        clock = _CLOCK.match(text)
        if not clock or not (clock[2] or clock[3]):
            return ""
        late = 12 * (clock[3].casefold() == "p") if clock[3] else 0
        hour = int(clock[1]) % 12 + late if clock[3] else int(clock[1])
        return f"{hour:02d}:{clock[2] or '00'}"

    def _quantity(self, token: str, *words: str) -> tuple[str, str]:
        """A number with its unit, in the smallest common unit, and its dimension."""
        clock = "" if words else self._clock(token)
        number = _NUMBER.match(token)
        if clock or not number:
            return clock or token.casefold(), "number"
        size, dimension = 1.0, ""
        for word in (number[1], number[3], *words):
            known = self._magnitudes.get(word) or self._sizes.get(word.casefold())
            if word and known is None:
                return token.casefold(), "number"
            size *= known[1] if known else 1.0
            dimension = known[0] if known and known[0] else dimension
        exact = number[2].replace(",", "")
        if size == 1.0 and not dimension:
            return exact, "number"
        number_of_units = float(exact)
        while dimension == "data" and number_of_units and not number_of_units % 1024:
            number_of_units *= 1000 / 1024  # 1024 MB are meant as 1 GB
        amount = f"{number_of_units * size:.12g}"
        return f"{amount} {dimension}".strip(), dimension or "number"
