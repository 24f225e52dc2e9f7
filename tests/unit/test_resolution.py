"""What --resolve decides to write."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from synapse.hippocampus.finding import DENIED, Finding
from synapse.hippocampus.ledger import UNDO, follow
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.plan import FactState
from synapse.hippocampus.resolution import Step, decide, is_unchanged, is_waiting
from synapse.hippocampus.stamps import format_stamp
from tests.support.fact_graphs import Said, at, fact_graph
from tests.unit.test_ledger import (
    CLOSED,
    ENDED,
    MISSED,
    NEW,
    NOTHING,
    OLD,
    OPEN,
    written,
)  # fmt: skip

NOW_S = at(9.0)


def decided(snapshot: GraphSnapshot, *findings: Finding, ledger: Any = None) -> list[Step]:
    followed = follow(ledger or {}, snapshot, findings)
    return decide(snapshot, findings, followed, NOW_S, 0.8)


def test_a_certain_finding_ends_the_older_fact_where_the_newer_begins() -> None:
    (step,) = decided(OPEN, MISSED)
    assert (step.uuid, step.fact, step.by) == ("fact-0", 0, 1)
    assert step.entry["after"] == ENDED == {
        "invalid_at": "2026-01-06T00:00:00+00:00",
        "expired_at": "2026-01-10T00:00:00+00:00",
    }  # fmt: skip
    assert step.entry["state"] == "resolving"
    assert (step.entry["attempts"], step.entry["reverts"]) == (1, 0)


def test_only_missed_and_certain_findings_are_written() -> None:
    assert not decided(OPEN, replace(MISSED, confidence=0.79))
    assert decided(OPEN, replace(MISSED, confidence=0.8))
    for verdict in ("doubtful", "needs review", "duplicate", "superseded"):
        assert not decided(OPEN, replace(MISSED, verdict=verdict, confidence=1.0))  # type: ignore[arg-type]


def test_a_fact_that_has_ended_replaces_nothing_even_if_it_is_said_again() -> None:
    """A, then B, then A again on the edge that had ended: ending B as well would leave none."""
    graph = fact_graph([OLD, NEW._replace(ended=3.0, retired=3.0)])
    assert not decided(graph, MISSED)
    assert decided(fact_graph([OLD, NEW._replace(ended=6.0, retired=6.0)]), MISSED)


def test_a_fact_that_was_taken_back_ends_nothing() -> None:
    taken_back = Finding(1, 2, "missed", DENIED, 0.85, at(6.0), "")
    graph = fact_graph([OLD, NEW, NEW._replace(text="no", valid=6.0)])
    assert [step.fact for step in decided(graph, MISSED)] == [0]
    assert [step.fact for step in decided(graph, MISSED, taken_back)] == [1]


def test_of_facts_that_replace_each_other_in_a_circle_none_is_ended() -> None:
    again = fact_graph(
        [OLD._replace(episodes=("e0", "e8")), NEW._replace(episodes=("e5",)), NEW],
        {"e0": 0.0, "e5": 5.0, "e8": 8.0},
    )
    back = Finding(1, 0, "missed", "r", 1.0, at(8.0), "")
    assert [step.fact for step in decided(again, MISSED)] == [0]
    assert [step.fact for step in decided(again, back)] == [1]
    assert not decided(again, MISSED, back)
    outside = Finding(2, 0, "missed", "r", 1.0, at(8.0), "")
    assert [step.fact for step in decided(again, MISSED, back, outside)] == [2]


def test_never_the_newer_fact() -> None:
    assert not decided(OPEN, Finding(1, 0, "missed", "r", 1.0, at(5.0), ""))
    assert not decided(OPEN, Finding(1, 0, "missed", "r", 1.0, at(0.0), ""))
    assert not decided(OPEN, replace(MISSED, invalid_at_s=at(-1.0)))


def test_of_two_that_begin_together_the_later_recorded_is_newer() -> None:
    said = [OLD._replace(recorded=2.0), NEW._replace(valid=0.0, recorded=1.0)]
    together = replace(MISSED, invalid_at_s=at(0.0))
    assert not decided(fact_graph(said), together)
    assert decided(fact_graph([said[0]._replace(recorded=1.0), said[1]]), together)


def test_a_fact_that_was_said_again_is_the_newer_one() -> None:
    again = fact_graph(
        [OLD._replace(episodes=("e0", "e8")), NEW._replace(episodes=("e5",))],
        {"e0": 0.0, "e5": 5.0, "e8": 8.0},
    )
    assert decided(again, Finding(1, 0, "missed", "r", 1.0, at(8.0), ""))


def test_not_ahead_of_time_and_not_without_a_time() -> None:
    assert not decided(OPEN, replace(MISSED, invalid_at_s=at(9.5)))
    assert not decided(OPEN, replace(MISSED, invalid_at_s=float("nan")))
    undated = fact_graph([Said("a", "R", "b"), NEW])
    assert not decided(undated, MISSED)


def test_what_was_reverted_is_written_again_and_given_up_at_the_third_time() -> None:
    states = []
    entry = written("resolved")
    for _ in range(4):
        (step,) = decided(OPEN, MISSED, ledger={"fact-0": entry}) or [None]
        if step is None:
            break
        states.append((step.entry["state"], step.entry["attempts"], step.entry["reverts"]))
        assert step.is_revert
        entry = {**step.entry, "state": "resolved"} if not step.is_given_up else step.entry
    assert states == [("resolving", 2, 1), ("resolving", 3, 2), ("given_up", 3, 3)]


def test_what_a_person_decided_is_repeated_whatever_its_confidence() -> None:
    doubtful = replace(MISSED, confidence=0.1)
    assert not decided(OPEN, doubtful, ledger={"fact-0": written("reverted")})
    kept_new = written("reverted", decision="keep-new")
    (step,) = decided(OPEN, doubtful, ledger={"fact-0": kept_new})
    assert step.entry["decision"] == "keep-new"


def test_an_undo_that_was_overwritten_is_repeated() -> None:
    undone = written("undone", decision=UNDO, before=ENDED, after=NOTHING)
    (step,) = decided(CLOSED, ledger={"fact-0": undone})
    assert step.is_undo and step.is_revert and step.entry["after"] == NOTHING
    assert not decided(OPEN, ledger={"fact-0": undone})


def test_nothing_is_written_twice() -> None:
    resolved = {"fact-0": written("resolved")}
    assert not decided(CLOSED, replace(MISSED, verdict="superseded"), ledger=resolved)
    rejected = {**written("decided"), "decisions": {written("found")["digest"]: "keep-old"}}
    assert not decided(OPEN, MISSED, ledger={"fact-0": rejected})


def test_is_waiting_sees_what_decide_would_look_at() -> None:
    assert is_waiting(follow({}, OPEN, [MISSED]), 0.8)
    assert not is_waiting(follow({}, OPEN, [MISSED]), 0.95)
    assert is_waiting({"f": written("reverted")}, 1.0)
    assert not is_waiting({"f": written("resolved"), "g": written("given_up")}, 0.0)


def test_a_fact_is_unchanged_when_text_and_times_are() -> None:
    state = FactState("Ann lives in Rome", format_stamp(at(0.0)))
    assert is_unchanged(OPEN, 0, state)
    assert is_unchanged(OPEN, 0, replace(state, invalid_at="", expired_at="soon"))
    assert is_unchanged(OPEN, 0, replace(state, episodes=("of another group",)))
    for other in (
        None,
        replace(state, text="Ann lives in Roma"),
        replace(state, valid_at=None),
        replace(state, invalid_at=format_stamp(at(1.0))),
        replace(state, expired_at=format_stamp(at(1.0))),
    ):
        assert not is_unchanged(OPEN, 0, other)


def test_a_fact_that_was_said_again_has_changed() -> None:
    graph = fact_graph([OLD._replace(episodes=("e0",)), NEW], {"e0": 0.0})
    state = FactState("Ann lives in Rome", format_stamp(at(0.0)), episodes=("e0", "unknown"))
    counted = replace(graph.facts, references_count=np.array([2, 0]))
    assert is_unchanged(replace(graph, facts=counted), 0, state)
    for episodes in ((), ("e0",), ("e0", "unknown", "again"), ("again", "unknown")):
        other = replace(state, episodes=episodes)
        assert not is_unchanged(replace(graph, facts=counted), 0, other)
