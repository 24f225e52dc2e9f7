"""What the summary counts of the findings: each fact under one verdict, and nothing twice."""

from __future__ import annotations

from collections import Counter

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.report import ConsolidationReport
from synapse.hippocampus.room import Room
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.summary import summarize, timeless
from tests.support.fact_graphs import Said, at, fact_graph

HEADER = {"run_id": "r", "graph": "g", "group_id": None, "now": "", "dry_run": True}
SAID_TWICE = [
    Said("Bob", "LIKES", "tea", "Bob likes tea", valid=0.0, recorded=0.0),
    Said("Bob", "LIKES", "tea", "Bob likes tea", valid=5.0, recorded=5.0),
]
MOVED = [
    Said("Ann", "LIVES_IN", "Rome", "Ann lives in Rome", valid=0.0),
    Said("Ann", "LIVES_IN", "Oslo", "Ann moved from Rome to Oslo", valid=5.0),
]
IN_STAGING = [
    Said("A", "RUNS_ON_PORT", "80", "A runs on port 80", valid=0.0),
    Said("A", "RUNS_ON_PORT", "81", "A runs on port 81 in staging", valid=1.0),
]


def summary(
    facts: list[Said], **waiting: dict[str, str]
) -> tuple[ConsolidationReport, Counter[str]]:
    thoughts = Thoughts(fact_graph(facts), at(9.0), HippocampusConfig())
    report = summarize(
        timeless(thoughts, waiting), thoughts.standing, Room(), schemas=False, prune=False, **HEADER
    )
    return report, Counter(finding.verdict for finding in thoughts.contradictions.findings)


def test_what_says_the_same_again_is_no_contradiction_and_takes_none_away() -> None:
    report, found = summary([*MOVED, *SAID_TWICE])
    assert found == {"missed": 1, "duplicate": 1}
    told = report.contradictions
    assert (told.count, told.missed, told.duplicates, told.unclear) == (1, 1, 1, 0)


def test_where_facts_are_only_said_again_nothing_contradicts() -> None:
    report, found = summary(SAID_TWICE)
    assert found == {"duplicate": 1}
    assert (report.contradictions.count, report.contradictions.duplicates) == (0, 1)
    assert "no text replaces another" in report.reason_for_zero["contradictions"]


def test_what_only_a_person_can_tell_is_counted_beside_the_contradictions() -> None:
    report, found = summary([*MOVED, *IN_STAGING])
    assert found == {"missed": 1, "needs review": 1}
    told = report.contradictions
    assert (told.count, told.missed, told.unclear, told.duplicates) == (1, 1, 1, 0)


def test_where_all_that_was_found_waits_the_zero_says_so() -> None:
    report, _ = summary(IN_STAGING, **{"fact-0": {"state": "found"}})
    assert (report.contradictions.count, report.contradictions.unclear) == (0, 1)
    assert "synapse review" in report.reason_for_zero["contradictions"]
