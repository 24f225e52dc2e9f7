"""A few entities and their facts, read in milliseconds: what one episode can be compared with.

The tables are those of the whole-graph reader, so one fact reads the same either way; only the
summaries of entities are left out. Nodes are found by index or by id, never by a scan.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from redis.exceptions import ResponseError

from synapse.hippocampus.matters import Matters
from synapse.hippocampus.model import GraphSnapshot, Ints
from synapse.hippocampus.ports import Hear
from synapse.store.collector import Collector
from synapse.store.connection import Connection
from synapse.store.cypher import literal, only_row
from synapse.store.failures import needing
from synapse.store.reader import ENTITIES, EPISODES, FACTS, MENTIONS
from synapse.store.snapshot import snapshot_of
from synapse.store.table import Part, Table, is_type_mismatch, joined_part, typed_part
from synapse.store.wire import AskAll, held_wires

_NODES = "UNWIND $rows AS u MATCH (n:Entity {uuid: u}) RETURN collect(ID(n))"
_ENDS = replace(ENTITIES, texts=("a.name", "''"))
"""Summaries are long, and no statement is compared with them."""
_HUB_FACTS_COUNT = 5
"""Of an entity with more facts only those are read that can bear on the ones in question."""
_NOTHING = Matters()
_BETWEEN_WORDS = ("_", " ", "-")
"""What parts the words of a relation's name; *LIVES_IN*, *lives in* and *livesIn* are one."""


class _Question(NamedTuple):
    """Items of one table, selected by parameters."""

    table: Table
    begin: str
    """How the rows of the parameters select: the beginning of the query, and its condition."""
    where: str
    rows: str
    """A list as a literal."""
    where_typed: str = ""
    """The condition where values may be of any type, if that is another one."""

    def query(self, *, joined: bool) -> str:
        where = self.where if joined else self.where_typed or self.where
        return f"CYPHER rows={self.rows} {self.begin}{self.table.query(where, joined=joined)}"


def read_subjects(
    connection: Connection,
    graph: str,
    subjects: Collection[str],
    matters: Mapping[str, Matters] = MappingProxyType({}),
    hear: Hear | None = None,
) -> GraphSnapshot:
    """The facts that start at some entities, with their ends and the episodes that support them.

    Args:
        connection: from :func:`~synapse.store.connection.connect`.
        graph: name of the graph; it is never created.
        subjects: uuids of entities; unknown ones are left out.
        matters: by subject, all that is read where it has many facts.
        hear: is given the texts of the facts as they come in, while the rest is awaited.

    Raises:
        UnknownGraph: there is no graph of that name.
    """
    wanted = sorted(set(subjects))
    with needing(graph), held_wires(connection, 2) as ask:
        return snapshot_of(graph, _Reading(ask, graph, hear).tables(wanted, matters))


def _do_nothing() -> None:
    pass


class _Reading:
    """Asks two things at a time, and understands an answer while it waits for the next."""

    def __init__(self, ask: AskAll, graph: str, hear: Hear | None) -> None:
        self._send, self._graph, self._hear = ask, graph, hear

    def tables(self, wanted: Sequence[str], matters: Mapping[str, Matters]) -> list[Collector]:
        facts = Collector(FACTS, digested=False, hear=self._hear)
        mentions, entities, episodes = (
            Collector(table, digested=False) for table in (MENTIONS, _ENDS, EPISODES)
        )
        told = self._parts(_of_subjects(some, matters) for some in _halves(wanted))
        sources = {node for part in told for node in part.ids[0].tolist()}
        nodes = [ids for part in told for ids in part.ids]
        if len(sources) < max(len(wanted), 1):  # some have no fact here
            nodes.append(self._nodes(wanted))
        ends = np.unique(np.concatenate(nodes))

        def what_hangs_on_them() -> Iterator[_Question]:
            yield _with_ids(ends)
            told[:] = [part.apart(FACTS) for part in told]
            yield _named(told)

        def understand() -> None:
            for part in told:
                facts.add(_numbered(part, ends))

        known, seen = self._parts(what_hangs_on_them(), understand)
        entities.add(_numbered(known, ends))
        episodes.add(replace(seen, ids=[np.arange(seen.count)]))
        return [facts, mentions, entities, episodes]

    def _nodes(self, wanted: Sequence[str]) -> Ints:
        (found,) = only_row(self._ask([f"CYPHER rows={literal(wanted)} {_NODES}"])[0])
        return np.fromstring(found[1:-1], np.int64, sep=",")

    def _parts(
        self, questions: Iterator[_Question], meanwhile: Callable[[], None] = _do_nothing
    ) -> list[Part]:
        """The items; where texts hold separators, or are none, they are asked for once more."""
        asked: list[_Question] = []

        def queries() -> Iterator[str]:
            for question in questions:
                asked.append(question)
                yield question.query(joined=True)

        try:
            replies = self._ask(queries(), meanwhile)
        except ResponseError as error:
            if not is_type_mismatch(error):
                raise
            return list(map(self._typed, [*asked, *questions]))
        return [
            joined_part(question.table, reply) or self._typed(question)
            for question, reply in zip(asked, replies, strict=True)
        ]

    def _typed(self, question: _Question) -> Part:
        (reply,) = self._ask([question.query(joined=False)], _do_nothing, "--compact")
        return typed_part(question.table, reply)

    def _ask(
        self, queries: Iterable[str], meanwhile: Callable[[], None] = _do_nothing, *flags: str
    ) -> list[Any]:
        commands = (("GRAPH.RO_QUERY", self._graph, query, *flags) for query in queries)
        return self._send(commands, meanwhile)


def _halves(wanted: Sequence[str]) -> list[Sequence[str]]:
    return [half for half in (wanted[::2], wanted[1::2]) if half]


def _numbered(part: Part, ends: Ints) -> Part:
    """Ends numbered from zero, since what is made of them is as long as the greatest number."""
    return replace(part, ids=[np.searchsorted(ends, ids) for ids in part.ids])


def _with_ids(ends: Ints) -> _Question:
    return _Question(_ENDS, "UNWIND $rows AS i ", "ID(a) = i", str(ends.tolist()))


def _named(facts: Sequence[Part]) -> _Question:
    """The episodes that support some facts."""
    uuids = set().union(*(part.split_fields(FACTS).words for part in facts)) - {b""}
    texts = [uuid.decode("utf-8", "replace") for uuid in sorted(uuids)]
    return _Question(EPISODES, "", "a.uuid IN $rows", literal(texts))


def _of_subjects(subjects: Sequence[str], matters: Mapping[str, Matters]) -> _Question:
    rows = []
    for uuid in subjects:
        some = matters.get(uuid, _NOTHING)
        names, spelt = sorted(some.relations), sorted(set(map(_run_together, some.relations)))
        begun_with = "".join(sorted({name[:1] for name in (*names, *spelt)}))
        letters = begun_with + begun_with.lower() + "".join(_BETWEEN_WORDS)
        rows.append([[uuid, letters, some.told], names, spelt, sorted(some.objects)])
    begin = (
        "UNWIND $rows AS r "
        "WITH r[0][0] AS u, r[0][1] AS letters, r[0][2] AS told, r[1] AS names, r[2] AS spelt, "
        "r[3] AS objects "
        "MATCH (a:Entity {uuid: u}) "
        f"WITH a, names, objects, spelt, letters, told, size(names) + size(objects) = 0 "
        f"OR outdegree(a, 'RELATES_TO') <= {_HUB_FACTS_COUNT} AS whole ORDER BY ID(a) "
    )
    texts = "x.name", "b.name"
    return _Question(FACTS, begin, _bears(*texts), literal(rows), _bears(*map(_as_text, texts)))


def _as_text(value: str) -> str:
    return f"toStringOrNull({value})"


def _bears(name: str, object_name: str) -> str:
    """Whether a fact bears on what is asked for.

    Args:
        name: its own, as an expression.
        object_name: that of the entity where it ends.
    """
    run_together = name
    for mark in _BETWEEN_WORDS:
        run_together = f"replace({run_together}, '{mark}', '')"
    # To run every name of a hub together takes longer than all the rest.
    may_be_named = f"letters CONTAINS toLower(left({name}, 1))"
    is_named = f"(x.name IN names OR toLower({run_together}) IN spelt)"
    is_told = f"(told <> '' AND told CONTAINS toLower({object_name}))"
    return f"whole OR b.uuid IN objects OR ({may_be_named} AND {is_named}) OR {is_told}"


def _run_together(name: str) -> str:
    for mark in _BETWEEN_WORDS:
        name = name.replace(mark, "")
    return name.lower()
