"""What a search gives back, in the order in which it is told, with the reason for each place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from graphiti_core.search.search_config import SearchResults
from pydantic import Field

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.model import Bools, Floats, GraphOutline
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.ranking import ranked
from synapse.hippocampus.standing import Kept, Standing


@dataclass(frozen=True, slots=True)
class Recall:
    """Why one result stands where it stands."""

    uuid: str
    relevance_rank: int
    """Its place in Graphiti's own order, from 1; 0 if it only came to mind with what was found."""
    strength: float | None
    """From 0 to 1; ``None`` where no batch has seen it yet, which counts as full strength."""
    why: str


class RecalledFacts(list[Any]):
    """Graphiti's ``EntityEdge`` objects, best first: a list, and what is known of each.

    ``recalls`` is aligned with the list; ``left_out_count`` says how many results were left out
    since they no longer hold (or did not at the moment asked about).
    """

    def __init__(
        self, edges: Sequence[Any] = (), recalls: Sequence[Recall] = (), left_out_count: int = 0
    ) -> None:
        super().__init__(edges)
        self.recalls = list(recalls)
        self.left_out_count = left_out_count


class RecalledResults(SearchResults):
    """Graphiti's results, its facts best first, and what is known of each fact and entity."""

    edge_recalls: list[Recall] = Field(default_factory=list)
    """Aligned with ``edges``."""
    node_recalls: list[Recall] = Field(default_factory=list)
    """Aligned with ``nodes``, which stay in Graphiti's order."""
    left_out_count: int = 0
    """Facts left out since they no longer hold, or did not at the moment asked about."""


def holds(edge: Any, at: datetime) -> bool:
    """Whether a fact holds at a moment; what is not known speaks for it."""
    begins, ends, moment = edge.valid_at, edge.invalid_at, _utc(at)
    return not (begins and _utc(begins) > moment) and not (ends and _utc(ends) <= moment)


def arranged(
    found: Sequence[Any], strength: Floats, config: HippocampusConfig
) -> tuple[list[Any], list[Recall]]:
    """Results in the order in which they are told, and why.

    Args:
        found: in Graphiti's order.
        strength: of each, NaN where unknown.
        config: see :mod:`~synapse.hippocampus.ranking`.
    """
    order, recalls = ranked(strength, config.ranking).tolist(), in_order(found, strength)
    return [found[place] for place in order], [recalls[place] for place in order]


def in_order(found: Sequence[Any], strength: Floats) -> list[Recall]:
    """What is known of results that stay where Graphiti has put them."""
    return [
        _recall(one.uuid, rank, float(alive))
        for rank, (one, alive) in enumerate(zip(found, strength, strict=True), 1)
    ]


def replacement(recall: Recall) -> Recall:
    """The same of a fact that follows in the place of a result that no longer holds."""
    return replace(recall, why=f"replaced a result that no longer holds; {recall.why}")


def associated(uuid: str, weight: float, strength: float) -> Recall:
    """Why a fact follows that the search itself has not found; strength NaN where unknown."""
    why = f"comes to mind with what was found, association {weight:.2f}"
    return Recall(uuid, 0, None if np.isnan(strength) else strength, why)


def strengths(
    store: MemoryStore,
    graph: str,
    entities: Sequence[str],
    facts: Sequence[str],
    now_s: float,
    config: HippocampusConfig,
) -> Floats:
    """Strength of some memories at a moment, shape (entities + facts,); NaN without a trace."""
    whole = _outline(graph, entities, facts)
    traces = store.read_traces(graph, whole.keys)
    known = np.isin(whole.keys, traces["key"])
    strength = np.full(len(known), np.nan)
    of_facts = known[len(entities) :]
    part = _outline(graph, _picked(entities, known[: len(entities)]), _picked(facts, of_facts))
    kept = Kept.from_traces(traces, part)
    if kept is not None:
        strength[known] = Standing(part, kept, now_s, config).strength
    return strength


def _outline(graph: str, entities: Sequence[str], facts: Sequence[str]) -> GraphOutline:
    none = np.zeros(len(facts), np.int64)
    return GraphOutline(graph, list(entities), list(facts), none, none)


def _picked(uuids: Sequence[str], wanted: Bools) -> list[str]:
    return [uuid for uuid, is_wanted in zip(uuids, wanted.tolist(), strict=True) if is_wanted]


def _recall(uuid: str, rank: int, strength: float) -> Recall:
    if np.isnan(strength):
        return Recall(uuid, rank, None, f"relevance rank {rank}; not consolidated yet")
    return Recall(uuid, rank, strength, f"relevance rank {rank}, strength {strength:.2f}")


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
