"""A connection that reaches the end of something at a chosen write, the same every time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

WRITES = ("GRAPH.QUERY", "EVAL", "SET", "HSET", "HDEL")


class DyingConnection:
    """Passes everything on, and calls ``die`` just before or just after the n-th write command.

    Args:
        connection: a client.
        at_write: which write command it is, from 1; 0 for never.
        after: whether the server has carried it out by then.
        die: ends the process, the server or the connection.
    """

    def __init__(
        self, connection: Any, at_write: int, after: bool, die: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._at_write = at_write
        self._after = after
        self._die = die
        self.writes_count = 0

    def execute_command(self, *arguments: Any, **options: Any) -> Any:
        """Carry out a command, unless this is the end."""
        act = partial(self._connection.execute_command, *arguments, **options)
        return self.written(act) if arguments[0] in WRITES else act()

    def written(self, act: Callable[[], Any]) -> Any:
        """Carry out a write, unless this is the end."""
        self.writes_count += 1
        is_end = self.writes_count == self._at_write
        if is_end and not self._after:
            self._die()
        reply = act()
        if is_end:
            self._die()
        return reply

    def eval(self, *arguments: Any) -> Any:
        """A script; all of Synapse's scripts write."""
        return self.execute_command("EVAL", *arguments)

    def set(self, *arguments: Any, **options: Any) -> Any:
        """A plain value, which is the lock."""
        return self.written(partial(self._connection.set, *arguments, **options))

    def pipeline(self, transaction: bool = True) -> Any:
        """A transaction is one write."""
        pipe = self._connection.pipeline(transaction=transaction)
        return _DyingPipeline(self, pipe) if transaction else pipe

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class _DyingPipeline:
    def __init__(self, owner: DyingConnection, pipe: Any) -> None:
        self._owner = owner
        self._pipe = pipe

    def __enter__(self) -> _DyingPipeline:
        return self

    def __exit__(self, *raised: Any) -> None:
        self._pipe.__exit__(*raised)

    def execute(self, **options: Any) -> Any:
        return self._owner.written(partial(self._pipe.execute, **options))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pipe, name)
