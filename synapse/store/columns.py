"""Columns of a graph, read completely, fast, and in bites that hold the server only briefly.

FalkorDB's readers share a lock, and a writer that waits for it stops the whole server, ``PING``
included. So nothing is read in one long query: the graph is walked by node id, in ranges sized so
that each takes about :data:`TARGET_MS` of the server's time.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count as numbers
from typing import Any

import numpy as np
from redis.exceptions import ResponseError

from synapse.hippocampus.model import Floats, Ints
from synapse.store.connection import Connection
from synapse.store.table import Part, Table, joined_part, typed_part

TARGET_MS = 20.0
LIMIT_MS = 100
"""A query that would take longer is given up and its range divided."""
UNDIVIDED_LIMIT_MS = 25_000
"""The same where there is nothing left to divide."""
FIRST_STEP, LARGEST_STEP = 256, 2_048
LINKS_PER_SHARE = 5_000
"""A node with more links is read in shares of its targets where reading it took too long."""
LARGEST_HUB_LINKS = 100_000
"""Each share walks all links of the node, so beyond this it is read by ranges of its targets, each
of which walks all links that end there."""

_NODES = "ID(a) >= $low AND ID(a) < $high"
_TARGETS = "ID(a) = $source AND ID(b) >= $low AND ID(b) < $high"
_SHARE = "ID(a) = $source AND ID(b) % $high = $low"

_TOO_MUCH = re.compile("timed out|mem consumption exceeded")
_EXECUTION_TIME = re.compile(rb"internal execution time: ([\d.]+)")


class _Decoded(dict[bytes, str]):
    def __missing__(self, raw: bytes) -> str:
        text = self[raw] = raw.decode("utf-8", "replace")
        return text


@dataclass(slots=True)
class Columns:
    """All fields of a table; column ``k`` of a kind is the ``k``-th expression of that kind."""

    count: int = 0
    ids: list[Ints] = field(default_factory=list)
    times: list[Floats] = field(default_factory=list)
    names: list[list[str]] = field(default_factory=list)
    texts: list[list[str]] = field(default_factory=list)
    list_lengths: list[Ints] = field(default_factory=list)
    list_codes: list[Ints] = field(default_factory=list)
    """Which word of the vocabulary each list item is, one list after the other."""
    vocabulary: list[str] = field(default_factory=list)


class _Collector:
    """Turns the parts of a table into its columns, keeping only what the columns keep."""

    def __init__(self, table: Table) -> None:
        self._count = 0
        self._ids: list[list[Ints]] = [[] for _ in table.ids]
        self._times: list[list[Floats]] = [[] for _ in table.times]
        self._names: list[list[str]] = [[] for _ in table.names]
        self._texts: list[list[str]] = [[] for _ in table.texts]
        self._lengths: list[list[Ints]] = [[] for _ in table.lists]
        self._codes: list[list[Ints]] = [[] for _ in table.lists]
        self._decoded = _Decoded()
        self._vocabulary: defaultdict[bytes, int] = defaultdict(numbers().__next__)

    def add(self, part: Part) -> None:
        self._count += part.count
        for known_ids, ids in zip(self._ids, part.ids, strict=True):
            known_ids.append(ids)
        for known_times, times in zip(self._times, part.times, strict=True):
            known_times.append(times)
        columns = iter(part.texts)
        for names in self._names:
            names += map(self._decoded.__getitem__, next(columns))
        for texts in self._texts:
            texts += _decode(next(columns))
        for lengths, codes, (each, items) in zip(
            self._lengths, self._codes, part.lists, strict=True
        ):
            lengths.append(each)
            codes.append(np.fromiter(map(self._vocabulary.__getitem__, items), np.int64))

    def columns(self) -> Columns:
        return Columns(
            self._count,
            [_concatenated(parts, np.int64) for parts in self._ids],
            [_concatenated(parts, np.float64) for parts in self._times],
            self._names,
            self._texts,
            [_concatenated(parts, np.int64) for parts in self._lengths],
            [_concatenated(parts, np.int64) for parts in self._codes],
            [word.decode("utf-8", "replace") for word in self._vocabulary],
        )


def _decode(column: list[bytes]) -> list[str]:
    try:
        return list(map(bytes.decode, column))
    except UnicodeDecodeError:
        return [text.decode("utf-8", "replace") for text in column]


def _concatenated(parts: list[Any], dtype: type) -> Any:
    return np.concatenate(parts) if parts else np.zeros(0, dtype)


class _TookTooLong(Exception):
    """The server gave a query up; a smaller range will do."""


class TableReader:
    """Reads one table of one graph, range by range."""

    def __init__(self, connection: Connection, graph: str, table: Table) -> None:
        self._connection = connection
        self._graph = graph
        self._table = table
        self._collector = _Collector(table)
        self._can_join = True
        self._may_limit = True
        self._end = 0

    def read(self) -> Columns:
        """All items of the table."""
        ((last_id,),) = self._ask("MATCH (a) RETURN max(ID(a))")[1]
        self._end = 0 if last_id is None else last_id + 1
        self._walk(0, self._end)
        return self._collector.columns()

    def total(self) -> int:
        """How many items the server counts; it knows without looking at them."""
        pattern = self._table.pattern.replace("(a)", "()").replace("(b)", "()")
        ((total,),) = self._ask(f"MATCH {pattern} RETURN count({self._table.item})")[1]
        return int(total)

    def _walk(self, low: int, end: int, source: int | None = None) -> None:
        """Read the nodes from ``low`` to below ``end``, or such targets of one source."""
        where = _NODES if source is None else _TARGETS
        step = FIRST_STEP
        while low < end:
            high = min(low + step, end)
            took_ms = TARGET_MS
            try:
                took_ms = self._read_some(where, low, high, source)
            except _TookTooLong:
                hubs = self._hubs(low, high) if source is None else {}
                if high - low > 1 and not hubs:
                    step = (high - low + 3) // 4
                    continue
                if hubs:
                    self._read_around(low, high, hubs)
                else:
                    self._read_some(where, low, high, source, divisible=False)
            low = high
            step = int(step * min(max(TARGET_MS / took_ms, 0.25), 2.0))
            step = min(max(step, 1), LARGEST_STEP)

    def _read_around(self, low: int, high: int, hubs: dict[int, int]) -> None:
        """Read nodes that are too much for one query, those with most links one by one."""
        for hub, links in hubs.items():
            self._walk(low, hub)
            if links > LARGEST_HUB_LINKS:
                self._walk(0, self._end, source=hub)
            else:
                shares = -(-links // LINKS_PER_SHARE)
                for share in range(shares):
                    self._read_some(_SHARE, share, shares, hub, divisible=False)
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

    def _read_some(
        self, where: str, low: int, high: int, source: int | None, *, divisible: bool = True
    ) -> float:
        """Add some items; return the server's time for them in milliseconds."""
        values = f"CYPHER low={low} high={high} source={-1 if source is None else source} "
        took_ms = 0.0
        if self._can_join:
            query = values + self._table.query(where, joined=True)
            reply = self._try_joined(query, divisible)
            part = joined_part(self._table, reply) if reply else None
            took_ms = _took_ms(reply) if reply else 0.0
            if part:
                self._collector.add(part)
                return took_ms
        query = values + self._table.query(where, joined=False)
        reply = self._ask(query, "--compact", divisible=divisible)
        self._collector.add(typed_part(self._table, reply))
        return took_ms + _took_ms(reply)

    def _try_joined(self, query: str, divisible: bool) -> Any:
        try:
            return self._ask(query, divisible=divisible)
        except ResponseError as error:
            words = str(error)
            if "Unknown function" in words:
                self._can_join = False
            elif not words.startswith("Type mismatch"):
                raise
            return None

    def _ask(self, query: str, *flags: str, divisible: bool = False) -> Any:
        limit_ms = LIMIT_MS if divisible else UNDIVIDED_LIMIT_MS
        limit = ("timeout", limit_ms) if self._may_limit else ()
        try:
            return self._connection.execute_command(  # type: ignore[no-untyped-call]
                "GRAPH.RO_QUERY", self._graph, query, *limit, *flags
            )
        except ResponseError as error:
            if self._may_limit and "TIMEOUT_MAX" in str(error):
                self._may_limit = False  # the server has a tighter limit of its own
                return self._ask(query, *flags, divisible=divisible)
            if divisible and _TOO_MUCH.search(str(error)):
                raise _TookTooLong from error
            raise


def _integers(listed: bytes) -> list[int]:
    return [int(digits) for digits in re.findall(rb"\d+", listed)]


def _took_ms(reply: Any) -> float:
    """The server's own time for a query, from the statistics at the end of its reply."""
    found = _EXECUTION_TIME.search(b" ".join(reply[-1]))
    return max(float(found.group(1)), 0.01) if found else TARGET_MS
