"""Graphiti's own save of a memory between the plan that archives it and its end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode

from synapse.hippocampus.applier import Job
from synapse.hippocampus.changes import GraphChanges
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.consolidation import ConsolidationEngine, Run
from synapse.hippocampus.plan_file import MemoryPlan, PlannedChange, Seen
from synapse.hippocampus.scope import Scope
from synapse.store.falkordb import FalkorStore
from tests.support.canonical_dump import canonical_dump
from tests.support.graphiti_world import Fact, World, write

MONDAY = datetime(2026, 1, 5, 9, tzinfo=UTC)
LATER = MONDAY + timedelta(days=3)
NOW_S = datetime(2026, 3, 1, tzinfo=UTC).timestamp()
CONFIG = HippocampusConfig()
SAID = "Ada collects stamps"


class Desk:
    """A graph that Graphiti has written, and a plan to archive one fact and its target."""

    def __init__(self, store: FalkorStore, uri: str, graph: str) -> None:
        self.store, self.uri, self.graph = store, uri, graph
        self.fact, self.entity = self.save(self._story)
        self.before = canonical_dump(uri, graph)
        self.plan = self._plan((self.fact.uuid, self.entity.uuid))

    def save(self, story: Callable[[World], Any]) -> Any:
        """Run a story in Graphiti's own code."""
        return write(self.uri, self.graph, story)

    @staticmethod
    async def _story(world: World) -> tuple[EntityEdge, EntityNode]:
        facts = [Fact("Ada", "COLLECTS", "stamps", SAID), Fact("Ada", "LIVES_IN", "Rome", "Rome.")]
        result = await world.episode(f"{SAID}. She lives in Rome.", at=MONDAY, facts=facts)
        (edge,) = (edge for edge in result.edges if edge.fact == SAID)
        (node,) = (node for node in result.nodes if node.name == "stamps")
        # The copies that an ingestion holds while its model answers.
        return (
            await EntityEdge.get_by_uuid(world.driver, edge.uuid),
            await EntityNode.get_by_uuid(world.driver, node.uuid),
        )

    def _plan(self, uuids: tuple[str, ...]) -> MemoryPlan:
        images = self.store.read_images(self.graph, uuids)
        return MemoryPlan(
            graph=self.graph, now="2026-03-01T00:00:00Z", config_digest=CONFIG.digest,
            seen=Seen(entities=3, facts=2),
            changes=tuple(
                PlannedChange(do="archive", memory=image.uuid, kind=image.kind,
                              before=image.digest, reason="faded")
                for image in images.values()
            ),
        )  # fmt: skip

    @property
    def changes(self) -> GraphChanges:
        return GraphChanges(self.store, Scope(self.graph), CONFIG)

    def apply(self, name: str = "run") -> Any:
        return self.changes.apply(self.plan, Job(name, "apply", NOW_S, max_changes=9), name)

    def undo(self, name: str = "undo") -> Any:
        return self.changes.undo("run", Job(name, "undo", NOW_S), name).applied

    def consolidate(self, name: str = "next") -> None:
        run = Run(Scope(self.graph), NOW_S, name, prune=True)
        assert ConsolidationEngine(self.store, CONFIG, lambda: 0.0).consolidate(run).error is None

    def count(self, uuid: str) -> int:
        """How many nodes and facts of that uuid the graph holds."""
        patterns = ("(x {uuid: '%s'})", "()-[x {uuid: '%s'}]->()")
        queries = [f"MATCH {pattern % uuid} RETURN count(x)" for pattern in patterns]
        ask: Any = self.store._connection.execute_command
        return sum(int(ask("GRAPH.RO_QUERY", self.graph, query)[1][0][0]) for query in queries)


@pytest.fixture
def desk(store: FalkorStore, falkordb_uri: str, graph_name: str) -> Desk:
    return Desk(store, falkordb_uri, graph_name)


async def said_again(world: World) -> None:
    """The archived fact is stated once more, in an episode of its own."""
    again = Fact("Ada", "COLLECTS", "stamps", SAID, repeats=[SAID])
    await world.episode(f"Still, {SAID}.", at=LATER, facts=[again])


def test_what_an_episode_supports_meanwhile_is_not_archived(desk: Desk) -> None:
    desk.save(said_again)
    touched = canonical_dump(desk.uri, desk.graph)
    applied = desk.apply()
    assert not applied.done and set(applied.left) == {desk.fact.uuid, desk.entity.uuid}
    assert canonical_dump(desk.uri, desk.graph) == touched
    assert desk.store.read_archive(desk.graph) == [] and desk.changes.runs() == []


def test_a_copy_that_is_saved_meanwhile_keeps_its_memory_where_it_is(desk: Desk) -> None:
    async def story(world: World) -> None:
        await desk.fact.save(world.driver)  # without its embedding, which Graphiti did not read
        await desk.entity.save(world.driver)

    desk.save(story)
    saved = canonical_dump(desk.uri, desk.graph)
    assert saved != desk.before
    applied = desk.apply()
    assert not applied.done and set(applied.left) == {desk.fact.uuid, desk.entity.uuid}
    assert canonical_dump(desk.uri, desk.graph) == saved


def test_a_copy_that_is_saved_after_the_fact_was_archived_finds_no_end(desk: Desk) -> None:
    assert desk.apply().done == {desk.fact.uuid, desk.entity.uuid}

    async def story(world: World) -> None:
        await desk.fact.save(world.driver)

    desk.save(story)
    assert desk.count(desk.fact.uuid) == 0, "Graphiti writes no fact without both of its ends"
    desk.consolidate()
    assert desk.undo().done == {desk.fact.uuid, desk.entity.uuid}
    assert canonical_dump(desk.uri, desk.graph) == desk.before


def test_copies_that_bring_both_back_are_kept_and_doubled_by_nothing(desk: Desk) -> None:
    assert desk.apply().done == {desk.fact.uuid, desk.entity.uuid}

    async def story(world: World) -> None:
        await desk.entity.save(world.driver)
        await desk.fact.save(world.driver)

    desk.save(story)
    assert (desk.count(desk.fact.uuid), desk.count(desk.entity.uuid)) == (1, 1)
    desk.consolidate()
    both = [desk.fact.uuid, desk.entity.uuid]
    saved = canonical_dump(desk.uri, desk.graph)
    for name in ("undo", "again"):
        desk.undo(name)
        assert canonical_dump(desk.uri, desk.graph) == saved, "what Graphiti wrote last stays"
    assert desk.store.read_archived_images(desk.graph, both).keys() == set(both)
    desk.consolidate("last")
    assert (desk.count(desk.fact.uuid), desk.count(desk.entity.uuid)) == (1, 1)


def test_an_episode_about_what_was_archived_makes_it_anew(desk: Desk) -> None:
    desk.apply()
    desk.save(said_again)
    snapshot = desk.store.read_graph(desk.graph)
    assert snapshot.facts.text.count(SAID) == 1 and snapshot.entities.name.count("stamps") == 1
    anew = desk.store.read_images(desk.graph, snapshot.memory_uuids)
    desk.consolidate()
    assert desk.undo().done == {desk.fact.uuid, desk.entity.uuid}
    assert (desk.count(desk.fact.uuid), desk.count(desk.entity.uuid)) == (1, 1)
    there = desk.store.read_images(desk.graph, snapshot.memory_uuids)
    assert there.keys() == anew.keys(), "what was made anew stays beside what came back"
