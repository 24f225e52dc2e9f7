"""Facts that outlive their relation: counted, named, and never the worse for it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.consolidation import ConsolidationEngine, Run
from synapse.hippocampus.full_report import full_report
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.outlived import PAGE_COUNT, Outlived
from synapse.hippocampus.ports import GraphDocument
from synapse.hippocampus.scope import Scope
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.stamps import iso_time
from synapse.store.memory import InMemoryStore
from tests.support.small_graphs import UNKNOWN, small_graph

DAY_S = 86_400.0
START_S = 19_000 * DAY_S
LASTS_DAYS = 100.0
moments = st.one_of(st.integers(0, 30).map(float), st.floats(-1e9, 1e9), st.just(UNKNOWN))


def page(outlives_s: list[float], now_s: float) -> Outlived:
    count = len(outlives_s)
    uuids = [f"f{i:05}" for i in range(count)]
    return Outlived.of(uuids, ["R"] * count, np.ones(count), np.array(outlives_s), now_s)


@given(st.lists(moments, max_size=30), moments.filter(lambda t: t == t))
def test_a_page_counts_what_is_stale_at_any_moment_for_which_it_holds(
    outlives_s: list[float], now_s: float
) -> None:
    known = page(outlives_s, 0.0)
    assert known.since_s is None and known.until_s is None
    stale = sorted((t, f"f{i:05}") for i, t in enumerate(outlives_s) if t <= now_s)
    assert known.count(now_s) == len(stale)
    assert [fact.fact for fact in known.named(now_s)] == [uuid for _, uuid in stale[:5]]


def test_a_page_ends_where_the_next_begins() -> None:
    moments_s = [float(t) for t in range(3 * PAGE_COUNT)]
    for now_s in (-1.0, 999.0, 999.5, 1_000.0, 2_500.0, 2_999.0, 9e9):
        known = page(moments_s[::-1], now_s)
        assert known.since_s is None or known.since_s <= now_s
        assert known.until_s is None or now_s < known.until_s
        assert len(known.page_s) <= PAGE_COUNT
        assert known.count(now_s) == bisect_right(moments_s, now_s)
    assert page(moments_s, 998.0) == page(moments_s, 5.0)


def test_what_is_kept_survives_json() -> None:
    known = page([1e9 / 3.0, UNKNOWN, 7.1], 8.0)
    assert Outlived.model_validate(known.model_dump(mode="json")) == known


def relation_that_lasts(active_count: int = 3) -> GraphSnapshot:
    """Facts of one relation: eight ended after a hundred days, the others never did."""
    facts_count = 8 + active_count
    graph = small_graph(
        3, [(0, 1, [0]), (1, 2, [0])] * 4 + [(2, 0, [0])] * active_count, [START_S],
        fact_valid_s=[START_S] * facts_count,
    )  # fmt: skip
    graph.facts.invalid_at_s[:8] = START_S + LASTS_DAYS * DAY_S
    return graph


def test_only_active_facts_of_known_age_and_relation_are_stale() -> None:
    graph, config = relation_that_lasts(), HippocampusConfig()
    graph.facts.valid_at_s[-1] = graph.facts.created_at_s[-1] = UNKNOWN
    then, later = (
        Thoughts(graph, START_S + days * DAY_S, config)
        for days in (LASTS_DAYS + 0.5, LASTS_DAYS + 500.0)
    )
    for thoughts in (then, later):
        assert np.flatnonzero(thoughts.stale).tolist() == [8, 9]
    assert not Thoughts(graph, START_S + 50.0 * DAY_S, config).stale.any()


@pytest.mark.parametrize("days", [120.0, 300.0, 900.0, 4_000.0])
def test_to_be_stale_never_makes_a_memory_more_prunable(days: float) -> None:
    """Against the same graph whose relation shows no lifetime."""
    graph, now_s = relation_that_lasts(8), START_S + days * DAY_S
    no_caps = {"pruning": {"max_share_ratio": 1.0, "max_lifetime_ratio": 1.0}}
    known, unknown = (
        HippocampusConfig.model_validate({**no_caps, "relations": {"min_ends_count": count}})
        for count in (3, 99)
    )
    stale, plain = (Thoughts(graph, now_s, config) for config in (known, unknown))
    assert stale.stale.sum() == 8 and not plain.stale.any()
    assert (stale.stability >= plain.stability).all()
    assert (stale.standing.strength >= plain.standing.strength).all()
    assert (stale.standing.lasts_days >= plain.standing.lasts_days).all()
    goes, would_go = (set(t.standing.pruning.ranked_candidates.tolist()) for t in (stale, plain))
    assert goes <= would_go and bool(would_go) == (days > 200.0)


def memory_of(graph: str) -> GraphDocument:
    """People who moved after a hundred days each, and two who never did."""
    at = [iso_time(START_S), iso_time(START_S + LASTS_DAYS * DAY_S)]
    people = [{"uuid": f"p{i}", "name": f"Person {i}", "created_at": at[0]} for i in range(8)]
    towns = [{"uuid": f"t{i}", "name": f"Town {i}", "created_at": at[0]} for i in range(8)]
    episode = {"uuid": "e", "name": "e", "created_at": at[0], "valid_at": at[0]}
    facts = [
        {
            "uuid": f"f{i}", "source_node_uuid": f"p{i}", "target_node_uuid": f"t{i}",
            "name": "RENTS_FLAT_IN", "fact": f"Person {i} rents a flat in Town {i}.",
            "episodes": ["e"], "created_at": at[0], "valid_at": at[0],
            "invalid_at": at[1] if i < 6 else None, "expired_at": at[1] if i < 6 else None,
        }
        for i in range(8)
    ]  # fmt: skip
    return GraphDocument((*people, *towns), tuple(facts), (episode,))


def test_a_run_counts_and_names_them_whether_it_thinks_or_remembers(any_store, graph_name) -> None:
    any_store.write_memory(graph_name, memory_of(graph_name))
    engine = ConsolidationEngine(any_store, HippocampusConfig(), lambda: 0.0)
    at_s = START_S + LASTS_DAYS * DAY_S
    early = engine.consolidate(Run(Scope(graph_name), at_s + DAY_S, "one", prune=True))
    assert early.error is None and early.report.stale.count == 2
    for days, count in ((-0.5, 0), (0.0, 2), (30.0, 2), (400.0, 2)):
        run = Run(Scope(graph_name), at_s + days * DAY_S, "later", prune=True)
        outcome = engine.consolidate(run)
        whole = engine.consolidate(Run(Scope(graph_name), run.now_s, "x", prune=True,
                                       dry_run=True, full_lists=True))  # fmt: skip
        assert (outcome.thoughts is None) == (days > 0.0)
        assert outcome.report.stale == whole.report.stale
        assert outcome.report.stale.count == count
    named = {"relation": "RENTS_FLAT_IN", "lasts_days": 100.0, "since": iso_time(at_s)}
    assert outcome.report.stale.top == [{"fact": "f6", **named}, {"fact": "f7", **named}]
    assert "stale" not in outcome.report.reason_for_zero
    (first, _) = full_report(whole.report, whole.thoughts)["stale"]["all"]
    reason = "half of the facts of RENTS_FLAT_IN last no longer than 100 days"
    assert first == {"fact": "f6", **named, "reason": reason}


@pytest.mark.parametrize(
    ("ends_count", "reason"),
    [(3, "no active fact is older than facts of its relation become"),
     (99, "no relation shows yet how long its facts last")],
)  # fmt: skip
def test_where_nothing_is_stale_the_summary_says_why(ends_count: int, reason: str) -> None:
    store = InMemoryStore()
    fresh = {"uuid": "new", "source_node_uuid": "p1", "target_node_uuid": "t2", "fact": "new",
             "name": "RENTS_FLAT_IN", "valid_at": iso_time(START_S + 90.0 * DAY_S)}  # fmt: skip
    known = memory_of("g")
    store.write_memory("g", replace(known, facts=(*known.facts[:6], fresh)))
    config = HippocampusConfig.model_validate({"relations": {"min_ends_count": ends_count}})
    run = Run(Scope("g"), START_S + (LASTS_DAYS + 1.0) * DAY_S, "one")
    report = ConsolidationEngine(store, config, lambda: 0.0).consolidate(run).report
    assert (report.stale.count, report.reason_for_zero["stale"]) == (0, reason)
