"""Facts as Graphiti's own objects, by uuid, with one question to the database."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Any

from graphiti_core.edges import EntityEdge, get_entity_edge_from_record
from graphiti_core.models.edges.edge_db_queries import get_entity_edge_return_query

# Asked for with the label of their ends, the database looks at every entity of the graph; and with
# a known source it would use the same index, but finds nothing where that is the first node.
_FIND = "MATCH ()-[e:RELATES_TO]->() WHERE e.uuid IN $uuids RETURN "
_ALL, _ALL_BUT_THE_VECTOR = "properties(e)", "e {.*, fact_embedding: null}"


async def facts_of(driver: Any, uuids: Collection[str]) -> list[EntityEdge]:
    """The facts, in the order of their uuids, each once, with all that a search of Graphiti tells.

    Left out are those that are gone, and those of which Graphiti makes no object, such as one with
    a date that is none.

    Args:
        driver: Graphiti's, of their graph.
        uuids: which ones.
    """
    if not uuids:
        return []
    told = get_entity_edge_return_query(driver.provider).replace(_ALL, _ALL_BUT_THE_VECTOR)
    found: dict[str, EntityEdge] = {}
    for record in await _records(driver, _FIND + told, list(uuids)):
        with suppress(ValueError):
            edge = get_entity_edge_from_record(record, driver.provider)
            found[edge.uuid] = edge
    return [found[uuid] for uuid in dict.fromkeys(uuids) if uuid in found]


async def _records(driver: Any, query: str, uuids: list[str]) -> list[Any]:
    """What is stored of the facts, without those that the client cannot read."""
    try:
        return list((await driver.execute_query(query, uuids=uuids))[0])
    except ValueError:  # a text that is no UTF-8, a year past 9999
        half = len(uuids) // 2
        parts = [uuids[:half], uuids[half:]] if half else []
        return [record for part in parts for record in await _records(driver, query, part)]
