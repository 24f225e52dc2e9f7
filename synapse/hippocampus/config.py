"""Every constant of the hippocampus, once: its default, its unit in its name, its bounds.

The configuration is a value: two equal configurations have equal digests, and the digest stands
in every summary and plan, so that a result can always be traced to the constants that made it.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Ratio = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
PositiveDays = Annotated[float, Field(gt=0.0, le=36_500.0, allow_inf_nan=False)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SalienceConfig(_Section):
    """Weights and constants of :mod:`~synapse.hippocampus.salience`."""

    recency_weight: Ratio = 0.35
    frequency_weight: Ratio = 0.30
    correction_weight: Ratio = 0.20
    emotion_weight: Ratio = 0.15
    recency_half_life_days: PositiveDays = 7.0
    correction_value: Ratio = 0.3
    emotion_per_hit: Ratio = 0.3
    emotion_words: tuple[str, ...] = (
        "urgent", "critical", "important", "must", "need", "asap",
        "breaking", "warning", "error", "fix", "broken", "wrong",
        "love", "hate", "terrible", "amazing", "disaster", "crisis",
    )  # fmt: skip

    @model_validator(mode="after")
    def _weights_sum_to_one(self) -> SalienceConfig:
        total = (
            self.recency_weight
            + self.frequency_weight
            + self.correction_weight
            + self.emotion_weight
        )
        if abs(total - 1.0) > 1e-9:
            raise ValueError(f"the four weights must add up to 1, they add up to {total:g}")
        return self


class ForgettingConfig(_Section):
    """Constants of :mod:`~synapse.hippocampus.forgetting`."""

    curve: Literal["exponential", "power"] = "power"
    """The law of forgetting, see :mod:`~synapse.hippocampus.decay`."""
    power_exponent: Annotated[float, Field(ge=0.05, le=10.0, allow_inf_nan=False)] = 0.2
    base_half_life_days: PositiveDays = 7.0
    salience_boost: Annotated[float, Field(ge=0.0, le=100.0, allow_inf_nan=False)] = 3.0
    recall_boost: Annotated[float, Field(ge=1.0, le=100.0, allow_inf_nan=False)] = 1.5
    recall_ceiling: Ratio = 0.8
    episode_gain: Annotated[float, Field(ge=0.0, le=100.0, allow_inf_nan=False)] = 1.0
    """How much one further episode, fully spaced, adds to stability."""
    recall_gain: Annotated[float, Field(ge=0.0, le=100.0, allow_inf_nan=False)] = 16.0
    """How much one counted recall, fully spaced, adds to stability."""
    demand_boost: Annotated[float, Field(ge=0.0, le=10.0, allow_inf_nan=False)] = 0.25
    """Stability of a memory that is in full demand, relative to one in none, minus 1."""
    stability_max: Annotated[float, Field(ge=1.0, le=1_000.0, allow_inf_nan=False)] = 32.0
    spacing_days: PositiveDays = 3.0
    """A gap of this many days between two rehearsals gives 1 - 1/e of the full gain."""
    fading_horizon_days: PositiveDays = 7.0
    """A memory that falls below the prune threshold within this time counts as fading."""


class HebbianConfig(_Section):
    """Constants of :mod:`~synapse.hippocampus.hebbian`."""

    stability_boost: Annotated[float, Field(ge=0.0, le=10.0, allow_inf_nan=False)] = 0.5
    """Stability of a memory with association weight 1, relative to one with weight 0, minus 1."""
    co_recalls_min_count: Annotated[int, Field(ge=1)] = 3
    """Memories recalled together on more days than this gain retention."""
    co_recall_bonus: Ratio = 0.02
    """Retention gained by each further day."""
    co_recall_bonus_max: Ratio = 0.3


class ContradictionConfig(_Section):
    """Constants of :mod:`~synapse.hippocampus.contradiction`."""

    supersession_tolerance_s: Annotated[float, Field(ge=0.0, le=31_536_000.0)] = 86_400.0
    """A superseding fact starts within this time of the end of the fact that it supersedes."""
    resolve_confidence: Ratio = 0.875
    """From this confidence on a missed contradiction may be written into the graph."""


class RelationsConfig(_Section):
    """Constants of :mod:`~synapse.hippocampus.relations`; the names beat everything learned."""

    single: tuple[str, ...] = ()
    """Relations that hold one value at a time."""
    multi: tuple[str, ...] = ()
    """Relations that hold many values side by side."""
    event: tuple[str, ...] = ()
    """Relations whose facts happened and stay true."""
    min_confidence_ratio: Annotated[float, Field(ge=0.5, le=1.0, allow_inf_nan=False)] = 0.55
    """Below this confidence a relation's cardinality is unknown."""
    min_ends_count: Annotated[int, Field(ge=1)] = 3
    """A relation with fewer ended facts has no lifetime."""

    @model_validator(mode="after")
    def _each_name_is_in_one_list(self) -> RelationsConfig:
        if not (self.single or self.multi or self.event):
            return self
        from synapse.hippocampus.lexicon.english import ENGLISH_RELATIONS  # most need no lexicon

        listed: dict[str, tuple[str, str]] = {}
        complaints = []
        for kind in ("single", "multi", "event"):
            for name in getattr(self, kind):
                known, first = listed.setdefault(ENGLISH_RELATIONS.normal(name), (kind, name))
                if known != kind:
                    same = "" if name == first else f" is the relation {first}, and"
                    complaints.append(f"{name}{same} stands in {known} and in {kind}")
        if complaints:
            raise ValueError(f"{', '.join(complaints)}: leave each in one list")
        return self


class SchemaConfig(_Section):
    """Constants of :mod:`~synapse.hippocampus.schema`."""

    min_members_count: Annotated[int, Field(ge=1)] = 3
    """Kinds with fewer members are no schema."""
    min_support_ratio: Annotated[float, Field(gt=0.0, le=1.0, allow_inf_nan=False)] = 0.5
    """Share of the members from which on a relation is typical of their kind."""


class InterferenceConfig(_Section):
    """Constants of :mod:`~synapse.hippocampus.interference`."""

    enabled: bool = False
    """Whether near-duplicates are looked for, which takes the embeddings to be compared."""
    similarity_min: Annotated[float, Field(ge=0.5, le=1.0, allow_inf_nan=False)] = 0.85
    """Cosine from which on two memories are nearly the same."""
    weight: Ratio = 0.05
    """Retention that the weaker of two identical memories loses."""
    max_loss: Ratio = 0.25
    """The most that a memory loses to all its near-duplicates."""


class PruningConfig(_Section):
    """Constants of :mod:`~synapse.hippocampus.pruning`."""

    threshold: Ratio | None = None
    """Below this strength a memory may go; ``None`` is the curve's own, see ``prune_below``."""
    grace_days: Annotated[float, Field(ge=0.0, le=36_500.0, allow_inf_nan=False)] = 30.0
    """A memory that was touched within this time stays."""
    recalled_days: Annotated[float, Field(ge=0.0, le=36_500.0, allow_inf_nan=False)] = 30.0
    """A memory that somebody asked for within this time stays."""
    salient_from: Ratio = 0.75
    """A memory of this salience when last touched is never proposed."""
    hub_facts_count: Annotated[int, Field(ge=1)] = 20
    """An entity with so many facts holds the graph together and stays."""
    max_share_ratio: Ratio = 0.05
    """No run proposes more of all memories than this."""
    max_count: Annotated[int, Field(ge=0)] = 200
    """Nor more than so many."""
    max_lifetime_ratio: Ratio = 0.20
    """Nor more than lets all runs of ninety days take this share of what there was."""


class RankingConfig(_Section):
    """Constants of :mod:`~synapse.hippocampus.ranking`."""

    strength_weight: Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)] = 0.5
    """How much strength counts beside relevance; 0 keeps the search's own order."""
    strength_floor: Annotated[float, Field(gt=0.0, le=1.0, allow_inf_nan=False)] = 0.25
    """What a memory of no strength counts as."""
    rank_constant: Annotated[float, Field(ge=0.0, le=1000.0, allow_inf_nan=False)] = 5.0
    """The larger, the less the first places of the search differ."""


class HippocampusConfig(_Section):
    """All sections together; what ``synapse.toml`` may hold.

    >>> HippocampusConfig().digest == HippocampusConfig().digest
    True
    """

    salience: SalienceConfig = SalienceConfig()
    forgetting: ForgettingConfig = ForgettingConfig()
    hebbian: HebbianConfig = HebbianConfig()
    contradictions: ContradictionConfig = ContradictionConfig()
    relations: RelationsConfig = RelationsConfig()
    schemas: SchemaConfig = SchemaConfig()
    interference: InterferenceConfig = InterferenceConfig()
    pruning: PruningConfig = PruningConfig()
    ranking: RankingConfig = RankingConfig()

    @property
    def prune_below(self) -> float:
        """The strength below which a memory may go.

        The exponential falls below 0.05 after four half-lives and the power curve never in a
        lifetime, so each has a threshold of its own: 0.05, and 0.3 (13 half-lives).

        >>> HippocampusConfig().prune_below
        0.3
        """
        if self.pruning.threshold is not None:
            return self.pruning.threshold
        return 0.3 if self.forgetting.curve == "power" else 0.05

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that name these constants."""
        return hashlib.blake2b(self.model_dump_json().encode(), digest_size=6).hexdigest()
