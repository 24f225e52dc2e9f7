"""Asking and thinking at the same time, without a thread.

While the server works on a query, the client has nothing to do but to understand the answer to
the one before. So a query is sent first, and its answer is read after that. The server works on
two queries at the same time if they come over two connections.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from redis.exceptions import ConnectionError as NotConnected

from synapse.store.connection import Connection

Command = tuple[Any, ...]
Ask = Callable[[Command, Callable[[], None]], Any]
"""Send a command, do something else meanwhile, return the answer."""
AskAll = Callable[[Sequence[Command], Callable[[], None]], list[Any]]
"""The same with several commands: their answers, in the order of the commands."""


@contextmanager
def held_wire(connection: Connection) -> Iterator[Ask]:
    """One connection of the client's pool, to be used by nobody else until the end.

    There is never more than one command under way. If one is left without its answer, the
    connection is closed, so that no later command can mistake that answer for its own.
    """
    with held_wires(connection, 1) as ask:
        yield lambda command, meanwhile: ask([command], meanwhile)[0]


@contextmanager
def held_wires(connection: Connection, count: int) -> Iterator[AskAll]:
    """The same with several connections, each with never more than one command under way.

    Where the client may not have so many, commands wait for each other.
    """
    pool: Any = getattr(connection, "connection_pool", None)
    if pool is None:  # a cluster has a pool for each node, and finds the node by itself
        yield lambda commands, meanwhile: _one_after_the_other(connection, commands, meanwhile)
        return
    wires = [pool.get_connection()]
    try:
        with suppress(NotConnected):
            while len(wires) < count:
                wires.append(pool.get_connection())
        yield lambda commands, meanwhile: _overlapping(wires, commands, meanwhile)
    finally:
        for wire in wires:
            pool.release(wire)


def _overlapping(
    wires: Sequence[Any], commands: Sequence[Command], meanwhile: Callable[[], None]
) -> list[Any]:
    answers: list[Any] = []
    for first in range(0, len(commands), len(wires)):
        under_way: deque[Any] = deque()
        try:
            for wire, command in zip(wires, commands[first:], strict=False):
                under_way.append(wire)
                wire.send_command(*command)
            if not first:
                meanwhile()
            while under_way:
                # It closes the connection by itself where this fails.
                answers.append(under_way.popleft().read_response())
        except BaseException:
            for wire in under_way:
                wire.disconnect()
            raise
    return answers


def _one_after_the_other(
    connection: Connection, commands: Sequence[Command], meanwhile: Callable[[], None]
) -> list[Any]:
    meanwhile()
    return [connection.execute_command(*command) for command in commands]  # type: ignore[no-untyped-call]
