"""What must hold for every input: bounds, order, inverses, and that no gap in the data harms."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from synapse.hippocampus.config import ForgettingConfig
from synapse.hippocampus.demand import demand
from synapse.hippocampus.forgetting import ForgettingCurve
from synapse.hippocampus.hebbian import CoActivation, co_activation
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.salience import SalienceParts, SalienceScorer
from synapse.hippocampus.stability import Stability
from synapse.hippocampus.touches import touches
from tests.support.small_graphs import UNKNOWN, small_graph, with_facts_in_order

STABILITY, SCORER = Stability(), SalienceScorer()
ROUNDING = 1e-12

any_float = st.floats()
days = st.floats(0.0, 1e6)
unit = st.floats(0.0, 1.0)
stability = st.floats(1.0, 32.0)
curves = st.sampled_from(
    [
        ForgettingCurve(ForgettingConfig(curve="exponential")),
        ForgettingCurve(ForgettingConfig(curve="power")),
        ForgettingCurve(ForgettingConfig(curve="power", power_exponent=0.5)),
    ]
)
recall = days | st.just(UNKNOWN)
time_s = st.floats(0.0, 4e9)
times_s = st.lists(time_s, max_size=12)


@given(curves, any_float, any_float, any_float, any_float)
def test_strength_is_in_the_unit_interval_whatever_comes(
    curve: ForgettingCurve, age_days: float, salience: float, stability: float, since_days: float
) -> None:
    assert 0.0 <= curve.strength(age_days, salience, stability, since_days) <= 1.0


@given(any_float, any_float, any_float, st.booleans())
def test_salience_is_in_the_unit_interval_whatever_comes(
    age_days: float, count: float, hits_count: float, is_superseded: bool
) -> None:
    parts = SalienceParts(
        SCORER.recency(age_days),
        SCORER.frequency(count),
        SCORER.correction(is_superseded),
        SCORER.emotion(hits_count),
    )
    assert 0.0 <= SCORER.total(parts) <= SCORER.importance(parts) <= 1.0


@given(curves, days, days, unit, stability)
def test_strength_falls_with_age(
    curve: ForgettingCurve, a: float, b: float, salience: float, stability: float
) -> None:
    younger, older = sorted((a, b))
    assert (
        curve.strength(older, salience, stability)
        <= curve.strength(younger, salience, stability) + ROUNDING
    )


@given(curves, days, recall, days, unit, stability)
def test_strength_falls_as_time_passes(
    curve: ForgettingCurve,
    age_days: float,
    since_days: float,
    elapsed_days: float,
    salience: float,
    stability: float,
) -> None:
    before = curve.strength(age_days, salience, stability, since_days)
    after = curve.strength(age_days + elapsed_days, salience, stability, since_days + elapsed_days)
    assert after <= before + ROUNDING


@given(curves, days, recall, unit, unit, stability, stability)
def test_salience_and_stability_never_speed_up_decay(
    curve: ForgettingCurve,
    age_days: float,
    since_days: float,
    s: float,
    t: float,
    a: float,
    b: float,
) -> None:
    (weak, strong), (loose, firm) = sorted((s, t)), sorted((a, b))
    least = curve.strength(age_days, weak, loose, since_days)
    assert curve.strength(age_days, strong, loose, since_days) >= least - ROUNDING
    assert curve.strength(age_days, weak, firm, since_days) >= least - ROUNDING


@given(curves, days, any_float, any_float, unit, stability)
def test_a_recall_never_lowers_strength_and_a_newer_one_helps_no_less(
    curve: ForgettingCurve, age_days: float, r: float, q: float, salience: float, stability: float
) -> None:
    without = curve.strength(age_days, salience, stability)
    assert curve.strength(age_days, salience, stability, r) >= without
    if not (math.isnan(r) or math.isnan(q)):
        newer, older = sorted((r, q))
        assert (
            curve.strength(age_days, salience, stability, newer)
            >= curve.strength(age_days, salience, stability, older) - ROUNDING
        )


@given(curves, st.floats(1e-6, 1.0), unit, stability)
def test_days_until_inverts_strength(
    curve: ForgettingCurve, threshold: float, salience: float, stability: float
) -> None:
    age_days = curve.days_until(threshold, salience, stability)
    assert math.isclose(curve.strength(age_days, salience, stability), threshold, rel_tol=1e-12)


@given(curves, days, unit, stability, st.sampled_from([UNKNOWN, -1.0, float("-inf"), -1e308]))
def test_missing_and_future_values_never_make_a_memory_weaker(
    curve: ForgettingCurve, age_days: float, salience: float, stability: float, missing: float
) -> None:
    known = curve.strength(age_days, salience, stability)
    assert curve.strength(missing, salience, stability) >= known
    assert curve.strength(age_days, salience, stability, missing) >= known
    assert curve.strength(age_days, UNKNOWN, stability) >= known
    assert curve.strength(age_days, salience, UNKNOWN) >= known
    assert SCORER.recency(missing) >= SCORER.recency(age_days)
    assert SCORER.frequency(UNKNOWN) >= SCORER.frequency(age_days)
    assert SCORER.emotion(UNKNOWN) >= SCORER.emotion(age_days)


@given(curves, st.lists(st.tuples(days, unit, stability, recall), max_size=40), st.data())
def test_a_memory_does_not_depend_on_its_place_in_the_column(
    curve: ForgettingCurve, rows: list[tuple[float, float, float, float]], data: st.DataObject
) -> None:
    order = np.array(data.draw(st.permutations(range(len(rows)))), np.int64)
    column = np.array(rows, np.float64).reshape(-1, 4).T
    strength = curve.strength(*column)
    np.testing.assert_array_equal(curve.strength(*column[:, order]), strength[order])
    np.testing.assert_array_equal([curve.strength(*row) for row in rows], strength)


@given(times_s, times_s, time_s, st.booleans())
def test_a_further_rehearsal_never_lowers_stability(
    episodes: list[float], recalls: list[float], further: float, is_recall: bool
) -> None:
    before = STABILITY.of(episodes, recalls)
    if is_recall:
        after = STABILITY.of(episodes, [*recalls, further])
    else:
        after = STABILITY.of([*episodes, further], recalls)
    assert after >= before - ROUNDING


@given(times_s, times_s, st.randoms(use_true_random=False))
def test_the_order_of_rehearsals_is_irrelevant(
    episodes: list[float], recalls: list[float], random: object
) -> None:
    expected = STABILITY.of(episodes, recalls)
    random.shuffle(episodes)  # type: ignore[attr-defined]
    random.shuffle(recalls)  # type: ignore[attr-defined]
    assert STABILITY.of(episodes, recalls) == expected


@given(st.lists(any_float, max_size=12), st.lists(any_float, max_size=12), any_float)
@example([-1.0], [0.0, -math.inf], math.nan)
@example([], [0.0], -math.inf)
def test_stability_is_bounded_whatever_comes(
    episodes: list[float], recalls: list[float], recorded: float
) -> None:
    known = [[t for t in times if math.isfinite(t)] for times in (episodes, recalls)]
    recorded_known = recorded if math.isfinite(recorded) else math.nan
    stability = STABILITY.of(episodes, recalls, recorded)
    assert 1.0 <= stability == STABILITY.of(*known, recorded_known) <= 32.0


@given(stability, any_float, any_float)
def test_what_lasts_and_what_comes_back_is_never_the_weaker_for_it(
    value: float, a: float, b: float
) -> None:
    durable = STABILITY.durable(value, a, 190.0)
    assert value <= durable <= 32.0
    assert value <= STABILITY.regained(value, b) <= 32.0
    longer = STABILITY.durable(value, max(a, b), 190.0)
    assert longer >= durable or math.isnan(a) or math.isnan(b)


@given(stability, unit, unit)
def test_association_and_demand_never_lower_stability(value: float, a: float, b: float) -> None:
    loose, firm = sorted((a, b))
    raised = STABILITY.raised(value, loose, 0.5)
    assert value <= raised <= STABILITY.raised(value, firm, 0.5) <= 32.0


ranks = st.one_of(st.integers(1, 1_000_000).map(float), st.sampled_from([1.0, 2.0, UNKNOWN]))
recalls = st.lists(st.tuples(time_s, ranks), max_size=12)


def demand_of(rows: list[tuple[float, float]]) -> float:
    return demand([at_s for at_s, _ in rows], [rank for _, rank in rows])


@given(recalls, time_s, ranks)
def test_a_further_recall_never_lowers_demand(
    rows: list[tuple[float, float]], at_s: float, rank: float
) -> None:
    assert demand_of([*rows, (at_s, rank)]) >= demand_of(rows) - ROUNDING


@given(recalls.filter(bool), st.data())
def test_a_better_or_known_rank_never_lowers_demand(
    rows: list[tuple[float, float]], data: st.DataObject
) -> None:
    number = data.draw(st.integers(0, len(rows) - 1))
    at_s, rank = rows[number]
    better = data.draw(st.floats(1.0, 1e6 if math.isnan(rank) else rank))
    improved = [*rows[:number], (at_s, better), *rows[number + 1 :]]
    assert demand_of(improved) >= demand_of(rows) - ROUNDING


@given(recalls, st.randoms(use_true_random=False))
def test_the_order_of_recalls_is_irrelevant_to_demand(
    rows: list[tuple[float, float]], random: object
) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert demand_of(shuffled) == demand_of(rows)


@given(st.lists(st.tuples(any_float, any_float), max_size=12))
def test_demand_is_bounded_whatever_comes(rows: list[tuple[float, float]]) -> None:
    known = [(at_s, rank) for at_s, rank in rows if math.isfinite(at_s)]
    assert 0.0 <= demand_of(rows) == demand_of(known) <= 1.0


@st.composite
def graphs(draw: st.DrawFn) -> GraphSnapshot:
    entities_count, episodes_count = draw(st.integers(1, 6)), draw(st.integers(0, 6))
    entity = st.integers(0, entities_count - 1)
    support = (
        st.lists(st.integers(0, episodes_count - 1), unique=True, max_size=4)
        if episodes_count
        else st.just([])
    )
    facts = draw(st.lists(st.tuples(entity, entity, support), max_size=10))
    some_time = st.sampled_from([UNKNOWN, 1e9, 1.5e9, 1.7e9])
    mentions = (
        draw(st.lists(st.tuples(st.integers(0, episodes_count - 1), entity), max_size=8))
        if episodes_count
        else []
    )
    return small_graph(
        entities_count,
        facts,
        draw(st.lists(some_time, min_size=episodes_count, max_size=episodes_count)),
        mentions,
        entity_created_s=draw(
            st.lists(some_time, min_size=entities_count, max_size=entities_count)
        ),
        fact_created_s=draw(st.lists(some_time, min_size=len(facts), max_size=len(facts))),
        fact_valid_s=draw(st.lists(some_time, min_size=len(facts), max_size=len(facts))),
    )


def same(a: CoActivation, b: CoActivation) -> bool:
    return (
        (a.groups_count, a.associations_count) == (b.groups_count, b.associations_count)
        and np.array_equal(a.fact_weight, b.fact_weight)
        and np.array_equal(a.entity_weight, b.entity_weight)
    )


@given(graphs(), st.data())
def test_the_order_of_facts_only_permutes_the_results(
    graph: GraphSnapshot, data: st.DataObject
) -> None:
    order = np.array(data.draw(st.permutations(range(len(graph.facts)))), np.int64)
    shuffled = with_facts_in_order(graph, order)
    first, second = co_activation(graph), co_activation(shuffled)
    assert same(
        CoActivation(
            first.groups_count,
            first.associations_count,
            first.fact_weight[order],
            first.entity_weight,
        ),
        second,
    )
    memory = np.concatenate([np.arange(len(graph.entities)), len(graph.entities) + order])
    one, two = touches(graph), touches(shuffled)
    np.testing.assert_array_equal(one.last_touch_s[memory], two.last_touch_s)
    np.testing.assert_array_equal(
        STABILITY.column(one.times_s, one.offsets)[memory],
        STABILITY.column(two.times_s, two.offsets),
    )


@given(graphs())
def test_counting_again_changes_nothing(graph: GraphSnapshot) -> None:
    assert same(co_activation(graph), co_activation(graph))


@given(graphs())
def test_weights_are_bounded_and_counted_from_distinct_events(graph: GraphSnapshot) -> None:
    result = co_activation(graph)
    for weight in (result.fact_weight, result.entity_weight):
        assert ((weight >= 0.0) & (weight < 1.0)).all()
    assert result.groups_count <= max(len(graph.episodes), len(graph.facts))
    joined = graph.facts.source != graph.facts.target
    assert (result.fact_weight[~joined] == 0.0).all()


@given(graphs())
def test_touches_are_in_order_and_the_last_one_is_the_newest(graph: GraphSnapshot) -> None:
    touched = touches(graph)
    for row in range(len(touched)):
        times = touched.times_s[touched.offsets[row] : touched.offsets[row + 1]]
        assert len(times) <= touched.episodes_count[row]
        assert (np.diff(times) >= 0.0).all()
        if 0 < len(times) == touched.episodes_count[row]:
            assert touched.last_touch_s[row] == times[-1]


@given(graphs(), st.data())
def test_a_time_that_becomes_unreadable_makes_no_memory_older(
    graph: GraphSnapshot, data: st.DataObject
) -> None:
    before = touches(graph).last_touch_s
    column = data.draw(
        st.sampled_from(
            [graph.episodes.valid_at_s, graph.entities.created_at_s, graph.facts.created_at_s]
        )
    )
    if len(column):
        column[data.draw(st.integers(0, len(column) - 1))] = UNKNOWN
    after = touches(graph).last_touch_s
    assert (np.isnan(after) | (after >= before)).all()
