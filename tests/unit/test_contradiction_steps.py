"""Which step of a slot ends a fact, and which changes are seen although no phrase tells them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.finding import Finding
from synapse.hippocampus.ledger import Entry, evidence_digest
from synapse.hippocampus.stages import Thoughts
from tests.support.fact_graphs import Said, at, fact_graph
from tests.unit.test_contradiction_sentences import outcome

NOW = at(100.0)
ROME, OSLO, BONN = (
    Said("Ann", "LIVES_IN", town, f"Ann lives in {town}", valid=day)
    for day, town in enumerate(("Rome", "Oslo", "Bonn"))
)


def found(facts: Sequence[Said], ledger: dict[str, Entry] | None = None) -> tuple[Finding, ...]:
    thoughts = Thoughts(fact_graph(facts), NOW, HippocampusConfig(), ledger=ledger or {})
    return thoughts.contradictions.findings


def pairs(facts: Sequence[Said], ledger: dict[str, Entry] | None = None) -> list[tuple[int, int]]:
    return [(f.fact, f.by) for f in found(facts, ledger)]


def rejected(facts: Sequence[Said], decision: str = "keep-old") -> dict[str, Any]:
    finding = found(facts)[0]
    digest = evidence_digest(fact_graph(facts), finding)
    entry = {"verdict": "missed", "by": None, "rule": finding.rule, "confidence": 0.9}
    return {f"fact-{finding.fact}": {**entry, "state": "decided", "decisions": {digest: decision}}}


def test_a_rejected_step_does_not_hide_the_next_one() -> None:
    ledger = rejected([ROME, OSLO])
    assert pairs([ROME, OSLO], ledger) == [(0, 1)]  # still known, as decided
    assert pairs([ROME, OSLO, BONN]) == [(0, 1), (1, 2)]
    assert pairs([ROME, OSLO, BONN], ledger) == [(0, 2), (1, 2)]


def test_a_doubtful_step_does_not_hide_a_plain_one() -> None:
    rumour = OSLO._replace(text="Bob claims that Ann lives in Oslo")
    (first,) = found([ROME, rumour])
    assert (first.by, first.verdict) == (1, "needs review")
    assert (0, 2) in pairs([ROME, rumour, BONN])


@pytest.mark.parametrize("end", [None, 500.0])
def test_an_end_to_come_elsewhere_says_nothing_about_the_relation(end: float | None) -> None:
    others = [ROME._replace(source="Bob", ended=end), OSLO._replace(source="Bob")]
    sure = {f.fact: f.confidence for f in found([ROME, OSLO, *others])}
    assert sure == {0: 0.93, 2: 0.93}


def test_a_thing_used_one_at_a_time_waits_for_review() -> None:
    old = Said("Billing", "USES_DATABASE", "PostgreSQL", "Billing uses PostgreSQL as its database")
    assert outcome(old, "MySQL", "Billing uses MySQL as its database") == "review"
    assert outcome(old, "MySQL", "Billing migrated to MySQL from PostgreSQL") == "written"
    tools = Said("Billing", "USES_LIBRARY", "numpy", "Billing uses numpy")
    assert outcome(tools, "scipy", "Billing uses scipy") == "none"


@pytest.mark.parametrize(
    ("old", "relation", "value", "text", "expected"),
    [
        (ROME, "MOVED_TO", "Desk 7", "Ann moved to Desk 7", "none"),
        (ROME, "MOVED_TO", "the red team", "Ann moved to the red team", "none"),
        (ROME, "MOVED_TO", "Python 3", "Ann moved to Python 3", "none"),
        (ROME, "MOVED_TO", "Oslo", "Ann almost moved to Oslo", "none"),
        (ROME, "MOVED_TO", "Oslo", "Ann's mother moved to Oslo", "none"),
        (ROME, "MOVED_TO", "Oslo", "Ann moved to Oslo", "review"),
    ],
)
def test_what_begins_must_be_able_to_replace(
    old: Said, relation: str, value: str, text: str, expected: str
) -> None:
    assert outcome(old, value, text, relation) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("a mother", "none"), ("vegetarian", "none"), ("manager", "review")],
)
def test_an_occupation_is_replaced_by_another_one(value: str, expected: str) -> None:
    old = Said("Ann", "HAS_ROLE", "engineer", "Ann has the role of engineer")
    assert outcome(old, value, f"Ann became {value}", "BECAME") == expected
