"""Pairs of memories that were recalled together, and how often.

Counted from recall sets one after the other (:mod:`~synapse.hippocampus.recall`), at most once in
24 hours for each pair. Each memory keeps a bounded number of partners.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from synapse.hippocampus.numeric import SECONDS_PER_DAY

PARTNERS_COUNT = 20
"""A memory keeps its strongest partners, this many at least."""
PARTNERS_MAX_COUNT = 30
"""As soon as there are more, the weakest ones go."""
PAIRED_RANKS_COUNT = 10
"""Memories of one recall set that are paired with each other, the best ranked ones."""
LINK_HALF_LIFE_DAYS = 30.0


class CoRecall(NamedTuple):
    """How often two memories were recalled together (counted once in 24 hours), and when last."""

    times_count: int
    last_s: float


Links = Mapping[str, Mapping[str, CoRecall]]
"""Memory -> its partners. Each side keeps its own strongest ones: see :func:`pairs`."""


def pairs(links: Links) -> dict[tuple[str, str], CoRecall]:
    """Each pair once, its uuids in order, as the side that knows more of it tells.

    >>> pairs({"b": {"a": CoRecall(3, 9.0)}, "a": {"b": CoRecall(2, 5.0)}})
    {('a', 'b'): CoRecall(times_count=3, last_s=9.0)}
    """
    known: dict[tuple[str, str], CoRecall] = {}
    for one, partners in links.items():
        for other, co_recall in partners.items():
            pair = (one, other) if one < other else (other, one)
            known[pair] = max(co_recall, known.get(pair, co_recall))
    return known


def join(
    one: str, other: str, of_one: dict[str, CoRecall], of_other: dict[str, CoRecall],
    at_s: float, is_new: bool,
) -> None:  # fmt: skip
    """Count a pair that was recalled together, unless it was counted within 24 hours.

    A set that arrives late counts only where ``is_new``, as there is no telling when the pair was
    counted before the last time.

    Args:
        one, other: uuids of the two.
        of_one, of_other: the partners of each; changed in place.
        at_s: when they were recalled together.
        is_new: whether the recall of at least one of the two counts.
    """
    known, theirs = of_one.get(other), of_other.get(one)
    if known is None or (theirs is not None and theirs > known):
        known = theirs
    if known is None:
        of_one[other] = of_other[one] = CoRecall(1, at_s)
        return
    since_s = at_s - known.last_s
    if since_s >= SECONDS_PER_DAY or (since_s <= -SECONDS_PER_DAY and is_new):
        known = CoRecall(known.times_count + 1, max(known.last_s, at_s))
    of_one[other] = of_other[one] = known


def drop_weakest(partners: dict[str, CoRecall]) -> None:
    """Counts halve in 30 days; log₂ count + last / half-life sorts them the same at any moment."""
    if len(partners) <= PARTNERS_MAX_COUNT:
        return
    half_life_s = LINK_HALF_LIFE_DAYS * SECONDS_PER_DAY
    strengths = sorted(
        [
            (math.log2(count) + last_s / half_life_s, uuid)
            for uuid, (count, last_s) in partners.items()
        ]
    )
    for _, uuid in strengths[:-PARTNERS_COUNT]:
        del partners[uuid]
