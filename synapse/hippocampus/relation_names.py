"""Which relation names mean one property, and what the sentences of their facts presuppose.

That two names link the same pairs of entities shows nothing: opposites do (*supports*, *opposes*),
and so do birthplace and place of death. That their facts are told in the same sentence does.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from synapse.hippocampus.memory_keys import memory_keys
from synapse.hippocampus.model import GraphSnapshot, Ints

_SAMPLE_COUNT = 16
_CANDIDATES_COUNT = 8 * _SAMPLE_COUNT
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio: multiplying by it spreads numbers evenly."""
_SHAPE_RATIO = 0.6
_NAMES_PER_SHAPE_MAX_COUNT = 6
"""A sentence that more names share says too little to tell properties apart."""
_TEXT_CHARACTERS_MAX = 300
SUBJECT, OBJECT = "⟨s⟩", "⟨o⟩"
"""What stands for the two names in a shape."""
_WORD = re.compile(r"[^\W\d_]+")
_MEASURE = re.compile(r"\s*[<>=~^!$€£±v-]{0,3}\s*\d")
_FUNCTION_WORDS = "a an the is are was were be been has have had of to in on at it its"


class Groups:
    """Disjoint groups of numbered items (union-find); a group is known by its smallest item.

    >>> groups = Groups(4)
    >>> groups.join(3, 1); groups.join(1, 2)
    >>> [groups.find(item) for item in range(4)]
    [0, 1, 1, 1]
    """

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))

    def find(self, item: int) -> int:
        """The smallest item of the group."""
        while self._parent[item] != item:
            self._parent[item] = self._parent[self._parent[item]]
            item = self._parent[item]
        return item

    def join(self, left: int, right: int) -> None:
        """Make one group of two."""
        left, right = self.find(left), self.find(right)
        self._parent[max(left, right)] = min(left, right)


def sentence_shape(text: str, subject: str, target: str) -> str | None:
    """A sentence without its two names: what it says, not about whom.

    Returns:
        ``None`` where the text does not name both, or says nothing beside them.

    >>> sentence_shape("The mayor of Berlin is Anna.", "Berlin", "Anna")
    'the mayor of ⟨s⟩ is ⟨o⟩'
    >>> sentence_shape("Berlin: Anna", "Berlin", "Anna") is None
    True
    """
    if not subject or not target or len(text) > _TEXT_CHARACTERS_MAX:
        return None
    shape = text.casefold()
    names = [(subject.casefold(), SUBJECT), (target.casefold(), OBJECT)]
    for name, mark in sorted(names, key=lambda pair: -len(pair[0])):
        place = _whole_word(shape, name)
        if place < 0:
            return None
        shape = shape[:place] + mark + shape[place + len(name) :]
    words = _WORD.findall(shape.replace(SUBJECT, " ").replace(OBJECT, " "))
    if set(words) <= set(_FUNCTION_WORDS.split()):
        return None
    return " ".join(shape.split()).strip(" .!")


def _whole_word(text: str, name: str) -> int:
    place = text.find(name)
    while place >= 0:
        before, after = text[place - 1 : place], text[place + len(name) : place + len(name) + 1]
        if not (before.isalnum() or after.isalnum()):
            return place
        place = text.find(name, place + 1)
    return -1


@dataclass(frozen=True, slots=True)
class Told:
    """How the facts of one relation name are told, in a sample of them."""

    facts_count: int
    measures_count: int
    """Facts whose value is a number, a version, a date: an attribute rather than a thing."""
    shapes: Counter[str]
    """How often each shape occurs."""

    def matching_count(self, patterns: Sequence[re.Pattern[str]]) -> int:
        """Facts whose shape matches one of the patterns."""
        return sum(n for s, n in self.shapes.items() if any(p.search(s) for p in patterns))


def read_sentences(snapshot: GraphSnapshot, name_of_fact: Ints, names_count: int) -> list[Told]:
    """Read a fixed number of facts of each relation name, chosen by their uuids."""
    facts, entities = snapshot.facts, snapshot.entities
    shapes: list[Counter[str]] = [Counter() for _ in range(names_count)]
    seen, measures = [0] * names_count, [0] * names_count
    rows = _sample(facts.uuid, name_of_fact)
    columns = (rows, name_of_fact[rows], facts.source[rows], facts.target[rows])
    for row, name, source, target_row in zip(*(c.tolist() for c in columns), strict=True):
        target = entities.name[target_row]
        shape = sentence_shape(facts.text[row], entities.name[source], target)
        seen[name] += 1
        measures[name] += bool(_MEASURE.match(target))
        if shape is not None:
            shapes[name][shape] += 1
    return [Told(*columns) for columns in zip(seen, measures, shapes, strict=True)]


def join_by_shape(told: Sequence[Told], groups: Groups) -> None:
    """Join names whose facts are mostly told in the same sentence."""
    speakers: dict[str, list[int]] = defaultdict(list)
    for name, sample in enumerate(told):
        for shape, count in sample.shapes.items():
            if count >= _SHAPE_RATIO * sample.facts_count:
                speakers[shape].append(name)
    for together in speakers.values():
        if len(together) <= _NAMES_PER_SHAPE_MAX_COUNT:
            for name in together[1:]:
                groups.join(together[0], name)


def _sample(uuids: Sequence[str], name_of_fact: Ints) -> Ints:
    """A few facts of each name, whatever their order: those whose uuids have the smallest hash.

    Of a frequent name only facts below a bound need to be compared.
    """
    if not len(uuids):
        return np.zeros(0, np.int64)
    halves = memory_keys(uuids).view("<u8").reshape(-1, 2)
    key = (halves[:, 0] ^ halves[:, 1]) * _SPREAD
    share = np.minimum(1.0, _CANDIDATES_COUNT / np.bincount(name_of_fact))
    low = np.flatnonzero(key <= share[name_of_fact] * 2.0**64)
    order = low[np.lexsort((key[low], name_of_fact[low]))]
    name = name_of_fact[order]
    start = np.flatnonzero(np.r_[True, name[1:] != name[:-1]])
    place = np.arange(len(order)) - np.repeat(start, np.diff(np.r_[start, len(order)]))
    return order[place < _SAMPLE_COUNT]
