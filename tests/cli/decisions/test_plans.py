"""plan, apply, runs, undo and prune, as people call them."""

import json

import pytest

from synapse.hippocampus.journal import RunEntry
from synapse.hippocampus.quantity import quantity
from tests.cli.decisions.conftest import AT, edges, sure
from tests.cli.test_consolidate import keys_of
from tests.support.canonical_dump import canonical_dump


@pytest.fixture
def made(synapse, demo, tmp_path):
    """A plan of what is certain, as a file."""
    file = tmp_path / "plan.json"
    ended = synapse("plan", "--resolve", "-o", str(file), "--group-id", demo, *AT)
    assert ended.code == 0, ended.err
    return file


def last_run(synapse, demo):
    return json.loads(synapse("runs", "--group-id", demo, "--json").out)[-1]


def test_a_plan_says_everything_and_writes_nothing(synapse, demo, findings, connection, tmp_path):
    before, waiting, file = keys_of(connection, demo), findings(), tmp_path / "plan.json"
    options = ("--resolve", "--group-id", demo, *AT)
    told = synapse("plan", *options, "-o", str(file))
    assert told.code == 0 and f"{quantity(len(sure(waiting)), 'fact')} ended" in told.out
    assert synapse("plan", *options).out == file.read_text()
    changes = {change["memory"]: change for change in json.loads(file.read_text())["changes"]}
    assert set(changes) == sure(waiting)
    for fact, change in changes.items():
        case = waiting[fact]
        for name in ("text", "by", "by_text", "evidence"):
            assert change[name] == case[name]
        assert case["rule"] in change["reason"]
    lines = file.read_text().splitlines()
    assert sum(fact in line for line in lines for fact in changes if '"memory"' in line) >= 1
    assert keys_of(connection, demo) == before


def test_apply_does_what_the_plan_says_and_undo_takes_it_back(
    synapse, demo, made, connection, falkordb_uri
):
    before = canonical_dump(falkordb_uri, demo)
    dry = synapse("apply", str(made), *AT, "--dry-run")
    assert dry.code == 0 and "would be" in dry.out and canonical_dump(falkordb_uri, demo) == before
    done = synapse("apply", str(made), *AT, "--json")
    told = json.loads(done.out)
    planned = {c["memory"]: c["to"] for c in json.loads(made.read_text())["changes"]}
    assert done.code == 0 and told["ended"] == len(planned) and told["left"] == {}
    now = edges(connection, demo)
    assert all(now[fact] | to == now[fact] for fact, to in planned.items())
    again = synapse("apply", str(made), *AT)
    assert again.code == 0 and "Nothing to do" in again.out and told["run_id"] in again.out
    run = last_run(synapse, demo)
    assert (run["run_id"], run["ended"], run["undoable"]) == (
        told["run_id"],
        len(planned),
        len(planned),
    )
    undone = synapse("undo", told["run_id"][:6], "--group-id", demo)
    assert undone.code == 0, undone.err
    assert canonical_dump(falkordb_uri, demo) == before
    assert "Nothing is left to undo" in synapse("undo", told["run_id"], "--group-id", demo).out
    refused = synapse("apply", str(made), *AT)
    assert refused.code == 2 and "was undone" in refused.err
    shown = synapse("runs", "--group-id", demo).out
    assert f"{len(planned)} undone" in shown and f"undoes  {told['run_id']}" in shown


def test_consolidate_is_undone_by_the_name_in_its_summary(synapse, consolidate, demo, falkordb_uri):
    before = canonical_dump(falkordb_uri, demo)
    run_id = consolidate("--group-id", demo, *AT, "--resolve").summary["run_id"]
    assert canonical_dump(falkordb_uri, demo) != before
    assert synapse("undo", run_id, "--group-id", demo).code == 0
    assert canonical_dump(falkordb_uri, demo) == before


def test_what_changed_meanwhile_ends_with_three(synapse, demo, made, connection):
    fact = json.loads(made.read_text())["changes"][0]["memory"]
    connection.execute_command(
        "GRAPH.QUERY", demo,
        f"MATCH ()-[e:RELATES_TO {{uuid: '{fact}'}}]->() SET e.episodes = e.episodes + ['again']",
    )  # fmt: skip
    ended = synapse("apply", str(made), *AT)
    assert ended.code == 3 and f"left  {fact}  it has changed" in ended.out
    assert len(ended.err.splitlines()) == 1 and len(ended.err) < 131
    assert "invalid_at" not in edges(connection, demo)[fact]


def test_plans_that_are_refused(synapse, demo, made, connection, tmp_path, monkeypatch):
    before = keys_of(connection, demo)
    other = tmp_path / "other.json"
    other.write_text(made.read_text().replace("0.9", "0.8"))
    nothing = tmp_path / "nothing.json"
    nothing.write_text("{}")
    for arguments, words in (
        ((str(other),), "changed after it was made"),
        ((str(nothing),), "no plan"),
        ((str(tmp_path / "none.json"),), "No such file"),
        ((str(tmp_path),), "directory"),
        ((str(made), "--graph", "elsewhere"), "no graph 'elsewhere'"),
    ):
        ended = synapse("apply", *arguments, *AT)
        assert ended.code == 2 and words in ended.err, ended.err
        assert len(ended.err.splitlines()) == 1
    monkeypatch.setenv("SYNAPSE_CONTRADICTIONS__RESOLVE_CONFIDENCE", "0.5")
    ended = synapse("apply", str(made), *AT)
    assert ended.code == 2 and "configuration" in ended.err
    assert keys_of(connection, demo) == before


def test_a_busy_graph_is_waited_for_as_long_as_asked(synapse, demo, made, store, connection):
    assert store.acquire_lock(demo, "somebody", 60.0)
    for command in (
        ("apply", str(made)), ("undo", "r", "--group-id", demo),
        ("prune", "--apply", "--group-id", demo),
    ):  # fmt: skip
        ended = synapse(*command, *AT, "--lock-wait", "0.05")
        assert ended.code == 4 and "another run works on graph" in ended.err
    assert store.acquire_lock(demo, "somebody", 0.3), "it dies, and its token expires"
    assert synapse("apply", str(made), *AT, "--lock-wait", "30").code == 0


def test_prune_archives_what_it_lists_and_undo_brings_it_back(
    synapse, demo, connection, falkordb_uri
):
    late = ("--group-id", demo, "--now", "2027-09-01T00:00:00Z")
    before = canonical_dump(falkordb_uri, demo)
    listed = synapse("prune", *late)
    assert listed.code == 0 and "moves into the archive" in listed.out, listed.err
    assert canonical_dump(falkordb_uri, demo) == before
    assert listed.err.startswith("no recall was ever recorded here")
    done = synapse("prune", "--apply", *late, "--json")
    told = json.loads(done.out)
    assert done.code == 0 and 0 < told["archived"] <= 20
    assert listed.out.count("moves into the archive") == told["archived"]
    assert canonical_dump(falkordb_uri, demo) != before
    assert synapse("undo", told["run_id"], "--group-id", demo).code == 0
    assert canonical_dump(falkordb_uri, demo) == before


def test_many_small_prunes_keep_to_the_budget(synapse, demo, connection):
    facts_count = len(edges(connection, demo))
    codes = []
    for month in range(12):
        day = f"2027-09-{month + 1:02d}T00:00:00Z"
        codes.append(synapse("prune", "--apply", "--group-id", demo, "--now", day).code)
    assert set(codes) == {0}
    assert facts_count - len(edges(connection, demo)) <= 25
    assert len(json.loads(synapse("runs", "--group-id", demo, "--json").out)) > 1


def test_a_moment_to_come_frees_nothing_of_the_budget(synapse, demo, connection):
    facts_count = len(edges(connection, demo))
    for year in range(2027, 2039):
        done = synapse("prune", "--apply", "--group-id", demo, "--now", f"{year}-09-01T00:00:00Z")
        assert done.code == 0, done.err
    assert "earlier runs of 90 days" in done.out
    assert facts_count - len(edges(connection, demo)) <= 25


def test_a_graph_that_no_run_has_changed(synapse, demo):
    assert synapse("runs", "--group-id", demo).out == "No run has changed this graph.\n"
    ended = synapse("undo", "r", "--group-id", demo)
    assert ended.code == 2 and "see synapse runs" in ended.err
    assert synapse("plan", "--group-id", demo).code == 2


def test_a_run_that_died_says_so(synapse, demo, store):
    assert store.acquire_lock(demo, "t", 60.0)
    dead = RunEntry(
        run_id="dead", plan_id="p", command="apply", now="2026-07-01T06:00:00Z", now_s=1.0,
        config_digest="",
    )  # fmt: skip
    store.append_journal(demo, "dead", dead.as_dict(), "t")
    store.release_lock(demo, "t")
    assert "it died" in synapse("runs", "--group-id", demo).out
    store.acquire_lock(demo, "t", 60.0)
    store.append_journal(demo, "odd", {"shape": "of another version"}, "t")
    store.release_lock(demo, "t")
    ended = synapse("runs", "--group-id", demo)
    assert ended.code == 1 and "cannot be understood" in ended.err
