"""Phrases that end something: meant so, about the fact's own entities, and about all of it."""

from __future__ import annotations

import pytest

from tests.support.fact_graphs import Said
from tests.unit.test_contradiction_sentences import Outcome, outcome

USES = Said("Billing", "USES", "PostgreSQL", "Billing uses PostgreSQL")
WORKS = Said("Ann", "WORKS_AT", "Acme", "Ann works at Acme")


def replaced(text: str) -> Outcome:
    return outcome(USES, "MongoDB", text)


def denied(old: Said, text: str, relation: str = "") -> Outcome:
    return outcome(old, old.target, text, relation)


@pytest.mark.parametrize(
    "text",
    [
        "Billing uses MongoDB instead of PostgreSQL", "Billing replaced PostgreSQL with MongoDB",
        "PostgreSQL was replaced by MongoDB in Billing", "In Billing, MongoDB replaces PostgreSQL",
        "Billing switched from PostgreSQL to MongoDB", "It migrated to MongoDB from PostgreSQL",
        "The team migrated Billing from PostgreSQL to MongoDB",
        "Last week Billing moved from PostgreSQL to MongoDB.",
        "Billing migrated to MongoDB from PostgreSQL",
        "Billing was ported from PostgreSQL to MongoDB",
        "Ann ported Billing to MongoDB from PostgreSQL",
        "Billing was migrated away from PostgreSQL to MongoDB",
    ],
)  # fmt: skip
def test_a_change_told_plainly_is_certain(text: str) -> None:
    assert replaced(text) == "written"


@pytest.mark.parametrize(
    "text",
    [
        # quoted
        'A sticker says "MongoDB instead of PostgreSQL"',
        'Billing stores the text "replaced PostgreSQL with MongoDB"',
        "The banner “switched from PostgreSQL to MongoDB” stands in MongoDB",
        # advice, possibility, description
        "Use MongoDB instead of PostgreSQL", "Switch from PostgreSQL to MongoDB",
        "Please use MongoDB instead of PostgreSQL in Billing",
        "Always use MongoDB instead of PostgreSQL",
        "To use MongoDB instead of PostgreSQL, Billing needs an adapter",
        "Let Billing use MongoDB instead of PostgreSQL",
        "Using MongoDB instead of PostgreSQL is an option for Billing",
        "Billing allows using MongoDB instead of PostgreSQL",
        "The guide explains replacing PostgreSQL with MongoDB",
        "Billing makes switching from PostgreSQL to MongoDB easy",
        # another subject
        "Shipping uses MongoDB instead of PostgreSQL",
        "Billing talks to Shipping, which replaced PostgreSQL with MongoDB",
        "Billing reads MongoDB since Shipping switched from PostgreSQL to MongoDB",
        "Billing's competitor replaced PostgreSQL with MongoDB",
        "The fork of Billing uses MongoDB instead of PostgreSQL",
        "Billing's test suite uses MongoDB instead of PostgreSQL",
        # not so, not all of it
        "Billing uses not only PostgreSQL but MongoDB",
        "It is not true that Billing replaced PostgreSQL with MongoDB",
        "It is false that Billing switched from PostgreSQL to MongoDB",
        "Billing adopted MongoDB without dropping PostgreSQL",
        "Nobody replaced PostgreSQL with MongoDB in Billing",
        "Billing almost switched from PostgreSQL to MongoDB",
        "Billing refused to switch from PostgreSQL to MongoDB",
        "Billing pretends to use MongoDB instead of PostgreSQL",
        "In the story Billing replaced PostgreSQL with MongoDB",
        "Bob claims Billing replaced PostgreSQL with MongoDB",
        "TODO: Billing uses MongoDB instead of PostgreSQL",
        "Billing's switch from PostgreSQL to MongoDB was cancelled",
        "Billing uses MongoDB instead of PostgreSQL in staging",
        "Billing uses MongoDB instead of PostgreSQL for reports",
    ],
)  # fmt: skip
def test_a_phrase_of_change_alone_is_not_certain(text: str) -> None:
    assert replaced(text) != "written"


@pytest.mark.parametrize(
    ("relation", "text"),
    [
        ("WORKS_AT", "Ann no longer works at Acme"), ("RESIGNED_FROM", "Ann resigned from Acme"),
        ("FIRED_BY", "Ann was fired by Acme"), ("LAID_OFF", "Acme laid off Ann"),
        ("LEFT", "Ann left Acme"), ("LEFT", "Ann left Acme last year"),
        ("QUIT", "Ann quit Acme in May"), ("LEFT", "Ann left Acme because of the commute"),
    ],
)  # fmt: skip
def test_an_end_told_plainly_is_certain(relation: str, text: str) -> None:
    assert denied(WORKS, text, relation) == "written"


@pytest.mark.parametrize(
    ("relation", "text"),
    [
        ("VISITED", "Ann left Acme early"), ("WROTE_TO", "Ann left Acme a note"),
        ("WROTE_TO", "Ann left a note at Acme"), ("LEFT", "Ann left Acme at noon"),
        ("LEFT", "Ann left Acme for lunch"), ("LEFT", "Ann left her bag at Acme"),
        ("LEFT", "Ann left the building of Acme"), ("LEFT", "Ann's boss left Acme"),
        ("LEFT", "Bob left Acme, so Ann took his desk"), ("LEFT", "Leave Acme, Ann"),
        ("WORKS_AT", "Ann was sad when Bob left Acme"), ("LEFT", "In the play Ann left Acme"),
        ("WORKS_AT", "Ann heard that Bob resigned from Acme"), ("LEFT", "Ann almost left Acme"),
        ("WORKS_AT", "Ann fired the caterer of Acme"), ("LEFT", "Bob claims Ann left Acme"),
        ("WORKS_AT", "Ann stopped working at Acme's Berlin office"),
        ("WORKS_AT", "Ann stopped eating in the canteen at Acme"),
        ("WORKS_AT", "Ann does not work at Acme on Fridays"),
    ],
)  # fmt: skip
def test_an_end_that_may_be_another_is_not_certain(relation: str, text: str) -> None:
    assert denied(WORKS, text, relation) != "written"


@pytest.mark.parametrize(
    "text",
    [
        "Ann has not left Acme", "Ann does not like working at Acme", "Ann didn't know Acme before",
        "Ann is not the only engineer at Acme", "Ann is not yet a manager at Acme",
        "Ann does not only work at Acme", "Ann does not always work at Acme",
        "It is not true that Ann left Acme", "Not everyone knows that Ann works at Acme",
        "Not long ago Ann began to work at Acme", "Ann works at Acme, not Zeta",
        "Ann works at Acme not for money but for fame", "Ann never stopped working at Acme",
    ],
)  # fmt: skip
def test_a_denial_of_something_else_ends_nothing(text: str) -> None:
    assert denied(WORKS, text) == "none"


def test_one_other_number_is_certain_and_two_are_not() -> None:
    old = Said("A", "HAS_ROUTE", "B", "A reaches B on port 80 in 3 ms")
    assert denied(old, "A reaches B on port 81 in 3 ms") == "written"
    assert denied(old, "A reaches B on port 81 in 4 ms") == "review"
