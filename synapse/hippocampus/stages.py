"""What the batch works out from one snapshot, stage by stage.

Nothing is read or written here, and ``now`` is an argument: the same graph at the same moment
always gives the same thoughts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property

import numpy as np

from synapse.hippocampus.archived import not_to_propose
from synapse.hippocampus.associates import Associates
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.contradiction import ContradictionDetector, Contradictions
from synapse.hippocampus.demand import demands
from synapse.hippocampus.forgetting import ForgettingCurve
from synapse.hippocampus.hearing import Hearing
from synapse.hippocampus.hebbian import CoActivation, co_activation, co_recall_bonus
from synapse.hippocampus.interference import NearDuplicates, interference
from synapse.hippocampus.keywords import count_hits
from synapse.hippocampus.ledger import Entry, follow, settled_by
from synapse.hippocampus.lifetime import median_lifetimes_days, outlives_s
from synapse.hippocampus.model import Bools, Floats, GraphSnapshot, Ints
from synapse.hippocampus.numeric import SECONDS_PER_DAY
from synapse.hippocampus.outlived import Outlived
from synapse.hippocampus.recall import RecallSet, fold
from synapse.hippocampus.recalled import NEVER_RECALLED, Recalled
from synapse.hippocampus.relation_table import RelationTable
from synapse.hippocampus.relations import RelationLearner
from synapse.hippocampus.returning import former_column
from synapse.hippocampus.salience import SalienceScorer
from synapse.hippocampus.schema import Schema, SchemaExtractor
from synapse.hippocampus.share import shares
from synapse.hippocampus.stability import Stability
from synapse.hippocampus.standing import Kept, Standing
from synapse.hippocampus.timeline import Timeline, latest_s
from synapse.hippocampus.touches import Touches, touches
from synapse.hippocampus.traces import TraceTable
from synapse.hippocampus.usage import Usage

NO_DUPLICATES = NearDuplicates()
_NOTHING_DECIDED: Mapping[str, Entry] = {}

_OF_RECALLS = ("usage", "stability", "standing", "traces")
"""Results that are kept and rest on what was recalled."""


class Thoughts:
    """The stages over one snapshot, worked out when first asked for.

    Results are kept, but not the columns that only go into :attr:`standing`: in a large graph each
    takes megabytes.

    Per-memory arrays have shape (entities + facts,): the entities first, then the facts.
    """

    def __init__(
        self, snapshot: GraphSnapshot, now_s: float, config: HippocampusConfig,
        recalled: Recalled = NEVER_RECALLED, near_duplicates: NearDuplicates = NO_DUPLICATES,
        ledger: Mapping[str, Entry] = _NOTHING_DECIDED, hearing: Hearing | None = None,
        elsewhere: Collection[str] = (),
    ) -> None:  # fmt: skip
        self.snapshot = snapshot
        self.now_s = now_s
        self.config = config
        self.recalled = recalled
        self.near_duplicates = near_duplicates
        self.ledger = ledger
        self._elsewhere = elsewhere
        self.hearing = hearing or Hearing(config.salience.emotion_words)
        self.scorer = SalienceScorer(config.salience)
        self.curve = ForgettingCurve(config.forgetting)

    def with_recalls(self, recall_sets: Iterable[RecallSet]) -> Thoughts:
        """The same thoughts as if this had been recalled too."""
        profiles, links = fold(self.recalled.profiles, self.recalled.links, recall_sets)
        other = copy(self)
        other.recalled = replace(self.recalled, profiles=profiles, links=links)
        for name in _OF_RECALLS:
            other.__dict__.pop(name, None)
        return other

    def only_standing(self) -> Standing:
        """The standing. All other results are forgotten; who asks for one makes it anew."""
        own, standing = vars(self), self.standing
        for name in own.keys() & vars(type(self)).keys() - {"standing"}:
            del own[name]
        return standing

    @cached_property
    def touched(self) -> Touches:
        """When each memory was last supported by an episode."""
        return touches(self.snapshot)

    @cached_property
    def contradictions(self) -> Contradictions:
        """Facts that were, or should be, superseded."""
        detector = ContradictionDetector(self.config.contradictions)
        is_settled = settled_by(self.ledger, self.snapshot)
        return detector.detect(
            self.snapshot, self.now_s, self.relations, self.time, is_settled,
            spoken=self.hearing.spoken(self.snapshot.facts.text),
        )  # fmt: skip

    def followed(self, ledger: Mapping[str, Entry]) -> dict[str, Entry]:
        """A ledger as it is to be after what was found."""
        findings = self.contradictions.findings
        return follow(ledger, self.snapshot, findings, self._elsewhere)

    @cached_property
    def relations(self) -> RelationTable:
        """What the graph shows about each of its relations."""
        learner = RelationLearner(self.config.relations)
        return learner.learn(self.snapshot, self.now_s, self.time)

    @cached_property
    def time(self) -> Timeline:
        """When each fact begins and ends."""
        return Timeline.of(self.snapshot, self.now_s)

    @cached_property
    def co_activation(self) -> CoActivation:
        """What was active together."""
        return co_activation(self.snapshot, self.touched)

    @property
    def association(self) -> Floats:
        """Association weight of each memory, 0 to 1."""
        return np.concatenate([self.co_activation.entity_weight, self.co_activation.fact_weight])

    @cached_property
    def associates(self) -> Associates:
        """Which entities come to mind with which."""
        episodes = self.snapshot.episodes
        episode_s = np.where(
            np.isnan(episodes.valid_at_s), episodes.created_at_s, episodes.valid_at_s
        )
        in_order_s = np.sort(episode_s)  # entity_episodes numbers them so, unknown times last
        return Associates(self.touched.entity_episodes, in_order_s, self.now_s)

    @cached_property
    def degree(self) -> Ints:
        """Facts at each entity; a self-loop counts once. Shape (entities,)."""
        facts = self.snapshot.facts
        both = np.concatenate([facts.source, facts.target[facts.source != facts.target]])
        return np.bincount(both, minlength=len(self.snapshot.entities))

    @property
    def frequency(self) -> Floats:
        """Frequency factor of each memory."""
        facts, scorer = self.snapshot.facts, self.scorer
        weaker_end = np.minimum(self.degree[facts.source], self.degree[facts.target])
        episodes = self.touched.episodes_count[len(self.snapshot.entities) :]
        return np.concatenate(
            [scorer.frequency(self.degree), scorer.fact_frequency(episodes, weaker_end)]
        )

    @property
    def corrected(self) -> Bools:
        """Facts with a credible replacement, and the entities they are about."""
        superseded = self.contradictions.superseded
        about = np.bincount(
            self.snapshot.facts.source[superseded], minlength=len(self.snapshot.entities)
        )
        return np.concatenate([about > 0, superseded])

    @property
    def emotion_hits(self) -> Ints:
        """Emotional words in each memory's own text."""
        entities, words = self.snapshot.entities, self.config.salience.emotion_words
        names = count_hits(entities.name, words) + count_hits(entities.summary, words)
        return np.concatenate([names, self.hearing.emotion_hits(self.snapshot.facts.text)])

    @cached_property
    def usage(self) -> Usage:
        """What recalls and pins say about each memory."""
        recalled = self.recalled
        return Usage.of(
            self.snapshot.memory_uuids, recalled.profiles, recalled.links, recalled.pins,
            recalled.archived_count, not_to_propose(recalled.archive),
        )  # fmt: skip

    @property
    def last_touch_s(self) -> Floats:
        """When each memory was last supported by an episode or recalled; NaN where unknown."""
        supported_s, recalled_s = self.touched.last_touch_s, self.usage.last_recall_s
        return np.maximum(supported_s, np.where(np.isnan(recalled_s), -np.inf, recalled_s))

    @property
    def recorded_s(self) -> Floats:
        """When each memory was recorded, else when its fact began; NaN where neither is known."""
        facts = self.snapshot.facts
        facts_s = np.where(np.isnan(facts.created_at_s), facts.valid_at_s, facts.created_at_s)
        return np.concatenate([self.snapshot.entities.created_at_s, facts_s])

    @property
    def demand(self) -> Floats:
        """How high and how often each memory came up when somebody asked, 0 to 1."""
        return demands(self.usage.recalls, len(self.association))

    @cached_property
    def stability(self) -> Floats:
        """Stability from rehearsals, association, demand, lifetime and the past, 1 or more."""
        rehearsed = Stability(self.config.forgetting)
        column = rehearsed.column(
            self.touched.times_s, self.touched.offsets, self.usage.recalls, self.recorded_s
        )
        column = rehearsed.raised(column, self.association, self.config.hebbian.stability_boost)
        column = rehearsed.raised(column, self.demand, self.config.forgetting.demand_boost)
        of_facts = column[len(self.snapshot.entities) :]
        lasts_days = self.curve.days_until(self.config.prune_below, 0.0)
        of_facts[:] = rehearsed.durable(of_facts, self.lifetime_days, lasts_days)
        return rehearsed.regained(column, self.former_stability)

    @property
    def former_stability(self) -> Floats:
        """How firm each memory was when it was archived; NaN where none like it ever was."""
        return former_column(self.snapshot, self.recalled.former_stability)

    @property
    def bonus(self) -> Floats:
        """Retention gained by being recalled together with others.

        A superseded fact gains none: it comes up with the fact that replaced it, and use does not
        make it right. One whose end nothing explains gains like any other.
        """
        gained = co_recall_bonus(self.usage.co_recalls_count, self.config.hebbian)
        gained[len(self.snapshot.entities) :][self.contradictions.superseded] = 0.0
        return gained

    @cached_property
    def lifetime_days(self) -> Floats:
        """Median lifetime of each fact's relation, as seen when something last happened; NaN
        where it is unknown. Shape (facts,)."""
        start_s, end_s, at_s = self.start_s, self.end_s, latest_s(self.snapshot, self.now_s)
        code = self.relations.codes(self.snapshot.facts.relation)
        rows = np.flatnonzero((code >= 0) & (start_s <= at_s))
        medians_days = median_lifetimes_days(
            start_s[rows], end_s[rows], end_s[rows] <= at_s, at_s, code[rows],
            len(self.relations.relations), self.config.relations.min_ends_count,
        )  # fmt: skip
        return np.append(np.array(medians_days, np.float64), np.nan)[code]

    @cached_property
    def stale(self) -> Bools:
        """Active facts that are older than facts of their relation become. Shape (facts,)."""
        return self.outlives_s <= self.now_s

    @property
    def outlives_s(self) -> Floats:
        """When each active fact outlives its relation; NaN where never. Shape (facts,)."""
        ended = self.ended[len(self.snapshot.entities) :]
        return outlives_s(self.start_s, ended, self.lifetime_days)

    @cached_property
    def outlived(self) -> Outlived:
        """When facts become stale."""
        facts = self.snapshot.facts
        return Outlived.of(
            facts.uuid, facts.relation, self.lifetime_days, self.outlives_s, self.now_s
        )

    @property
    def start_s(self) -> Floats:
        """When each fact begins, else when it was recorded. Shape (facts,)."""
        facts = self.snapshot.facts
        return np.where(np.isnan(facts.valid_at_s), facts.created_at_s, facts.valid_at_s)

    @property
    def end_s(self) -> Floats:
        """When each fact ends, else when it was retired; NaN where neither. Shape (facts,)."""
        facts = self.snapshot.facts
        return np.where(np.isnan(facts.invalid_at_s), facts.expired_at_s, facts.invalid_at_s)

    @property
    def share(self) -> Floats:
        """How much of an episode rests on each memory, above 0 to 1."""
        facts, entity_episodes = self.snapshot.facts, self.touched.entity_episodes
        episodes_count = len(self.snapshot.episodes)
        alike = np.ones(len(self.snapshot.entities))
        return np.concatenate(
            [
                shares(entity_episodes, alike, episodes_count),
                shares(facts.episodes, self.hearing.words_counts(facts.text), episodes_count),
            ]
        )

    @cached_property
    def ended(self) -> Bools:
        """Facts that are no longer true at this moment; entities never end."""
        never = np.zeros(len(self.snapshot.entities), np.bool_)
        return np.concatenate([never, self.end_s <= self.now_s])

    @cached_property
    def schemas(self) -> tuple[Schema, ...]:
        """Repeated patterns behind the episodes."""
        return SchemaExtractor(self.config.schemas).extract(self.snapshot)

    @cached_property
    def standing(self) -> Standing:
        """How each memory stands now, from exactly what is kept about it."""
        kept = Kept.of(
            last_touch_s=self.last_touch_s,
            frequency=self.frequency,
            correction=self.scorer.correction(self.corrected),
            emotion=self.scorer.emotion(self.emotion_hits),
            stability=self.stability,
            association=self.association,
            bonus=self.bonus,
            share=self.share,
            interference=np.ones(len(self.association)),
            ended=self.ended.astype(np.float64),
        )
        outline = self.snapshot.outline()
        alone = Standing(outline, kept, self.now_s, self.config, self.usage)
        if not self.near_duplicates.pairs:
            return alone
        lasts_until_s = kept.last_touch_s + alone.lasts_days * SECONDS_PER_DAY
        pairs, config = self.near_duplicates.pairs, self.config.interference
        kept = kept.weakened(interference(pairs, outline.memory_uuids, lasts_until_s, config))
        return Standing(outline, kept, self.now_s, self.config, self.usage)

    @cached_property
    def traces(self) -> TraceTable:
        """What is to be kept about each memory."""
        return self.standing.kept.table(self.standing.outline, self.snapshot.memory_kinds)
