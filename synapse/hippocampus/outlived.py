"""Outlived: active facts that are older than facts of their relation become.

A hint to look again, and never a reason to delete: half of all facts live longer than the median.
Which facts they are changes with time alone, so what is kept of a graph says when each becomes
one; a run that finds the graph unchanged then only has to count.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict

from synapse.hippocampus.model import Floats

FIRST_COUNT = 5
"""Facts that are named, those that have been stale for longest."""
PAGE_COUNT = 1_000
"""Moments that are kept at a time."""


class OutlivedFact(BaseModel):
    """One fact, and the life that facts of its relation have here."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fact: str
    """Its uuid."""
    relation: str
    lasts_days: float
    """The median lifetime of the relation's facts."""
    since_s: float
    """When the fact has outlived it."""

    @property
    def reason(self) -> str:
        """In one sentence."""
        return outlived_reason(self.relation, self.lasts_days)


class Outlived(BaseModel):
    """When facts become stale, as a page of all these moments; it holds between two of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    lifetimes_count: int = 0
    """Facts of relations whose lifetime is known."""
    first: tuple[OutlivedFact, ...] = ()
    """The first that are, or will be, stale."""
    before_count: int = 0
    """Facts that were stale before this page."""
    page_s: tuple[float, ...] = ()
    """The next moments at which a fact becomes stale, ascending."""
    since_s: float | None = None
    """The page holds from here on; ``None``: always."""
    until_s: float | None = None
    """From here on another page is needed; ``None``: never."""

    @classmethod
    def of(
        cls, uuids: Sequence[str], relations: Sequence[str], lifetime_days: Floats,
        outlives_s: Floats, now_s: float,
    ) -> Outlived:  # fmt: skip
        """The page that holds now.

        Args:
            uuids: of all facts; the next three are aligned with it.
            relations: their relations.
            lifetime_days: the median lifetime of each fact's relation, NaN where unknown.
            outlives_s: when each fact outlives that, NaN where it never does.
            now_s: the present moment.

        >>> days, ends_s = np.array([2.0, np.nan]), np.array([9.0, np.nan])
        >>> known = Outlived.of(["a", "b"], ["USES", "KNOWS"], days, ends_s, 5.0)
        >>> known.count(8.0), known.count(9.0), known.named(9.0)[0].fact
        (0, 1, 'a')
        """
        rows = np.flatnonzero(np.isfinite(outlives_s))
        moments_s = np.sort(outlives_s[rows])
        start = int(np.searchsorted(moments_s, now_s, "right")) // PAGE_COUNT * PAGE_COUNT
        end = start + PAGE_COUNT
        soon = rows[outlives_s[rows] <= moments_s[:FIRST_COUNT][-1]] if len(rows) else rows
        first = sorted((float(outlives_s[row]), uuids[row], row) for row in soon.tolist())
        return cls(
            lifetimes_count=int(np.count_nonzero(np.isfinite(lifetime_days))),
            first=tuple(
                OutlivedFact(
                    fact=uuid, relation=relations[row], lasts_days=float(lifetime_days[row]),
                    since_s=since_s,
                )
                for since_s, uuid, row in first[:FIRST_COUNT]
            ),
            before_count=start,
            page_s=tuple(moments_s[start:end].tolist()),
            since_s=float(moments_s[start - 1]) if start else None,
            until_s=float(moments_s[end]) if end < len(moments_s) else None,
        )  # fmt: skip

    def count(self, now_s: float) -> int:
        """Facts that are stale now."""
        return self.before_count + bisect_right(self.page_s, now_s)

    def named(self, now_s: float) -> list[OutlivedFact]:
        """The first of them."""
        return [fact for fact in self.first if fact.since_s <= now_s]


def outlived_reason(relation: str, lasts_days: float) -> str:
    """Why a fact is stale.

    >>> outlived_reason("LIVES_IN", 412.3)
    'half of the facts of LIVES_IN last no longer than 412 days'
    """
    return f"half of the facts of {relation} last no longer than {lasts_days:.0f} days"
