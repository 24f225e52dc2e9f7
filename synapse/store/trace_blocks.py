"""How a table of traces is packed into Redis values.

A block is the records of all traces whose keys share their last two bytes, one after another in
key order. The last byte but one names the block's bucket (one Redis hash), the last byte its
field in that hash. Both bytes are random in UUIDs of version 4 and 7 and in digests, so blocks
fill evenly: one record each in a small graph, about nine at 600,000 traces. Writing a change
touches only its own block, and looking up 40 memories fetches 40 small values.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from synapse.errors import StoreError
from synapse.hippocampus.memory_keys import Keys
from synapse.hippocampus.model import Bools
from synapse.hippocampus.traces import (
    TRACE_DTYPE,
    TraceTable,
    are_surely_in_order,
    empty_traces,
    key_order,
    rows_at,
)

BUCKETS_COUNT = 256
RECORD_BYTES = TRACE_DTYPE.itemsize
_SLOTS_COUNT = BUCKETS_COUNT * 256

Blocks = dict[int, dict[bytes, bytes]]
"""Bucket -> field (one byte) -> records. Empty records stand for a block to be removed."""


def bucket_and_field(key: bytes) -> tuple[int, bytes]:
    """Where the trace of one memory is kept.

    >>> bucket_and_field(bytes(14) + b"\\x0a\\x1f")
    (10, b'\\x1f')
    """
    padded = key.ljust(16, b"\0")
    return padded[14], padded[15:16]


def encode(
    table: TraceTable, only_rows: Bools | None = None, removed: Keys | None = None
) -> Blocks:
    """The new content of every block that holds a marked row or has lost a removed key.

    Args:
        table: all traces, as they are to be.
        only_rows: shape (len(table),), the rows that changed; ``None`` marks all.
        removed: keys that the table no longer has.

    >>> from synapse.hippocampus.traces import trace_table
    >>> table = trace_table(np.array([b"a", b"b" * 16]), {})
    >>> encode(table, np.array([True, False]), np.array([b"c" * 16]))[99]
    {b'c': b''}
    """
    slots = _slots(table["key"])
    dirty = np.zeros(_SLOTS_COUNT, np.bool_)
    dirty[slots if only_rows is None else slots[only_rows]] = True
    if removed is not None:
        dirty[_slots(removed)] = True
    rows = np.flatnonzero(dirty[slots])
    order = rows[np.argsort(slots[rows], kind="stable")]
    packed = rows_at(table, order).view(np.uint8).data  # each byte is copied only once
    ends = np.cumsum(np.bincount(slots[rows], minlength=_SLOTS_COUNT)) * RECORD_BYTES
    dirty_slots = np.flatnonzero(dirty)
    starts = np.concatenate(([0], ends[:-1]))[dirty_slots]
    blocks: Blocks = {}
    for slot, start, end in zip(
        dirty_slots.tolist(), starts.tolist(), ends[dirty_slots].tolist(), strict=True
    ):
        bucket, field = divmod(slot, 256)
        blocks.setdefault(bucket, {})[bytes((field,))] = bytes(packed[start:end])
    return blocks


def decode(blocks: Mapping[int, Mapping[bytes, bytes]], where: str = "traces:") -> TraceTable:
    """The table that the blocks hold.

    Args:
        blocks: as :func:`encode` makes them; any part of the whole will do.
        where: prefix of the buckets' names, for the error.

    Raises:
        StoreError: a block is not a whole number of records.

    >>> from synapse.hippocampus.traces import trace_table
    >>> table = trace_table(np.array([b"b" * 16, b"a\\0"]), {"frequency": np.array([0.5, 0.25])})
    >>> decode(encode(table)) == table
    array([ True,  True])
    """
    values = []
    for bucket, fields in sorted(blocks.items()):
        for field in sorted(fields):
            value = fields[field]
            if len(value) % RECORD_BYTES:
                raise StoreError(
                    f"the hash {where}{bucket:02x} is damaged at field {field.hex()}; "
                    "delete it and consolidate again"
                )
            values.append(value)
    packed = b"".join(values)
    if not packed:
        return empty_traces()
    table = np.frombuffer(packed, TRACE_DTYPE)
    in_order = are_surely_in_order(table["key"])
    return table if in_order else rows_at(table, key_order(table["key"]))


def _key_bytes(keys: Keys) -> npt.NDArray[np.uint8]:
    """Shape (len(keys), 16). Indexing an ``S16`` array would drop trailing zero bytes."""
    flat = np.ascontiguousarray(keys, dtype="S16")
    return flat.view(np.uint8).reshape(len(flat), 16)


def _slots(keys: Keys) -> npt.NDArray[np.uint16]:
    cells = _key_bytes(keys)
    return cells[:, 14].astype(np.uint16) * np.uint16(256) + cells[:, 15]
