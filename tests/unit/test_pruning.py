"""Which memories could go, which are spared, and why."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synapse.hippocampus.config import PruningConfig
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.pruning import PruningDecision, PruningPolicy
from tests.support.fact_graphs import Said, fact_graph

UNKNOWN = float("nan")
GRAPH = fact_graph([Said("a", "USES", "b"), Said("b", "USES", "c")])
"""Memories: a, b, c, fact-0 (a, b), fact-1 (b, c)."""


def decide(
    strength: Sequence[float],
    age_days: Sequence[float] | None = None,
    salience: Sequence[float] | None = None,
    pinned: Sequence[bool] | None = None,
    graph: GraphSnapshot = GRAPH,
    threshold: float = 0.05,
) -> PruningDecision:
    count = len(strength)
    return PruningPolicy(PruningConfig(threshold=threshold)).decide(
        graph.outline(),
        np.array(strength, np.float64),
        np.array([64.0] * count if age_days is None else age_days, np.float64),
        np.array([0.5] * count if salience is None else salience, np.float64),
        None if pinned is None else np.array(pinned, np.bool_),
    )


def verdicts(decision: PruningDecision) -> list[str]:
    return [decision.verdict(row) for row in range(len(decision.reasons))]


def test_below_the_threshold_and_unprotected_is_a_candidate() -> None:
    decision = decide([0.9, 0.9, 0.9, 0.03, 0.05])
    assert verdicts(decision) == ["keep", "keep", "keep", "candidate", "keep"]
    assert decision.explain_row(3) == ("candidate: strength 0.03 below 0.05, untouched for 64 days")
    assert decision.explain_row(4) == "keep: strength 0.05 is not below 0.05"


def test_an_entity_that_carries_a_staying_fact_is_spared() -> None:
    decision = decide([0.01, 0.01, 0.01, 0.01, 0.9])
    assert verdicts(decision) == ["candidate", "spared", "spared", "candidate", "keep"]
    assert decision.explain_row(1) == "spared: strength 0.01 below 0.05, but 1 of its facts stay"


def test_a_spared_fact_protects_its_ends_too() -> None:
    decision = decide([0.01] * 5, pinned=[False, False, False, True, False])
    assert verdicts(decision) == ["spared", "spared", "candidate", "spared", "candidate"]
    assert decision.spared_by() == {"carries_facts": 2, "pinned": 1}
    assert decision.explain_row(3).endswith("but it is pinned")


def test_a_self_loop_counts_once() -> None:
    graph = fact_graph([Said("a", "IS", "a")])
    decision = decide([0.01, 0.9], graph=graph)
    assert decision.staying_facts_count.tolist() == [1]


def test_pinned_is_the_reason_named_first() -> None:
    decision = decide([0.01, 0.9, 0.9, 0.9, 0.9], pinned=[True] * 5)
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


def test_candidates_stand_weakest_first_then_least_salient_then_by_uuid() -> None:
    facts = [Said("a", "USES", "b", uuid=uuid) for uuid in "vwxyz"]
    strength = [0.9, 0.9, 0.02, 0.01, 0.02, 0.02, 0.02]
    salience = [0.5, 0.5, 0.4, 0.9, UNKNOWN, 0.1, 0.4]
    decision = decide(strength, salience=salience, graph=fact_graph(facts))
    uuids = fact_graph(facts).memory_uuids
    assert [uuids[row] for row in decision.ranked_candidates] == ["w", "y", "v", "z", "x"]


def test_every_memory_is_accounted_for() -> None:
    decision = decide([0.01, 0.01, 0.9, UNKNOWN, 0.01], age_days=[9, UNKNOWN, 9, 9, 9])
    assert (decision.kept_count, decision.spared_count) == (2, 2)
    assert decision.ranked_candidates.tolist() == [4]
    assert decision.candidates_and_spared().tolist() == [4, 0, 1]


def test_a_threshold_of_zero_prunes_nothing_and_of_one_all_that_faded() -> None:
    assert len(decide([0.0] * 5, threshold=0.0).ranked_candidates) == 0
    assert verdicts(decide([0.999] * 5, threshold=1.0)) == ["candidate"] * 5


def test_empty_graph() -> None:
    decision = decide([], graph=fact_graph([]))
    assert (decision.kept_count, decision.spared_count) == (0, 0)
    assert decision.candidates_and_spared().tolist() == []
    assert decision.spared_by() == {}
