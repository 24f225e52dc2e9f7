"""Recalls: which memories were given back, when, and which of them together.

A :class:`RecallSet` is one answer to one question. Folding turns recall sets into one
:class:`RecallProfile` per memory and one :class:`CoRecall` per pair.

A profile is what the *set* of its recalls says: sums, the first and the last time, and the hours
in which somebody asked, each with the best rank. So neither their order nor the batches in which
they arrive matter: ``fold(fold(x, a), b)`` and ``fold(fold(x, b), a)`` give the same profiles.
Which of the recalls count is decided when a profile is read: from the oldest on, each that is 24
hours or more after the one that was counted before it.

What is a recall: somebody asked (``asked``). Putting a memory into a prompt unasked is an
exposure: it is told apart and strengthens nothing. That looking a thing up strengthens it, and
that repetitions close in time add little, is the testing effect and the spacing effect: H. L.
Roediger and J. D. Karpicke, Test-Enhanced Learning (2006), doi:10.1111/j.1467-9280.2006.01693.x.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations

from synapse.errors import UsageError, shown
from synapse.hippocampus.co_recall import (
    PAIRED_RANKS_COUNT,
    CoRecall,
    Links,
    day_of,
    drop_weakest,
    join,
)
from synapse.hippocampus.numeric import SECONDS_PER_DAY, SECONDS_PER_HOUR

RECENT_MAX_COUNT = 720
"""Hours with a recall that are kept per memory, the newest ones: at the least those of a month."""
SOURCES_MAX_COUNT = 16
OTHER_SOURCES = "(other)"

SET_MAX_COUNT = 1_000
_RANK_MAX = 1_000_000
_TEXT_MAX_CHARACTERS = 1_000
_LATEST_S = 253_402_300_799.0  # the end of the year 9999


@dataclass(frozen=True, slots=True)
class RecallSet:
    """The memories given back at one moment, as an answer or unasked.

    Raises:
        UsageError: a value that no recall can have.

    >>> RecallSet((("fact-1", 1), ("fact-2", 2)), source="search", at_s=1.7e9).asked
    True
    """

    ranks: tuple[tuple[str, int], ...]
    """Uuid of each memory and its rank, from 1."""
    source: str
    """Who recalled: a name of the caller's choice."""
    at_s: float
    asked: bool = True
    """False: put into a prompt automatically, which never counts as a recall."""
    id: str = ""
    """Given by the store when the set is recorded; ids grow."""

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise UsageError(f"a recall {problem}")

    @property
    def digest(self) -> bytes:
        """Names what was recalled, by whom and when; two sets with one digest are one event."""
        ranks = sorted(self.best_ranks().items())
        said = json.dumps([ranks, self.source, float(self.at_s), self.asked])
        return hashlib.blake2b(said.encode(), digest_size=12).digest()

    def best_ranks(self) -> dict[str, int]:
        """The best rank of each memory; a memory named twice counts once."""
        best: dict[str, int] = {}
        for uuid, rank in self.ranks:
            best[uuid] = min(rank, best.get(uuid, rank))
        return best


@dataclass(frozen=True, slots=True)
class RecallProfile:
    """How one memory was recalled so far."""

    search_count: int = 0
    """Recall sets that were asked for and held the memory."""
    rank_sum: int = 0
    """Sum of its ranks in them."""
    top1_count: int = 0
    """How often it came first."""
    exposure_count: int = 0
    """Recall sets that nobody asked for and that held the memory."""
    sources: Mapping[str, int] = field(default_factory=dict)
    """Who asked, and how often."""
    first_s: float | None = None
    """When somebody asked first."""
    latest_s: float | None = None
    """When somebody asked last; ``None`` where only the hour is known."""
    recent_s: tuple[float, ...] = ()
    """The newest hours in which somebody asked, each by its beginning, oldest first."""
    recent_ranks: tuple[int, ...] = ()
    """The best rank in each of these hours; 0 where it is not known, as for hours that have none
    here."""

    @property
    def last_s(self) -> float | None:
        """When somebody asked last, whether that counted or not."""
        hour_s = self.recent_s[-1] if self.recent_s else None
        return hour_s if self.latest_s is None else self.latest_s

    @property
    def total_count(self) -> int:
        """Counted recalls within the hours that are kept."""
        return self.counted_count()

    @property
    def average_rank(self) -> float:
        """Mean rank, 1 or more; 0 where nobody ever asked.

        >>> RecallProfile(search_count=2, rank_sum=5).average_rank
        2.5
        """
        return self.rank_sum / self.search_count if self.search_count else 0.0

    def ranks_of_recent(self) -> list[int]:
        """One rank for each of ``recent_s``, 0 where it is not known.

        >>> RecallProfile(recent_s=(1.0, 2.0), recent_ranks=(3,)).ranks_of_recent()
        [3, 0]
        """
        known = self.recent_ranks[: len(self.recent_s)]
        return [*known, *[0] * (len(self.recent_s) - len(known))]

    def counted_count(self, since_s: float = 0.0) -> int:
        """Counted recalls since a moment: the first one from there on, then one in 24 hours.

        >>> RecallProfile(recent_s=tuple(3600.0 * hour for hour in (0, 13, 25, 48))).counted_count()
        2
        """
        count, place = 0, bisect_left(self.recent_s, since_s)
        while place < len(self.recent_s):
            count += 1
            place = bisect_left(self.recent_s, self.recent_s[place] + SECONDS_PER_DAY)
        return count

    def per_day(self, now_s: float, window_days: float) -> float:
        """Counted recalls per day within the last days; what lies in the future counts as now.

        >>> RecallProfile(recent_s=(0.0, 86_400.0 * 9)).per_day(86_400.0 * 10, 5.0)
        0.2
        """
        return self.counted_count(now_s - window_days * SECONDS_PER_DAY) / window_days


NEVER_ASKED = RecallProfile()

Profiles = Mapping[str, RecallProfile]
"""By the uuid of the memory; only memories that were ever recalled or exposed."""


def fold(
    profiles: Profiles, links: Links, recall_sets: Iterable[RecallSet]
) -> tuple[dict[str, RecallProfile], dict[str, Mapping[str, CoRecall]]]:
    """What is known about recalls once these sets are taken into account.

    Args:
        profiles: what is known before.
        links: which memories were recalled together before.
        recall_sets: in any order.

    >>> asked = RecallSet((("a", 1), ("b", 2)), "search", 0.0)
    >>> profiles, links = fold({}, {}, [asked, asked])
    >>> profiles["b"].total_count, profiles["b"].search_count, links["a"]["b"].times_count
    (1, 2, 1)
    """
    tallies: dict[str, _Tally] = {}
    own_links: dict[str, dict[str, CoRecall]] = {}

    def partners(uuid: str) -> dict[str, CoRecall]:
        if uuid not in own_links:
            own_links[uuid] = dict(links.get(uuid, {}))
        return own_links[uuid]

    for recall_set in recall_sets:
        ranks = recall_set.best_ranks()
        for uuid in ranks:
            if uuid not in tallies:
                tallies[uuid] = _Tally.of(profiles.get(uuid, RecallProfile()))
        if not recall_set.asked:
            for uuid in ranks:
                tallies[uuid].exposure_count += 1
            continue
        for uuid, rank in ranks.items():
            tallies[uuid].add(recall_set, rank)
        paired = sorted(ranks, key=lambda uuid: (ranks[uuid], uuid))[:PAIRED_RANKS_COUNT]
        day = day_of(recall_set.at_s)
        for one, other in combinations(paired, 2):
            join(one, other, partners(one), partners(other), day)
        for uuid in paired:
            drop_weakest(partners(uuid))
    after = dict(profiles)
    after.update((uuid, tally.profile()) for uuid, tally in tallies.items())
    joined: dict[str, Mapping[str, CoRecall]] = dict(links)
    joined.update((uuid, known) for uuid, known in own_links.items() if known)
    return after, joined


@dataclass(slots=True)
class _Tally:
    """A profile while it is being counted."""

    search_count: int
    rank_sum: int
    top1_count: int
    exposure_count: int
    sources: dict[str, int]
    first_s: float | None
    latest_s: float | None
    recent_s: list[float]
    recent_ranks: list[int]

    @classmethod
    def of(cls, known: RecallProfile) -> _Tally:
        return cls(
            known.search_count, known.rank_sum, known.top1_count, known.exposure_count,
            dict(known.sources), known.first_s, known.last_s, list(known.recent_s),
            known.ranks_of_recent(),
        )  # fmt: skip

    def profile(self) -> RecallProfile:
        return RecallProfile(
            self.search_count, self.rank_sum, self.top1_count, self.exposure_count, self.sources,
            self.first_s, self.latest_s, tuple(self.recent_s), tuple(self.recent_ranks),
        )  # fmt: skip

    def add(self, recall_set: RecallSet, rank: int) -> None:
        """Take in a set that was asked for."""
        self.search_count += 1
        self.rank_sum += rank
        self.top1_count += rank == 1
        source, at_s = recall_set.source, recall_set.at_s
        if source not in self.sources and len(self.sources) >= SOURCES_MAX_COUNT:
            source = OTHER_SOURCES
        self.sources[source] = self.sources.get(source, 0) + 1
        self.first_s = at_s if self.first_s is None else min(self.first_s, at_s)
        self.latest_s = at_s if self.latest_s is None else max(self.latest_s, at_s)
        self._keep(hour_of(at_s), rank)

    def _keep(self, hour_s: float, rank: int) -> None:
        recent_s = self.recent_s
        place = bisect_left(recent_s, hour_s)
        if place < len(recent_s) and recent_s[place] == hour_s:
            self.recent_ranks[place] = min(rank, self.recent_ranks[place] or rank)
            return
        recent_s.insert(place, hour_s)
        self.recent_ranks.insert(place, rank)
        if len(recent_s) > RECENT_MAX_COUNT:
            del recent_s[0], self.recent_ranks[0]


def hour_of(at_s: float) -> float:
    """The beginning of the hour of a moment.

    >>> hour_of(7_199.5)
    3600.0
    """
    return at_s // SECONDS_PER_HOUR * SECONDS_PER_HOUR


def _problem(recall_set: RecallSet) -> str | None:
    """What no recall can have; the sentence goes on after "a recall"."""
    if not _is_number(recall_set.at_s) or not 0.0 <= recall_set.at_s <= _LATEST_S:
        return f"needs its time in seconds since 1970, not {as_written(recall_set.at_s)}"
    if not _is_text(recall_set.source):
        return f"needs a source of 1 to {_TEXT_MAX_CHARACTERS} characters"
    if len(recall_set.ranks) > SET_MAX_COUNT:
        return f"holds at most {SET_MAX_COUNT} memories, not {len(recall_set.ranks)}"
    for uuid, rank in recall_set.ranks:
        if not _is_text(uuid):
            return f"names each memory by its uuid, not {as_written(uuid)}"
        if type(rank) is not int or not 1 <= rank <= _RANK_MAX:
            return f"ranks its memories from 1 to {_RANK_MAX}, not {as_written(rank)}"
    return None


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _TEXT_MAX_CHARACTERS


def as_written(value: object) -> str:
    """A wrong value for a sentence, cut short; what is missing is called as logs have it.

    >>> as_written("1"), as_written(1), as_written(None)
    ("'1'", '1', 'null')
    """
    return "null" if value is None else shown(value)
