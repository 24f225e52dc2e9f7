"""Simulation: which memories would become weak, and when, if nothing touched them any more.

The present graph is looked at from future moments with the formulas and constants of a real run.
Nothing is taken away between the moments: each shows what a run would propose if it were the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from synapse.hippocampus.model import KIND_NAMES, Bools
from synapse.hippocampus.numeric import SECONDS_PER_DAY
from synapse.hippocampus.stamps import iso_time
from synapse.hippocampus.standing import Standing

MOMENTS_COUNT = 12
"""Future moments that are looked at, the present not counted."""
FIRST_COUNT = 5


@dataclass(frozen=True, slots=True)
class Moment:
    """What would be so many days from now. Counts are by kind: entity, fact."""

    days: float
    at: str
    weak: dict[str, int]
    """Memories below the threshold."""
    candidates: dict[str, int]
    """What a run would propose."""
    first: tuple[str, ...]
    """Uuids of the first candidates, in the order in which they would go."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """The moments, and why the configuration is refused if it is."""

    threshold: float
    memories: dict[str, int]
    moments: tuple[Moment, ...]
    refused: str | None

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


def simulate(standing: Standing, horizon_days: float) -> Simulation:
    """Look at the memories from now to the horizon.

    A configuration that lets everything of a kind become weak within the horizon is refused:
    strength then tells nothing apart, and whatever pruning took would be taken blindly.

    Args:
        standing: how the memories stand now.
        horizon_days: how far to look.
    """
    days = np.linspace(0.0, horizon_days, MOMENTS_COUNT + 1).tolist()
    later = [_later(standing, day) for day in days]
    moments = tuple(_moment(then, day) for then, day in zip(later, days, strict=True))
    return Simulation(
        threshold=standing.config.prune_below,
        memories=_by_kind(standing, np.ones(len(standing.strength), np.bool_)),
        moments=moments,
        refused=_refusal(standing, moments),
    )


def _later(standing: Standing, days: float) -> Standing:
    now_s = standing.now_s + days * SECONDS_PER_DAY
    return Standing(standing.outline, standing.kept, now_s, standing.config, standing.usage)


def _moment(then: Standing, days: float) -> Moment:
    is_candidate = np.zeros(len(then.strength), np.bool_)
    ranked = then.pruning.ranked_candidates
    is_candidate[ranked] = True
    uuids = then.outline.memory_uuids
    return Moment(
        days=round(days, 1),
        at=iso_time(round(then.now_s)),
        weak=_by_kind(then, then.strength < then.config.prune_below),
        candidates=_by_kind(then, is_candidate),
        first=tuple(uuids[row] for row in ranked[:FIRST_COUNT].tolist()),
    )


def _by_kind(standing: Standing, which: Bools) -> dict[str, int]:
    entities_count = len(standing.outline.entity_uuids)
    parts = which[:entities_count], which[entities_count:]
    return {kind: int(part.sum()) for kind, part in zip(KIND_NAMES, parts, strict=True)}


def _refusal(standing: Standing, moments: Sequence[Moment]) -> str | None:
    there = _by_kind(standing, np.ones(len(standing.strength), np.bool_))
    for kinds in (KIND_NAMES, *((kind,) for kind in KIND_NAMES)):
        if not all(there[kind] for kind in kinds):
            continue
        for moment in moments:
            if all(moment.weak[kind] == there[kind] for kind in kinds):
                what = "memory" if len(kinds) > 1 else kinds[0]
                return (
                    f"every {what} falls below {standing.config.prune_below:g} within "
                    f"{moment.days:g} days; raise forgetting.base_half_life_days or lower "
                    "pruning.threshold"
                )
    return None
