"""A connection beside which somebody else acts, just before a command that is looked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Overtaken:
    """Passes everything on, and shows ``act`` each command first, those of transactions too.

    Args:
        connection: a client, or a transaction of one.
        act: gets the parts of the command.
    """

    def __init__(self, connection: Any, act: Callable[[tuple[Any, ...]], None]) -> None:
        self._connection = connection
        self._act = act

    def execute_command(self, *arguments: Any, **options: Any) -> Any:
        """Carry out a command, or add it to the transaction."""
        self._act(arguments)
        return self._connection.execute_command(*arguments, **options)

    def pipeline(self, **options: Any) -> Overtaken:
        """A transaction."""
        return Overtaken(self._connection.pipeline(**options), self._act)

    def __enter__(self) -> Overtaken:
        return self

    def __exit__(self, *raised: Any) -> None:
        self._connection.__exit__(*raised)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)
