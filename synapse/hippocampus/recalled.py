"""What a run knows about recalls: what is kept, and what it folds itself.

Folding is part of a run's plan: the new profiles and pairs are written, and the folded recall
sets taken out of the queue, in the same atomic step as everything else. A run that dies before
it has changed nothing; after it, nothing is left to fold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from synapse.hippocampus.archived import ArchivedMemory
from synapse.hippocampus.co_recall import Links
from synapse.hippocampus.numeric import SECONDS_PER_DAY
from synapse.hippocampus.recall import NEVER_ASKED, Profiles, RecallProfile, fold
from synapse.hippocampus.room import Pin, Room

REMEMBERED_DAYS = 90.0
"""How long the recalls of a memory are kept that the graph no longer has: it may come back."""

NO_RECALL_KNOWN = (
    "no recall was ever recorded here, so nothing tells which of the faded memories are needed: "
    "look at them one by one before you archive any"
)

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Recalled:
    """Recall profiles, pairs and pins at the end of a run."""

    profiles: Profiles = field(default_factory=dict)
    links: Links = field(default_factory=dict)
    pins: Mapping[str, Pin] = field(default_factory=dict)
    counted_count: int = 0
    """Recalls that this run has counted."""
    exposures_count: int = 0
    """Memories that were put into a prompt unasked, each time counted."""
    folded: str = ""
    """Id of the last recall set that this run has folded."""
    archived_count: int = 0
    """Memories that runs have ended or archived of late: they count against the lifetime cap."""
    former_stability: Mapping[str, float] = field(default_factory=dict)
    """How firm memories were that were archived, by uuid and likeness."""
    archive: tuple[ArchivedMemory, ...] = ()
    """What the archive knows, oldest first."""

    @classmethod
    def of(cls, room: Room) -> Recalled:
        """What is known once everything that waits in a room is folded."""
        if not room.recalls:
            return cls(room.profiles, room.links, room.pins)
        profiles, links = fold(room.profiles, room.links, room.recalls)
        new = changed(room.profiles, profiles)
        old = {memory: room.profiles.get(memory, NEVER_ASKED) for memory in new}
        counted = sum(_newly_counted(old[memory], p) for memory, p in new.items())
        shown = sum(p.exposure_count - old[memory].exposure_count for memory, p in new.items())
        return cls(
            profiles,
            links,
            room.pins,
            counted_count=counted,
            exposures_count=shown,
            folded=room.recalls[-1].id,
        )

    def forgotten(self, memories: Collection[str], now_s: float) -> frozenset[str]:
        """Memories that the graph no longer has, and that nobody has asked for in a long time.

        Args:
            memories: uuids of all memories of the graph.
            now_s: the present moment.

        >>> Recalled(links={"gone": {}}).forgotten(["ada"], 0.0)
        frozenset({'gone'})
        """
        known = self.profiles.keys() | self.links.keys()
        if not known:
            return frozenset()
        since_s = now_s - REMEMBERED_DAYS * SECONDS_PER_DAY
        return frozenset(
            memory for memory in known.difference(memories) if self._last_s(memory) < since_s
        )

    def _last_s(self, memory: str) -> float:
        profile = self.profiles.get(memory)
        last_s = profile.last_s if profile else None
        return float("-inf") if last_s is None else last_s


NEVER_RECALLED = Recalled()


def _newly_counted(before: RecallProfile, after: RecallProfile) -> int:
    """Counted recalls that became known, among the hours that are still kept."""
    since_s = after.recent_s[0] if after.recent_s else 0.0
    return max(0, after.counted_count(since_s) - before.counted_count(since_s))


def is_any_recall_known(room: Room, memories: Iterable[str]) -> bool:
    """Whether anybody was ever recorded to have asked for one of these memories."""
    asked_for = {memory for memory, profile in room.profiles.items() if profile.search_count}
    for recall_set in room.recalls:
        asked_for.update(memory for memory, _ in recall_set.ranks if recall_set.asked)
    return bool(asked_for) and not asked_for.isdisjoint(memories)


def changed(
    before: Mapping[str, _Value], after: Mapping[str, _Value], without: Collection[str] = ()
) -> dict[str, _Value]:
    """The entries that are new or differ, without some.

    >>> changed({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4})
    {'b': 3, 'c': 4}
    """
    return {
        name: value
        for name, value in after.items()
        if before.get(name) != value and name not in without
    }
