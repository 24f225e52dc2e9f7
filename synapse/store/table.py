"""What to ask of a graph, and how to take the answers apart.

Items come joined: *one* row, ``count, number of list items, every field of every item in one
text``. No ``RESULTSET_SIZE`` can cut it, and the count belongs to the same moment as the fields.
It costs the server no more than rows do, and the client a third. Where the parts do not add up (a
text holds a separator), or a value is not of the type it should be, the same items are asked for
as typed values, which is slower and always exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import numpy as np

from synapse.errors import IncompleteRead
from synapse.hippocampus.model import Ints

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

    @property
    def scalars(self) -> tuple[str, ...]:
        return self.times + self.names + self.texts

    def query(self, *, joined: bool, of_one_source: bool) -> str:
        """The query for nodes ``$low`` to below ``$high``; or, of one node, for such targets."""
        walked, also = ("b", " AND ID(a) = $source") if of_one_source else ("a", "")
        values = self._joined() if joined else self._typed()
        return (
            f"MATCH {self.pattern} WHERE ID({walked}) >= $low AND ID({walked}) < $high{also} "
            f"RETURN count({self.item}), {values}"
        )

    def _joined(self) -> str:
        fields = [f"tostring({each})" for each in self.ids]
        fields += [f"coalesce({each}, '')" for each in self.scalars]
        fields += [f"string.join(coalesce({each}, []), '{BETWEEN_ITEMS}')" for each in self.lists]
        sizes = " + ".join(f"size(coalesce({each}, []))" for each in self.lists) or "0"
        item = f"string.join([{', '.join(fields)}], '{BETWEEN_FIELDS}')"
        return f"sum({sizes}), string.join(collect({item}), '{BETWEEN_FIELDS}')"

    def _typed(self) -> str:
        return f"collect([{', '.join(self.ids + self.scalars + self.lists)}])"


@dataclass(frozen=True, slots=True)
class Part:
    """The items of one range: a column of bytes for each scalar, lengths and items of each list.

    An empty list has one empty item.
    """

    count: int
    fields: list[list[bytes]]
    lists: list[tuple[Ints, list[bytes]]]


def joined_part(table: Table, reply: Any) -> Part | None:
    """The parts of a joined reply, or nothing where they do not add up."""
    if reply is None:
        return None
    ((count, items_count, joined),) = reply[1]
    values = joined.split(BETWEEN_FIELDS.encode()) if count else []
    width = len(table.ids) + len(table.scalars) + len(table.lists)
    if len(values) != count * width:
        return None
    columns = [values[place::width] for place in range(width)]
    lists = [_split_lists(columns.pop()) for _ in table.lists][::-1]
    if sum(len(items) - items.count(b"") for _, items in lists) != float(items_count):
        return None
    return Part(count, columns, lists)


def _split_lists(column: list[bytes]) -> tuple[Ints, list[bytes]]:
    between = BETWEEN_ITEMS.encode()
    items = between.join(column).split(between) if column else []
    if len(items) == len(column):
        return np.ones(len(column), np.int64), items
    lengths = np.fromiter(map(bytes.count, column, repeat(between)), np.int64, len(column))
    return lengths + 1, items


def typed_part(table: Table, reply: Any) -> Part:
    (((_, count), (_, rows)),) = reply[1]
    if count != len(rows):
        raise IncompleteRead(f"the database counted {count} items and sent {len(rows)}; run again")
    columns = list(zip(*(cells for _, cells in rows), strict=True))
    columns = columns or [()] * (len(table.ids) + len(table.scalars) + len(table.lists))
    scalars = len(columns) - len(table.lists)
    lists = [[_listed(cell) for cell in column] for column in columns[scalars:]]
    return Part(
        count,
        [[_scalar(cell) for cell in column] for column in columns[:scalars]],
        [
            (np.fromiter(map(len, rows), np.int64, count), list(chain.from_iterable(rows)))
            for rows in lists
        ],
    )


def _scalar(cell: Any) -> bytes:
    kind, value = cell
    if kind not in _SCALARS:
        return b""
    return value if isinstance(value, bytes) else str(value).encode()


def _listed(cell: Any) -> list[bytes]:
    kind, value = cell
    return [_scalar(item) for item in value] or [b""] if kind == _ARRAY else [b""]
