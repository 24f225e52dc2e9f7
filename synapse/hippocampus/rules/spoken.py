"""Which texts hold phrases that a rule has to read; all others are left unread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import is_

import numpy as np

from synapse.hippocampus.model import Bools, Ints
from synapse.hippocampus.rules.needles import Needles
from synapse.hippocampus.wording import Wording

_MOODS, _SCOPES, _STATES, _DENIALS, _BEGINNINGS, _CORRECTIONS, _CUES = (1 << b for b in range(7))


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
        kinds, cues = _marks(languages)
        phrases = sorted(kinds.keys() | cues.keys())
        self._needles = Needles(phrases)
        self._kinds = np.array([kinds.get(phrase, 0) for phrase in phrases], np.int64)
        self._cues = [
            [
                [cue for spoken, cue in cues.get(phrase, ()) if spoken == language]
                for phrase in phrases
            ]
            for language in range(len(languages))
        ]

    def find(self, texts: Sequence[str]) -> Spoken:
        """What the texts may hold."""
        return self.spoken(len(texts), *self.places(texts))

    def places(self, texts: Sequence[str]) -> tuple[Ints, Ints]:
        """Rows of texts, and numbers of the phrases that stand in them."""
        return self._needles.find(texts)

    def spoken(self, texts_count: int, rows: Ints, phrases: Ints) -> Spoken:
        """What texts may hold in which phrases were found so."""
        kinds = self._kinds[phrases]

        def mask(bit: int) -> Bools:
            marked = np.zeros(texts_count, np.bool_)
            marked[rows[kinds & bit > 0]] = True
            return marked

        announcing = kinds & _CUES > 0
        said = list(zip(rows[announcing].tolist(), phrases[announcing].tolist(), strict=True))
        return Spoken(
            mask(_MOODS), mask(_SCOPES), mask(_STATES), mask(_DENIALS), mask(_BEGINNINGS),
            mask(_CORRECTIONS), tuple(_cues_of(cues, said) for cues in self._cues),
        )  # fmt: skip


class PhraseHearing:
    """Hears the texts of a graph as they come in, and tells later which phrases they hold; of
    others as well, once it has read them.

    Args:
        search: makes what finds phrases, once there is a text.
    """

    def __init__(self, search: Callable[[], PhraseSearch]) -> None:
        self._make_search = search
        self._begin()

    def _begin(self) -> None:
        self._texts: Sequence[str] | None = None
        self._slabs: list[Sequence[str]] = []
        self._count = 0
        self._rows, self._phrases = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]

    def hear(self, texts: Sequence[str]) -> None:
        """The next texts of the graph."""
        rows, phrases = self._search.places(texts)
        self._rows.append((rows + self._count).astype(np.int32))
        self._phrases.append(phrases.astype(np.int32))
        self._slabs.append(texts)
        self._count += len(texts)

    def spoken(self, texts: Sequence[str]) -> Spoken:
        """Which texts hold phrases that the rules of contradiction read."""
        self._require(texts)
        rows, phrases = np.concatenate(self._rows), np.concatenate(self._phrases)
        return self._search.spoken(len(texts), rows, phrases)

    def _require(self, texts: Sequence[str]) -> None:
        """Read the texts unless they are what was heard."""
        if self._texts is texts:
            return
        heard = chain.from_iterable(self._slabs)
        if self._texts is not None or self._count != len(texts) or not all(map(is_, heard, texts)):
            self._begin()
            self.hear(texts)
        self._texts = texts
        self._slabs = []

    @cached_property
    def _search(self) -> PhraseSearch:
        return self._make_search()


def _cues_of(
    cues: Sequence[Sequence[int]], said: Iterable[tuple[int, int]]
) -> dict[int, list[int]]:
    """The cues that each text may hold, ascending, given the phrases that stand in it."""
    found: defaultdict[int, set[int]] = defaultdict(set)
    for row, phrase in said:
        if cues[phrase]:
            found[row].update(cues[phrase])
    return {row: sorted(listed) for row, listed in found.items()}


def _marks(
    languages: Sequence[Wording],
) -> tuple[dict[str, int], dict[str, list[tuple[int, int]]]]:
    """What every phrase may tell, and of which cues it is a part, by language and number."""
    first = languages[0]
    kinds: defaultdict[str, int] = defaultdict(int)
    cues: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)

    def add(phrases: Iterable[str], mark: int) -> None:
        for phrase in phrases:
            kinds[_long(phrase)] |= mark

    add([*first.mood_needles, *first.past_states], _MOODS)
    add([*first.condition_needles, *(w for _, words in first.scopes for w in words)], _SCOPES)
    add([*first.number_words, *(word for words in first.states for word in words)], _STATES)
    add([*first.denial_needles, *(word for o in first.opposites for word in o.no)], _DENIALS)
    add(first.beginning_needles, _BEGINNINGS)
    add(first.correction_needles, _MOODS | _CORRECTIONS)
    for language, wording in enumerate(languages):
        for number, cue in enumerate(wording.cues):
            for phrase in cue.needles:
                cues[_long(phrase)].append((language, number))
                kinds[_long(phrase)] |= _CUES
    return dict(kinds), dict(cues)


def _long(phrase: str) -> str:
    """A phrase of four characters or more: short words stand between blanks."""
    return phrase if len(phrase) > 3 else f" {phrase} "[: max(4, len(phrase) + 2)]
