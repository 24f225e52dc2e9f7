"""Rows of varying length, as two columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ragged:
    """Rows of varying length: row ``i`` is ``values[offsets[i]:offsets[i + 1]]``.

    >>> rows = Ragged.from_lists([[3, 4], [], [5]])
    >>> rows.counts().tolist(), rows.row_numbers().tolist(), rows[0].tolist()
    ([2, 0, 1], [0, 0, 2], [3, 4])
    """

    offsets: Ints
    """Shape (rows + 1,), from 0 to the number of values."""
    values: Ints
    """Row after row."""

    @classmethod
    def from_lists(cls, lists: Sequence[Sequence[int]]) -> Ragged:
        """Pack a list of rows."""
        counts = np.fromiter((len(row) for row in lists), np.int64, len(lists))
        values = np.fromiter((v for row in lists for v in row), np.int64, int(counts.sum()))
        return cls.from_counts(counts, values)

    @classmethod
    def from_counts(cls, counts: Ints, values: Ints) -> Ragged:
        """Wrap values that stand row after row, given the length of each row."""
        offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        return cls(offsets, values)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> Ints:
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    def counts(self) -> Ints:
        """Length of each row, shape (rows,)."""
        return np.diff(self.offsets)

    def row_numbers(self) -> Ints:
        """The row each value belongs to, shape (values,)."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.counts())

    def take(self, rows: Ints) -> Ragged:
        """The given rows, in the given order."""
        counts = self.counts()[rows]
        shift = np.repeat(self.offsets[:-1][rows] - (np.cumsum(counts) - counts), counts)
        return Ragged.from_counts(counts, self.values[shift + np.arange(len(shift))])
