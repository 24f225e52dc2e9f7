"""A recall is folded exactly once: beside other processes, and when the batch dies anywhere."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from typing import Any

import pytest
import redis
from redis.connection import AbstractConnection

from synapse.demo import DEMO_NOW, demo_path
from synapse.errors import StoreUnreachable
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.consolidation import ConsolidationEngine, Run
from synapse.hippocampus.recall import RecallSet, fold
from synapse.hippocampus.scope import Scope
from synapse.integrations.memory_file import read_memory_file
from synapse.integrations.recall_recorder import RecallRecorder
from synapse.store import open_store
from synapse.store.falkordb import FalkorStore
from synapse.store.keys import room_key
from tests.faults.test_batches import start

NOW_S = 1.78e9
DAY_S = 86_400.0


@pytest.fixture
def memories(store: FalkorStore, graph_name: str) -> list[str]:
    document = read_memory_file(demo_path(), group_id=graph_name, now_iso=DEMO_NOW)
    store.write_memory(graph_name, document)
    return sorted(store.read_graph(graph_name).memory_uuids)


def consolidate(store: Any, graph: str, name: str) -> dict[str, Any]:
    engine = ConsolidationEngine(store, HippocampusConfig(), lambda: 0.0)
    outcome = engine.consolidate(Run(Scope(graph), NOW_S, name))
    assert outcome.error is None
    return outcome.report.as_dict()


def recalled(memories: list[str], number: int) -> RecallSet:
    three = [memories[(number * step) % len(memories)] for step in (1, 3, 7)]
    ranks = tuple((uuid, rank) for rank, uuid in enumerate(dict.fromkeys(three), 1))
    return RecallSet(ranks, "search", NOW_S - (500 - number) * DAY_S / 3, asked=number % 4 != 0)


def die_at(command: int, when: str, uri: str, graph: str) -> None:
    """Consolidate, and be killed at the given command after the lock is taken."""
    store, sent, send = open_store(uri), [0], AbstractConnection.send_packed_command
    acquire_lock = store.acquire_lock

    def acquire_then_count(*arguments: Any) -> bool:
        sent[0] = 1
        return acquire_lock(*arguments)

    def send_or_die(connection: Any, *arguments: Any, **options: Any) -> None:
        due = sent[0] == command
        sent[0] += bool(sent[0])
        if due and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        send(connection, *arguments, **options)
        if due:
            connection.can_read(timeout=60)  # the server has done what it was asked for
            os.kill(os.getpid(), signal.SIGKILL)

    store.acquire_lock = acquire_then_count
    AbstractConnection.send_packed_command = send_or_die
    consolidate(store, graph, f"dies-{command}-{when}")


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_batch_that_dies_at_any_command_loses_and_doubles_nothing(
    falkordb_uri: str, store: FalkorStore, graph_name: str, memories: list[str], when: str,
    connection: redis.Redis,
) -> None:  # fmt: skip
    recorded: list[RecallSet] = []
    for command in range(1, 100):
        new = [recalled(memories, len(recorded) + n) for n in range(2)]
        store.record_recalls(graph_name, new)
        recorded += new
        forked = multiprocessing.get_context("fork")
        batch = forked.Process(target=die_at, args=(command, when, falkordb_uri, graph_name))
        batch.start()
        batch.join(60)
        connection.delete(room_key(graph_name, "lock"))  # as if its time were up
        room = store.read_room(graph_name)
        waiting = len(room.recalls)
        assert (room.profiles, room.links) == fold({}, {}, recorded[: len(recorded) - waiting])
        assert waiting == 0 or [r.ranks for r in room.recalls] == [
            r.ranks for r in recorded[-waiting:]
        ]
        if batch.exitcode == 0:
            break
        assert batch.exitcode == -signal.SIGKILL
    assert command > 5
    consolidate(store, graph_name, "last")
    room = store.read_room(graph_name)
    assert (room.profiles, room.links) == fold({}, {}, recorded)
    assert room.recalls == ()


def test_a_killed_batch_process_loses_and_doubles_nothing(
    falkordb_uri: str, store: FalkorStore, graph_name: str, memories: list[str],
    connection: redis.Redis,
) -> None:  # fmt: skip
    recorded = [recalled(memories, number) for number in range(1500)]
    store.record_recalls(graph_name, recorded)
    lock = room_key(graph_name, "lock")
    batch = start(falkordb_uri, "--graph", graph_name)
    while not connection.exists(lock) and batch.poll() is None:
        connection.ping()
    batch.kill()
    batch.communicate(timeout=60)
    connection.delete(lock)
    room = store.read_room(graph_name)
    assert (len(room.recalls), len(room.profiles) > 0) in ((0, True), (1500, False))
    consolidate(store, graph_name, "last")
    room = store.read_room(graph_name)
    assert (room.profiles, room.links) == fold({}, {}, recorded)


def test_recalls_recorded_while_batches_run_are_folded_once(
    falkordb_uri: str, store: FalkorStore, graph_name: str, memories: list[str]
) -> None:
    each_count, recorders_count = 300, 3

    def record() -> None:
        own = open_store(falkordb_uri)
        for _ in range(each_count):
            own.record_recalls(graph_name, [RecallSet(((memories[0], 1),), "search", NOW_S)])
        own.close()

    recorders = [threading.Thread(target=record) for _ in range(recorders_count)]
    for recorder in recorders:
        recorder.start()
    counted, runs = 0, 0
    while any(recorder.is_alive() for recorder in recorders) or store.read_room(graph_name).recalls:
        counted += consolidate(store, graph_name, f"run-{runs}")["recalls"]["counted"]
        runs += 1
    profile = store.read_room(graph_name).profiles[memories[0]]
    assert profile.search_count == each_count * recorders_count
    assert profile.total_count == counted == 1


def test_recalls_whose_answer_is_late_are_written_again_and_counted_once(
    store: FalkorStore, graph_name: str, memories: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write, failures = store.record_recalls, list[Exception]()
    late = set[Any]()

    def write_and_answer_late(*arguments: Any) -> None:
        write(*arguments)
        *_, recorder = arguments
        if recorder not in late:
            late.add(recorder)
            raise StoreUnreachable("the answer never came")

    monkeypatch.setattr(store, "record_recalls", write_and_answer_late)
    recorders = [RecallRecorder(store, failures.append) for _ in range(2)]
    told = [recalled(memories, number) for number in range(6)]
    for number, one in enumerate(told):
        recorders[number % 2].record(graph_name, one)
        if number == 3:  # what a run has folded and trimmed in between is not written again either
            consolidate(store, graph_name, "between")
    for recorder in recorders:
        assert recorder.flush()
        recorder.close()
    assert len(failures) >= 2
    consolidate(store, graph_name, "last")
    room = store.read_room(graph_name)
    assert (room.profiles, room.links) == fold({}, {}, told)
