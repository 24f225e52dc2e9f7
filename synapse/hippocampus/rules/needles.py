"""Which of many phrases stand in which of many texts: one pass over all of them.

Every phrase is known by four of its characters. The texts are read as numbers, four characters at a
time; a table tells which groups of four belong to a phrase, and only there are the phrases
compared. So a pass costs the same for ten phrases and for a thousand.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from synapse.hippocampus.model import Bools, Ints
from synapse.hippocampus.numeric import distinct

Codes = npt.NDArray[np.uint32]

_GRAM = 4
_TEXTS_PER_PASS = 1_024
_TABLE_BITS = 16
_MULTIPLIER = np.uint32(2_654_435_761)
_FREQUENT = " etaoinsrhldcumfpgwybvkxjqz"
_UNKNOWN = "?"
_BETWEEN = " \n "


class Needles:
    """Phrases to look for, in lower case, of four characters or more.

    >>> needles = Needles(["no longer", "instead of"])
    >>> rows, phrases = needles.find(["A uses B", "A NO LONGER uses B", "B instead of C"])
    >>> rows.tolist(), phrases.tolist()
    ([1, 2], [0, 1])
    """

    def __init__(self, phrases: Sequence[str]) -> None:
        self._phrases = list(phrases)
        plain = [phrase.encode("ascii", "replace").decode() for phrase in phrases]
        self._at = np.array([_rarest(phrase) for phrase in plain], np.int64)
        self._length = np.array([len(phrase) for phrase in plain], np.int64)
        known = np.array([_code(p, _rarest(p)) for p in plain], np.uint32)
        self._by_gram = np.argsort(known, kind="stable")
        self._grams, self._count = np.unique(known, return_counts=True)
        self._first = np.cumsum(self._count) - self._count
        self._table = np.zeros(1 << _TABLE_BITS, np.bool_)
        self._table[_hashed(self._grams)] = True
        steps_count = -(-max(map(len, plain), default=_GRAM) // _GRAM)
        # The phrase in groups of four; the last group ends where the phrase ends.
        self._step = np.minimum(
            _GRAM * np.arange(steps_count)[:, None], (self._length - _GRAM)[None, :]
        )
        self._parts = np.array(
            [[_code(p, int(at)) for p, at in zip(plain, row, strict=True)] for row in self._step],
            np.uint32,
        )
        self._is_vague = np.array([_UNKNOWN in phrase for phrase in plain], np.bool_)

    def find(self, texts: Sequence[str]) -> tuple[Ints, Ints]:
        """Rows of texts and numbers of the phrases that stand in them: each pair once, in order.

        A text is read as if it stood between two blanks.
        """
        pairs = [np.zeros(0, np.int64)]
        for first in range(0, len(texts), _TEXTS_PER_PASS):
            batch = texts[first : first + _TEXTS_PER_PASS]
            joined = _BETWEEN.join(batch)
            if not joined.isascii():
                batch = [text.lower() for text in batch]
                joined = _BETWEEN.join(batch)
            start, phrase = self._places(f" {joined} ".encode("ascii", "replace").lower())
            lengths = np.fromiter(map(len, batch), np.int64, len(batch))
            row = np.searchsorted(np.cumsum(lengths + len(_BETWEEN)), start, side="right")
            sure = self._is_said(batch, row, phrase)
            row, phrase = row[sure], phrase[sure]
            pairs.append(distinct((first + row) * len(self._phrases) + phrase))
        return np.divmod(np.concatenate(pairs), max(1, len(self._phrases)))

    def _places(self, joined: bytes) -> tuple[Ints, Ints]:
        """Where phrases begin, and which; characters beyond ASCII are not told apart."""
        none = np.zeros(0, np.int64)
        if len(joined) < _GRAM or not len(self._grams):
            return none, none
        # Every four neighbours as one number, without copying them together first.
        overlapping = np.ndarray((len(joined) - _GRAM + 1,), "<u4", joined, strides=(1,))
        grams = np.ascontiguousarray(overlapping)
        place = np.flatnonzero(self._table.take(_hashed(grams).astype(np.intp)))
        gram = grams[place]
        kind = np.minimum(np.searchsorted(self._grams, gram), len(self._grams) - 1)
        fits = self._grams[kind] == gram
        place, kind = place[fits], kind[fits]
        count = self._count[kind]
        nth = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        phrase = self._by_gram[np.repeat(self._first[kind], count) + nth]
        start = np.repeat(place, count) - self._at[phrase]
        inside = (start >= 0) & (start + self._length[phrase] <= len(joined))
        start, phrase = start[inside], phrase[inside]
        for step, part in zip(self._step, self._parts, strict=True):
            same = grams[start + step[phrase]] == part[phrase]
            start, phrase = start[same], phrase[same]
        return start, phrase

    def _is_said(self, texts: Sequence[str], row: Ints, phrase: Ints) -> Bools:
        """Whether phrases beyond ASCII stand there indeed."""
        sure = ~self._is_vague[phrase]
        for i in np.flatnonzero(~sure).tolist():
            sure[i] = self._phrases[phrase[i]] in f" {texts[row[i]].lower()} "
        return sure


def _hashed(grams: Codes) -> Codes:
    return np.asarray((grams * _MULTIPLIER) >> np.uint32(32 - _TABLE_BITS), np.uint32)


def _code(phrase: str, at: int) -> int:
    return int.from_bytes(phrase[at : at + _GRAM].encode(), "little")


def _rarest(phrase: str) -> int:
    """Where the four characters begin that are least frequent in English."""
    rank = [_FREQUENT.find(c) % 30 for c in phrase]
    places = range(len(phrase) - _GRAM + 1)
    return max(places, key=lambda place: (sum(rank[place : place + _GRAM]), -place))
