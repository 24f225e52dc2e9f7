r"""Values as FalkorDB's parameter header spells them: data, never part of a query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

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
        return f"[{','.join(map(literal, value))}]"
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else repr(value)
