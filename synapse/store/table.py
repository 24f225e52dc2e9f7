"""What to ask of a graph, and how to take the answers apart.

Items come as *one* row: how many they are, how many list items they have, all ids, and all other
fields joined into one text. No ``RESULTSET_SIZE`` can cut it, and the count belongs to
the same moment as the fields. It costs the server no more than rows do, and the client a third.
Where the parts do not add up (a text holds a separator), or a value is not of the type it should
be, the same items are asked for as typed values, which is slower and always exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Any

import numpy as np

from synapse.errors import IncompleteRead
from synapse.hippocampus.model import Floats, Ints
from synapse.store.times import parse_times

BETWEEN_FIELDS, BETWEEN_ITEMS = "\x1f", "\x1e"

_ARRAY = 6
_SCALARS = frozenset({2, 3, 4, 5})
"""Value types of FalkorDB's compact replies: string, integer, boolean, double."""


@dataclass(frozen=True, slots=True)
class Table:
    """What to read: the items met from node ``a``, and the expressions for their fields."""

    kind: str
    """Label of the nodes or type of the links to read."""
    links: bool
    """Whether the items are links, ``(a)-[x]->(b)``, or nodes, ``(a)``."""
    ids: tuple[str, ...]
    times: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Texts that repeat: each distinct one is kept once."""
    texts: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()

    @property
    def item(self) -> str:
        return "x" if self.links else "a"

    @property
    def pattern(self) -> str:
        return f"(a)-[x:{self.kind}]->(b)" if self.links else f"(a:{self.kind})"

    def query(self, where: str, *, joined: bool) -> str:
        """The query for all fields of the items that ``where`` selects, in one row."""
        values = self._joined() if joined else self._typed()
        return f"MATCH {self.pattern} WHERE {where} RETURN count({self.item}), {values}"

    def _joined(self) -> str:
        sizes = " + ".join(f"size(coalesce({each}, []))" for each in self.lists) or "0"
        values = [f"sum({sizes})", *(f"collect({each})" for each in self.ids)]
        fields = [f"coalesce({each}, '')" for each in self.times + self.names + self.texts]
        fields += [f"string.join(coalesce({each}, []), '{BETWEEN_ITEMS}')" for each in self.lists]
        if fields:
            item = f"string.join([{', '.join(fields)}], '{BETWEEN_FIELDS}')"
            values.append(f"string.join(collect({item}), '{BETWEEN_FIELDS}')")
        return ", ".join(f"{value} AS c{place}" for place, value in enumerate(values))

    def _typed(self) -> str:
        fields = self.ids + self.times + self.names + self.texts + self.lists
        return f"collect([{', '.join(fields)}])"


@dataclass(frozen=True, slots=True)
class Part:
    """The items of one reply, column by column.

    Of each list column: the length of each list, and all items. An empty list has one empty item.
    """

    count: int
    ids: list[Ints]
    times: list[Floats]
    texts: list[list[bytes]]
    """Names first."""
    lists: list[tuple[Ints, list[bytes]]]


def joined_part(table: Table, reply: Any) -> Part | None:
    """The columns of a joined reply, or nothing where its parts do not add up."""
    ((count, items_count, *cells),) = reply[1]
    width = len(table.times) + len(table.names) + len(table.texts) + len(table.lists)
    values = cells.pop().split(BETWEEN_FIELDS.encode()) if width and count else []
    if len(values) != count * width:
        return None
    columns = [values[place::width] for place in range(width)]
    lists = [_split_lists(columns.pop()) for _ in table.lists][::-1]
    if sum(len(items) - items.count(b"") for _, items in lists) != float(items_count):
        return None
    ids = [np.fromstring(each[1:-1], np.int64, sep=",") for each in cells[: len(table.ids)]]
    times = [parse_times(column) for column in columns[: len(table.times)]]
    return Part(count, ids, times, columns[len(table.times) :], lists)


def _split_lists(column: list[bytes]) -> tuple[Ints, list[bytes]]:
    between = BETWEEN_ITEMS.encode()
    items = between.join(column).split(between) if column else []
    if len(items) == len(column):
        return np.ones(len(column), np.int64), items
    lengths = np.fromiter(map(bytes.count, column, repeat(between)), np.int64, len(column))
    return lengths + 1, items


def typed_part(table: Table, reply: Any) -> Part:
    """The columns of a reply of typed values."""
    (((_, count), (_, rows)),) = reply[1]
    if count != len(rows):
        raise IncompleteRead(f"the database counted {count} items and sent {len(rows)}; run again")
    fields = table.ids + table.times + table.names + table.texts + table.lists
    columns = iter([[cells[place] for _, cells in rows] for place in range(len(fields))])

    def next_scalars(number: int) -> list[list[bytes]]:
        return [list(map(_scalar, column)) for column in islice(columns, number)]

    return Part(
        count,
        [np.array(list(map(int, ids)), np.int64) for ids in next_scalars(len(table.ids))],
        list(map(parse_times, next_scalars(len(table.times)))),
        next_scalars(len(table.names) + len(table.texts)),
        [_measured(list(map(_listed, column))) for column in columns],
    )


def _measured(lists: list[list[bytes]]) -> tuple[Ints, list[bytes]]:
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    return lengths, list(chain.from_iterable(lists))


def _scalar(cell: Any) -> bytes:
    kind, value = cell
    if kind not in _SCALARS:
        return b""
    return value if isinstance(value, bytes) else str(value).encode()


def _listed(cell: Any) -> list[bytes]:
    kind, value = cell
    return [_scalar(item) for item in value] or [b""] if kind == _ARRAY else [b""]
