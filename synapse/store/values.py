"""Property values as FalkorDB's compact replies spell them, without any loss.

Texts may hold bytes that are no UTF-8: they are kept as escapes and written back as they were.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from synapse.hippocampus.image import Vector

_TEXT, _ARRAY, _MAP, _VECTOR = 2, 6, 10, 12
_MINUS_ZERO = re.compile(r"(?<![^,])-0(?![^,])")


class Unstorable(ValueError):
    """A value that cannot be written back as it was read."""


def text(raw: bytes) -> str:
    r"""Any bytes as text.

    >>> text(b"\xffa")
    '\udcffa'
    """
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("utf-8", "surrogateescape")


def sent(query: str) -> bytes:
    """A query as it goes to the server: the texts in it as they came."""
    return query.encode("utf-8", "surrogateescape")


def decoded(cell: Any) -> Any:
    """The value of one cell of a compact reply.

    Raises:
        Unstorable: its type has no literal: a point in space, a date, a duration.

    >>> decoded([10, [b"a", [5, b"3"], b"b", [6, [[3, 1], [4, b"true"]]]]])
    {'a': 3.0, 'b': [1, True]}
    """
    kind, value = cell
    decode = _DECODERS.get(kind)
    if decode is None:
        raise Unstorable("holds a value of a type that Synapse cannot write back")
    return decode(value)


def vector_literal(vector: Vector) -> str:
    """The numbers of a vector, for ``vecf32()``.

    >>> vector_literal(Vector.of([0.5, -0.0, 2.0]))
    '[0.5,-0.0,2]'
    """
    # Nine digits tell all numbers of 32 bits apart.
    digits = (",%.9g" * vector.size % vector.numbers)[1:]
    if "-0," in digits or digits.endswith("-0"):
        # A query reads -0 as an integer, which has no sign.
        digits = _MINUS_ZERO.sub("-0.0", digits)
    return f"[{digits}]"


def parts(properties: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Vector]]:
    """Properties that a parameter can hold, and vectors, which it cannot hold."""
    others, vectors = dict(properties), {}
    for name, value in properties.items():
        if isinstance(value, Vector):
            vectors[name] = others.pop(name)
    return others, vectors


def lists(vectors: Iterable[Vector]) -> str:
    """The end of a row, ``,v0:[…],v1:[…]``: vectors travel as lists and the query makes them."""
    return "".join(f",v{i}:{vector_literal(vector)}" for i, vector in enumerate(vectors))


def set_vectors(names: tuple[str, ...], row: str, item: str) -> str:
    """The clauses that give an item its vectors."""
    vectors = enumerate(names)
    return "".join(f" SET {item}.`{name}` = vecf32({row}.v{i})" for i, name in vectors)


def is_same(names: tuple[str, ...], others: str, item: str, row: str = "") -> str:
    """The condition that an item has exactly these properties.

    FalkorDB takes vectors that are near each other for equal, so their distance is asked for.
    That fails where the item has something else in place of the vector.

    Args:
        names: of the vectors among them.
        others: the name of the rest.
        item: what is compared.
        row: holds the vectors; where it is left out, any vectors will do.

    >>> is_same((), "p", "e"), is_same(("v",), "p", "e")
    ('properties(e) = p', 'properties(e) = p {.*, `v`: e.`v`}')
    """
    if not names:
        return f"properties({item}) = {others}"
    own = ", ".join(f"`{name}`: {item}.`{name}`" for name in names)
    distances = (
        f" AND vec.euclideanDistance({item}.`{name}`, vecf32({row}.v{i})) = 0"
        for i, name in enumerate(names)
    )
    return f"properties({item}) = {others} {{.*, {own}}}{''.join(distances) if row else ''}"


def _pairs(flat: list[Any]) -> dict[str, Any]:
    names, cells = map(_name, flat[::2]), flat[1::2]
    return {
        # Most properties are texts, and there are a dozen of them in every memory.
        name: text(value) if kind == _TEXT else decoded((kind, value))
        for name, (kind, value) in zip(names, cells, strict=True)
    }


@lru_cache(maxsize=1024)
def _name(raw: bytes) -> str:
    return text(raw)


def _vector(numbers: list[float]) -> Vector:
    if not math.isfinite(sum(numbers)):
        raise Unstorable("holds a vector with a number that is not finite")
    return Vector.of(numbers)


def _float(digits: bytes) -> float:
    number = float(digits)
    if number - number != 0.0:
        raise Unstorable("holds a number that is not finite")
    return number


_DECODERS: dict[int, Callable[[Any], Any]] = {
    1: lambda value: None,
    _TEXT: text,
    3: int,
    4: lambda value: value == b"true",
    5: _float,
    _ARRAY: lambda cells: [decoded(cell) for cell in cells],
    _MAP: _pairs,
    _VECTOR: _vector,
}
