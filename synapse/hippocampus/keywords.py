"""Counting keywords in many short texts: whole words, in any case, in any script.

All texts of a slab are folded and joined, and every keyword is looked for in the one long string:
a search inside C instead of a call per text. Only where a keyword occurs at all does Python look
at its two neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from synapse.hippocampus.model import Ints

SLAB_TEXTS_COUNT = 50_000
"""Texts that are joined at a time: bounds the memory, a few megabytes for short texts."""

_SEPARATOR = "\0"


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
    folded_words = {word.strip().casefold() for word in words}
    keywords = sorted(word for word in folded_words if word and _SEPARATOR not in word)
    hits = np.zeros(len(texts), np.int64)
    for start in range(0, len(texts), SLAB_TEXTS_COUNT):
        folded = [text.casefold() for text in texts[start : start + SLAB_TEXTS_COUNT]]
        joined = _SEPARATOR + _SEPARATOR.join(folded) + _SEPARATOR
        places = [place for word in keywords for place in _whole_words(joined, word)]
        lengths = np.fromiter(map(len, folded), np.int64, len(folded))
        ends = np.cumsum(lengths + len(_SEPARATOR))
        rows = np.searchsorted(ends, np.array(places, np.int64))
        hits[start : start + len(folded)] = np.bincount(rows, minlength=len(folded))
    return hits


def _whole_words(joined: str, word: str) -> Iterator[int]:
    place = joined.find(word)
    while place >= 0:
        end = place + len(word)
        if _is_word_character(joined[place - 1]) or _is_word_character(joined[end]):
            end = place + 1
        else:
            yield place
        place = joined.find(word, end)


def _is_word_character(character: str) -> bool:
    return character.isalnum() or character == "_"
