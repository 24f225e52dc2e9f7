"""Batches that meet, and batches that are stopped."""

import json
import os
import signal
import socket
import subprocess
import sys

import pytest

from synapse.demo import DEMO_NOW, demo_path
from tests.cli.conftest import SCRIPT, demo  # noqa: F401  the fixture
from tests.support.canonical_dump import canonical_dump


def start(uri, *arguments):
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *arguments],
        env={**os.environ, "FALKORDB_URI": uri},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def synapse(uri, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "synapse", *arguments],
        env={**os.environ, "FALKORDB_URI": uri},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def at_once(uri, *commands):
    """The answers of several commands that run at the same time, those of busy ones left out."""
    told = []
    for process in [synapse(uri, *command) for command in commands]:
        out, err = process.communicate(timeout=120)
        assert process.returncode in (0, 3, 4), err
        if process.returncode == 4:
            assert "another run" in err and out == ""
        else:
            told.append(json.loads(out))
    return told


LATE = "2028-01-01T00:00:00Z"
"""When much of the demo memory has faded."""


@pytest.mark.parametrize("how", ["prune", "plan", "both"])
def test_two_that_change_the_graph_at_once_change_it_once(
    falkordb_uri,
    demo,  # noqa: F811
    store,
    tmp_path,
    how,
):
    before, where = canonical_dump(falkordb_uri, demo), ("--graph", demo, "--now", LATE)
    file = str(tmp_path / "plan.json")
    made = synapse(falkordb_uri, "plan", *where, "--resolve", "--prune", "-o", file)
    assert made.wait(120) == 0
    prune = ("prune", "--apply", *where, "--json")
    apply = ("apply", file, *where, "--json")
    commands = {"prune": (prune,) * 2, "plan": (apply,) * 2, "both": (prune, apply)}[how]
    told = at_once(falkordb_uri, *commands)
    assert told, "one of them works"
    archived = [memory.uuid for memory in store.read_archive(demo)]
    assert len(set(archived)) == len(archived) > 0
    assert not store.read_images(demo, archived)
    assert sum(one.get("archived", 0) for one in told if one.get("run_id")) == len(archived)
    assert store.lock_holder(demo) is None
    runs = sorted(store.read_journal(demo))
    undos = [("undo", run, *where, "--json") for run in runs]
    at_once(falkordb_uri, *undos, *undos)
    for undo in (*undos, *undos):  # what was busy; what ended is gone until it is restored
        at_once(falkordb_uri, undo)
    assert canonical_dump(falkordb_uri, demo) == before
    assert {memory.state for memory in store.read_archive(demo)} == {"restored"}


def test_two_batches_that_resolve_at_once_resolve_once(falkordb_uri, demo, store):  # noqa: F811
    command = ("--group-id", demo, "--now", DEMO_NOW, "--resolve")
    batches = [start(falkordb_uri, *command) for _ in range(3)]
    summaries = [json.loads(batch.communicate(timeout=120)[0]) for batch in batches]
    assert [batch.returncode for batch in batches] == [0, 0, 0]
    assert {summary["status"] for summary in summaries} <= {"ok", "lock_busy"}
    resolved = [s.get("contradictions", {}).get("resolved", 0) for s in summaries]
    assert max(resolved) == sum(resolved) > 0
    (run,) = store.read_journal(demo).values()
    assert run["is_settled"] and len(run["changes"]) == sum(resolved)
    assert store.lock_holder(demo) is None


def test_two_batches_at_once_write_once(falkordb_uri, demo, store):  # noqa: F811
    command = ("--group-id", demo, "--now", DEMO_NOW)
    batches = [start(falkordb_uri, *command) for _ in range(2)]
    summaries = [json.loads(batch.communicate(timeout=60)[0]) for batch in batches]
    assert [batch.returncode for batch in batches] == [0, 0]
    assert {summary["status"] for summary in summaries} <= {"ok", "lock_busy"}
    wrote = [summary.get("wrote", {}).get("traces", 0) for summary in summaries]
    assert sorted(wrote) == [0, 183]
    room = store.read_room(demo)
    assert (room.revision, len(room.traces)) == (1, 183)
    assert store.lock_holder(demo) is None


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_batch_that_is_stopped_says_so(stop):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        batch = start(f"redis://127.0.0.1:{silent.getsockname()[1]}")
        silent.accept()
        batch.send_signal(stop)
        out, err = batch.communicate(timeout=60)
    assert batch.returncode == 130
    assert out == "" and err.startswith("interrupted") and "Traceback" not in err


def test_loads_at_once_add_everything_once(falkordb_uri, graph_name, store):
    command = [sys.executable, "-m", "synapse", "load", str(demo_path()), "--group-id", graph_name]
    loads = [
        subprocess.Popen(
            command,
            env={**os.environ, "FALKORDB_URI": falkordb_uri},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    complaints = [load.communicate(timeout=60)[1] for load in loads]
    assert 0 in [load.returncode for load in loads]
    for load, complaint in zip(loads, complaints, strict=True):
        assert load.returncode == 0 or (load.returncode == 4 and "works on graph" in complaint)
    snapshot = store.read_graph(graph_name)
    assert (len(snapshot.entities), len(snapshot.facts), snapshot.left_out) == (55, 128, {})
