"""Facts that look like an older and a newer value, and of which both are true."""

from __future__ import annotations

import pytest

from synapse.hippocampus.config import ContradictionConfig, RelationsConfig
from synapse.hippocampus.contradiction import ContradictionDetector
from synapse.hippocampus.relations import RelationLearner
from tests.support.fact_graphs import Said, at, fact_graph

NOW = at(100.0)
CONFIG = ContradictionConfig()
DETECTOR = ContradictionDetector(CONFIG)
HOME = [
    Said("Ann", "LIVES_IN", "Paris", "Ann lives in Paris", valid=0, recorded=0),
    Said("Ann", "LIVES_IN", "France", "Ann lives in France", valid=30, recorded=30),
]
JOB = [
    Said("Ann", "WORKS_AT", "Acme", "Ann works at Acme", valid=0, recorded=0),
    Said("Ann", "WORKS_AT", "Orbit", "Ann works at Orbit", valid=30, recorded=30),
]


def written(facts: list[Said]) -> list[int]:
    """Rows of the facts that ``--resolve`` would end."""
    graph = fact_graph(facts)
    relations = RelationLearner(RelationsConfig()).learn(graph, NOW)
    found = DETECTOR.detect(graph, NOW, relations).findings
    sure = CONFIG.resolve_confidence
    return [f.fact for f in found if f.verdict == "missed" and f.confidence >= sure]


def told_again(subject: str, relation: str, target: str, older: str, newer: str) -> list[Said]:
    return [
        Said(subject, relation, target, older, valid=0, recorded=0),
        Said(subject, relation, target, newer, valid=30, recorded=30),
    ]


@pytest.mark.parametrize("between", ["COMPETES_WITH", "KNOWS", "VISITED_BY", "PARTNERS_WITH"])
def test_values_with_another_relation_between_them_follow_each_other(between: str) -> None:
    assert written([*JOB, Said("Orbit", between, "Acme", "", valid=-5)]) == [0]


@pytest.mark.parametrize("facts", [HOME, JOB])
def test_values_with_nothing_between_them_follow_each_other(facts: list[Said]) -> None:
    assert written(facts) == [0]


@pytest.mark.parametrize(
    "between",
    [
        Said("Paris", "LOCATED_IN", "France"), Said("Paris", "CITY_IN", "France"),
        Said("France", "HAS_CAPITAL", "Paris"), Said("France", "CONTAINS", "Paris"),
        Said("Paris", "partOf", "France"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("reverse", [False, True])
def test_a_place_inside_another_one_is_no_other_place(between: Said, reverse: bool) -> None:
    facts = HOME
    if reverse:
        old, new = HOME
        facts = [new._replace(valid=0, recorded=0), old._replace(valid=30, recorded=30)]
    assert written([*facts, between]) == []


@pytest.mark.parametrize(
    "between", ["SUBSIDIARY_OF", "PART_OF", "ACQUIRED", "RENAMED_TO", "ALSO_KNOWN_AS", "BELONGS_TO"]
)
def test_a_part_or_another_name_of_a_value_is_no_other_value(between: str) -> None:
    assert written([*JOB, Said("Orbit", between, "Acme", "", valid=10)]) == []


@pytest.mark.parametrize(
    "facts",
    [
        told_again("Billing", "HOSTED_ON", "alpha", "Billing is hosted on alpha on port 80",
                   "Billing is hosted on alpha on port 81"),
        told_again("A", "LOCATED_IN", "B", "A is located in B 30 km from here",
                   "A is located in B 40 km from here"),
        told_again("A", "LOCATED_IN", "B", "A is located in B on floor 3",
                   "A is located in B on floor 4"),
    ],
)  # fmt: skip
def test_another_quantity_of_one_property_replaces(facts: list[Said]) -> None:
    assert written(facts) == [0]


@pytest.mark.parametrize(
    "facts",
    [
        told_again("Ann", "LIVES_IN", "Paris", "Ann lived in Paris in 2010",
                   "Ann lived in Paris in 2015"),
        told_again("Ann", "WORKS_AT", "Acme", "Ann works at Acme on project 7",
                   "Ann works at Acme on project 9"),
        told_again("Billing", "HOSTED_ON", "alpha", "Version 2 of Billing is hosted on alpha",
                   "Version 3 of Billing is hosted on alpha"),
        told_again("Billing", "HOSTED_ON", "alpha", "Billing is hosted on rack 3 of alpha",
                   "Billing is hosted on rack 4 of alpha"),
        told_again("Billing", "LOCATED_IN", "Oslo", "Shard 1 of Billing is located in Oslo",
                   "Shard 2 of Billing is located in Oslo"),
        told_again("Book", "WRITTEN_BY", "Ann", "Chapter 1 of Book was written by Ann",
                   "Chapter 2 of Book was written by Ann"),
        told_again("Ann", "HAS_BOSS", "Bob", "Ann's boss Bob meets her at 9:00",
                   "Ann's boss Bob meets her at 14:00"),
        told_again("Ann", "LIVES_IN", "Paris", "Ann's sister lives in Paris on floor 3",
                   "Ann's sister lives in Paris on floor 4"),
    ],
)  # fmt: skip
def test_a_number_that_only_tells_things_apart_replaces_nothing(facts: list[Said]) -> None:
    assert written(facts) == []
