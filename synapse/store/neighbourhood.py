"""A few entities and their facts, read in milliseconds: what one episode can be compared with.

The tables are those of the whole-graph reader, so one fact reads the same either way. Nodes are
found by index or by id, never by a scan.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from redis.exceptions import ResponseError

from synapse.errors import UnknownGraph
from synapse.hippocampus.model import GraphSnapshot
from synapse.store.collector import Collector
from synapse.store.cypher import literal, only_row, with_rows
from synapse.store.reader import ENTITIES, EPISODES, FACTS, MENTIONS, snapshot_of
from synapse.store.table import Table, joined_part, typed_part

# redis-py types every reply as text or bytes and differs between releases; ours are bytes.
Connection = Any

_NODES = "UNWIND $rows AS u MATCH (n:Entity {uuid: u}) RETURN collect(ID(n))"
_HUB_FACTS_COUNT = 20
"""Of an entity with more facts only those are read that can bear on the ones in question."""


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
    collectors = {table: Collector(table) for table in (FACTS, MENTIONS, ENTITIES, EPISODES)}
    wanted = sorted(set(subjects))
    try:
        nodes, facts = _asked(connection, graph, [
            with_rows(list(map(literal, wanted)), _NODES),
            (of_subjects := _of_subjects(wanted, matters)).query(joined=True),
        ])  # fmt: skip
        _add(connection, graph, collectors[FACTS], of_subjects, facts)
        columns = collectors[FACTS].columns()
        (found,) = only_row(nodes)
        ends = set(map(int, re.findall(rb"\d+", found)))
        ends.update(*(ids.tolist() for ids in columns.ids))
        support = filter(None, columns.vocabulary)
        questions = [
            _Question(ENTITIES, "WITH r AS i ", "ID(a) = i", list(map(str, sorted(ends)))),
            _Question(EPISODES, "WITH r AS i ", "a.uuid = i", list(map(literal, sorted(support)))),
        ]
        questions = [question for question in questions if question.rows]
        replies = _asked(connection, graph, [one.query(joined=True) for one in questions])
        for question, reply in zip(questions, replies, strict=True):
            _add(connection, graph, collectors[question.table], question, reply)
    except ResponseError as error:
        if "operation on empty key" in str(error):
            raise UnknownGraph(f"there is no graph named {graph[:40]!r}") from error
        raise
    return snapshot_of(graph, list(collectors.values()))


def _of_subjects(subjects: Sequence[str], matters: Mapping[str, Collection[str]]) -> _Question:
    rows = [literal([uuid, sorted(matters.get(uuid, ())) or None]) for uuid in subjects]
    each = (
        "WITH r[0] AS u, r[1] AS some MATCH (a:Entity {uuid: u}) WITH a, CASE WHEN "
        f"outdegree(a, 'RELATES_TO') > {_HUB_FACTS_COUNT} THEN some ELSE null END AS n "
        "ORDER BY ID(a) "
    )
    return _Question(FACTS, each, "n IS NULL OR x.name IN n OR b.uuid IN n", rows)


def _asked(connection: Connection, graph: str, queries: Sequence[str]) -> list[Any]:
    """The answers to several queries, in one round trip."""
    with connection.pipeline(transaction=False) as pipe:
        for query in queries:
            pipe.execute_command("GRAPH.RO_QUERY", graph, query)
        return list(pipe.execute())


def _add(
    connection: Connection, graph: str, collector: Collector, question: _Question, reply: Any
) -> None:
    """Take in an answer; where its texts hold separators, the values are asked for once more."""
    part = joined_part(question.table, reply)
    if part is None:
        typed = question.query(joined=False)
        part = typed_part(
            question.table,
            connection.execute_command("GRAPH.RO_QUERY", graph, typed, "--compact"),
        )
    collector.add(part)
