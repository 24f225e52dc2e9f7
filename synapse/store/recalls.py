"""The part of a room that remembers recalls: their queue, what they add up to, and pins.

``recalls``   stream: one entry per recall set, until a run folds it
``profiles``  hash: memory uuid -> ``[asked, sum of ranks, first places, exposures,
              {source: count}, first time, last time, [hour, ...], [best rank in each, ...]]``,
              times in seconds and hours since 1970
``links``     hash: memory uuid -> ``{partner uuid: [[day since 1970, ...], further days], ...}``
``imported``  hash: digests of the recall sets that came from a log
``recorded:<recorder>``
              string: number of the last recall set that one recorder has written, for a week
``pins``      hash: memory uuid -> ``{"at_s": ..., "reason": ...}``
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, TypedDict, TypeVar

from synapse.errors import QueueFull, StoreError, UsageError, shown
from synapse.hippocampus.co_recall import CoRecall
from synapse.hippocampus.numeric import SECONDS_PER_DAY, SECONDS_PER_HOUR
from synapse.hippocampus.plan import ConsolidationPlan
from synapse.hippocampus.ports import Recorder
from synapse.hippocampus.recall import RecallProfile, RecallSet
from synapse.hippocampus.room import Pin
from synapse.store.keys import (
    ENTRIES_PER_TRIP,
    Connection,
    parsed,
    raw,
    room_key,
    shown_field,
    shown_key,
    stream_entries,
    text,
)

RECALLS_MAX_COUNT = 100_000
_IMPORTED_PER_TRIP = 250
_IMPORT = """
local new, waiting = 0, redis.call('XLEN', KEYS[1])
for i = 2, #ARGV, 2 do
  if redis.call('HEXISTS', KEYS[2], ARGV[i]) == 0 then
    if waiting + new >= tonumber(ARGV[1]) then return {new, 1} end
    redis.call('XADD', KEYS[1], '*', 'set', ARGV[i + 1])
    redis.call('HSET', KEYS[2], ARGV[i], '')
    new = new + 1
  end
end
return {new, 0}"""
_RECORDED_KEPT_S = 7 * 86_400
_RECORD = """
local known = tonumber(redis.call('GET', KEYS[2]) or '0')
for i = 2, #ARGV, 2 do
  if tonumber(ARGV[i]) > known then
    redis.call('XADD', KEYS[1], '*', 'set', ARGV[i + 1])
    known = tonumber(ARGV[i])
  end
end
redis.call('SET', KEYS[2], known, 'EX', ARGV[1])"""
_PARTS = ("profiles", "links")
_Value = TypeVar("_Value")


class Recollections(TypedDict):
    """The fields of a room that this part of it fills."""

    recalls: tuple[RecallSet, ...]
    profiles: dict[str, RecallProfile]
    links: dict[str, Mapping[str, CoRecall]]
    pins: dict[str, Pin]


def read_recollections(connection: Connection, graph: str) -> Recollections:
    """Recall sets that wait, and what the ones before add up to.

    Raises:
        StoreError: an entry is damaged; the sentence names it.
    """
    return {
        "recalls": tuple(_read_queue(connection, graph)),
        "profiles": dict(_read_hash(connection, graph, "profiles", _profile)),
        "links": dict(_read_hash(connection, graph, "links", _partners)),
        "pins": dict(_read_hash(connection, graph, "pins", _pin)),
    }


def record_recalls(
    connection: Connection, graph: str, recall_sets: Sequence[RecallSet], recorder: Recorder
) -> None:
    """Append to the queue that the next run folds.

    A recorder whose answer was late writes again, and finds its sets there: those up to its last
    number are left out, in one step with the rest.

    Raises:
        QueueFull: they would be more than may wait; none of them is recorded.
    """
    key = room_key(graph, "recalls")
    entries = [
        (number, _packed_set(recall_set))
        for number, recall_set in enumerate(recall_sets, recorder.first_number)
        if recall_set.ranks
    ]
    if entries and connection.xlen(key) + len(entries) > RECALLS_MAX_COUNT:
        raise queue_full(graph)
    keys = key, room_key(graph, f"recorded:{recorder.name}")
    for first in range(0, len(entries), ENTRIES_PER_TRIP):
        part = entries[first : first + ENTRIES_PER_TRIP]
        if recorder.name:
            numbered = [value for entry in part for value in entry]
            connection.eval(_RECORD, len(keys), *keys, _RECORDED_KEPT_S, *numbered)
            continue
        with connection.pipeline(transaction=len(part) > 1) as pipe:
            for _, packed in part:
                pipe.xadd(key, {"set": packed})
            pipe.execute()


def read_links(
    connection: Connection, graph: str, memories: Collection[str]
) -> dict[str, dict[str, CoRecall]]:
    """With which others these memories were recalled; those that never were are left out.

    Raises:
        StoreError: a field is damaged; the sentence names it.
    """
    return _read_some(connection, graph, "links", memories, _partners)


def import_recalls(connection: Connection, graph: str, recall_sets: Iterable[RecallSet]) -> int:
    """Append those recall sets that no import has appended before; return how many were new.

    Each set is appended in one step with the note of its digest, so that an import that was
    interrupted is simply run again.

    Raises:
        QueueFull: no more may wait; what came before is imported.
    """
    keys = room_key(graph, "recalls"), room_key(graph, "imported")
    wanted = [recall_set for recall_set in recall_sets if recall_set.ranks]
    imported_count = 0
    for first in range(0, len(wanted), _IMPORTED_PER_TRIP):
        values: list[Any] = []
        for recall_set in wanted[first : first + _IMPORTED_PER_TRIP]:
            values += [recall_set.digest, _packed_set(recall_set)]
        new_count, is_full = connection.eval(_IMPORT, len(keys), *keys, RECALLS_MAX_COUNT, *values)
        imported_count += new_count
        if is_full:
            raise queue_full(graph, imported_count)
    return imported_count


def queue_full(graph: str, taken_count: int = 0) -> QueueFull:
    """The sentence for a queue that takes no more."""
    return QueueFull(
        f"too many recalls wait on {shown(graph)}; run synapse consolidate, then try again",
        taken_count,
    )


def read_pins(connection: Connection, graph: str, memories: Collection[str]) -> dict[str, Pin]:
    """The pins of these memories; those that are not pinned are left out.

    Raises:
        StoreError: a field is damaged; the sentence names it.
    """
    return _read_some(connection, graph, "pins", memories, _pin)


def pin(connection: Connection, graph: str, memory: str, pin: Pin) -> bool:
    """Pin a memory, or pin it anew; say whether it was not pinned before."""
    value = json.dumps({"at_s": pin.at_s, "reason": pin.reason})
    return bool(connection.hset(room_key(graph, "pins"), raw(memory), value))


def unpin(connection: Connection, graph: str, memory: str) -> bool:
    """Take a pin back; say whether there was one."""
    return bool(connection.hdel(room_key(graph, "pins"), raw(memory)))


def queue_recollections(pipe: Connection, plan: ConsolidationPlan) -> None:
    """What a plan says about recalls, as part of its transaction."""
    packed = {
        "profiles": {raw(m): _packed_profile(p) for m, p in plan.profiles.items()},
        "links": {raw(m): json.dumps(p, separators=(",", ":")) for m, p in plan.links.items()},
    }
    gone = [raw(memory) for memory in sorted(plan.forgotten)]
    for name in _PARTS:
        key, values = room_key(plan.graph, name), list(packed[name].items())
        for first in range(0, len(values), ENTRIES_PER_TRIP):
            pipe.hset(key, mapping=dict(values[first : first + ENTRIES_PER_TRIP]))
        for first in range(0, len(gone), ENTRIES_PER_TRIP):
            pipe.hdel(key, *gone[first : first + ENTRIES_PER_TRIP])
    if plan.folded:
        # Whole nodes of the stream are dropped at once; entries that came later have greater ids.
        ms, _, number = plan.folded.partition("-")
        key = room_key(plan.graph, "recalls")
        pipe.xtrim(key, minid=f"{ms}-{int(number) + 1}", approximate=False)


def _read_queue(connection: Connection, graph: str) -> Iterator[RecallSet]:
    for entry_id, fields in stream_entries(connection, graph, "recalls"):
        yield _recall_set(graph, entry_id, fields)


def _recall_set(graph: str, entry_id: str, fields: Mapping[bytes, bytes]) -> RecallSet:
    try:
        ranks, source, at_s, asked = json.loads(fields[b"set"])
        pairs = tuple((uuid, rank) for uuid, rank in ranks)
        return RecallSet(pairs, source, float(at_s), bool(asked), entry_id)
    except (KeyError, TypeError, ValueError, RecursionError, UsageError) as error:
        key = shown_key(graph, "recalls")
        raise StoreError(f"entry {entry_id} of {key} is damaged; delete that entry") from error


def _packed_set(recall_set: RecallSet) -> str:
    values = (recall_set.ranks, recall_set.source, recall_set.at_s, recall_set.asked)
    return json.dumps(values, separators=(",", ":"))


def _read_hash(
    connection: Connection, graph: str, name: str, read: Callable[[Any], _Value]
) -> Iterator[tuple[str, _Value]]:
    for field, value in connection.hscan_iter(room_key(graph, name), count=ENTRIES_PER_TRIP):
        memory = text(field)
        yield memory, _understood(field, value, graph, name, read)


def _read_some(
    connection: Connection,
    graph: str,
    name: str,
    memories: Collection[str],
    read: Callable[[Any], _Value],
) -> dict[str, _Value]:
    if not memories:
        return {}
    wanted = sorted(memories)
    found = connection.hmget(room_key(graph, name), [raw(memory) for memory in wanted])
    return {
        memory: _understood(raw(memory), value, graph, name, read)
        for memory, value in zip(wanted, found, strict=True)
        if value is not None
    }


def _understood(
    field: bytes, value: bytes, graph: str, name: str, read: Callable[[Any], _Value]
) -> _Value:
    try:
        return read(parsed(value, graph, name, field))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        where = shown_field(graph, name, field)
        raise StoreError(f"{where} is damaged; delete that field") from error


def _profile(kept: Sequence[Any]) -> RecallProfile:
    if not isinstance(kept[4], Mapping):
        kept = _without_counted(kept)
    *counts, sources, first_s, latest_s, hours, ranks = kept
    searches, rank_sum, top1, exposures = map(int, counts)
    known_ranks = map(int, ranks[: len(hours)])
    best: dict[float, int] = {}
    for hour, rank in sorted(zip_longest(map(_finite, hours), known_ranks, fillvalue=0)):
        best[hour * SECONDS_PER_HOUR] = best.get(hour * SECONDS_PER_HOUR) or rank
    return RecallProfile(
        search_count=searches,
        rank_sum=rank_sum,
        top1_count=top1,
        exposure_count=exposures,
        sources={str(source): int(count) for source, count in sources.items()},
        first_s=None if first_s is None else _finite(first_s),
        latest_s=None if latest_s is None else _finite(latest_s),
        recent_s=tuple(best),
        recent_ranks=tuple(best.values()),
    )


def _without_counted(kept: Sequence[Any]) -> Sequence[Any]:
    """What earlier versions kept: the counted recalls to the second, and how many there were."""
    _, *counts, sources, first_s, counted_s, ranks = kept if len(kept) > 8 else (*kept, ())
    hours = [_finite(at_s) // SECONDS_PER_HOUR for at_s in counted_s]
    return *counts, sources, first_s, max(counted_s, default=None), hours, ranks


def _packed_profile(p: RecallProfile) -> str:
    counts = (p.search_count, p.rank_sum, p.top1_count, p.exposure_count)
    hours = [int(at_s // SECONDS_PER_HOUR) for at_s in p.recent_s]
    times = p.first_s, p.last_s, hours, p.ranks_of_recent()
    return json.dumps((*counts, dict(p.sources), *times), separators=(",", ":"))


def _partners(kept: Mapping[str, Any]) -> dict[str, CoRecall]:
    return {other: _co_recall(*known) for other, known in kept.items()}


def _co_recall(days: Any, rest: Any) -> CoRecall:
    if isinstance(days, list) and days:
        return CoRecall(tuple(sorted(int(_finite(day)) for day in days)), int(rest))
    # Earlier versions kept how often, and when last.
    return CoRecall((int(_finite(rest) // SECONDS_PER_DAY),), max(1, int(days)) - 1)


def _pin(kept: Mapping[str, Any]) -> Pin:
    return Pin(_finite(kept["at_s"]), str(kept["reason"]))


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{number} is no time")
    return number
