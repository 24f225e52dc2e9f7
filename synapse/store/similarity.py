"""Near-duplicates by the embeddings that Graphiti stores, compared by the server.

Embeddings are long and travel as text, so they stay where they are: the server compares those
pairs that :mod:`~synapse.store.likeness` names, a few thousand at a time, and answers with the
few that are alike. Where it refuses, as a graph holds embeddings of several models, those of the
same few memories are read and compared here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from redis.exceptions import ResponseError

from synapse.hippocampus.interference import NearDuplicate, NearDuplicates
from synapse.store.cypher import only_row, with_rows
from synapse.store.failures import needing
from synapse.store.keys import Connection
from synapse.store.likeness import (
    ENDS_FACTS_MAX_COUNT,
    SOURCE_FACTS_MAX_COUNT,
    names_alike,
    near,
    near_duplicate,
    together,
)

PAIRS_PER_TRIP = 8_000
"""About 20 ms of the server's time."""
PAIRS_PER_PLACE = 20
"""What finding the facts of one place costs, in pairs."""
NODES_PER_TRIP = 2_000
_STRING, _DOUBLE, _ARRAY, _VECTOR = 2, 5, 6, 12
"""Value types of FalkorDB's compact replies."""

_ENTITIES = (
    "UNWIND $rows AS p WITH p[0] AS i, p[1] AS j MATCH (a) WHERE ID(a) = i "
    "MATCH (b) WHERE ID(b) = j "
)
_SAME_SOURCE = (
    "UNWIND $rows AS i MATCH (s)-[a:RELATES_TO]->() WHERE ID(s) = i "
    "AND typeOf(a.fact_embedding) = 'Vectorf32' MATCH (s)-[b:RELATES_TO]->() "
)
_SAME_ENDS = (
    "UNWIND $rows AS p WITH p[0] AS i, p[1] AS j MATCH (s) WHERE ID(s) = i "
    "MATCH (t) WHERE ID(t) = j WITH i, s, t MATCH (s)-[a:RELATES_TO]->(t) "
    "WHERE typeOf(a.fact_embedding) = 'Vectorf32' MATCH (s)-[b:RELATES_TO]->(t) "
)
_TWO_FACTS = "WHERE ID(a) < ID(b) AND typeOf(b.fact_embedding) = 'Vectorf32' "
_ALIKE = (
    "WITH a, b, vec.cosineDistance(a.{vector}, b.{vector}) AS d WHERE d <= {distance!r} "
    "RETURN collect([a.uuid, b.uuid, d])"
)


def near_duplicates(connection: Connection, graph: str, similarity_min: float) -> NearDuplicates:
    """All pairs of entities, and of facts, that are at least this alike.

    Args:
        connection: a client that answers with bytes.
        graph: name of the graph; it is never created.
        similarity_min: the least cosine.

    Raises:
        UnknownGraph: there is no graph of that name.
    """
    search = _Search(connection, graph, similarity_min)
    with needing(graph):
        pairs = {*search.entities(), *search.facts()}
    return NearDuplicates(tuple(sorted(pairs)), search.left_out_count)


class _Search:
    def __init__(self, connection: Connection, graph: str, similarity_min: float) -> None:
        self._connection = connection
        self._graph = graph
        self._similarity_min = similarity_min
        self.left_out_count = 0

    def entities(self) -> Iterator[NearDuplicate]:
        """Entities whose names have a word in common."""
        node, names = [], []
        for low in self._ranges():
            query = (
                f"MATCH (a:Entity) WHERE ID(a) >= {low} AND ID(a) < {low + NODES_PER_TRIP} "
                "AND typeOf(a.name_embedding) = 'Vectorf32' RETURN collect([ID(a), a.name])"
            )
            for number, name in self._ask(query)[0]:
                node.append(number)
                names.append(name if isinstance(name, str) else "")
        wanted = names_alike(names)
        for first in range(0, len(wanted), PAIRS_PER_TRIP):
            pairs = [(node[i], node[j]) for i, j in wanted[first : first + PAIRS_PER_TRIP]]
            rows = [f"[{i},{j}]" for i, j in pairs]
            yield from self._compared(
                with_rows(rows, _ENTITIES), "name_embedding",
                partial(self._entities_here, pairs),
            )  # fmt: skip

    def facts(self) -> Iterator[NearDuplicate]:
        """Facts of one entity; of one with very many those that lead to the same other entity."""
        plain: list[tuple[str, int]] = []
        for low in self._ranges():
            query = (
                f"MATCH (a) WHERE ID(a) >= {low} AND ID(a) < {low + NODES_PER_TRIP} "
                "WITH ID(a) AS i, outdegree(a, 'RELATES_TO') AS n WHERE n > 1 "
                "RETURN collect([i, n])"
            )
            for node, count in self._ask(query)[0]:
                if count <= SOURCE_FACTS_MAX_COUNT:
                    plain.append((str(node), count))
                else:
                    yield from self._between(_SAME_ENDS, self._targets(node))
        yield from self._between(_SAME_SOURCE, plain)

    def _targets(self, hub: int) -> list[tuple[str, int]]:
        """The entities to which a hub has several facts, with the number of these."""
        query = (
            f"MATCH (s)-[a:RELATES_TO]->(t) WHERE ID(s) = {hub} WITH ID(t) AS j, count(a) AS n "
            "WHERE n > 1 RETURN collect([j, n])"
        )
        found = self._ask(query)[0]
        self.left_out_count += sum(n for _, n in found if n > ENDS_FACTS_MAX_COUNT)
        return [(f"[{hub},{j}]", n) for j, n in found if n <= ENDS_FACTS_MAX_COUNT]

    def _between(self, match: str, places: Sequence[tuple[str, int]]) -> Iterator[NearDuplicate]:
        for rows in _bites(places):
            yield from self._compared(
                with_rows(rows, match + _TWO_FACTS), "fact_embedding",
                partial(self._facts_here, match, rows),
            )  # fmt: skip

    def _compared(
        self, match: str, vector: str, here: Callable[[], list[NearDuplicate]]
    ) -> Iterable[NearDuplicate]:
        distance = 1.0 - self._similarity_min
        try:
            found = self._ask(match + _ALIKE.format(vector=vector, distance=distance))[0]
        except ResponseError as error:
            if "dimension mismatch" not in str(error):
                raise
            return here()
        return [near_duplicate(str(one), str(other), 1.0 - d) for one, other, d in found]

    def _entities_here(self, pairs: Sequence[tuple[int, int]]) -> list[NearDuplicate]:
        """The same for entities with embeddings of several models."""
        rows = [str(node) for node in sorted({node for pair in pairs for node in pair})]
        query = (
            "UNWIND $rows AS i MATCH (a) WHERE ID(a) = i AND typeOf(a.name_embedding) = "
            "'Vectorf32' RETURN collect([i, a.uuid, a.name_embedding])"
        )
        found = self._ask(with_rows(rows, query))[0]
        row_of = {node: row for row, (node, *_) in enumerate(found)}
        known = [(row_of[i], row_of[j]) for i, j in pairs if i in row_of and j in row_of]
        return near([str(f[1]) for f in found], [f[2] for f in found], known, self._similarity_min)

    def _facts_here(self, match: str, rows: Sequence[str]) -> list[NearDuplicate]:
        """The same for facts with embeddings of several models."""
        query = match[: match.rindex("MATCH")]
        query += "RETURN collect([i, ID(endNode(a)), a.uuid, a.fact_embedding])"
        found = self._ask(with_rows(rows, query))[0]
        pairs, _ = together([tuple(f[: 2 if match == _SAME_ENDS else 1]) for f in found])
        return near([str(f[2]) for f in found], [f[3] for f in found], pairs, self._similarity_min)

    def _ranges(self) -> range:
        (last,) = self._ask("MATCH (a) RETURN max(ID(a))")
        return range(0, 0 if last is None else last + 1, NODES_PER_TRIP)

    def _ask(self, query: str) -> list[Any]:
        """The values of the one row that a query returns."""
        reply = self._connection.execute_command("GRAPH.RO_QUERY", self._graph, query, "--compact")
        return [_plain(cell) for cell in only_row(reply)]


def _bites(places: Sequence[tuple[str, int]]) -> Iterator[list[str]]:
    """Places with their numbers of facts, so many at a time as one trip can compare."""
    rows: list[str] = []
    filled = 0
    for row, count in places:
        work = count * count // 2 + PAIRS_PER_PLACE
        if rows and filled + work > PAIRS_PER_TRIP:
            yield rows
            rows, filled = [], 0
        rows.append(row)
        filled += work
    if rows:
        yield rows


def _plain(cell: Sequence[Any]) -> Any:
    """A value of a compact reply as a Python value."""
    kind, value = cell
    if kind in (_ARRAY, _VECTOR):
        return [_plain(each) if kind == _ARRAY else float(each) for each in value]
    if kind == _STRING:
        return value.decode("utf-8", "surrogatepass")
    return float(value) if kind == _DOUBLE else value
