"""Facts by source and by the name of their target: what a sentence means that only names it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np

from synapse.hippocampus.model import Ints


class NamedFacts:
    """Some facts of a graph, to be looked up by source and name.

    One sort instead of a dictionary of dictionaries: most facts are never asked for.

    Args:
        names: folded name of each entity.
        source: row of each fact's source.
        target: row of each fact's target.
        rows: the facts that can be found, ascending.

    >>> named = NamedFacts(["ann", "rome", "rome"], np.array([0, 0]), np.array([1, 2]),
    ...                    np.array([0, 1]))
    >>> named.rows(0, "rome"), named.rows(0, "ann"), named.names(0)
    ([0, 1], [], {'rome'})
    """

    def __init__(self, names: Sequence[str], source: Ints, target: Ints, rows: Ints) -> None:
        self._code_of: dict[str, int] = {}
        codes = [self._code_of.setdefault(name, len(self._code_of)) for name in names]
        slot = source[rows] * len(self._code_of) + np.array(codes, np.int64)[target[rows]]
        order = np.argsort(slot, kind="stable")
        self._rows = rows[order]
        self._slots: list[int] = slot[order].tolist()
        self._names = names
        self._target: list[int] = target[self._rows].tolist()
        self._ends = np.cumsum(np.bincount(source[rows], minlength=len(names))).tolist()

    def targets(self, source: int) -> frozenset[int]:
        """The targets of this source's facts."""
        first = self._ends[source - 1] if source else 0
        return frozenset(self._target[first : self._ends[source]])

    def names(self, source: int) -> set[str]:
        """Their names."""
        return set(map(self._names.__getitem__, self.targets(source)))

    def rows(self, source: int, name: str) -> list[int]:
        """All of these facts, ascending."""
        slot = self._slot(source, name)
        first = bisect_left(self._slots, slot)
        end = bisect_right(self._slots, slot, first)
        found: list[int] = self._rows[first:end].tolist()
        return found

    def _slot(self, source: int, name: str) -> int:
        code = self._code_of.get(name)
        return -2 if code is None else source * len(self._code_of) + code
