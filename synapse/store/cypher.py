r"""Values as FalkorDB's parameter header spells them: data, never part of a query.

And the rows of its answers. Queries about many items collect what they return into *one* row: a
server's ``RESULTSET_SIZE`` cuts rows, without a word, and cannot cut that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from synapse.errors import IncompleteRead

BATCH_COUNT = 500
"""Rows a query: a write of so many holds the server's lock for a tenth of a second at most."""
_BATCH_CHARS = 1_000_000


def batches(rows: Iterable[Any]) -> Iterator[list[str]]:
    """Rows as literals, in parts that keep the server's write lock short."""
    return portions(map(literal, rows))


def portions(literals: Iterable[str]) -> Iterator[list[str]]:
    """Literals in parts of bounded number and length."""
    batch: list[str] = []
    chars_count = 0
    for text in literals:
        if batch and (len(batch) == BATCH_COUNT or chars_count + len(text) > _BATCH_CHARS):
            yield batch
            batch, chars_count = [], 0
        batch.append(text)
        chars_count += len(text)
    if batch:
        yield batch


def with_rows(rows: Sequence[str], query: str) -> str:
    """A query with the literals as its parameter ``$rows``."""
    return f"CYPHER rows=[{','.join(rows)}] {query}"


def only_row(reply: Any) -> Any:
    """The one row of a reply to a query that aggregates.

    Raises:
        IncompleteRead: there is none, although aggregating nothing gives one as well.
    """
    if len(reply[1]) != 1:
        raise IncompleteRead(
            "the database cuts its answers to nothing; set RESULTSET_SIZE -1 with GRAPH.CONFIG SET"
        )
    return reply[1][0]


def listed(reply: Any) -> list[Any]:
    """The rows of typed cells that a query has collected; none where it returns nothing.

    Args:
        reply: the compact reply to a query that returns ``collect([…])``.

    Raises:
        IncompleteRead: there is no row.

    >>> listed([[[1, b"c"]], [[[6, [[6, [[3, 7], [2, b"a"]]]]]]], [b"statistics"]])
    [[[3, 7], [2, b'a']]]
    """
    if len(reply) < 3:
        return []
    ((_, rows),) = only_row(reply)
    return [cells for _, cells in rows]


def literal(value: Any) -> str:
    r"""A parameter's value.

    >>> print(literal({"name": 'say "hi" \\', "n": [1, True, None]}))
    {`name`:"say \"hi\" \\",`n`:[1,true,null]}
    """
    if isinstance(value, str):
        if "\\" in value or '"' in value:
            value = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{value}"'
    if isinstance(value, dict):
        return "{" + ",".join(f"`{k}`:{literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        if set(map(type, value)) == {str}:  # most lists, and long ones
            joined = '","'.join(value)
            if "\\" not in joined and joined.count('"') == 2 * (len(value) - 1):
                return f'["{joined}"]'
        return f"[{','.join(map(literal, value))}]"
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else repr(value)
