"""What the batch works out from one snapshot, stage by stage.

Nothing is read or written here, and ``now`` is an argument: the same graph at the same moment
always gives the same thoughts.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.contradiction import ContradictionDetector, Contradictions
from synapse.hippocampus.forgetting import ForgettingCurve
from synapse.hippocampus.hebbian import CoActivation, co_activation
from synapse.hippocampus.keywords import count_hits
from synapse.hippocampus.model import Bools, Floats, GraphSnapshot, Ints, memory_keys
from synapse.hippocampus.pruning import PruningDecision, PruningPolicy
from synapse.hippocampus.salience import SalienceParts, SalienceScorer
from synapse.hippocampus.schema import Schema, SchemaExtractor
from synapse.hippocampus.touches import Touches, touches
from synapse.hippocampus.traces import TraceTable, trace_table

DAY_S = 86_400.0


class Thoughts:
    """The stages over one snapshot; each result is worked out once, when first asked for.

    Per-memory arrays have shape (entities + facts,): the entities first, then the facts.
    """

    def __init__(self, snapshot: GraphSnapshot, now_s: float, config: HippocampusConfig) -> None:
        self.snapshot = snapshot
        self.now_s = now_s
        self.config = config
        self.scorer = SalienceScorer(config.salience)
        self.curve = ForgettingCurve(config.forgetting)

    @cached_property
    def touched(self) -> Touches:
        """When each memory was last supported by an episode."""
        return touches(self.snapshot)

    @cached_property
    def age_days(self) -> Floats:
        """Days since the last touch; NaN where unknown, 0 for the future."""
        return np.maximum(self.now_s - self.touched.last_touch_s, 0.0) / DAY_S

    @cached_property
    def contradictions(self) -> Contradictions:
        """Facts that were, or should be, superseded."""
        return ContradictionDetector(self.config.contradictions).detect(self.snapshot, self.now_s)

    @cached_property
    def co_activation(self) -> CoActivation:
        """What was active together."""
        return co_activation(self.snapshot, self.touched)

    @cached_property
    def association(self) -> Floats:
        """Association weight of each memory, 0 to 1."""
        return np.concatenate([self.co_activation.entity_weight, self.co_activation.fact_weight])

    @cached_property
    def degree(self) -> Ints:
        """Facts at each entity; a self-loop counts once. Shape (entities,)."""
        facts = self.snapshot.facts
        both = np.concatenate([facts.source, facts.target[facts.source != facts.target]])
        return np.bincount(both, minlength=len(self.snapshot.entities))

    @cached_property
    def parts(self) -> SalienceParts[Floats]:
        """The four factors of each memory's salience."""
        facts, scorer = self.snapshot.facts, self.scorer
        weaker_end = np.minimum(self.degree[facts.source], self.degree[facts.target])
        episodes = self.touched.episodes_count[len(self.snapshot.entities) :]
        return SalienceParts(
            recency=scorer.recency(self.age_days),
            frequency=_as_kept(
                np.concatenate(
                    [scorer.frequency(self.degree), scorer.fact_frequency(episodes, weaker_end)]
                )
            ),
            correction=_as_kept(scorer.correction(self.corrected)),
            emotion=_as_kept(scorer.emotion(self.emotion_hits)),
        )

    @cached_property
    def corrected(self) -> Bools:
        """Facts with a credible replacement, and the entities they are about."""
        superseded = self.contradictions.superseded
        about = np.bincount(
            self.snapshot.facts.source[superseded], minlength=len(self.snapshot.entities)
        )
        return np.concatenate([about > 0, superseded])

    @cached_property
    def emotion_hits(self) -> Ints:
        """Emotional words in each memory's own text."""
        entities, words = self.snapshot.entities, self.config.salience.emotion_words
        names = count_hits(entities.name, words) + count_hits(entities.summary, words)
        return np.concatenate([names, count_hits(self.snapshot.facts.text, words)])

    @cached_property
    def salience(self) -> Floats:
        """Salience at this moment."""
        return self.scorer.total(self.parts)

    @cached_property
    def importance(self) -> Floats:
        """Salience at the moment of the last touch: what slows the forgetting curve."""
        return self.scorer.importance(self.parts)

    @cached_property
    def stability(self) -> Floats:
        """Stability from spaced rehearsals and from association, 1 or more."""
        return _as_kept(
            self.curve.associated_stability(
                self.curve.stabilities(self.touched.times_s, self.touched.offsets),
                self.association,
                self.config.hebbian.stability_boost,
            )
        )

    @cached_property
    def strength(self) -> Floats:
        """Retention at this moment, 0 to 1; 1 where the age is unknown."""
        return self.curve.strength(self.age_days, self.importance, self.stability)

    @cached_property
    def fading(self) -> Bools:
        """Memories that fall below the prune threshold within the warning horizon if nothing
        touches them."""
        threshold = self.config.pruning.threshold
        lasts_days = self.curve.days_until(threshold, self.importance, self.stability)
        left_days = lasts_days - self.age_days
        return (left_days >= 0.0) & (left_days <= self.config.forgetting.fading_horizon_days)

    @cached_property
    def schemas(self) -> tuple[Schema, ...]:
        """Repeated patterns behind the episodes."""
        return SchemaExtractor(self.config.schemas).extract(self.snapshot)

    @cached_property
    def pruning(self) -> PruningDecision:
        """Keep, spare or candidate for each memory, with the reason."""
        return PruningPolicy(self.config.pruning).decide(
            self.snapshot, self.strength, self.age_days, self.salience
        )

    @cached_property
    def traces(self) -> TraceTable:
        """What is to be kept about each memory; strength follows from exactly these values."""
        columns: dict[str, npt.NDArray[Any]] = {
            "kind": self.snapshot.memory_kinds,
            "last_touch_s": self.touched.last_touch_s,
            "frequency": self.parts.frequency,
            "correction": self.parts.correction,
            "emotion": self.parts.emotion,
            "stability": self.stability,
            "association": self.association,
        }
        return trace_table(memory_keys(self.snapshot.memory_uuids), columns)


def _as_kept(values: Floats) -> Floats:
    """Round to the precision of a trace, so that the batch and a reader of the trace agree to
    the last digit."""
    return values.astype(np.float32).astype(np.float64)
