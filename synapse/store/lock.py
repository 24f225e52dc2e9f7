"""The lock of a graph's room: a token that expires by itself."""

from __future__ import annotations

import time
from collections.abc import Callable

from synapse.errors import LockLost
from synapse.hippocampus.ports import LOCK_TTL_S
from synapse.store.document import shown
from synapse.store.keys import Connection, room_key

IF_MINE = "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call({}) end return 0"
"""A script that does something where the lock, its first key, holds the token."""
_LOOK_AGAIN_S = 0.1
_EXTEND = IF_MINE.format("'PEXPIRE',KEYS[1],ARGV[2]")
_RELEASE = IF_MINE.format("'DEL',KEYS[1]")


def lock_holder(connection: Connection, graph: str) -> str | None:
    """Token of the run that works on the graph, if any."""
    token: bytes | None = connection.get(room_key(graph, "lock"))
    return None if token is None else token.decode("utf-8", "replace")


def await_lock(connection: Connection, graph: str, wait_s: float) -> bool:
    """Look until nobody holds the lock, at most so long; say whether that is so."""
    until_s = time.monotonic() + wait_s
    while lock_holder(connection, graph) is not None:
        left_s = until_s - time.monotonic()
        if left_s <= 0.0:
            return False
        time.sleep(min(left_s, _LOOK_AGAIN_S))
    return True


def acquire_lock(connection: Connection, graph: str, token: str, ttl_s: float) -> bool:
    """Take the lock, or extend it where ``token`` holds it already."""
    key, ttl_ms = room_key(graph, "lock"), max(1, round(ttl_s * 1000))
    if connection.set(key, token, nx=True, px=ttl_ms):
        return True
    return bool(connection.eval(_EXTEND, 1, key, token, ttl_ms))


def release_lock(connection: Connection, graph: str, token: str) -> None:
    """Give the lock back if ``token`` still holds it."""
    connection.eval(_RELEASE, 1, room_key(graph, "lock"), token)


def refuse_without_lock(connection: Connection, graph: str, token: str) -> None:
    """Raise :class:`~synapse.errors.LockLost` unless ``token`` holds the lock."""
    if lock_holder(connection, graph) != token:
        raise LockLost(f"the lock on {shown(graph)} passed to another run; nothing was written")


def kept_lock(connection: Connection, graph: str, token: str) -> Callable[[], None]:
    """What to call before each part of a long write.

    It extends the lock, or raises :class:`~synapse.errors.LockLost`.
    """
    key, ttl_ms = room_key(graph, "lock"), round(LOCK_TTL_S * 1000)

    def keep() -> None:
        if not connection.eval(_EXTEND, 1, key, token, ttl_ms):
            raise LockLost(f"the lock on {shown(graph)} passed on; the rest is not written")

    return keep
