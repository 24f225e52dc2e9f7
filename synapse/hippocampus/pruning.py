"""Pruning: which memories could go, and why each one stays or goes.

The policy only decides; it removes nothing. A memory is a *candidate* when its strength is below
the threshold and nothing protects it; it is *spared* when only a protection keeps it; every other
memory is *kept*. What is not known protects: an unknown age, or a strength that is no number from
0 to 1.

Strength decides whether a memory may go, worth in which order: of all that has faded, the least
salient that tells the least goes first.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from synapse.hippocampus.config import PruningConfig
from synapse.hippocampus.model import Bools, Floats, GraphOutline, Ints
from synapse.hippocampus.quantity import quantity
from synapse.hippocampus.ways import Ways

VERDICTS = ("keep", "spared", "candidate")
KEEP, SPARED, CANDIDATE = range(len(VERDICTS))

LOOKED_AT_PER_CANDIDATE = 4
"""Memories whose surroundings are looked at together, for each one that a run may propose."""
BUNCHES_COUNT = 4
"""How many times so many, where too few of them can go."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a memory gets its verdict."""

    name: str
    verdict: int
    """Number in :data:`VERDICTS`."""
    sentence: str
    """May hold ``{strength}``, ``{threshold}``, ``{age}``, ``{importance}``, ``{facts_count}`` and
    ``{cap_count}``."""


_WEAK = "strength {strength} below {threshold}, but "
REASONS = (
    Reason("strong", KEEP, "strength {strength} is not below {threshold}"),
    Reason("unscored", KEEP, "its strength is not known"),
    Reason("faded", CANDIDATE, "strength {strength} below {threshold}, untouched for {age}"),
    Reason(
        "over_cap", SPARED, _WEAK + "it waits for a later run: one proposes {cap_count} at most"
    ),
    Reason("bridge", SPARED, _WEAK + "nothing else is seen to connect its two ends"),
    Reason("sole_evidence", SPARED, _WEAK + "no other active fact tells of an end that stays"),
    Reason("carries_facts", SPARED, _WEAK + "{facts_count} of its facts stay"),
    Reason("hub", SPARED, _WEAK + "so many facts meet in it that it holds the graph together"),
    Reason("salient", SPARED, _WEAK + "it matters: salience {importance} when last touched"),
    Reason("grace", SPARED, _WEAK + "it was touched {age} ago"),
    Reason("age_unknown", SPARED, _WEAK + "nothing tells its age"),
    Reason("recalled", SPARED, _WEAK + "somebody asked for it not long ago"),
    Reason("restored", SPARED, _WEAK + "it came back from the archive"),
    Reason("pinned", SPARED, _WEAK + "it is pinned"),
)
"""Of several protections a memory has, the last one here is named."""

(
    STRONG, UNSCORED, FADED, OVER_CAP, BRIDGE, SOLE_EVIDENCE, CARRIES_FACTS, HUB, SALIENT, GRACE,
    AGE_UNKNOWN, RECALLED, RESTORED, PINNED,
) = range(len(REASONS))  # fmt: skip
_VERDICT_OF_REASON = np.array([reason.verdict for reason in REASONS], np.uint8)


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


@dataclass(frozen=True, slots=True)
class PruningDecision:
    """The verdict on every memory. Columns have shape (memories,): entities, then facts."""

    threshold: float
    reasons: npt.NDArray[np.uint8]
    """Numbers in :data:`REASONS`."""
    ranked_candidates: Ints
    """Rows of the candidates, in the order in which they would go: no entity before its facts."""
    cap_count: int
    """How many this run may propose."""
    strength: Floats
    age_days: Floats
    importance: Floats
    staying_facts_count: Ints
    """Facts of each entity that are no candidates, shape (entities,)."""
    verdicts: npt.NDArray[np.uint8] = field(init=False)
    """Numbers in :data:`VERDICTS`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdicts", _VERDICT_OF_REASON[self.reasons])

    @property
    def kept_count(self) -> int:
        """Memories that nothing threatens."""
        return int(np.count_nonzero(self.verdicts == KEEP))

    @property
    def spared_count(self) -> int:
        """Memories that only a protection keeps."""
        return int(np.count_nonzero(self.verdicts == SPARED))

    def spared_by(self) -> dict[str, int]:
        """How many memories each protection spares, by name; protections that spare none are
        left out."""
        count = np.bincount(self.reasons, minlength=len(REASONS)).tolist()
        return {
            reason.name: n
            for reason, n in zip(REASONS, count, strict=True)
            if n and reason.verdict == SPARED
        }

    def candidates_and_spared(self) -> Ints:
        """Rows of the candidates in their order, then of the spared."""
        return np.concatenate([self.ranked_candidates, np.flatnonzero(self.verdicts == SPARED)])

    def verdict(self, row: int) -> str:
        """One of :data:`VERDICTS`."""
        return VERDICTS[self.verdicts[row]]

    def explain_row(self, row: int) -> str:
        """Verdict and reason in words."""
        is_entity = row < len(self.staying_facts_count)
        known = bool(np.isfinite(self.age_days[row]))
        strength, threshold = _told_apart(float(self.strength[row]), self.threshold)
        sentence = REASONS[self.reasons[row]].sentence.format(
            strength=strength,
            threshold=threshold,
            age=quantity(round(self.age_days[row]), "day") if known else "a time unknown",
            importance=f"{self.importance[row]:.2f}",
            facts_count=self.staying_facts_count[row] if is_entity else 0,
            cap_count=self.cap_count,
        )
        return f"{self.verdict(row)}: {sentence}"


def _told_apart(strength: float, threshold: float) -> tuple[str, str]:
    """Both with as many digits as show which is less.

    >>> _told_apart(0.2999999, 0.3), _told_apart(0.04123, 0.05)
    (('0.2999999', '0.3'), ('0.0412', '0.05'))
    """
    for digits in range(3, 17):
        shown = f"{strength:.{digits}g}", f"{threshold:.{max(digits, 6)}g}"
        if (float(shown[0]) < float(shown[1])) == (strength < threshold):
            break
    return shown


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
        stays = _VERDICT_OF_REASON[reasons[len(outline.entity_uuids) :]] != CANDIDATE
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
