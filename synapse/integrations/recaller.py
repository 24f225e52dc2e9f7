"""Graphiti's search, told by relevance and strength, without what no longer holds, remembered."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from graphiti_core import Graphiti
from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode
from graphiti_core.search.search_config import SearchResults
from graphiti_core.search.search_config_recipes import (
    EDGE_HYBRID_SEARCH_NODE_DISTANCE,
    EDGE_HYBRID_SEARCH_RRF,
)

from synapse.errors import SynapseError, UsageError
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.recall import SET_MAX_COUNT, RecallSet
from synapse.integrations.aside import Aside
from synapse.integrations.completion import completed
from synapse.integrations.graph_names import argument, searched_graphs
from synapse.integrations.moments import seconds_of
from synapse.integrations.recall import RecalledFacts, arranged, associated, holds, strengths
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
        expand: int = 0,
    ) -> RecalledFacts:
        """``Graphiti.search``, told in the order of relevance and strength, and remembered.

        Args:
            query, center_node_uuid, group_ids, num_results, search_filter, driver: as Graphiti's.
            include_superseded: whether facts that have ended are given back as well.
            at: answer as of this moment instead of now.
            asked: whether a person or an agent asked; what is put into a prompt by itself does
                not count as a recall.
            expand: how many facts more may follow that come to mind with those found: they share
                episodes with them, or were recalled together with them, the closest first. They
                do not count as recalled.

        Raises:
            UsageError: ``expand`` together with a filter, which associates need not pass; or
                ``at`` is no moment.
        """
        if at is not None:
            seconds_of(at, "at")
        if expand and search_filter is not None:
            raise UsageError("expand follows associations past any search_filter; use one of them")
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
        wanted = _Wanted(
            searched_graphs(self._graphiti.driver, group_ids, driver),
            include_superseded, at, asked, num_results,
        )  # fmt: skip
        told = RecalledFacts()
        for edges in _by_search(found.edges, group_ids):
            part = await self._recalled(edges, wanted)
            told.extend(part)
            told.recalls += part.recalls
            told.left_out_count += part.left_out_count
        if expand > 0 and told:
            await self._expand(told, wanted, expand, driver or self._graphiti.driver)
        return told

    async def search_(
        self,
        query: str,
        *args: Any,
        include_superseded: bool = False,
        at: datetime | None = None,
        asked: bool = True,
        **options: Any,
    ) -> SearchResults:
        """``Graphiti.search_`` with its facts in the order of relevance and strength.

        Args:
            query, args, options: as Graphiti's.
            include_superseded, at, asked: as in :meth:`search`.
        """
        if at is not None:
            seconds_of(at, "at")
        search = self._graphiti.search_
        found = await search(query, *args, **options)
        group_ids, driver = (
            argument(search, name, (query, *args), options) for name in ("group_ids", "driver")
        )
        graphs = searched_graphs(self._graphiti.driver, group_ids, driver)
        wanted = _Wanted(graphs, include_superseded, at, asked, len(found.edges))
        scores = dict(zip((e.uuid for e in found.edges), found.edge_reranker_scores, strict=False))
        facts = await self._recalled(found.edges, wanted, found.nodes)
        told = {
            "edges": list(facts),
            "edge_reranker_scores": [scores.get(f.uuid, 0.0) for f in facts],
        }
        return found.model_copy(update=told)

    async def _recalled(
        self, edges: Sequence[EntityEdge], wanted: _Wanted, entities: Sequence[EntityNode] = ()
    ) -> RecalledFacts:
        now_s = self._clock()
        kept = [edge for edge in edges if wanted.takes(edge, now_s)]
        left_out_count = len(edges) - len(kept)
        try:
            strength = await self._aside.run(self._strengths, kept, wanted.graph_of, now_s)
        except Exception as error:  # noqa: BLE001  the search has its answer
            self._aside.note_failure(error)
            strength = np.full(len(kept), np.nan)
        told, recalls = arranged(kept, strength, self._config, wanted.count)
        try:
            self._remember([*told, *entities], wanted, now_s)
        except SynapseError as error:
            self._aside.note_failure(error)
        return RecalledFacts(told, recalls, left_out_count)

    async def _expand(self, told: RecalledFacts, wanted: _Wanted, count: int, driver: Any) -> None:
        """Append what comes to mind with the facts told."""
        now_s = self._clock()
        by_graph: dict[str, list[EntityEdge]] = {}
        for edge in told:
            by_graph.setdefault(wanted.graph_of(edge.group_id), []).append(edge)
        try:
            found = [
                one
                for graph, edges in by_graph.items()
                for one in await completed(
                    self._store, driver, self._aside, graph, edges, count, now_s
                )
                if wanted.takes(one[0], now_s)
            ]
            found = sorted(found, key=lambda one: -one[1])[:count]
            more = [edge for edge, _ in found]
            strength = await self._aside.run(self._strengths, more, wanted.graph_of, now_s)
        except Exception as error:  # noqa: BLE001  the search has its answer
            self._aside.note_failure(error)
            return
        told.extend(more)
        told.recalls += [
            associated(edge.uuid, weight, float(alive))
            for (edge, weight), alive in zip(found, strength, strict=True)
        ]
        self._remember(more, replace(wanted, asked=False), now_s)

    def _strengths(
        self, edges: Sequence[EntityEdge], graph_of: Callable[[str], str], now_s: float
    ) -> Any:
        strength = np.full(len(edges), np.nan)
        graphs = [graph_of(edge.group_id) for edge in edges]
        for graph in set(graphs):
            rows = [row for row, name in enumerate(graphs) if name == graph]
            uuids = [edges[row].uuid for row in rows]
            strength[rows] = strengths(self._store, graph, [], uuids, now_s, self._config)
        return strength

    def _remember(
        self, told: Sequence[EntityEdge | EntityNode], wanted: _Wanted, at_s: float
    ) -> None:
        by_graph: dict[str, list[str]] = {}
        for memory in told[:SET_MAX_COUNT]:
            by_graph.setdefault(wanted.graph_of(memory.group_id), []).append(memory.uuid)
        for graph, uuids in by_graph.items():
            ranks = tuple((uuid, rank) for rank, uuid in enumerate(uuids, 1))
            self.recorder.record(graph, RecallSet(ranks, "search", at_s, wanted.asked))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a search is to give back of what Graphiti has found."""

    graph_of: Callable[[str], str]
    include_superseded: bool
    at: datetime | None
    asked: bool
    count: int

    def takes(self, edge: EntityEdge, now_s: float) -> bool:
        """Whether a fact is given back."""
        if self.include_superseded and self.at is None:
            return True
        return holds(edge, self.at or datetime.fromtimestamp(now_s, UTC))


def _by_search(
    edges: Sequence[EntityEdge], group_ids: Sequence[str] | None
) -> list[list[EntityEdge]]:
    """Graphiti searches several groups one by one and puts the answers one after the other."""
    if not group_ids or len(group_ids) == 1:
        return [list(edges)]
    parts: dict[str, list[EntityEdge]] = {}
    for edge in edges:
        parts.setdefault(edge.group_id, []).append(edge)
    return list(parts.values())
