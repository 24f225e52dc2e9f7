"""What facts about servers and graphs mean, in sentences for people."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from synapse.errors import REWRITTEN_WORDS
from synapse.hippocampus.diagnosis import Finding
from synapse.hippocampus.graph_diagnosis import diagnose_graph
from synapse.hippocampus.health import (
    Contents,
    GraphHealth,
    Queue,
    Rights,
    RoomHealth,
    ServerHealth,
    Stamps,
    lost_count,
)
from synapse.hippocampus.server_diagnosis import diagnose_server
from synapse.hippocampus.traces import trace_table
from tests.support.small_graphs import small_graph

SOUND = ServerHealth(
    redis_version="8.2.3", module_version=41603, role="master", maxmemory_bytes=0,
    used_memory_bytes=2**20, maxmemory_policy="noeviction", is_append_only=True, save_points="",
    resultset_size=-1, compares_wrongly=False, clock_ahead_s=0.1, graphs=("g",), orphaned_rooms=(),
)  # fmt: skip
ROOMY = {"maxmemory_bytes": 100, "used_memory_bytes": 10}
DAY_S = 86_400.0


def of_server(check: str, **facts: Any) -> Finding:
    (found,) = (f for f in diagnose_server(replace(SOUND, **facts)) if f.check == check)
    return found


def of_contents(check: str, **facts: Any) -> Finding:
    known = {"entities_count": 4, "facts_count": 4, **facts}
    return of_graph(check, GraphHealth("g", contents=Contents(**known), room=RoomHealth()))


def of_room(check: str, **facts: Any) -> Finding:
    return of_graph(check, GraphHealth("g", contents=Contents(), room=RoomHealth(**facts)))


def of_graph(check: str, health: GraphHealth) -> Finding:
    (found,) = (f for f in diagnose_graph(health) if f.check == check)
    return found


def test_a_sound_server_has_nothing_but_good_findings() -> None:
    assert {f.level for f in diagnose_server(SOUND)} == {"ok"}


def test_what_may_not_be_asked_is_a_note_that_names_the_right() -> None:
    findings = diagnose_server(ServerHealth())
    assert {f.level for f in findings} == {"note"}
    assert all("could not be" in f.sentence for f in findings)
    assert all("would need +" in f.sentence for f in findings if f.check != "comparison")
    without = diagnose_graph(GraphHealth("g", Rights(("+hset",))))
    assert [f.level for f in without] == ["problem"] + ["note"] * 11


@pytest.mark.parametrize(
    ("check", "facts", "level", "words"),
    [
        ("version", {"module_version": 40_812}, "note", "FalkorDB 4.8.12 is older than 4.16"),
        ("version", {"module_version": 41_600}, "ok", "4.16.0"),
        ("version", {"module_version": 50_000}, "note", "newer"),
        ("role", {"role": "slave"}, "problem", "read-only replica"),
        ("persistence", {"is_append_only": False}, "problem", "persistence is off"),
        (
            "persistence",
            {"is_append_only": False, "save_points": "3600 1"},
            "note",
            "only snapshots are kept (save 3600 1)",
        ),
        ("persistence", {"is_append_only": False, "save_points": None}, "note", "+config|get"),
        ("persistence", {"failed_writes": ("aof_last_write_status",)}, "problem", "its disk"),
        ("memory", {"maxmemory_policy": "allkeys-lru"}, "note", "deletes whole graphs"),
        ("memory", {"maxmemory_policy": "allkeys-lru", **ROOMY}, "problem", "deletes whole graphs"),
        ("memory", {"maxmemory_policy": "volatile-lru", **ROOMY}, "ok", "are in use"),
        ("memory", {**ROOMY, "used_memory_bytes": 80}, "note", "are in use"),
        ("memory", {**ROOMY, "used_memory_bytes": 95}, "problem", "refuses writes"),
        ("answer size", {"resultset_size": 10_000}, "note", "cuts answers to 10000 rows"),
        ("answer size", {"resultset_size": 0}, "problem", "cuts every answer to nothing"),
        ("comparison", {"compares_wrongly": True}, "note", "find too much"),
        ("clock", {"clock_ahead_s": 5.0}, "ok", "agree"),
        ("clock", {"clock_ahead_s": 30.0}, "note", "30 s ahead of"),
        ("clock", {"clock_ahead_s": -3 * DAY_S}, "problem", "3 days behind"),
        ("graphs", {"graphs": ()}, "note", "no graph yet"),
        ("rooms", {"orphaned_rooms": ("old",)}, "note", "delete the keys synapse:{old}:*"),
    ],
)
def test_each_fact_about_a_server(check: str, facts: Any, level: str, words: str) -> None:
    found = of_server(check, **facts)
    assert (found.level, words in found.sentence) == (level, True), found


def test_a_sound_graph_has_nothing_but_good_findings() -> None:
    contents = Contents(entities_count=1, items_by_group={"g": 3, "_": 1, "\\_": 1, "": 1})
    findings = diagnose_graph(GraphHealth("g", contents=contents, room=RoomHealth()))
    assert {(f.level, f.graph) for f in findings} == {("ok", "g")}
    assert len(findings) == 12


@pytest.mark.parametrize(
    ("check", "facts", "level", "words"),
    [
        ("groups", {"entities_count": 0, "facts_count": 0}, "note", "holds no memory"),
        ("groups", {"items_by_group": {"g": 3, "a": 2, "b": 1}}, "note", "3 items are of other"),
        ("dates", {"undated_facts_count": 1}, "note", "1 of 4 facts (25%)"),
        ("mentions", {"unmentioned_entities_count": 4}, "note", "4 of 4 entities (100%)"),
        ("zones", {"stamps": {"x of y": Stamps(naive_count=2)}}, "note", "2 x of y have no zone"),
        ("zones", {"stamps": {"x of y": Stamps(unreadable_count=2)}}, "note", "cannot be read"),
        (
            "future",
            {"stamps": {"created_at of facts": Stamps(future_count=2)}},
            "note",
            "2 created_at of facts lie in the future",
        ),
        ("future", {"stamps": {"valid_at of facts": Stamps(future_count=2)}}, "ok", "nothing"),
    ],
)
def test_each_fact_about_a_graph(check: str, facts: Any, level: str, words: str) -> None:
    found = of_contents(check, **facts)
    assert (found.level, words in found.sentence) == (level, True), found


@pytest.mark.parametrize(
    ("check", "facts", "level", "words"),
    [
        ("room", {"damage": "field x is not a number"}, "problem", "field x is not a number"),
        ("lock", {"lock_holder": "r", "lock_left_s": math.inf}, "problem", "synapse:{g}:lock"),
        ("lock", {"lock_holder": "r", "lock_left_s": 30.0}, "note", "for 30 s more"),
        ("lock", {"lock_holder": "r"}, "note", "run r holds the lock: wait"),
        ("recalls", {"recalls": Queue(3, DAY_S)}, "ok", "3 recalls wait, the oldest for 24 hours"),
        ("recalls", {"recalls": Queue(3, 3 * DAY_S)}, "problem", "schedule synapse consolidate"),
        ("surprises", {"surprises": Queue(1, 3 * DAY_S)}, "problem", "1 surprises wait"),
        ("runs", {"failures_count": 1}, "note", "1 of the last runs failed"),
        ("runs", {"failures_count": 3}, "problem", "the last 3 runs failed"),
        ("runs", {"unfinished_runs": ("r",)}, "note", "synapse undo"),
        ("runs", {"unfinished_runs": ("r",), "lock_holder": "r"}, "ok", "no run failed"),
        ("traces", {"traces_count": 5, "lost_traces_count": 2}, "note", "2 of 5 traces"),
    ],
)
def test_each_fact_about_a_room(check: str, facts: Any, level: str, words: str) -> None:
    found = of_room(check, **facts)
    assert (found.level, words in found.sentence) == (level, True), found


def test_missing_rights_are_named_as_rules() -> None:
    found = of_graph("rights", GraphHealth("g", Rights(("+hset", "~synapse:{g}:*"))))
    assert found.level == "problem" and "lacks +hset ~synapse:{g}:*" in found.sentence


def test_no_sentence_holds_what_hosts_rewrite_or_a_line_break() -> None:
    strange = "a\nb" * 100
    server = replace(SOUND, graphs=(strange,) * 9, orphaned_rooms=(strange,))
    room = RoomHealth(lock_holder=strange, lock_left_s=math.inf, unfinished_runs=(strange,) * 9)
    contents = Contents(1, 1, {strange: 1})
    findings = diagnose_server(server) + diagnose_graph(
        GraphHealth("g", contents=contents, room=room)
    )
    for finding in findings + diagnose_server(ServerHealth()):
        assert "\n" not in finding.sentence and len(finding.sentence) < 400
        assert not REWRITTEN_WORDS.search(finding.sentence)


def test_what_a_graph_lacks_is_counted() -> None:
    snapshot = small_graph(
        3, [(0, 1, [0]), (1, 2, [])], [1.0], [(0, 0), (0, 0)], fact_valid_s=[1.0, np.nan]
    )
    contents = Contents.of(snapshot, {})
    assert (contents.entities_count, contents.facts_count) == (3, 2)
    assert (contents.undated_facts_count, contents.unmentioned_entities_count) == (1, 2)
    assert contents.items_by_group == {"small": 6}


def test_traces_of_what_is_gone_are_counted() -> None:
    snapshot = small_graph(2, [(0, 1, [])])
    keys = np.concatenate([snapshot.outline().keys, np.array([b"gone"], "S16")])
    assert lost_count(trace_table(keys, {}), snapshot) == 1
