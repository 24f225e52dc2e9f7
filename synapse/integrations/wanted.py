"""What a search is to give back of what Graphiti has found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode

from synapse.integrations.moments import seconds_of
from synapse.integrations.recall import holds

M = TypeVar("M", EntityEdge, EntityNode, EntityEdge | EntityNode)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the caller of one search has asked for."""

    graph_of: Callable[[str], str]
    """In which graph what bears a group's name was found."""
    include_superseded: bool
    at: datetime | None
    asked: bool
    is_filtered: bool
    """Whether not every fact that holds may be given back."""
    now_s: float

    @property
    def at_s(self) -> float:
        """The moment asked about, seconds since 1970."""
        return self.now_s if self.at is None else seconds_of(self.at, "at")

    def takes(self, edge: EntityEdge) -> bool:
        """Whether a fact is given back."""
        if self.include_superseded and self.at is None:
            return True
        return holds(edge, self.at or datetime.fromtimestamp(self.now_s, UTC))

    def by_graph(self, memories: Iterable[M]) -> dict[str, list[M]]:
        """Memories by the graph in which they are."""
        parts: dict[str, list[M]] = {}
        for memory in memories:
            parts.setdefault(self.graph_of(memory.group_id), []).append(memory)
        return parts
