"""Servers that refuse to work, before a batch and in the midst of it: nothing lost or doubled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
import redis

from synapse.demo import DEMO_NOW, demo_path
from synapse.hippocampus.recall import RecallSet, fold
from synapse.integrations.memory_file import read_memory_file
from synapse.store import open_store
from synapse.store.embedded import EmbeddedServer
from synapse.store.falkordb import FalkorStore
from tests.faults.test_batches import start
from tests.store.test_connection import redis_server
from tests.store.test_room import everything
from tests.support.canonical_dump import canonical_dump
from tests.support.dying import DyingConnection
from tests.support.faults import FAULTS, administrator
from tests.support.processes import kill
from tests.support.rounds import Ground, not_made

NewServer = Callable[..., EmbeddedServer]
COMMAND = ("--graph", "g", "--now", DEMO_NOW, "--resolve", "--max-changes", "50")


@pytest.fixture
def server(new_server: NewServer) -> EmbeddedServer:
    """A server of one's own with the demo memory in ``g``, and recalls that wait."""
    server = new_server()
    with closing(open_store(server.uri)) as store:
        document = read_memory_file(demo_path(), group_id="g", now_iso=DEMO_NOW)
        store.write_memory("g", document)
        memories = sorted(store.read_graph("g").memory_uuids)
        store.record_recalls("g", recall_sets(memories))
    return server


@pytest.fixture
def admin(server: EmbeddedServer) -> Iterator[Any]:
    with administrator(server) as client:
        yield client


def recall_sets(memories: list[str]) -> list[RecallSet]:
    return [
        RecallSet(((memories[n], 1), (memories[2 * n + 1], 2)), "search", 1.78e9 + n * 90_000.0)
        for n in range(9)
    ]


def batch(uri: str, *arguments: str) -> tuple[int, dict[str, Any], str]:
    """The exit code, the summary and the complaint of a batch."""
    process = start(uri, *COMMAND, *arguments)
    out, err = process.communicate(timeout=120)
    assert "Traceback" not in err and len(out.splitlines()) == 1
    return process.returncode, json.loads(out), err


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a batch does that nothing disturbs."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with EmbeddedServer(folder) as server, closing(open_store(server.uri)) as store:
        document = read_memory_file(demo_path(), group_id="g", now_iso=DEMO_NOW)
        store.write_memory("g", document)
        memories = sorted(store.read_graph("g").memory_uuids)
        store.record_recalls("g", recall_sets(memories))
        code, summary, _ = batch(server.uri)
        assert code == 0 and summary["contradictions"]["resolved"] > 0
        return {"memories": memories, **what_stands(server.uri)}


def what_stands(uri: str) -> dict[str, Any]:
    """Graph and room, without what names one run."""
    with closing(open_store(uri)) as store:
        room = store.read_room("g")
        return {
            "graph": canonical_dump(uri, "g"),
            "traces": room.traces.tobytes(),
            "ledger": {fact: entry["state"] for fact, entry in room.ledger.items()},
            "recalled": (room.profiles, room.links, room.recalls),
            "ended": sorted(
                change["memory"]
                for entry in store.read_journal("g").values()
                for change in entry.get("changes", ())
                if change.get("outcome") == "done"
            ),
        }


@pytest.mark.parametrize("name", FAULTS)
def test_a_batch_that_a_server_refuses_is_done_by_the_next(
    server: EmbeddedServer, admin: Any, undisturbed: dict[str, Any], name: str
) -> None:
    fault = FAULTS[name]
    before = everything(admin)
    fault.begin(server, admin)
    code, summary, err = batch(server.uri)
    assert code == fault.error.exit_code and summary["status"] == "failed"
    assert fault.words in err.splitlines()[0] and len(err.splitlines()[0]) <= 130
    fault.end(server, admin)
    admin.delete("synapse:{g}:lock")
    after = everything(admin)
    meta = after.pop(b"synapse:{g}:meta", None)  # at most the failure is counted
    assert (after, meta is None or admin.hkeys("synapse:{g}:meta") == [b"failures"]) == (
        before,
        True,
    )
    assert batch(server.uri)[0] == 0
    assert {"memories": undisturbed["memories"], **what_stands(server.uri)} == undisturbed
    profiles, links, waiting = what_stands(server.uri)["recalled"]
    assert (profiles, links, waiting) == (*fold({}, {}, recall_sets(undisturbed["memories"])), ())


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("at_write", [1, 2, 4, 7, 11])
def test_a_plan_that_a_server_refuses_half_way_is_completed_and_taken_back(
    new_server: NewServer, name: str, at_write: int
) -> None:
    fault, server = FAULTS[name], new_server()
    with closing(Ground(server.uri, "g")) as ground, administrator(server) as admin:
        memories, plan, before = filled(ground)
        end = DyingConnection(ground.connection, at_write, True, lambda: fault.begin(server, admin))
        with pytest.raises(fault.error, match=fault.words):
            ground.apply(FalkorStore(end, server.uri), plan, "run")
        assert end.writes_count >= at_write
        fault.end(server, admin)
        admin.delete("synapse:{g}:lock")
        assert ground.missing(memories) == 0
        ground.apply(ground.store, plan, "run")
        assert (not_made(ground, plan), ground.missing(memories)) == (0, 0)
        assert ground.undo(ground.store, "undo").applied.done
        assert canonical_dump(server.uri, "g") == before


def filled(ground: Ground) -> tuple[list[str], Any, list[str]]:
    random = Random(35)
    memories = ground.fill(random)
    return memories, ground.plan(random, memories), canonical_dump(ground.uri, ground.graph)


@pytest.mark.parametrize("at_write", [1, 3, 6, 10])
def test_a_server_that_dies_with_its_disk_full_has_lost_nothing(
    new_server: NewServer, at_write: int
) -> None:
    fault, server = FAULTS["disk full"], new_server()
    with closing(Ground(server.uri, "g")) as ground, administrator(server) as admin:
        memories, plan, before = filled(ground)
        end = DyingConnection(ground.connection, at_write, True, lambda: fault.begin(server, admin))
        with pytest.raises(fault.error):
            ground.apply(FalkorStore(end, server.uri), plan, "run")
    kill(server)
    server.stop()
    server = new_server(folder=server.folder)
    with closing(Ground(server.uri, "g")) as ground:
        ground.connection.delete("synapse:{g}:lock")
        assert ground.missing(memories) == 0
        ground.apply(ground.store, plan, "run")
        assert (not_made(ground, plan), ground.missing(memories)) == (0, 0)
        ground.undo(ground.store, "undo")
        assert canonical_dump(server.uri, "g") == before


def test_a_disk_without_room_for_a_server_is_said(tmp_path: Path) -> None:
    program = (
        "import resource, sys; from synapse.cli import main; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (16, resource.RLIM_INFINITY)); "
        "main(['load', sys.argv[1], '--group-id', 'g'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(demo_path())],
        env={**os.environ, "FALKORDB_URI": f"embedded:{tmp_path}/store"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("the embedded server ended") and "Traceback" not in done.stderr


def test_a_server_that_is_still_loading_is_left_in_peace(short_folder: Path) -> None:
    (short_folder / "first").mkdir()
    with redis_server(short_folder / "first", module=True) as place:
        uri = f"unix://{place}"
        with closing(open_store(uri)) as store, redis.Redis.from_url(uri) as client:
            document = read_memory_file(demo_path(), group_id="g", now_iso=DEMO_NOW)
            store.write_memory("g", document)
            client.mset({f"key{number}": os.urandom(4096) for number in range(1000)})
            client.save()
        before = canonical_dump(uri, "g")
    (short_folder / "first" / "dump.rdb").rename(short_folder / "dump.rdb")
    slowly = ("--key-load-delay", "20000", "--loading-process-events-interval-bytes", "1024")
    with redis_server(short_folder, *slowly, module=True) as place:
        uri = f"unix://{place}"
        code, summary, err = batch(uri)
        assert (code, summary["status"]) == (75, "failed") and "still loading" in err
        with redis.Redis.from_url(uri) as client:
            client.execute_command("CONFIG", "SET", "key-load-delay", 0)
            wait_until_loaded(client)
        assert canonical_dump(uri, "g") == before
        code, summary, _ = batch(uri)
        assert code == 0 and summary["wrote"]["traces"] == 183


def wait_until_loaded(client: Any) -> None:
    for _ in range(200_000):
        with suppress(redis.BusyLoadingError):
            if client.ping():
                return
    raise AssertionError("it does not end to load")
