"""Graph snapshots written in one line, for formulas that need no database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from synapse.hippocampus.model import (
    Entities,
    Episodes,
    Facts,
    Floats,
    GraphSnapshot,
    Ints,
    Mentions,
)
from synapse.hippocampus.ragged import Ragged

UNKNOWN = float("nan")


def small_graph(
    entities_count: int,
    facts: Sequence[tuple[int, int, Sequence[int]]] = (),
    episode_times_s: Sequence[float] = (),
    mentions: Sequence[tuple[int, int]] = (),
    entity_created_s: Sequence[float] | None = None,
    fact_created_s: Sequence[float] | None = None,
    fact_valid_s: Sequence[float] | None = None,
    episode_created_s: Sequence[float] | None = None,
) -> GraphSnapshot:
    """A snapshot; facts are (source, target, episodes), mentions (episode, entity)."""
    episodes_count, facts_count = len(episode_times_s), len(facts)
    names = [f"entity-{i}" for i in range(entities_count)]
    texts = [f"fact-{i}" for i in range(facts_count)]
    return GraphSnapshot(
        graph="small",
        entities=Entities(
            uuid=names,
            name=names,
            summary=[""] * entities_count,
            group_id=["small"] * entities_count,
            labels=[()] * entities_count,
            created_at_s=_times(entity_created_s, entities_count),
        ),
        facts=Facts(
            uuid=texts,
            relation=["RELATES"] * facts_count,
            text=texts,
            group_id=["small"] * facts_count,
            source=np.array([f[0] for f in facts], np.int64),
            target=np.array([f[1] for f in facts], np.int64),
            created_at_s=_times(fact_created_s, facts_count),
            valid_at_s=_times(fact_valid_s, facts_count),
            invalid_at_s=_times(None, facts_count),
            expired_at_s=_times(None, facts_count),
            episodes=Ragged.from_lists([f[2] for f in facts]),
        ),
        episodes=Episodes(
            uuid=[f"episode-{i}" for i in range(episodes_count)],
            group_id=["small"] * episodes_count,
            created_at_s=_times(episode_created_s, episodes_count),
            valid_at_s=np.array(episode_times_s, np.float64),
        ),
        mentions=Mentions(
            episode=np.array([m[0] for m in mentions], np.int64),
            entity=np.array([m[1] for m in mentions], np.int64),
        ),
    )


def with_facts_in_order(snapshot: GraphSnapshot, order: Ints) -> GraphSnapshot:
    """The same graph, its facts read in another order."""
    facts = snapshot.facts
    return replace(
        snapshot,
        facts=Facts(
            uuid=[facts.uuid[i] for i in order],
            relation=[facts.relation[i] for i in order],
            text=[facts.text[i] for i in order],
            group_id=[facts.group_id[i] for i in order],
            source=facts.source[order],
            target=facts.target[order],
            created_at_s=facts.created_at_s[order],
            valid_at_s=facts.valid_at_s[order],
            invalid_at_s=facts.invalid_at_s[order],
            expired_at_s=facts.expired_at_s[order],
            episodes=facts.episodes.take(order),
        ),
    )


def _times(given: Sequence[float] | None, count: int) -> Floats:
    return np.full(count, UNKNOWN) if given is None else np.array(given, np.float64)
