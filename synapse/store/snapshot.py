"""Tables that were read, joined to a snapshot of aligned columns.

The server joins items by the ids of nodes, a snapshot by row numbers. What has no uuid, or no ends,
becomes no row.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from synapse.hippocampus.model import (
    Bools,
    Entities,
    Episodes,
    Facts,
    GraphOutline,
    GraphSnapshot,
    Ints,
    Mentions,
)
from synapse.hippocampus.ragged import Ragged
from synapse.hippocampus.traces import are_surely_distinct
from synapse.store.collector import Collector, Columns


def snapshot_of(graph: str, tables: list[Collector], digest: str = "") -> GraphSnapshot:
    """What the tables of a graph hold, as one snapshot.

    What cannot become a row is left out and counted: items without a uuid or with that of
    another one, and whatever hangs on something that the tables do not hold.

    Args:
        graph: its name.
        tables: of facts, mentions, entities and episodes, in this order.
        digest: names everything that was read; empty where unknown.
    """
    facts, mentions, entities, episodes = (table.columns() for table in tables)
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
        digest=digest,
    )


def outline_of(graph: str, tables: list[Collector]) -> GraphOutline:
    """The bones of the same snapshot, from tables of which only the bones were read.

    Args:
        graph: its name.
        tables: as for :func:`snapshot_of`.
    """
    facts, _, entities, _ = (table.bones() for table in tables)
    entity_row = _row_by_node(entities, np.arange(entities.count))
    source, target = (_look_up(entity_row, ids) for ids in facts.ids)
    outline = GraphOutline(graph, entities.uuids, facts.uuids, source, target)
    if (source >= 0).all() and (target >= 0).all() and _has_distinct_uuids(outline):
        return outline
    left_out: Counter[str] = Counter()
    entity_rows, entity_row = _node_rows(entities, "entities", left_out)
    source, target, rows = _fact_rows(facts, entity_row, left_out)
    return GraphOutline(
        graph,
        _pick(entities.uuids, entity_rows),
        _pick(facts.uuids, rows),
        source[rows],
        target[rows],
    )


def _has_distinct_uuids(outline: GraphOutline) -> bool:
    # The keys are needed anyway; to compare them takes less time than to compare texts.
    has_all = "" not in outline.entity_uuids and "" not in outline.fact_uuids
    return has_all and are_surely_distinct(outline.keys)


def _entities(columns: Columns, left_out: Counter[str]) -> tuple[Entities, Ints]:
    names, summaries = columns.texts
    rows, row_by_node = _node_rows(columns, "entities", left_out)
    table = Entities(
        uuid=_pick(columns.uuids, rows),
        name=_pick(names, rows),
        summary=_pick(summaries, rows),
        group_id=_pick(columns.names[0], rows),
        labels=_pick(_labels(columns), rows),
        created_at_s=columns.times[0][rows],
    )
    return table, row_by_node


def _labels(columns: Columns) -> list[tuple[str, ...]]:
    """The distinct labels of each node, without ``Entity``."""
    lists = Ragged.from_counts(columns.word_counts, columns.word_codes)
    labels: list[tuple[str, ...]] = [()] * columns.count
    own = np.array([word not in ("Entity", "") for word in columns.vocabulary], np.bool_)
    if not own.any():
        return labels
    for row in np.unique(lists.row_numbers()[own[lists.values]]).tolist():
        words = dict.fromkeys(columns.vocabulary[code] for code in lists[row].tolist())
        labels[row] = tuple(word for word in words if word not in ("Entity", ""))
    return labels


def _episodes(columns: Columns, left_out: Counter[str]) -> tuple[Episodes, Ints]:
    rows, row_by_node = _node_rows(columns, "episodes", left_out)
    table = Episodes(
        uuid=_pick(columns.uuids, rows),
        group_id=_pick(columns.names[0], rows),
        created_at_s=columns.times[0][rows],
        valid_at_s=columns.times[1][rows],
    )
    return table, row_by_node


def _facts(columns: Columns, entity_row: Ints, episodes: Episodes, left_out: Counter[str]) -> Facts:
    source, target, rows = _fact_rows(columns, entity_row, left_out)
    created_at_s, valid_at_s, invalid_at_s, expired_at_s = (time[rows] for time in columns.times)
    support, references_count = _support(columns, episodes, left_out)
    return Facts(
        uuid=_pick(columns.uuids, rows),
        relation=_pick(columns.names[0], rows),
        text=_pick(columns.texts[0], rows),
        group_id=_pick(columns.names[1], rows),
        source=source[rows],
        target=target[rows],
        created_at_s=created_at_s,
        valid_at_s=valid_at_s,
        invalid_at_s=invalid_at_s,
        expired_at_s=expired_at_s,
        episodes=support.take(rows),
        references_count=references_count[rows],
    )


def _support(columns: Columns, episodes: Episodes, left_out: Counter[str]) -> tuple[Ragged, Ints]:
    """The known episodes of each fact, each once, in their first order; and how many it names."""
    row_of_uuid = dict(zip(episodes.uuid, range(len(episodes)), strict=True))
    row_of_code = np.array([row_of_uuid.get(uuid, -1) for uuid in columns.vocabulary], np.int64)
    lists = Ragged.from_counts(columns.word_counts, columns.word_codes)
    episode = row_of_code[lists.values] if len(row_of_code) else lists.values
    known = episode >= 0
    named = np.array([bool(uuid) for uuid in columns.vocabulary], np.bool_)
    left_out["references_to_unknown_episodes"] = int(named[lists.values[~known]].sum())
    fact = lists.row_numbers()
    references_count = np.bincount(fact[named[lists.values]], minlength=columns.count)
    fact, episode = fact[known], episode[known]
    pairs = fact * max(len(episodes), 1) + episode
    ordered = np.sort(pairs)
    if (ordered[1:] == ordered[:-1]).any():
        first = np.sort(np.unique(pairs, return_index=True)[1])
        fact, episode = fact[first], episode[first]
    known_count = np.bincount(fact, minlength=columns.count)
    return Ragged.from_counts(known_count, episode), references_count


def _mentions(
    columns: Columns, episode_row: Ints, entity_row: Ints, left_out: Counter[str]
) -> Mentions:
    episode, entity = _look_up(episode_row, columns.ids[0]), _look_up(entity_row, columns.ids[1])
    linked = (episode >= 0) & (entity >= 0)
    left_out["mentions_without_ends"] = int(np.count_nonzero(~linked))
    return Mentions(episode[linked], entity[linked])


def _node_rows(columns: Columns, what: str, left_out: Counter[str]) -> tuple[Ints, Ints]:
    """The nodes to keep, and their new row by node id (-1: none)."""
    rows, row_of = _distinct(columns.uuids, what, left_out)
    return rows, _row_by_node(columns, row_of)


def _row_by_node(columns: Columns, row_of: Ints) -> Ints:
    ids = columns.ids[0]
    by_node = np.full(int(ids.max()) + 1 if len(ids) else 0, -1, np.int64)
    by_node[ids] = row_of
    return by_node


def _fact_rows(
    columns: Columns, entity_row: Ints, left_out: Counter[str]
) -> tuple[Ints, Ints, Ints]:
    """Both ends of every fact, and the facts to keep."""
    source, target = (_look_up(entity_row, ids) for ids in columns.ids)
    linked = (source >= 0) & (target >= 0)
    left_out["facts_without_entity_ends"] = int(np.count_nonzero(~linked))
    rows, _ = _distinct(columns.uuids, "facts", left_out, among=linked)
    return source, target, rows


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


def _look_up(rows: Ints, ids: Ints) -> Ints:
    if not len(rows):
        return np.full(len(ids), -1, np.int64)
    return np.where(ids < len(rows), rows[np.minimum(ids, len(rows) - 1)], -1)
