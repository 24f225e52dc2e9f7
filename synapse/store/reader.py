"""A Graphiti graph, complete, as a snapshot of aligned columns.

Graphs of graphiti-core 0.22 to 0.31 differ little: nulls are absent properties, older entities
carry a list ``labels``, older stamps any offset. The ends of a fact are taken from the pattern,
never from its properties (versions disagree about those). Embeddings are never fetched.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from redis.exceptions import ResponseError

from synapse.errors import IncompleteRead, UnknownGraph
from synapse.hippocampus.model import (
    Bools,
    Entities,
    Episodes,
    Facts,
    GraphSnapshot,
    Ints,
    Mentions,
    Ragged,
)
from synapse.store.columns import Columns, TableReader
from synapse.store.connection import Connection
from synapse.store.table import Table

_FACTS = Table(
    "RELATES_TO",
    links=True,
    ids=("ID(a)", "ID(b)"),
    times=("x.created_at", "x.valid_at", "x.invalid_at", "x.expired_at"),
    names=("x.name", "x.group_id"),
    texts=("x.uuid", "x.fact"),
    lists=("x.episodes",),
)
_MENTIONS = Table("MENTIONS", links=True, ids=("ID(a)", "ID(b)"))
_ENTITIES = Table(
    "Entity",
    links=False,
    ids=("ID(a)",),
    times=("a.created_at",),
    names=("a.group_id",),
    texts=("a.uuid", "a.name", "a.summary"),
    lists=("labels(a) + coalesce(a.labels, [])",),
)
_EPISODES = Table(
    "Episodic",
    links=False,
    ids=("ID(a)",),
    times=("a.created_at", "a.valid_at"),
    names=("a.group_id",),
    texts=("a.uuid",),
)


def read_graph(connection: Connection, graph: str) -> GraphSnapshot:
    """All entities, facts, episodes and mentions of one graph.

    Args:
        connection: from :func:`~synapse.store.connection.connect`.
        graph: name of the graph; it is never created.

    Raises:
        UnknownGraph: there is no graph of that name.
        IncompleteRead: the number of rows is not the number the server counts, twice.
    """
    try:
        # Ends after what hangs on them, so that a fact that arrives meanwhile finds its ends.
        facts, mentions, entities, episodes = (
            _read_table(connection, graph, table)
            for table in (_FACTS, _MENTIONS, _ENTITIES, _EPISODES)
        )
    except ResponseError as error:
        if "operation on empty key" in str(error):
            raise UnknownGraph(f"there is no graph named {graph[:40]!r}") from error
        raise
    left_out: Counter[str] = Counter()
    entity_table, entity_row = _entities(entities, left_out)
    episode_table, episode_row = _episodes(episodes, left_out)
    return GraphSnapshot(
        graph=graph,
        entities=entity_table,
        facts=_facts(facts, entity_row, episode_table, left_out),
        episodes=episode_table,
        mentions=_mentions(mentions, episode_row, entity_row, left_out),
        left_out={reason: number for reason, number in left_out.items() if number},
    )


def _read_table(connection: Connection, graph: str, table: Table) -> Columns:
    """Read a table and check that nothing is missing; read once more if something is."""
    for _ in range(2):
        reader = TableReader(connection, graph, table)
        before = reader.total()
        columns = reader.read()
        after = reader.total()
        # A graph that grows or shrinks meanwhile may be met anywhere in between.
        if min(before, after) <= columns.count <= max(before, after):
            return columns
    raise IncompleteRead(
        f"read {columns.count} of {after} {table.kind} in graph {graph[:30]!r}; run again"
    )


def _entities(columns: Columns, left_out: Counter[str]) -> tuple[Entities, Ints]:
    uuids, names, summaries = columns.texts
    rows, row_of = _distinct(uuids, "entities", left_out)
    table = Entities(
        uuid=_pick(uuids, rows),
        name=_pick(names, rows),
        summary=_pick(summaries, rows),
        group_id=_pick(columns.names[0], rows),
        labels=_pick(_labels(columns), rows),
        created_at_s=columns.times[0][rows],
    )
    return table, _by_node(columns.ids[0], row_of)


def _labels(columns: Columns) -> list[tuple[str, ...]]:
    """The distinct labels of each node, without ``Entity``."""
    lists = Ragged.from_counts(columns.list_lengths[0], columns.list_codes[0])
    labels: list[tuple[str, ...]] = [()] * columns.count
    plain = [code for code, word in enumerate(columns.vocabulary) if word in ("Entity", "")]
    own = ~np.isin(lists.values, plain)
    for row in np.unique(lists.row_numbers()[own]).tolist():
        words = dict.fromkeys(columns.vocabulary[code] for code in lists[row].tolist())
        labels[row] = tuple(word for word in words if word not in ("Entity", ""))
    return labels


def _episodes(columns: Columns, left_out: Counter[str]) -> tuple[Episodes, Ints]:
    rows, row_of = _distinct(columns.texts[0], "episodes", left_out)
    table = Episodes(
        uuid=_pick(columns.texts[0], rows),
        group_id=_pick(columns.names[0], rows),
        created_at_s=columns.times[0][rows],
        valid_at_s=columns.times[1][rows],
    )
    return table, _by_node(columns.ids[0], row_of)


def _facts(columns: Columns, entity_row: Ints, episodes: Episodes, left_out: Counter[str]) -> Facts:
    source, target = (_look_up(entity_row, ids) for ids in columns.ids)
    linked = (source >= 0) & (target >= 0)
    left_out["facts_without_entity_ends"] = int(np.count_nonzero(~linked))
    rows, _ = _distinct(columns.texts[0], "facts", left_out, among=linked)
    created_at_s, valid_at_s, invalid_at_s, expired_at_s = (time[rows] for time in columns.times)
    return Facts(
        uuid=_pick(columns.texts[0], rows),
        relation=_pick(columns.names[0], rows),
        text=_pick(columns.texts[1], rows),
        group_id=_pick(columns.names[1], rows),
        source=source[rows],
        target=target[rows],
        created_at_s=created_at_s,
        valid_at_s=valid_at_s,
        invalid_at_s=invalid_at_s,
        expired_at_s=expired_at_s,
        episodes=_support(columns, episodes).take(rows),
    )


def _support(columns: Columns, episodes: Episodes) -> Ragged:
    """The known episodes of each fact, each once, in their first order."""
    row_of_uuid = dict(zip(episodes.uuid, range(len(episodes)), strict=True))
    row_of_code = np.array([row_of_uuid.get(uuid, -1) for uuid in columns.vocabulary], np.int64)
    lists = Ragged.from_counts(columns.list_lengths[0], columns.list_codes[0])
    episode = row_of_code[lists.values] if len(row_of_code) else lists.values
    known = episode >= 0
    fact, episode = lists.row_numbers()[known], episode[known]
    pairs = fact * max(len(episodes), 1) + episode
    ordered = np.sort(pairs)
    if (ordered[1:] == ordered[:-1]).any():
        first = np.sort(np.unique(pairs, return_index=True)[1])
        fact, episode = fact[first], episode[first]
    return Ragged.from_counts(np.bincount(fact, minlength=columns.count), episode)


def _mentions(
    columns: Columns, episode_row: Ints, entity_row: Ints, left_out: Counter[str]
) -> Mentions:
    episode, entity = _look_up(episode_row, columns.ids[0]), _look_up(entity_row, columns.ids[1])
    linked = (episode >= 0) & (entity >= 0)
    left_out["mentions_without_ends"] = int(np.count_nonzero(~linked))
    return Mentions(episode[linked], entity[linked])


def _distinct(
    uuids: list[str], what: str, left_out: Counter[str], among: Bools | None = None
) -> tuple[Ints, Ints]:
    """The rows to keep, and the new row of every old one (-1: none).

    Without a uuid there is no memory. Of several with the same uuid the first is kept, and
    stands for the others.
    """
    count = len(uuids)
    if (among is None or among.all()) and "" not in (known := set(uuids)) and len(known) == count:
        return np.arange(count), np.arange(count)
    row_of_uuid: dict[str, int] = {}
    row_of = np.full(count, -1, np.int64)
    kept: list[int] = []
    for row in range(count) if among is None else np.flatnonzero(among).tolist():
        if not uuids[row]:
            left_out[f"{what}_without_uuid"] += 1
            continue
        if uuids[row] in row_of_uuid:
            left_out[f"{what}_with_a_known_uuid"] += 1
        else:
            row_of_uuid[uuids[row]] = len(kept)
            kept.append(row)
        row_of[row] = row_of_uuid[uuids[row]]
    return np.array(kept, np.int64), row_of


def _pick(column: list[Any], rows: Ints) -> list[Any]:
    return column if len(rows) == len(column) else [column[row] for row in rows.tolist()]


def _by_node(ids: Ints, row_of: Ints) -> Ints:
    """Row by node id, -1 where the node is not in the table."""
    rows = np.full(int(ids.max()) + 1 if len(ids) else 0, -1, np.int64)
    rows[ids] = row_of
    return rows


def _look_up(rows: Ints, ids: Ints) -> Ints:
    if not len(rows):
        return np.full(len(ids), -1, np.int64)
    return np.where(ids < len(rows), rows[np.minimum(ids, len(rows) - 1)], -1)
