"""Which memories could go, which are spared, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from synapse.hippocampus.config import PruningConfig
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.pruning import Faded, PruningPolicy
from synapse.hippocampus.pruning_decision import PruningDecision
from tests.support.fact_graphs import Said, fact_graph

UNKNOWN = float("nan")
UNCAPPED: dict[str, Any] = {"max_share_ratio": 1.0, "max_lifetime_ratio": 1.0}
GRAPH = fact_graph([Said("a", "USES", "b"), Said("b", "USES", "c")])
"""Memories: a, b, c, fact-0 (a, b), fact-1 (b, c)."""
RING = fact_graph([Said(a, "USES", b) for a, b in ("ab", "bc", "ca")])
"""Memories: a, b, c, then the three facts between them."""


def column(values: Sequence[float] | None, default: float, count: int) -> np.ndarray:
    return np.array([default] * count if values is None else values, np.float64)


def decide(
    strength: Sequence[float],
    age_days: Sequence[float] | None = None,
    worth: Sequence[float] | None = None,
    pinned: Sequence[bool] | None = None,
    restored: Sequence[bool] | None = None,
    recalled_days: Sequence[float] | None = None,
    importance: Sequence[float] | None = None,
    ended: Sequence[bool] | None = None,
    archived_count: int = 0,
    graph: GraphSnapshot = GRAPH,
    threshold: float = 0.05,
    max_changes: int | None = None,
    **config: Any,
) -> PruningDecision:
    count = len(strength)
    return PruningPolicy(PruningConfig(**{**UNCAPPED, **config}), threshold).decide(
        graph.outline(),
        Faded(
            strength=np.array(strength, np.float64),
            age_days=column(age_days, 64.0, count),
            importance=column(importance, 0.5, count),
            worth=column(worth, 0.5, count),
            ended=np.array(ended or [False] * count, np.bool_),
            days_since_recall=column(recalled_days, UNKNOWN, count),
            restored=np.array(restored or [False] * count, np.bool_),
            pinned=np.array(pinned or [False] * count, np.bool_),
            archived_count=archived_count,
        ),
        max_changes,
    )


def verdicts(decision: PruningDecision) -> list[str]:
    return [decision.verdict(row) for row in range(len(decision.reasons))]


def test_below_the_threshold_and_unprotected_is_a_candidate() -> None:
    decision = decide([0.9] * 3 + [0.03, 0.9, 0.05], graph=RING)
    assert verdicts(decision) == ["keep"] * 3 + ["candidate", "keep", "keep"]
    assert decision.explain_row(3) == "candidate: strength 0.03 below 0.05, untouched for 64 days"
    assert decision.explain_row(5) == "keep: strength 0.05 is not below 0.05"


def test_an_entity_that_carries_a_staying_fact_is_spared() -> None:
    decision = decide([0.01, 0.01, 0.01, 0.01, 0.9])
    assert verdicts(decision) == ["candidate", "spared", "spared", "candidate", "keep"]
    assert decision.explain_row(1) == "spared: strength 0.01 below 0.05, but 1 of its facts stay"


def test_a_spared_fact_protects_its_ends_too() -> None:
    decision = decide([0.01] * 5, pinned=[False, False, False, True, False])
    assert verdicts(decision) == ["spared", "spared", "candidate", "spared", "candidate"]
    assert decision.spared_by() == {"carries_facts": 2, "pinned": 1}
    assert decision.explain_row(3).endswith("but it is pinned")


def test_no_entity_goes_before_its_facts() -> None:
    decision = decide([0.01] * 5, worth=[0.1, 0.2, 0.3, 0.8, 0.9])
    order = decision.ranked_candidates.tolist()
    assert sorted(order) == [0, 1, 2, 3, 4]
    assert order.index(0) > order.index(3)
    assert order.index(1) > max(order.index(3), order.index(4))


def test_a_self_loop_counts_once() -> None:
    graph = fact_graph([Said("a", "IS", "a")])
    decision = decide([0.01, 0.9], graph=graph)
    assert decision.staying_facts_count.tolist() == [1]


def test_pinned_is_the_reason_named_first() -> None:
    decision = decide([0.01] + [0.9] * 4, age_days=[UNKNOWN] * 5, pinned=[True] * 5)
    assert decision.explain_row(0).endswith("but it is pinned")
    assert verdicts(decision)[1:] == ["keep"] * 4


def test_an_unknown_age_spares() -> None:
    for age in (UNKNOWN, np.inf, -np.inf, -1.0):
        decision = decide([0.9, 0.9, 0.9, 0.01, 0.9], age_days=[1, 1, 1, age, 1])
        assert decision.verdict(3) == "spared"
        assert decision.explain_row(3).endswith("but nothing tells its age")


def test_an_unknown_or_malformed_strength_counts_as_strong() -> None:
    for strength in (UNKNOWN, np.inf, -np.inf, -0.01):
        decision = decide([0.9, 0.9, 0.9, strength, 0.9])
        assert decision.explain_row(3) == "keep: its strength is not known"


@pytest.mark.parametrize(("age_days", "verdict"), [(29.9, "spared"), (30.0, "candidate")])
def test_what_was_touched_within_the_grace_period_is_spared(age_days: float, verdict: str) -> None:
    decision = decide([0.9] * 3 + [0.01, 0.9, 0.9], age_days=[age_days] * 6, graph=RING)
    assert decision.verdict(3) == verdict


@pytest.mark.parametrize(
    ("days", "verdict"), [(0.0, "spared"), (29.9, "spared"), (30.0, "candidate")]
)
def test_what_was_recalled_within_30_days_is_spared(days: float, verdict: str) -> None:
    decision = decide([0.9] * 3 + [0.01, 0.9, 0.9], recalled_days=[days] * 6, graph=RING)
    assert decision.verdict(3) == verdict
    assert decision.spared_by() == ({"recalled": 1} if verdict == "spared" else {})


@pytest.mark.parametrize(
    ("importance", "verdict"), [(0.74, "candidate"), (0.75, "spared"), (UNKNOWN, "spared")]
)
def test_what_matters_is_never_proposed(importance: float, verdict: str) -> None:
    decision = decide([0.9] * 3 + [0.01, 0.9, 0.9], importance=[importance] * 6, graph=RING)
    assert decision.verdict(3) == verdict
    assert ("it matters" in decision.explain_row(3)) == (verdict == "spared")


def test_a_hub_is_spared() -> None:
    star = fact_graph([Said("hub", "USES", leaf) for leaf in "abc"])
    decision = decide([0.01] * 7, graph=star, hub_facts_count=3)
    hub = star.entities.name.index("hub")
    assert decision.explain_row(hub).endswith(
        "so many facts meet in it that it holds the graph together"
    )
    assert decide([0.01] * 7, graph=star, hub_facts_count=4).verdict(hub) == "candidate"


def test_the_last_active_fact_of_an_entity_that_stays_is_spared() -> None:
    pair = fact_graph([Said("a", "USES", "b"), Said("a", "RUNS", "b")])
    decision = decide([0.9, 0.01, 0.02, 0.01], worth=[1, 1, 0.3, 0.2], graph=pair)
    assert verdicts(decision) == ["keep", "spared", "spared", "candidate"]
    assert decision.spared_by() == {"carries_facts": 1, "sole_evidence": 1}


def test_a_fact_that_has_ended_is_no_evidence() -> None:
    pair = fact_graph([Said("a", "USES", "b"), Said("a", "RUNS", "b")])
    decision = decide([0.9, 0.9, 0.01, 0.9], ended=[False, False, False, True], graph=pair)
    assert decision.spared_by() == {"sole_evidence": 1}
    decision = decide([0.9, 0.9, 0.9, 0.01], ended=[False, False, False, True], graph=pair)
    assert decision.ranked_candidates.tolist() == [3]


def test_a_fact_that_has_ended_takes_no_evidence_along_when_it_goes() -> None:
    pair = fact_graph([Said("a", "USES", "b"), Said("a", "RUNS", "b")])
    decision = decide(
        [0.9, 0.9, 0.01, 0.01], worth=[1, 1, 0.5, 0.1], ended=[False] * 3 + [True], graph=pair
    )
    assert decision.ranked_candidates.tolist() == [3]
    assert decision.spared_by() == {"sole_evidence": 1}


def test_a_faded_entity_that_stays_keeps_its_last_active_fact() -> None:
    # What keeps it is a fact that has ended: without the other nothing tells what is true of it.
    graph = fact_graph([Said("a", "USES", "b"), Said("a", "RUNS", "b"), Said("b", "IS", "b")])
    decision = decide([0.01, 0.9, 0.01, 0.9, 0.9], ended=[False] * 3 + [True, False], graph=graph)
    assert decision.spared_by() == {"carries_facts": 1, "sole_evidence": 1}


def test_a_bridge_is_spared_and_a_way_round_frees_it() -> None:
    chain = [Said(a, "USES", b) for a, b in ("ab", "bc", "cd")]
    weak_middle = [0.9] * 4 + [0.9, 0.01, 0.9]
    bridge = decide(weak_middle, graph=fact_graph(chain))
    assert bridge.spared_by() == {"bridge": 1}
    round_way = fact_graph([*chain, Said("a", "KNOWS", "d")])
    assert decide([*weak_middle, 0.9], graph=round_way).ranked_candidates.tolist() == [5]


def test_of_two_ways_only_one_goes() -> None:
    ways = [Said(a, "USES", b) for a, b in ("ax", "xb", "ay", "yb", "aa", "bb")]
    graph = fact_graph(ways)
    strength = [0.9] * 4 + [0.01] * 4 + [0.9] * 2
    decision = decide(strength, worth=[1] * 4 + [0.1, 0.2, 0.3, 0.4, 1, 1], graph=graph)
    assert len(decision.ranked_candidates) == 1


def test_the_least_worth_goes_first_then_by_uuid() -> None:
    facts = [Said("a", "USES", "b", uuid=uuid) for uuid in "tvwxyz"]
    worth = [0.5, 0.5, 0.9, 0.4, 0.9, UNKNOWN, 0.1, 0.4]
    decision = decide([0.9, 0.9, 0.9, *[0.02] * 5], worth=worth, graph=fact_graph(facts))
    uuids = fact_graph(facts).memory_uuids
    assert [uuids[row] for row in decision.ranked_candidates] == ["y", "v", "z", "w", "x"]


@pytest.mark.parametrize(
    ("config", "archived_count", "count"),
    [
        ({"max_count": 2}, 0, 2),
        ({"max_share_ratio": 0.4}, 0, 4),
        ({"max_share_ratio": 0.0}, 0, 0),
        ({"max_lifetime_ratio": 0.5}, 0, 5),
        ({"max_lifetime_ratio": 0.5}, 8, 1),
        ({"max_lifetime_ratio": 0.5}, 11, 0),
    ],
)
def test_caps(config: dict[str, Any], archived_count: int, count: int) -> None:
    graph = fact_graph([Said("a", "USES", "b") for _ in range(8)])
    decision = decide([0.01] * 10, graph=graph, archived_count=archived_count, **config)
    assert len(decision.ranked_candidates) == decision.cap_count == count
    assert sum(decision.spared_by().values()) == decision.spared_count == 10 - count
    assert set(decision.spared_by()) <= {"over_cap", "carries_facts"}


def test_a_named_number_replaces_the_caps() -> None:
    graph = fact_graph([Said("a", "USES", "b") for _ in range(8)])
    capped: dict[str, Any] = {"graph": graph, "max_count": 2, "archived_count": 900}
    for max_changes, count in ((0, 0), (5, 5), (50, 10)):
        decision = decide([0.01] * 10, max_changes=max_changes, **capped)
        assert len(decision.ranked_candidates) == count
    assert len(decide([0.01] * 10, **capped).ranked_candidates) == 2


def test_every_memory_is_accounted_for() -> None:
    decision = decide([0.01, 0.01, 0.9, UNKNOWN, 0.01], age_days=[90, UNKNOWN, 90, 90, 90])
    assert (decision.kept_count, decision.spared_count) == (2, 3)
    assert decision.spared_by() == {"age_unknown": 1, "carries_facts": 1, "sole_evidence": 1}
    assert decision.candidates_and_spared().tolist() == [0, 1, 4]


def test_a_threshold_of_zero_prunes_nothing_and_of_one_all_that_faded() -> None:
    assert verdicts(decide([0.0] * 5)) == ["candidate"] * 5
    assert len(decide([0.0] * 5, threshold=0.0).ranked_candidates) == 0
    assert verdicts(decide([0.999] * 5, threshold=1.0)) == ["candidate"] * 5


def test_empty_graph() -> None:
    decision = decide([], graph=fact_graph([]))
    assert (decision.kept_count, decision.spared_count) == (0, 0)
    assert decision.candidates_and_spared().tolist() == []
    assert decision.spared_by() == {}


def test_entities_that_carry_facts_keep_no_fact_from_being_looked_at() -> None:
    star = fact_graph([Said("hub", "USES", f"leaf {n}") for n in range(200)])
    count = len(star.entities) + 200
    worth = [0.1] * len(star.entities) + [0.9] * 200
    decision = decide(
        [0.01] * count, worth=worth, graph=star, hub_facts_count=100, max_share_ratio=0.05
    )
    assert decision.cap_count == len(decision.ranked_candidates) == 20
    assert decision.spared_by() == {"hub": 1, "over_cap": 200, "carries_facts": 180}


def test_the_second_of_two_ways_stays_however_much_lies_between_them() -> None:
    # The first way goes, eight bridges may not, and only then is the second way looked at.
    chain = [Said(f"e{n}", "NEXT", f"e{n + 1}") for n in range(9)]
    ways = [Said("e9", "USES", "x"), Said("e9", "RUNS", "x"), Said("x", "IS", "x")]
    graph = fact_graph([*ways, *chain])
    entities = len(graph.entities)
    strength = [0.9] * entities + [0.01, 0.01, 0.9, 0.9] + [0.01] * 8
    worth = [1.0] * entities + [0.1, 0.3, 1.0, 1.0] + [0.2] * 8
    decision = decide(strength, worth=worth, graph=graph, max_count=2)
    assert decision.ranked_candidates.tolist() == [entities]
    assert decision.spared_by() == {"bridge": 9}


def test_facts_that_may_not_go_keep_no_other_from_being_looked_at() -> None:
    chain = [Said(f"e{n}", "NEXT", f"e{n + 1}") for n in range(60)]
    loose = [Said("x", "USES", "y") for _ in range(40)]
    graph = fact_graph([*chain, *loose])
    entities_count = len(graph.entities)
    strength = [0.9] * entities_count + [0.01] * 100
    worth = [1.0] * entities_count + [0.1] * 60 + [0.5] * 40
    decision = decide(strength, worth=worth, graph=graph, max_count=5)
    assert len(decision.ranked_candidates) == 5
    assert min(decision.ranked_candidates) >= entities_count + 60
