"""Returning: memories of the graph that were archived before, perhaps under another uuid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from synapse.hippocampus.archived import folded, likeness_of_folded
from synapse.hippocampus.model import Floats, GraphSnapshot


def former_column(snapshot: GraphSnapshot, former: Mapping[str, float]) -> Floats:
    """How firm each memory of the graph was when it, or one like it, was archived.

    Args:
        snapshot: the graph.
        former: by uuid and likeness, see
            :func:`~synapse.hippocampus.archived.former_stability`.

    Returns:
        Shape (memories,), entities first, then facts; NaN where nothing like it ever went.
    """
    column = np.full(len(snapshot.memory_uuids), np.nan)
    if not former:
        return column
    for row, (uuid, like) in enumerate(zip(snapshot.memory_uuids, _alike(snapshot), strict=True)):
        if uuid in former or like in former:
            column[row] = max(former.get(uuid, 1.0), former.get(like, 1.0))
    return column


def _alike(snapshot: GraphSnapshot) -> Iterator[str]:
    """The likeness of each memory, entities first, then facts."""
    entities, facts = snapshot.entities, snapshot.facts
    name = [folded(name) for name in entities.name]
    relation = {relation: folded(relation) for relation in set(facts.relation)}
    for group_id, own in zip(entities.group_id, name, strict=True):
        yield likeness_of_folded("entity", group_id, own)
    ends = facts.source.tolist(), facts.target.tolist()
    for group_id, said, source, target in zip(facts.group_id, facts.relation, *ends, strict=True):
        yield likeness_of_folded("fact", group_id, name[source], relation[said], name[target])
