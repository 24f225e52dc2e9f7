"""Which of many phrases stand in which of many texts: one pass over all of them.

Every phrase is known by four of its characters. The texts are read as numbers, four characters at a
time; a table tells which groups of four begin something worth a look, and only there are the
phrases compared. So a pass costs the same for ten phrases and for a thousand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from synapse.hippocampus.model import Ints

Codes = npt.NDArray[np.uint32]

_GRAM = 4
_TEXTS_PER_PASS = 4_096
_TABLE_BITS = 20
_MULTIPLIER = np.uint32(2_654_435_761)
_FREQUENT = " etaoinsrhldcumfpgwybvkxjqz"


class Needles:
    """Phrases to look for, in lower case, of four characters or more, with the marks they leave.

    >>> needles = Needles({"no longer": 1, "instead of": 2})
    >>> needles.find(["A uses B", "A NO LONGER uses B", "B instead of C, no longer A"])
    {1: 1, 2: 3}
    """

    def __init__(self, marks: Mapping[str, int]) -> None:
        of_gram: defaultdict[int, list[tuple[str, int]]] = defaultdict(list)
        for written, mark in sorted(marks.items()):
            plain = written.encode("ascii", "replace").decode()
            of_gram[_code(plain, _rarest(plain))].append((written, mark))
        self._phrases = [of_gram[gram] for gram in sorted(of_gram)]
        self._grams = np.array(sorted(of_gram), np.uint32)
        self._table = np.zeros(1 << _TABLE_BITS, np.bool_)
        self._table[_hashed(self._grams)] = True
        # A phrase that is alone with its four characters is known by four more of its own.
        alone = [
            listed[0][0].encode("ascii", "replace").decode() if len(listed) == 1 else ""
            for listed in self._phrases
        ]
        steps = [_far(phrase) if phrase else 0 for phrase in alone]
        self._step = np.array(steps, np.int64)
        self._other = np.array(
            [_code(p, _rarest(p) + step) if p else 0 for p, step in zip(alone, steps, strict=True)],
            np.uint32,
        )
        self._is_alone = np.array([bool(phrase) for phrase in alone], np.bool_)

    def find(self, texts: Sequence[str]) -> dict[int, int]:
        """The marks of each text that has some, joined by *or*; by the number of the text.

        A text is read as if it stood between two blanks.
        """
        found: dict[int, int] = {}
        for first in range(0, len(texts), _TEXTS_PER_PASS):
            lowered = [f" {text.lower()} " for text in texts[first : first + _TEXTS_PER_PASS]]
            joined = "\n".join(lowered).encode("ascii", "replace")
            places, kinds = self._places(joined)
            ends = np.cumsum([len(text) + 1 for text in lowered])
            rows = np.searchsorted(ends, places, side="right")
            once = np.unique(rows * len(self._phrases) + kinds)
            for code in once.tolist():
                row, kind = divmod(code, len(self._phrases))
                known = found.get(first + row, 0)
                for phrase, mark in self._phrases[kind]:
                    if known & mark != mark and phrase in lowered[row]:
                        known |= mark
                        found[first + row] = known
        return found

    def _places(self, joined: bytes) -> tuple[Ints, Ints]:
        """Where phrases may stand, and which."""
        grams = _grams(joined)
        places = np.flatnonzero(self._table[_hashed(grams)])
        kinds = np.minimum(np.searchsorted(self._grams, grams[places]), len(self._grams) - 1)
        other = np.clip(places + self._step[kinds], 0, len(grams) - 1)
        fits = self._grams[kinds] == grams[places]
        fits &= ~self._is_alone[kinds] | (grams[other] == self._other[kinds])
        return places[fits], kinds[fits]


def _grams(joined: bytes) -> Codes:
    cells = np.frombuffer(joined, np.uint8).astype(np.uint32)
    return np.asarray(
        cells[:-3] | cells[1:-2] << 8 | cells[2:-1] << 16 | cells[3:] << 24, np.uint32
    )


def _hashed(grams: Codes) -> Codes:
    return np.asarray((grams * _MULTIPLIER) >> np.uint32(32 - _TABLE_BITS), np.uint32)


def _code(phrase: str, at: int) -> int:
    return int.from_bytes(phrase[at : at + _GRAM].encode(), "little")


def _far(phrase: str) -> int:
    """How far from the rarest four characters others begin that have least in common with them."""
    at = _rarest(phrase)
    places = range(len(phrase) - _GRAM + 1)
    return max(places, key=lambda place: (min(abs(place - at), _GRAM), -place)) - at


def _rarest(phrase: str) -> int:
    """Where the four characters begin that are least frequent in English."""
    rank = [_FREQUENT.find(c) % 30 for c in phrase]
    places = range(len(phrase) - _GRAM + 1)
    return max(places, key=lambda place: (sum(rank[place : place + _GRAM]), -place))
