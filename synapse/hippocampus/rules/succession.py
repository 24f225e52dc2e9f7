"""Which value of a slot follows which, when facts are said again and arrive in any order.

A *slot* is whatever holds one value at a time; an *entry* is one fact with the value that it gives
the slot. A fact is said when it begins, and again by every later episode that supports it, except
by one that brings another value of the slot. An entry is replaced by the first entry with another
value that is said after the entry was said for the last time. So A, B, A again ends at A, also
where the third saying only added an episode to the first fact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from synapse.hippocampus.model import Bools, Floats, GraphSnapshot, Ints
from synapse.hippocampus.numeric import among
from synapse.hippocampus.timeline import Timeline, in_order

_STEPS_MAX_COUNT = 8


class Step(NamedTuple):
    """One entry with the one that may have replaced it."""

    old: int
    """Row of the fact."""
    new: int
    at_s: float
    """When the new value was said first after the old one was said last."""
    slot_count: int
    """Sayings in the slot."""
    later_count: int
    """Those of them from the newer one on."""
    since_before_s: float = inf
    """From the moment before the old saying to it."""
    until_after_s: float = inf
    """From the new saying to the moment after it."""
    old_is_alone: bool = True
    """No other saying of the slot stands at the moment of the old one."""
    new_is_alone: bool = True


@dataclass(frozen=True, slots=True)
class _Lists:
    """The columns as plain lists: quicker for one place at a time."""

    row: list[int]
    value: list[int]
    said_s: list[float]
    moment_start: list[int]
    moment_end: list[int]
    run_end: list[int]
    group_end: list[int]
    group_start: list[int]


class Succession:
    """The sayings of all slots in order.

    Args:
        snapshot: the graph.
        time: its times.
        row: facts, shape (entries,); one fact may stand in several slots.
        group: number of the slot of each entry.
        value: number of the value of each entry.
    """

    def __init__(
        self, snapshot: GraphSnapshot, time: Timeline, row: Ints, group: Ints, value: Ints
    ) -> None:
        entry, said_s = _sayings(snapshot, time, row, group)
        row, group, value = row[entry], group[entry], value[entry]
        start_s, recorded_s = time.start_s[row], _recorded_s(snapshot, time)[row]
        keys = (value, recorded_s, start_s, said_s, group)
        order = in_order(keys, snapshot.facts.uuid, row)
        self.row, self.group, self.value = row[order], group[order], value[order]
        self.said_s = said_s[order]
        start_s, recorded_s = start_s[order], recorded_s[order]
        new_group = _changes(self.group)
        new_moment = new_group | _changes(self.said_s) | _changes(start_s)
        block = np.cumsum(new_moment) - 1
        # Unknown records sort first: where one is there, the records of its moment decide nothing.
        known = np.isfinite(recorded_s[np.flatnonzero(new_moment)])[block]
        new_moment |= _changes(recorded_s) & known
        new_run = new_group | _changes(self.value)
        count = len(self.row)
        self._moment_end = _next_true(new_moment, count)
        self._run_end = _next_true(new_run, count)
        self._group_end = _next_true(new_group, count)
        last = np.zeros(entry.max(initial=-1) + 1, np.int64)
        last[entry[order]] = np.arange(count)  # the last one stays
        self._is_last = np.zeros(count, np.bool_)
        self._is_last[last] = True
        first = np.flatnonzero(new_group)
        self._lists = _Lists(
            self.row.tolist(), self.value.tolist(), self.said_s.tolist(),
            _last_true(new_moment), self._moment_end.tolist(), self._run_end.tolist(),
            self._group_end.tolist(),
            np.repeat(first, np.diff(np.append(first, count))).tolist(),
        )  # fmt: skip

    def places(self) -> Ints:
        """Places of the entries' last sayings that another value follows."""
        first = self._first_other(np.arange(len(self.row)))
        return np.flatnonzero(self._is_last & (first < self._group_end))

    def _first_other(self, place: Ints) -> Ints:
        count = len(self.row)
        if not count:
            return place
        candidate = self._moment_end[place]
        inside = candidate < self._group_end[place]
        safe = np.minimum(candidate, count - 1)
        same = inside & (self.value[safe] == self.value[place])
        candidate = np.where(same, self._run_end[safe], candidate)
        return np.minimum(candidate, self._group_end[place])

    def steps(self, place: int) -> Iterator[Step]:
        """The entries that may have replaced the one at a place, the first one first."""
        t = self._lists
        end, own, first = t.group_end[place], t.value[place], t.group_start[place]
        at, found = t.moment_end[place], 0
        start = t.moment_start[place]
        before_s = t.said_s[place] - t.said_s[start - 1] if start > first else inf
        old_is_alone = at - start == 1
        while at < end and found < _STEPS_MAX_COUNT:
            if t.value[at] == own:
                at = t.run_end[at]
                continue
            after = t.moment_end[at]
            after_s = t.said_s[after] - t.said_s[at] if after < end else inf
            new_is_alone = after - t.moment_start[at] == 1
            yield Step(
                t.row[place], t.row[at], t.said_s[at], end - first, end - at, before_s, after_s,
                old_is_alone, new_is_alone,
            )  # fmt: skip
            found += 1
            at += 1


def _changes(column: Ints | Floats) -> Bools:
    changed = np.ones(len(column), np.bool_)
    changed[1:] = column[1:] != column[:-1]
    return changed


def _next_true(marks: Bools, count: int) -> Ints:
    """For each place the first later place that is marked, ``count`` where there is none."""
    starts = np.flatnonzero(marks)
    after = np.searchsorted(starts, np.arange(count), side="right")
    return np.append(starts, count)[after]


def _last_true(marks: Bools) -> list[int]:
    """For each place itself or the last place before it that is marked."""
    starts = np.flatnonzero(marks)
    return np.repeat(starts, np.diff(np.append(starts, len(marks)))).tolist()


def _sayings(
    snapshot: GraphSnapshot, time: Timeline, row: Ints, group: Ints
) -> tuple[Ints, Floats]:
    """Entry and moment of every saying."""
    entry = np.arange(len(row))
    several = np.flatnonzero(snapshot.facts.episodes.counts()[row] > 1)
    if not len(several):
        return entry, time.start_s[row]
    support = snapshot.facts.episodes.take(row[several])
    owner = several[support.row_numbers()]
    when_s = time.episode_s[support.values]
    later = (support.values != time.first_episode[row[owner]]) & (when_s > time.start_s[row[owner]])
    if not later.any():
        return entry, time.start_s[row]
    owner, episode, when_s = owner[later], support.values[later], when_s[later]
    width = len(snapshot.episodes) + 1
    brings = group * width + time.first_episode[row]
    again = ~among(group[owner] * width + episode, brings)
    return (
        np.concatenate([entry, owner[again]]),
        np.concatenate([time.start_s[row], when_s[again]]),
    )


def _recorded_s(snapshot: GraphSnapshot, time: Timeline) -> Floats:
    """When each fact was recorded; facts of one episode were recorded together."""
    recorded_s = np.where(np.isnan(time.created_s), -np.inf, time.created_s)
    told = time.first_episode >= 0
    together_s = np.full(len(snapshot.episodes), np.inf)
    np.minimum.at(together_s, time.first_episode[told], recorded_s[told])
    recorded_s[told] = together_s[time.first_episode[told]]
    return recorded_s
