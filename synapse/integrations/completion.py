"""Pattern completion: what comes to mind with the facts that a search has found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from graphiti_core.edges import EntityEdge

from synapse.hippocampus.associates import Associates
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.ragged import Ragged
from synapse.integrations.aside import SEARCHING, Aside
from synapse.integrations.facts import facts_of

_MORE_THAN_WANTED = 3
"""How many times as many are looked up: some no longer hold, or are no facts."""


async def completed(
    store: MemoryStore, driver: Any, aside: Aside, graph: str, found: Sequence[EntityEdge],
    count: int, now_s: float,
) -> list[tuple[EntityEdge, float]]:  # fmt: skip
    """Facts that come to mind with some others, the closest first, each with its weight.

    Args:
        store: where the graph is.
        driver: Graphiti's, of any graph of the same server.
        aside: where blocking work goes.
        graph: name of the graph.
        found: facts in it.
        count: how many may be given back; more are looked up.
        now_s: the moment, seconds since 1970.
    """
    close = await aside.run(
        SEARCHING, _associated, store, graph, found, count * _MORE_THAN_WANTED, now_s
    )
    edges = await facts_of(driver.with_database(graph), close)
    group_ids = {edge.group_id for edge in found}
    return sorted(
        ((edge, close[edge.uuid]) for edge in edges if edge.group_id in group_ids),
        key=lambda one: (-one[1], one[0].uuid),
    )


def _associated(
    store: MemoryStore, graph: str, found: Sequence[EntityEdge], count: int, now_s: float
) -> dict[str, float]:
    """Weights of the closest associates by uuid, among the facts of the same subjects and what
    was recalled together with the facts found."""
    uuids = [edge.uuid for edge in found]
    known = store.read_subjects(
        graph, {end for edge in found for end in (edge.source_node_uuid, edge.target_node_uuid)}
    )
    links = store.read_links(graph, uuids)
    partners = [other for partners in links.values() for other in partners]
    names = list(dict.fromkeys([*known.facts.uuid, *uuids, *partners]))
    row_of = {uuid: row for row, uuid in enumerate(names)}
    episodes = known.facts.episodes
    counts = np.zeros(len(names), np.int64)
    counts[: len(known.facts)] = episodes.counts()
    associates = Associates(
        Ragged.from_counts(counts, episodes.values), known.episodes.valid_at_s, now_s
    )
    co_recalls = {
        row_of[uuid]: {row_of[other]: together for other, together in partners.items()}
        for uuid, partners in links.items()
    }
    close = associates.of_all([row_of[uuid] for uuid in uuids], co_recalls, count)
    return {names[associate.row]: associate.weight for associate in close}
