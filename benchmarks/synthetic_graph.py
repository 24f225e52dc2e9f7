"""A graph of the shape that Graphiti writes, of any size, the same for the same arguments.

Entities live in topics of about 200, of very unequal weight. An episode speaks of one topic and
yields 25 facts; of all facts 3 % are about the same entity, the hub. Which relations there are,
and how often a fact is replaced, is told by a :class:`~relation_mix.RelationMix`. One per cent of
the episodes, the newest, are held back until the graph is to grow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from relation_mix import HARSH, LIKE_GRAPHITI, RelationMix

NOW = "2026-01-01T00:00:00Z"
"""The moment the graph ends, and the one to consolidate it at."""

SEED = 20_260_101
YEAR_S = 365 * 86_400
NOW_US = np.datetime64("2026-01-01T00:00:00", "us")
FACTS_PER_EPISODE, ENTITIES_PER_EPISODE = 25, 5
MENTIONS_PER_EPISODE = 18
ENTITIES_PER_TOPIC = 200
HELD_BACK_RATIO = 0.01
UNDATED_RATIO, MIDNIGHT_RATIO = 0.2, 0.2
HUB_RATIO = 0.03
ELSEWHERE_RATIO = 0.1
"""Fact ends that lie outside the topic of their episode."""

ENDINGS = [
    "as agreed in the meeting of that week",
    "and the team keeps the notes about it",
    "which was checked twice on the staging host",
    "because the old way took far too long",
    "until the next review of the whole plan",
    "and it is urgent, the error must be gone",
    "a critical point that nobody should forget",
    "and no longer what stood there before it",
]
ENDING_WEIGHTS = (0.26, 0.25, 0.2, 0.1, 0.1, 0.04, 0.04, 0.01)

Ints = npt.NDArray[np.int64]
Times = npt.NDArray[np.datetime64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SyntheticGraph:
    """Columns of a whole graph; facts and mentions are in the order of their episodes."""

    relation_names: tuple[str, ...]
    entity_uuid: list[str]
    episode_uuid: list[str]
    episode_at: Times
    fact_uuid: list[str]
    fact_episode: Ints
    """The episode a fact was first said in."""
    fact_again: list[list[int]]
    """Later episodes that said it again."""
    source: Ints
    target: Ints
    relation: Ints
    ending: Ints
    created_at: Times
    valid_at: Times
    successor: Ints
    """The fact that replaced this one, or -1."""
    is_ended: Bools
    """The graph says so."""
    names_fact: Ints
    """The earlier fact whose value the sentence names, or -1."""
    mention_episode: Ints
    mention_entity: Ints
    kept_episodes_count: int
    """Episodes up to here are built at first, the others held back."""


def generate(entities_count: int, *, harsh: bool = False) -> SyntheticGraph:
    """The graph with this many entities, five times as many facts, a fifth as many episodes."""
    mix = HARSH if harsh else LIKE_GRAPHITI
    rng = np.random.default_rng([SEED, entities_count])
    kept = max(1, entities_count // ENTITIES_PER_EPISODE)
    episodes_count = kept + max(1, round(kept * HELD_BACK_RATIO))
    fact_episode = np.repeat(np.arange(episodes_count), FACTS_PER_EPISODE)
    mention_episode = np.repeat(np.arange(episodes_count), MENTIONS_PER_EPISODE)
    weights = _skewed(rng, entities_count)
    topic = rng.integers(max(1, entities_count // ENTITIES_PER_TOPIC), size=episodes_count)
    source = _choose(rng, weights, topic[fact_episode])
    source[rng.random(len(source)) < HUB_RATIO] = 0
    target = _choose(rng, weights, topic[fact_episode])
    shares = np.array(mix.weights) / sum(mix.weights)
    relation = rng.choice(len(shares), len(fact_episode), p=shares)
    own = np.flatnonzero(relation < mix.single_count)
    source[own] = _any_of_topic(rng, entities_count, topic[fact_episode[own]])
    before = _continued(rng, np.array(mix.continued_ratio)[relation], fact_episode)
    source, relation = source[before], relation[before]
    episode_at = _episode_times(rng, kept, episodes_count)
    kept_relation = relation[: kept * FACTS_PER_EPISODE]
    pattern, copy = _pairs(rng, mix, kept_relation < mix.single_count)
    for column in (source, relation):
        column[copy] = column[pattern]
    successor = _successors(pattern, copy, fact_episode)
    is_replaced = successor >= 0
    said_at = episode_at[fact_episode]
    return SyntheticGraph(
        relation_names=mix.names,
        entity_uuid=_uuids(rng, entities_count),
        episode_uuid=_uuids(rng, episodes_count),
        episode_at=episode_at,
        fact_uuid=_uuids(rng, len(fact_episode)),
        fact_episode=fact_episode,
        fact_again=_repetitions(rng, fact_episode, kept),
        source=source,
        target=target,
        relation=relation,
        ending=rng.choice(len(ENDINGS), len(fact_episode), p=ENDING_WEIGHTS),
        created_at=said_at + rng.integers(1_000_001, 60_000_000, len(said_at)).astype("m8[us]"),
        valid_at=_valid_times(rng, said_at, before, _among(len(said_at), successor)),
        successor=successor,
        is_ended=is_replaced & (rng.random(len(successor)) < mix.ended_ratio),
        names_fact=_named(rng, successor, mix.named_ratio),
        mention_episode=mention_episode,
        mention_entity=_choose(rng, weights, topic[mention_episode]),
        kept_episodes_count=kept,
    )


def _skewed(rng: np.random.Generator, count: int) -> npt.NDArray[np.float64]:
    """How often each entity is met: the quantiles of a Pareto distribution, shuffled."""
    return rng.permutation(((np.arange(count) + 0.5) / count) ** (-1 / 1.3))


def _choose(rng: np.random.Generator, weights: npt.NDArray[np.float64], topic: Ints) -> Ints:
    """One entity for each topic: mostly one of the topic, sometimes any, by weight."""
    ends = np.concatenate([[0.0], np.cumsum(weights)])
    low = ends[topic * ENTITIES_PER_TOPIC]
    high = ends[np.minimum((topic + 1) * ENTITIES_PER_TOPIC, len(weights))]
    elsewhere = rng.random(len(topic)) < ELSEWHERE_RATIO
    low, high = np.where(elsewhere, 0.0, low), np.where(elsewhere, ends[-1], high)
    place = np.searchsorted(ends, low + rng.random(len(topic)) * (high - low), side="right") - 1
    return np.minimum(place, len(weights) - 1)


def _episode_times(rng: np.random.Generator, kept: int, count: int) -> Times:
    """Ascending over a year; those held back lie in the last day."""
    year_s = np.sort(rng.random(kept)) * (YEAR_S - 86_400)
    last_day_s = YEAR_S - 86_400 + np.sort(rng.random(count - kept)) * 80_000
    seconds = np.concatenate([year_s, last_day_s])
    return NOW_US - np.timedelta64(YEAR_S, "s") + (seconds * 1e6).astype("m8[us]")


def _any_of_topic(rng: np.random.Generator, entities_count: int, topic: Ints) -> Ints:
    """One entity for each topic, each of the topic as likely as any other."""
    low = topic * ENTITIES_PER_TOPIC
    return rng.integers(low, np.minimum(low + ENTITIES_PER_TOPIC, entities_count))


def _continued(rng: np.random.Generator, ratio: Floats, fact_episode: Ints) -> Ints:
    """For each fact the one before in its episode that it continues, else itself."""
    row = np.arange(len(fact_episode))
    goes_on = rng.random(len(row)) < ratio
    goes_on &= np.append(fact_episode[1:] == fact_episode[:-1], False)
    row[1:][goes_on[:-1]] = 0
    return np.maximum.accumulate(row)


def _pairs(rng: np.random.Generator, mix: RelationMix, is_single: Bools) -> tuple[Ints, Ints]:
    """Facts to be replaced or to replace, and as many others to be of the same slot.

    Args:
        is_single: for each fact that is built at first.
    """
    pairs_count = int(len(is_single) * mix.replaced_ratio)
    order = rng.permutation(len(is_single))
    single = order[is_single[order]][: int(pairs_count * mix.single_replaced_ratio)]
    others = order[~is_single[order]]
    pattern = np.concatenate([single, others[: pairs_count - len(single)]])
    return pattern, others[-len(pattern) :]


def _successors(left: Ints, right: Ints, fact_episode: Ints) -> Ints:
    """The later fact of each pair for the earlier one."""
    old, new = np.minimum(left, right), np.maximum(left, right)
    apart = fact_episode[old] < fact_episode[new]
    successor = np.full(len(fact_episode), -1)
    successor[old[apart]] = new[apart]
    return successor


def _named(rng: np.random.Generator, successor: Ints, ratio: float) -> Ints:
    """For some successors the fact before."""
    names_fact = np.full(len(successor), -1)
    old = np.flatnonzero((successor >= 0) & (rng.random(len(successor)) < ratio))
    names_fact[successor[old]] = old
    return names_fact


def _repetitions(rng: np.random.Generator, fact_episode: Ints, kept: int) -> list[list[int]]:
    """None for 70 % of the facts, one or two later episodes for the others."""
    counts = rng.choice(3, len(fact_episode), p=(0.7, 0.2, 0.1))
    last = np.where(fact_episode < kept, kept, fact_episode.max() + 1)
    draws = fact_episode + 1 + rng.integers(50, size=(2, len(fact_episode)))
    return [
        [episode for episode in dict.fromkeys(drawn[:count]) if episode < end]
        for count, end, drawn in zip(counts.tolist(), last.tolist(), draws.T.tolist(), strict=True)
    ]


def _valid_times(rng: np.random.Generator, said_at: Times, before: Ints, is_dated: Bools) -> Times:
    """When each fact holds from: when it was said, a midnight, or unknown."""
    chance = rng.random(len(said_at))[before]  # what is said together holds from the same time
    valid_at = said_at.copy()
    midnight = (chance < MIDNIGHT_RATIO) & ~is_dated
    valid_at[midnight] = said_at[midnight].astype("M8[D]")
    valid_at[(chance > 1 - UNDATED_RATIO) & ~is_dated] = np.datetime64("NaT", "s")
    return valid_at


def _among(count: int, rows: Ints) -> Bools:
    marked = np.zeros(count, np.bool_)
    marked[rows[rows >= 0]] = True
    return marked


def _uuids(rng: np.random.Generator, count: int) -> list[str]:
    digits = rng.bytes(16 * count).hex()
    return [
        f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"
        for h in (digits[i : i + 32] for i in range(0, len(digits), 32))
    ]
