"""Pruning: which memories could go, and why each one stays or goes.

The policy only decides; it removes nothing. A memory is a *candidate* when its strength is below
the threshold and nothing protects it; it is *spared* when only a protection keeps it; every other
memory is *kept*. What is not known protects: an unknown age, or a strength that is no number from
0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from synapse.hippocampus.config import PruningConfig
from synapse.hippocampus.model import Bools, Floats, GraphOutline, Ints

VERDICTS = ("keep", "spared", "candidate")
KEEP, SPARED, CANDIDATE = range(len(VERDICTS))


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a memory gets its verdict."""

    name: str
    verdict: int
    """Number in :data:`VERDICTS`."""
    sentence: str
    """May hold ``{strength}``, ``{threshold}``, ``{age_days}`` and ``{facts_count}``."""


REASONS = (
    Reason("strong", KEEP, "strength {strength} is not below {threshold}"),
    Reason("unscored", KEEP, "its strength is not known"),
    Reason(
        "faded", CANDIDATE, "strength {strength} below {threshold}, untouched for {age_days} days"
    ),
    Reason(
        "carries_facts",
        SPARED,
        "strength {strength} below {threshold}, but {facts_count} of its facts stay",
    ),
    Reason(
        "age_unknown",
        SPARED,
        "strength {strength} below {threshold}, but nothing tells its age",
    ),
    Reason("pinned", SPARED, "strength {strength} below {threshold}, but it is pinned"),
)
"""Of several protections a memory has, the last one here is named."""

STRONG, UNSCORED, FADED, CARRIES_FACTS, AGE_UNKNOWN, PINNED = range(len(REASONS))
_VERDICT_OF_REASON = np.array([reason.verdict for reason in REASONS], np.uint8)


@dataclass(frozen=True, slots=True)
class PruningDecision:
    """The verdict on every memory. Columns have shape (memories,): entities, then facts."""

    threshold: float
    reasons: npt.NDArray[np.uint8]
    """Numbers in :data:`REASONS`."""
    ranked_candidates: Ints
    """Rows of the candidates, in the order in which they would go."""
    strength: Floats
    age_days: Floats
    staying_facts_count: Ints
    """Facts of each entity that are no candidates, shape (entities,)."""

    @property
    def verdicts(self) -> npt.NDArray[np.uint8]:
        """Numbers in :data:`VERDICTS`."""
        return _VERDICT_OF_REASON[self.reasons]

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
        return VERDICTS[REASONS[self.reasons[row]].verdict]

    def explain_row(self, row: int) -> str:
        """Verdict and reason in words."""
        is_entity = row < len(self.staying_facts_count)
        sentence = REASONS[self.reasons[row]].sentence.format(
            strength=f"{self.strength[row]:.3g}",
            threshold=f"{self.threshold:g}",
            age_days=f"{self.age_days[row]:.0f}",
            facts_count=self.staying_facts_count[row] if is_entity else 0,
        )
        return f"{self.verdict(row)}: {sentence}"


class PruningPolicy:
    """Decides which memories could go.

    Args:
        config: the constants.
    """

    def __init__(self, config: PruningConfig) -> None:
        self._threshold = config.threshold

    def decide(
        self,
        outline: GraphOutline,
        strength: Floats,
        age_days: Floats,
        salience: Floats,
        pinned: Bools | None = None,
    ) -> PruningDecision:
        """Decide about every memory of a graph.

        Args:
            outline: the graph.
            strength: 0 to 1, shape (memories,); anything else counts as unknown, and as strong.
            age_days: days since the last touch, shape (memories,); NaN where unknown.
            salience: shape (memories,); of equally weak candidates the less salient goes first.
            pinned: memories that must stay, shape (memories,).
        """
        entities_count = len(outline.entity_uuids)
        scored = (strength >= 0.0) & (strength <= 1.0)
        weak = scored & (strength < self._threshold)
        reasons = np.full(len(strength), STRONG, np.uint8)
        reasons[~scored] = UNSCORED
        reasons[weak] = FADED
        reasons[weak & ~(np.isfinite(age_days) & (age_days >= 0.0))] = AGE_UNKNOWN
        if pinned is not None:
            reasons[weak & pinned] = PINNED
        staying_facts_count = _staying_facts_count(
            outline, _VERDICT_OF_REASON[reasons[entities_count:]] != CANDIDATE
        )
        of_entities = reasons[:entities_count]
        of_entities[(of_entities == FADED) & (staying_facts_count > 0)] = CARRIES_FACTS
        return PruningDecision(
            threshold=self._threshold,
            reasons=reasons,
            ranked_candidates=_ranked(
                np.flatnonzero(_VERDICT_OF_REASON[reasons] == CANDIDATE),
                strength,
                salience,
                outline.memory_uuids,
            ),
            strength=strength,
            age_days=age_days,
            staying_facts_count=staying_facts_count,
        )


def _staying_facts_count(outline: GraphOutline, stays: Bools) -> Ints:
    source, target = outline.source[stays], outline.target[stays]
    ends = np.concatenate([source, target[source != target]])
    return np.bincount(ends, minlength=len(outline.entity_uuids))


def _ranked(rows: Ints, strength: Floats, salience: Floats, uuids: list[str]) -> Ints:
    """Weakest first, then least salient, then by uuid; unknown salience counts as the highest."""
    strength, salience = strength[rows], np.nan_to_num(salience[rows], nan=np.inf, posinf=np.inf)
    order = np.lexsort((salience, strength))
    rows, strength, salience = rows[order], strength[order], salience[order]
    as_before = (strength[1:] == strength[:-1]) & (salience[1:] == salience[:-1])
    tied = np.flatnonzero(np.append(as_before, False) | np.append(False, as_before))
    run = np.cumsum(~np.append(False, as_before))[tied]
    rows_tied = rows[tied].tolist()
    ties = zip(run.tolist(), [uuids[row] for row in rows_tied], rows_tied, strict=True)
    rows[tied] = [row for _, _, row in sorted(ties)]
    return rows
