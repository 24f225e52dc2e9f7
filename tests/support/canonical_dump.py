"""A whole graph as sorted lines: equal for equal graphs, whatever ids the server has given.

It shares no code with the product's own reading. Numbers of 64 bits are written with all digits.
"""

from __future__ import annotations

from typing import Any

import redis

_STRING, _INTEGER, _BOOLEAN, _DOUBLE, _ARRAY, _MAP, _VECTOR = 2, 3, 4, 5, 6, 10, 12
_NAMES = {_STRING: "text", _INTEGER: "int", _BOOLEAN: "bool", _DOUBLE: "float", _VECTOR: "vector"}


def canonical_dump(uri: str, graph: str) -> list[str]:
    """One line for each node and each edge, with every label and every typed property."""
    with redis.Redis.from_url(uri, protocol=2, socket_timeout=60) as connection:
        nodes = _rows(
            connection, graph, "MATCH (x) RETURN ID(x), labels(x), properties(x), 0 AS a, 0 AS b"
        )
        edges = _rows(
            connection,
            graph,
            "MATCH (a)-[x]->(b) RETURN ID(x), [type(x)], properties(x), ID(a), ID(b)",
        )
        rests = _rests(connection, graph)
    names = {cells[0][1]: _line(cells, rests.get(("node", cells[0][1]), {})) for cells in nodes}
    lines = [f"node {name}" for name in names.values()]
    for cells in edges:
        line = _line(cells, rests.get(("edge", cells[0][1]), {}))
        lines.append(f"edge {line} from {names[cells[3][1]]} to {names[cells[4][1]]}")
    return sorted(lines)


def _rows(connection: redis.Redis, graph: str, query: str) -> list[Any]:
    reply: Any = connection.execute_command("GRAPH.RO_QUERY", graph, query, "--compact")
    return list(reply[1])


def _rests(connection: redis.Redis, graph: str) -> dict[tuple[str, int], dict[str, str]]:
    """What the printed digits of numbers leave out: the rest after the nearest millionth part."""
    found: dict[tuple[str, int], dict[str, str]] = {}
    for what, pattern in (("node", "(x)"), ("edge", "()-[x]->()")):
        query = (
            f"MATCH {pattern} WITH x, properties(x) AS p UNWIND keys(x) AS k WITH x, k, p[k] AS v "
            "UNWIND CASE WHEN typeOf(v) = 'List' THEN v ELSE [v] END AS f WITH x, k, f "
            "WHERE typeOf(f) = 'Float' RETURN ID(x), k, f - toFloat(toString(f)), f * 1e9"
        )
        for (_, row), (_, name), (_, rest), (_, scaled) in _rows(connection, graph, query):
            digits = found.setdefault((what, row), {})
            digits[name.decode()] = digits.get(name.decode(), "") + f" {rest!r} {scaled!r}"
    return found


def _line(cells: list[Any], rests: dict[str, str]) -> str:
    labels = sorted(repr(label) for _, label in cells[1][1])
    flat = cells[2][1]
    pairs = zip(flat[::2], flat[1::2], strict=True)
    properties = sorted(f"{n!r}={_value(c)}{rests.get(_name(n), '')}" for n, c in pairs)
    return f"{' '.join(labels)} {{{', '.join(properties)}}}"


def _value(cell: Any) -> str:
    kind, value = cell
    if kind == _ARRAY:
        return f"[{', '.join(map(_value, value))}]"
    return f"{_NAMES[kind]} {value!r}"


def _name(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
