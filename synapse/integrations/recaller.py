"""Graphiti's search, told by relevance and strength, without what no longer holds, remembered."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

import numpy as np
from graphiti_core import Graphiti
from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode
from graphiti_core.search.search_config import SearchConfig, SearchResults
from graphiti_core.search.search_config_recipes import (
    EDGE_HYBRID_SEARCH_NODE_DISTANCE,
    EDGE_HYBRID_SEARCH_RRF,
)

from synapse.errors import SynapseError, UsageError
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.model import Floats
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.recall import SET_MAX_COUNT, RecallSet
from synapse.integrations.aside import SEARCHING, Aside
from synapse.integrations.completion import completed
from synapse.integrations.counts import refuse_what_is_no_count
from synapse.integrations.graph_names import each_once, searched_graphs
from synapse.integrations.moments import seconds_of
from synapse.integrations.recall import (
    Recall,
    RecalledFacts,
    RecalledResults,
    arranged,
    associated,
    in_order,
    replacement,
    strengths,
)
from synapse.integrations.recall_recorder import RecallRecorder
from synapse.integrations.relation_memory import RelationMemory
from synapse.integrations.replenishment import Ask, Found, facts_alone, replenished
from synapse.integrations.successors import successors
from synapse.integrations.texts import refuse_what_is_no_text
from synapse.integrations.wanted import Wanted


class Recaller:
    """Searches through a Graphiti client.

    Args:
        graphiti: the client.
        store: where strengths and the recall ledger are.
        config: the constants.
        relations: what graphs show about their relations.
        clock: seconds since 1970.
        aside: where blocking work goes.
    """

    def __init__(
        self, graphiti: Graphiti, store: MemoryStore, config: HippocampusConfig,
        relations: RelationMemory, clock: Callable[[], float], aside: Aside,
    ) -> None:  # fmt: skip
        self._graphiti = graphiti
        self._store = store
        self._config = config
        self._relations = relations
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
            UsageError: ``expand`` together with a filter, which associates need not pass; ``at``
                is no moment; ``num_results`` or ``expand`` no count, ``query`` no text, or
                ``group_ids`` no list of them.
        """
        refuse_what_is_no_text(query=query)
        refuse_what_is_no_count(num_results=num_results, expand=expand)
        if at is not None:
            seconds_of(at, "at")
        if expand and search_filter is not None:
            raise UsageError("expand follows associations past any search_filter; use one of them")
        recipe = EDGE_HYBRID_SEARCH_RRF if center_node_uuid is None else (
            EDGE_HYBRID_SEARCH_NODE_DISTANCE
        )  # fmt: skip

        async def ask(limit: int, by_words: bool = False) -> SearchResults:
            # not the recipe itself: Graphiti's search changes the limit of the shared one
            config = facts_alone(recipe, limit, by_words)
            return await self._graphiti.search_(
                query, config, group_ids, center_node_uuid,
                search_filter=search_filter, driver=driver,
            )  # fmt: skip

        group_ids = each_once(group_ids)
        graphs = searched_graphs(self._graphiti.driver, group_ids, driver)
        is_filtered, now_s = search_filter is not None, self._clock()
        wanted = Wanted(graphs, include_superseded, at, asked, is_filtered, now_s)
        told = RecalledFacts()
        found = await replenished(
            (await ask(num_results)).edges, self._once_answered(ask), num_results, group_ids,
            wanted.takes, partial(self._successors, wanted, driver),
        )  # fmt: skip
        for part in found:
            more, _ = await self._recalled(part, wanted)
            told.extend(more)
            told.recalls += more.recalls
            told.left_out_count += more.left_out_count
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
    ) -> RecalledResults:
        """``Graphiti.search_`` with its facts in the order of relevance and strength.

        Its result tells of each fact and each entity why it stands where it stands:
        ``edge_recalls`` and ``node_recalls``.

        Args:
            query, args, options: as Graphiti's.
            include_superseded, at, asked: as in :meth:`search`.

        Raises:
            UsageError: ``at`` is no moment, ``query`` no text, or ``group_ids`` no list of them.
        """
        refuse_what_is_no_text(query=query)
        if at is not None:
            seconds_of(at, "at")
        search = self._graphiti.search_
        call = inspect.signature(search).bind(query, *args, **options)
        call.apply_defaults()
        config: SearchConfig = call.arguments["config"]
        group_ids = call.arguments["group_ids"] = each_once(call.arguments.get("group_ids"))
        limit, driver = config.limit, call.arguments.get("driver")
        found = await search(**call.arguments)
        scores = dict(zip((e.uuid for e in found.edges), found.edge_reranker_scores, strict=False))

        async def ask(limit: int, by_words: bool) -> SearchResults:
            call.arguments["config"] = facts_alone(config, limit, by_words)
            more = await search(**call.arguments)
            for edge, score in zip(more.edges, more.edge_reranker_scores, strict=False):
                scores.setdefault(edge.uuid, score)
            return more

        graphs = searched_graphs(self._graphiti.driver, group_ids, driver)
        # what replaces a result has neither passed a filter nor earned a score
        is_filtered = call.arguments.get("search_filter") is not None
        is_filtered = is_filtered or config.reranker_min_score > 0
        wanted = Wanted(graphs, include_superseded, at, asked, is_filtered, self._clock())
        parts = await replenished(
            found.edges, self._once_answered(ask), limit, group_ids, wanted.takes,
            partial(self._successors, wanted, driver),
        )  # fmt: skip
        kept = Found(
            [edge for part in parts for edge in part.edges],
            sum(part.left_out_count for part in parts),
            set().union(*(part.replacing for part in parts)),
        )
        facts, of_nodes = await self._recalled(kept, wanted, found.nodes)
        told = {
            "edges": list(facts),
            "edge_reranker_scores": [scores.get(f.uuid, 0.0) for f in facts],
            "edge_recalls": facts.recalls,
            "node_recalls": of_nodes,
            "left_out_count": facts.left_out_count,
        }
        return RecalledResults.model_construct(**{**vars(found), **told})

    def _once_answered(self, ask: Ask) -> Ask:
        """The same search, which finds nothing where it fails: it has an answer already."""

        async def ask_more(limit: int, by_words: bool) -> SearchResults:
            try:
                return await ask(limit, by_words)
            except Exception as error:  # noqa: BLE001  the search has its answer
                self._aside.note_failure(error)
                return SearchResults()

        return ask_more

    async def _recalled(
        self, found: Found, wanted: Wanted, entities: Sequence[EntityNode] = ()
    ) -> tuple[RecalledFacts, list[Recall]]:
        """The facts as they are told, and what is known of entities found with them."""
        kept = [*found.edges, *entities]
        strength = np.full(len(kept), np.nan)
        try:
            if not self._aside.skips(SEARCHING):
                strength = await self._aside.run(SEARCHING, self._strengths, kept, wanted)
        except Exception as error:  # noqa: BLE001  the search has its answer
            self._aside.note_failure(error)
        facts_count = len(found.edges)
        told, recalls = arranged(found.edges, strength[:facts_count], self._config)
        recalls = [replacement(r) if r.uuid in found.replacing else r for r in recalls]
        try:
            self._remember([*told, *entities], wanted)
        except SynapseError as error:
            self._aside.note_failure(error)
        facts = RecalledFacts(told, recalls, found.left_out_count)
        return facts, in_order(entities, strength[facts_count:])

    async def _successors(
        self, wanted: Wanted, driver: Any, left_out: Sequence[EntityEdge]
    ) -> list[EntityEdge]:
        """What replaced facts that are left out; nothing where a filter decides, or no store."""
        if wanted.is_filtered or self._aside.skips(SEARCHING):
            return []
        home = driver or self._graphiti.driver
        try:
            return [
                edge
                for graph, edges in wanted.by_graph(left_out).items()
                for edge in await successors(
                    self._store, home, self._aside, graph, edges, self._relations, wanted.at_s
                )
            ]
        except Exception as error:  # noqa: BLE001  the search goes on without
            self._aside.note_failure(error)
            return []

    async def _expand(self, told: RecalledFacts, wanted: Wanted, count: int, driver: Any) -> None:
        """Append what comes to mind with the facts told."""
        if self._aside.skips(SEARCHING):
            return
        try:
            found = [
                one
                for graph, edges in wanted.by_graph(told).items()
                for one in await completed(
                    self._store, driver, self._aside, graph, edges, count, wanted.now_s
                )
                if wanted.takes(one[0])
            ]
            found = sorted(found, key=lambda one: -one[1])[:count]
            more = [edge for edge, _ in found]
            strength = await self._aside.run(SEARCHING, self._strengths, more, wanted)
        except Exception as error:  # noqa: BLE001  the search has its answer
            self._aside.note_failure(error)
            return
        told.extend(more)
        told.recalls += [
            associated(edge.uuid, weight, float(alive))
            for (edge, weight), alive in zip(found, strength, strict=True)
        ]
        self._remember(more, replace(wanted, asked=False))

    def _strengths(self, found: Sequence[EntityEdge | EntityNode], wanted: Wanted) -> Floats:
        strength = np.full(len(found), np.nan)
        graphs = [wanted.graph_of(one.group_id) for one in found]
        is_entity = [isinstance(one, EntityNode) for one in found]
        for graph in set(graphs):
            here = [row for row, name in enumerate(graphs) if name == graph]
            rows = sorted(here, key=lambda row: not is_entity[row])
            entities = [found[row].uuid for row in rows if is_entity[row]]
            facts = [found[row].uuid for row in rows if not is_entity[row]]
            strength[rows] = strengths(
                self._store, graph, entities, facts, wanted.now_s, self._config
            )
        return strength

    def _remember(self, told: Sequence[EntityEdge | EntityNode], wanted: Wanted) -> None:
        for graph, memories in wanted.by_graph(told[:SET_MAX_COUNT]).items():
            ranks = tuple((memory.uuid, rank) for rank, memory in enumerate(memories, 1))
            self.recorder.record(graph, RecallSet(ranks, "search", wanted.now_s, wanted.asked))
