"""Traces: what Synapse keeps about each memory, as one table.

Its rows stand in the order of the last two bytes of their keys, then of the rest: that is how a
store keeps them, so that it need not sort what it reads.

A trace is time-invariant. Strength at any moment follows from it by formula, so an unchanged
graph needs no write at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from synapse.hippocampus.memory_keys import Keys
from synapse.hippocampus.model import Bools, Floats, Ints

TRACE_DTYPE = np.dtype(
    [
        ("key", "S16"),
        ("kind", "u1"),
        ("ended", "u1"),
        ("last_touch_s", "<f8"),
        ("frequency", "<f4"),
        ("correction", "<f4"),
        ("emotion", "<f4"),
        ("stability", "<f4"),
        ("association", "<f4"),
        ("bonus", "<f4"),
        ("share", "<f4"),
        ("interference", "<f4"),
    ]
)
"""One trace: everything about a memory that does not depend on the present moment."""

_SLAB_ROWS_COUNT = 65_536
"""Rows that are copied at a time."""

TraceTable = npt.NDArray[np.void]
"""Rows of :data:`TRACE_DTYPE`, in order, keys unique."""


def empty_traces() -> TraceTable:
    """A table without rows."""
    return np.zeros(0, TRACE_DTYPE)


def trace_table(keys: Keys, columns: Mapping[str, npt.NDArray[np.generic]]) -> TraceTable:
    """Build the table from aligned columns.

    Args:
        keys: shape (memories,), see :func:`~synapse.hippocampus.memory_keys.memory_keys`.
        columns: one array of shape (memories,) for each other field of the dtype.

    >>> table = trace_table(np.array([b"b", b"a"]), {"frequency": np.array([0.5, 0.25])})
    >>> table["key"].tolist(), table["frequency"].tolist()
    ([b'a', b'b'], [0.25, 0.5])
    """
    order = key_order(keys)
    table = np.zeros(len(keys), TRACE_DTYPE)
    table["key"] = keys[order]
    for name, column in columns.items():
        table[name] = column[order]
    return table


def rows_at(table: TraceTable, rows: Ints) -> TraceTable:
    """The given rows, in the given order.

    >>> rows_at(trace_table(np.array([b"a", b"b"]), {}), np.array([1]))["key"].tolist()
    [b'b']
    """
    # Taking whole rows as bytes is several times as fast as taking their fields one by one.
    return _row_bytes(table)[rows].view(TRACE_DTYPE)


def columns_at(table: TraceTable, rows: Ints, names: Sequence[str]) -> dict[str, Floats]:
    """Some columns of the given rows, in the given order.

    >>> table = trace_table(np.array([b"a", b"b"]), {"stability": np.array([1.0, 2.0])})
    >>> columns_at(table, np.array([1, 0]), ["stability"])["stability"].tolist()
    [2.0, 1.0]
    """
    columns = {name: np.empty(len(rows)) for name in names}
    for slab in _slabs(len(rows)):
        own = rows_at(table, rows[slab])
        for name, column in columns.items():
            column[slab] = own[name]
    return columns


def key_order(keys: Keys) -> Ints:
    """The rows in the order of the table.

    >>> key_order(np.array([b"b" * 16, b"a" * 16, b"c" * 14])).tolist()
    [2, 1, 0]
    """
    # Sorting integers is several times faster than sorting 16-byte strings; keys that share
    # their first 8 bytes are rare but legal.
    heads = _heads(keys)
    order = np.argsort(heads)
    ordered = heads[order]
    if (ordered[1:] == ordered[:-1]).any():
        return np.argsort(_places(keys), kind="stable")
    return order


def are_surely_in_order(keys: Keys) -> bool:
    """Whether already the first halves of the keys, as the table is ordered, ascend.

    >>> keys = np.array([b"c" * 14, b"a" * 16])
    >>> are_surely_in_order(keys), are_surely_in_order(keys[::-1])
    (True, False)
    """
    heads = _heads(keys)
    return bool((heads[1:] > heads[:-1]).all())


def are_surely_distinct(keys: Keys) -> bool:
    """Whether already the first halves of the keys, as the table is ordered, are all different.

    >>> are_surely_distinct(np.array([b"a", b"b"])), are_surely_distinct(np.array([b"a", b"a"]))
    (True, False)
    """
    heads = np.sort(_heads(keys))
    return not (heads[1:] == heads[:-1]).any()


def rows_of(table: TraceTable, keys: Keys) -> Ints | None:
    """The row of the table for each key; ``None`` if one has none.

    >>> table = trace_table(np.array([b"a" * 16, b"b" * 16]), {})
    >>> rows_of(table, np.array([b"b" * 16])).tolist(), rows_of(table, np.array([b"c" * 16]))
    ([1], None)
    """
    order = key_order(keys)
    if len(table) == len(keys) and (table["key"] == keys[order]).all():
        rows = np.empty(len(keys), np.int64)
        rows[order] = np.arange(len(keys))
        return rows
    if not len(table):
        return None
    rows = np.minimum(np.searchsorted(_places(table["key"]), _places(keys)), len(table) - 1)
    return rows if (table["key"][rows] == keys).all() else None


def changed_rows(before: TraceTable, after: TraceTable) -> Bools:
    """Which rows of ``after`` are new or differ from ``before``, shape (len(after),).

    >>> old = trace_table(np.array([b"a", b"b"]), {"stability": np.array([1.0, 1.0])})
    >>> new = trace_table(np.array([b"a", b"b"]), {"stability": np.array([1.0, 2.0])})
    >>> changed_rows(old, new).tolist(), changed_rows(new, new).any().item()
    ([False, True], False)
    """
    if len(before) == 0 or len(after) == 0:
        return np.ones(len(after), np.bool_)
    differs: Bools
    if len(before) == len(after) and (before["key"] == after["key"]).all():
        differs = _row_bytes(before) != _row_bytes(after)
    else:
        place = np.searchsorted(_places(before["key"]), _places(after["key"]))
        place = np.minimum(place, len(before) - 1)
        old, new = _row_bytes(before), _row_bytes(after)
        differs = np.concatenate([old[place[slab]] != new[slab] for slab in _slabs(len(new))])
    return differs


def removed_keys(before: TraceTable, after: TraceTable) -> Keys:
    """Keys of ``before`` that ``after`` no longer has.

    >>> old, new = (trace_table(np.array(keys), {}) for keys in ([b"a", b"c", b"d"], [b"b", b"c"]))
    >>> removed_keys(old, new).tolist(), removed_keys(new, new).tolist()
    ([b'a', b'd'], [])
    """
    old, new = before["key"], after["key"]
    if len(old) == 0 or len(new) == 0:
        return old
    place = np.minimum(np.searchsorted(_places(new), _places(old)), len(new) - 1)
    gone: Keys = old[new[place] != old]
    return gone


def _slabs(count: int) -> Iterator[slice]:
    return (slice(i, i + _SLAB_ROWS_COUNT) for i in range(0, count, _SLAB_ROWS_COUNT))


def _heads(keys: Keys) -> npt.NDArray[np.uint64]:
    """The first half of each place."""
    first, last = np.ascontiguousarray(keys, "S16").view(">u8").astype(np.uint64).reshape(-1, 2).T
    return (last << np.uint64(48)) | (first >> np.uint64(16))


def _places(keys: Keys) -> Keys:
    """The keys with their last two bytes first: in the order of the table."""
    cells = np.ascontiguousarray(keys, "S16").view(np.uint8).reshape(-1, 16)
    return np.roll(cells, 2, axis=1).reshape(-1).view("S16")


def _row_bytes(table: TraceTable) -> npt.NDArray[np.void]:
    return np.ascontiguousarray(table).view(f"V{TRACE_DTYPE.itemsize}")
