"""The batch as a program: one line out, nothing written that need not be, errors for people."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from synapse.demo import DEMO_NOW
from synapse.hippocampus.ports import GraphDocument
from synapse.hippocampus.room import Surprise
from tests.cli.conftest import SCRIPT

AT = ("--now", DEMO_NOW)
FULL = ("--schemas", "--prune", *AT)
MONTHS_LATER = ["--now", "2026-12-01T06:00:00Z"]
VOLATILE = ("run_id", "durations_s")


def keys_of(connection, graph):
    """A graph with every property, and every key of its room, in full.

    The graph is asked for, not dumped: FalkorDB's own DUMP of an unchanged graph varies.
    """
    questions = (
        "MATCH (n) RETURN n ORDER BY ID(n)",
        "MATCH ()-[e]->() RETURN e ORDER BY ID(e)",
        "CALL db.indexes() YIELD label, properties, entitytype "
        "RETURN label, properties, entitytype",
    )
    held = {graph: [connection.execute_command("GRAPH.RO_QUERY", graph, q)[:2] for q in questions]}
    for key in sorted(connection.scan_iter(match=f"synapse:{{{graph}}}:*", count=1000)):
        held[key] = connection.execute_command("DUMP", key, NEVER_DECODE=True)
    return held


def keys_there(connection):
    """Every key; FalkorDB's own record of queries, written a second later, is not ours."""
    return {key for key in connection.scan_iter(count=1000) if not key.startswith("telemetry{")}


def stable(summary):
    return {name: value for name, value in summary.items() if name not in VOLATILE}


def test_the_summary_of_the_demo(consolidate, demo):
    summary = consolidate("--group-id", demo, *FULL).summary
    assert summary["status"] == "ok" and summary["schema_version"] == 1
    assert summary["graph"] == summary["group_id"] == demo
    assert summary["now"] == DEMO_NOW
    assert summary["seen"] == {"episodes": 64, "entities": 55, "facts": 128, "mentions": 286}
    assert summary["wrote"]["traces"] == 55 + 128
    assert summary["contradictions"]["superseded"] == 5
    assert summary["contradictions"]["missed"] >= 5
    assert summary["schemas"]["count"]
    assert summary["pruning"]["candidates"] == summary["pruning"]["spared"] == 0
    assert re.fullmatch(
        r"the weakest memory stands at 0\.3\d*; the first falls below 0\.3 in \d+ days",
        summary["reason_for_zero"]["pruning"],
    )


def test_every_memory_is_accounted_for(consolidate, demo):
    summary = consolidate("--group-id", demo, *FULL, *MONTHS_LATER).summary
    seen = summary["seen"]["entities"] + summary["seen"]["facts"]
    retention, pruning = summary["retention"], summary["pruning"]
    assert retention["entities"] + retention["facts"] == seen
    assert retention["changed"] + retention["unchanged"] == seen
    assert pruning["kept"] + pruning["spared"] + pruning["candidates"] == seen
    assert sum(pruning["spared_by"].values()) == pruning["spared"] > 0
    assert 0 < pruning["candidates"] <= seen // 20
    found = summary["contradictions"]
    assert found["count"] == sum(found[verdict] for verdict in ("superseded", "missed", "doubtful"))


def test_a_second_run_writes_nothing_and_says_the_same(consolidate, demo, connection):
    first = consolidate("--group-id", demo, *FULL).summary
    kept = keys_of(connection, demo)
    second = consolidate("--group-id", demo, *FULL).summary
    third = consolidate("--group-id", demo, *FULL).summary
    assert keys_of(connection, demo) == kept
    assert second["wrote"] == dict.fromkeys(second["wrote"], 0)
    assert stable(second) == stable(third)
    moved = ("retention", "wrote", "wakeAgent")
    assert {k: v for k, v in stable(first).items() if k not in moved} == {
        k: v for k, v in stable(second).items() if k not in moved
    }


def test_four_runs_at_six_hours_equal_one_at_twenty_four(consolidate, demo, connection, tmp_path):
    def report(hours):
        file = tmp_path / f"{hours}.json"
        moment = f"2026-07-{1 + hours // 24:02d}T{hours % 24:02d}:00:00Z"
        ended = consolidate(
            "--group-id", demo, "--prune", "--now", moment, "--report-file", str(file)
        )
        assert ended.code == 0, ended.err
        return json.loads(file.read_text())

    for hours in (6, 12, 18):
        report(hours)
    often = report(24)
    kept = keys_of(connection, demo)
    delete = [key for key in kept if key != demo]
    connection.delete(*delete)
    once = report(24)
    assert often["retention"]["all"] == once["retention"]["all"]
    assert often["pruning"]["all"] == once["pruning"]["all"]
    traces = {key: value for key, value in keys_of(connection, demo).items() if ":traces:" in key}
    assert traces and traces == {key: kept[key] for key in traces}


def test_a_dry_run_leaves_every_key_byte_for_byte(consolidate, demo, connection):
    before = keys_of(connection, demo)
    summary = consolidate("--group-id", demo, "--dry-run", *FULL).summary
    assert summary["dry_run"] is True
    assert summary["retention"]["changed"] == 183
    assert summary["wrote"] == dict.fromkeys(summary["wrote"], 0)
    assert keys_of(connection, demo) == before


def test_the_run_writes_only_into_its_own_room(consolidate, demo, connection):
    graph_before = keys_of(connection, demo)[demo]
    others = keys_there(connection) - {demo}
    consolidate("--group-id", demo, *FULL)
    after = keys_of(connection, demo)
    assert after.pop(demo) == graph_before
    assert after and all(key.startswith(f"synapse:{{{demo}}}:") for key in after)
    assert keys_there(connection) - others == {demo, *after}


def test_the_report_file_holds_the_full_lists(consolidate, demo, tmp_path):
    file = tmp_path / "report.json"
    summary = consolidate(
        "--group-id", demo, *FULL, *MONTHS_LATER, "--report-file", str(file)
    ).summary
    report = json.loads(file.read_text())
    for section, value in summary.items():
        if isinstance(value, dict) and section in report:
            assert {k: v for k, v in report[section].items() if k != "all"} == value
    memories = report["retention"]["all"]
    assert len(memories) == 183
    assert set(memories[0]) == {
        "uuid", "kind", "salience", "recency", "frequency", "correction", "emotion", "strength",
    }  # fmt: skip
    assert len(report["contradictions"]["all"]) == summary["contradictions"]["count"]
    assert len(report["schemas"]["all"]) == summary["schemas"]["count"]
    listed = report["pruning"]["all"]
    assert len(listed) == summary["pruning"]["candidates"] + summary["pruning"]["spared"] > 0
    assert all(entry["reason"] for entry in listed)
    assert not list(tmp_path.glob(".report*"))


@pytest.mark.parametrize("wants_report", [True, False])
def test_a_reader_that_has_left_loses_only_the_line(
    store, falkordb_uri, demo, tmp_path, wants_report
):
    reader, writer = os.pipe()
    os.close(reader)
    file = tmp_path / "report.json"
    options = ["--report-file", str(file)] if wants_report else []
    try:
        ended = subprocess.run(
            [sys.executable, str(SCRIPT), "--group-id", demo, *AT, *options],
            env={**os.environ, "FALKORDB_URI": falkordb_uri}, cwd=tmp_path,
            stdout=writer, stderr=subprocess.PIPE, text=True, timeout=120,
        )  # fmt: skip
    finally:
        os.close(writer)
    assert (ended.returncode, ended.stderr) == (0 if wants_report else 1, "")
    assert len(store.read_room(demo).traces)
    if wants_report:
        assert json.loads(file.read_text())["status"] == "ok"


def test_a_report_file_that_cannot_be_written_is_one_sentence(consolidate, demo, tmp_path):
    ended = consolidate("--group-id", demo, *AT, "--report-file", str(tmp_path / "no" / "r.json"))
    assert ended.code == 2
    assert ended.err.startswith("cannot write the report file")
    assert ended.summary["status"] == "failed"


@pytest.mark.parametrize("name", ["", "/", "n" * 300])
def test_a_report_file_that_is_no_name(consolidate, demo, name):
    ended = consolidate("--group-id", demo, *AT, "--report-file", name)
    assert (ended.code, ended.summary["status"]) == (2, "failed")
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize("where", ["circle", "no/report.json"])
def test_a_link_that_leads_to_no_file_is_refused_before_the_run(
    consolidate, demo, tmp_path, connection, where
):
    link = tmp_path / "circle"
    link.symlink_to(where)
    ended = consolidate("--group-id", demo, *AT, "--report-file", str(link))
    assert (ended.code, ended.summary["status"]) == (2, "failed")
    assert ended.err.startswith("cannot write the report file") and link.is_symlink()
    assert not connection.exists(f"synapse:{{{demo}}}:meta")


def test_where_nobody_hears_of_a_failure_the_summary_stays_one_line(graph_name, falkordb_uri):
    command = [sys.executable, str(SCRIPT), "--graph", graph_name, "-v"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *command],
        env={**os.environ, "FALKORDB_URI": falkordb_uri},
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2 and len(done.stdout.splitlines()) == 1
    assert json.loads(done.stdout)["status"] == "failed"


def test_a_report_never_takes_the_place_of_something_else(consolidate, demo, tmp_path):
    target, link, private = (tmp_path / name for name in ("target", "link", "private"))
    link.symlink_to(target)
    private.touch(0o600)
    for file in (link, private, Path("/dev/null")):
        assert consolidate("--group-id", demo, *AT, "--report-file", str(file)).code == 0
    assert link.is_symlink() and json.loads(target.read_text())["graph"] == demo
    assert private.stat().st_mode & 0o777 == 0o600
    assert Path("/dev/null").is_char_device()


def test_nobody_listens_on_stderr(consolidate, demo, falkordb_uri):
    command = f'"$0" "$1" --group-id {demo} --now {DEMO_NOW} 2>&-'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable, str(SCRIPT)],
        env={**os.environ, "FALKORDB_URI": falkordb_uri},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["status"] == "ok"


def test_important_memories_rank_above_transient_ones_at_every_age(consolidate, demo, tmp_path):
    def strengths(moment):
        file = tmp_path / "r.json"
        consolidate("--group-id", demo, "--now", moment, "--dry-run", "--report-file", str(file))
        memories = json.loads(file.read_text())["retention"]["all"]
        return {memory["uuid"]: memory["strength"] for memory in memories}

    start = strengths(DEMO_NOW)
    important = max(start, key=lambda uuid: start[uuid])
    trivial = min(start, key=lambda uuid: start[uuid])
    for moment in ("2026-07-08T00:00:00Z", "2026-08-30T00:00:00Z", "2027-07-01T00:00:00Z"):
        later = strengths(moment)
        assert later[important] > later[trivial]
        assert len(later) == 183


def test_an_unknown_group_lists_what_there_is_and_creates_nothing(consolidate, demo, connection):
    before = keys_there(connection)
    ended = consolidate("--group-id", "no-such-group", "--graph", demo)
    assert ended.code == 2
    assert "no-such-group" in ended.err and demo in ended.err
    assert ended.summary["status"] == "failed"
    assert consolidate("--graph", "no-such-graph").code == 2
    assert keys_there(connection) == before


def test_a_group_inside_a_shared_graph_keeps_the_traces_of_the_others(
    consolidate, store, graph_name
):
    def entity(uuid, group):
        return {"uuid": uuid, "name": uuid, "group_id": group, "summary": "", "labels": [],
                "created_at": "2026-06-01T00:00:00+00:00"}  # fmt: skip

    both = (entity("a", "one"), entity("b", "two"), entity("c", "two"))
    store.write_memory(graph_name, GraphDocument(entities=both))
    in_graph = ("--graph", graph_name, *AT)
    one = consolidate("--group-id", "one", *in_graph).summary
    two = consolidate("--group-id", "two", *in_graph).summary
    assert (one["seen"]["entities"], two["seen"]["entities"]) == (1, 2)
    assert one["group_id"] == "one"
    assert len(store.read_room(graph_name).traces) == 3
    whole = consolidate(*in_graph).summary
    assert whole["retention"] == {**whole["retention"], "changed": 0, "unchanged": 3}
    assert "several groups" in whole["warnings"][0]


def test_a_group_run_removes_what_is_gone_and_says_what_it_left_out(
    consolidate, store, graph_name, connection
):
    connection.execute_command(
        "GRAPH.QUERY",
        graph_name,
        "CREATE (:Entity {uuid: 'n', name: 'n', group_id: 'one'})"
        "-[:RELATES_TO {uuid: 'f', name: 'R', fact: '', group_id: 'one'}]->"
        "(:Entity {uuid: 'm', name: 'm', group_id: 'two'}), "
        "(:Entity {uuid: 'gone', name: 'gone', group_id: 'one'})",
    )
    command = ("--graph", graph_name, "--group-id", "one", *AT)
    first = consolidate(*command).summary
    assert (first["seen"]["entities"], first["seen"]["facts"]) == (2, 0)
    assert "1 facts_with_ends_in_other_groups" in str(first["warnings"])
    consolidate("--graph", graph_name, *AT)
    assert len(store.read_room(graph_name).traces) == 4
    connection.execute_command("GRAPH.QUERY", graph_name, "MATCH (n {uuid: 'gone'}) DELETE n")
    consolidate(*command)
    assert len(store.read_room(graph_name).traces) == 3


def test_an_entity_and_a_fact_may_share_a_uuid(consolidate, connection, graph_name):
    connection.execute_command(
        "GRAPH.QUERY",
        graph_name,
        "CREATE (a:Entity {uuid: 'same', name: 'a'}), (b:Entity {uuid: 'other', name: 'b'}), "
        "(a)-[:RELATES_TO {uuid: 'same', name: 'R', fact: ''}]->(b)",
    )
    wrote = [consolidate("--graph", graph_name, *AT).summary["wrote"]["traces"] for _ in range(2)]
    assert wrote == [3, 0]


def test_online_surprises_are_drained_once(consolidate, demo, store):
    store.record_surprises(demo, {"": [Surprise("f", "g", "single_valued", 0.9, 1.0)] * 3})
    counts = [
        consolidate("--group-id", demo, *AT).summary["online_contradictions"]["count"]
        for _ in range(2)
    ]
    assert counts == [3, 0]


def test_a_busy_lock_is_no_failure_unless_strict(consolidate, demo, store, connection):
    assert store.acquire_lock(demo, "somebody", 60.0)
    before = keys_of(connection, demo)
    ended = consolidate("--group-id", demo, *AT, "--lock-wait", "0")
    assert (ended.code, ended.summary["status"], ended.err) == (0, "lock_busy", "")
    strict = consolidate("--group-id", demo, *AT, "--strict", "--lock-wait", "0.1")
    assert strict.code == 4
    assert "another run works on graph" in strict.err
    assert {k: v for k, v in keys_of(connection, demo).items() if ":lock" not in k} == {
        k: v for k, v in before.items() if ":lock" not in k
    }
    store.release_lock(demo, "somebody")
    assert consolidate("--group-id", demo, *AT).summary["status"] == "ok"


def test_all_groups_go_on_when_one_fails(consolidate, new_server, falkordb_uri, short_folder):
    server = new_server(short_folder / "s")
    from synapse.store import open_store

    store = open_store(server.uri)
    entity = {"uuid": "a", "name": "A", "summary": "", "labels": [], "group_id": "x",
              "created_at": "2026-06-01T00:00:00+00:00"}  # fmt: skip
    for name in ("broken", "sound"):
        store.write_memory(name, GraphDocument(entities=({**entity, "group_id": name},)))
    store._connection.hset("synapse:{broken}:meta", "schema_version", "99")
    store.close()

    ended = consolidate("--all-groups", *AT, uri=server.uri)
    assert ended.code == 3
    assert ended.err.startswith("1 of 2 graphs failed; broken:")
    summary = ended.summary
    assert summary["status"] == "partial"
    assert {g["graph"]: g["status"] for g in summary["groups"]} == {
        "broken": "failed",
        "sound": "ok",
    }
    assert "newer" in summary["groups"][0]["error"]
    for _ in range(2):
        ended = consolidate("--all-groups", *AT, uri=server.uri)
    assert "failure 3 in a row" in str(ended.summary["groups"][0]["warnings"])


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["--frobnicate"], "No such option"),
        (["--now", "yesterday"], "not an ISO 8601 time"),
        (["--all-groups", "--group-id", "x"], "excludes"),
        (["--now", "9999-12-31T23:59:59-14:00"], "not an ISO 8601 time"),
        (["--graph", "g" * 5_000], "there is no graph"),
        (["--config", "/nonexistent.toml"], "cannot read the configuration file"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_code_two(consolidate, arguments, cause):
    ended = consolidate(*arguments)
    assert ended.code == 2
    assert cause in ended.err and len(ended.err.splitlines()[0]) <= 130
    assert not ended.out or len(ended.out) <= 3_501
    assert "Traceback" not in ended.err


def test_an_unreachable_server_is_exit_code_75(consolidate):
    ended = consolidate(uri="redis://:secret-word@127.0.0.1:1")
    assert ended.code == 75
    assert ended.summary["status"] == "failed"
    assert "secret-word" not in ended.out + ended.err
    first = ended.err.splitlines()[0]
    assert len(first) <= 130
    assert not any(word in first.lower() for word in ("timeout", "timed out", "authentic", "429"))


@pytest.mark.parametrize("uri", ["http://x", "localhost:6379", "embedded:"])
def test_an_address_that_cannot_be_understood(consolidate, uri):
    ended = consolidate(uri=uri)
    assert ended.code == 2
    assert "the database address must be" in ended.err


HOSTILE = [
    'quote " and \\ backslash', "emoji 🧠", "nul \x00 inside", "long " * 2_000,
    "'}) DETACH DELETE n //", "line\nbreak\r\u2028", "DB_PASSWORD=abcd\"", "\x1e\x1f",
]  # fmt: skip


def test_hostile_names_stay_data(consolidate, store, graph_name, connection, tmp_path):
    entities = tuple(
        {"uuid": f"u{i} it's \"q\" \\ 🧠", "name": text.replace("\x00", ""),
         "summary": text.replace("\x00", ""), "labels": [], "group_id": graph_name,
         "created_at": "2026-06-01T00:00:00+00:00"}
        for i, text in enumerate(HOSTILE)
    )  # fmt: skip
    facts = tuple(
        {"uuid": f"f{i}", "source_node_uuid": entities[i]["uuid"],
         "target_node_uuid": entities[0]["uuid"], "name": text.replace("\x00", ""),
         "fact": text.replace("\x00", ""), "group_id": graph_name, "episodes": [],
         "created_at": "2026-06-01T00:00:00+00:00"}
        for i, text in enumerate(HOSTILE)
    )  # fmt: skip
    store.write_memory(graph_name, GraphDocument(entities=entities, facts=facts))
    file = tmp_path / "r.json"
    ended = consolidate(
        "--graph", graph_name, "--schemas", "--prune", "--report-file", str(file),
        "--now", "2027-01-01T00:00:00Z",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert len(ended.out) <= 3_501
    summary = ended.summary
    assert summary["seen"]["entities"] == summary["seen"]["facts"] == len(HOSTILE)
    listed = {m["uuid"] for m in json.loads(file.read_text())["retention"]["all"]}
    assert {entity["uuid"] for entity in entities} < listed
    assert "DB_PASSWORD" not in ended.out or "DB_PASSWORD=" not in str(summary["contradictions"])


def test_an_empty_graph_explains_its_zeros(consolidate, connection, graph_name):
    connection.execute_command("GRAPH.QUERY", graph_name, "RETURN 1")
    summary = consolidate("--graph", graph_name, *FULL).summary
    assert summary["reason_for_zero"] == {"seen": "there are no entities and no facts to see"}
    assert summary["pruning"]["share"] == 0.0


def test_a_host_is_woken_by_news_or_always(consolidate, demo):
    command = ("--group-id", demo, *AT)
    calls = [
        consolidate(*command, *more).summary["wakeAgent"] for more in ([], [], ["--always-wake"])
    ]
    assert calls == [True, False, True]


def test_the_wish_to_be_woken_stands_for_all_groups(consolidate, new_server, short_folder):
    server = new_server(short_folder / "data")
    lines = [consolidate("--all-groups", *more, uri=server.uri) for more in ([], ["--always-wake"])]
    assert [line.summary["wakeAgent"] for line in lines] == [False, False], "no graph, no news"


def test_a_name_like_a_host_s_own_words_does_not_hide_the_reason(consolidate):
    ended = consolidate("--group-id", "timeout-429")
    assert ended.code == 2 and "'t·imeout-4·29'" in ended.err.splitlines()[0]
    assert "timeout" not in ended.out and "429" not in ended.out
    assert "timeout-429" in ended.summary["error"]
