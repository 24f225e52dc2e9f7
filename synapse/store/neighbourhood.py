"""A few entities and their facts, read in milliseconds: what one episode can be compared with.

The tables are those of the whole-graph reader, so one fact reads the same either way; only the
summaries of entities are left out. Nodes are found by index or by id, never by a scan.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from redis.exceptions import ResponseError

from synapse.errors import UnknownGraph
from synapse.hippocampus.model import GraphSnapshot, Ints
from synapse.store.collector import Collector
from synapse.store.connection import Connection
from synapse.store.cypher import literal, only_row, with_rows
from synapse.store.failures import is_without_graph
from synapse.store.reader import ENTITIES, EPISODES, FACTS, MENTIONS, snapshot_of
from synapse.store.table import Part, Table, joined_part, typed_part
from synapse.store.wire import Ask, held_wire

_NODES = "UNWIND $rows AS u MATCH (n:Entity {uuid: u}) RETURN collect(ID(n))"
_ENDS = replace(ENTITIES, texts=("a.name", "''"))
"""Summaries are long, and no statement is compared with them."""
_HUB_FACTS_COUNT = 20
"""Of an entity with more facts only those are read that can bear on the ones in question."""
_BETWEEN_WORDS = ("_", " ", "-")
"""What parts the words of a relation's name; *LIVES_IN*, *lives in* and *livesIn* are one."""


class _Question(NamedTuple):
    """Items of one table, selected by parameters."""

    table: Table
    each: str
    """How a row of the parameters selects: the beginning of the query, and its condition."""
    where: str
    rows: Sequence[str]

    def query(self, *, joined: bool) -> str:
        asked = f"UNWIND $rows AS r {self.each}{self.table.query(self.where, joined=joined)}"
        return with_rows(self.rows, asked)


def read_subjects(
    connection: Connection,
    graph: str,
    subjects: Collection[str],
    matters: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> GraphSnapshot:
    """The facts that start at some entities, with their ends and the episodes that support them.

    Args:
        connection: from :func:`~synapse.store.connection.connect`.
        graph: name of the graph; it is never created.
        subjects: uuids of entities; unknown ones are left out.
        matters: by subject, the names of the relations and the uuids of the objects that matter;
            used only where it has very many facts.

    Raises:
        UnknownGraph: there is no graph of that name.
    """
    wanted = sorted(set(subjects))
    try:
        with held_wire(connection) as ask:
            return snapshot_of(graph, _Reading(ask, graph).tables(wanted, matters))
    except ResponseError as error:
        if is_without_graph(error):
            raise UnknownGraph(f"there is no graph named {graph[:40]!r}") from error
        raise


class _Reading:
    """Asks for one table while the one before is understood."""

    def __init__(self, ask: Ask, graph: str) -> None:
        self._send, self._graph = ask, graph

    def tables(
        self, wanted: Sequence[str], matters: Mapping[str, Collection[str]]
    ) -> list[Collector]:
        tables = [Collector(t, digested=False) for t in (FACTS, MENTIONS, _ENDS, EPISODES)]
        facts, _, entities, episodes = tables
        told = self._part(_of_subjects(wanted, matters), _do_nothing)
        sources, targets = told.ids
        nodes = [sources, targets]
        if len(np.unique(sources)) < len(wanted):  # some have no fact here
            nodes.append(self._nodes(wanted))
        ends = np.unique(np.concatenate(nodes))
        ids = list(map(str, ends.tolist()))
        # Numbered from zero, since what is made of them is as long as the greatest number.
        told = replace(told, ids=[np.searchsorted(ends, each) for each in (sources, targets)])
        known = self._part(
            _Question(_ENDS, "WITH r AS i ", "ID(a) = i", ids), lambda: facts.add(told)
        )
        known = replace(known, ids=[np.searchsorted(ends, known.ids[0])])
        support = list(map(literal, sorted(filter(None, facts.vocabulary()))))
        seen = self._part(
            _Question(EPISODES, "WITH r AS i ", "a.uuid = i", support), lambda: entities.add(known)
        )
        episodes.add(replace(seen, ids=[np.arange(seen.count)]))
        return tables

    def _nodes(self, wanted: Sequence[str]) -> Ints:
        query = with_rows(list(map(literal, wanted)), _NODES)
        (found,) = only_row(self._ask(query, meanwhile=_do_nothing))
        return np.fromstring(found[1:-1], np.int64, sep=",")

    def _part(self, question: _Question, meanwhile: Callable[[], None]) -> Part:
        """The items; where their texts hold separators, the values are asked for once more."""
        part = joined_part(
            question.table, self._ask(question.query(joined=True), meanwhile=meanwhile)
        )
        if part is None:
            query = question.query(joined=False)
            reply = self._ask(query, "--compact", meanwhile=_do_nothing)
            part = typed_part(question.table, reply)
        return part

    def _ask(self, query: str, *flags: str, meanwhile: Callable[[], None]) -> Any:
        return self._send(("GRAPH.RO_QUERY", self._graph, query, *flags), meanwhile)


def _do_nothing() -> None:
    pass


def _of_subjects(subjects: Sequence[str], matters: Mapping[str, Collection[str]]) -> _Question:
    rows = []
    for uuid in subjects:
        some = sorted(matters.get(uuid, ()))
        rows.append(literal([uuid, some or None, sorted(set(map(_run_together, some)))]))
    each = (
        "WITH r[0] AS u, r[1] AS some, r[2] AS names MATCH (a:Entity {uuid: u}) "
        f"WITH a, names, CASE WHEN outdegree(a, 'RELATES_TO') > {_HUB_FACTS_COUNT} "
        "THEN some ELSE null END AS n ORDER BY ID(a) "
    )
    name = "toStringOrNull(x.name)"
    for mark in _BETWEEN_WORDS:
        name = f"replace({name}, '{mark}', '')"
    where = f"n IS NULL OR x.name IN n OR toLower({name}) IN names OR b.uuid IN n"
    return _Question(FACTS, each, where, rows)


def _run_together(name: str) -> str:
    for mark in _BETWEEN_WORDS:
        name = name.replace(mark, "")
    return name.lower()
