"""Reading what a diagnosis is about; what the database user may not ask comes as ``None``.

No graph of a user is ever written. How the server compares indexed texts is tried out on a scratch
graph in the room of a graph, which is deleted at once and expires by itself where that fails.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

from redis.exceptions import NoPermissionError, ResponseError

from synapse.errors import AccessRefused, IncompleteRead, StoreError
from synapse.hippocampus.health import (
    Contents,
    GraphHealth,
    Queue,
    RoomHealth,
    ServerHealth,
    lost_count,
)
from synapse.hippocampus.journal import runs_of
from synapse.hippocampus.model import GraphSnapshot
from synapse.store.connection import Connection, list_graphs, node_of
from synapse.store.cypher import only_row
from synapse.store.indices import are_built
from synapse.store.journal import read_journal
from synapse.store.keys import room_key
from synapse.store.reader import read_graph
from synapse.store.rights import read_rights
from synapse.store.room import read_room
from synapse.store.stamps import read_stamps
from synapse.store.wire import held_wire

Ask = Callable[..., Any]

_FIELD = re.compile(r"^(\w+):(.*?)\r?$", re.MULTILINE)
_MODULE = re.compile(r"^module:name=graph,ver=(\d+)", re.MULTILINE)
_FAILED_WRITES = ("aof_last_write_status", "aof_last_bgrewrite_status", "rdb_last_bgsave_status")
_ROOM = "synapse:{"
_PROBE = "probe-"
_PROBE_LIMIT_MS = 60_000
_PROBE_INDEX = "CREATE INDEX FOR (n:Probe) ON (n.text)"
_PROBE_FILL = "UNWIND range(100, 199) AS i CREATE (:Probe {text: toString(i)})"
_PROBE_FIND = "MATCH (n:Probe) WHERE n.text < '150' RETURN count(n)"
_PROBE_FINDS_COUNT = 50
_PROBE_PATIENCE_S = 2.0


def read_server(connection: Connection, graph: str, clock: Callable[[], float]) -> ServerHealth:
    """What is known about the server that holds a graph, or would hold it.

    Args:
        connection: from :func:`~synapse.store.connection.connect`.
        graph: name of a graph that the user may work on, whether there is one or not.
        clock: seconds since 1970.
    """
    graphs = _graphs(connection)
    with _asking(node_of(connection, graph)) as ask:
        text = (_allowed(ask, "INFO", "everything") or b"").decode("utf-8", "replace")
        info = dict(_FIELD.findall(text))
        return ServerHealth(
            redis_version=info.get("redis_version"),
            module_version=_module_version(text),
            role=info.get("role"),
            maxmemory_bytes=_number(info, "maxmemory"),
            used_memory_bytes=_number(info, "used_memory"),
            maxmemory_policy=info.get("maxmemory_policy"),
            is_append_only=info["aof_enabled"] == "1" if "aof_enabled" in info else None,
            save_points=_text(_allowed(ask, "CONFIG", "GET", "save")),
            failed_writes=tuple(n for n in _FAILED_WRITES if info.get(n, "ok") != "ok"),
            resultset_size=_resultset_size(_allowed(ask, "GRAPH.CONFIG", "GET", "RESULTSET_SIZE")),
            compares_wrongly=_compares_wrongly(ask, graph),
            clock_ahead_s=_clock_ahead_s(ask, clock),
            graphs=graphs,
            orphaned_rooms=None if graphs is None else _orphaned_rooms(connection, graphs),
        )


def read_graph_health(connection: Connection, graph: str, now_s: float) -> GraphHealth:
    """What is known about a graph and the room beside it.

    Raises:
        UnknownGraph, IncompleteRead: see :func:`~synapse.store.reader.read_graph`.
    """
    with _asking(node_of(connection, graph)) as ask:
        rights = read_rights(ask, graph)
    try:
        snapshot = read_graph(connection, graph)
        contents = Contents.of(snapshot, read_stamps(connection, graph, now_s))
    except NoPermissionError:
        return GraphHealth(graph, rights)
    return GraphHealth(graph, rights, contents, _read_room_health(connection, snapshot, now_s))


def _read_room_health(
    connection: Connection, snapshot: GraphSnapshot, now_s: float
) -> RoomHealth | None:
    graph = snapshot.graph
    try:
        with _asking(node_of(connection, graph)) as ask:
            holder, left_s = _lock(ask, graph)
            recalls, surprises = (
                _queue(ask, graph, name, now_s) for name in ("recalls", "surprises")
            )
        room = read_room(connection, graph)
        runs = runs_of(read_journal(connection, graph))
    except NoPermissionError:
        return None
    except StoreError as error:
        return RoomHealth(damage=str(error))
    return RoomHealth(
        lock_holder=holder,
        lock_left_s=left_s,
        recalls=recalls,
        surprises=surprises,
        failures_count=room.failures_count,
        unfinished_runs=tuple(run.run_id for run in runs if not run.is_settled),
        traces_count=len(room.traces),
        lost_traces_count=lost_count(room.traces, snapshot),
    )


@contextmanager
def _asking(node: Connection) -> Iterator[Ask]:
    with held_wire(node) as send:
        yield lambda *command: send(command, lambda: None)


def _allowed(ask: Ask, *command: Any) -> Any:
    """The reply, or ``None`` where the user may not ask or a service has hidden the command."""
    try:
        return ask(*command)
    except ResponseError as error:
        if isinstance(error, NoPermissionError) or "unknown command" in str(error):
            return None
        raise


def _graphs(connection: Connection) -> tuple[str, ...] | None:
    try:
        return tuple(list_graphs(connection))
    except AccessRefused:
        return None


def _orphaned_rooms(connection: Connection, graphs: tuple[str, ...]) -> tuple[str, ...] | None:
    rooms = set()
    try:
        for key in connection.scan_iter(match=f"{_ROOM}*", count=1000):
            graph, end, part = key.decode("utf-8", "replace")[len(_ROOM) :].rpartition("}:")
            if end and not part.startswith(_PROBE):
                rooms.add(graph)
    except NoPermissionError:
        return None
    return tuple(sorted(rooms.difference(graphs)))


def _module_version(text: str) -> int | None:
    found = _MODULE.search(text)
    return int(found[1]) if found else None


def _number(info: dict[str, str], name: str) -> int | None:
    return int(info[name]) if info.get(name, "").isdecimal() else None


def _text(setting: Any) -> str | None:
    return next(iter(setting.values())).decode("utf-8", "replace") if setting else None


def _resultset_size(pair: Any) -> int | None:
    return int(pair[1]) if pair else None


def _clock_ahead_s(ask: Ask, clock: Callable[[], float]) -> float | None:
    before_s = clock()
    told = _allowed(ask, "TIME")
    after_s = clock()
    return None if told is None else _seconds(told) - (before_s + after_s) / 2


def _seconds(told: Any) -> float:
    return float(told[0]) + float(told[1]) / 1e6


def _compares_wrongly(ask: Ask, graph: str) -> bool | None:
    key = room_key(graph, f"{_PROBE}{uuid4().hex}")
    try:
        ask("GRAPH.QUERY", key, _PROBE_INDEX)
        ask("PEXPIRE", key, _PROBE_LIMIT_MS)
        ask("GRAPH.QUERY", key, _PROBE_FILL)
        if not are_built(ask, key, _PROBE_PATIENCE_S):
            return None
        (found_count,) = only_row(ask("GRAPH.RO_QUERY", key, _PROBE_FIND))
    except (ResponseError, IncompleteRead):  # no right to it, a replica, no memory, no answers
        return None
    finally:
        with suppress(ResponseError):
            ask("DEL", key)
    return int(found_count) != _PROBE_FINDS_COUNT


def _lock(ask: Ask, graph: str) -> tuple[str | None, float | None]:
    key = room_key(graph, "lock")
    holder, left_ms = ask("GET", key), _allowed(ask, "PTTL", key)
    if holder is None:
        return None, None
    left_s = None if left_ms is None else math.inf if left_ms == -1 else max(left_ms, 0) / 1000
    return holder.decode("utf-8", "replace"), left_s


def _queue(ask: Ask, graph: str, name: str, now_s: float) -> Queue:
    key = room_key(graph, name)
    count, oldest = ask("XLEN", key), ask("XRANGE", key, "-", "+", "COUNT", 1)
    if not oldest:
        return Queue()
    told = _allowed(ask, "TIME")  # the server has named its entries by its own clock
    at_s = now_s if told is None else _seconds(told)
    recorded_s = int(oldest[0][0].partition(b"-")[0]) / 1000
    return Queue(count, max(at_s - recorded_s, 0.0))
