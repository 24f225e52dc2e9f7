"""Which memories of a graph are nearly the same, where that is looked for at all."""

from __future__ import annotations

from synapse.hippocampus.config import InterferenceConfig
from synapse.hippocampus.interference import NearDuplicates
from synapse.hippocampus.ports import MemoryStore


def near_duplicates(store: MemoryStore, graph: str, config: InterferenceConfig) -> NearDuplicates:
    """What the embeddings in a graph say now; none where the configuration does not ask."""
    if not config.enabled:
        return NearDuplicates()
    return store.near_duplicates(graph, config.similarity_min)
