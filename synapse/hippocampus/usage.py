"""Usage: what recalls and pins say about the memories of one graph, as columns.

Recalls are kept by uuid and only for memories that anybody ever asked for; the formulas want one
value for each memory of the graph.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from synapse.hippocampus.co_recall import Links
from synapse.hippocampus.model import Bools, Floats
from synapse.hippocampus.recall import NEVER_ASKED, Profiles
from synapse.hippocampus.stability import Recalls


@dataclass(frozen=True, slots=True)
class Usage:
    """Columns have shape (memories,), entities first, then facts."""

    recalls: Recalls
    """Every hour with a recall that is still known."""
    last_recall_s: Floats
    """NaN where nobody ever asked."""
    co_recalls_count: Floats
    """How often the memory was recalled together with the partner it was most often with."""
    pinned: Bools
    restored: Bools
    """Memories that came back from the archive, which no run takes again by itself."""
    archived_count: int = 0
    """Memories that earlier runs have taken, where that is known."""

    @classmethod
    def of(
        cls,
        uuids: Sequence[str],
        profiles: Profiles,
        links: Links,
        pins: Collection[str],
        archived_count: int = 0,
        restored: Collection[str] = (),
    ) -> Usage:
        """The columns for these memories.

        >>> from synapse.hippocampus.recall import RecallProfile
        >>> usage = Usage.of(["a", "b"], {"b": RecallProfile(recent_s=(5.0, 9.0))}, {}, {"a"})
        >>> usage.last_recall_s.tolist(), usage.pinned.tolist()
        ([nan, 9.0], [True, False])
        """
        wanted = {*profiles, *links, *pins, *restored}
        rows = [(i, uuid) for i, uuid in enumerate(uuids) if uuid in wanted] if wanted else []
        last_recall_s = np.full(len(uuids), np.nan)
        co_recalls_count = np.zeros(len(uuids))
        pinned, came_back = np.zeros(len(uuids), np.bool_), np.zeros(len(uuids), np.bool_)
        times_s: list[float] = []
        ranks: list[float] = []
        memory: list[int] = []
        for row, uuid in rows:
            pinned[row], came_back[row] = uuid in pins, uuid in restored
            profile = profiles.get(uuid, NEVER_ASKED)
            if profile.last_s is not None:
                last_recall_s[row] = profile.last_s
            times_s += profile.recent_s
            ranks += profile.ranks_of_recent()
            memory += [row] * len(profile.recent_s)
            partners = links.get(uuid, {}).values()
            co_recalls_count[row] = max((p.times_count for p in partners), default=0)
        recalls = Recalls(
            np.array(times_s, np.float64), np.array(memory, np.int64), np.array(ranks, np.float64)
        )
        return cls(recalls, last_recall_s, co_recalls_count, pinned, came_back, archived_count)

    @classmethod
    def none(cls, memories_count: int) -> Usage:
        """Nobody ever asked for anything."""
        return cls.of([""] * memories_count, {}, {}, ())
