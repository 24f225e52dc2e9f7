"""Archiving, restoring and purging that is stopped at every single write, on a real server."""

from __future__ import annotations

import math
import os
import re
import signal
import traceback
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from typing import Any

import pytest

from synapse.errors import LockLost, StoreUnreachable
from synapse.hippocampus.plan import ArchiveChange
from synapse.hippocampus.ports import GraphDocument
from synapse.hippocampus.room import Pin
from synapse.store import open_store
from synapse.store.embedded import EmbeddedServer
from synapse.store.falkordb import FalkorStore
from tests.support.canonical_dump import canonical_dump
from tests.support.dying import DyingConnection
from tests.support.overtaken import Overtaken
from tests.support.processes import kill

MORNING = "2026-01-05T08:00:00+00:00"
ALL = ("ada", "bob", "eve", "f1", "f2", "f3")
STAYS = ("zoe", "f4")


def entity(uuid: str) -> dict[str, Any]:
    return {"uuid": uuid, "name": uuid.title(), "created_at": MORNING}


def fact(uuid: str, source: str, target: str) -> dict[str, Any]:
    ends = {"source_node_uuid": source, "target_node_uuid": target}
    return {"uuid": uuid, **ends, "fact": f"{uuid} says", "episodes": ["monday"]}


def mention(uuid: str, entity: str) -> dict[str, Any]:
    return {"uuid": uuid, "episode_uuid": "monday", "entity_uuid": entity}


def fill(store: FalkorStore, graph: str) -> None:
    """A small memory with embeddings on some of it, and the lock on it."""
    store.write_memory(
        graph,
        GraphDocument(
            entities=(*map(entity, ("ada", "bob", "eve", "zoe")),),
            episodes=({"uuid": "monday", "name": "monday", "created_at": MORNING},),
            facts=(
                fact("f1", "ada", "bob"),
                fact("f2", "ada", "bob"),
                fact("f3", "eve", "eve"),
                fact("f4", "zoe", "zoe"),
            ),
            mentions=(mention("m1", "ada"), mention("m2", "ada"), mention("m3", "zoe")),
        ),
    )
    for pattern, name in (
        ("(n:Entity)", "name_embedding"),
        ("()-[n:RELATES_TO]->()", "fact_embedding"),
    ):
        query = f"MATCH {pattern} WHERE n.uuid <> 'bob' SET n.{name} = vecf32([0.1, -2.5])"
        store._connection.execute_command("GRAPH.QUERY", graph, query)
    assert store.acquire_lock(graph, "mine", 60.0)


def plan(store: FalkorStore, graph: str) -> list[ArchiveChange]:
    images = store.read_images(graph, ALL).values()
    return [ArchiveChange(i.uuid, i.kind, i.digest, "faded") for i in images]


def archive(store: FalkorStore, graph: str, changes: list[ArchiveChange]) -> set[str]:
    return store.archive(graph, changes, "run", 100.0, "mine")


def restore(store: FalkorStore, graph: str) -> dict[str, str]:
    return store.restore(graph, ALL, "mine")


def purge(store: FalkorStore, graph: str) -> int:
    return store.purge(graph, 200.0, "mine")


def die_at(uri: str, at_write: int, after: bool, act: Callable[[FalkorStore], Any]) -> bool:
    """Do something in a process that is killed at one write; whether it came that far."""
    child = os.fork()
    if not child:
        try:
            own = open_store(uri)._connection
            end = DyingConnection(own, at_write, after, lambda: os.kill(os.getpid(), 9))
            act(FalkorStore(end, uri))
            os._exit(0)
        except BaseException:  # noqa: BLE001  nothing of the test run may go on in the child
            traceback.print_exc()
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert status in (0, signal.SIGKILL), "the child failed in another way"
    return status == signal.SIGKILL


def assert_nothing_lost(store: FalkorStore, graph: str) -> None:
    """Each memory is in the graph, or can be brought back, or both while that is unsettled."""
    there = store.read_images(graph, [*ALL, *STAYS])
    kept = store.read_archived_images(graph, ALL)
    assert there.keys() | kept.keys() == {*ALL, *STAYS}
    assert set(STAYS) <= there.keys()


def boundaries() -> Any:
    return pytest.mark.parametrize("after", [False, True], ids=["before", "after"])


@boundaries()
def test_a_batch_killed_while_it_archives_is_completed(
    store: FalkorStore, falkordb_uri: str, graph_name: str, after: bool
) -> None:
    at_write = 0
    was_killed = True
    while was_killed:
        at_write += 1
        graph = f"{graph_name}-{at_write}"
        fill(store, graph)
        before, changes = canonical_dump(falkordb_uri, graph), plan(store, graph)
        was_killed = die_at(
            falkordb_uri, at_write, after, partial(archive, graph=graph, changes=changes)
        )
        assert_nothing_lost(store, graph)
        assert archive(store, graph, changes) == set(ALL)
        entries = store.read_archive(graph)
        assert sorted(m.uuid for m in entries) == sorted(ALL), "nothing is doubled"
        assert {m.state for m in entries} == {"archived"}
        assert set(store.read_images(graph, ALL)) == set()
        assert set(store.restore(graph, ALL, "mine").values()) == {"restored"}
        assert canonical_dump(falkordb_uri, graph) == before
    assert at_write > 10, "the batch was killed at more than ten writes"


@boundaries()
def test_a_killed_batch_that_nobody_repeats_leaves_no_half(
    store: FalkorStore, falkordb_uri: str, graph_name: str, after: bool
) -> None:
    at_write = 0
    was_killed = True
    while was_killed:
        at_write += 1
        graph = f"{graph_name}-{at_write}"
        fill(store, graph)
        before, changes = canonical_dump(falkordb_uri, graph), plan(store, graph)
        was_killed = die_at(
            falkordb_uri, at_write, after, partial(archive, graph=graph, changes=changes)
        )
        outcomes = store.restore(graph, ALL, "mine")
        assert canonical_dump(falkordb_uri, graph) == before
        assert set(outcomes.values()) <= {"restored", "already there"}
        assert {m.state for m in store.read_archive(graph)} <= {"restored"}
        assert store.purge(graph, math.inf, "mine") == 0


@boundaries()
def test_a_batch_killed_while_it_restores_is_completed(
    store: FalkorStore, falkordb_uri: str, graph_name: str, after: bool
) -> None:
    at_write = 0
    was_killed = True
    while was_killed:
        at_write += 1
        graph = f"{graph_name}-{at_write}"
        fill(store, graph)
        before = canonical_dump(falkordb_uri, graph)
        archive(store, graph, plan(store, graph))
        was_killed = die_at(falkordb_uri, at_write, after, partial(restore, graph=graph))
        assert_nothing_lost(store, graph)
        outcomes = store.restore(graph, ALL, "mine")
        assert set(outcomes.values()) <= {"restored", "already there"}
        assert canonical_dump(falkordb_uri, graph) == before
        assert {m.state for m in store.read_archive(graph)} == {"restored"}
    assert at_write > 10


@boundaries()
def test_a_batch_killed_while_it_purges_is_completed(
    store: FalkorStore, falkordb_uri: str, graph_name: str, after: bool
) -> None:
    at_write = 0
    was_killed = True
    while was_killed:
        at_write += 1
        graph = f"{graph_name}-{at_write}"
        fill(store, graph)
        archive(store, graph, plan(store, graph))
        left = canonical_dump(falkordb_uri, graph)
        was_killed = die_at(falkordb_uri, at_write, after, partial(purge, graph=graph))
        store.purge(graph, 200.0, "mine")
        entries = store.read_archive(graph)
        assert sorted(m.uuid for m in entries) == sorted(ALL)
        assert all(m.is_removed_for_good and not m.name for m in entries)
        assert store.read_archived_images(graph, ALL) == {}
        assert canonical_dump(falkordb_uri, graph) == left


@boundaries()
def test_a_server_killed_at_any_write_has_lost_nothing(
    new_server: Callable[..., EmbeddedServer], after: bool
) -> None:
    at_write = 0
    was_killed = True
    # Otherwise the last second of what was acknowledged may be lost, all of it in order.
    always = ["--appendfsync", "always"]
    server = new_server(options=always)
    while was_killed:
        at_write += 1
        graph = f"g{at_write}"
        with closing(open_store(server.uri)) as store:
            fill(store, graph)
            before, changes = canonical_dump(server.uri, graph), plan(store, graph)
            end = DyingConnection(store._connection, at_write, after, partial(kill, server))
            with suppress(StoreUnreachable):
                archive(FalkorStore(end, server.uri), graph, changes)
                FalkorStore(end, server.uri).restore(graph, ALL[:4], "mine")
            was_killed = end.writes_count >= at_write
        if was_killed:
            server.stop()
            server = new_server(folder=server.folder, options=always)
        with closing(open_store(server.uri)) as store:
            store.acquire_lock(graph, "mine", 60.0)
            assert_nothing_lost(store, graph)
            assert set(store.restore(graph, ALL, "mine").values()) <= {"restored", "already there"}
            assert canonical_dump(server.uri, graph) == before
            assert {m.state for m in store.read_archive(graph)} <= {"restored"}
    assert at_write > 20


@pytest.mark.parametrize("at_write", range(1, 8))
def test_a_lost_lock_stops_before_the_next_write(
    store: FalkorStore, falkordb_uri: str, graph_name: str, at_write: int
) -> None:
    fill(store, graph_name)
    before, changes = canonical_dump(falkordb_uri, graph_name), plan(store, graph_name)

    def taken_over() -> None:
        store.release_lock(graph_name, "mine")
        assert store.acquire_lock(graph_name, "somebody", 60.0)

    end = DyingConnection(store._connection, at_write, True, taken_over)
    with pytest.raises(LockLost, match="the rest is not written"):
        archive(FalkorStore(end, "redis://here"), graph_name, changes)
    assert end.writes_count == at_write, "each write is carried out only under the lock"
    assert store.lock_holder(graph_name) == "somebody"
    store.restore(graph_name, ALL, "somebody")
    assert canonical_dump(falkordb_uri, graph_name) == before


@pytest.mark.parametrize("at_write", range(2, 9))
def test_who_stood_still_before_a_write_does_not_write_into_another_run(
    store: FalkorStore, falkordb_uri: str, graph_name: str, at_write: int
) -> None:
    fill(store, graph_name)
    before, changes = canonical_dump(falkordb_uri, graph_name), plan(store, graph_name)

    def overtaken() -> None:
        """The lock has expired since the run extended it, and another run has come and gone."""
        store.release_lock(graph_name, "mine")
        assert store.acquire_lock(graph_name, "somebody", 60.0)
        others = [c for c in plan(store, graph_name) if c.uuid in ("f2", "eve")]
        store.archive(graph_name, others, "another run", 100.0, "somebody")
        store.release_lock(graph_name, "somebody")

    end = DyingConnection(store._connection, at_write, False, overtaken)
    with pytest.raises(LockLost, match="the rest is not written"):
        archive(FalkorStore(end, "redis://here"), graph_name, changes)
    assert_nothing_lost(store, graph_name)
    assert store.acquire_lock(graph_name, "mine", 60.0)
    assert set(restore(store, graph_name).values()) <= {"restored", "already there"}
    assert canonical_dump(falkordb_uri, graph_name) == before


CHANGES_BY_OTHERS = {
    "a property": "MATCH ()-[e:RELATES_TO {uuid: 'f1'}]->() SET e.fact = 'new'",
    "a new property": "MATCH ()-[e:RELATES_TO {uuid: 'f1'}]->() SET e.attribute = 1",
    "a property less": "MATCH ()-[e:RELATES_TO {uuid: 'f1'}]->() SET e.episodes = null",
    "an episode more": (
        "MATCH ()-[e:RELATES_TO {uuid: 'f1'}]->() SET e.episodes = ['monday', 'tuesday']"
    ),
    "an embedding": (
        "MATCH ()-[e:RELATES_TO {uuid: 'f1'}]->() SET e.fact_embedding = vecf32([5.0, 7.0])"
    ),
    "a label": "MATCH (n:Entity {uuid: 'eve'}) SET n:Person",
    "a new fact": (
        "MATCH (a:Entity {uuid: 'eve'}) MATCH (b:Entity {uuid: 'zoe'}) "
        "CREATE (a)-[:RELATES_TO {uuid: 'new', fact: 'x'}]->(b)"
    ),
    "a mention": (
        "MATCH (a:Episodic {uuid: 'monday'}) MATCH (b:Entity {uuid: 'eve'}) "
        "CREATE (a)-[:MENTIONS {uuid: 'new'}]->(b)"
    ),
    "a mention less": "MATCH ()-[e:MENTIONS {uuid: 'm1'}]->() DELETE e",
    "another's edge": (
        "MATCH (a:Entity {uuid: 'eve'}) MATCH (b:Entity {uuid: 'zoe'}) CREATE (b)-[:KNOWS]->(a)"
    ),
}


@pytest.mark.parametrize("what", CHANGES_BY_OTHERS)
def test_what_changes_after_it_was_copied_stays(
    store: FalkorStore, falkordb_uri: str, graph_name: str, what: str
) -> None:
    fill(store, graph_name)
    changes = plan(store, graph_name)
    change = CHANGES_BY_OTHERS[what]
    about = re.search("'(f1|eve|m1)'", change)[1].replace("m1", "ada")

    written = []

    def write(arguments: tuple[Any, ...]) -> None:
        """Somebody writes between the copy and the removal."""
        sent = b" ".join(a if isinstance(a, bytes) else str(a).encode() for a in arguments)
        is_removal = re.search(rb"DELETE [en] RETURN", sent) and about.encode() in sent
        if is_removal and not written:
            written.append(change)
            store._connection.execute_command("GRAPH.QUERY", graph_name, change)

    connection = Overtaken(store._connection, write)
    moved = archive(FalkorStore(connection, "redis://here"), graph_name, changes)
    assert written
    assert about not in moved and about in store.read_images(graph_name, ALL)
    assert about not in {m.uuid for m in store.read_archive(graph_name)}
    outcomes = store.restore(graph_name, moved, "mine")
    assert set(outcomes.values()) <= {"restored"}


@boundaries()
@pytest.mark.parametrize("memory", ["f1", "eve"])
def test_a_pin_that_is_set_while_a_batch_archives_keeps_what_is_there(
    store: FalkorStore, graph_name: str, memory: str, after: bool
) -> None:
    at_write, is_over, kept_count = 0, False, 0
    while not is_over:
        at_write += 1
        graph = f"{graph_name}-{at_write}"
        fill(store, graph)
        was_there: list[bool] = []

        def pin(graph: str = graph, was_there: list[bool] = was_there) -> None:
            store.pin(graph, memory, Pin(0.0, "mine"))
            was_there.append(memory in store.read_images(graph, [memory]))

        connection = DyingConnection(store._connection, at_write, after, pin)
        moved = archive(FalkorStore(connection, "redis://here"), graph, plan(store, graph))
        is_over = not was_there
        if was_there:
            assert (memory in store.read_images(graph, [memory])) == was_there[0]
            assert (memory in moved) != was_there[0]
            assert (memory in {m.uuid for m in store.read_archive(graph)}) != was_there[0]
            kept_count += was_there[0]
    assert 0 < kept_count < at_write, "it was pinned before and after it went"
