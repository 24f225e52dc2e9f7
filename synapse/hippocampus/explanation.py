"""One memory explained: its score by factor, its curve, and what would save it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from synapse.errors import UsageError
from synapse.hippocampus.model import ENTITY, KIND_NAMES, GraphSnapshot
from synapse.hippocampus.numeric import SECONDS_PER_DAY
from synapse.hippocampus.scope import listed
from synapse.hippocampus.stability import Stability
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.summary import iso_time


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor of salience: value times weight gives its contribution."""

    name: str
    value: float
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a memory is as strong as it is. Times are ISO 8601, ``None`` where unknown or never."""

    uuid: str
    kind: str
    text: str
    strength: float
    salience: float
    factors: tuple[Factor, ...]
    half_life_days: float
    stability: float
    association: float
    rehearsals_count: int
    last_touch: str | None
    age_days: float | None
    threshold: float
    falls_below_threshold_at: str | None
    if_touched_now_lasts_until: str | None
    pruning: str
    contradiction: str | None

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


def find_memory(snapshot: GraphSnapshot, wanted: str) -> int:
    """Row of the memory with this uuid, or of the one entity with this name.

    Raises:
        UsageError: nothing, or more than one entity, has that name.
    """
    uuids = snapshot.memory_uuids
    if wanted in uuids:
        return uuids.index(wanted)
    folded = wanted.casefold()
    rows = [i for i, name in enumerate(snapshot.entities.name) if name.casefold() == folded]
    if not rows:
        raise UsageError(
            f"no memory has the uuid or name {wanted!r} in graph {snapshot.graph!r}; check both"
        )
    if len(rows) > 1:
        candidates = listed([snapshot.entities.uuid[row] for row in rows])
        raise UsageError(f"{len(rows)} entities are named {wanted!r}; give a uuid: {candidates}")
    return rows[0]


def explain(thoughts: Thoughts, row: int) -> Explanation:
    """Explain the memory in this row (entities first, then facts)."""
    snapshot, curve = thoughts.snapshot, thoughts.curve
    entities_count = len(snapshot.entities)
    kind = int(snapshot.memory_kinds[row])
    importance, stability = (
        float(thoughts.standing.importance[row]),
        float(thoughts.standing.kept.stability[row]),
    )
    lasts_days = float(thoughts.standing.lasts_days[row])
    last_touch_s = float(thoughts.touched.last_touch_s[row])
    return Explanation(
        uuid=snapshot.memory_uuids[row],
        kind=KIND_NAMES[kind],
        text=(
            snapshot.entities.name[row]
            if kind == ENTITY
            else snapshot.facts.text[row - entities_count]
        ),
        strength=float(thoughts.standing.strength[row]),
        salience=float(thoughts.standing.salience[row]),
        factors=_factors(thoughts, row),
        half_life_days=float(curve.half_life_days(importance, stability)),
        stability=stability,
        association=float(thoughts.standing.kept.association[row]),
        rehearsals_count=int(thoughts.touched.episodes_count[row]),
        last_touch=_time(last_touch_s),
        age_days=None if np.isnan(last_touch_s) else float(thoughts.standing.age_days[row]),
        threshold=thoughts.config.prune_below,
        falls_below_threshold_at=_time(last_touch_s + lasts_days * SECONDS_PER_DAY),
        if_touched_now_lasts_until=_if_touched_now(thoughts, row),
        pruning=thoughts.standing.pruning.explain_row(row),
        contradiction=_contradiction(thoughts, row - entities_count),
    )


def _factors(thoughts: Thoughts, row: int) -> tuple[Factor, ...]:
    weights = thoughts.config.salience
    return tuple(
        Factor(name, value, weight, value * weight)
        for name, value, weight in (
            ("recency", float(thoughts.standing.parts.recency[row]), weights.recency_weight),
            ("frequency", float(thoughts.standing.parts.frequency[row]), weights.frequency_weight),
            (
                "correction",
                float(thoughts.standing.parts.correction[row]),
                weights.correction_weight,
            ),
            ("emotion", float(thoughts.standing.parts.emotion[row]), weights.emotion_weight),
        )
    )


def _if_touched_now(thoughts: Thoughts, row: int) -> str | None:
    curve, touched = thoughts.curve, thoughts.touched
    known_s = touched.times_s[touched.offsets[row] : touched.offsets[row + 1]]
    rehearsed = Stability(thoughts.config.forgetting)
    stability = rehearsed.associated(
        rehearsed.of([*known_s.tolist(), thoughts.now_s]),
        float(thoughts.standing.kept.association[row]),
        thoughts.config.hebbian.stability_boost,
    )
    threshold = thoughts.config.prune_below - float(thoughts.standing.kept.bonus[row])
    lasts_days = curve.days_until(threshold, float(thoughts.standing.importance[row]), stability)
    return _time(thoughts.now_s + lasts_days * SECONDS_PER_DAY)


def _contradiction(thoughts: Thoughts, fact: int) -> str | None:
    for finding in thoughts.contradictions.findings:
        if finding.fact == fact:
            return f"{finding.verdict}: {finding.evidence}"
    return None


def _time(seconds: float) -> str | None:
    if not np.isfinite(seconds) or abs(seconds) > 250_000_000_000.0:
        return None
    return iso_time(round(seconds))
