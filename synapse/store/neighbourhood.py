"""A few entities and their facts, read in milliseconds: what one episode can be compared with.

The tables are those of the whole-graph reader, so one fact reads the same either way. Nodes are
found by index or by id, never by a scan.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from redis.exceptions import ResponseError

from synapse.errors import UnknownGraph
from synapse.hippocampus.model import GraphSnapshot
from synapse.store.collector import Collector
from synapse.store.cypher import literal, with_rows
from synapse.store.reader import ENTITIES, EPISODES, FACTS, MENTIONS, snapshot_of
from synapse.store.table import joined_part, typed_part

# redis-py types every reply as text or bytes and differs between releases; ours are bytes.
Connection = Any

_FIND = "UNWIND $rows AS u MATCH (n:Entity {uuid: u}) RETURN ID(n), outdegree(n, 'RELATES_TO')"
_HUB_FACTS_COUNT = 20
"""An entity with more facts is read only as far as the named relations go."""


def read_subjects(
    connection: Connection, graph: str, subjects: Collection[str], relations: Collection[str] = ()
) -> GraphSnapshot:
    """The facts that start at some entities, with their ends and the episodes that support them.

    Args:
        connection: from :func:`~synapse.store.connection.connect`.
        graph: name of the graph; it is never created.
        subjects: uuids of entities; unknown ones are left out.
        relations: relation names that matter; used only for entities with very many facts.

    Raises:
        UnknownGraph: there is no graph of that name.
    """
    facts, entities, episodes = Collector(FACTS), Collector(ENTITIES), Collector(EPISODES)
    try:
        found = connection.execute_command(
            "GRAPH.RO_QUERY", graph, with_rows([literal(uuid) for uuid in sorted(subjects)], _FIND)
        )[1]
        named = sorted(relations)
        _add(connection, graph, facts, "ID(a) = i AND (n IS NULL OR x.name IN n)", [
            literal([node, named if named and count > _HUB_FACTS_COUNT else None])
            for node, count in sorted(found)
        ])  # fmt: skip
        columns = facts.columns()
        ends = {node for node, _ in found}.union(*(ids.tolist() for ids in columns.ids))
        _add(connection, graph, entities, "ID(a) = i", [literal([n, None]) for n in sorted(ends)])
        support = [literal([uuid, None]) for uuid in sorted(columns.vocabulary) if uuid]
        _add(connection, graph, episodes, "a.uuid = i", support)
    except ResponseError as error:
        if "operation on empty key" in str(error):
            raise UnknownGraph(f"there is no graph named {graph[:40]!r}") from error
        raise
    return snapshot_of(graph, [facts, Collector(MENTIONS), entities, episodes])


def _add(
    connection: Connection, graph: str, collector: Collector, where: str, rows: Sequence[str]
) -> None:
    """Read the items that ``where`` selects for each of the rows ``[i, n]``."""
    if not rows:
        return
    table, each = collector.table, "UNWIND $rows AS r WITH r[0] AS i, r[1] AS n "
    joined = with_rows(rows, each + table.query(where, joined=True))
    part = joined_part(table, connection.execute_command("GRAPH.RO_QUERY", graph, joined))
    if part is None:
        typed = with_rows(rows, each + table.query(where, joined=False))
        part = typed_part(
            table, connection.execute_command("GRAPH.RO_QUERY", graph, typed, "--compact")
        )
    collector.add(part)
