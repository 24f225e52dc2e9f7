"""The archive as people use it: list, show, restore, purge."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from synapse.hippocampus.applier import Job
from synapse.hippocampus.archived import ArchivedMemory, not_to_propose
from synapse.hippocampus.changes import GraphChanges
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.plan import ArchiveChange
from synapse.hippocampus.plan_file import MemoryPlan, PlannedChange, Seen
from synapse.hippocampus.scope import Scope
from synapse.store.falkordb import FalkorStore
from tests.cli.conftest import Ended, Program, run_program
from tests.support.canonical_dump import canonical_dump

DAY_S = 86_400.0
NOW = "2026-06-01T00:00:00Z"
NOW_S = 1_780_272_000.0


@pytest.fixture
def moved(store: FalkorStore, demo: str) -> list[str]:
    """Two facts that lie in the archive since ten days, and one since a hundred."""
    facts = sorted(store.read_graph(demo).facts.uuid)[:3]
    images = store.read_images(demo, facts)
    assert store.acquire_lock(demo, "mine", 60.0)
    for run_id, days, some in (("first-run", 100, facts[:1]), ("second-run", 10, facts[1:])):
        changes = [
            ArchiveChange(u, "fact", images[u].digest, "strength 0.01", by_person=True)
            for u in some
        ]
        store.archive(demo, changes, run_id, NOW_S - days * DAY_S, "mine")
    store.release_lock(demo, "mine")
    return facts


def test_the_archive_is_listed_with_reasons(synapse: Program, demo: str, moved: list[str]) -> None:
    listed = synapse("archive", "list", "--group-id", demo)
    assert listed.code == 0 and listed.err == ""
    assert [line.split()[0] for line in listed.out.splitlines()[::3]] == moved
    assert "archived by a person: strength 0.01" in listed.out
    entries = synapse(
        "archive", "list", "--group-id", demo, "--run", "second-run", "--json"
    ).summary
    assert [entry["uuid"] for entry in entries] == moved[1:]
    assert entries[0]["at"] == "2026-05-22T00:00:00Z"
    begun = synapse("archive", "list", "--group-id", demo, "--run", "second", "--json")
    assert begun.summary == entries
    none = synapse("archive", "list", "--group-id", demo, "--run", "no-run")
    assert none.code == 2 and none.out == ""
    assert "the archive knows no run 'no-run'; see synapse archive list" in none.err


def test_an_empty_archive_says_so(synapse: Program, demo: str, store: FalkorStore) -> None:
    assert synapse("archive", "list", "--group-id", demo).out == "Nothing is archived here.\n"
    unknown = synapse("archive", "list", "--group-id", demo, "--run", "r")
    assert unknown.code == 2


def test_what_has_gone_from_the_archive_is_not_listed_as_nothing(
    synapse: Program, demo: str, moved: list[str]
) -> None:
    synapse("restore", "first", "--group-id", demo)
    synapse("restore", "second", "--group-id", demo)
    gone = "Nothing of it is in the archive any more; --all shows what was.\n"
    assert synapse("archive", "list", "--group-id", demo).out == gone
    assert synapse("archive", "list", "--group-id", demo, "--run", "first-run").out == gone
    assert synapse("archive", "list", "--group-id", demo, "--all").out.count("restored") == 3


@pytest.mark.parametrize("command", ["explain", "pin", "unpin"])
def test_an_archived_memory_is_not_simply_unknown(
    synapse: Program, demo: str, moved: list[str], command: str
) -> None:
    asked = synapse(command, moved[0], "--group-id", demo)
    assert asked.code == 2 and asked.out == ""
    said = f"run first-run archived it; bring it back with synapse restore {moved[0]}"
    assert asked.err.startswith(said) and len(asked.err.splitlines()[0]) < 130
    assert synapse("restore", moved[0], "--group-id", demo).code == 0
    assert synapse(command, moved[0], "--group-id", demo).code == 0


def test_a_run_of_which_a_part_is_back_is_undone(
    synapse: Program, demo: str, store: FalkorStore
) -> None:
    later = ("--now", "2031-01-01T00:00:00Z")
    done = synapse("prune", "--apply", "--json", "--group-id", demo, *later).summary
    uuids = [m.uuid for m in store.read_archive(demo)]
    assert done["archived"] == len(uuids) >= 2
    assert synapse("restore", uuids[0], "--group-id", demo).code == 0
    undone = synapse("undo", done["run_id"], "--group-id", demo)
    assert undone.code == 0 and "Already so: 1." in undone.out
    again = synapse("undo", done["run_id"], "--group-id", demo)
    assert again.out == f"Nothing is left to undo of run {done['run_id']}.\n"


def foreseen(synapse: Program, *arguments: str) -> Ended:
    """What a command says, having said the same in a dry run."""
    dry = synapse(*arguments, "--dry-run", "--json")
    done = synapse(*arguments, "--json")
    told = [{**ended.summary, "plan": "", "run_id": "", "dry_run": ""} for ended in (dry, done)]
    assert (dry.code, dry.err, told[0]) == (done.code, done.err, told[1])
    return done


def _query(store: FalkorStore, graph: str, query: str) -> None:
    store._connection.execute_command("GRAPH.QUERY", graph, query)


@pytest.mark.parametrize("command", ["restore", "undo"])
def test_another_version_in_the_graph_is_left_and_the_archived_one_stays(
    synapse: Program, demo: str, store: FalkorStore, command: str
) -> None:
    later = ("--now", "2031-01-01T00:00:00Z")
    run_id = synapse("prune", "--apply", "--json", "--group-id", demo, *later).summary["run_id"]
    fact = next(m.uuid for m in store.read_archive(demo) if m.kind == "fact")
    create = f"CREATE (a)-[:RELATES_TO {{uuid: '{fact}', fact: 'a stale copy'}}]->(a)"
    _query(store, demo, f"MATCH (a:Entity) WITH a LIMIT 1 {create}")
    for _ in range(2):
        asked = foreseen(synapse, command, run_id, "--group-id", demo)
        assert asked.code == 3 and len(asked.err.splitlines()[0]) < 130
        told = asked.summary
        assert told["left"].keys() == {fact} and "another version" in told["left"][fact]
    assert store.read_images(demo, [fact])[fact].name == "a stale copy"
    assert store.read_archived_images(demo, [fact])[fact].name != "a stale copy"
    _query(store, demo, f"MATCH ()-[e:RELATES_TO {{uuid: '{fact}'}}]->() DELETE e")
    assert synapse(command, run_id, "--group-id", demo).code == 0
    assert store.read_images(demo, [fact])[fact].name != "a stale copy"


@pytest.mark.parametrize("command", ["restore", "undo"])
def test_what_is_lost_and_what_is_there_twice_is_said(
    synapse: Program, demo: str, store: FalkorStore, command: str
) -> None:
    _query(
        store, demo,
        "CREATE (p:Episodic {uuid: 'p1', name: 'p'})-[:MENTIONS {uuid: 'm1'}]->"
        f"(:Entity {{uuid: 'x1', name: 'X', group_id: '{demo}'}})",
    )  # fmt: skip
    assert store.acquire_lock(demo, "mine", 60.0)
    digest = store.read_images(demo, ["x1"])["x1"].digest
    store.release_lock(demo, "mine")
    change = PlannedChange(do="archive", memory="x1", kind="entity", before=digest, reason="weak")
    config = HippocampusConfig()
    plan = MemoryPlan(
        graph=demo, now=NOW, config_digest=config.digest, seen=Seen(entities=50),
        changes=(change,),
    )  # fmt: skip
    job = Job("the-run", "apply", NOW_S)
    assert GraphChanges(store, Scope(demo), config).apply(plan, job, "mine").done == {"x1"}
    _query(store, demo, "MATCH (p {uuid: 'p1'}) DELETE p")
    _query(store, demo, f"CREATE (:Entity {{uuid: 'x2', name: 'X', group_id: '{demo}'}})")
    asked = foreseen(synapse, command, "the-run", "--group-id", demo)
    assert asked.code == 0 and asked.summary["notes"]["x1"].startswith("1 link")
    assert "MENTIONS from p1" in asked.out and "also holds 'X' as x2" in asked.out


def test_one_memory_is_shown_whole(
    synapse: Program, demo: str, moved: list[str], store: FalkorStore
) -> None:
    image = store.read_archived_images(demo, moved[:1])[moved[0]]
    text = synapse("archive", "show", moved[0], "--group-id", demo).out
    assert f'  fact: "{image.name}"' in text
    assert f"from        {image.end_names[0]} ({image.ends[0]})" in text
    shown = synapse("archive", "show", moved[0], "--group-id", demo, "--json").summary
    assert shown["content"]["properties"] == dict(image.properties)
    assert [entry["state"] for entry in shown["entries"]] == ["archived"]
    named = synapse("archive", "show", image.name.upper(), "--group-id", demo)
    assert named.out == text
    unknown = synapse("archive", "show", "nobody", "--group-id", demo)
    assert unknown.code == 2 and "knows no memory 'nobody'" in unknown.err


def test_a_run_comes_back_and_can_be_undone(
    synapse: Program, demo: str, moved: list[str], store: FalkorStore
) -> None:
    def there() -> set[str]:
        return set(store.read_graph(demo).facts.uuid) & set(moved)

    dry = synapse("restore", "second", "--group-id", demo, "--dry-run")
    assert dry.code == 0 and "It would be: 2 memories restored" in dry.out and there() == set()
    done = synapse("restore", "second", "--group-id", demo)
    assert done.code == 0 and "Done: 2 memories restored" in done.out
    assert there() == set(moved[1:])
    again = synapse("restore", moved[1], "--group-id", demo)
    assert again.code == 0 and "Already so: 1." in again.out
    (undo,) = [line for line in done.out.splitlines() if "synapse undo" in line]
    undone = synapse(*shlex.split(undo.partition("synapse ")[2]))
    assert undone.code == 0 and there() == set()
    unknown = synapse("restore", "nobody", "--group-id", demo)
    assert unknown.code == 2 and "see synapse archive list" in unknown.err


def test_purging_needs_yes(
    synapse: Program, demo: str, moved: list[str], store: FalkorStore
) -> None:
    def purge(*more: str) -> Any:
        return synapse("purge", "--older-than", "90d", "--group-id", demo, "--now", NOW, *more)

    dry = purge()
    assert dry.code == 0 and dry.out.startswith(
        "Would be gone for good: 1 memory archived before 2026-03-03T00:00:00Z"
    )
    assert "add --yes" in dry.out
    assert set(store.read_archived_images(demo, moved)) == set(moved)
    assert purge("--json").summary["freed"] == 0
    done = purge("--yes", "--json").summary
    assert done == {
        "graph": demo, "archived_before": "2026-03-03T00:00:00Z", "memories": 1, "freed": 1
    }  # fmt: skip
    assert purge("--yes", "--json").summary["freed"] == 0
    assert store.lock_holder(demo) is None
    gone = synapse("restore", moved[0], "--group-id", demo)
    assert gone.code == 3 and "gone for good" in gone.err
    listed = synapse("archive", "list", "--group-id", demo, "--all").out
    assert "purged" in listed and "(no name is kept)" in listed
    assert (
        json.loads(synapse("archive", "show", moved[0], "--group-id", demo, "--json").out)[
            "content"
        ]
        is None
    )


@pytest.mark.parametrize("age", ["90", "-1d", "0.5d", "d", "nan", "1e9d", "9999999d"])
def test_an_age_is_a_number_of_days(synapse: Program, demo: str, age: str) -> None:
    refused = synapse("purge", f"--older-than={age}", "--yes", "--group-id", demo)
    assert refused.code == 2 and "write 90d" in refused.err and refused.out == ""


def test_a_purge_beside_a_run_frees_nothing(
    synapse: Program, demo: str, moved: list[str], store: FalkorStore
) -> None:
    assert store.acquire_lock(demo, "somebody", 60.0)
    busy = synapse("purge", "--older-than", "0d", "--yes", "--group-id", demo)
    assert busy.code == 4 and "nothing was freed" in busy.err
    assert set(store.read_archived_images(demo, moved)) == set(moved)


def _moved_stranger(store: FalkorStore, graph: str) -> None:
    """An entity on which no fact hangs, in the archive."""
    _query(store, graph, f"CREATE (:Entity {{uuid: 'x1', name: 'X', group_id: '{graph}'}})")
    assert store.acquire_lock(graph, "mine", 60.0)
    change = ArchiveChange("x1", "entity", store.read_images(graph, ["x1"])["x1"].digest, "weak")
    assert store.archive(graph, [change], "third-run", NOW_S, "mine") == {"x1"}
    store.release_lock(graph, "mine")


def test_what_would_be_archived_again_but_has_facts_by_now_is_foreseen(
    synapse: Program, demo: str, store: FalkorStore
) -> None:
    _moved_stranger(store, demo)
    run_id = synapse("restore", "x1", "--group-id", demo, "--json").summary["run_id"]
    create = "CREATE (a)-[:RELATES_TO {uuid: 'new', fact: 'X knows X'}]->(a)"
    _query(store, demo, f"MATCH (a:Entity {{uuid: 'x1'}}) {create}")
    asked = foreseen(synapse, "undo", run_id, "--group-id", demo)
    assert asked.code == 3
    assert asked.summary["left"] == {"x1": "fact new hangs on it and stays"}


def test_ends_that_come_along_are_named(synapse: Program, demo: str, store: FalkorStore) -> None:
    fact = next(m.uuid for m in _all_of_one_entity(store, demo) if m.kind == "fact")
    asked = foreseen(synapse, "undo", "facts", "--group-id", demo)
    assert asked.summary["restored"] == 1 and set(store.read_images(demo, [fact])) == {fact}
    assert list(asked.summary["notes"].values()) == [
        "comes along: a fact that comes back hangs on it"
    ]


def _all_of_one_entity(store: FalkorStore, graph: str) -> list[ArchivedMemory]:
    """One run archives the only fact of an entity, another the entity."""
    _query(
        store, graph,
        "CREATE (a:Entity {uuid: 'x1', name: 'X'})-[:RELATES_TO {uuid: 'xy', fact: 'X knows Y'}]->"
        "(:Entity {uuid: 'y1', name: 'Y'})",
    )  # fmt: skip
    config = HippocampusConfig()
    changes = GraphChanges(store, Scope(graph), config)
    for run_id, uuid in (("facts", "xy"), ("entities", "x1")):
        image = store.read_images(graph, [uuid])[uuid]
        change = PlannedChange(
            do="archive", memory=uuid, kind=image.kind, before=image.digest, reason="weak"
        )
        plan = MemoryPlan(
            graph=graph, now=NOW, config_digest=config.digest,
            seen=Seen(entities=50, facts=50), changes=(change,),
        )  # fmt: skip
        assert changes.apply(plan, Job(run_id, "apply", NOW_S), run_id).done == {uuid}
    return store.read_archive(graph)


def test_the_archive_of_a_graph_that_is_gone(
    synapse: Program, demo: str, moved: list[str], store: FalkorStore
) -> None:
    _moved_stranger(store, demo)
    store._connection.execute_command("GRAPH.DELETE", demo)
    entries = synapse("archive", "list", "--group-id", demo, "--json").summary
    assert {entry["uuid"] for entry in entries} == {*moved, "x1"}
    assert "fact: " in synapse("archive", "show", moved[0], "--graph", demo).out
    asked = foreseen(synapse, "restore", "first", "--group-id", demo)
    assert asked.code == 3 and "its end" in asked.err and "is gone" in asked.err
    assert demo not in store.graphs(), "nothing came back"
    asked = foreseen(synapse, "restore", "x1", "--graph", demo)
    assert asked.code == 0 and asked.summary["restored"] == 1
    assert store.read_graph(demo).entities.uuid == ["x1"]
    assert synapse("doctor", "--graph", demo).code in (0, 1)
    store._connection.execute_command("GRAPH.DELETE", demo)
    freed = synapse("purge", "--older-than", "0d", "--yes", "--graph", demo, "--json").summary
    assert freed["freed"] == len(moved) and demo not in store.graphs()
    unknown = synapse("restore", "x1", "--graph", "elsewhere")
    assert unknown.code == 2 and "there is no graph 'elsewhere'" in unknown.err


def test_what_was_moved_today_does_not_count_as_old(
    synapse: Program, demo: str, store: FalkorStore, tmp_path: Path
) -> None:
    file = tmp_path / "plan.json"
    later = ("--now", "2031-01-01T00:00:00Z")
    assert synapse("plan", "--prune", "-o", str(file), "--group-id", demo, *later).code == 0
    begun_s = datetime.now(UTC).timestamp() - 1.0
    done = synapse("apply", str(file), "--now", "2020-01-01T00:00:00Z", "--json").summary
    assert done["archived"] > 0
    (run,) = synapse("runs", "--group-id", demo, "--json").summary
    assert run["at"][:4] == f"{datetime.now(UTC):%Y}" and run["now"] == "2031-01-01T00:00:00Z"
    shown = synapse("runs", "--group-id", demo).out.splitlines()
    assert run["at"] in shown[0] and shown[2] == "  as of   2031-01-01T00:00:00Z"
    old = ("purge", "--older-than", "90d", "--group-id", demo, "--json")
    assert synapse(*old).summary["memories"] == 0
    assert synapse(*old, "--yes", "--now", "2021-01-01").summary["freed"] == 0
    assert synapse(*old, "--yes", "--now", "2100-01-01").code == 2
    archive = store.read_archive(demo)
    assert all(m.state == "archived" and m.at_s > begun_s for m in archive)


@pytest.mark.parametrize("is_typed", [True, False], ids=["typed", "scheduled"])
def test_what_a_person_types_at_a_terminal_is_the_persons_decision(
    falkordb_uri: str, demo: str, store: FalkorStore, tmp_path: Path, is_typed: bool
) -> None:
    command = ["-m", "synapse", "prune", "--apply", "--group-id", demo]
    controller, terminal = pty.openpty()
    stdin = terminal if is_typed else subprocess.DEVNULL
    done = run_program([*command, "--now", "2031-01-01T00:00:00Z"], falkordb_uri, tmp_path, stdin)
    os.close(terminal)
    os.close(controller)
    assert done.code == 0
    archive = store.read_archive(demo)
    assert {memory.by_person for memory in archive} == {is_typed}
    assert not_to_propose(archive) == ({m.uuid for m in archive} if is_typed else set())


def test_the_reason_of_what_is_undone_and_done_again_stays_readable(
    synapse: Program, demo: str, moved: list[str], store: FalkorStore
) -> None:
    run_id = synapse("restore", "second", "--group-id", demo, "--json").summary["run_id"]
    for word in ("undo", "again", "undo"):
        run_id = synapse("undo", run_id, "--group-id", demo, "--json").summary["run_id"]
        reasons = {change["reason"] for change in store.read_journal(demo)[run_id]["changes"]}
        assert reasons == {f"{word}: asked for; archived by run second-run: strength 0.01"}


STRANGE = (
    b"no \xff\xfe UTF-8",
    b"half \xed\xa0\xbd a pair",
    b"\x01\x1b[31m\x7f\xc2\x85\r\n",
    b"\xe2\x80\xa8",
)


def test_texts_that_are_none_are_planned_archived_and_brought_back(
    synapse: Program, demo: str, store: FalkorStore, falkordb_uri: str, tmp_path: Path
) -> None:
    options = ("--group-id", demo, "--now", "2031-01-01T00:00:00Z")
    file = tmp_path / "plan.json"
    facts = store.read_graph(demo).facts.uuid
    for place, fact in enumerate(facts):
        query = b"MATCH ()-[e:RELATES_TO {uuid: '%b'}]->() SET e.fact = e.fact + '%b'"
        values = fact.encode(), STRANGE[place % len(STRANGE)]
        store._connection.execute_command("GRAPH.QUERY", demo, query % values)
    before = canonical_dump(falkordb_uri, demo)
    assert synapse("plan", "--prune", "-o", str(file), *options).code == 0
    changes = json.loads(file.read_text(encoding="utf-8"))["changes"]
    assert len(file.read_text(encoding="utf-8").splitlines()) == len(changes) + 3
    looked = synapse("prune", *options)
    done = synapse("apply", str(file), *options[2:], "--json")
    assert (looked.code, done.code) == (0, 0) and done.summary["archived"] >= len(STRANGE)
    listed = synapse("archive", "list", "--group-id", demo)
    assert listed.code == 0 and "\\udcff" in listed.out and "\\x1b[31m" in listed.out
    assert all(c.isprintable() or c == "\n" for c in listed.out + looked.out)
    for memory in store.read_archive(demo):
        assert synapse("archive", "show", memory.uuid, "--group-id", demo).code == 0
    assert synapse("undo", done.summary["run_id"], "--group-id", demo).code == 0
    assert canonical_dump(falkordb_uri, demo) == before
