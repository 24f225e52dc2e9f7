"""Queries about many items, cut so that none holds the server for long."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from redis.exceptions import ResponseError

from synapse.store.cypher import listed, with_rows
from synapse.store.failures import is_without_graph
from synapse.store.keys import Connection
from synapse.store.lock import HeldLock
from synapse.store.values import sent

T = TypeVar("T")

TARGET_MS = 20.0
_EXECUTION_TIME = re.compile(rb"internal execution time: ([\d.]+)")
_AIM_MS = TARGET_MS * 0.5
"""So that most queries stay below the target although no two take equally long."""
_FIRST_COUNT, _LARGEST_COUNT = 32, 500


def server_ms(reply: Any) -> float:
    """The server's own time for a query, from the statistics at the end of its reply."""
    found = _EXECUTION_TIME.search(b" ".join(reply[-1]))
    return max(float(found.group(1)), 0.01) if found else TARGET_MS


class Bites:
    """Cuts a list into parts, each as large as the slowest query about the last one allows.

    Args:
        connection: a client that answers with bytes, and with numbers where embeddings are read.
        lock: what writes; without it nothing can be written.
    """

    def __init__(self, connection: Connection, lock: HeldLock | None = None) -> None:
        self.connection = connection
        self._lock = lock
        self._count = _FIRST_COUNT
        self._slowest_ms = 0.0

    def of(self, items: Sequence[T]) -> Iterator[Sequence[T]]:
        """Parts of the list, in order; a small one first, which tells what they cost."""
        start, self._count = 0, _FIRST_COUNT
        while start < len(items):
            self._slowest_ms = 0.0
            bite = items[start : start + self._count]
            yield bite
            start += len(bite)
            if self._slowest_ms:
                factor = min(max(_AIM_MS / self._slowest_ms, 0.25), 2.0)
                self._count = min(max(int(len(bite) * factor), 1), _LARGEST_COUNT)

    def read(self, graph: str, rows: Sequence[str], query: str) -> list[Any]:
        """Rows of typed cells, which the query collects into one.

        Args:
            graph: name of the graph.
            rows: literals, the query's parameter ``$rows``.
            query: returns ``collect([…])``.

        Raises:
            IncompleteRead: the server sent no row.
        """
        return self._run(self.ask, "GRAPH.RO_QUERY", graph, rows, query)

    def write(self, graph: str, rows: Sequence[str], query: str) -> list[Any]:
        """The same of a query that writes, if the lock is still held; it may return nothing."""
        return self._run(self.change, "GRAPH.QUERY", graph, rows, query)

    def remove(self, graph: str, rows: Mapping[str, str], query: str) -> list[Any]:
        """The same of a query that removes memories, given by uuid.

        Raises:
            Pinned: some of them are pinned; none was removed.
        """
        change = partial(self.change, removes=list(rows))
        return self._run(change, "GRAPH.QUERY", graph, list(rows.values()), query)

    def ask(self, *command: Any) -> Any:
        """The reply to a command that is no query."""
        return self.connection.execute_command(*command)

    def change(self, *command: Any, removes: Sequence[str] = ()) -> Any:
        """The reply to a command that writes, if the lock is still held."""
        assert self._lock is not None
        return self._lock.write(*command, removes=removes)

    def _run(
        self, ask: Callable[..., Any], command: str, graph: str, rows: Sequence[str], query: str
    ) -> list[Any]:
        asked = sent(with_rows(rows, query))
        with uncollected():
            reply = ask(command, graph, asked, "--compact")
        self._slowest_ms = max(self._slowest_ms, server_ms(reply))
        return listed(reply)


def is_there(bites: Bites, graph: str) -> bool:
    """Whether there is a graph of that name."""
    try:
        return bool(bites.read(graph, [], "RETURN collect([1])"))
    except ResponseError as error:
        if not is_without_graph(error):
            raise
        return False


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the garbage collector, which goes through all objects of the process again and
    again while thousands come in that are all needed until the part is done."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()
