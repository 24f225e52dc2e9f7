"""A Graphiti graph, read completely, and checked that nothing is missing.

Graphs of graphiti-core 0.22 to 0.31 differ little: nulls are absent properties, older entities
carry a list ``labels``, older stamps any offset. The ends of a fact are taken from the pattern,
never from its properties (versions disagree about those). Embeddings are never fetched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b

from synapse.errors import IncompleteRead, shown
from synapse.hippocampus.model import GraphOutline, GraphSnapshot
from synapse.hippocampus.ports import Hear
from synapse.store.collector import Collector
from synapse.store.columns import TableReader
from synapse.store.connection import Connection
from synapse.store.failures import needing
from synapse.store.snapshot import outline_of, snapshot_of
from synapse.store.table import Table
from synapse.store.wire import Ask, held_wire

FACTS = Table(
    "RELATES_TO",
    links=True,
    ids=("ID(a)", "ID(b)"),
    uuid="x.uuid",
    times=("x.created_at", "x.valid_at", "x.invalid_at", "x.expired_at"),
    names=("x.name", "x.group_id"),
    texts=("x.fact",),
    words="x.episodes",
)
MENTIONS = Table("MENTIONS", links=True, ids=("ID(a)", "ID(b)"))
ENTITIES = Table(
    "Entity",
    links=False,
    ids=("ID(a)",),
    uuid="a.uuid",
    times=("a.created_at",),
    names=("a.group_id",),
    texts=("a.name", "a.summary"),
    words="labels(a) + coalesce(a.labels, [])",
    typed_words="[labels(a), a.labels]",
)
EPISODES = Table(
    "Episodic",
    links=False,
    ids=("ID(a)",),
    uuid="a.uuid",
    times=("a.created_at", "a.valid_at"),
    names=("a.group_id",),
)
_TABLES = (FACTS, MENTIONS, ENTITIES, EPISODES)
"""Ends after what hangs on them, so that a fact that arrives meanwhile finds its ends."""


def read_graph(connection: Connection, graph: str, hear: Hear | None = None) -> GraphSnapshot:
    """All entities, facts, episodes and mentions of one graph.

    Args:
        connection: from :func:`~synapse.store.connection.connect`.
        graph: name of the graph; it is never created.
        hear: is given the texts of its facts as they come in, while the next ones are awaited.

    Raises:
        UnknownGraph: there is no graph of that name.
        IncompleteRead: the number of rows is not the number the server counts, twice.
    """
    tables = _read_tables(connection, graph, hear)
    return snapshot_of(graph, tables, _digest(tables))


def read_graph_unless(
    connection: Connection, graph: str, digest: str, hear: Hear | None = None
) -> GraphSnapshot | GraphOutline:
    """The outline of the graph if it still has this digest, else all of it.

    Args:
        connection: from :func:`~synapse.store.connection.connect`.
        graph: name of the graph; it is never created.
        digest: of an earlier :class:`~synapse.hippocampus.model.GraphSnapshot`.
        hear: as for :func:`read_graph`.

    Raises:
        UnknownGraph, IncompleteRead: as :func:`read_graph`.
    """
    if digest and _counts(connection, graph) == digest.partition("-")[0]:
        tables = _read_tables(connection, graph, only_bones=True)
        if _digest(tables) == digest:
            return outline_of(graph, tables)
    # It is rare that a graph changes and grows by nothing: to keep all that was read for such a
    # case would cost every run more than to read it again costs that one.
    return read_graph(connection, graph, hear)


def _read_tables(
    connection: Connection, graph: str, hear: Hear | None = None, *, only_bones: bool = False
) -> list[Collector]:
    with _asking(connection, graph) as ask:
        return [
            _read_table(ask, graph, table, hear if table is FACTS else None, only_bones)
            for table in _TABLES
        ]


@contextmanager
def _asking(connection: Connection, graph: str) -> Iterator[Ask]:
    with needing(graph), held_wire(connection) as ask:
        yield ask


def _read_table(
    ask: Ask, graph: str, table: Table, hear: Hear | None, only_bones: bool
) -> Collector:
    """Read a table and check that nothing is missing; read once more if something is."""
    for _ in range(2):
        collector = Collector(table, only_bones=only_bones, hear=hear)
        reader = TableReader(ask, graph, table, collector)
        before = reader.total()
        reader.read()
        after = reader.total()
        # A graph that grows or shrinks meanwhile may be met anywhere in between.
        if min(before, after) <= collector.count <= max(before, after):
            return collector
    raise IncompleteRead(
        f"read {collector.count} of {after} {table.kind} in graph {shown(graph)}; run again"
    )


def _counts(connection: Connection, graph: str) -> str:
    """How many items of each table the server counts, as the digest of a graph begins."""
    with _asking(connection, graph) as ask:
        readers = [TableReader(ask, graph, table, Collector(table)) for table in _TABLES]
        return _joined_counts(reader.total() for reader in readers)


def _joined_counts(counts: Iterable[int]) -> str:
    return ".".join(map(str, counts))


def _digest(tables: list[Collector]) -> str:
    whole = blake2b(b"".join(table.digest() for table in tables), digest_size=16).hexdigest()
    return f"{_joined_counts(table.count for table in tables)}-{whole}"
