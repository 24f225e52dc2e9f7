"""What a database user must be allowed to do, and a way to find out that changes nothing.

A user of the server who works on one graph needs the two key patterns of :func:`least_rights` and
:data:`ACL_RULES`; ``+graph.list`` shows all graphs.

A server checks rights when a command of a transaction arrives and not when it is carried out. So
every command is queued once and the transaction discarded: each is either queued or refused, and
none is ever carried out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from redis.exceptions import NoPermissionError, ResponseError

from synapse.hippocampus.health import Rights
from synapse.store.keys import room_key

_ON_THE_GRAPH: tuple[tuple[Any, ...], ...] = (
    ("graph.query", "RETURN 1"),
    ("graph.ro_query", "RETURN 1"),
)
_IN_THE_ROOM: tuple[tuple[Any, ...], ...] = (
    ("hset", "field", "value"),
    ("hsetnx", "field", "value"),
    ("hexists", "field"),
    ("hmget", "field"),
    ("hgetall",),
    ("hscan", 0),
    ("hlen",),
    ("hincrby", "field", 1),
    ("hdel", "field"),
    ("xadd", "*", "field", "value"),
    ("xrange", "-", "+"),
    ("xlen",),
    ("xdel", "0-1"),
    ("xtrim", "MAXLEN", 0),
    ("set", "value"),
    ("get",),
    ("del",),
    ("pexpire", 1),
)
"""Without the key, which comes first."""
_SCRIPT = ("eval", "return 0", 1)
_TRANSACTIONS = ("watch", "unwatch", "multi", "discard", "exec")

ACL_RULES = " ".join(
    f"+{name}"
    for name in (*(name for name, *_ in _ON_THE_GRAPH + _IN_THE_ROOM), _SCRIPT[0], *_TRANSACTIONS)
)

Ask = Callable[..., Any]
"""Sends a command on one and the same connection and returns the reply."""


def least_rights(graph: str, user: str = "USER") -> str:
    """The command that gives a user just enough for one graph; the password is left to fill in.

    >>> least_rights("my-agent")[:66]
    'ACL SETUSER USER on >PASSWORD ~my-agent ~synapse:{my-agent}:* +gra'
    """
    return f"ACL SETUSER {user} on >PASSWORD ~{graph} ~{room_key(graph, '*')} {ACL_RULES}"


def read_rights(ask: Ask, graph: str) -> Rights:
    """Which of the rights on a graph the user lacks.

    A user who may not use transactions at all learns that alone.

    Args:
        ask: uses one connection, which nobody else uses meanwhile.
        graph: name of the graph.
    """
    room, rooms = room_key(graph, "meta"), room_key(graph, "*")
    missing = [
        _refused(ask, rooms, name, *rest)
        for name, *rest in (("watch", room), ("unwatch",), ("discard",), ("exec",))
    ]
    if "+discard" in missing or _refused(ask, "", "multi"):
        return Rights(("+multi", "+discard"), least_rights(graph))
    try:
        for name, *rest in _ON_THE_GRAPH:
            missing.append(_refused(ask, graph, name, graph, *rest))
        for name, *rest in _IN_THE_ROOM:
            missing.append(_refused(ask, rooms, name, room, *rest))
        missing.append(_refused(ask, rooms, *_SCRIPT, room))
    finally:
        ask("discard")
    return Rights(tuple(dict.fromkeys(filter(None, missing))), least_rights(graph))


def _refused(ask: Ask, keys: str, *command: Any) -> str:
    """The rule that would allow a command, or nothing where it is allowed."""
    try:
        ask(*command)
    except ResponseError as error:  # of the others, each is allowed and refused for its own reason
        words = str(error)
        if isinstance(error, NoPermissionError) or "NOPERM" in words:
            return f"~{keys}" if "access a key" in words else f"+{command[0]}"
    return ""
