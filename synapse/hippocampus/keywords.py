"""Finding many phrases in many short texts, in any case and any script.

All texts of a slab are folded, joined and looked at as one array of characters. A phrase can only
begin where a word could: after a character that belongs to none. Of those places a table of the
phrases' first characters leaves a few, and only there are the phrases compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from synapse.hippocampus.model import Bools, Ints

SLAB_TEXTS_COUNT = 20_000
"""Texts that are joined at a time: bounds the memory, a few tens of megabytes for short texts."""

_SEPARATOR = "\0"
_PREFIX_CHARACTERS = 4
_Cells = npt.NDArray[Any]
"""Characters as numbers; one byte each where that is enough."""


def count_hits(texts: Sequence[str], words: Sequence[str]) -> Ints:
    """How often any of the keywords occurs in each text.

    Every occurrence counts, also of the same word. A keyword is found only as a whole: before
    and after it stands no letter, digit or underscore of any script (``\\w`` of :mod:`re`), so
    that *must* is not found in *mustard*, nor *fix* in *prefix* or *bug_fix*. Both sides are
    case-folded. A keyword may hold inner spaces (*no longer*), which then match as they are.

    Args:
        texts: any strings.
        words: keywords; repetitions, blank ones and ones that hold a NUL are ignored.

    Returns:
        Shape (len(texts),), dtype int64.

    >>> count_hits(["Fix it — the fix is URGENT!", "prefix, mustard"], ["fix", "urgent"]).tolist()
    [3, 0]
    """
    rows = [*_found(texts, words), np.zeros(0, np.int64)]
    return np.bincount(np.concatenate(rows), minlength=len(texts))


def _found(texts: Sequence[str], phrases: Sequence[str]) -> Iterator[Ints]:
    """For each slab the row of each place where a phrase stands as a whole."""
    folded = {phrase.casefold().strip() for phrase in phrases}
    wanted = [_cells(phrase) for phrase in sorted(folded) if phrase and _SEPARATOR not in phrase]
    if wanted:
        prefix_count = min(_PREFIX_CHARACTERS, *map(len, wanted))
        prefixes = np.zeros(1 << 16, np.bool_)
        prefixes[[_prefix(p, np.zeros(1, np.int64), prefix_count)[0] for p in wanted]] = True
        padding = _SEPARATOR * (1 + max(map(len, wanted)))
        for start in range(0, len(texts), SLAB_TEXTS_COUNT):
            cells = _joined(texts[start : start + SLAB_TEXTS_COUNT], padding)
            in_word = _in_word(cells)
            starts = np.flatnonzero(~in_word[: -len(padding)]) + 1
            starts = starts[prefixes[_prefix(cells, starts, prefix_count)]]
            places = [_places(cells, starts, phrase) for phrase in wanted]
            places = [p[~in_word[p + len(w)]] for p, w in zip(places, wanted, strict=True)]
            ends = np.flatnonzero(cells == 0)
            yield start - 1 + np.searchsorted(ends, np.concatenate(places))


def _joined(texts: Sequence[str], padding: str) -> _Cells:
    joined = _SEPARATOR.join(texts)
    if joined.count(_SEPARATOR) != len(texts) - 1:
        joined = _SEPARATOR.join(text.replace(_SEPARATOR, " ") for text in texts)
    return _cells(_SEPARATOR + joined.casefold() + padding)


def _cells(text: str) -> _Cells:
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _in_word(cells: _Cells) -> Bools:
    present = range(256) if cells.itemsize == 1 else np.flatnonzero(np.bincount(cells)).tolist()
    table = np.zeros(max(present) + 1, np.bool_)
    table[[code for code in present if chr(code) == "_" or chr(code).isalnum()]] = True
    return table[cells]


def _prefix(cells: _Cells, starts: Ints, count: int) -> npt.NDArray[np.uint16]:
    """A number for the first characters at each place; equal for equal characters."""
    number = np.zeros(len(starts), np.uint16)
    for place in range(count):
        number *= np.uint16(31_817)
        number += cells[starts + place].astype(np.uint16)
    return number


def _places(cells: _Cells, starts: Ints, phrase: _Cells) -> Ints:
    for place, character in enumerate(phrase.tolist()):
        starts = starts[cells[starts + place] == character]
    return starts
