"""Pairs of memories that were recalled together, and on which days.

Like a profile (:mod:`~synapse.hippocampus.recall`) a pair is what the *set* of its recalls says:
the days (UTC) on which one recall set held both. Neither the order nor the batches in which recall
sets arrive matter to it. Each memory keeps a bounded number of partners, each pair a bounded number
of days.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from synapse.hippocampus.numeric import SECONDS_PER_DAY

PARTNERS_COUNT = 20
"""A memory keeps its strongest partners, this many at least."""
PARTNERS_MAX_COUNT = 30
"""As soon as there are more, the weakest ones go."""
DAYS_MAX_COUNT = 20
"""Days that are kept per pair: more give no more retention (``co_recall_bonus_max``)."""
PAIRED_RANKS_COUNT = 10
"""Memories of one recall set that are paired with each other, the best ranked ones."""
LINK_HALF_LIFE_DAYS = 30.0


class CoRecall(NamedTuple):
    """On which days two memories were recalled together.

    >>> CoRecall.on(0.0, 86_400.0, 90_000.0).times_count
    2
    """

    days: tuple[int, ...]
    """Days since 1970, the newest ones, in order."""
    earlier_count: int = 0
    """Further days that are counted without being known."""

    @classmethod
    def on(cls, *times_s: float) -> CoRecall:
        """Recalled together at these moments."""
        return cls(_newest(map(day_of, times_s)))

    @property
    def times_count(self) -> int:
        """On how many days: no more are told apart than :data:`DAYS_MAX_COUNT`."""
        return len(self.days) + self.earlier_count

    @property
    def last_s(self) -> float:
        """When the last of these days began."""
        return self.days[-1] * SECONDS_PER_DAY

    def with_days(self, other: CoRecall) -> CoRecall:
        """What two sides, or two batches, know together."""
        if other == self:
            return self
        return CoRecall(
            _newest((*self.days, *other.days)), max(self.earlier_count, other.earlier_count)
        )


def day_of(at_s: float) -> int:
    """The day (UTC) of a moment, 0 the first of 1970."""
    return int(at_s // SECONDS_PER_DAY)


def _newest(days: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(days))[-DAYS_MAX_COUNT:])


Links = Mapping[str, Mapping[str, CoRecall]]
"""Memory -> its partners. Each side keeps its own strongest ones: see :func:`pairs`."""


def pairs(links: Links) -> dict[tuple[str, str], CoRecall]:
    """Each pair once, its uuids in order, as both sides together know it.

    >>> pairs({"b": {"a": CoRecall((3, 9))}, "a": {"b": CoRecall((3,))}})
    {('a', 'b'): CoRecall(days=(3, 9), earlier_count=0)}
    """
    known: dict[tuple[str, str], CoRecall] = {}
    for one, partners in links.items():
        for other, co_recall in partners.items():
            pair = (one, other) if one < other else (other, one)
            known[pair] = co_recall.with_days(known.get(pair, co_recall))
    return known


def join(
    one: str, other: str, of_one: dict[str, CoRecall], of_other: dict[str, CoRecall], day: int
) -> None:
    """Note that a pair was recalled together.

    Args:
        one, other: uuids of the two.
        of_one, of_other: the partners of each; changed in place.
        day: on which day they were, see :func:`day_of`.
    """
    known, theirs = of_one.get(other), of_other.get(one)
    if known is theirs and known is not None and known.days[-1] == day:
        return
    now = CoRecall((day,))
    for before in (known, theirs):
        if before is not None:
            now = before.with_days(now)
    of_one[other] = of_other[one] = now


def drop_weakest(partners: dict[str, CoRecall]) -> None:
    """Counts halve in 30 days; log₂ count + last / half-life sorts them the same at any moment."""
    if len(partners) <= PARTNERS_MAX_COUNT:
        return
    strengths = sorted(
        [
            (math.log2(len(days) + earlier_count) + days[-1] / LINK_HALF_LIFE_DAYS, uuid)
            for uuid, (days, earlier_count) in partners.items()
        ]
    )
    for _, uuid in strengths[:-PARTNERS_COUNT]:
        del partners[uuid]
