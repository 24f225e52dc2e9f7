"""Where facts stand in a graph: by that Graphiti gives them back in a moment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from graphiti_core.edges import EntityEdge

from synapse.hippocampus.model import GraphSnapshot


class Place(NamedTuple):
    """A fact, and the entities at its ends; all by uuid."""

    fact: str
    source: str
    target: str


def places_of(known: GraphSnapshot, rows: Iterable[int]) -> list[Place]:
    """Where some facts of a graph stand."""
    facts, names = known.facts, known.entities.uuid
    return [
        Place(facts.uuid[row], names[int(facts.source[row])], names[int(facts.target[row])])
        for row in rows
    ]


async def facts_at(driver: Any, places: Sequence[Place]) -> list[EntityEdge]:
    """The facts, in their order, as Graphiti's objects; those that are gone are left out.

    Asked for by uuid alone, the database looks at every entity of the graph.

    Args:
        driver: Graphiti's, of their graph.
        places: where they stand.
    """
    found: dict[str, EntityEdge] = {}
    for ends in dict.fromkeys((place.source, place.target) for place in places):
        found |= {edge.uuid: edge for edge in await EntityEdge.get_between_nodes(driver, *ends)}
    return [found[place.fact] for place in places if place.fact in found]
