"""Pruning: which memories could go, and why each one stays or goes.

The policy only decides; it removes nothing. A memory is a *candidate* when its strength is below
the threshold and nothing protects it; it is *spared* when only a protection keeps it; every other
memory is *kept*. What is not known protects: an unknown age, or a strength that is no number from
0 to 1.

Strength decides whether a memory may go, worth in which order: of all that has faded, the least
salient that tells the least goes first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from synapse.hippocampus.config import PruningConfig
from synapse.hippocampus.model import Bools, Floats, GraphOutline, Ints
from synapse.hippocampus.pruning_decision import (
    AGE_UNKNOWN,
    BRIDGE,
    CARRIES_FACTS,
    FADED,
    GRACE,
    HUB,
    OVER_CAP,
    PINNED,
    RECALLED,
    RESTORED,
    SALIENT,
    SOLE_EVIDENCE,
    STRONG,
    UNSCORED,
    PruningDecision,
)
from synapse.hippocampus.ways import Ways

LOOKED_AT_PER_CANDIDATE = 4
"""Memories whose surroundings are looked at together, for each one that a run may propose."""
BUNCHES_COUNT = 4
"""How many times so many, where too few of them can go."""


@dataclass(frozen=True, slots=True)
class Faded:
    """What the policy looks at: columns of shape (memories,), entities first, then facts."""

    strength: Floats
    """0 to 1; anything else counts as unknown, and as strong."""
    age_days: Floats
    """Days since the last touch; NaN where unknown."""
    importance: Floats
    """Salience when it was last touched; unknown counts as the highest."""
    worth: Floats
    """Of equally faded memories the one worth less goes first; unknown counts as the highest."""
    ended: Bools
    """Facts that are no longer true."""
    days_since_recall: Floats
    """Days since somebody asked for it and it counted; NaN where never, or not within memory."""
    restored: Bools
    """Memories that came back from the archive, which no run takes again by itself."""
    pinned: Bools
    archived_count: int = 0
    """Memories that earlier runs have taken, where that is known."""


class PruningPolicy:
    """Decides which memories could go.

    Args:
        config: the constants.
        threshold: below this strength a memory may go.
    """

    def __init__(self, config: PruningConfig, threshold: float) -> None:
        self._config = config
        self._threshold = threshold

    def decide(
        self, outline: GraphOutline, faded: Faded, max_changes: int | None = None
    ) -> PruningDecision:
        """Decide about every memory of a graph.

        Each memory is first looked at by itself. What may still go is then walked through in
        order of worth, until the cap is reached: a fact goes unless something hangs on it, an
        entity once all its facts have gone.

        Args:
            outline: the graph.
            faded: its memories.
            max_changes: what somebody has allowed for this run, in place of the caps.
        """
        reasons = self._by_itself(outline, faded)
        cap_count = max_changes
        if cap_count is None:
            cap_count = self._cap_count(len(reasons), faded.archived_count)
        walk = _Walk(outline, faded, reasons)
        walk.go(cap_count)
        stays = reasons[len(outline.entity_uuids) :] != FADED
        return PruningDecision(
            threshold=self._threshold,
            reasons=reasons,
            ranked_candidates=np.array(walk.gone, np.int64),
            cap_count=cap_count,
            strength=faded.strength,
            age_days=faded.age_days,
            importance=faded.importance,
            staying_facts_count=_facts_count(outline, stays),
        )

    def _by_itself(self, outline: GraphOutline, faded: Faded) -> npt.NDArray[np.uint8]:
        config, entities_count = self._config, len(outline.entity_uuids)
        scored = (faded.strength >= 0.0) & (faded.strength <= 1.0)
        weak = scored & (faded.strength < self._threshold)
        reasons = np.full(len(faded.strength), STRONG, np.uint8)
        reasons[~scored] = UNSCORED
        reasons[weak] = FADED
        degree = _facts_count(outline, np.ones(len(outline.source), np.bool_))
        hub = np.zeros(len(reasons), np.bool_)
        hub[:entities_count] = degree >= config.hub_facts_count
        reasons[weak & hub] = HUB
        reasons[weak & ~(faded.importance < config.salient_from)] = SALIENT
        reasons[weak & (faded.age_days < config.grace_days)] = GRACE
        reasons[weak & ~(np.isfinite(faded.age_days) & (faded.age_days >= 0.0))] = AGE_UNKNOWN
        reasons[weak & (faded.days_since_recall < config.recalled_days)] = RECALLED
        reasons[weak & faded.restored] = RESTORED
        reasons[weak & faded.pinned] = PINNED
        staying = _facts_count(outline, reasons[entities_count:] != FADED)
        of_entities = reasons[:entities_count]
        of_entities[(of_entities == FADED) & (staying > 0)] = CARRIES_FACTS
        return reasons

    def _cap_count(self, memories_count: int, archived_count: int) -> int:
        config = self._config
        ever_count = memories_count + archived_count
        left_count = int(config.max_lifetime_ratio * ever_count) - archived_count
        by_share_count = int(config.max_share_ratio * memories_count)
        return max(0, min(config.max_count, by_share_count, left_count))


class _Walk:
    """Goes through what may go, from the least worth, and writes the reasons as it goes."""

    def __init__(self, outline: GraphOutline, faded: Faded, reasons: npt.NDArray[np.uint8]) -> None:
        self.gone: list[int] = []
        self._outline, self._faded, self._reasons = outline, faded, reasons
        self._entities_count = len(outline.entity_uuids)
        self._end_stays = reasons[: self._entities_count] != FADED
        active = ~faded.ended[self._entities_count :]
        self._active_left = _facts_count(outline, active)
        self._degree = _facts_count(outline, np.ones_like(active))
        self._may_go = np.zeros(len(reasons), np.bool_)

    def go(self, cap_count: int) -> None:
        """Mark the candidates, at most so many, and why the others stay."""
        self._reasons[self._reasons == FADED] = OVER_CAP
        for _ in range(BUNCHES_COUNT if cap_count else 0):
            bunch = self._next_bunch(LOOKED_AT_PER_CANDIDATE * cap_count)
            if not bunch or len(self.gone) >= cap_count:
                break
            self._look_at(bunch, cap_count)
        of_entities = self._reasons[: self._entities_count]
        of_entities[(of_entities == OVER_CAP) & (self._left() > 0)] = CARRIES_FACTS

    def _next_bunch(self, count: int) -> list[int]:
        """Facts and bare entities that are worth the least, and entities that only wait for them.

        An entity that carries other facts takes nobody's place: it could not go anyway.
        """
        waits = self._reasons == OVER_CAP
        of_entities, left = waits[: self._entities_count], self._left()
        can_go = waits.copy()
        can_go[: self._entities_count] &= left == 0
        rows, worth = np.flatnonzero(can_go), self._faded.worth
        bunch = np.array(_least_worth(rows, worth, self._outline, count), np.int64)
        self._may_go[bunch] = True
        looked_at = _facts_count(self._outline, self._may_go[self._entities_count :])
        follows = of_entities & (left > 0) & (looked_at == self._degree)
        rows = np.concatenate([bunch, np.flatnonzero(follows)])
        return _least_worth(rows, worth, self._outline, len(rows))

    def _look_at(self, bunch: list[int], cap_count: int) -> None:
        ways = Ways(self._outline, self._may_go[self._entities_count :])
        for row in self.gone:
            if row >= self._entities_count:
                ways.remove(row - self._entities_count)
        freed: list[int] = []
        for row in bunch:
            if len(self.gone) >= cap_count:
                return
            if row >= self._entities_count:
                self._try_fact(row, ways)
            elif ways.facts_left(row):
                freed.append(row)
            else:
                self._go(row)
        for row in freed:
            if len(self.gone) < cap_count and not ways.facts_left(row):
                self._go(row)

    def _left(self) -> Ints:
        """Facts of each entity that have not gone."""
        stays = self._reasons[self._entities_count :] != FADED
        return _facts_count(self._outline, stays)

    def _try_fact(self, row: int, ways: Ways) -> None:
        fact = row - self._entities_count
        ends = {int(self._outline.source[fact]), int(self._outline.target[fact])}
        active = not self._faded.ended[row]
        if active and any(self._end_stays[e] and self._active_left[e] == 1 for e in ends):
            self._reasons[row] = SOLE_EVIDENCE
        elif ways.is_bridge(fact):
            self._reasons[row] = BRIDGE
        else:
            ways.remove(fact)
            for entity in ends if active else ():
                self._active_left[entity] -= 1
            self._go(row)

    def _go(self, row: int) -> None:
        self._reasons[row] = FADED
        self.gone.append(row)


def _facts_count(outline: GraphOutline, which: Bools) -> Ints:
    """Facts of each entity, of those that are marked; a self-loop counts once."""
    source, target = outline.source[which], outline.target[which]
    ends = np.concatenate([source, target[source != target]])
    return np.bincount(ends, minlength=len(outline.entity_uuids))


def _least_worth(rows: Ints, worth: Floats, outline: GraphOutline, count: int) -> list[int]:
    """The rows that are worth the least, at most so many; equal ones in order of their uuids."""
    value = np.nan_to_num(worth[rows], nan=np.inf, posinf=np.inf)
    if len(rows) > count:
        least = value <= np.partition(value, count - 1)[count - 1]
        rows, value = rows[least], value[least]
    uuids = outline.memory_uuids
    named = zip(value.tolist(), [uuids[row] for row in rows.tolist()], rows.tolist(), strict=True)
    return [row for _, _, row in sorted(named)[:count]]
