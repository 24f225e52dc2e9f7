"""When each memory was touched: the episodes that speak of it, in order of time.

An episode touches the entities that it mentions, the facts that it supports, and the entities at
both ends of those facts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from synapse.hippocampus.model import Bools, Floats, GraphSnapshot, Ints
from synapse.hippocampus.numeric import distinct
from synapse.hippocampus.ragged import Ragged


@dataclass(frozen=True, slots=True)
class Touches:
    """The touches of every memory, in the order of ``snapshot.memory_uuids``.

    The known times of memory ``i`` are ``times_s[offsets[i]:offsets[i + 1]]``, oldest first.
    """

    offsets: Ints
    """Shape (memories + 1,)."""
    times_s: Floats
    """One per memory and distinct episode of known time."""
    last_touch_s: Floats
    """Shape (memories,); NaN where nothing is known at all."""
    episodes_count: Ints
    """Shape (memories,): distinct episodes, those of unknown time included."""
    entity_episodes: Ragged
    """Row of an entity -> its distinct episodes, numbered in order of time (unknown times last),
    ascending."""

    def __len__(self) -> int:
        return len(self.offsets) - 1


def touches(snapshot: GraphSnapshot) -> Touches:
    """Find the touches of all entities and facts of a graph.

    An episode's time is its ``valid_at`` (when it happened), else its ``created_at`` (when it
    was recorded). The last touch of a memory is the time of its newest episode; of a memory
    without episodes it is the time of its own record, for an entity the newest of its own record
    and those of its facts. Where one of these times cannot be known, neither can which is the
    newest, so the last touch is unknown: an older time never stands in for it.

    Cost: one sort of all distinct (memory, episode) pairs.
    """
    episode_time_s = _first_known(snapshot.episodes.valid_at_s, snapshot.episodes.created_at_s)
    by_time = np.argsort(episode_time_s, kind="stable")  # NaN sorts last
    numbers = np.empty(len(by_time), np.int64)
    numbers[by_time] = np.arange(len(by_time))
    memory, number = _distinct_pairs(snapshot, numbers)

    entities_count = len(snapshot.entities)
    memories_count = entities_count + len(snapshot.facts)
    episodes_count = np.bincount(memory, minlength=memories_count).astype(np.int64)
    is_known = ~np.isnan(episode_time_s[by_time])[number]
    known_count = np.bincount(memory[is_known], minlength=memories_count).astype(np.int64)
    known = Ragged.from_counts(known_count, number[is_known])
    times_s = episode_time_s[by_time][known.values]

    last_touch_s = _own_time_s(snapshot, episodes_count > 0)
    is_dated = (known_count == episodes_count) & (episodes_count > 0)
    last_touch_s[is_dated] = times_s[known.offsets[1:][is_dated] - 1]
    last_touch_s[known_count < episodes_count] = np.nan
    entity_counts = episodes_count[:entities_count]
    entity_episodes = Ragged.from_counts(entity_counts, number[: entity_counts.sum()])
    return Touches(known.offsets, times_s, last_touch_s, episodes_count, entity_episodes)


def _distinct_pairs(snapshot: GraphSnapshot, numbers: Ints) -> tuple[Ints, Ints]:
    """(memory, episode number), each pair once, in order of memory and then of time."""
    facts, mentions = snapshot.facts, snapshot.mentions
    fact = facts.episodes.row_numbers()
    support = facts.episodes.values
    memory = np.concatenate(
        [
            mentions.entity,
            facts.source[fact],
            facts.target[fact],
            fact + len(snapshot.entities),
        ]
    )
    number = numbers[np.concatenate([mentions.episode, support, support, support])]
    width = max(1, len(numbers))
    keys = distinct(memory * width + number)
    memory = keys // width
    return memory, keys - memory * width


def _own_time_s(snapshot: GraphSnapshot, has_episodes: Bools) -> Floats:
    """What the records themselves say, for memories without an episode."""
    facts = snapshot.facts
    entity_s = snapshot.entities.created_at_s.copy()
    for ends in (facts.source, facts.target):
        needed = np.flatnonzero(~has_episodes[ends])
        with np.errstate(invalid="ignore"):
            np.maximum.at(entity_s, ends[needed], facts.created_at_s[needed])  # NaN stays
    return np.concatenate([entity_s, facts.created_at_s])


def _first_known(times_s: Floats, otherwise_s: Floats) -> Floats:
    return np.where(np.isnan(times_s), otherwise_s, times_s)
