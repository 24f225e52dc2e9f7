"""What each rule finds and leaves alone, one pair of facts at a time.

The pairs are of our own making; every one could fail in both directions.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest

from synapse.hippocampus.config import ContradictionConfig, RelationsConfig
from synapse.hippocampus.contradiction import ContradictionDetector, Finding
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.relations import RelationLearner
from tests.support.fact_graphs import Said, at, fact_graph

NOW = at(100.0)
DETECTOR = ContradictionDetector(ContradictionConfig())


def detect(graph: GraphSnapshot) -> tuple[Finding, ...]:
    relations = RelationLearner(RelationsConfig()).learn(graph, NOW)
    return DETECTOR.detect(graph, NOW, relations).findings


def found(facts: Sequence[Said], **episodes: float) -> list[tuple[str, int, int]]:
    return [(f.verdict, f.fact, f.by) for f in detect(fact_graph(facts, episodes))]


def missed(old: tuple[str, str, str, str], new: tuple[str, str, str, str]) -> list[int]:
    pair = [Said(*old, valid=0, recorded=0), Said(*new, valid=9, recorded=9)]
    return [f.fact for f in detect(fact_graph(pair)) if f.verdict == "missed"]


CHANGES = {
    "newer value": (("Ann", "WORKS_AT", "Acme", "Ann works at Acme"),
                    ("Ann", "WORKS_AT", "Zeta", "Ann works at Zeta")),
    "paraphrased relation": (("Ann", "LIVES_IN", "Rome", "Ann lives in Rome"),
                             ("Ann", "RESIDES_IN", "Oslo", "Ann resides in Oslo")),
    "change verb": (("Ann", "LIVES_IN", "Rome", "Ann lives in Rome"),
                    ("Ann", "RELOCATED_TO", "Oslo", "Ann relocated to Oslo")),
    "new job": (("Ann", "WORKS_AT", "Acme", "Ann works at Acme"),
                ("Ann", "HIRED_BY", "Zeta", "Ann was hired by Zeta")),
    "rescheduled": (("standup", "SCHEDULED_AT", "9am", "The standup is at 9am"),
                    ("standup", "RESCHEDULED_TO", "10am", "The standup was rescheduled to 10am")),
    "left and joined": (("Ann", "WORKS_AT", "Acme", "Ann works at Acme"),
                        ("Ann", "JOINED", "Zeta", "Ann left Acme and joined Zeta")),
    "own target ended": (("Ann", "WORKS_AT", "Acme", "Ann works at Acme"),
                         ("Ann", "WORKS_AT", "Acme", "Ann no longer works at Acme")),
    "resigned": (("Ann", "WORKS_AT", "Acme", "Ann works at Acme"),
                 ("Ann", "LEFT", "Acme", "Ann resigned from Acme")),
    "used to": (("Ann", "LIVES_IN", "Rome", "Ann lives in Rome"),
                ("Ann", "LIVED_IN", "Rome", "Ann used to live in Rome")),
    "stopped": (("A", "USES", "Redis", "A uses Redis"),
                ("A", "USES", "Redis", "A stopped using Redis")),
    "removed": (("A", "DEPENDS_ON", "Redis", "A depends on Redis"),
                ("A", "REMOVED", "Redis", "Redis was removed from A")),
    "sold": (("Ann", "OWNS", "a boat", "Ann owns a boat"),
             ("Ann", "SOLD", "a boat", "Ann sold a boat")),
    "cancelled": (("Ann", "PLANS_TRIP_TO", "Rome", "Ann plans a trip to Rome"),
                  ("Ann", "CANCELLED_TRIP_TO", "Rome", "Ann cancelled the trip to Rome")),
    "opposite": (("Ann", "LIKES", "jazz", "Ann likes jazz"),
                 ("Ann", "DISLIKES", "jazz", "Ann dislikes jazz")),
    "enabled and disabled": (("A", "ENABLES", "tracing", "A enables tracing"),
                             ("A", "DISABLES", "tracing", "A disables tracing")),
    "negation": (("Ann", "ALLERGIC_TO", "nuts", "Ann is allergic to nuts"),
                 ("Ann", "NOT_ALLERGIC_TO", "nuts", "Ann is not allergic to nuts after all")),
    "retraction": (("Ann", "OWNS", "a dog", "Ann owns a dog"),
                   ("Ann", "OWNS", "a cat", "That was wrong, Ann owns a cat")),
    "exclusive states": (("shop", "IS", "open", "The shop is open"),
                         ("shop", "IS", "closed", "The shop is closed")),
    "other number of one pair": (("A", "TALKS_TO", "B", "A talks to B on port 80"),
                                 ("A", "TALKS_TO", "B", "A now talks to B on port 81")),
    "other state of one pair": (("A", "USES", "B", "In A the feature B is enabled"),
                                ("A", "USES", "B", "In A the feature B is disabled")),
    "rename": (("A", "NAMED", "Alpha", "A is named Alpha"),
               ("A", "NAMED", "Beta", "A is now named Beta")),
    "other count in a remark": (
        ("me", "SAID", "me", "I have 17 new postcards in my collection since spring."),
        ("me", "SAID", "me", "My collection has 25 new postcards in it since spring.")),
    "never": (("me", "SAID", "me", "I baked sourdough bread with Kim at the festival."),
              ("me", "SAID", "me", "I have never baked sourdough bread, how does it work?")),
}  # fmt: skip

NO_CHANGES = {
    "many values": (("Ann", "LIKES", "tea", "Ann likes tea"),
                    ("Ann", "LIKES", "milk", "Ann likes milk")),
    "events": (("Ann", "VISITED", "Rome", "Ann visited Rome"),
               ("Ann", "VISITED", "Oslo", "Ann visited Oslo")),
    "also": (("Ann", "WORKS_AT", "Acme", "Ann works at Acme"),
             ("Ann", "WORKS_AT", "Zeta", "Ann also works at Zeta")),
    "restatement": (("Ann", "LIVES_IN", "Rome", "Ann lives in Rome"),
                    ("Ann", "LIVES_IN", "Rome", "Ann still lives in Rome")),
    "paraphrase": (("Ann", "WORKS_AT", "Acme", "Ann works at Acme"),
                   ("Ann", "EMPLOYED_BY", "Acme", "Ann is employed by Acme")),
    "refinement": (("Ann", "LIVES_IN", "Germany", "Ann lives in Germany"),
                   ("Ann", "LIVES_IN", "Bonn, Germany", "Ann lives in Bonn, Germany")),
    "unit change": (("run", "DISTANCE", "5 km", "The run is 5 km long"),
                    ("run", "DISTANCE", "5000 m", "The run is 5000 m long")),
    "other subject": (("Ann", "LIVES_IN", "Rome", "Ann lives in Rome"),
                      ("Bob", "LIVES_IN", "Oslo", "Bob lives in Oslo")),
    "other property": (("Ann", "BORN_IN", "Rome", "Ann was born in Rome"),
                       ("Ann", "LIVES_IN", "Oslo", "Ann lives in Oslo")),
    "memory": (("Ann", "LIVES_IN", "Rome", "Ann lives in Rome"),
               ("Ann", "LIVED_IN", "Oslo", "Ann lived in Oslo as a child")),
    "past tense": (("Ann", "WORKS_AT", "Acme", "Ann works at Acme"),
                   ("Ann", "WORKED_AT", "Zeta", "Ann worked at Zeta from 2010 to 2014")),
    "plan": (("Ann", "LIVES_IN", "Rome", "Ann lives in Rome"),
             ("Ann", "PLANS_TO_MOVE_TO", "Oslo", "Ann plans to move to Oslo")),
    "condition": (("Ann", "LIVES_IN", "Rome", "Ann lives in Rome"),
                  ("Ann", "LIVES_IN", "Oslo", "If she gets the offer, Ann lives in Oslo")),
    "question": (("Ann", "LIVES_IN", "Rome", "Ann lives in Rome"),
                 ("Ann", "LIVES_IN", "Oslo", "Does Ann live in Oslo?")),
    "scopes": (("A", "RUNS_ON_PORT", "80", "A runs on port 80 in staging"),
               ("A", "RUNS_ON_PORT", "81", "A runs on port 81 in production")),
    "conditions of use": (("A", "HAS_TIMEOUT", "5s", "The timeout of A is 5s for reads"),
                          ("A", "HAS_TIMEOUT", "9s", "The timeout of A is 9s for writes")),
    "not left": (("Ann", "MARRIED_TO", "Bob", "Ann is married to Bob"),
                 ("Ann", "MARRIED_TO", "Bob", "Ann has not left Bob")),
    "left something there": (("Ann", "LIVES_IN", "Rome", "Ann lives in Rome"),
                             ("Ann", "LEFT", "an umbrella", "Ann left an umbrella in Rome")),
    "founder who left": (("Ann", "FOUNDED", "Acme", "Ann founded Acme"),
                         ("Ann", "LEFT", "Acme", "Ann left Acme")),
    "born where she left": (("Ann", "BORN_IN", "Rome", "Ann was born in Rome"),
                            ("Ann", "LEFT", "Rome", "Ann left Rome")),
    "deeds with other numbers": (
        ("Ann", "MODIFIED", "x.py", "Ann modified x.py by adding 3 lines"),
        ("Ann", "MODIFIED", "x.py", "Ann modified x.py by adding 5 lines")),
    "counts of other things": (
        ("me", "SAID", "me", "I bought 3 lamps for the living room today."),
        ("me", "SAID", "me", "I invited 5 friends to a party on Sunday.")),
    "never something else": (
        ("me", "SAID", "me", "I baked sourdough bread with Kim at the festival."),
        ("me", "SAID", "me", "I have never repaired bicycle brakes, how does it work?")),
}  # fmt: skip


@pytest.mark.parametrize("kind", CHANGES)
def test_changes_are_found_and_the_older_fact_loses(kind: str) -> None:
    assert missed(*CHANGES[kind]) == [0]


@pytest.mark.parametrize("kind", NO_CHANGES)
def test_what_can_both_be_true_is_left_alone(kind: str) -> None:
    assert missed(*NO_CHANGES[kind]) == []


def test_a_restatement_refreshes_the_fact() -> None:
    rome = Said("Ann", "LIVES_IN", "Rome", "Ann lives in Rome", valid=0, episodes=["a", "c"])
    oslo = Said("Ann", "LIVES_IN", "Oslo", "Ann lives in Oslo", valid=2, episodes=["b"])
    findings = detect(fact_graph([rome, oslo], {"a": 0, "b": 2, "c": 4}))
    assert [(f.verdict, f.fact, f.by, f.invalid_at_s) for f in findings] == [
        ("missed", 1, 0, at(4))
    ]


def test_the_episode_that_brings_the_new_value_does_not_refresh_the_old_one() -> None:
    rome = Said("Ann", "LIVES_IN", "Rome", "Ann lives in Rome", valid=0, episodes=["a", "b"])
    oslo = Said("Ann", "LIVES_IN", "Oslo", "Ann lives in Oslo", valid=2, episodes=["b"])
    assert found([rome, oslo], a=0, b=3) == [("missed", 0, 1)]


def test_values_of_one_episode_do_not_replace_each_other() -> None:
    facts = [
        Said("Ann", "LIVES_IN", place, f"Ann lives in {place}", valid=1, recorded=i, episodes=["a"])
        for i, place in enumerate(["Rome", "Oslo"])
    ]
    assert found(facts, a=1) == []
    later = Said("Ann", "LIVES_IN", "Bonn", "Ann lives in Bonn", valid=2, episodes=["b"])
    assert found([*facts, later], a=1, b=2) == [("missed", 0, 2), ("missed", 1, 2)]


def test_a_fact_that_only_says_that_it_ended_stays_until_it_begins_again() -> None:
    works = Said("Ann", "WORKS_AT", "Acme", "Ann works at Acme", valid=0)
    ended = Said("Ann", "WORKS_AT", "Acme", "Ann no longer works at Acme", valid=2)
    other = Said("Ann", "WORKS_AT", "Zeta", "Ann works at Zeta", valid=3)
    assert ("missed", 1) not in [v[:2] for v in found([works, ended, other])]
    again = Said("Ann", "WORKS_AT", "Acme", "Ann works at Acme again", valid=4)
    assert ("missed", 1, 2) in found([works, ended, again])


def test_an_end_in_the_future_is_still_valid_now() -> None:
    rome = Said("Ann", "LIVES_IN", "Rome", "Ann lives in Rome", valid=0, ended=500)
    oslo = Said("Ann", "LIVES_IN", "Oslo", "Ann lives in Oslo", valid=2)
    assert found([rome, oslo]) == [("missed", 0, 1)]


def test_one_scope_alone_waits_for_a_decision() -> None:
    anywhere = Said("A", "RUNS_ON_PORT", "80", "A runs on port 80", valid=0)
    staging = Said("A", "RUNS_ON_PORT", "81", "A runs on port 81 in staging", valid=1)
    assert found([anywhere, staging]) == [("needs review", 0, 1)]


def test_a_restated_fact_is_a_duplicate() -> None:
    works = Said("Ann", "WORKS_AT", "Acme", "Ann works at Acme", valid=0)
    hired = Said("Ann", "EMPLOYED_BY", "Acme", "Ann is employed by Acme", valid=2)
    assert found([works, hired]) == [("duplicate", 0, 1)]


def test_values_that_differ_in_spelling_alone_are_less_sure() -> None:
    config = ContradictionConfig()
    old = Said("A", "HAS_VERSION", "^1.2", "A has version ^1.2", valid=0)
    respelt = old._replace(target=">=1.2", text="A has version >=1.2", valid=1)
    (finding,) = detect(fact_graph([old, respelt]))
    assert finding.confidence < config.resolve_confidence
    (finding,) = detect(
        fact_graph([old, old._replace(target="^1.3", text="A has version ^1.3", valid=1)])
    )
    assert finding.confidence >= config.resolve_confidence


@pytest.mark.parametrize(
    "newer",
    [("Kreuzberg", "Ann lives in Kreuzberg, Berlin"), ("Rome", "Ann lives in Berlin and Rome")],
)
def test_a_sentence_that_names_the_old_value_too_is_not_certain(newer: tuple[str, str]) -> None:
    old = Said("Ann", "LIVES_IN", "Berlin", "Ann lives in Berlin", valid=0)
    new = Said("Ann", "LIVES_IN", newer[0], newer[1], valid=30)
    sure = ContradictionConfig().resolve_confidence
    assert all(f.confidence < sure for f in detect(fact_graph([old, new])))
    moved = new._replace(target="Rome", text="Ann lives in Rome")
    assert [f.confidence >= sure for f in detect(fact_graph([old, moved]))] == [True]


def test_successions_known_to_the_year_alone_are_less_sure_the_more_follow() -> None:
    years = [float((np.datetime64(f"{y}-01-01") - np.datetime64("2026-01-01")).astype(int))
             for y in range(2014, 2022)]  # fmt: skip
    facts = [Said("Ann", "WORKS_AT", f"firm {i}", valid=day) for i, day in enumerate(years)]
    confidence = [f.confidence for f in detect(fact_graph(facts))]
    assert len(confidence) == len(years) - 1
    assert confidence[0] < confidence[3] < confidence[-1]


@pytest.mark.parametrize("kind", ["slot", "pair", "remarks", "denied"])
def test_a_hub_costs_no_more_than_its_share(kind: str) -> None:
    def cpu_s(count: int) -> float:
        graph = fact_graph([_of_hub(kind, i) for i in range(count)])
        relations = RelationLearner(RelationsConfig()).learn(graph, NOW)
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            DETECTOR.detect(graph, NOW, relations)
            best = min(best, time.process_time() - start)
        return best

    assert cpu_s(8_000) < 20 * cpu_s(800)


def _of_hub(kind: str, i: int) -> Said:
    if kind == "slot":
        return Said(
            "hub", "LIVES_IN", f"town {i % 997}", f"hub lives in town {i % 997}", valid=i * 1e-3
        )
    if kind == "pair":
        return Said("hub", "LIVES_IN", "town", f"hub lives in town with {i} others", valid=i * 1e-3)
    if kind == "remarks":
        return Said("hub", "SAID", "hub", f"I have {i} new postcards in my box of summer cards.",
                    valid=i * 1e-3)  # fmt: skip
    text = "hub no longer uses tool" if i % 2 else "hub uses tool"
    return Said("hub", "USES", "tool", text, valid=i * 1e-3)
