"""A server that cuts its answers after some rows (``RESULTSET_SIZE``) costs no memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import redis

from synapse.errors import IncompleteRead
from synapse.hippocampus.plan import ArchiveChange, EndChange
from synapse.hippocampus.ports import GraphDocument
from synapse.store import archive as archiving
from synapse.store.archive_graph import ArchiveGraph
from synapse.store.falkordb import FalkorStore

MORNING, NOON = "2026-01-05T08:00:00+00:00", "2026-01-05T12:00:00+00:00"
FACTS = tuple(f"f{i:02}" for i in range(12))
ENTITIES = ("ada", "bob", "eve", "kim")
DOCUMENT = GraphDocument(
    entities=tuple({"uuid": u, "name": u.title(), "ratio": 0.1 + 0.2} for u in ENTITIES),
    episodes=({"uuid": "monday", "name": "monday", "valid_at": MORNING},),
    facts=tuple(
        {
            "uuid": u,
            "source_node_uuid": "ada",
            "target_node_uuid": "bob",
            "name": "KNOWS",
            "fact": f"{u} says",
            "valid_at": MORNING,
            "ratio": 0.1 + 0.2,
        }
        for u in FACTS
    ),
    mentions=tuple(
        {"uuid": f"m-{u}", "episode_uuid": "monday", "entity_uuid": u} for u in ENTITIES
    ),
)


@pytest.fixture
def graph(store: FalkorStore, graph_name: str) -> str:
    """A memory whose lock is held."""
    store.write_memory(graph_name, DOCUMENT)
    assert store.acquire_lock(graph_name, "mine", 60.0)
    return graph_name


@pytest.fixture
def cut(connection: redis.Redis, graph: str, request: pytest.FixtureRequest) -> Iterator[None]:
    """So few rows an answer, once the graph is there."""
    command: Any = connection.execute_command
    (_, before) = command("GRAPH.CONFIG", "GET", "RESULTSET_SIZE")
    command("GRAPH.CONFIG", "SET", "RESULTSET_SIZE", getattr(request, "param", 3))
    yield
    command("GRAPH.CONFIG", "SET", "RESULTSET_SIZE", before)


def move(store: FalkorStore, graph: str, *uuids: str, run_id: str, at_s: float) -> set[str]:
    changes = [
        ArchiveChange(i.uuid, i.kind, i.digest, "faded")
        for i in store.read_images(graph, uuids).values()
    ]
    return store.archive(graph, changes, run_id, at_s, "mine")


def digests(store: FalkorStore, graph: str) -> dict[str, str]:
    images = store.read_images(graph, [*FACTS, *ENTITIES])
    return {uuid: image.digest for uuid, image in images.items()}


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("cut", [1, 3], indirect=True)
def test_everything_goes_and_comes_back(store: FalkorStore, graph: str) -> None:
    before = digests(store, graph)
    assert set(before) == {*FACTS, *ENTITIES}
    assert move(store, graph, *before, run_id="run", at_s=1.0) == set(before)
    assert digests(store, graph) == {}
    assert {entry.uuid for entry in store.read_archive(graph)} == set(before)
    kept = store.read_archived_images(graph, list(before))
    assert {uuid: image.digest for uuid, image in kept.items()} == before
    assert store.restore(graph, list(before), "mine") == dict.fromkeys(before, "restored")
    assert digests(store, graph) == before


@pytest.mark.usefixtures("cut")
def test_a_purge_frees_what_is_old_and_nothing_else(store: FalkorStore, graph: str) -> None:
    old, young = FACTS[:2], FACTS[2:]
    move(store, graph, *old, run_id="old", at_s=1.0)
    move(store, graph, *young, run_id="young", at_s=9.0)
    assert store.purge(graph, 5.0, "mine") == len(old)
    assert set(store.read_archived_images(graph, FACTS)) == set(young)
    assert store.restore(graph, young, "mine") == dict.fromkeys(young, "restored")


def test_a_purge_asks_before_it_takes_content_for_a_stray(
    store: FalkorStore, graph: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    move(store, graph, *FACTS, run_id="run", at_s=9.0)
    monkeypatch.setattr(ArchiveGraph, "records", lambda self, run_id=None: [])
    assert store.purge(graph, 5.0, "mine") == 0
    assert set(store.read_archived_images(graph, FACTS)) == set(FACTS)


def test_a_copy_goes_only_where_its_memory_is_seen(
    store: FalkorStore, graph: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def name_two(*asked: Any) -> set[str]:
        return set(sorted(removing(*asked))[:2])

    before, removing = digests(store, graph), archiving.remove
    monkeypatch.setattr(archiving, "remove", name_two)
    assert move(store, graph, *FACTS, run_id="run", at_s=1.0) == set(FACTS)
    assert set(store.read_archived_images(graph, FACTS)) == set(FACTS)
    assert store.restore(graph, FACTS, "mine") == dict.fromkeys(FACTS, "restored")
    assert digests(store, graph) == before


@pytest.mark.usefixtures("cut")
def test_facts_are_read_and_ended_all(store: FalkorStore, graph: str) -> None:
    states = store.read_facts(graph, FACTS)
    assert set(states) == set(FACTS)
    changes = [EndChange(uuid, state, NOON, NOON) for uuid, state in states.items()]
    assert store.change_ends(graph, changes, "mine") == set(FACTS)
    by = [
        EndChange(uuid, state, None, None, FACTS[0], store.read_facts(graph, FACTS)[FACTS[0]])
        for uuid, state in store.read_facts(graph, FACTS).items()
        if uuid != FACTS[0]
    ]
    assert store.change_ends(graph, by, "mine") == set(FACTS[1:])


@pytest.mark.usefixtures("cut")
def test_what_is_there_is_found(store: FalkorStore, graph: str) -> None:
    assert set(store.write_memory(graph, DOCUMENT).values()) == {0}
    names = [*map(str.title, ENTITIES[:2]), *map(str.upper, ENTITIES[2:])]
    found = store.find_entities(graph, names)
    assert found == {name: (name.lower(),) for name in names}
    read = store.read_subjects(graph, ENTITIES)
    assert (set(read.entities.uuid), set(read.facts.uuid)) == (set(ENTITIES), set(FACTS))


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("cut", [0], indirect=True)
def test_answers_without_any_row_are_refused(store: FalkorStore, graph: str) -> None:
    with pytest.raises(IncompleteRead, match="RESULTSET_SIZE -1"):
        store.read_images(graph, FACTS)
    with pytest.raises(IncompleteRead, match="RESULTSET_SIZE -1"):
        store.read_facts(graph, FACTS)
    with pytest.raises(IncompleteRead, match="RESULTSET_SIZE -1"):
        store.read_graph(graph)
    with pytest.raises(IncompleteRead, match="RESULTSET_SIZE -1"):
        store.read_subjects(graph, ENTITIES)
