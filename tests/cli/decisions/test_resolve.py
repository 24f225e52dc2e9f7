"""consolidate --resolve: only what is certain, once, and nothing in a dry run."""

import json

from tests.cli.decisions.conftest import AT, edges, sure
from tests.cli.test_consolidate import keys_of, stable

NOW_WRITTEN = "2026-07-01T06:00:00+00:00"


def test_only_what_is_certain_is_ended(consolidate, demo, findings, connection):
    waiting, before = findings(), edges(connection, demo)
    certain = sure(waiting)
    assert certain and certain < {f for f, c in waiting.items() if c["verdict"] == "missed"}
    ended = consolidate("--group-id", demo, *AT, "--resolve")
    assert ended.code == 0, ended.err
    summary, after = ended.summary, edges(connection, demo)
    for uuid, properties in after.items():
        written = {} if uuid not in certain else {
            "invalid_at": before[waiting[uuid]["by"]]["valid_at"], "expired_at": NOW_WRITTEN,
        }  # fmt: skip
        assert properties == before[uuid] | written
    assert summary["contradictions"]["resolved"] == len(certain)
    assert summary["wrote"]["invalidated"] == len(certain)
    assert summary["contradictions"]["review"] == len(waiting) - len(certain) == len(findings())
    assert not certain & {found["fact"] for found in summary["contradictions"]["top"]}


def test_a_second_run_writes_nothing(consolidate, demo, connection):
    first = consolidate("--group-id", demo, *AT, "--resolve", "--prune").summary
    kept = keys_of(connection, demo)
    second = consolidate("--group-id", demo, *AT, "--resolve", "--prune").summary
    third = consolidate("--group-id", demo, *AT, "--prune").summary
    assert keys_of(connection, demo) == kept
    assert first["contradictions"]["resolved"] and not second["contradictions"]["resolved"]
    assert second["wrote"] == third["wrote"] == dict.fromkeys(second["wrote"], 0)
    assert second["reason_for_zero"].pop("resolved")
    assert stable(second) == stable(third)
    assert second["pruning"] == first["pruning"]


def test_a_dry_run_says_what_would_be_and_writes_nothing(consolidate, demo, connection):
    before = keys_of(connection, demo)
    dry = consolidate("--group-id", demo, *AT, "--resolve", "--dry-run").summary
    assert keys_of(connection, demo) == before
    wet = consolidate("--group-id", demo, *AT, "--resolve").summary
    assert dry["wrote"] == dict.fromkeys(dry["wrote"], 0)
    same = [name for name in stable(wet) if name not in ("dry_run", "wrote", "retention")]
    assert {name: dry[name] for name in same} == {name: wet[name] for name in same}
    assert dry["retention"]["mean_strength"] == wet["retention"]["mean_strength"]


def test_without_resolve_nothing_of_the_graph_is_written(consolidate, demo, connection):
    before = edges(connection, demo)
    consolidate("--group-id", demo, *AT)
    assert edges(connection, demo) == before


def test_what_was_found_before_is_resolved_later(consolidate, demo, findings):
    certain = sure(findings())
    for _ in range(2):
        consolidate("--group-id", demo, *AT)
    assert consolidate("--group-id", demo, *AT, "--resolve").summary["wrote"]["invalidated"] == len(
        certain
    )


def test_the_ledger_notes_what_was_there_before(consolidate, demo, findings, store):
    certain, summary = sure(findings()), consolidate("--group-id", demo, *AT, "--resolve").summary
    ledger = store.read_room(demo).ledger
    for uuid in certain:
        entry = ledger[uuid]
        assert (entry["state"], entry["run_id"]) == ("resolved", summary["run_id"])
        assert (entry["attempts"], entry["reverts"]) == (1, 0)
        assert entry["before"] == {"invalid_at": None, "expired_at": None}
        assert entry["after"]["expired_at"] == NOW_WRITTEN
    assert {entry["state"] for uuid, entry in ledger.items() if uuid not in certain} == {"found"}


def test_the_report_file_tells_what_became_of_each(consolidate, demo, findings, tmp_path):
    certain, file = sure(findings()), tmp_path / "r.json"
    consolidate("--group-id", demo, *AT, "--resolve", "--report-file", str(file))
    states = {
        f["fact"]: f.get("state") for f in json.loads(file.read_text())["contradictions"]["all"]
    }
    assert {fact for fact, state in states.items() if state == "resolved"} == certain


def test_only_the_group_that_was_asked_for(consolidate, demo, findings, connection, store):
    certain = sure(findings())
    stranger = sorted(certain)[0]
    connection.execute_command(
        "GRAPH.QUERY", demo,
        f"MATCH ()-[e:RELATES_TO {{uuid: '{stranger}'}}]->() SET e.group_id = 'other'",
    )  # fmt: skip
    consolidate("--graph", demo, *AT)
    consolidate("--graph", demo, "--group-id", demo, *AT, "--resolve")
    ledger = store.read_room(demo).ledger
    assert ledger[stranger]["state"] == "found"
    assert {uuid for uuid, entry in ledger.items() if entry["state"] == "resolved"} == (
        certain - {stranger}
    )


def test_a_graph_that_is_locked_is_left_alone(consolidate, demo, store, connection):
    assert store.acquire_lock(demo, "somebody", 60.0)
    before = edges(connection, demo)
    assert consolidate("--group-id", demo, *AT, "--resolve").summary["status"] == "lock_busy"
    assert edges(connection, demo) == before
