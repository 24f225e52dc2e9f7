"""Whoever asks to which property a fact gives a value gets one answer, however names are spelt."""

from __future__ import annotations

import pytest

pytest.importorskip("graphiti_core")

from synapse.hippocampus.config import ContradictionConfig, RelationsConfig
from synapse.hippocampus.prediction_error import PredictionErrorDetector, novelty_surprise
from synapse.hippocampus.relation_table import RelationTable
from synapse.hippocampus.relations import RelationLearner
from synapse.integrations.slot import Slot
from synapse.integrations.successors import succeeding
from tests.support.fact_graphs import Said, at, fact_graph

DETECTOR = PredictionErrorDetector(ContradictionConfig())
KNOWN = {
    "nothing": (),
    "another": ("LIKES",),
    "the first": ("LIKES", "LIVES_IN", "FROBS_WITH", "SIEHT", "→"),
    "both": ("LIKES", "LIVES_IN", "livesIn", "FROBS_WITH", "frobs-with", "SIEHT", "sieht", "→"),
}


def learned(names: tuple[str, ...]) -> RelationTable:
    facts = [Said("Eve", name, f"value {n}", valid=n) for n, name in enumerate(names)]
    return RelationLearner(RelationsConfig()).learn(fact_graph(facts), at(50))


def told_by(old: str, new: str, table: RelationTable) -> dict[str, bool]:
    """By whom two names are taken for one property of a subject."""
    follows = [
        Said("Ann", old, "Rome", "so it is", valid=0, ended=5),
        Said("Ann", new, "Oslo", "so it is", valid=5),
    ]
    graph = fact_graph(follows)
    unended = fact_graph([fact._replace(ended=None) for fact in follows])
    judged = DETECTOR.judge_all(unended, [1], at(50), table)[0]
    return {
        "table": len(set(table.properties([old, new]).tolist())) == 1,
        "believer": Slot(graph, "id of Ann", new, table).same("id of Rome", at(1)) == "fact-0",
        "surprise": (judged.kind, judged.surprise) != ("novel", novelty_surprise(0)),
        "successors": succeeding(graph, table, ["fact-0"], at(50)) == [1],
    }


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIVES_IN", "livesIn"), ("LIVES_IN", "lives in"), ("lives-in", " LivesIn "),
        ("FROBS_WITH", "frobsWith"), ("frobs with", "Frobs-With"), ("SIEHT", "Sieht"),
        ("→", " → "),
    ],
)  # fmt: skip
def test_spellings_of_one_name_are_one_property(known: str, old: str, new: str) -> None:
    told = told_by(old, new, learned(KNOWN[known]))
    assert all(told.values()), told


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize(
    ("old", "new"),
    [("LIVES_IN", "LIKES"), ("FROBS_WITH", "FROBS"), ("→", "←"), ("FROBS_WITH", "LIVES_IN")],
)
def test_names_that_say_something_else_are_another_one(known: str, old: str, new: str) -> None:
    told = told_by(old, new, learned(KNOWN[known]))
    assert not any(told.values()), told


@pytest.mark.parametrize(
    ("known", "is_one"), [("nothing", False), ("another", False), ("the first", True)]
)
@pytest.mark.parametrize(
    ("old", "new"), [("LIVES_IN", "is living in"), ("FROBS_WITH", "frobs.with")]
)
def test_other_forms_are_one_property_once_the_graph_knows_it(
    known: str, old: str, new: str, is_one: bool
) -> None:
    told = told_by(old, new, learned(KNOWN[known]))
    assert set(told.values()) == {is_one}, told
