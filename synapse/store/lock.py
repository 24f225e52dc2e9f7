"""The lock of a graph's room: a token that expires by itself."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from redis.exceptions import WatchError

from synapse.errors import LockLost, shown
from synapse.hippocampus.ports import LOCK_TTL_S
from synapse.store.keys import Connection, raw, room_key

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


def require_transactions(pipe: Connection) -> None:
    """A user without the right to MULTI would have the commands after it run one by one."""
    pipe.immediate_execute_command("MULTI")
    pipe.immediate_execute_command("DISCARD")


class Pinned(Exception):
    """What was to be removed is pinned; nothing was written."""

    def __init__(self, memories: frozenset[str]) -> None:
        super().__init__(*memories)
        self.memories = memories


class HeldLock:
    """The lock of a graph's room, and writes that are carried out only while it is held.

    A process may stand still between any two commands, or a command be on its way, for longer than
    the lock lives: what was looked up before says nothing about the moment of the write.

    Args:
        connection: a client.
        graph: name of the graph.
        token: holds the lock.
    """

    def __init__(self, connection: Connection, graph: str, token: str) -> None:
        self._connection, self._graph, self._token = connection, graph, token
        self._key, self._ttl_ms = room_key(graph, "lock"), round(LOCK_TTL_S * 1000)
        self._pins = room_key(graph, "pins")

    def keep(self) -> None:
        """Extend it.

        Raises:
            LockLost: it passed to another run.
        """
        if not self._connection.eval(_EXTEND, 1, self._key, self._token, self._ttl_ms):
            raise self._lost()

    def write(self, *command: Any, removes: Sequence[str] = ()) -> Any:
        """Extend it and carry out a command, in one step; return the reply.

        Args:
            command: what writes.
            removes: uuids of the memories that it may remove.

        Raises:
            LockLost: it passed to another run; the command was not carried out.
            Pinned: some of what it may remove is pinned; the command was not carried out.
        """
        keys = (self._key, self._pins) if removes else (self._key,)
        with self._connection.pipeline(transaction=True) as pipe:
            require_transactions(pipe)
            while True:
                # A pin that comes after this look is a change of its key: then it looks again.
                pipe.watch(*keys)
                if pipe.get(self._key) != self._token.encode():
                    raise self._lost()
                if pinned := self._pinned(pipe, removes):
                    raise Pinned(pinned)
                pipe.multi()
                pipe.pexpire(self._key, self._ttl_ms)
                pipe.execute_command(*command)
                try:
                    # Raised by the client, an error would begin with the whole command.
                    _, reply = pipe.execute(raise_on_error=False)
                except WatchError:
                    continue
                if isinstance(reply, Exception):
                    raise reply
                return reply

    def _pinned(self, pipe: Connection, memories: Sequence[str]) -> frozenset[str]:
        if not memories:
            return frozenset()
        kept = pipe.hmget(self._pins, [raw(memory) for memory in memories])
        return frozenset(m for m, pin in zip(memories, kept, strict=True) if pin is not None)

    def _lost(self) -> LockLost:
        return LockLost(f"the lock on {shown(self._graph)} passed on; the rest is not written")
