"""Columns of a graph, read completely, fast, and in bites that hold the server only briefly.

FalkorDB's readers share a lock, and a writer that waits for it stops the whole server, ``PING``
included. So nothing is read in one long query: the graph is walked by node id, in ranges sized so
that each takes about :data:`TARGET_MS` of the server's time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from redis.exceptions import ResponseError

from synapse.store.bites import TARGET_MS, server_ms
from synapse.store.cypher import only_row
from synapse.store.table import Part, Table, is_type_mismatch, joined_part, typed_part
from synapse.store.wire import Ask, Command

LIMIT_MS = 100
"""A query that would take longer is given up and its range divided."""
UNDIVIDED_LIMIT_MS = 25_000
"""The same where there is nothing left to divide."""
FIRST_STEP, LARGEST_STEP = 256, 2_048
LINKS_PER_SHARE = 5_000
"""A node with more links is read in shares of its targets where reading it took too long."""
LARGEST_HUB_LINKS = 100_000
"""Each share walks all links of the node, so beyond this it is read by ranges of its targets, each
of which walks all links that end there. Links come in the order of their targets either way, as
they do where a node is read whole: how long a query took must not change the order of a table."""

_NODES = "ID(a) >= $low AND ID(a) < $high"
_TARGETS = "ID(a) = $source AND ID(b) >= $low AND ID(b) < $high"
_SHARE = "ID(a) = $source AND (ID(b) >= $low AND ID(b) < $high) = true"
"""The same to the letter, but the server starts from the source and not from the targets."""
_BEYOND = 2**62

_TOO_MUCH = re.compile("timed out|mem consumption exceeded")


class _TookTooLong(Exception):
    """The server gave a query up; a smaller range will do."""


@dataclass(frozen=True, slots=True)
class _Range:
    """Nodes by their ids, or the targets of one source by theirs."""

    where: str
    low: int
    high: int
    source: int = -1

    def query(self, table: Table, *, joined: bool) -> str:
        """The query for the items of a table in this range."""
        values = f"CYPHER low={self.low} high={self.high} source={self.source} "
        return values + table.query(self.where, joined=joined)


class Collecting(Protocol):
    """Takes the items of a table, part by part."""

    def add(self, part: Part) -> None:
        """The next items."""


class TableReader:
    """Reads one table of one graph, range by range.

    Args:
        ask: from :func:`~synapse.store.wire.held_wire`.
        graph: name of the graph.
        table: what to read.
        collector: gets the items, each part while the server works on the next.
    """

    def __init__(self, ask: Ask, graph: str, table: Table, collector: Collecting) -> None:
        self._send = ask
        self._graph = graph
        self._table = table
        self._collector = collector
        self._arrived: Part | None = None
        self._can_join = True
        self._may_limit = True
        self._end = 0

    def read(self) -> None:
        """Collect all items of the table."""
        (last_id,) = only_row(self._ask("MATCH (a) RETURN max(ID(a))"))
        self._end = 0 if last_id is None else last_id + 1
        self._walk(0, self._end)
        self._collect()

    def total(self) -> int:
        """How many items the server counts; it knows without looking at them."""
        pattern = self._table.pattern.replace("(a)", "()").replace("(b)", "()")
        (total,) = only_row(self._ask(f"MATCH {pattern} RETURN count({self._table.item})"))
        return int(total)

    def _walk(self, low: int, end: int, source: int | None = None) -> None:
        """Read the nodes from ``low`` to below ``end``, or such targets of one source."""

        def between(low: int, high: int) -> _Range:
            if source is None:
                return _Range(_NODES, low, high)
            return _Range(_TARGETS, low, high, source)

        step = FIRST_STEP
        high = min(low + step, end)
        while low < end:
            after = min(high + step, end)
            took_ms = TARGET_MS
            try:
                took_ms = self._read_some(between(low, high), following=between(high, after))
            except _TookTooLong:
                hubs = self._hubs(low, high) if source is None else {}
                if high - low > 1 and not hubs:
                    step = (high - low + 3) // 4
                    high = low + step
                    continue
                if hubs:
                    self._read_around(low, high, hubs)
                else:
                    self._read_some(between(low, high), divisible=False)
            step = int((high - low) * min(max(TARGET_MS / took_ms, 0.25), 2.0))
            step = min(max(step, 1), LARGEST_STEP)
            low, high = high, after

    def _read_around(self, low: int, high: int, hubs: dict[int, int]) -> None:
        """Read nodes that are too much for one query, those with most links one by one."""
        for hub, links in hubs.items():
            self._walk(low, hub)
            if links > LARGEST_HUB_LINKS:
                self._walk(0, self._end, source=hub)
            else:
                bounds = self._share_bounds(hub)
                for first, end in pairwise(bounds):
                    self._read_some(_Range(_SHARE, first, end, hub), divisible=False)
            low = hub + 1
        self._walk(low, high)

    def _hubs(self, low: int, high: int) -> dict[int, int]:
        """The nodes of a range with more links than one query should carry, and how many."""
        if not self._table.links:
            return {}
        query = (
            f"CYPHER low={low} high={high} MATCH (a) WHERE {_NODES} "
            f"WITH ID(a) AS node, outdegree(a, '{self._table.kind}') AS links "
            f"WHERE links > {LINKS_PER_SHARE} RETURN collect(node), collect(links)"
        )
        ((nodes, links),) = self._ask(query)[1]
        return dict(sorted(zip(_integers(nodes), _integers(links), strict=True)))

    def _share_bounds(self, hub: int) -> list[int]:
        """Divide the targets of a node so that equally many links lead to each share."""
        query = f"MATCH {self._table.pattern} WHERE ID(a) = {hub} RETURN collect(ID(b))"
        ((targets,),) = self._ask(query)[1]
        return [
            0,
            *sorted({*sorted(_integers(targets))[LINKS_PER_SHARE::LINKS_PER_SHARE]}),
            _BEYOND,
        ]

    def _read_some(
        self, some: _Range, *, following: _Range | None = None, divisible: bool = True
    ) -> float:
        """Add some items; return the server's time for them in milliseconds.

        Args:
            some: which ones.
            following: what will be read next, if all goes well.
            divisible: whether to give up where it takes long.
        """
        took_ms = 0.0
        if self._can_join:
            reply = self._try_joined(some, following, divisible)
            took_ms = server_ms(reply) if reply else 0.0
            self._arrived = joined_part(self._table, reply) if reply else None
            if self._arrived:
                return took_ms
        query = some.query(self._table, joined=False)
        reply = self._ask(query, "--compact", divisible=divisible)
        self._arrived = typed_part(self._table, reply)
        return took_ms + server_ms(reply)

    def _collect(self) -> None:
        part, self._arrived = self._arrived, None
        if part:
            self._collector.add(part)

    def _try_joined(self, some: _Range, following: _Range | None, divisible: bool) -> Any:
        query, ahead = some.query(self._table, joined=True), None
        if following is not None and following.low < following.high:
            ahead = following.query(self._table, joined=True)
        try:
            return self._ask(query, divisible=divisible, ahead=ahead)
        except ResponseError as error:
            if "Unknown function" in str(error):
                self._can_join = False
            elif not is_type_mismatch(error):
                raise
            return None

    def _ask(
        self, query: str, *flags: str, divisible: bool = False, ahead: str | None = None
    ) -> Any:
        """The answer to a query.

        Args:
            query: what to ask.
            flags: of the command.
            divisible: whether to give up where it takes long.
            ahead: what will be asked next in the same way.
        """
        limit_ms = LIMIT_MS if divisible else UNDIVIDED_LIMIT_MS
        limit = ("timeout", limit_ms) if self._may_limit else ()

        def command(asked: str) -> Command:
            return ("GRAPH.RO_QUERY", self._graph, asked, *limit, *flags)

        try:
            next_ = None if ahead is None else command(ahead)
            return self._send(command(query), self._collect, next_)
        except ResponseError as error:
            if self._may_limit and "TIMEOUT_MAX" in str(error):
                self._may_limit = False  # the server has a tighter limit of its own
                return self._ask(query, *flags, divisible=divisible, ahead=ahead)
            if divisible and _TOO_MUCH.search(str(error)):
                raise _TookTooLong from error
            raise


def _integers(listed: bytes) -> list[int]:
    return [int(digits) for digits in re.findall(rb"\d+", listed)]
