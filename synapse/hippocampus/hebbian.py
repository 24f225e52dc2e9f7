"""Co-activation: which entities come up together, again and again.

"Let us assume that the persistence or repetition of a reverberatory activity (or 'trace') tends
to induce lasting cellular changes that add to its stability": D. O. Hebb, *The Organization of
Behavior*, 1949. Here an episode activates the entities it mentions and the ends of the facts it
supports, and a fact between two entities is as firm as they are activated together *repeatedly*.

The measure is the cosine of two sets, after A. Ochiai, Zoogeographical studies on the soleoid
fishes found in Japan and its neighbouring regions II, Bulletin of the Japanese Society of
Scientific Fisheries 22 (1957), doi:10.2331/suisan.22.526. Weights are counted from the events
each time and never incremented: counting twice gives the same weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from synapse.hippocampus.config import HebbianConfig
from synapse.hippocampus.model import Facts, Floats, GraphSnapshot, Ints
from synapse.hippocampus.numeric import Number, as_given, distinct
from synapse.hippocampus.ragged import Ragged
from synapse.hippocampus.touches import Touches, touches

PROBES_PER_BLOCK_COUNT = 1 << 20
"""Look-ups that are made at a time: bounds the memory in graphs of many long histories."""

_MARKS_COUNT = 1 << 24


@dataclass(frozen=True, slots=True)
class CoActivation:
    """What fires together in a graph, and how firmly it is wired."""

    groups_count: int
    """Episodes that activate at least two distinct entities."""
    associations_count: int
    """Distinct pairs of entities with a fact between them and a weight above 0."""
    fact_weight: Floats
    """Shape (facts,), in [0, 1): the weight of the fact's two ends; 0 for self-loops."""
    entity_weight: Floats
    """Shape (entities,), in [0, 1): the greatest weight among the entity's facts."""


def co_activation(snapshot: GraphSnapshot, touched: Touches | None = None) -> CoActivation:
    """Weigh every pair of entities that a fact joins by the episodes that activate both.

    w = max(0, c − 1) / √(n_a · n_b)

    c is the number of episodes that activate both entities a and b, n_a and n_b the numbers of
    episodes that activate each. This is the Ochiai coefficient of the *repeated* co-activations:
    the first shared episode is the event itself, only further ones make an association.

    Where the graph has neither episode lists nor mentions, facts with exactly equal ``valid_at``
    count as one episode; an unknown ``valid_at`` never groups.

    Cost: for each pair the shorter of the two histories is looked up in the longer one, so
    neither a giant episode nor a hub is ever paired with itself.

    Args:
        snapshot: the graph.
        touched: :func:`~synapse.hippocampus.touches.touches` of it, where known already.
    """
    facts, entities_count = snapshot.facts, len(snapshot.entities)
    if len(snapshot.mentions) == 0 and len(facts.episodes.values) == 0:
        history = _moments(facts, entities_count)
    else:
        history = (touches(snapshot) if touched is None else touched).entity_episodes
    activated_count = np.bincount(history.values)
    fact_weight = np.zeros(len(facts))
    entity_weight = np.zeros(entities_count)

    joined = np.flatnonzero(facts.source != facts.target)
    low, high, pair = _distinct_pairs(facts.source[joined], facts.target[joined], entities_count)
    pair_weight = _weights(history, low, high)
    fact_weight[joined] = pair_weight[pair]
    for ends in (facts.source, facts.target):
        np.maximum.at(entity_weight, ends, fact_weight)
    return CoActivation(
        groups_count=int((activated_count > 1).sum()),
        associations_count=int((pair_weight > 0.0).sum()),
        fact_weight=fact_weight,
        entity_weight=entity_weight,
    )


def co_recall_bonus(count: Number, config: HebbianConfig) -> Number:
    """Retention that a memory gains by being recalled together with another, again and again.

    b = min(b_max, β · max(0, c − c_min))

    Args:
        count: c, how often the two were recalled together; of several partners the closest.
            NaN (unknown) counts as the most.
        config: β is ``co_recall_bonus``, c_min ``co_recalls_min_count``, b_max
            ``co_recall_bonus_max``.

    Returns:
        In [0, b_max]; it is added to strength.

    Source:
        the co-retrieval rule of SmartMemory's evolution algorithms, with its constants.

    >>> [round(co_recall_bonus(float(count), HebbianConfig()), 2) for count in (2, 3, 10, 99)]
    [0.0, 0.0, 0.14, 0.3]
    """
    beyond = np.maximum(np.subtract(count, config.co_recalls_min_count), 0.0)
    return as_given(np.fmin(config.co_recall_bonus * beyond, config.co_recall_bonus_max), count)


def _weights(history: Ragged, low: Ints, high: Ints) -> Floats:
    counts = history.counts()
    shared = _shared_counts(history, low, high)
    norm = np.sqrt(counts[low].astype(np.float64) * counts[high])
    return np.maximum(shared - 1, 0) / np.maximum(norm, 1.0)


def _shared_counts(history: Ragged, low: Ints, high: Ints) -> Ints:
    """Size of the intersection of two histories, for each pair."""
    counts = history.counts()
    shared = np.zeros(len(low), np.int64)
    is_low_shorter = counts[low] <= counts[high]
    shorter, longer = np.where(is_low_shorter, (low, high), (high, low))
    # With one event at most there is no repetition. In order of the longer history the look-ups
    # stay in one place of the table, which makes them several times as fast.
    pairs = np.flatnonzero(counts[shorter] > 1)
    pairs = pairs[np.argsort(longer[pairs], kind="stable")]
    width = int(history.values.max(initial=0)) + 1
    table = history.row_numbers() * width + history.values
    marked = np.zeros(_MARKS_COUNT, np.bool_)
    marked[table % _MARKS_COUNT] = True
    block = np.cumsum(counts[shorter[pairs]]) // PROBES_PER_BLOCK_COUNT
    for part in np.split(pairs, np.flatnonzero(np.diff(block)) + 1):
        probes = history.take(shorter[part])
        keys = np.repeat(longer[part] * width, probes.counts()) + probes.values
        # Most look-ups fail. One byte rules nearly all of those out, without a search.
        candidates = np.flatnonzero(marked[keys % _MARKS_COUNT])
        keys = keys[candidates]
        place = np.minimum(np.searchsorted(table, keys), len(table) - 1)
        found = candidates[table[place] == keys]
        shared[part] = np.bincount(probes.row_numbers()[found], minlength=len(part))
    return shared


def _distinct_pairs(source: Ints, target: Ints, entities_count: int) -> tuple[Ints, Ints, Ints]:
    """Both ends of each distinct unordered pair, and the pair of each fact."""
    keys = np.minimum(source, target) * entities_count + np.maximum(source, target)
    distinct, pair = np.unique(keys, return_inverse=True)
    low = distinct // max(1, entities_count)
    return low, distinct - low * entities_count, pair


def _moments(facts: Facts, entities_count: int) -> Ragged:
    """Histories of a graph without episodes: facts of one moment are one event."""
    known = np.flatnonzero(~np.isnan(facts.valid_at_s))
    moments_s, moment = np.unique(facts.valid_at_s[known], return_inverse=True)
    width = max(1, len(moments_s))
    ends = np.concatenate([facts.source[known], facts.target[known]])
    keys = distinct(ends * width + np.concatenate([moment, moment]))
    entity = keys // width
    counts = np.bincount(entity, minlength=entities_count).astype(np.int64)
    return Ragged.from_counts(counts, keys - entity * width)
