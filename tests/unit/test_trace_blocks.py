"""Packing traces into blocks and back."""

from __future__ import annotations

import uuid

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.errors import StoreError
from synapse.hippocampus.memory_keys import memory_keys
from synapse.hippocampus.traces import (
    TRACE_DTYPE,
    TraceTable,
    changed_rows,
    removed_keys,
    trace_table,
)
from synapse.store.trace_blocks import RECORD_BYTES, Blocks, bucket_and_field, decode, encode

# Few distinct bytes, zeros among them, so that keys meet in blocks and end in zeros.
key_bytes = st.lists(st.sampled_from([0, 0, 1, 255]), min_size=16, max_size=16).map(bytes)
traces = st.dictionaries(key_bytes, st.floats(width=32, allow_nan=False), max_size=40)


def table(rows: dict[bytes, float]) -> TraceTable:
    keys = np.frombuffer(b"".join(rows), "S16")
    return trace_table(keys, {"stability": np.array(list(rows.values()))})


def random_table(count: int, seed: int = 0) -> TraceTable:
    random = np.random.default_rng(seed)
    keys = np.frombuffer(random.bytes(16 * count), "S16")
    return trace_table(
        keys, {"frequency": random.random(count), "last_touch_s": random.random(count)}
    )


def merged(kept: Blocks, written: Blocks) -> Blocks:
    """What a store holds after a write."""
    after = {bucket: dict(fields) for bucket, fields in kept.items()}
    for bucket, fields in written.items():
        after.setdefault(bucket, {}).update(fields)
    return {b: {f: v for f, v in fields.items() if v} for b, fields in after.items()}


def test_a_record_is_58_bytes_of_fixed_layout() -> None:
    assert RECORD_BYTES == 58
    row = np.zeros(1, TRACE_DTYPE)
    row["key"] = b"0123456789abcdef"
    row["kind"], row["ended"], row["last_touch_s"], row["frequency"] = 1, 2, 3.0, 0.5
    ((_, fields),) = encode(row).items()
    assert fields == {
        b"f": b"0123456789abcdef\x01\x02"
        + np.array([3.0], "<f8").tobytes()
        + np.array([0.5, 0, 0, 0, 0, 0, 0, 0], "<f4").tobytes()
    }


@given(traces)
def test_decoding_gives_back_what_was_encoded(rows: dict[bytes, float]) -> None:
    assert decode(encode(table(rows))).tobytes() == table(rows).tobytes()


@given(traces, traces)
def test_writing_the_changes_equals_writing_all(
    before: dict[bytes, float], after: dict[bytes, float]
) -> None:
    old, new = table(before), table(after)
    written = encode(new, changed_rows(old, new), removed_keys(old, new))
    assert decode(merged(encode(old), written)).tobytes() == new.tobytes()


@given(traces, traces)
def test_only_blocks_that_change_are_written(
    before: dict[bytes, float], after: dict[bytes, float]
) -> None:
    old, new = encode(table(before)), encode(table(after))
    changed = changed_rows(table(before), table(after))
    written = encode(table(after), changed, removed_keys(table(before), table(after)))
    places = {(b, f) for blocks in (old, new) for b, fields in blocks.items() for f in fields}
    for bucket, field in places:
        was, becomes = (blocks.get(bucket, {}).get(field, b"") for blocks in (old, new))
        assert (field in written.get(bucket, {})) == (was != becomes)


def test_a_block_that_lost_its_last_record_becomes_empty() -> None:
    old = random_table(1)
    key = old["key"].tobytes()
    written = encode(old[:0], np.zeros(0, np.bool_), old["key"])
    assert written == {key[14]: {key[15:]: b""}}
    assert len(decode(written)) == 0


def test_an_unchanged_table_writes_nothing() -> None:
    unchanged = random_table(1000)
    assert encode(unchanged, np.zeros(1000, np.bool_), np.zeros(0, "S16")) == {}


def test_records_stand_in_key_order_in_their_own_block() -> None:
    for bucket, fields in encode(random_table(20_000)).items():
        for field, records in fields.items():
            keys = [records[i : i + 16] for i in range(0, len(records), RECORD_BYTES)]
            assert keys == sorted(keys)
            assert {bucket_and_field(key) for key in keys} == {(bucket, field)}


@pytest.mark.parametrize("version", [4, 7])
def test_uuids_fill_the_blocks_evenly(version: int) -> None:
    random = np.random.default_rng(1)
    uuids = [str(uuid.UUID(bytes=random.bytes(16), version=4)) for _ in range(30_000)]
    if version == 7:  # made in one second: the first six bytes are nearly alike
        uuids = ["01920000-" + u[9:14] + "7" + u[15:] for u in uuids]
    blocks = encode(trace_table(memory_keys(uuids), {}))
    assert max(len(v) for fields in blocks.values() for v in fields.values()) <= 10 * RECORD_BYTES
    assert len(blocks) == 256


def test_keys_with_equal_first_halves_are_sorted() -> None:
    keys = [b"sameself" + bytes([i, 255 - i]) * 4 for i in range(200, 0, -1)]
    rows = dict.fromkeys(keys, 1.0)
    assert decode(encode(table(rows)))["key"].tolist() == sorted(keys)


def test_a_torn_block_is_named() -> None:
    blocks = {10: {b"\x1f": b"x" * (RECORD_BYTES + 1)}}
    with pytest.raises(StoreError, match=r"mine:traces:0a is damaged at field 1f"):
        decode(blocks, "mine:traces:")


def test_a_large_table_survives() -> None:
    large = random_table(600_000)
    assert decode(encode(large)).tobytes() == large.tobytes()


def test_a_key_does_not_depend_on_the_uuids_beside_it() -> None:
    random = np.random.default_rng(3)
    uuids = [str(uuid.UUID(bytes=random.bytes(16))) for _ in range(20_000)]
    uuids[5], uuids[12_000] = "api", uuids[5].upper()
    alone = [memory_keys([each]) for each in uuids]
    assert memory_keys(uuids).tobytes() == np.concatenate(alone).tobytes()
