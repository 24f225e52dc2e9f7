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


def test_a_dry_run_says_what_would_be_and_writes_nothing(
    consolidate, demo, findings, connection, tmp_path
):
    certain, file = sure(findings()), tmp_path / "r.json"
    before = keys_of(connection, demo)
    plain = consolidate("--group-id", demo, *AT, "--dry-run").summary
    ended = consolidate(
        "--group-id", demo, *AT, "--resolve", "--dry-run", "--report-file", str(file)
    )
    assert keys_of(connection, demo) == before
    dry, contradictions = ended.summary, ended.summary["contradictions"]
    assert dry["wrote"] == dict.fromkeys(dry["wrote"], 0)
    assert (contradictions["would_resolve"], contradictions["resolved"]) == (len(certain), 0)
    assert f"{len(certain)} facts would be ended" in dry["reason_for_zero"]["resolved"]
    first = contradictions["top"][: len(certain)]
    assert {found["state"] for found in first} == {"would_resolve"}
    assert {found["fact"] for found in first} <= certain
    for name in ("count", "missed", "superseded", "review"):
        assert contradictions[name] == plain["contradictions"][name]
    told = json.loads(file.read_text())["contradictions"]["all"]
    would = {f["fact"]: f for f in told if f.get("state") == "would_resolve"}
    assert set(would) == certain and {f["verdict"] for f in would.values()} == {"missed"}
    wet = consolidate("--group-id", demo, *AT, "--resolve").summary
    assert wet["contradictions"]["resolved"] == len(certain)


def test_what_was_resolved_keeps_its_reason(consolidate, demo, findings, tmp_path):
    waiting, file = findings(), tmp_path / "r.json"
    for _ in range(2):
        consolidate("--group-id", demo, *AT, "--resolve", "--report-file", str(file))
        found = {f["fact"]: f for f in json.loads(file.read_text())["contradictions"]["all"]}
        listed = findings("--all")
        for fact in sure(waiting):
            for name in ("by", "rule", "confidence", "evidence"):
                assert found[fact][name] == listed[fact][name] == waiting[fact][name]


def test_a_zero_says_why(consolidate, demo, synapse, findings, monkeypatch):
    def why():
        summary = consolidate("--group-id", demo, *AT, "--resolve").summary
        assert summary["contradictions"]["resolved"] == 0
        return summary["reason_for_zero"]["resolved"]

    for fact in sure(findings()):
        synapse("review", fact, "keep-old", "--group-id", demo, *AT)
    assert "reaches confidence 0.875" in why()
    for fact, case in findings().items():
        if case["verdict"] == "missed":
            synapse("review", fact, "keep-old", "--group-id", demo, *AT)
    assert "a person has decided" in why()


def test_more_than_the_caps_allow_is_refused_whole(consolidate, demo, findings, connection):
    waiting = findings()
    kept = sure(waiting) | {waiting[fact]["by"] for fact in sure(waiting)}
    connection.execute_command(
        "GRAPH.QUERY", demo,
        f"MATCH ()-[e:RELATES_TO]->() WHERE NOT e.uuid IN {sorted(kept)} DELETE e",
    )  # fmt: skip
    facts_count = len(edges(connection, demo))
    certain, before = sure(findings()), keys_of(connection, demo)
    assert len(certain) > facts_count // 4
    refused = consolidate("--group-id", demo, *AT, "--resolve")
    assert refused.code == 5 and refused.summary["status"] == "failed"
    assert len(refused.err.splitlines()) == 1 and f"--max-changes {len(certain)}" in refused.err
    dry = consolidate("--group-id", demo, *AT, "--resolve", "--dry-run")
    assert dry.code == 0 and "a run would refuse" in str(dry.summary["warnings"])
    assert keys_of(connection, demo) == before
    few = str(len(certain) - 1)
    assert consolidate("--group-id", demo, *AT, "--resolve", "--max-changes", few).code == 5
    assert keys_of(connection, demo) == before
    allowed = ("--max-changes", str(len(certain)))
    done = consolidate("--group-id", demo, *AT, "--resolve", *allowed)
    assert done.summary["contradictions"]["resolved"] == len(certain)


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
    busy = consolidate("--group-id", demo, *AT, "--resolve", "--lock-wait", "0")
    assert busy.summary["status"] == "lock_busy"
    assert edges(connection, demo) == before
