"""Makes up for search results that are left out, without changing the order of the others.

Graphiti fuses the lists of several searches, each as long as the limit demands: another limit is
another order. So the caller's own limit is asked for first; what replaced the results left out, and
what a larger limit finds besides, only follows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from graphiti_core.edges import EntityEdge
from graphiti_core.search.search_config import (
    EdgeReranker,
    EdgeSearchMethod,
    SearchConfig,
    SearchResults,
)

Ask = Callable[[int, bool], Awaitable[SearchResults]]
"""A search with another limit, by words alone or not."""

_LIMIT_MAX_COUNT = 1_000
"""Past this many results nothing more is looked for."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one search has found and may be told, in Graphiti's order."""

    edges: list[EntityEdge]
    left_out_count: int
    replacing: set[str] = field(default_factory=set)
    """Uuids of those that were not found, but replaced what is left out."""


async def replenished(
    first: Sequence[EntityEdge],
    ask: Ask,
    limit: int,
    group_ids: Sequence[str] | None,
    takes: Callable[[EntityEdge], bool],
    successors: Callable[[Sequence[EntityEdge]], Awaitable[Sequence[EntityEdge]]],
) -> list[Found]:
    """The facts that may be told, as many as were asked for if there are as many.

    Graphiti searches several groups one by one and puts the answers one after the other; so there
    is one answer here for each group.

    Args:
        first: what Graphiti has found within the limit.
        ask: the same search. Only what is still missing is asked for: where most of the facts are
            there by words, which costs little beside comparing vectors. The limit is doubled as
            long as facts are missing and there may be more, up to 1,000.
        limit: how many facts of each group are wanted.
        group_ids: groups searched in.
        takes: whether a fact may be told.
        successors: what replaced facts that may not be told.
    """
    found = {edge.uuid: edge for edge in first}
    asked, last, replacing = limit, list(first), set[str]()

    def is_short() -> bool:
        parts = _by_group(found.values(), group_ids), _by_group(last, group_ids)
        return 0 < asked < _LIMIT_MAX_COUNT and _is_short(*parts, limit, asked, takes)

    left_out = [edge for edge in first if not takes(edge)]
    if left_out and limit > 0:
        instead = [e for e in await successors(left_out) if takes(e) and e.uuid not in found]
        found |= {edge.uuid: edge for edge in instead}
        replacing = {edge.uuid for edge in instead}
    if 2 * sum(map(takes, found.values())) >= len(first) and is_short():
        more = (await ask(2 * limit, True)).edges
        found |= {edge.uuid: edge for edge in more if edge.uuid not in found}
    while is_short():
        asked *= 2
        last = (await ask(asked, False)).edges
        found |= {edge.uuid: edge for edge in last if edge.uuid not in found}
    answers = []
    for edges in _by_group(found.values(), group_ids).values():
        kept = list(filter(takes, edges))
        answers.append(Found(kept[: max(limit, 0)], len(edges) - len(kept), replacing))
    return answers


def facts_alone(config: SearchConfig, limit: int, by_words: bool) -> SearchConfig:
    """The part of a search that finds facts, with another limit and without a model's ranking,
    which costs a call for each fact; by words alone if wanted and if it looks at words at all."""
    edges = config.edge_config
    if edges is not None and by_words and EdgeSearchMethod.bm25 in edges.search_methods:
        edges = edges.model_copy(update={"search_methods": [EdgeSearchMethod.bm25]})
    if edges is not None and edges.reranker == EdgeReranker.cross_encoder:
        edges = edges.model_copy(update={"reranker": EdgeReranker.rrf})
    others = dict.fromkeys(["node_config", "episode_config", "community_config"])
    return config.model_copy(update={**others, "edge_config": edges, "limit": limit})


def _is_short(
    found: dict[str, list[EntityEdge]],
    last: dict[str, list[EntityEdge]],
    limit: int,
    asked: int,
    takes: Callable[[EntityEdge], bool],
) -> bool:
    """Whether a group lacks facts, and had as many to show as it was asked for."""
    return any(
        len(last.get(group, ())) >= asked and sum(map(takes, edges)) < limit
        for group, edges in found.items()
    )


def _by_group(
    edges: Iterable[EntityEdge], group_ids: Sequence[str] | None
) -> dict[str, list[EntityEdge]]:
    if not group_ids or len(group_ids) == 1:
        return {"": list(edges)}
    parts: dict[str, list[EntityEdge]] = {}
    for edge in edges:
        parts.setdefault(edge.group_id, []).append(edge)
    return parts
