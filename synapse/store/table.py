"""What to ask of a graph, and how to take the answers apart.

Items come as *one* row: how many they are, how many separators their lists need, all ids, all uuids
joined into one text, and all other fields joined into another. No ``RESULTSET_SIZE`` can cut it,
and the count belongs to the same moment as the fields. It costs the server no more than rows do,
and the client a third.

Where the parts do not add up (a text holds a separator), or a value is not of the type it should
be, the same items are asked for as typed values, which is slower and always exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any

import numpy as np
from redis.exceptions import ResponseError

from synapse.errors import IncompleteRead
from synapse.hippocampus.model import Bools, Floats, Ints
from synapse.store.cypher import only_row
from synapse.store.times import parse_times, parse_times_in

BETWEEN_FIELDS, BETWEEN_ITEMS = b"\x1f", b"\x1e"

Odd = tuple[int, int, tuple[int, ...]]
"""Item, field, and the lengths of the texts in it."""

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
    uuid: str = ""
    """What names an item; it comes apart from the rest, so that it can be had alone."""
    times: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Texts that repeat: each distinct one is kept once."""
    texts: tuple[str, ...] = ()
    words: str = ""
    """A list of texts."""
    typed_words: str = ""
    """The same as parts that need not be lists, where adding them up could fail."""

    @property
    def item(self) -> str:
        return "x" if self.links else "a"

    @property
    def pattern(self) -> str:
        return f"(a)-[x:{self.kind}]->(b)" if self.links else f"(a:{self.kind})"

    @property
    def scalars(self) -> tuple[str, ...]:
        return self.times + self.names + self.texts

    @property
    def width(self) -> int:
        """How many fields are joined for each item."""
        return len(self.scalars) + bool(self.words)

    def query(self, where: str, *, joined: bool) -> str:
        """The query for all fields of the items that ``where`` selects, in one row."""
        values = self._joined() if joined else self._typed()
        return f"MATCH {self.pattern} WHERE {where} RETURN count({self.item}), {values}"

    def _joined(self) -> str:
        words = f"coalesce({self.words}, [])"
        # Between words there is one separator less than there are words.
        values = [f"sum({f'size(tail({self.words}))' if self.words else 0})"]
        values += [f"collect({each})" for each in self.ids]
        fields = [f"coalesce({each}, '')" for each in self.scalars]
        if self.words:
            fields.append(f"string.join({words}, '{BETWEEN_ITEMS.decode()}')")
        between = f"'{BETWEEN_FIELDS.decode()}'"
        if self.uuid:
            values.append(f"string.join(collect(coalesce({self.uuid}, '')), {between})")
        if fields:
            item = f"string.join([{', '.join(fields)}], {between})"
            values.append(f"string.join(collect({item}), {between})")
        return ", ".join(f"{value} AS c{place}" for place, value in enumerate(values))

    def _typed(self) -> str:
        fields = (*self.ids, self.uuid, *self.scalars, self.typed_words or self.words)
        return f"collect([{', '.join(filter(None, fields))}])"


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of some items, column by column."""

    scalars: list[list[bytes]]
    """Times, names and texts."""
    lengths: Ints
    """How many words each item has; an empty list counts as one empty word."""
    words: list[bytes]


@dataclass(frozen=True, slots=True)
class Part:
    """The items of one reply, as they came."""

    count: int
    ids: list[Ints]
    uuids: bytes = b""
    """One after the other."""
    fields: bytes = b""
    """Item after item, and field after field within it, the words last."""
    odd: tuple[Odd, ...] = ()
    """Every field that holds a separator. With these, the joined bytes can be read in one way
    only."""
    exact_uuids: list[bytes] | None = None
    exact_fields: Fields | None = None
    """Where the joined bytes are not enough."""

    def uuid_texts(self) -> list[str]:
        """The uuid of each item."""
        if self.exact_uuids is not None:
            return [uuid.decode("utf-8", "replace") for uuid in self.exact_uuids]
        between = BETWEEN_FIELDS.decode()
        return self.uuids.decode("utf-8", "replace").split(between) if self.count else []

    def times(self, table: Table) -> Floats:
        """The times of each item, shape (times of the table, items)."""
        shape = len(table.times), self.count
        if self.exact_fields is not None:
            stamps = chain.from_iterable(self.exact_fields.scalars[: len(table.times)])
            return parse_times(list(stamps)).reshape(shape)
        if not table.times or not self.count:
            return np.zeros(shape)
        ends = _ends(self.fields)
        starts = np.append(0, ends[:-1] + 1)
        of_times = [
            each.reshape(-1, table.width)[:, : len(table.times)].T for each in (starts, ends)
        ]
        return parse_times_in(self.fields, *map(np.ravel, of_times)).reshape(shape)

    def apart(self, table: Table) -> Part:
        """The same, its fields split already."""
        return replace(self, exact_fields=self.split_fields(table))

    def split_fields(self, table: Table) -> Fields:
        """All other fields of each item."""
        if self.exact_fields is not None:
            return self.exact_fields
        values = self.fields.split(BETWEEN_FIELDS) if table.width and self.count else []
        columns = [values[place :: table.width] for place in range(table.width)]
        lengths, words = _split_words(columns.pop() if table.words else [])
        return Fields(columns, lengths, words)


def joined_part(table: Table, reply: Any) -> Part | None:
    """The items of a joined reply, or nothing where its parts do not add up."""
    count, between_count, *cells = only_row(reply)
    ids = [np.fromstring(each[1:-1], np.int64, sep=",") for each in cells[: len(table.ids)]]
    rest = iter(cells[len(table.ids) :])
    uuids = next(rest) if table.uuid else b""
    part = Part(count, ids, uuids, next(rest, b""))
    return part if _adds_up(table, part, float(between_count)) else None


def is_type_mismatch(error: ResponseError) -> bool:
    """Whether fields could not be joined since one is no text."""
    return str(error).startswith("Type mismatch")


def _adds_up(table: Table, part: Part, between_words_count: float) -> bool:
    """Whether there are as many separators as there must be, so that no text holds one."""
    if not part.count:
        return True
    if table.uuid and _count(BETWEEN_FIELDS, part.uuids) != part.count - 1:
        return False
    if table.width and _count(BETWEEN_FIELDS, part.fields) != part.count * table.width - 1:
        return False
    return not table.words or _count(BETWEEN_ITEMS, part.fields) == between_words_count


def _count(separator: bytes, joined: bytes) -> int:
    # Where there are many, bytes.count takes several times as long.
    return int(np.count_nonzero(_is_at(separator, joined)))


def _ends(joined: bytes) -> Ints:
    """Where each field ends."""
    return np.append(np.flatnonzero(_is_at(BETWEEN_FIELDS, joined)), len(joined))


def _is_at(separator: bytes, joined: bytes) -> Bools:
    return np.equal(np.frombuffer(joined, np.uint8), separator[0])


def _split_words(column: list[bytes]) -> tuple[Ints, list[bytes]]:
    words = BETWEEN_ITEMS.join(column).split(BETWEEN_ITEMS) if column else []
    if len(words) == len(column):
        return np.ones(len(column), np.int64), words
    counts = map(bytes.count, column, repeat(BETWEEN_ITEMS))
    return np.fromiter(counts, np.int64, len(column)) + 1, words


def typed_part(table: Table, reply: Any) -> Part:
    """The items of a reply of typed values."""
    (_, count), (_, rows) = only_row(reply)
    if count != len(rows):
        raise IncompleteRead(f"the database counted {count} items and sent {len(rows)}; run again")
    cells = [cells for _, cells in rows]
    listed = _listed_in_parts if table.typed_words else _listed
    lists = [listed(row.pop()) for row in cells] if table.words else []
    names = (*table.ids, *filter(None, [table.uuid]), *table.scalars)
    columns = [[_scalar(row[place]) for row in cells] for place in range(len(names))]
    ids, columns = columns[: len(table.ids)], columns[len(table.ids) :]
    odd = tuple(sorted(chain(_odd_texts(columns), _odd_lists(lists))))
    uuids = columns.pop(0) if table.uuid else []
    joined = [*columns, list(map(BETWEEN_ITEMS.join, lists))] if table.words else columns
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    return Part(
        count,
        [np.array(list(map(int, each)), np.int64) for each in ids],
        BETWEEN_FIELDS.join(uuids),
        BETWEEN_FIELDS.join(chain.from_iterable(zip(*joined, strict=True))),
        odd,
        uuids,
        Fields(columns, lengths, list(chain.from_iterable(lists))),
    )


def _odd_texts(columns: list[list[bytes]]) -> Iterator[Odd]:
    for place, column in enumerate(columns):
        for item, text in enumerate(column):
            if BETWEEN_FIELDS in text:
                yield item, place, (len(text),)


def _odd_lists(lists: list[list[bytes]]) -> Iterator[Odd]:
    for item, words in enumerate(lists):
        joined = BETWEEN_ITEMS.join(words)
        if BETWEEN_FIELDS in joined or joined.count(BETWEEN_ITEMS) != len(words) - 1:
            yield item, -1, tuple(map(len, words))


def _scalar(cell: Any) -> bytes:
    kind, value = cell
    if kind not in _SCALARS:
        return b""
    return value if isinstance(value, bytes) else str(value).encode()


def _listed(cell: Any) -> list[bytes]:
    kind, value = cell
    return [_scalar(item) for item in value] or [b""] if kind == _ARRAY else [b""]


def _listed_in_parts(cell: Any) -> list[bytes]:
    """The words of several parts, each a list, one word, or nothing of use."""
    words: list[bytes] = []
    for part in cell[1]:
        if part[0] == _ARRAY:
            words += map(_scalar, part[1])
        elif part[0] in _SCALARS:
            words.append(_scalar(part))
    return words or [b""]
