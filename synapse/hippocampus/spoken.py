"""Which texts hold phrases that a rule has to read; all others are left unread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from synapse.hippocampus.model import Bools
from synapse.hippocampus.needles import Needles
from synapse.hippocampus.wording import Wording

_MOODS, _SCOPES, _STATES, _DENIALS, _BEGINNINGS, _CORRECTIONS = (1 << bit for bit in range(6))
_FIRST_CUE_BIT = 6


@dataclass(frozen=True, slots=True)
class Spoken:
    """Marks on facts, shape (facts,) each, and the cues that each text may hold."""

    moods: Bools
    """The text may be more than a plain statement."""
    scopes: Bools
    """The text may tell under which circumstances it holds."""
    states: Bools
    """The text may hold a state or a number in words."""
    denials: Bools
    beginnings: Bools
    corrections: Bools
    cues: tuple[dict[int, list[int]], ...]
    """For each language the numbers of the cues that a fact's text may hold."""


class PhraseSearch:
    """Looks for the phrases of all languages in one pass over the texts."""

    def __init__(self, languages: Sequence[Wording]) -> None:
        marks, self._cue_of_bit = _marks(languages)
        self._needles = Needles(marks)
        self._languages_count = len(languages)

    def find(self, texts: Sequence[str]) -> Spoken:
        """What the texts may hold."""
        found = self._needles.find(texts)
        rows = np.fromiter(found, np.int64, len(found))
        flags = np.fromiter((mark & 63 for mark in found.values()), np.int64, len(found))

        def mask(bit: int) -> Bools:
            marked = np.zeros(len(texts), np.bool_)
            marked[rows[flags & bit > 0]] = True
            return marked

        cues: list[dict[int, list[int]]] = [{} for _ in range(self._languages_count)]
        for row, mark in found.items():
            rest = mark >> _FIRST_CUE_BIT
            while rest:
                lowest = rest & -rest
                language, cue = self._cue_of_bit[lowest.bit_length() - 1]
                cues[language].setdefault(row, []).append(cue)
                rest ^= lowest
        return Spoken(
            mask(_MOODS), mask(_SCOPES), mask(_STATES), mask(_DENIALS), mask(_BEGINNINGS),
            mask(_CORRECTIONS),
            tuple(cues),
        )  # fmt: skip


def _marks(languages: Sequence[Wording]) -> tuple[dict[str, int], list[tuple[int, int]]]:
    """The mark of every phrase, and the language and cue of each bit beyond the first six."""
    first = languages[0]
    marks: defaultdict[str, int] = defaultdict(int)
    cue_of_bit: list[tuple[int, int]] = []

    def add(phrases: Iterable[str], mark: int) -> None:
        for phrase in phrases:
            marks[_long(phrase)] |= mark

    add([*first.mood_needles, *first.past_states], _MOODS)
    add([*first.condition_needles, *(w for _, words in first.scopes for w in words)], _SCOPES)
    add([*first.number_words, *(word for words in first.states for word in words)], _STATES)
    add([*first.denial_needles, *(word for o in first.opposites for word in o.no)], _DENIALS)
    add(first.beginning_needles, _BEGINNINGS)
    add(first.correction_needles, _MOODS | _CORRECTIONS)
    for language, wording in enumerate(languages):
        for number, cue in enumerate(wording.cues):
            add(cue.needles, 1 << (_FIRST_CUE_BIT + len(cue_of_bit)))
            cue_of_bit.append((language, number))
    return dict(marks), cue_of_bit


def _long(phrase: str) -> str:
    """A phrase of four characters or more: short words stand between blanks."""
    return phrase if len(phrase) > 3 else f" {phrase} "[: max(4, len(phrase) + 2)]
