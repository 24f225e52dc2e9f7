"""The journal of a room: what runs change in Graphiti's own data, written before they do.

A hash beside the ledger and not a part of the archive's graph: an entry is written in the same
transaction as the ledger's entries about the same change.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from synapse.errors import LockLost, shown
from synapse.store.keys import ENTRIES_PER_TRIP, Connection, parsed_together, raw, room_key
from synapse.store.lock import IF_MINE

_APPEND = IF_MINE.format("'HSET',KEYS[2],ARGV[2],ARGV[3]").replace("end return 0", "end return -1")


def append_journal(
    connection: Connection, graph: str, run_id: str, entry: Mapping[str, Any], lock_token: str
) -> None:
    """Write one run's entry, if the run holds the lock."""
    keys = room_key(graph, "lock"), room_key(graph, "journal")
    written = connection.eval(
        _APPEND, len(keys), *keys, lock_token, raw(run_id), json.dumps(dict(entry))
    )
    if written < 0:
        raise LockLost(f"the lock on {shown(graph)} passed to another run; nothing was written")


def queue_journal(pipe: Connection, graph: str, entries: Mapping[str, Any]) -> None:
    """Add entries to a transaction, by run id."""
    if entries:
        written = {raw(run_id): json.dumps(entry) for run_id, entry in entries.items()}
        pipe.hset(room_key(graph, "journal"), mapping=written)


def read_journal(connection: Connection, graph: str) -> dict[str, dict[str, Any]]:
    """All entries, by run id."""
    entries = list(connection.hscan_iter(room_key(graph, "journal"), count=ENTRIES_PER_TRIP))
    return parsed_together(entries, graph, "journal", lambda entry: isinstance(entry, dict))
