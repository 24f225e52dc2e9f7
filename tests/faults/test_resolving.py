"""Resolving beside an ingestion that saves what it read before, and runs that die half-way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from graphiti_core.edges import EntityEdge

from synapse.errors import LockLost, SynapseError
from synapse.hippocampus.applier import Job
from synapse.hippocampus.changes import GraphChanges
from synapse.hippocampus.config import ContradictionConfig, HippocampusConfig
from synapse.hippocampus.consolidation import ConsolidationEngine, Outcome, Run
from synapse.hippocampus.recollector import Recollector
from synapse.hippocampus.review import Review
from synapse.hippocampus.scope import Scope
from synapse.store.falkordb import FalkorStore
from tests.support.graphiti_world import Fact, World, write

MONDAY = datetime(2026, 1, 5, 9, tzinfo=UTC)
LATER = MONDAY + timedelta(days=30, microseconds=123_456)
NOW = datetime(2026, 3, 1, tzinfo=UTC)
# These tests are about writing; how sure the rules are of such sentences is tested elsewhere.
CONFIG = HippocampusConfig(contradictions=ContradictionConfig(resolve_confidence=0.5))
OLD, NEW = "api caches sessions in Redis", "api caches sessions in Valkey instead of Redis"


@pytest.fixture
def save(falkordb_uri: str, graph_name: str) -> Callable[[Any], Any]:
    """Run a story in Graphiti's own code on the test's graph."""
    return lambda story: write(falkordb_uri, graph_name, story)


@pytest.fixture
def stale(save: Callable[[Any], Any]) -> EntityEdge:
    """Two facts that contradict each other; returns the copy of the older that Graphiti read."""

    async def story(world: World) -> EntityEdge:
        for at, target, text in ((MONDAY, "Redis", OLD), (LATER, "Valkey", NEW)):
            fact = Fact("api", "CACHES_IN", target, text)
            result = await world.episode(f"{text}.", at=at, facts=[fact])
            if text == OLD:
                (uuid,) = [edge.uuid for edge in result.edges]
        return await EntityEdge.get_by_uuid(world.driver, uuid)

    edge: EntityEdge = save(story)
    return edge


@pytest.fixture
def run(store: FalkorStore, graph_name: str) -> Callable[..., Outcome]:
    def consolidated(name: str = "run", *, resolve: bool = True, by: Any = None) -> Outcome:
        engine = ConsolidationEngine(by or store, CONFIG, lambda: 0.0)
        return engine.consolidate(Run(Scope(graph_name), NOW.timestamp(), name, resolve=resolve))

    return consolidated


def saved_again(edge: EntityEdge) -> Callable[[World], Any]:
    """Graphiti's own save of a copy, as an ingestion does it after its model has answered."""

    async def story(world: World) -> None:
        await edge.save(world.driver)

    return story


def ends(save: Callable[[Any], Any], uuid: str) -> tuple[datetime | None, datetime | None]:
    async def story(world: World) -> EntityEdge:
        return await EntityEdge.get_by_uuid(world.driver, uuid)

    edge: EntityEdge = save(story)
    return edge.invalid_at, edge.expired_at


def test_graphiti_reads_what_was_resolved_as_its_own(stale, save, run):
    assert run().report.contradictions.resolved == 1
    assert ends(save, stale.uuid) == (LATER, NOW)


def test_an_ingestion_that_saves_its_copy_is_answered_three_times(
    stale, save, run, store, graph_name
):
    counts = []
    for number in range(5):
        found = run(f"run-{number}").report.contradictions
        entry = store.read_room(graph_name).ledger[stale.uuid]
        counts.append((found.resolved, found.reverted, entry["state"], entry["reverts"]))
        save(saved_again(stale))
        assert ends(save, stale.uuid) == (None, None), "Graphiti's save keeps what it did not read"
    assert counts == [
        (1, 0, "resolved", 0),
        (1, 1, "resolved", 1),
        (1, 1, "resolved", 2),
        (0, 1, "given_up", 3),
        (0, 0, "given_up", 3),
    ]
    report = run("last").report
    assert "overwritten too often" in str(report.warnings) and report.contradictions.review == 1
    assert store.lock_holder(graph_name) is None


def test_a_person_may_try_again_what_was_given_up(stale, save, run, store, graph_name):
    for number in range(4):
        run(f"run-{number}")
        save(saved_again(stale))
    thoughts = Recollector(store, CONFIG).recollect(Scope(graph_name), NOW.timestamp())
    review = Review(store, thoughts, store.read_room(graph_name))
    assert [case.state for case in review.cases()] == ["given_up"]
    assert review.decide(stale.uuid, "keep-new", "person").state == "resolved"
    assert ends(save, stale.uuid) == (LATER, NOW)
    save(saved_again(stale))
    assert run().report.contradictions.reverted == 1
    assert ends(save, stale.uuid) == (LATER, NOW)


def test_a_run_without_resolve_only_says_so(stale, save, run, store, graph_name):
    run()
    save(saved_again(stale))
    for _ in range(2):
        report = run(resolve=False).report
        assert "overwritten 1 resolved" in str(report.warnings)
        assert report.contradictions.review == 0
    assert ends(save, stale.uuid) == (None, None)
    assert store.read_room(graph_name).ledger[stale.uuid]["state"] == "reverted"
    assert run().report.contradictions.reverted == 1
    assert ends(save, stale.uuid) == (LATER, NOW)


def test_what_is_reverted_and_no_longer_contradicted_is_left(stale, save, run, store, graph_name):
    run()

    async def story(world: World) -> None:
        await stale.save(world.driver)
        await world.cypher("MATCH ()-[e:RELATES_TO {fact: $new}]->() DELETE e", new=NEW)

    save(story)
    report = run().report
    assert (report.contradictions.resolved, report.contradictions.reverted) == (0, 0)
    assert "no longer contradicted" in str(report.warnings)
    assert ends(save, stale.uuid) == (None, None)
    assert store.read_room(graph_name).ledger[stale.uuid]["state"] == "lapsed"
    assert "no longer contradicted" not in str(run().report.warnings)


def test_an_end_that_graphiti_has_written_itself_stays(stale, save, run, store, graph_name):
    class Overtaken(FalkorStore):
        def change_ends(self, graph: str, changes: Any, lock_token: str) -> set[str]:
            edge = stale.model_copy(update={"invalid_at": MONDAY, "expired_at": LATER})
            save(saved_again(edge))
            return super().change_ends(graph, changes, lock_token)

    outcome = run(by=Overtaken(store._connection, "redis://here"))
    assert outcome.error is None
    report = outcome.report
    assert (report.contradictions.resolved, report.wrote.invalidated) == (0, 0)
    assert f"1 fact changed meanwhile and not resolved: {stale.uuid}" in report.warnings
    assert ends(save, stale.uuid) == (MONDAY, LATER)
    assert store.read_room(graph_name).ledger.get(stale.uuid, {"state": ""})["state"] != "resolved"
    assert store.lock_holder(graph_name) is None


@pytest.mark.parametrize("changed", [OLD, NEW])
def test_a_fact_whose_text_changes_before_the_write_is_left(stale, save, run, store, changed):
    class Changed(FalkorStore):
        def read_facts(self, graph: str, facts: Any) -> Any:
            save(lambda world: world.cypher(
                "MATCH ()-[e:RELATES_TO {fact: $old}]->() SET e.fact = 'something else'",
                old=changed,
            ))  # fmt: skip
            return super().read_facts(graph, facts)

    outcome = run(by=Changed(store._connection, "redis://here"))
    assert outcome.report.contradictions.resolved == 0
    assert outcome.ledger[stale.uuid]["state"] == "changed"
    assert ends(save, stale.uuid) == (None, None)


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_fact_that_changed_before_the_write_waits_for_the_next_run(
    stale, save, run, store, graph_name, is_alone
):
    async def another(world: World) -> None:
        for at, target, text in (
            (MONDAY, "Nginx", "web is served by Nginx"),
            (LATER, "Caddy", "web is served by Caddy instead of Nginx"),
        ):
            fact = Fact("web", "SERVED_BY", target, text)
            await world.episode(f"{text}.", at=at, facts=[fact])

    if not is_alone:
        save(another)
    set_text = "MATCH ()-[e:RELATES_TO {uuid: $uuid}]->() SET e.fact = $text"

    class Changed(FalkorStore):
        def read_facts(self, graph: str, facts: Any) -> Any:
            text = f"{OLD} now"
            save(lambda world: world.cypher(set_text, uuid=stale.uuid, text=text))
            return super().read_facts(graph, facts)

    outcome = run(by=Changed(store._connection, "redis://here"))
    assert outcome.ledger[stale.uuid]["state"] == "changed"
    assert outcome.report.contradictions.resolved == (0 if is_alone else 1)
    assert store.read_room(graph_name).ledger[stale.uuid]["state"] == "found"
    if is_alone:  # the graph is what the run has read
        save(lambda world: world.cypher(set_text, uuid=stale.uuid, text=OLD))
    report = run("looks", resolve=False).report
    assert report.contradictions.review == 1
    assert [found["fact"] for found in report.contradictions.top] == [stale.uuid]
    assert run("again").report.contradictions.resolved == 1
    assert ends(save, stale.uuid)[0] == LATER


@pytest.mark.parametrize("moment", ["read_facts", "change_ends"])
def test_a_fact_that_is_said_again_before_the_write_is_left(stale, save, run, store, moment):
    """Graphiti has put one more episode on the old fact: its value is the current one again."""

    class SaidAgain(FalkorStore):
        def read_facts(self, graph: str, facts: Any) -> Any:
            said_again("read_facts")
            return super().read_facts(graph, facts)

        def change_ends(self, graph: str, changes: Any, lock_token: str) -> set[str]:
            said_again("change_ends")
            return super().change_ends(graph, changes, lock_token)

    def said_again(here: str) -> None:
        if here == moment:
            again = Fact("api", "CACHES_IN", "Redis", OLD)
            save(lambda world: world.episode("Redis after all.", at=NOW, facts=[again]))

    outcome = run(by=SaidAgain(store._connection, "redis://here"))
    assert outcome.report.contradictions.resolved == 0
    assert "1 fact changed meanwhile" in str(outcome.report.warnings)
    assert ends(save, stale.uuid) == (None, None)


def test_a_replacement_that_ends_before_the_write_replaces_nothing(stale, save, run, store):
    class TakenBack(FalkorStore):
        def change_ends(self, graph: str, changes: Any, lock_token: str) -> set[str]:
            save(lambda world: world.cypher(
                "MATCH ()-[e:RELATES_TO {fact: $new}]->() SET e.invalid_at = $at",
                new=NEW, at=LATER.isoformat(),
            ))  # fmt: skip
            return super().change_ends(graph, changes, lock_token)

    outcome = run(by=TakenBack(store._connection, "redis://here"))
    assert outcome.report.contradictions.resolved == 0
    assert ends(save, stale.uuid) == (None, None)


def test_a_plan_leaves_what_graphiti_has_saved_since(stale, save, store, graph_name):
    now_s = NOW.timestamp()
    thoughts = Recollector(store, CONFIG).recollect(Scope(graph_name), now_s)
    changes = GraphChanges(store, Scope(graph_name), CONFIG)
    plan = changes.plan(thoughts, store.read_room(graph_name), resolve=True, prune=False).plan
    assert [change.memory for change in plan.changes] == [stale.uuid]
    again = Fact("api", "CACHES_IN", "Redis", OLD)
    save(lambda world: world.episode("Redis after all.", at=NOW, facts=[again]))
    applied = changes.apply(plan, Job("run", "apply", now_s), "token")
    assert not applied.done and "changed since" in applied.left[stale.uuid]
    assert ends(save, stale.uuid) == (None, None)


class Died(BaseException):
    """Stands for the end of the process: nothing of ours runs after it."""


@pytest.mark.parametrize("moment", ["before the ledger", "before the graph", "after the graph"])
def test_a_run_that_dies_is_finished_by_the_next(stale, save, run, store, graph_name, moment):
    class Dying(FalkorStore):
        def apply(self, plan: Any, lock_token: str) -> None:
            if moment == "before the ledger":
                raise Died
            super().apply(plan, lock_token)

        def change_ends(self, graph: str, changes: Any, lock_token: str) -> set[str]:
            if moment == "after the graph":
                super().change_ends(graph, changes, lock_token)
            raise Died

    with pytest.raises(Died):
        run("dead", by=Dying(store._connection, "redis://here"))
    written = moment == "after the graph"
    report = run("next").report
    assert report.contradictions.resolved == (0 if written else 1)
    assert report.contradictions.reverted == 0
    assert ends(save, stale.uuid) == (LATER, NOW)
    entry = store.read_room(graph_name).ledger[stale.uuid]
    assert (entry["state"], entry["reverts"]) == ("resolved", 0)
    assert entry["before"] == {"invalid_at": None, "expired_at": None}
    assert run("last").report.wrote.model_dump() == dict.fromkeys(report.wrote.model_dump(), 0)


def test_a_lost_lock_stops_the_run_before_the_graph(stale, save, run, store, graph_name):
    class Slow(FalkorStore):
        def change_ends(self, graph: str, changes: Any, lock_token: str) -> set[str]:
            self.release_lock(graph, lock_token)
            assert self.acquire_lock(graph, "somebody", 60.0)
            return super().change_ends(graph, changes, lock_token)

    outcome = run(by=Slow(store._connection, "redis://here"))
    assert isinstance(outcome.error, LockLost)
    assert ends(save, stale.uuid) == (None, None)
    assert store.lock_holder(graph_name) == "somebody"


@pytest.mark.parametrize("other", ["works on it", "finished meanwhile"])
def test_a_run_that_ended_facts_says_so_whoever_keeps_the_scores(stale, save, store, run, other):
    class Overtaken(FalkorStore):
        def change_ends(self, graph: str, changes: Any, lock_token: str) -> set[str]:
            done = super().change_ends(graph, changes, lock_token)
            self.ended = True
            return done

        def release_lock(self, graph: str, token: str) -> None:
            super().release_lock(graph, token)
            if token != "somebody" and getattr(self, "ended", False):
                self.ended = False
                if other == "works on it":
                    assert self.acquire_lock(graph, "somebody", 60.0)
                else:
                    assert run("other").error is None

    outcome = run(by=Overtaken(store._connection, "redis://here"))
    assert (outcome.report.status, outcome.report.contradictions.resolved) == ("ok", 1)
    assert outcome.report.wrote.invalidated == 1
    assert f"another run {other}; scores are left to it" in outcome.report.warnings
    assert ends(save, stale.uuid) == (LATER, NOW)


def test_a_batch_that_was_overtaken_while_it_was_thinking_thinks_once_more(
    stale, store, run, graph_name
):
    class Overtaken(FalkorStore):
        def acquire_lock(self, graph: str, token: str, ttl_s: float) -> bool:
            if token == "late" and store.read_room(graph).revision == 0:
                assert run("other", resolve=False).error is None
            return super().acquire_lock(graph, token, ttl_s)

    engine = ConsolidationEngine(Overtaken(store._connection, "redis://here"), CONFIG, lambda: 0.0)
    late = Run(Scope(graph_name), NOW.timestamp(), "late", lock_wait_s=1.0)
    report = engine.consolidate(late).report
    assert (report.status, report.retention.changed) == ("ok", 0)
    assert store.read_room(graph_name).revision == 1


def test_failures_are_counted_although_the_ledger_is_written(stale, run, store, graph_name):
    class Refused(FalkorStore):
        def change_ends(self, graph: str, changes: Any, lock_token: str) -> set[str]:
            raise SynapseError("no right to write the graph")

    for _ in range(3):
        outcome = run(by=Refused(store._connection, "redis://here"))
    assert "failure 3 in a row" in str(outcome.report.warnings)
    assert run().report.contradictions.resolved == 1
    assert store.read_room(graph_name).failures_count == 0
