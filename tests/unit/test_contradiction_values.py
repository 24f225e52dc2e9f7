"""Two spellings of one value, a value said more exactly, and values of two properties."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from synapse.hippocampus.rules import slots
from tests.support.fact_graphs import Said
from tests.unit.test_contradiction_sentences import outcome

SAME = [
    ("LIMIT", "50k", "50,000"), ("LIMIT", "50K", "50000"), ("VOLUME", "1.5 l", "1500 ml"),
    ("VOLUME", "1.5 litres", "1500 ml"), ("START_TIME", "3 pm", "15:00"),
    ("START_TIME", "3:30 p.m.", "15:30"), ("START_DATE", "March 5, 2026", "2026-03-05"),
    ("START_DATE", "5 March 2026", "2026-03-05"), ("START_DATE", "March 5th, 2026", "5 March 2026"),
    ("PRICE", "$5", "5 USD"), ("PRICE", "1.2 million dollars", "$1,200,000"),
    ("BUDGET", "2M", "2,000,000"), ("RATIO", "50%", "0.5"), ("DURATION", "90 minutes", "1.5 hours"),
    ("DURATION", "1h", "60 min"), ("WEIGHT", "2 kg", "2000 g"), ("COUNT", "three", "3"),
    ("TIMEZONE", "UTC+1", "UTC+01:00"), ("DISTANCE", "5 km", "5,000 meters"),
    ("COMPANY", "Acme Inc.", "Acme"),
]  # fmt: skip
SPELT_OTHERWISE = [
    ("URL", "https://acme.org", "acme.org"), ("URL", "http://acme.org/", "https://acme.org"),
    ("PHONE", "+1 555 0100 200", "+1-555-0100-200"), ("PHONE", "(555) 010-0200", "5550100200"),
    ("VERSION", "v1.2", "1.2"), ("TITLE", "Vice-President", "Vice President"),
    ("TITLE", "co-founder", "cofounder"), ("TITLE", "Ph.D.", "PhD"), ("CITY", "Zürich", "Zurich"),
    ("CITY", "St. Gallen", "Saint Gallen"), ("OWNER", "J. Smith", "Jane Smith"),
]  # fmt: skip
MORE_EXACT = [
    ("VERSION", "3", "3.12"), ("VERSION", "3.12", "3"), ("START_DATE", "2026", "March 2026"),
    ("START_DATE", "March 2026", "5 March 2026"), ("START_DATE", "2026-03", "2026-03-05"),
    ("CITY", "Berlin", "Berlin-Kreuzberg"), ("CITY", "Munich", "Munich, Germany"),
    ("HOST", "db1", "db1.acme.org"), ("IMAGE", "postgres", "postgres:16"),
]  # fmt: skip
OTHER = [
    ("LIMIT", "50k", "60,000"), ("START_TIME", "3 pm", "3 am"), ("VOLUME", "1.5 l", "150 ml"),
    ("START_DATE", "5 March 2026", "2026-03-06"), ("URL", "https://acme.org", "https://acme.com"),
    ("PHONE", "+1 555 0100 200", "+1 555 0100 201"), ("PRICE", "$5", "$6"),
    ("VERSION", "v1.2", "1.3"), ("VERSION", "1.2", "1.20"), ("VERSION", "3.9", "3.10"),
    ("COUNT", "three", "4"), ("VERSION", "2", "3.12"), ("IMAGE", "postgres:15", "postgres:16"),
    ("EMAIL", "ann@acme.org", "ann@acme.com"), ("START_DATE", "April 2026", "5 March 2026"),
]  # fmt: skip


def changed(noun: str, old: str, new: str) -> str:
    words = noun.lower().replace("_", " ")
    before = Said("Billing", f"HAS_{noun}", old, f"The {words} of Billing is {old}")
    return outcome(before, new, f"The {words} of Billing is {new}")


@pytest.mark.parametrize(("noun", "old", "new"), SAME)
def test_one_value_in_other_words_or_units_replaces_nothing(noun: str, old: str, new: str) -> None:
    assert changed(noun, old, new) == "none"
    assert changed(noun, new, old) == "none"


@pytest.mark.parametrize(("noun", "old", "new"), SPELT_OTHERWISE)
def test_another_spelling_waits_for_a_decision(noun: str, old: str, new: str) -> None:
    assert changed(noun, old, new) == "review"


@pytest.mark.parametrize(("noun", "old", "new"), MORE_EXACT)
def test_a_value_said_more_exactly_is_never_certain(noun: str, old: str, new: str) -> None:
    assert changed(noun, old, new) != "written"


@pytest.mark.parametrize(("noun", "old", "new"), OTHER)
def test_another_value_is_certain(noun: str, old: str, new: str) -> None:
    assert changed(noun, old, new) == "written"


@pytest.mark.parametrize(
    ("relation", "old", "was", "new", "text"),
    [
        ("HAS_PORT", "8080", "The HTTP port of X is 8080", "9090", "The metrics port of X is 9090"),
        ("HAS_PORT", "8080", "X uses HTTP port 8080", "9090", "X uses metrics port 9090"),
        ("HAS_VERSION", "3.11", "X runs Python 3.11", "20", "X runs Node 20"),
        ("HAS_EMAIL", "a@b", "X's work mail is a@b", "c@d", "X's private mail is c@d"),
        ("HAS_HOST", "h1", "The read host of X is h1", "h2", "The write host of X is h2"),
        ("HAS_LIMIT", "10", "X's upload limit is 10", "99", "X's download limit is 99"),
        ("HAS_PORT", "8080", "The HTTP port of X is 8080", "9090", "The port of X is 9090"),
    ],
)
def test_properties_that_differ_by_a_noun_are_two(
    relation: str, old: str, was: str, new: str, text: str
) -> None:
    assert outcome(Said("X", relation, old, was), new, text) != "written"


@given(st.text("ab_ 1é-.", max_size=12), st.text("ab_ 1é-.", max_size=4))
@example("3.12", "3")
@example("a ab", "a")
def test_a_name_is_found_where_it_stands_by_itself(text: str, name: str) -> None:
    alone = name != "" and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
    assert slots._holds(text, name) == alone
