"""When facts of a graph ended: read, and written by comparing first.

Graphiti saves an edge as the copy that it read before it asked its language model, so between a
decision and its write a fact may have changed: got an end, another text, or an episode that says it
again. The statement itself compares: what another process has written meanwhile stays, and the
answer names the facts that were written.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from synapse.hippocampus.plan import EndChange, FactState
from synapse.store.cypher import batches, listed, with_rows
from synapse.store.lock import HeldLock

# redis-py types every reply as text or bytes and differs between releases; ours are bytes.
Connection = Any

# With labelled ends the planner would scan all nodes for each edge that it finds.
READ = (
    "UNWIND $rows AS u MATCH ()-[e:RELATES_TO {uuid: u}]->() "
    "RETURN collect([e.uuid, e.fact, e.valid_at, e.invalid_at, e.expired_at, e.episodes])"
)
_SAME = (
    "coalesce({0}.fact, '') = x[{1}][1] AND coalesce({0}.valid_at, '') = x[{1}][2] "
    "AND [coalesce({0}.invalid_at, ''), coalesce({0}.expired_at, '')] IN x[{1}][3] "
    "AND coalesce({0}.episodes, []) = x[{1}][4] "
)
_SET = "SET e.invalid_at = x[0], e.expired_at = x[1] RETURN collect([e.uuid])"
WRITE = (
    "UNWIND $rows AS x MATCH ()-[e:RELATES_TO {uuid: x[2][0]}]->() "
    f"WHERE {_SAME.format('e', 2)}{_SET}"
)
WRITE_BESIDE = (
    "UNWIND $rows AS x MATCH ()-[e:RELATES_TO {uuid: x[2][0]}]->() "
    "MATCH ()-[b:RELATES_TO {uuid: x[3][0]}]->() "
    f"WHERE {_SAME.format('e', 2)}AND {_SAME.format('b', 3)}{_SET}"
)


def read_facts(connection: Connection, graph: str, facts: Collection[str]) -> dict[str, FactState]:
    """These facts as they are now, by uuid; those that are gone are left out."""
    found: dict[str, FactState] = {}
    for rows in batches(sorted(filter(_can_be_named, facts))):
        # Only compact replies tell a list from its spelling.
        query = with_rows(rows, READ)
        reply = connection.execute_command("GRAPH.RO_QUERY", graph, query, "--compact")
        for uuid, text, *times, (_, episodes) in listed(reply):
            names = tuple(map(_text, episodes)) if isinstance(episodes, list) else ()
            valid_at, invalid_at, expired_at = map(_text_or_none, times)
            found[_text(uuid)] = FactState(_text(text), valid_at, invalid_at, expired_at, names)
    return found


def change_ends(graph: str, changes: Sequence[EndChange], lock: HeldLock) -> set[str]:
    """Write the ends of facts that are still what they were, beside replacements that are so too.

    Args:
        graph: its name.
        changes: at most one for each fact.
        lock: what writes; raises where it is lost.
    """
    named = [change for change in changes if _can_be_named(change.fact)]
    new_ends = {change.fact: (change.invalid_at or "", change.expired_at or "") for change in named}
    written: set[str] = set()
    for query, rows in (
        (WRITE, [_row(c) for c in named if c.by is None]),
        (WRITE_BESIDE, [_row_beside(c, new_ends) for c in named if c.by is not None]),
    ):
        for batch in batches(rows):
            asked = with_rows(batch, query)
            reply = lock.write("GRAPH.QUERY", graph, asked, "--compact")
            written.update(_text(uuid) for (uuid,) in listed(reply))
    return written


def _row(change: EndChange) -> list[Any]:
    return [change.invalid_at, change.expired_at, _compared(change.fact, change.before)]


def _row_beside(change: EndChange, new_ends: Mapping[str, tuple[str, str]]) -> list[Any]:
    assert change.by is not None and change.by_before is not None
    # What this call itself has ended before may still replace something.
    also = [new_ends[change.by]] if change.by in new_ends else []
    return [*_row(change), _compared(change.by, change.by_before, also)]


def _compared(uuid: str, state: FactState, also: Sequence[tuple[str, str]] = ()) -> list[Any]:
    ends = [(state.invalid_at or "", state.expired_at or ""), *also]
    return [uuid, state.text, state.valid_at or "", ends, list(state.episodes)]


def _can_be_named(uuid: str) -> bool:
    return "\0" not in uuid  # it would cut the query short


def _raw_text(raw: Any) -> str:
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)


def _text(cell: Sequence[Any]) -> str:
    return _text_or_none(cell) or ""


def _text_or_none(cell: Sequence[Any]) -> str | None:
    _, value = cell
    return None if value is None else _raw_text(value)
