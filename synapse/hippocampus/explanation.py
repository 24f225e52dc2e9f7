"""One memory explained: its score by factor, its curve, and what would save it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from synapse.errors import UsageError, shown
from synapse.hippocampus.archived import ArchivedMemory, named_in
from synapse.hippocampus.model import ENTITY, KIND_NAMES, GraphSnapshot
from synapse.hippocampus.numeric import SECONDS_PER_DAY
from synapse.hippocampus.outlived import outlived_reason
from synapse.hippocampus.recall import NEVER_ASKED, RecallSet
from synapse.hippocampus.scope import listed
from synapse.hippocampus.stability import Stability
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.stamps import iso_time

ASSOCIATES_COUNT = 5


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
    former_stability: float | None
    """What it was when it, or a memory like it, was archived: it is never less again."""
    association: float
    co_recall_bonus: float
    """Retention gained by being recalled together with others, part of the strength."""
    rehearsals_count: int
    """Episodes that support it."""
    recalls_count: int
    """Counted recalls: at most one in 24 hours."""
    last_recall: str | None
    first_recall: str | None
    searches_count: int
    """Answers that held it and that somebody asked for."""
    first_places_count: int
    """How often it came first in them."""
    exposures_count: int
    """How often it was put into a prompt unasked."""
    sources: Mapping[str, int]
    """Who asked, and how often."""
    demand: float
    """How high and how often it came up when somebody asked, 0 to 1."""
    average_rank: float | None
    """Mean rank in the answers that held it."""
    recalls_per_day: float
    """Counted recalls over the last seven days."""
    recalls_per_day_of_month: float
    """Counted recalls over the last thirty days."""
    pinned_since: str | None
    pin_reason: str | None
    last_touch: str | None
    age_days: float | None
    threshold: float
    falls_below_threshold_at: str | None
    if_touched_now_lasts_until: str | None
    if_recalled_now_lasts_until: str | None
    """With one more recall at this moment, in the first place."""
    if_recalled_now_stability: float
    pruning: str
    contradiction: str | None
    stale: str | None
    associates: tuple[str, ...]
    """Names of the entities that come to mind with an entity, the closest first."""

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


def find_memory(
    snapshot: GraphSnapshot, wanted: str, archive: Iterable[ArchivedMemory] = ()
) -> int:
    """Row of the memory with this uuid, or of the one entity with this name.

    Args:
        snapshot: where to look.
        wanted: uuid or name.
        archive: its entries, oldest first, to tell what became of a memory that is gone.

    Raises:
        UsageError: nothing, or more than one entity, has that name.
    """
    uuids = snapshot.memory_uuids
    if wanted in uuids:
        return uuids.index(wanted)
    folded = wanted.casefold()
    rows = [i for i, name in enumerate(snapshot.entities.name) if name.casefold() == folded]
    if not rows:
        gone = [memory for memory in named_in(archive, wanted).values() if memory.has_content]
        if gone:
            raise UsageError(
                f"run {gone[0].run_id} archived it; "
                f"bring it back with synapse restore {gone[0].uuid}"
            )
        raise UsageError(
            f"no memory has the uuid or name {shown(wanted)} "
            f"in graph {shown(snapshot.graph)}; check both"
        )
    if len(rows) > 1:
        candidates = listed([snapshot.entities.uuid[row] for row in rows])
        raise UsageError(
            f"{len(rows)} entities are named {shown(wanted)}; give a uuid: {candidates}"
        )
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
    last_touch_s = float(thoughts.last_touch_s[row])
    pin = thoughts.recalled.pins.get(snapshot.memory_uuids[row])
    profile = thoughts.recalled.profiles.get(snapshot.memory_uuids[row], NEVER_ASKED)
    now = RecallSet(((snapshot.memory_uuids[row], 1),), "explain", max(0.0, thoughts.now_s))
    recalled = thoughts.with_recalls([now])
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
        former_stability=_known(float(thoughts.former_stability[row])),
        association=float(thoughts.standing.kept.association[row]),
        co_recall_bonus=float(thoughts.standing.kept.bonus[row]),
        rehearsals_count=int(thoughts.touched.episodes_count[row]),
        recalls_count=profile.total_count,
        last_recall=_time_if_known(profile.last_s),
        first_recall=_time_if_known(profile.first_s),
        searches_count=profile.search_count,
        first_places_count=profile.top1_count,
        exposures_count=profile.exposure_count,
        sources=profile.sources,
        demand=float(thoughts.demand[row]),
        average_rank=profile.average_rank or None,
        recalls_per_day=profile.per_day(thoughts.now_s, 7.0),
        recalls_per_day_of_month=profile.per_day(thoughts.now_s, 30.0),
        pinned_since=_time(pin.at_s) if pin else None,
        pin_reason=pin.reason if pin else None,
        last_touch=_time(last_touch_s),
        age_days=None if np.isnan(last_touch_s) else float(thoughts.standing.age_days[row]),
        threshold=thoughts.config.prune_below,
        falls_below_threshold_at=_lasts_until(thoughts, row),
        if_touched_now_lasts_until=_if_told_now(thoughts, row),
        if_recalled_now_lasts_until=_lasts_until(recalled, row),
        if_recalled_now_stability=float(recalled.standing.kept.stability[row]),
        pruning=thoughts.standing.pruning.explain_row(row),
        contradiction=_contradiction(thoughts, row - entities_count),
        stale=_stale(thoughts, row - entities_count),
        associates=_associates(thoughts, row),
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


def _lasts_until(thoughts: Thoughts, row: int) -> str | None:
    lasts_days = float(thoughts.standing.lasts_days[row])
    return _time(float(thoughts.last_touch_s[row]) + lasts_days * SECONDS_PER_DAY)


def _if_told_now(thoughts: Thoughts, row: int) -> str | None:
    """Until when it would last with one more episode at this moment."""
    touched, recalls, kept = thoughts.touched, thoughts.usage.recalls, thoughts.standing.kept
    episodes_s = touched.times_s[touched.offsets[row] : touched.offsets[row + 1]].tolist()
    rehearsed = Stability(thoughts.config.forgetting)
    stability = rehearsed.raised(
        rehearsed.of(
            [*episodes_s, thoughts.now_s],
            recalls.times_s[recalls.memory == row].tolist(),
            float(thoughts.recorded_s[row]),
        ),
        float(kept.association[row]),
        thoughts.config.hebbian.stability_boost,
    )
    stability = rehearsed.raised(
        stability, float(thoughts.demand[row]), thoughts.config.forgetting.demand_boost
    )
    stability = max(stability, float(kept.stability[row]))
    threshold = (thoughts.config.prune_below - float(kept.bonus[row])) / float(
        kept.interference[row]
    )
    importance = float(thoughts.standing.importance[row])
    lasts_days = thoughts.curve.days_until(threshold, importance, stability)
    # One more episode does not date those that have no date.
    is_undated = touched.episodes_count[row] > len(episodes_s)
    last_touch_s = np.nan if is_undated else np.fmax(thoughts.last_touch_s[row], thoughts.now_s)
    return _time(float(last_touch_s) + lasts_days * SECONDS_PER_DAY)


def _stale(thoughts: Thoughts, fact: int) -> str | None:
    if fact < 0 or not thoughts.stale[fact]:
        return None
    relation = thoughts.snapshot.facts.relation[fact]
    return outlived_reason(relation, float(thoughts.lifetime_days[fact]))


def _associates(thoughts: Thoughts, row: int) -> tuple[str, ...]:
    entities = thoughts.snapshot.entities
    if row >= len(entities):
        return ()
    partners = thoughts.recalled.links.get(entities.uuid[row], {})
    rows = {uuid: i for i, uuid in enumerate(entities.uuid)} if partners else {}
    co_recalls = {rows[uuid]: known for uuid, known in partners.items() if uuid in rows}
    found = thoughts.associates.of(row, co_recalls, ASSOCIATES_COUNT)
    return tuple(entities.name[associate.row] for associate in found)


def _contradiction(thoughts: Thoughts, fact: int) -> str | None:
    for finding in thoughts.contradictions.findings:
        if finding.fact == fact:
            return f"{finding.verdict}: {finding.evidence}"
    return None


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _time_if_known(seconds: float | None) -> str | None:
    return None if seconds is None else _time(seconds)


def _time(seconds: float) -> str | None:
    if not np.isfinite(seconds) or abs(seconds) > 250_000_000_000.0:
        return None
    return iso_time(round(seconds))
