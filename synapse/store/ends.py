"""When facts of a graph ended: read, and written by comparing first.

Graphiti saves an edge as the copy that it read before it asked its language model, so between a
decision and its write a fact may have changed. The statement itself compares: what another
process has written meanwhile stays, and the answer names the facts that were written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from synapse.hippocampus.plan import EndChange, FactState
from synapse.store.cypher import batches, with_rows

# redis-py types every reply as text or bytes and differs between releases; ours are bytes.
Connection = Any

# With labelled ends the planner would scan all nodes for each edge that it finds.
READ = (
    "UNWIND $rows AS u MATCH ()-[e:RELATES_TO {uuid: u}]->() "
    "RETURN e.uuid, e.fact, e.valid_at, e.invalid_at, e.expired_at"
)
WRITE = (
    "UNWIND $rows AS x MATCH ()-[e:RELATES_TO {uuid: x[0]}]->() "
    "WHERE coalesce(e.invalid_at, '') = x[1] AND coalesce(e.expired_at, '') = x[2] "
    "SET e.invalid_at = x[3], e.expired_at = x[4] RETURN e.uuid"
)


def read_facts(connection: Connection, graph: str, facts: Collection[str]) -> dict[str, FactState]:
    """These facts as they are now, by uuid; those that are gone are left out."""
    found: dict[str, FactState] = {}
    for rows in batches(sorted(filter(_can_be_named, facts))):
        reply = connection.execute_command("GRAPH.RO_QUERY", graph, with_rows(rows, READ))
        for uuid, text, *times in reply[1]:
            found[_text(uuid)] = FactState(_text(text), *map(_text_or_none, times))
    return found


def change_ends(
    connection: Connection, graph: str, changes: Sequence[EndChange], check_lock: Callable[[], None]
) -> set[str]:
    """Write the ends that are still what they were.

    Args:
        connection: a client that answers with bytes.
        graph: its name.
        changes: at most one for each fact.
        check_lock: called before each query; raises where the lock is lost.
    """
    written: set[str] = set()
    for rows in batches(_row(change) for change in changes if _can_be_named(change.fact)):
        check_lock()
        reply = connection.execute_command("GRAPH.QUERY", graph, with_rows(rows, WRITE))
        written.update(_text(uuid) for (uuid,) in reply[1])
    return written


def _row(change: EndChange) -> list[str | None]:
    before = change.before
    known = (before.invalid_at or "", before.expired_at or "")
    return [change.fact, *known, change.invalid_at, change.expired_at]


def _can_be_named(uuid: str) -> bool:
    return "\0" not in uuid  # it would cut the query short


def _text(cell: Any) -> str:
    return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell or "")


def _text_or_none(cell: Any) -> str | None:
    return None if cell is None else _text(cell)
