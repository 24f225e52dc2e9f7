"""Names and values in Synapse's room: keys, texts, JSON and numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from synapse.errors import StoreError, UnknownGraph, shown

# redis-py types every reply as text or bytes and differs between releases; ours are bytes.
Connection = Any

ENTRIES_PER_TRIP = 1000


_KINDS = {
    "meta": b"hash", "ledger": b"hash", "journal": b"hash", "surprises": b"stream",
    "noticed": b"hash", "recalls": b"stream", "imported": b"hash", "profiles": b"hash",
    "links": b"hash", "pins": b"hash", "archive": b"hash", "lock": b"string",
    "memory": b"graphdata", **{f"traces:{bucket:02x}": b"hash" for bucket in range(256)},
}  # fmt: skip
"""What kind of value each part of a room is."""


def room_key(graph: str, name: str) -> str:
    """The key that holds one part of a graph's room, in the same cluster slot as the graph.

    >>> room_key("my-agent", "meta")
    'synapse:{my-agent}:meta'
    """
    return f"synapse:{{{graph}}}:{name}"


def shown_key(graph: str, name: str) -> str:
    """The key as a sentence shows it."""
    return room_key(graph if len(graph) <= 40 else graph[:37] + "...", name)


def shown_field(graph: str, name: str, field: bytes) -> str:
    """A field of a hash of the room, and its key, as a sentence shows them."""
    return f"field {text(field)[:36]} of {shown_key(graph, name)}"


def misplaced_key(connection: Connection, graph: str) -> str | None:
    """The first key of a room that holds another kind of value than it should, as shown."""
    with connection.pipeline(transaction=False) as pipe:
        for name in _KINDS:
            pipe.type(room_key(graph, name))
        kinds = pipe.execute()
    for (name, kind), found in zip(_KINDS.items(), kinds, strict=True):
        if found not in (kind, b"none"):
            return shown_key(graph, name)
    return None


def unknown_graph(graph: str) -> UnknownGraph:
    """There is no graph of that name."""
    return UnknownGraph(
        f"there is no graph named {shown(graph)}; `synapse status` lists those there are"
    )


def raw(text: str) -> bytes:
    """A text as a server keeps it; halves of surrogate pairs survive."""
    return text.encode("utf-8", "surrogatepass")


def text(raw: bytes) -> str:
    """The text that :func:`raw` made."""
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:  # not written by us
        return raw.decode("utf-8", "replace")


def parsed_together(
    entries: Sequence[tuple[bytes, bytes]],
    graph: str,
    name: str,
    is_whole: Callable[[Any], bool],
) -> dict[str, Any]:
    """All JSON values of one hash of the room, by field: parsed as one list, which is faster.

    Raises:
        StoreError: one is not JSON, or is not whole; the sentence names it.
    """
    values: list[Any]
    try:
        values = json.loads(b"[%b]" % b",".join(value for _, value in entries))
    except (ValueError, RecursionError):
        values = []
    if len(values) != len(entries):  # one by one, to find the damaged one
        values = [parsed(value, graph, name, field) for field, value in entries]
    for (field, _), value in zip(entries, values, strict=True):
        if not is_whole(value):
            raise StoreError(
                f"{shown_field(graph, name, field)} is damaged; take it from a backup, or delete it"
            )
    return {text(field): value for (field, _), value in zip(entries, values, strict=True)}


def parsed(value: bytes, graph: str, name: str, field: bytes) -> Any:
    """A JSON value of one part of the room.

    Raises:
        StoreError: it is not JSON.
    """
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        where = shown_field(graph, name, field)
        raise StoreError(f"{where} is not JSON; delete that field") from error


def stream_entries(
    connection: Connection, graph: str, name: str
) -> Iterator[tuple[str, dict[bytes, bytes]]]:
    """Id and fields of each entry of a stream of the room, oldest first."""
    key, start = room_key(graph, name), "-"
    while True:
        entries = connection.xrange(key, min=start, count=ENTRIES_PER_TRIP)
        for entry_id, fields in entries:
            yield entry_id.decode(), fields
        if len(entries) < ENTRIES_PER_TRIP:
            return
        start = "(" + entries[-1][0].decode()
