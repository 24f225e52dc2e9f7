"""How each memory stands at one moment, worked out from what is kept about it.

What is kept does not depend on the moment; this is the only place where the moment comes in. The
batch that has just read a graph and one that finds it unchanged use the same formulas on the same
values, so they agree to the last digit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.forgetting import ForgettingCurve
from synapse.hippocampus.model import Bools, Floats, GraphOutline
from synapse.hippocampus.numeric import SECONDS_PER_DAY
from synapse.hippocampus.pruning import Faded, PruningPolicy
from synapse.hippocampus.pruning_decision import PruningDecision
from synapse.hippocampus.quantity import quantity
from synapse.hippocampus.salience import SalienceParts, SalienceScorer
from synapse.hippocampus.traces import TraceTable, columns_at, rows_of, trace_table
from synapse.hippocampus.usage import Usage


@dataclass(frozen=True, slots=True)
class Kept:
    """The columns of a trace, each of shape (memories,), entities first, then facts."""

    last_touch_s: Floats
    frequency: Floats
    correction: Floats
    emotion: Floats
    stability: Floats
    association: Floats
    bonus: Floats
    """Retention gained by being recalled together with others."""
    share: Floats
    """How much of an episode rests on the memory."""
    interference: Floats
    """What near-duplicates leave of its retention: 1, or less."""
    ended: Floats
    """1 for facts that are no longer true, else 0."""

    @classmethod
    def of(cls, **columns: Floats) -> Kept:
        """Round to the precision of a trace: what is used is what is kept."""
        return cls(
            **{
                name: column if name == "last_touch_s" else _as_kept(column)
                for name, column in columns.items()
            }
        )

    @classmethod
    def from_traces(cls, traces: TraceTable, outline: GraphOutline) -> Kept | None:
        """The columns for these memories, in their order; ``None`` if one has no trace."""
        rows = rows_of(traces, outline.keys)
        if rows is None:
            return None
        return cls(**columns_at(traces, rows, cls.__slots__))

    def weakened(self, interference: Floats) -> Kept:
        """The same with what near-duplicates leave of each memory."""
        return replace(self, interference=_as_kept(interference))

    def table(self, outline: GraphOutline, kinds: npt.NDArray[np.uint8]) -> TraceTable:
        """The traces to keep."""
        columns: dict[str, npt.NDArray[Any]] = {n: getattr(self, n) for n in self.__slots__}
        return trace_table(outline.keys, {"kind": kinds, **columns})


class Standing:
    """Age, salience, strength and prune verdict of every memory at one moment.

    Arrays have shape (memories,), entities first, then facts.
    """

    def __init__(
        self,
        outline: GraphOutline,
        kept: Kept,
        now_s: float,
        config: HippocampusConfig,
        usage: Usage | None = None,
    ) -> None:
        self.outline = outline
        self.kept = kept
        self.now_s = now_s
        self.config = config
        self.usage = usage or Usage.none(len(kept.share))
        self.scorer = SalienceScorer(config.salience)
        self.curve = ForgettingCurve(config.forgetting)

    @cached_property
    def age_days(self) -> Floats:
        """Days since the last touch; NaN where unknown, 0 for the future."""
        return np.maximum(self.now_s - self.kept.last_touch_s, 0.0) / SECONDS_PER_DAY

    @cached_property
    def parts(self) -> SalienceParts[Floats]:
        """The four factors of salience."""
        return SalienceParts(
            recency=self.scorer.recency(self.age_days),
            frequency=self.kept.frequency,
            correction=self.kept.correction,
            emotion=self.kept.emotion,
        )

    @cached_property
    def salience(self) -> Floats:
        """Salience at this moment."""
        return self.scorer.total(self.parts)

    @cached_property
    def importance(self) -> Floats:
        """Salience at the moment of the last touch: what slows the forgetting curve."""
        return self.scorer.importance(self.parts)

    @cached_property
    def strength(self) -> Floats:
        """Retention, 0 to 1; 1 where the age is unknown.

        S' = min(1, f · S + b), where S is the forgetting curve, f what near-duplicates leave of it
        and b the bonus of memories that are recalled together. An unknown age is not weakened.
        """
        curve = self.curve.strength(self.age_days, self.importance, self.kept.stability)
        left = np.where(np.isnan(self.age_days), curve, self.kept.interference * curve)
        return np.minimum(left + self.kept.bonus, 1.0)

    @cached_property
    def lasts_days(self) -> Floats:
        """Days from the last touch until strength has fallen to the prune threshold: where
        S' = θ, S is (θ - b) / f. Infinite where the bonus alone is enough."""
        return self.curve.days_until(
            (self.config.prune_below - self.kept.bonus) / self.kept.interference,
            self.importance,
            self.kept.stability,
        )

    @cached_property
    def fading(self) -> Bools:
        """Memories that fall below the prune threshold within the warning horizon if nothing
        touches them."""
        left_days = self.lasts_days - self.age_days
        return (left_days >= 0.0) & (left_days <= self.config.forgetting.fading_horizon_days)

    @cached_property
    def worth(self) -> Floats:
        """In which order faded memories go: importance times share, the least first."""
        return self.importance * self.kept.share

    @cached_property
    def faded(self) -> Faded:
        """What the pruning policy looks at."""
        usage = self.usage
        since_recall_s = np.maximum(self.now_s - usage.last_recall_s, 0.0)
        return Faded(
            strength=self.strength,
            age_days=self.age_days,
            importance=self.importance,
            worth=self.worth,
            ended=self.kept.ended > 0.0,
            days_since_recall=since_recall_s / SECONDS_PER_DAY,
            restored=usage.restored,
            pinned=usage.pinned,
            archived_count=usage.archived_count,
        )

    @cached_property
    def pruning(self) -> PruningDecision:
        """Keep, spare or candidate for each memory, with the reason."""
        return self.pruned()

    def pruned(self, max_changes: int | None = None) -> PruningDecision:
        """The same where somebody has allowed so many changes, in place of the caps."""
        policy = PruningPolicy(self.config.pruning, self.config.prune_below)
        return policy.decide(self.outline, self.faded, max_changes)

    @property
    def why_no_candidate(self) -> str:
        """In words: what keeps the memories of a graph that has no prune candidate."""
        if not len(self.strength):
            return "there are no memories"
        spared_by = self.pruning.spared_by()
        if spared_by:
            names = ", ".join(f"{count} {name}" for name, count in spared_by.items())
            spared = quantity(self.pruning.spared_count, "memory")
            none = "; the caps let a run propose none" if not self.pruning.cap_count else ""
            return f"all below the threshold are spared: {spared} ({names}){none}"
        left_days = (self.lasts_days - self.age_days)[np.isfinite(self.age_days)]
        soon_days = left_days[np.isfinite(left_days)]
        when = ""
        if len(soon_days):
            days = quantity(int(np.ceil(soon_days.min())), "day")
            when = f"; the first falls below {self.config.prune_below:g} in {days}"
        return f"the weakest memory stands at {float(self.strength.min()):.4f}{when}"


def _as_kept(values: Floats) -> Floats:
    return values.astype(np.float32).astype(np.float64)
