"""What graphs show about their relations, learned anew as they grow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cached_property

from synapse.hippocampus.config import RelationsConfig
from synapse.hippocampus.model import empty_graph
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.relation_table import RelationTable
from synapse.hippocampus.relations import RelationLearner

_NEW_FACTS_MIN_COUNT = 50
_GROWTH_RATIO = 0.2


class RelationMemory:
    """The table of relations of each graph.

    It is learned when first needed, after a batch, and whenever a fifth more facts, but at least
    50, were told since: reading the whole graph then costs each of them little.

    Args:
        store: where the graphs are.
        config: the user's own decisions.
        clock: seconds since 1970.
    """

    def __init__(
        self, store: MemoryStore, config: RelationsConfig, clock: Callable[[], float]
    ) -> None:
        self._store = store
        self._learner = RelationLearner(config)
        self._clock = clock
        self._tables: dict[str, RelationTable] = {}
        self._told: Counter[str] = Counter()

    def of(self, graph: str) -> RelationTable:
        """What is known about the relations of a graph; of a new one, what their names say."""
        table = self._tables.get(graph)
        if table is None or self._has_grown(graph, table):
            there = graph in self._store.graphs()
            snapshot = self._store.read_graph(graph) if there else empty_graph(graph)
            table = self._learner.learn(snapshot, self._clock())
            self._tables[graph] = table
            self._told[graph] = 0
        return table

    def learned(self, graph: str) -> RelationTable:
        """What has been learned of a graph so far, or else what names say; reads nothing."""
        return self._tables.get(graph) or self._unlearned

    @cached_property
    def _unlearned(self) -> RelationTable:
        """What names say."""
        return self._learner.learn(empty_graph("none"), self._clock())

    def tell(self, graph: str, facts_count: int) -> None:
        """Say that so many facts were added."""
        self._told[graph] += facts_count

    def forget(self, graph: str) -> None:
        """Learn anew when next needed."""
        self._tables.pop(graph, None)

    def _has_grown(self, graph: str, table: RelationTable) -> bool:
        known_count = sum(relation.facts_count for relation in table.relations)
        return self._told[graph] >= max(_NEW_FACTS_MIN_COUNT, _GROWTH_RATIO * known_count)
