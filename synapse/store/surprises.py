"""The queue of a room in which surprises wait for the next run.

``surprises``  stream: one entry per prediction error that was noticed during ingestion
``noticed``    hash: digests of the episodes and events whose prediction errors were recorded, so
               that none counts twice
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from synapse.errors import StoreError
from synapse.hippocampus.plan import ConsolidationPlan
from synapse.hippocampus.room import Surprise
from synapse.store.keys import Connection, raw, room_key, shown_key, stream_entries, text

_SURPRISES_MAX_COUNT = 100_000
_NOTICE = """
if ARGV[1] ~= '' and redis.call('HSETNX', KEYS[2], ARGV[1], '') == 0 then return 0 end
for i = 3, #ARGV, 7 do
  if ARGV[i + 6] == '' or redis.call('HSETNX', KEYS[2], ARGV[i + 6], '') == 1 then
    redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[2], '*', 'fact', ARGV[i], 'against', ARGV[i + 1],
      'rule', ARGV[i + 2], 'surprise_ratio', ARGV[i + 3], 'at_s', ARGV[i + 4], 'kind', ARGV[i + 5])
  end
end
return 1"""


def record_surprises(
    connection: Connection, graph: str, noticed: Mapping[str, Sequence[Surprise]]
) -> int:
    """Append to the queue that the next run drains; the oldest fall out beyond 100,000.

    What an episode has brought is appended in one step with the note that it was: told again, it
    adds nothing. Nor does an event that another episode has told.

    Args:
        connection: to the server.
        graph: the graph.
        noticed: by the uuid of the episode, what was noticed in it; without a uuid it is appended
            whenever it is told.

    Returns:
        Of how many episodes they were recorded; those told before are not among them.
    """
    keys = room_key(graph, "surprises"), room_key(graph, "noticed")
    pipe = connection.pipeline(transaction=False)
    for episode, surprises in noticed.items():
        fields = [field for surprise in surprises for field in _fields(surprise)]
        first = _noticed(episode), _SURPRISES_MAX_COUNT
        pipe.eval(_NOTICE, len(keys), *keys, *first, *fields)
    return sum(pipe.execute())


def read_surprises(connection: Connection, graph: str) -> Iterator[Surprise]:
    """Every surprise that waits, the oldest first.

    Raises:
        StoreError: an entry is damaged.
    """
    for entry_id, fields in stream_entries(connection, graph, "surprises"):
        yield _surprise(graph, entry_id, fields)


def queue_surprises(pipe: Connection, plan: ConsolidationPlan) -> None:
    """Add to a transaction that the surprises of which the plan takes account wait no longer."""
    if plan.surprises:
        pipe.xdel(room_key(plan.graph, "surprises"), *plan.surprises)


def _fields(surprise: Surprise) -> tuple[Any, ...]:
    return (
        raw(surprise.fact), raw(surprise.against), raw(surprise.rule),
        repr(float(surprise.surprise_ratio)), repr(float(surprise.at_s)), surprise.kind,
        _noticed(surprise.event),
    )  # fmt: skip


def _noticed(name: str) -> bytes:
    return blake2b(raw(name), digest_size=12).digest() if name else b""


def _surprise(graph: str, entry_id: str, fields: dict[bytes, bytes]) -> Surprise:
    try:
        return Surprise(
            fact=text(fields[b"fact"]),
            against=text(fields[b"against"]),
            rule=text(fields[b"rule"]),
            surprise_ratio=float(fields[b"surprise_ratio"]),
            at_s=float(fields[b"at_s"]),
            kind=text(fields.get(b"kind", b"contradicts")),
            id=entry_id,
        )
    except (KeyError, ValueError) as error:
        key = shown_key(graph, "surprises")
        raise StoreError(f"entry {entry_id} of {key} is damaged; delete that entry") from error
