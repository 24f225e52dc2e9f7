"""What holds for every graph, whatever its times, texts and order."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from synapse.hippocampus.config import (
    ContradictionConfig,
    PruningConfig,
    RelationsConfig,
    SchemaConfig,
)
from synapse.hippocampus.contradiction import ContradictionDetector, Contradictions
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.pruning import Faded, PruningPolicy
from synapse.hippocampus.pruning_decision import CANDIDATE, PruningDecision
from synapse.hippocampus.relations import RelationLearner
from synapse.hippocampus.schema import SchemaExtractor
from tests.support.fact_graphs import Said, at, fact_graph
from tests.support.small_graphs import with_facts_in_order

NAMES = ["A", "B", "PostgreSQL", "MongoDB", "Redis"]
EPISODES = {"e0": 0.0, "e1": 1.0, "e2": 2.0, "e3": math.nan}
TEXTS = [
    "{s} uses {t}",
    "{s} uses {t} instead of {o}",
    "{s} replaced {o} with {t}",
    "{o} was replaced by {t}",
    "{s} uses {t}, not {o}",
    "{s} no longer uses {o}",
]

names = st.sampled_from(NAMES)
days = st.none() | st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 99.0, math.inf, -math.inf])


@st.composite
def said(draw: st.DrawFn) -> Said:
    source, target, other = draw(names), draw(names), draw(names)
    return Said(
        source,
        draw(st.sampled_from(["USES", "uses", "STORES IN", "IS_DUPLICATE_OF"])),
        target,
        draw(st.sampled_from(TEXTS)).format(s=source, t=target, o=other),
        *draw(st.tuples(days, days, days, days)),
        episodes=draw(st.lists(st.sampled_from(list(EPISODES)), unique=True, max_size=2)),
    )


@st.composite
def graphs(draw: st.DrawFn) -> GraphSnapshot:
    return fact_graph(draw(st.lists(said(), max_size=12)), EPISODES)


def detect(graph: GraphSnapshot) -> Contradictions:
    relations = RelationLearner(RelationsConfig()).learn(graph, at(10.0))
    return ContradictionDetector(ContradictionConfig()).detect(graph, at(10.0), relations)


def begun(graph: GraphSnapshot, row: int) -> tuple[float, float]:
    """When a fact began and when it was recorded, worked out one fact at a time."""
    facts, episodes = graph.facts, graph.episodes
    support = [float(episodes.valid_at_s[e]) for e in facts.episodes[row]]
    newest = max((s for s in support if math.isfinite(s)), default=math.nan)
    created = float(facts.created_at_s[row])
    times = [float(facts.valid_at_s[row]), newest, created]
    return next(t for t in times if math.isfinite(t)), created


def said_last(graph: GraphSnapshot, row: int) -> tuple[float, float]:
    """When a fact began or was said again, whichever is later, and when it was recorded."""
    start, created = begun(graph, row)
    support = [float(graph.episodes.valid_at_s[e]) for e in graph.facts.episodes[row]]
    return max([start, *(s for s in support if math.isfinite(s))]), created


def by_uuid(graph: GraphSnapshot, result: Contradictions) -> list[tuple[object, ...]]:
    uuid = graph.facts.uuid
    return [
        (uuid[f.fact], uuid[f.by] if f.by >= 0 else None, f.verdict, f.rule, f.confidence,
         f.invalid_at_s, f.evidence)
        for f in result.findings
    ]  # fmt: skip


@settings(max_examples=300)
@given(graphs())
def test_the_newer_fact_never_loses(graph: GraphSnapshot) -> None:
    for finding in detect(graph).findings:
        if finding.by >= 0:
            old, old_recorded = begun(graph, finding.fact)
            new, new_recorded = said_last(graph, finding.by)
            assert old < new or (old == new and old_recorded < new_recorded)
            if old >= begun(graph, finding.by)[0] and finding.verdict == "missed":
                assert said_last(graph, finding.fact) < (new, new_recorded)


@settings(max_examples=300)
@given(graphs())
def test_at_most_one_well_formed_finding_a_fact(graph: GraphSnapshot) -> None:
    result = detect(graph)
    rows = [finding.fact for finding in result.findings]
    assert len(rows) == len(set(rows))
    marked = {f.fact for f in result.findings if f.verdict == "superseded"}
    assert set(np.flatnonzero(result.superseded).tolist()) == marked
    for finding in result.findings:
        assert 0.0 <= finding.confidence <= 1.0
        assert math.isfinite(finding.invalid_at_s)
        assert (finding.by == -1) == (finding.verdict == "doubtful")
        assert finding.by != finding.fact


@settings(max_examples=200)
@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_of_the_facts_does_not_matter(graph: GraphSnapshot, random: object) -> None:
    order = list(range(len(graph.facts)))
    random.shuffle(order)  # type: ignore[attr-defined]
    other = with_facts_in_order(graph, np.array(order, np.int64))
    assert by_uuid(other, detect(other)) == by_uuid(graph, detect(graph))
    extractor = SchemaExtractor(SchemaConfig(min_members_count=1))
    assert extractor.extract(other) == extractor.extract(graph)


@given(graphs())
def test_the_same_graph_gives_the_same_findings(graph: GraphSnapshot) -> None:
    assert detect(graph).findings == detect(graph).findings


@settings(max_examples=300)
@given(graphs(), st.sets(st.integers(0, 11)))
def test_findings_about_some_facts_are_those_that_all_are_asked_for(
    graph: GraphSnapshot, some: set[int]
) -> None:
    about = sorted(row for row in some if row < len(graph.facts))
    relations = RelationLearner(RelationsConfig()).learn(graph, at(10.0))
    detector = ContradictionDetector(ContradictionConfig())
    found = detector.detect(graph, at(10.0), relations, about=about).findings
    assert [f for f in found if {f.fact, f.by} & set(about)] == [
        f for f in detect(graph).findings if {f.fact, f.by} & set(about)
    ]


@given(graphs(), st.data())
def test_the_order_of_the_entities_does_not_matter(
    graph: GraphSnapshot, data: st.DataObject
) -> None:
    count = len(graph.entities)
    order = np.array(data.draw(st.permutations(range(count))), np.int64)
    place = np.argsort(order)
    other = replace(
        graph,
        entities=replace(
            graph.entities,
            uuid=[graph.entities.uuid[i] for i in order],
            name=[graph.entities.name[i] for i in order],
        ),
        facts=replace(
            graph.facts, source=place[graph.facts.source], target=place[graph.facts.target]
        ),
    )
    assume(len(graph.facts) > 0)
    assert by_uuid(other, detect(other)) == by_uuid(graph, detect(graph))
    extractor = SchemaExtractor(SchemaConfig(min_members_count=1))
    assert extractor.extract(other) == extractor.extract(graph)


values = st.none() | st.sampled_from([0.0, 0.01, 0.04, 0.05, 0.5, 1.0, -1.0, math.inf, -math.inf])


def column(data: st.DataObject, count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    drawn = data.draw(st.lists(values, min_size=count, max_size=count))
    return np.array([math.nan if v is None else v for v in drawn], np.float64)


def faded(data: st.DataObject, count: int) -> Faded:
    flags = st.lists(st.booleans(), min_size=count, max_size=count)
    return Faded(
        *(column(data, count) for _ in range(4)),
        ended=np.array(data.draw(flags), np.bool_),
        days_since_recall=column(data, count),
        restored=np.array(data.draw(flags), np.bool_),
        pinned=np.array(data.draw(flags), np.bool_),
        archived_count=data.draw(st.integers(0, 3)),
    )


configs = st.builds(
    PruningConfig,
    grace_days=st.sampled_from([0.0, 0.5]),
    recalled_days=st.sampled_from([0.0, 0.5]),
    hub_facts_count=st.integers(1, 9),
    max_share_ratio=st.sampled_from([0.0, 0.3, 1.0]),
    max_count=st.sampled_from([0, 1, 100]),
    max_lifetime_ratio=st.sampled_from([0.5, 1.0]),
)
policies = st.builds(PruningPolicy, configs, st.just(0.05))


@given(graphs(), policies, st.data())
def test_pruning_accounts_for_every_memory_and_leaves_the_unknown(
    graph: GraphSnapshot, policy: PruningPolicy, data: st.DataObject
) -> None:
    count = len(graph.memory_uuids)
    seen = faded(data, count)
    decision = policy.decide(graph.outline(), seen)
    candidates = decision.ranked_candidates
    assert decision.kept_count + decision.spared_count + len(candidates) == count
    assert len(set(candidates.tolist())) == len(candidates) <= decision.cap_count
    assert np.all((seen.strength[candidates] >= 0.0) & (seen.strength[candidates] < 0.05))
    assert np.all(np.isfinite(seen.age_days[candidates]))
    assert not seen.pinned[candidates].any()
    assert _no_staying_fact_loses_an_end(graph, decision)
    for row in range(count):
        assert decision.explain_row(row).startswith(decision.verdict(row))


@given(graphs(), configs, st.data())
def test_no_candidate_is_protected_and_none_waits_while_there_is_room(
    graph: GraphSnapshot, config: PruningConfig, data: st.DataObject
) -> None:
    count, entities_count = len(graph.memory_uuids), len(graph.entities)
    seen = faded(data, count)
    decision = PruningPolicy(config, 0.05).decide(graph.outline(), seen)
    facts_of: list[list[int]] = [[] for _ in range(entities_count)]
    for row, ends in enumerate(zip(graph.facts.source, graph.facts.target, strict=True)):
        for entity in set(ends):
            facts_of[entity].append(entities_count + row)
    goes = set(decision.ranked_candidates.tolist())
    for row in goes:
        assert seen.importance[row] < config.salient_from
        assert seen.age_days[row] >= config.grace_days
        assert not seen.days_since_recall[row] < config.recalled_days
        assert not seen.restored[row]
        if row < entities_count:
            assert len(facts_of[row]) < config.hub_facts_count
            assert set(facts_of[row]) <= goes
    for row in set(range(entities_count)) - goes:
        active = {fact for fact in facts_of[row] if not seen.ended[fact]}
        if active and not seen.strength[row] < 0.05:
            assert not active <= goes, "what is known to be true of it has gone"
    if len(goes) < decision.cap_count and count <= 4 * decision.cap_count:
        assert "over_cap" not in decision.spared_by()


@given(graphs(), policies, st.data())
def test_forgetting_a_value_never_makes_a_memory_more_prunable(
    graph: GraphSnapshot, policy: PruningPolicy, data: st.DataObject
) -> None:
    count = len(graph.memory_uuids)
    assume(count > 0)
    seen, row = faded(data, count), data.draw(st.integers(0, count - 1))
    for lost in (seen.strength, seen.age_days, seen.importance):
        kept, lost[row] = lost[row], math.nan
        assert row not in policy.decide(graph.outline(), seen).ranked_candidates
        lost[row] = kept
    before = row in policy.decide(graph.outline(), seen).ranked_candidates
    seen.worth[row] = math.nan
    assert before or row not in policy.decide(graph.outline(), seen).ranked_candidates


@given(graphs(), policies, st.data())
def test_what_stays_together_stays_connected(
    graph: GraphSnapshot, policy: PruningPolicy, data: st.DataObject
) -> None:
    decision = policy.decide(graph.outline(), faded(data, len(graph.memory_uuids)))
    entities_count = len(graph.entities)
    stays = decision.verdicts != CANDIDATE
    before = _parts(graph, np.ones(len(graph.facts), np.bool_))
    after = _parts(graph, stays[entities_count:])
    for a, b in itertools.combinations(np.flatnonzero(stays[:entities_count]).tolist(), 2):
        facts_left = decision.staying_facts_count[[a, b]]
        if before[a] == before[b] and facts_left.all():
            assert after[a] == after[b]


def _parts(graph: GraphSnapshot, facts: np.ndarray) -> list[int]:
    part = list(range(len(graph.entities)))
    for _ in part:
        for source, target in zip(
            graph.facts.source[facts], graph.facts.target[facts], strict=True
        ):
            part[source] = part[target] = min(part[source], part[target])
    return part


def _no_staying_fact_loses_an_end(graph: GraphSnapshot, decision: PruningDecision) -> bool:
    leaves = np.zeros(len(graph.memory_uuids), np.bool_)
    leaves[decision.ranked_candidates] = True
    ends_leave = leaves[graph.facts.source] | leaves[graph.facts.target]
    return not np.any(ends_leave & ~leaves[len(graph.entities) :])
