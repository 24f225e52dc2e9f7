"""What replaced facts that no longer hold."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from graphiti_core.edges import EntityEdge

from synapse.hippocampus.lexicon.english_changes import ENGLISH
from synapse.hippocampus.matters import Matters
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.relation_table import RelationTable
from synapse.hippocampus.rules.statement import StatementReader, hide_names
from synapse.integrations.arrival import begun_s
from synapse.integrations.aside import SEARCHING, Aside
from synapse.integrations.facts import facts_of
from synapse.integrations.relation_memory import RelationMemory


async def successors(
    store: MemoryStore, driver: Any, aside: Aside, graph: str, ended: Sequence[EntityEdge],
    relations: RelationMemory, at_s: float,
) -> list[EntityEdge]:  # fmt: skip
    """What replaced some facts and holds at a moment, in their order, each once.

    That is the fact of the same subject, property and group that begins in the moment in which
    the other ends; of a property that holds one value at a time also the first that begins later,
    over however many steps one value followed another. A fact without a date begins with the
    first episode that says it.

    What has no end, or ends only after the moment, was not replaced; nor was an event, nor one of
    many values that ended as it began. What denies, asks, supposes or adds something replaces
    nothing.

    Args:
        store: where the graph is.
        driver: Graphiti's, of any graph of the same server.
        aside: where blocking work goes.
        graph: name of the graph.
        ended: facts in it.
        relations: what the graph shows about them, as far as that has been learned.
        at_s: the moment, seconds since 1970.
    """
    uuids = await aside.run(SEARCHING, _successors, store, graph, ended, relations, at_s)
    return await facts_of(driver.with_database(graph), uuids)


def _successors(
    store: MemoryStore, graph: str, ended: Sequence[EntityEdge], relations: RelationMemory,
    at_s: float,
) -> list[str]:  # fmt: skip
    """Uuids of the successors."""
    table = relations.learned(graph)
    names, named = cache(table.names), defaultdict[str, set[str]](set)
    for edge in ended:
        named[edge.source_node_uuid] |= names(edge.name)
    matters = {subject: Matters(relations=some) for subject, some in named.items()}
    known = store.read_subjects(graph, named, matters)
    rows = succeeding(known, table, [edge.uuid for edge in ended], at_s)
    return [known.facts.uuid[row] for row in rows]


def succeeding(
    known: GraphSnapshot, table: RelationTable, ended: Sequence[str], at_s: float
) -> list[int]:
    """Rows of what replaced the facts of these uuids; see :func:`successors`."""
    slots, facts = _slots(known, table), known.facts
    row_of, found = {uuid: row for row, uuid in enumerate(facts.uuid)}, list[int]()
    rows = [row_of[uuid] for uuid in ended if uuid in row_of]
    holding: dict[_Slot, list[tuple[float, str, int]]] = {slots[row]: [] for row in rows}
    for row, slot in enumerate(slots):
        if slot in holding and not facts.invalid_at_s[row] <= at_s:
            begins_s = begun_s(known, row)
            if begins_s <= at_s:
                holding[slot].append((begins_s, facts.uuid[row], row))
    for values in holding.values():
        values.sort()
    states_now, cardinality_of = cache(partial(_states_now, known)), cache(table.cardinality)
    for row in rows:
        end_s, cardinality = float(facts.invalid_at_s[row]), cardinality_of(facts.relation[row])
        is_single, is_point = cardinality == "single", bool(facts.valid_at_s[row] >= end_s)
        if not end_s <= at_s or cardinality == "event" or (is_point and not is_single):
            continue
        values = holding[slots[row]]
        for begins_s, _, other in values[bisect_left(values, (end_s,)) :]:
            if begins_s > end_s and not is_single:
                break
            if states_now(other):
                found.append(other)
                break
    return list(dict.fromkeys(found))


def _states_now(known: GraphSnapshot, row: int) -> bool:
    """Whether a fact gives a value in place of others."""
    facts, names = known.facts, known.entities.name
    ends = names[int(facts.source[row])], names[int(facts.target[row])]
    text = hide_names(facts.text[row], *ends)
    return _statements().mood(text, facts.relation[row]).states_now()


@cache
def _statements() -> StatementReader:
    return StatementReader(ENGLISH)


_Slot = tuple[int, int, str]
"""Row of the subject, property, group."""


def _slots(known: GraphSnapshot, table: RelationTable) -> list[_Slot]:
    """To which property of which subject, in which group, each fact gives a value."""
    facts = known.facts
    properties = table.properties(facts.relation).tolist()
    return list(zip(facts.source.tolist(), properties, facts.group_id, strict=True))
