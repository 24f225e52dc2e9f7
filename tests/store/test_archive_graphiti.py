"""Memories that Graphiti wrote: archived, unseen by it, and the same to it when they are back."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode

from synapse.hippocampus.plan import ArchiveChange
from synapse.store import open_store
from synapse.store.embedded import EmbeddedServer
from synapse.store.falkordb import FalkorStore
from tests.support.canonical_dump import canonical_dump
from tests.support.graphiti_world import Fact, World, write

MONDAY = datetime(2026, 1, 5, 9, tzinfo=UTC)


def changes(store: FalkorStore, graph: str, uuids: list[str]) -> list[ArchiveChange]:
    images = store.read_images(graph, uuids).values()
    assert not [image.obstacle for image in images if image.obstacle]
    return [ArchiveChange(i.uuid, i.kind, i.digest, "faded") for i in images]


def test_graphiti_finds_nothing_of_it_and_then_the_same(
    store: FalkorStore, falkordb_uri: str, graph_name: str
) -> None:
    async def story(world: World) -> tuple[Any, Any]:
        said = [
            Fact("api", "CACHES_IN", "Redis", "api caches in Redis"),
            Fact("web", "CALLS", "api", "web calls api"),
        ]
        result = await world.episode("api caches in Redis, web calls api", at=MONDAY, facts=said)
        return result.edges, result.nodes

    edges, nodes = write(falkordb_uri, graph_name, story)
    before = canonical_dump(falkordb_uri, graph_name)
    uuids = [item.uuid for item in (*edges, *nodes)]

    async def look(world: World) -> tuple[Any, Any, Any]:
        found = await world.graphiti.search("api caches in Redis", group_ids=[graph_name])
        group = [graph_name]
        return (
            sorted(edge.uuid for edge in found),
            await _or_empty(EntityNode.get_by_group_ids(world.driver, group)),
            await _or_empty(EntityEdge.get_by_group_ids(world.driver, group)),
        )

    was = write(falkordb_uri, graph_name, look)
    assert store.acquire_lock(graph_name, "mine", 60.0)
    assert store.archive(graph_name, changes(store, graph_name, uuids), "run", 1.0, "mine") == set(
        uuids
    )
    assert graph_name in store.graphs()
    assert not [name for name in store.graphs() if name.startswith("synapse:")]
    assert write(falkordb_uri, graph_name, look) == ([], {}, {})
    assert set(store.restore(graph_name, uuids, "mine").values()) == {"restored"}
    assert canonical_dump(falkordb_uri, graph_name) == before
    assert write(falkordb_uri, graph_name, look) == was
    assert len(was[1]) == len(nodes) and len(was[2]) == len(edges)


async def _or_empty(wanted: Any) -> dict[str, Any]:
    """Items by uuid; Graphiti raises where a group has none."""
    try:
        return {item.uuid: item.model_dump(exclude={"fact_embedding"}) for item in await wanted}
    except Exception as error:  # noqa: BLE001  its class differs between releases
        assert "not found" in str(error).lower() or "no edges found" in str(error).lower()
        return {}


def test_a_real_memory_of_july_2025_goes_and_comes_back(
    new_server: Callable[..., EmbeddedServer], shared_data: Path, tmp_path: Path
) -> None:
    shutil.copyfile(shared_data / "graphiti_real" / "july.rdb", tmp_path / "dump.rdb")
    uri, graph = new_server(tmp_path).uri, "graphiti_migration"
    with closing(open_store(uri)) as store:
        snapshot = store.read_graph(graph)
        facts, entities = snapshot.facts.uuid, snapshot.entities.uuid
        before = canonical_dump(uri, graph)
        assert sum("vector" in line for line in before) > 600
        assert store.acquire_lock(graph, "mine", 60.0)
        for wanted in (facts[::3], [*facts, *entities]):
            moved = store.archive(graph, changes(store, graph, wanted), "run", 1.0, "mine")
            assert moved == set(wanted)
            assert len(canonical_dump(uri, graph)) < len(before)
            outcomes = store.restore(graph, wanted, "mine")
            assert outcomes == dict.fromkeys(wanted, "restored")
            assert canonical_dump(uri, graph) == before
