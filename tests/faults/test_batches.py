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


def start(uri, *arguments):
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *arguments],
        env={**os.environ, "FALKORDB_URI": uri},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


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
