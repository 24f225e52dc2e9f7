"""Columns of a graph, read completely, fast, and in bites that hold the server only briefly.

FalkorDB's readers share a lock, and a writer that waits for it stops the whole server, ``PING``
included. So nothing is read in one long query: the graph is walked by node id, in ranges sized so
that each takes about :data:`TARGET_MS` of the server's time.

A range comes back as *one* row, ``count(x), sum(list sizes), every field of every item joined into
one text``: no ``RESULTSET_SIZE`` can cut it, and the count belongs to the same moment as the
fields. Joining costs the server as much as sending rows and the client a fifth. Where the parts
do not add up (a text holds the separator), or a value is not of the type it should be, the range
is read again as typed values, which is slow and always exact.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

import numpy as np
from redis.exceptions import ResponseError

from synapse.hippocampus.model import Floats, Ints
from synapse.store.connection import Connection
from synapse.store.times import parse_times

TARGET_MS = 20.0
LIMIT_MS = 100
"""A query that would take longer is given up and its range divided."""
UNDIVIDED_LIMIT_MS = 25_000
"""The same where there is nothing left to divide."""
FIRST_STEP, LARGEST_STEP = 256, 2_048

FIELD, ITEM = b"\x1f", b"\x1e"
"""What stands between two fields, and between two items of a list."""

_NULL, _STRING, _INTEGER, _BOOLEAN, _DOUBLE, _ARRAY = 1, 2, 3, 4, 5, 6
"""Value types of FalkorDB's compact replies."""

List = tuple[Ints, list[bytes]]
"""A column of lists: the length of each (at least one: an empty list is one empty item), and all
items one after the other."""


@dataclass(frozen=True, slots=True)
class Table:
    """What to read: items ``x`` met from node ``a`` (to node ``b``), and the fields of each."""

    pattern: str
    ids: tuple[str, ...]
    texts: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()

    @property
    def has_targets(self) -> bool:
        return "(b)" in self.pattern

    def query(self, *, joined: bool, one_source: bool) -> str:
        """The query for one range, over parameters ``low``, ``high`` and maybe ``source``."""
        walked = "b" if one_source else "a"
        where = f"ID({walked}) >= $low AND ID({walked}) < $high"
        where += " AND ID(a) = $source" if one_source else ""
        return f"MATCH {self.pattern} WHERE {where} RETURN count(x), " + (
            self._joined() if joined else self._typed()
        )

    def _joined(self) -> str:
        between, within = FIELD.decode(), ITEM.decode()
        fields = [f"tostring({expression})" for expression in self.ids]
        fields += [f"coalesce({expression}, '')" for expression in self.texts + self.times]
        fields += [f"string.join(coalesce({each}, []), '{within}')" for each in self.lists]
        sizes = " + ".join(f"size(coalesce({each}, []))" for each in self.lists) or "0"
        row = f"string.join([{', '.join(fields)}], '{between}')"
        return f"sum({sizes}), string.join(collect({row}), '{between}')"

    def _typed(self) -> str:
        return f"collect([{', '.join(self.ids + self.texts + self.times + self.lists)}])"


@dataclass(slots=True)
class Columns:
    """The fields read so far. Column ``k`` of each kind is the ``k``-th of the :class:`Table`."""

    table: Table
    count: int = 0
    ids: list[list[Ints]] = field(init=False)
    texts: list[list[str]] = field(init=False)
    times: list[list[Floats]] = field(init=False)
    list_counts: list[list[Ints]] = field(init=False)
    list_codes: list[list[Ints]] = field(init=False)
    vocabulary: defaultdict[bytes, int] = field(init=False)
    """The number that stands for each list item."""

    def __post_init__(self) -> None:
        self.ids = [[] for _ in self.table.ids]
        self.texts = [[] for _ in self.table.texts]
        self.times = [[] for _ in self.table.times]
        self.list_counts = [[] for _ in self.table.lists]
        self.list_codes = [[] for _ in self.table.lists]
        self.vocabulary = defaultdict(count().__next__)

    def add(self, number: int, fields: list[list[bytes]], lists: list[List]) -> None:
        """Append ``number`` items, given one column for each id, text and time."""
        self.count += number
        columns = iter(fields)
        for ids, column in zip(self.ids, columns, strict=False):
            ids.append(np.fromiter(map(int, column), np.int64, number))
        for texts, column in zip(self.texts, columns, strict=False):
            texts += FIELD.join(column).decode("utf-8", "replace").split(FIELD.decode())
        for times, column in zip(self.times, columns, strict=False):
            times.append(parse_times(column))
        for counts, codes, (lengths, items) in zip(
            self.list_counts, self.list_codes, lists, strict=True
        ):
            counts.append(lengths)
            codes.append(np.fromiter(map(self.vocabulary.__getitem__, items), np.int64, len(items)))
