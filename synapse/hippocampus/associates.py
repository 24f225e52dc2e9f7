"""Associates: which memories come to mind with one.

Two things bind memories: being active in the same episode, and being recalled together. Both count
less as time passes, so the table of one memory is worked out when it is asked for, from the events
themselves; nothing is added up from run to run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from synapse.hippocampus.co_recall import LINK_HALF_LIFE_DAYS, PARTNERS_COUNT, CoRecall
from synapse.hippocampus.model import Floats
from synapse.hippocampus.numeric import SECONDS_PER_DAY, halved
from synapse.hippocampus.ragged import Ragged


@dataclass(frozen=True, slots=True)
class Associate:
    """One memory that comes to mind with another."""

    row: int
    weight: float
    """Shared episodes and recalls, each counted by what time has left of it."""


class Associates:
    """Finds the associates of the memories of one graph.

    Args:
        episodes: row of a memory -> its distinct episodes.
        episode_s: when each episode was, shape (episodes,); NaN (unknown) counts as now.
        now_s: the present moment.

    >>> day = 86_400.0
    >>> episodes = Ragged.from_lists([[0, 1], [0, 1], [1], []])
    >>> found = Associates(episodes, np.array([0.0, 30 * day]), now_s=30 * day).of(0)
    >>> [(associate.row, associate.weight) for associate in found]
    [(1, 1.5), (2, 1.0)]
    """

    def __init__(self, episodes: Ragged, episode_s: Floats, now_s: float) -> None:
        self._episodes, self._now_s = episodes, now_s
        self._left = self._of_time(episode_s)
        order = np.argsort(episodes.values, kind="stable")
        counts = np.bincount(episodes.values, minlength=len(episode_s)).astype(np.int64)
        self._members = Ragged.from_counts(counts, episodes.row_numbers()[order])
        self._active = np.bincount(
            episodes.row_numbers(), self._left[episodes.values], len(episodes)
        )

    def of(
        self,
        row: int,
        co_recalls: Mapping[int, CoRecall] | None = None,
        count: int = PARTNERS_COUNT,
    ) -> list[Associate]:
        """The closest associates of a memory, the closest first.

        w = Σ 2^(−a_e / h) + Σ c · 2^(−a_c / h)

        Args:
            row: of the memory.
            co_recalls: row of a memory -> how often it was recalled together with this one.
            count: how many at most.

        Returns:
            e runs over the shared episodes and a_e is the age of each in days; c is the number of
            recalls together and a_c the days since the last of them; h is 30 days. Of equal
            weights the memory that is more active by itself comes first, then the lower row.
        """
        shared = self._episodes[row]
        members = self._members.take(shared)
        weight = np.bincount(
            members.values, np.repeat(self._left[shared], members.counts()), len(self._episodes)
        )
        for other, together in (co_recalls or {}).items():
            left = self._of_time(np.array([together.last_s]))
            weight[other] += together.times_count * left[0]
        weight[row] = 0.0
        rows = np.flatnonzero(weight > 0.0)
        order = np.lexsort((rows, -self._active[rows], -weight[rows]))[:count]
        return [Associate(int(i), float(weight[i])) for i in rows[order]]

    def of_all(
        self, rows: Collection[int], co_recalls: Mapping[int, Mapping[int, CoRecall]], count: int
    ) -> list[Associate]:
        """What comes to mind with several memories at once, the closest first.

        W = Σ w, over those of the memories whose associates it is among; see :meth:`of`. Of equal
        weights the lower row comes first.

        Args:
            rows: of the memories; none of them comes back.
            co_recalls: row of a memory -> how often others were recalled together with it.
            count: how many at most.
        """
        total: defaultdict[int, float] = defaultdict(float)
        for row in sorted(set(rows)):
            for associate in self.of(row, co_recalls.get(row)):
                total[associate.row] += associate.weight
        found = sorted((-weight, row) for row, weight in total.items() if row not in rows)
        return [Associate(row, -weight) for weight, row in found[:count]]

    def _of_time(self, times_s: Floats) -> Floats:
        ages_days = (self._now_s - times_s) / SECONDS_PER_DAY
        return np.asarray(halved(ages_days, LINK_HALF_LIFE_DAYS), np.float64)
