"""Graphiti's search, told by relevance and strength, without what no longer holds, remembered."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from graphiti_core import Graphiti
from graphiti_core.edges import EntityEdge
from graphiti_core.search.search_config import SearchConfig, SearchResults
from graphiti_core.search.search_config_recipes import (
    COMBINED_HYBRID_SEARCH_CROSS_ENCODER,
    EDGE_HYBRID_SEARCH_NODE_DISTANCE,
    EDGE_HYBRID_SEARCH_RRF,
)

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.recall import RecallSet
from synapse.integrations.aside import Aside
from synapse.integrations.graph_names import graph_of
from synapse.integrations.recall import RecalledFacts, arranged, holds, strengths
from synapse.integrations.recall_recorder import RecallRecorder

_MORE_THAN_WANTED = 2
"""How many times as many results are asked for, so that those left out can be made up for."""


class Recaller:
    """Searches through a Graphiti client.

    Args:
        graphiti: the client.
        store: where strengths and the recall ledger are.
        config: the constants.
        clock: seconds since 1970.
        aside: where blocking work goes.
    """

    def __init__(
        self, graphiti: Graphiti, store: MemoryStore, config: HippocampusConfig,
        clock: Callable[[], float], aside: Aside,
    ) -> None:  # fmt: skip
        self._graphiti = graphiti
        self._store = store
        self._config = config
        self._clock = clock
        self._aside = aside
        self.recorder = RecallRecorder(store, aside.note_failure)

    async def search(
        self,
        query: str,
        center_node_uuid: str | None = None,
        group_ids: list[str] | None = None,
        num_results: int = 10,
        search_filter: Any = None,
        driver: Any = None,
        *,
        include_superseded: bool = False,
        at: datetime | None = None,
        asked: bool = True,
    ) -> RecalledFacts:
        """``Graphiti.search``, told in the order of relevance and strength, and remembered.

        Args:
            query, center_node_uuid, group_ids, num_results, search_filter, driver: as Graphiti's.
            include_superseded: whether facts that have ended are given back as well.
            at: answer as of this moment instead of now.
            asked: whether a person or an agent asked; what is put into a prompt by itself does
                not count as a recall.
        """
        recipe = EDGE_HYBRID_SEARCH_RRF if center_node_uuid is None else (
            EDGE_HYBRID_SEARCH_NODE_DISTANCE
        )  # fmt: skip
        is_plain = include_superseded and at is None
        limit = num_results * (1 if is_plain else _MORE_THAN_WANTED)
        config = copy.deepcopy(recipe)  # Graphiti's search changes the limit of the shared recipe
        config.limit = limit
        found = await self._graphiti.search_(
            query, config, group_ids, center_node_uuid,
            search_filter=search_filter, driver=driver,
        )  # fmt: skip
        return await self._recalled(found.edges, num_results, include_superseded, at, asked)

    async def search_(
        self,
        query: str,
        config: SearchConfig = COMBINED_HYBRID_SEARCH_CROSS_ENCODER,
        **options: Any,
    ) -> SearchResults:
        """``Graphiti.search_`` with its facts in the order of relevance and strength.

        Options beside Graphiti's: ``include_superseded``, ``at`` and ``asked`` as in
        :meth:`search`.
        """
        own = {name: options.pop(name, None) for name in ("include_superseded", "at", "asked")}
        found = await self._graphiti.search_(query, config, **options)
        asked = own["asked"] is not False
        scores = dict(zip((e.uuid for e in found.edges), found.edge_reranker_scores, strict=False))
        facts = await self._recalled(
            found.edges, len(found.edges), bool(own["include_superseded"]), own["at"], asked,
            [node.uuid for node in found.nodes],
        )  # fmt: skip
        told = {
            "edges": list(facts),
            "edge_reranker_scores": [scores.get(f.uuid, 0.0) for f in facts],
        }
        return found.model_copy(update=told)

    async def _recalled(
        self,
        edges: Sequence[EntityEdge],
        wanted_count: int,
        include_superseded: bool,
        at: datetime | None,
        asked: bool,
        entities: Sequence[str] = (),
    ) -> RecalledFacts:
        now_s = self._clock()
        moment = at or datetime.fromtimestamp(now_s, UTC)
        kept = [e for e in edges if (include_superseded and at is None) or holds(e, moment)]
        left_out_count = len(edges) - len(kept)
        try:
            strength = await self._aside.run(self._strengths, kept, now_s)
        except Exception as error:  # noqa: BLE001  the search has its answer
            self._aside.note_failure(error)
            strength = np.full(len(kept), np.nan)
        told, recalls = arranged(kept, strength, self._config, wanted_count)
        self._remember(told, entities, asked, now_s)
        return RecalledFacts(told, recalls, left_out_count)

    def _strengths(self, edges: Sequence[EntityEdge], now_s: float) -> Any:
        strength = np.full(len(edges), np.nan)
        for graph in {graph_of(self._graphiti.driver, edge.group_id) for edge in edges}:
            rows = [
                row for row, e in enumerate(edges)
                if graph_of(self._graphiti.driver, e.group_id) == graph
            ]  # fmt: skip
            uuids = [edges[row].uuid for row in rows]
            strength[rows] = strengths(self._store, graph, [], uuids, now_s, self._config)
        return strength

    def _remember(
        self, told: Sequence[EntityEdge], entities: Sequence[str], asked: bool, at_s: float
    ) -> None:
        by_graph: dict[str, list[str]] = {}
        for edge in told:
            by_graph.setdefault(graph_of(self._graphiti.driver, edge.group_id), []).append(
                edge.uuid
            )
        for graph, uuids in by_graph.items():
            ranks = tuple((uuid, rank) for rank, uuid in enumerate([*uuids, *entities], 1))
            self.recorder.record(graph, RecallSet(ranks, "search", at_s, asked))
