"""When each fact begins and ends, and which fact of its group begins nearest to an end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from synapse.hippocampus.memory_keys import memory_keys
from synapse.hippocampus.model import Bools, Floats, GraphSnapshot, Ints
from synapse.hippocampus.wording import DUPLICATE_RELATION, relation_codes

_YEAR_30000_S = 1e12
_NEIGHBOURS_COUNT = 4
_TABLE_MAX_SIZE = 1 << 20


@dataclass(frozen=True, slots=True)
class Timeline:
    """The facts of a graph in time, as seen at one moment. Columns have shape (facts,).

    A fact begins at its ``valid_at``, where that is unknown at its newest supporting episode,
    and else when it was recorded. It ends at its ``invalid_at``, else when it was retired.
    Times that no calendar holds count as unknown.
    """

    start_s: Floats
    created_s: Floats
    support_s: Floats
    """Newest supporting episode."""
    end_s: Floats
    ended: Bools
    retired: Bools
    """Graphiti has recorded that something contradicted the fact."""
    episode_s: Floats
    """When each episode was, shape (episodes,)."""
    first_episode: Ints
    """The episode that brought the fact, -1 if none is known."""
    has_begun: Bools
    """The fact has begun, and it is no housekeeping."""
    speaks: Bools
    """It has begun and links two entities."""
    relation: Ints
    """Number of the relation in ``relation_names``."""
    relation_names: list[str]

    @classmethod
    def of(cls, snapshot: GraphSnapshot, now_s: float) -> Timeline:
        """Read the times of all facts; a fact whose end lies after ``now_s`` has not ended."""
        facts = snapshot.facts
        episodes = snapshot.episodes
        episode_s = _first_known(_readable(episodes.valid_at_s), _readable(episodes.created_at_s))
        first_episode, support_s = _outer_episodes(snapshot, episode_s)
        created_s = _readable(facts.created_at_s)
        start_s = _first_known(_readable(facts.valid_at_s), support_s, created_s)
        expired_s = _readable(facts.expired_at_s)
        end_s = _first_known(_readable(facts.invalid_at_s), expired_s)
        relation, names = relation_codes(facts.relation)
        has_begun = start_s <= now_s
        if DUPLICATE_RELATION in names:
            has_begun &= relation != names.index(DUPLICATE_RELATION)
        return cls(
            start_s=start_s,
            created_s=created_s,
            support_s=support_s,
            end_s=end_s,
            ended=end_s <= now_s,
            retired=~np.isnan(expired_s),
            episode_s=episode_s,
            first_episode=first_episode,
            has_begun=has_begun,
            speaks=has_begun & (facts.source != facts.target),
            relation=relation,
            relation_names=names,
        )


def latest_s(snapshot: GraphSnapshot, now_s: float) -> float:
    """The last time in the graph that lies in the past; ``now_s`` where there is none.

    What is worked out for this moment does not change while nothing happens.
    """
    facts, episodes = snapshot.facts, snapshot.episodes
    times_s = (
        facts.created_at_s, facts.valid_at_s, facts.invalid_at_s, facts.expired_at_s,
        episodes.created_at_s, episodes.valid_at_s,
    )  # fmt: skip
    past_s = [float(t.max(where=t <= now_s, initial=-np.inf)) for t in times_s]
    return max(past_s) if np.isfinite(max(past_s)) else now_s


def nearest_successors(
    time: Timeline,
    ended: Ints,
    group: Ints,
    uuids: list[str],
    tolerance_s: float,
    differs: Callable[[Ints, Ints], Bools],
    may_follow: Bools | None = None,
) -> Ints:
    """For each ended fact the fact of its group that begins nearest to its end.

    A sort-join: the facts that may succeed are sorted by group and start, each end is looked
    up there, and only a fixed number of neighbours on either side is considered. So a group
    of ten thousand facts costs no more than ten thousand groups of one.

    Args:
        time: the times of all facts.
        ended: rows of facts, shape (n,).
        group: number of each fact's group, shape (facts,).
        uuids: of all facts; they decide between equal times.
        tolerance_s: how far from the end a successor may begin.
        differs: tells for aligned rows of old and new facts whether the new one is another
            statement at all.
        may_follow: facts that can succeed; those that link two entities if none are given.

    Returns:
        Rows, -1 where there is none. A successor always begins later than the ended fact.
    """
    follows = time.speaks if may_follow is None else may_follow
    successor = np.full(len(ended), -1, np.int64)
    pool = np.flatnonzero(follows & _may_be_in(group, group[ended])) if len(ended) else ended
    if not len(pool):
        return successor
    pool = pool[in_order((time.created_s[pool], time.start_s[pool], group[pool]), uuids, pool)]
    at = _places(group[pool], time.start_s[pool], group[ended], time.end_s[ended])
    slot = at[:, None] + np.arange(-_NEIGHBOURS_COUNT, _NEIGHBOURS_COUNT)
    near = pool[np.clip(slot, 0, len(pool) - 1)]
    gap_s = np.abs(time.start_s[near] - time.end_s[ended][:, None])
    fits = (
        (slot >= 0)
        & (slot < len(pool))
        & (group[near] == group[ended][:, None])
        & (time.start_s[near] > time.start_s[ended][:, None])
        & (gap_s <= tolerance_s)
    )
    old, column = np.nonzero(fits)
    if not len(old):
        return successor
    fits[old, column] = differs(ended[old], near[old, column])
    best = np.argmin(np.where(fits, gap_s, np.inf), axis=1)
    row = np.arange(len(ended))
    return np.where(fits[row, best], near[row, best], -1)


def in_order(columns: Sequence[Ints | Floats], uuids: Sequence[str], rows: Ints) -> Ints:
    """Places of some facts, sorted by columns, the last one first; uuids decide between equals.

    Args:
        columns: aligned with ``rows``.
        uuids: of all facts.
        rows: the facts.

    >>> in_order((np.array([2, 1, 1]),), ["c", "b", "a"], np.array([0, 1, 2])).tolist()
    [2, 1, 0]
    """
    order = np.lexsort(tuple(columns))
    equal = np.ones(max(len(order) - 1, 0), np.bool_)
    for column in columns:
        ordered = column[order]
        equal &= (ordered[1:] == ordered[:-1]) | (np.isnan(ordered[1:]) & np.isnan(ordered[:-1]))
    if equal.any():
        tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
        run = np.append(0, np.cumsum(~equal))[tied]
        keys = memory_keys([uuids[row] for row in rows[order[tied]].tolist()])
        order[tied] = order[tied[np.lexsort((keys, run))]]
    return order


def _may_be_in(groups: Ints, wanted: Ints) -> Bools:
    """True for every group in ``wanted`` and for a few others: a cheap test before the join."""
    size = min(_TABLE_MAX_SIZE, 1 << (16 * len(groups)).bit_length())
    table = np.zeros(size, np.bool_)
    table[wanted % size] = True
    return table[groups % size]


def _places(groups: Ints, times_s: Floats, wanted_group: Ints, wanted_s: Floats) -> Ints:
    """Where (wanted_group, wanted_s) belongs among the sorted pairs (groups, times_s).

    Each group's stretch is halved until it is empty, for all wanted pairs at once.
    """
    low = np.searchsorted(groups, wanted_group)
    high = np.searchsorted(groups, wanted_group, "right")
    for _ in range(int((high - low).max(initial=0)).bit_length()):
        middle = (low + high) // 2
        later = times_s[np.minimum(middle, len(times_s) - 1)] < wanted_s
        later &= low < high
        low, high = np.where(later, middle + 1, low), np.where(later, high, middle)
    return low


def _outer_episodes(snapshot: GraphSnapshot, episode_s: Floats) -> tuple[Ints, Floats]:
    """The first episode of each fact, and the time of its newest one."""
    support = snapshot.facts.episodes
    first, newest_s = np.full(len(support), -1, np.int64), np.full(len(support), np.nan)
    supported = np.flatnonzero(support.counts() > 0)
    if len(supported):
        start = support.offsets[:-1][supported]
        when_s = episode_s[support.values]
        newest_s[supported] = np.fmax.reduceat(when_s, start)
        first[supported] = support.values[start]
        several = np.flatnonzero(support.counts() > 1)
        some = support.take(several)
        order = np.lexsort((episode_s[some.values], some.row_numbers()))
        first[several] = some.values[order[some.offsets[:-1]]]
    return first, newest_s


def _readable(times_s: Floats) -> Floats:
    return np.where(np.abs(times_s) < _YEAR_30000_S, times_s, np.nan)


def _first_known(*columns: Floats) -> Floats:
    known = columns[0]
    for column in columns[1:]:
        known = np.where(np.isnan(known), column, known)
    return known
