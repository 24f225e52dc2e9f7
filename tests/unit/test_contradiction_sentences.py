"""What an edge's sentence says counts, and not what its relation seems to say.

Every newer sentence stands on an edge whose relation and value alone would replace the older one.
"""

from __future__ import annotations

from typing import Literal

import pytest

from synapse.hippocampus.config import ContradictionConfig, RelationsConfig
from synapse.hippocampus.contradiction import ContradictionDetector
from synapse.hippocampus.relations import RelationLearner
from tests.support.fact_graphs import Said, at, fact_graph

NOW = at(100.0)
CONFIG = ContradictionConfig()
DETECTOR = ContradictionDetector(CONFIG)

Outcome = Literal["none", "review", "written"]

OLDER = {
    "Alice lives": Said("Alice", "LIVES_IN", "Paris", "Alice lives in Paris"),
    "Alice works": Said("Alice", "WORKS_AT", "Acme", "Alice works at Acme"),
    "Billing stores": Said("Billing", "HAS_HOST", "alpha", "Billing runs on the host alpha"),
    "Acme's CEO": Said("Acme", "HAS_CEO", "Ann", "The CEO of Acme is Ann"),
    "Alice's phone": Said("Alice", "HAS_PHONE", "555-0100", "Alice's phone number is 555-0100"),
}
NEWER = {"Alice lives": "Rome", "Alice works": "Zeta", "Billing stores": "beta",
         "Acme's CEO": "Bob", "Alice's phone": "555-0199"}  # fmt: skip


def outcome(old: Said, value: str, text: str, relation: str = "") -> Outcome:
    """What becomes of a fact when a newer one gives its property another value."""
    new = Said(old.source, relation or old.relation, value, text, valid=30, recorded=30)
    graph = fact_graph([old._replace(valid=0, recorded=0), new])
    relations = RelationLearner(RelationsConfig()).learn(graph, NOW)
    findings = DETECTOR.detect(graph, NOW, relations).findings
    assert not [f for f in findings if f.fact == 1], "the newer fact never loses"
    (finding,) = findings or (None,)
    if finding is None or finding.verdict == "duplicate":
        return "none"
    sure = finding.verdict == "missed" and finding.confidence >= CONFIG.resolve_confidence
    return "written" if sure else "review"


def told(key: str, text: str) -> Outcome:
    return outcome(OLDER[key], NEWER[key], text)


WRITTEN = {
    "Alice lives": [
        "Alice lives in Rome", "Alice now lives in Rome", "Alice has lived in Rome since May",
        "Since January 2026, Alice lives in Rome.", "Alice moved to Rome",
        "Alice relocated to Rome for work",
        "Alice is living in Rome with her husband", "As of last month Alice resides in Rome",
        "Alice has moved from Paris to Rome", "Alice's residence is in Rome", "", "Rome",
        "Alice left the old town. She lives in Rome now.",
        "Alice sold the flat and lives in Rome",
    ],
    "Alice works": [
        "Alice works at Zeta", "Alice works for Zeta as a data engineer",
        "Alice is employed by Zeta",
        "Alice started a new job at Zeta", "Zeta hired Alice", "Alice is now an engineer at Zeta",
        "Alice joined Zeta as a nurse", "Alice works at Zeta with her brother",
    ],
    "Billing stores": [
        "Billing runs on the host beta", "The host of Billing is beta", "Billing's host is beta",
        "beta is the host of Billing", "Billing has migrated to the host beta",
    ],
    "Acme's CEO": [
        "Bob is the CEO of Acme", "Acme appointed Bob as its CEO", "Bob became CEO of Acme",
        "Bob leads Acme as its chief executive", "The new CEO of Acme is Bob",
    ],
    "Alice's phone": ["Alice's phone number is 555-0199", "The phone number of Alice is 555-0199"],
}  # fmt: skip

OTHER_SUBJECT = {
    "Alice lives": [
        "Alice's mother lives in Rome", "Alice's best friend Bob lives in Rome",
        "The brother of Alice lives in Rome", "Bob, a friend of Alice, lives in Rome",
        "Her mother lives in Rome", "Alice’s former boss lives in Rome",
    ],
    "Alice works": ["Alice's husband works at Zeta", "Alice's daughter was hired by Zeta"],
}  # fmt: skip
NOT_SO = {
    "Alice lives": [
        "In the novel, Alice lives in Rome", "Alice pretends to live in Rome",
        "In her dream Alice lives in Rome", "In the game Alice lives in Rome",
        "Alice jokes that she lives in Rome", "Alice is said to live in Rome",
        "It is not true that Alice lives in Rome", "It is false that Alice lives in Rome",
        "The claim that Alice lives in Rome was wrong", "Alice denies living in Rome",
        "For the sake of the example, Alice lives in Rome", "Let's say Alice lives in Rome",
        "Alice seems to live in Rome", "Apparently Alice lives in Rome",
        "Alice refused to move to Rome", "Alice almost moved to Rome", "Alice nearly moved to Rome",
        "Alice decided against moving to Rome", "Alice was offered an apartment in Rome",
        "TODO: move Alice to Rome", "Alice declined to relocate to Rome",
        "Alice hesitates to move to Rome", "Alice's move to Rome was cancelled",
        "Alice failed to move to Rome", "Alice hardly lives in Rome",
        "Alice is yet to move to Rome",
        "Alice rejected a move to Rome", "Alice turned down the move to Rome",
        "Alice is afraid of living in Rome", "Alice dreams of living in Rome",
    ],
    "Alice works": [
        "Zeta offers Alice a position", "Alice turned down a job at Zeta",
        "Alice was rejected by Zeta", "Alice lied about working at Zeta",
    ],
    "Billing stores": [
        "Billing was meant to run on the host beta", "FIXME: Billing runs on the host beta",
        "Billing is scheduled to migrate to the host beta", "Billing failed to migrate to beta",
    ],
}  # fmt: skip
ENDED = {
    "Alice lives": [
        "Alice moved to Oslo from Rome", "Alice left Rome", "Alice had lived in Rome",
        "Alice moved away from Rome", "Alice lives in Paris instead of Rome",
        "Alice came to Paris from Rome", "Alice moved out of Rome",
        "Alice relocated from Rome to Paris", "Alice lives in Paris, not in Rome",
        "Alice's previous home was in Rome", "Alice lives in Paris after ten years in Rome",
        "Alice sold her house in Rome", "Alice has left Rome for Paris",
        "Alice gave up her flat in Rome", "Alice quit Rome",
    ],
    "Alice works": [
        "Alice joined Acme from Zeta", "Alice had worked at Zeta", "Alice retired from Zeta",
        "Alice's contract with Zeta ended", "Alice left her job at Zeta",
        "Alice came over from Zeta",
    ],
    "Billing stores": [
        "Billing replaced beta with alpha", "Billing migrated from beta to alpha",
        "Billing dropped beta", "Billing uses the host alpha rather than beta",
        "beta was replaced by alpha in Billing", "Billing stopped using beta",
    ],
}  # fmt: skip
UNCERTAIN = {
    "Alice lives": [
        "Alice met Bob, who lives in Rome", "Alice says her sister lives in Rome",
        "Alice has a cousin living in Rome", "Alice knows people in Rome", "Bob lives in Rome",
        "Bob claims Alice lives in Rome", "According to Bob, Alice lives in Rome",
        "Alice's character lives in Rome", "Alice told everyone she lives in Rome",
        "Alice plays a detective who lives in Rome", "Alice assumes she will live in Rome",
        "\"Alice lives in Rome\" is the first sentence of the book", "Alice is flying to Rome",
        "Alice's plan is to live in Rome", "Alice lives partly in Rome",
        "Alice lives near Rome's twin",
    ],
    "Alice works": [
        "Bob told Alice that he works at Zeta", "Alice married Bob, an engineer at Zeta",
        "Alice's CV states that she works at Zeta", "Alice starts at Zeta next month",
        "Alice is due to join Zeta", "Alice was fired by Zeta", "Alice is a patient at Zeta",
    ],
    "Billing stores": [
        "The replica of Billing runs on the host beta", "Shipping, unlike Billing, runs on beta",
        "Billing reads from Orders, which runs on the host beta", "Billing is migrating to beta",
        "Billing can run on the host beta", "Billing supports the host beta",
    ],
    "Acme's CEO": [
        "The CEO of Acme's parent company is Bob", "Bob is the CEO of Acme Germany's biggest rival",
        "The predecessor of Acme's CEO is Bob", "Bob was the CEO of Acme",
    ],
    "Alice's phone": ["Alice's mother's phone number is 555-0199"],
}  # fmt: skip


def listed(family: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(key, text) for key, texts in family.items() for text in texts]


@pytest.mark.parametrize(("key", "text"), listed(WRITTEN))
def test_a_plain_sentence_is_certain(key: str, text: str) -> None:
    assert told(key, text) == "written"


@pytest.mark.parametrize(("key", "text"), listed(OTHER_SUBJECT) + listed(NOT_SO) + listed(ENDED))
def test_a_sentence_that_says_something_else_replaces_nothing(key: str, text: str) -> None:
    assert told(key, text) == "none"


@pytest.mark.parametrize(("key", "text"), listed(UNCERTAIN))
def test_a_sentence_that_is_not_understood_is_never_certain(key: str, text: str) -> None:
    assert told(key, text) != "written"


@pytest.mark.parametrize(("key", "text"), listed(OTHER_SUBJECT) + listed(NOT_SO))
def test_what_was_never_said_of_the_subject_does_not_end_either(key: str, text: str) -> None:
    older = OLDER[key]
    said = older._replace(target=NEWER[key], text=text)
    assert outcome(said, older.target, older.text) != "written"


def test_sentences_that_differ_in_their_value_alone_need_not_be_understood() -> None:
    old = Said("Ann", "WORKS_AT", "Acme", "Ann works under the flumious contract of Acme")
    assert outcome(old, "Zeta", "Ann works under the flumious contract of Zeta") == "written"
    assert outcome(old, "Zeta", "Ann works under the uffish contract of Zeta") == "review"


def test_a_part_of_a_longer_name_is_enough() -> None:
    old = Said("Ann Lee", "WORKS_AT", "Acme Holding", "Ann Lee works at Acme Holding")
    assert outcome(old, "Zeta Partners", "Ann works at Zeta") == "written"
    assert outcome(old, "Zeta Partners", "Bob works at Zeta") == "review"
