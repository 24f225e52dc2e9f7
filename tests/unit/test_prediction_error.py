"""How a new fact sits with what is known about its subject."""

from __future__ import annotations

import pytest

from synapse.hippocampus.config import ContradictionConfig, RelationsConfig
from synapse.hippocampus.prediction_error import PredictionError, PredictionErrorDetector
from synapse.hippocampus.relations import RelationLearner
from tests.support.fact_graphs import Said, at, fact_graph

DETECTOR = PredictionErrorDetector(ContradictionConfig())
ROME = Said("Ann", "LIVES_IN", "Rome", "Ann lives in Rome", valid=0, episodes=["a"])
LIKES = Said("Ann", "LIKES", "tea", "Ann likes tea", valid=0, episodes=["a"])


def judge(*facts: Said, **episodes: float) -> PredictionError:
    """The last fact is the new one."""
    graph = fact_graph(facts, {"a": 0, **episodes})
    relations = RelationLearner(RelationsConfig()).learn(graph, at(50))
    return DETECTOR.judge(graph, len(facts) - 1, at(50), relations)


def test_what_is_known_is_expected() -> None:
    error = judge(ROME, LIKES, ROME._replace(text="Ann still lives in Rome", valid=2))
    assert (error.kind, error.surprise) == ("expected", 0.0)


def test_something_unknown_is_novel_and_less_so_where_many_values_are_known() -> None:
    first = judge(ROME, LIKES)
    more = [LIKES._replace(target=t, text=f"Ann likes {t}") for t in ("milk", "rum", "water")]
    assert (first.kind, first.surprise) == ("novel", 0.5)
    later = judge(ROME, *more, LIKES)
    assert later.kind == "novel" and later.surprise == pytest.approx(0.2)


def test_a_value_that_many_facts_state_is_one_value() -> None:
    again = [LIKES._replace(text=f"Ann likes tea, said {n}") for n in ("once", "twice", "again")]
    milk = LIKES._replace(target="milk", text="Ann likes milk")
    assert judge(ROME, *again, milk).surprise == judge(ROME, LIKES, milk).surprise
    dislikes = LIKES._replace(relation="LIKES", text="Ann does not like tea any more", valid=1)
    later = milk._replace(valid=2)
    assert judge(LIKES, dislikes, later).surprise == pytest.approx(1 / 3)


def test_a_contradiction_surprises_more_the_better_the_old_fact_is_known() -> None:
    new = Said("Ann", "LIVES_IN", "Oslo", "Ann lives in Oslo", valid=9)
    once = judge(ROME, new)
    often = judge(ROME._replace(episodes=["a", "b", "c"]), new, b=1, c=2)
    assert once.kind == often.kind == "contradicts"
    assert [(f.fact, f.by) for f in once.findings] == [(0, 1)]
    assert 0.5 < once.surprise < often.surprise <= 1.0


def test_a_late_fact_contradicts_and_loses_itself() -> None:
    late = Said("Ann", "LIVES_IN", "Oslo", "Ann lived there", valid=-9)
    late = late._replace(text="Ann lives in Oslo")
    error = judge(ROME, late)
    assert error.kind == "contradicts"
    assert [(f.fact, f.by) for f in error.findings] == [(1, 0)]


def test_contradictions_among_the_others_are_not_its_matter() -> None:
    oslo = Said("Ann", "LIVES_IN", "Oslo", "Ann lives in Oslo", valid=3)
    assert judge(ROME, oslo, LIKES).kind == "novel"
