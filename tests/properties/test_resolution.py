"""What holds for every graph that is resolved."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.finding import Finding
from synapse.hippocampus.ledger import Entry, follow
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.resolution import Step, decide
from synapse.hippocampus.room import Room
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.stamps import parse_stamp
from tests.properties.test_decisions import begun, graphs
from tests.support.fact_graphs import at

NOW_S = at(10.0)


def findings_of(graph: GraphSnapshot) -> tuple[Finding, ...]:
    return Thoughts(graph, NOW_S, HippocampusConfig()).contradictions.findings


def resolved(graph: GraphSnapshot, room: Room) -> tuple[GraphSnapshot, Room, list[Step]]:
    """One run that resolves whatever it is allowed to, without a store."""
    findings = findings_of(graph)
    steps = decide(graph, findings, follow(room.ledger, graph, findings), NOW_S, 0.0)
    nothing = {"invalid_at": None, "expired_at": None}
    ledger: dict[str, Entry] = {s.uuid: s.entry | {"before": nothing} for s in steps}
    after = shown_in(graph, steps)
    return after, Room(ledger=follow(room.ledger | ledger, after, findings_of(after))), steps


def shown_in(graph: GraphSnapshot, steps: list[Step]) -> GraphSnapshot:
    """The graph with the ends that were written."""
    ends = {name: getattr(graph.facts, f"{name}_s").copy() for name in ("invalid_at", "expired_at")}
    for step in steps:
        for name, column in ends.items():
            column[step.fact] = parse_stamp(step.entry["after"][name] or "")
    columns = {f"{name}_s": column for name, column in ends.items()}
    return replace(graph, facts=replace(graph.facts, **columns), digest="")


def last_said(graph: GraphSnapshot, row: int) -> float:
    said = [float(graph.episodes.valid_at_s[e]) for e in graph.facts.episodes[row]]
    return max([begun(graph, row)[0], *(s for s in said if math.isfinite(s))])


@settings(max_examples=300)
@given(graphs())
def test_never_the_newer_fact_and_never_backwards(graph: GraphSnapshot) -> None:
    _, _, steps = resolved(graph, Room())
    for step in steps:
        begins_s = begun(graph, step.fact)[0]
        ends_s = parse_stamp(step.entry["after"]["invalid_at"])
        assert begins_s <= ends_s <= NOW_S
        assert begins_s <= last_said(graph, step.by)
        assert parse_stamp(step.entry["after"]["expired_at"]) == NOW_S


@settings(max_examples=200)
@given(graphs())
def test_what_was_written_is_known_as_resolved_and_not_written_again(graph: GraphSnapshot) -> None:
    after, room, steps = resolved(graph, Room())
    assert {u for u, e in room.ledger.items() if e["state"] == "resolved"} == {
        step.uuid for step in steps
    }
    _, room_again, steps_again = resolved(after, room)
    assert not {step.uuid for step in steps} & {step.uuid for step in steps_again}
    assert {u for u, e in room_again.ledger.items() if e["state"] == "reverted"} == set()


@settings(max_examples=100)
@given(graphs(), st.data())
def test_every_fact_is_in_one_state_and_following_twice_is_following_once(
    graph: GraphSnapshot, data: st.DataObject
) -> None:
    # A store never reads an infinite time: it is unreadable, hence unknown.
    assume(not np.isinf([graph.facts.invalid_at_s, graph.facts.expired_at_s]).any())
    after, room, steps = resolved(graph, Room())
    seen = data.draw(st.sampled_from([graph, after]))
    findings = findings_of(seen)
    followed = follow(room.ledger, seen, findings)
    assert follow(followed, seen, findings) == followed
    if seen is graph:
        reverted = {u for u, e in followed.items() if e["state"] == "reverted"}
        assert reverted == {step.uuid for step in steps}
