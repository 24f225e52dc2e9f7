"""Asking and thinking at the same time, without a thread.

While the server works on a query, the client has nothing to do but to understand the answer to
the one before. So a query is sent first, and its answer is read after that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from synapse.store.connection import Connection

Ask = Callable[[tuple[Any, ...], Callable[[], None]], Any]
"""Send a command, do something else meanwhile, return the answer."""


@contextmanager
def held_wire(connection: Connection) -> Iterator[Ask]:
    """One connection of the client's pool, to be used by nobody else until the end.

    There is never more than one command under way. If one is left without its answer, the
    connection is closed, so that no later command can mistake that answer for its own.
    """
    pool: Any = getattr(connection, "connection_pool", None)
    if pool is None:  # a cluster has a pool for each node, and finds the node by itself
        yield lambda command, meanwhile: _one_after_the_other(connection, command, meanwhile)
        return
    wire = pool.get_connection()
    try:
        yield lambda command, meanwhile: _overlapping(wire, command, meanwhile)
    finally:
        pool.release(wire)


def _overlapping(wire: Any, command: tuple[Any, ...], meanwhile: Callable[[], None]) -> Any:
    wire.send_command(*command)
    try:
        meanwhile()
    except BaseException:
        wire.disconnect()
        raise
    return wire.read_response()  # closes the connection by itself where this fails


def _one_after_the_other(
    connection: Connection, command: tuple[Any, ...], meanwhile: Callable[[], None]
) -> Any:
    meanwhile()
    return connection.execute_command(*command)  # type: ignore[no-untyped-call]
