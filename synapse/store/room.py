"""Synapse's room beside a graph: plain Redis keys under ``synapse:{<graph>}:``.

===================  ======  ==================================================================
``meta``             hash    schema_version, revision, config_digest, last_run, memo,
                             traces_count, failures
``traces:00``-``ff`` hashes  blocks of packed traces, see :mod:`~synapse.store.trace_blocks`
``ledger``           hash    fact uuid -> JSON of what Synapse decided about it
``journal``          hash    run id -> JSON of what the run changes in Graphiti's own data
``surprises``        stream  prediction errors, see :mod:`~synapse.store.surprises`
``noticed``          hash    digests of episodes and events whose prediction errors were recorded
``recalls``          stream  recall sets, not yet folded, see :mod:`~synapse.store.recalls`
``imported``         hash    digests of the recall sets that were imported from logs
``profiles``         hash    memory uuid -> JSON of how it was recalled
``links``            hash    memory uuid -> JSON of the memories it was recalled together with
``pins``             hash    memory uuid -> JSON of who wanted it kept, and why
``archive``          hash    number of an entry -> an archived memory as bytes, see
                             :mod:`~synapse.store.archive_contents`
``lock``             string  token of the run at work; expires by itself
===================  ======  ==================================================================

Deleting these keys removes Synapse. What a user of the server needs stands in
:mod:`~synapse.store.rights`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from redis.exceptions import WatchError

from synapse.errors import LockLost, StoreError, shown
from synapse.hippocampus.kept_ledger import KeptLedger, as_kept
from synapse.hippocampus.ledger import is_decision
from synapse.hippocampus.memory_keys import Keys
from synapse.hippocampus.plan import Change, ConsolidationPlan
from synapse.hippocampus.room import Room, RoomSummary
from synapse.hippocampus.traces import TraceTable, empty_traces
from synapse.store.journal import queue_journal
from synapse.store.keys import (
    ENTRIES_PER_TRIP,
    Connection,
    parsed,
    parsed_together,
    raw,
    room_key,
    shown_field,
    shown_key,
)
from synapse.store.lock import lock_holder, refuse_without_lock, require_transactions
from synapse.store.recalls import queue_recollections, read_recollections
from synapse.store.surprises import queue_surprises, read_surprises
from synapse.store.trace_blocks import BUCKETS_COUNT, Blocks, bucket_and_field, decode, encode

SCHEMA_VERSION = 1
_ATTEMPTS_COUNT = 10
# A server handles everything that one round trip carries before it turns to other clients:
# 16 hashes of a room with 600,000 traces keep it busy for about 2 ms.
_BUCKETS_PER_TRIP = 16


def read_room(connection: Connection, graph: str) -> Room:
    """Everything that is kept beside the graph, all of one revision.

    Raises:
        StoreError: the room is damaged, or was written by a newer Synapse.
    """
    for _ in range(_ATTEMPTS_COUNT):
        meta = _read_meta(connection, graph)
        revision = _integer(meta, "revision", graph)
        room = Room(
            revision=revision,
            traces=_read_traces(connection, graph) if revision else empty_traces(),
            ledger=_read_ledger(connection, graph) if revision else {},
            surprises=tuple(read_surprises(connection, graph)),
            **read_recollections(connection, graph),
            last_run=_object(meta, "last_run", graph),
            memo=_object(meta, "memo", graph),
            failures_count=_integer(meta, "failures", graph),
        )
        if not revision or _revision(connection, graph) == revision:
            return room
    raise StoreError(f"the room of {shown(graph)} changes while it is read; try again later")


def summarize_room(connection: Connection, graph: str) -> RoomSummary:
    """Sizes and last run, without reading the traces."""
    meta = _read_meta(connection, graph)
    with connection.pipeline(transaction=False) as pipe:
        pipe.hlen(room_key(graph, "ledger"))
        pipe.xlen(room_key(graph, "surprises"))
        pipe.xlen(room_key(graph, "recalls"))
        pipe.hlen(room_key(graph, "profiles"))
        pipe.hlen(room_key(graph, "pins"))
        ledger, surprises, recalls, recalled, pins = pipe.execute()
    return RoomSummary(
        traces_count=_integer(meta, "traces_count", graph),
        ledger_count=ledger,
        surprises_count=surprises,
        recalls_count=recalls,
        recalled_count=recalled,
        pins_count=pins,
        revision=_integer(meta, "revision", graph),
        failures_count=_integer(meta, "failures", graph),
        last_run=_object(meta, "last_run", graph),
        lock_holder=lock_holder(connection, graph),
    )


def apply(connection: Connection, plan: ConsolidationPlan, lock_token: str) -> None:
    """Write the plan in one transaction.

    Raises:
        LockLost: another run holds the lock or has written since the plan was made.
    """
    lock, meta = room_key(plan.graph, "lock"), room_key(plan.graph, "meta")
    blocks = encode(plan.traces, plan.changed, plan.removed)
    with connection.pipeline(transaction=True) as pipe:
        require_transactions(pipe)
        for _ in range(_ATTEMPTS_COUNT):
            pipe.watch(lock, meta)
            _refuse_if_overtaken(pipe, plan, lock_token)
            pipe.multi()
            _queue_traces(pipe, plan.graph, blocks)
            _queue_ledger(pipe, plan.graph, plan.ledger)
            queue_recollections(pipe, plan)
            queue_journal(pipe, plan.graph, plan.journal)
            queue_surprises(pipe, plan)
            _queue_meta(pipe, plan)
            try:
                pipe.execute()
            except WatchError:
                continue  # a lock extended or a failure counted in between is harmless
            return
    raise LockLost(f"the room of {shown(plan.graph)} kept changing; nothing was written")


def record_failure(connection: Connection, graph: str) -> int:
    """Count a failed run; return how many failed since one succeeded."""
    return int(connection.hincrby(room_key(graph, "meta"), "failures", 1))


def clear_failures(connection: Connection, graph: str) -> None:
    """Forget earlier failures; where there are none, nothing is written."""
    key = room_key(graph, "meta")
    if connection.hmget(key, "failures") != [None]:
        connection.hdel(key, "failures")


def _read_meta(connection: Connection, graph: str) -> dict[str, bytes]:
    fields = connection.hgetall(room_key(graph, "meta"))
    meta = {name.decode("utf-8", "replace"): value for name, value in fields.items()}
    if _integer(meta, "schema_version", graph) > SCHEMA_VERSION:
        raise StoreError(f"the room of {shown(graph)} was written by a newer Synapse; upgrade")
    return meta


def _revision(connection: Connection, graph: str) -> int:
    return _integer(_read_meta(connection, graph), "revision", graph)


def _read_traces(connection: Connection, graph: str) -> TraceTable:
    blocks: dict[int, dict[bytes, bytes]] = {}
    for first in range(0, BUCKETS_COUNT, _BUCKETS_PER_TRIP):
        buckets = range(first, first + _BUCKETS_PER_TRIP)
        with connection.pipeline(transaction=False) as pipe:
            for bucket in buckets:
                pipe.hgetall(room_key(graph, f"traces:{bucket:02x}"))
            blocks.update(zip(buckets, pipe.execute(), strict=True))
    return decode(blocks, shown_key(graph, "traces:"))


def read_some_traces(connection: Connection, graph: str, keys: Keys) -> TraceTable:
    """What is kept about some memories: one small block each."""
    fields: dict[int, set[bytes]] = {}
    for key in keys.tolist():
        bucket, field = bucket_and_field(key)
        fields.setdefault(bucket, set()).add(field)
    with connection.pipeline(transaction=False) as pipe:
        for bucket, wanted in fields.items():
            pipe.hmget(room_key(graph, f"traces:{bucket:02x}"), sorted(wanted))
        replies = pipe.execute()
    blocks = {
        bucket: {f: block for f, block in zip(sorted(wanted), reply, strict=True) if block}
        for (bucket, wanted), reply in zip(fields.items(), replies, strict=True)
    }
    traces = decode(blocks, shown_key(graph, "traces:"))
    return traces[np.isin(traces["key"], keys)]


def _read_ledger(connection: Connection, graph: str) -> KeptLedger:
    kept = dict(connection.hscan_iter(room_key(graph, "ledger"), count=ENTRIES_PER_TRIP))

    return KeptLedger(
        kept, lambda: parsed_together(list(kept.items()), graph, "ledger", is_decision)
    )


def _refuse_if_overtaken(pipe: Connection, plan: ConsolidationPlan, lock_token: str) -> None:
    graph = plan.graph
    refuse_without_lock(pipe, graph, lock_token)
    if _revision(pipe, graph) != plan.base_revision:
        raise LockLost(f"another run wrote the room of {shown(graph)}; nothing was written")


def _queue_traces(pipe: Connection, graph: str, blocks: Blocks) -> None:
    for bucket, fields in blocks.items():
        key = room_key(graph, f"traces:{bucket:02x}")
        kept = {field: records for field, records in fields.items() if records}
        if kept:
            pipe.hset(key, mapping=kept)
        if len(kept) < len(fields):
            pipe.hdel(key, *(fields.keys() - kept.keys()))


def _queue_ledger(pipe: Connection, graph: str, changes: Sequence[Change]) -> None:
    key = room_key(graph, "ledger")
    after = {raw(change.target): change.after for change in changes}
    kept = {fact: as_kept(entry) for fact, entry in after.items() if entry is not None}
    if kept:
        pipe.hset(key, mapping=kept)
    if len(kept) < len(after):
        pipe.hdel(key, *(after.keys() - kept.keys()))


def _queue_meta(pipe: Connection, plan: ConsolidationPlan) -> None:
    key = room_key(plan.graph, "meta")
    fields: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "revision": plan.base_revision + 1,
        "traces_count": len(plan.traces),
    }
    if not plan.interim:
        fields |= {"config_digest": plan.config_digest, "last_run": json.dumps(plan.run_record)}
        pipe.hdel(key, "failures")
    if plan.memo is not None:
        fields["memo"] = json.dumps(plan.memo)
    pipe.hset(key, mapping=fields)


def _integer(meta: dict[str, bytes], field: str, graph: str) -> int:
    try:
        return int(meta.get(field, 0))
    except ValueError as error:
        where = shown_field(graph, "meta", field.encode())
        raise StoreError(f"{where} is not a number; delete that field") from error


def _object(meta: dict[str, bytes], field: str, graph: str) -> dict[str, Any]:
    value = parsed(meta.get(field, b"{}"), graph, "meta", field.encode())
    if not isinstance(value, dict):
        where = shown_field(graph, "meta", field.encode())
        raise StoreError(f"{where} is no JSON object; delete that field")
    return value
