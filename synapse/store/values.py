"""Property values as FalkorDB's compact replies spell them, without any loss.

Texts may hold bytes that are no UTF-8: they are kept as escapes and written back as they were.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from synapse.hippocampus.image import Vector
from synapse.store.cypher import literal

_ARRAY, _MAP, _VECTOR = 6, 10, 12
_MINUS_ZERO = re.compile(r"(?<![^,])-0(?![^,])")


Contents = Mapping[str, tuple[tuple[str, ...], str]]
"""What :func:`split` makes of the properties of some memories, by uuid."""


class Unstorable(ValueError):
    """A value that cannot be written back as it was read."""


def text(raw: bytes) -> str:
    r"""Any bytes as text.

    >>> text(b"\xffa")
    '\udcffa'
    """
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
    digits = vector.digits
    if "-0," in digits or digits.endswith("-0"):
        # A query reads -0 as an integer, which has no sign.
        digits = _MINUS_ZERO.sub("-0.0", digits)
    return f"[{digits}]"


def split(properties: Mapping[str, Any]) -> tuple[tuple[str, ...], str]:
    """Names of the vectors among properties, and a literal ``{p: others, v0: …, v1: …}``.

    A parameter cannot hold a vector, so vectors travel as lists and the query makes them.
    """
    vectors = {name: value for name, value in properties.items() if isinstance(value, Vector)}
    others = {name: value for name, value in properties.items() if name not in vectors}
    lists = "".join(f",v{i}:{vector_literal(v)}" for i, v in enumerate(vectors.values()))
    return tuple(vectors), f"p:{literal(others)}{lists}"


def set_vectors(names: tuple[str, ...], row: str, item: str) -> str:
    """The clauses that give an item its vectors."""
    vectors = enumerate(names)
    return "".join(f" SET {item}.`{name}` = vecf32({row}.v{i})" for i, name in vectors)


def is_same(names: tuple[str, ...], row: str, others: str, item: str) -> str:
    """The condition that an item has exactly these properties.

    FalkorDB takes vectors that are near each other for equal, so their distance is asked for.
    That fails where the item has something else in place of the vector.

    >>> is_same((), "x", "p", "e")
    'properties(e) = p'
    """
    if not names:
        return f"properties({item}) = {others}"
    own = ", ".join(f"`{name}`: {item}.`{name}`" for name in names)
    distances = (
        f" AND vec.euclideanDistance({item}.`{name}`, vecf32({row}.v{i})) = 0"
        for i, name in enumerate(names)
    )
    return f"properties({item}) = {others} {{.*, {own}}}{''.join(distances)}"


def _pairs(flat: list[Any]) -> dict[str, Any]:
    return {text(name): decoded(cell) for name, cell in zip(flat[::2], flat[1::2], strict=True)}


def _vector(numbers: list[bytes]) -> Vector:
    digits = b",".join(numbers).decode("ascii")
    if "n" in digits:  # nan or inf
        raise Unstorable("holds a vector with a number that is not finite")
    return Vector(digits)


def _float(digits: bytes) -> float:
    number = float(digits)
    if number - number != 0.0:
        raise Unstorable("holds a number that is not finite")
    return number


_DECODERS: dict[int, Callable[[Any], Any]] = {
    1: lambda value: None,
    2: text,
    3: int,
    4: lambda value: value == b"true",
    5: _float,
    _ARRAY: lambda cells: [decoded(cell) for cell in cells],
    _MAP: _pairs,
    _VECTOR: _vector,
}
