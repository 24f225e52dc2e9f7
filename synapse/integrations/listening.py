"""Listens to what Graphiti has written, at no cost to who wrote it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphiti_core import Graphiti

from synapse.integrations.aside import OBSERVING, Aside
from synapse.integrations.graph_names import graph_of
from synapse.integrations.ingestion import (
    Ingested,
    Noticed,
    episodes_of,
    ingested,
    with_surprises,
)
from synapse.integrations.observation import Observer
from synapse.integrations.relation_memory import RelationMemory


class Listener:
    """Takes the results of a Graphiti client.

    Args:
        graphiti: the client.
        observer: judges and records.
        relations: what graphs show about their relations.
        aside: where blocking work goes.
        clock: seconds since 1970.
    """

    def __init__(
        self, graphiti: Graphiti, observer: Observer, relations: RelationMemory, aside: Aside,
        clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self._graphiti = graphiti
        self._observer = observer
        self._relations = relations
        self._aside = aside
        self._clock = clock

    async def observed(self, result: Any, graph: str | None = None) -> Any:
        """A result with what was noticed as its ``surprises``.

        Args:
            result: Graphiti's.
            graph: where it was written; by default what the result says.
        """
        return with_surprises(result, await self.noticed(result, graph))

    async def noticed(self, result: Any, graph: str | None = None) -> list[Noticed]:
        """What was noticed; nothing where that fails, which is counted."""
        try:
            what = ingested(result)
            if self._aside.skips(OBSERVING):
                return []
            graph = graph or self._graph_of(result)
            return await self._aside.run(OBSERVING, self._notice, graph, what)
        except Exception as error:  # noqa: BLE001  Graphiti has written: its caller must not fail
            self._aside.note_failure(error)
            return []

    def _graph_of(self, result: Any) -> str:
        """A triplet is written into the driver's graph, whatever its group, and so is whatever
        was told without a group."""
        group_id = next((episode.group_id for episode in episodes_of(result)), None)
        driver = self._graphiti.driver
        return graph_of(driver, None if group_id == driver.default_group_id else group_id)

    def _notice(self, graph: str, what: Ingested) -> list[Noticed]:
        self._relations.tell(graph, what.new_count)
        return self._observer.observe(graph, what, self._relations.of(graph), self._clock())
