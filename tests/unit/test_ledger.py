"""What becomes of a decision as the graph moves on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from synapse.hippocampus.finding import Finding
from synapse.hippocampus.ledger import (
    KEEP_NEW,
    UNDO,
    WAITING,
    changes,
    evidence_digest,
    follow,
    own_reason,
)
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.stamps import format_stamp
from tests.support.fact_graphs import Said, at, fact_graph

OLD = Said("Ann", "LIVES_IN", "Rome", "Ann lives in Rome", valid=0.0)
NEW = Said("Ann", "LIVES_IN", "Oslo", "Ann lives in Oslo", valid=5.0)
MISSED = Finding(0, 1, "missed", "same_property", 0.9, at(5.0), "…")
DOUBTFUL = Finding(0, -1, "doubtful", "no_successor", 0.5, at(3.0), "…")
FOUND = {"verdict": "missed", "by": "fact-1", "rule": "same_property", "confidence": 0.9,
         "state": "found"}  # fmt: skip
NOTHING = {"invalid_at": None, "expired_at": None}
ENDED = {"invalid_at": format_stamp(at(5.0)), "expired_at": format_stamp(at(9.0))}


def graph(ended: float | None = None, retired: float | None = None) -> GraphSnapshot:
    return fact_graph([OLD._replace(ended=ended, retired=retired), NEW])


OPEN, CLOSED, OTHERWISE = graph(), graph(5.0, 9.0), graph(7.0, 8.0)
DIGEST = evidence_digest(OPEN, MISSED)


def written(state: str, **more: Any) -> dict[str, Any]:
    counts = {"digest": DIGEST, "before": NOTHING, "after": ENDED, "attempts": 1, "reverts": 0}
    return {**FOUND, **counts, "state": state, **more}


def after(entry: dict[str, Any] | None, snapshot: GraphSnapshot, *findings: Finding) -> Any:
    ledger = {} if entry is None else {"fact-0": entry}
    followed = follow(ledger, snapshot, findings)
    assert follow(followed, snapshot, findings) == followed
    return followed.get("fact-0")


def test_a_finding_waits_and_goes_with_its_cause() -> None:
    assert after(None, OPEN, MISSED) == FOUND
    assert after(FOUND, OPEN) is None
    assert after(None, CLOSED, replace(MISSED, verdict="superseded")) is None
    assert after(None, OPEN, replace(MISSED, verdict="duplicate")) is None


@pytest.mark.parametrize("state", ["resolving", "resolved", "reverted"])
def test_what_the_graph_shows_is_resolved(state: str) -> None:
    superseded = replace(MISSED, verdict="superseded")
    assert after(written(state), CLOSED, superseded) == written("resolved")
    assert after(written(state), CLOSED, DOUBTFUL) == written("resolved")


@pytest.mark.parametrize("state", ["resolving", "resolved", "bereft"])
def test_a_fact_whose_successor_is_gone_waits_again(state: str) -> None:
    alone = fact_graph([OLD._replace(ended=5.0, retired=9.0)])
    bereft = after(written(state), alone, DOUBTFUL)
    assert bereft == written("bereft") and bereft["state"] in WAITING
    assert follow({"fact-0": written(state)}, alone, [DOUBTFUL], ["fact-1"])["fact-0"] == written(
        "resolved"
    )
    assert own_reason(bereft | {"evidence": "…"}) == {}
    assert after(bereft, CLOSED, replace(MISSED, verdict="superseded")) == written("resolved")
    assert after(bereft, CLOSED) == written("resolved")
    decisions = {"decisions": {evidence_digest(alone, DOUBTFUL): KEEP_NEW}}
    assert after(bereft | decisions, alone, DOUBTFUL) == written("resolved", **decisions)
    assert after(bereft, graph(), MISSED)["state"] == "reverted"


def test_a_decision_that_never_reached_the_graph_waits_again() -> None:
    assert after(written("resolving"), OPEN, MISSED) == {**FOUND, "digest": DIGEST, "reverts": 0}


def test_what_an_ingestion_has_overwritten_is_reverted() -> None:
    assert after(written("resolved"), OPEN, MISSED) == written("reverted")
    assert after(written("resolved"), OPEN) == written("lapsed")
    assert after(written("resolved"), OTHERWISE) == written("lapsed")
    assert after(written("resolved"), OTHERWISE, DOUBTFUL)["state"] == "found"


@pytest.mark.parametrize("half", [graph(5.0, 8.0), graph(7.0, 9.0)], ids=["expired", "invalid"])
def test_of_an_end_both_times_are_what_was_written_or_it_is_somebody_elses(
    half: GraphSnapshot,
) -> None:
    # Otherwise undoing would take back a time that another has written.
    assert after(written("resolved"), half) == written("lapsed")


def test_an_end_that_was_moved_is_other_evidence_against_it() -> None:
    moved = replace(DOUBTFUL, invalid_at_s=at(4.0))
    assert evidence_digest(CLOSED, moved) != evidence_digest(CLOSED, DOUBTFUL)


def test_what_is_given_up_stays_so_until_the_evidence_changes() -> None:
    given_up = written("given_up", reverts=3)
    assert after(given_up, OPEN, MISSED) == given_up
    other = fact_graph([OLD, NEW._replace(text="Ann has moved to Oslo")])
    assert after(given_up, other, MISSED) == FOUND


def test_a_rejected_finding_stays_rejected_until_its_evidence_changes() -> None:
    rejected = {**FOUND, "state": "decided", "decision": "keep-both",
                "decisions": {DIGEST: "keep-both"}}  # fmt: skip
    assert after(rejected, OPEN, MISSED) == rejected
    surer = replace(MISSED, confidence=0.99, evidence="said again")
    assert after(rejected, OPEN, surer) == {**rejected, "confidence": 0.99}
    for changed in (
        fact_graph([OLD, NEW._replace(text="Ann has moved to Oslo")]),
        fact_graph([OLD._replace(text="Ann lives in Rome, Italy"), NEW]),
        fact_graph([OLD, NEW._replace(valid=6.0)]),
    ):
        again = after(rejected, changed, MISSED)
        assert again == {**FOUND, "decisions": {DIGEST: "keep-both"}}
        assert after(again, OPEN, MISSED) == rejected
    other_rule = replace(MISSED, rule="cue_moved")
    assert after(rejected, OPEN, other_rule)["state"] == "found"
    assert after(after(rejected, OPEN), OPEN, MISSED) == rejected


def test_an_undone_end_stays_undone() -> None:
    undoing = written("undoing", decision=UNDO, before=ENDED, after=NOTHING)
    undone = {**undoing, "state": "undone", "decisions": {DIGEST: UNDO}}
    assert after(undoing, OPEN) == undone
    assert after(undone, OPEN, MISSED) == undone
    assert after(undone, CLOSED) == {**undone, "state": "reverted"}
    new_evidence = fact_graph([OLD, NEW._replace(text="Ann has moved to Oslo")])
    assert after(undone, new_evidence, MISSED) == {**FOUND, "decisions": {DIGEST: UNDO}}


def test_an_undo_that_never_reached_the_graph_waits_again() -> None:
    undoing = written("undoing", decision=UNDO, before=ENDED, after=NOTHING)
    waits = after(undoing, CLOSED, DOUBTFUL)
    assert (waits["state"], waits["verdict"]) == ("found", "doubtful")
    assert "decisions" not in waits


def test_facts_that_are_gone_are_forgotten() -> None:
    assert follow({"nowhere": written("resolved")}, OPEN, []) == {}


def test_changes_name_what_turns_one_ledger_into_another() -> None:
    before = {"a": FOUND, "b": FOUND, "c": FOUND}
    found = changes(before, {"a": FOUND, "b": {**FOUND, "confidence": 0.1}, "d": FOUND})
    assert [(c.target, c.before is None, c.after is None) for c in found] == [
        ("b", False, False), ("c", False, True), ("d", True, False)
    ]  # fmt: skip
    assert found[0].evidence == ("fact-1",)


def test_times_of_the_graph_are_compared_as_moments() -> None:
    zulu = {"invalid_at": "2026-01-06T00:00:00Z", "expired_at": "2026-01-10 00:00:00"}
    assert after(written("resolving", after=zulu), CLOSED)["state"] == "resolved"
    assert np.isnan(OPEN.facts.invalid_at_s[0])
