"""The verdict on each memory of a graph, keep, spared or candidate, with the reason for it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from synapse.hippocampus.model import Floats, Ints
from synapse.hippocampus.quantity import quantity

VERDICTS = ("keep", "spared", "candidate")
KEEP, SPARED, CANDIDATE = range(len(VERDICTS))


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
