"""Planning, applying and undoing, on every store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from synapse.errors import LockBusy, SafetyCap, StoreError, UsageError
from synapse.hippocampus.applier import Applied, Job
from synapse.hippocampus.changes import GraphChanges, Undone
from synapse.hippocampus.config import ContradictionConfig, HippocampusConfig
from synapse.hippocampus.consolidation import ConsolidationEngine, Run
from synapse.hippocampus.plan import ConsolidationPlan, EndChange
from synapse.hippocampus.plan_file import Ends, MemoryPlan, PlannedChange
from synapse.hippocampus.ports import GraphDocument, MemoryStore
from synapse.hippocampus.recollector import Recollector
from synapse.hippocampus.review import Review
from synapse.hippocampus.room import Pin
from synapse.hippocampus.scope import Scope
from synapse.hippocampus.stamps import parse_stamp
from synapse.store.falkordb import FalkorStore
from synapse.store.keys import room_key
from synapse.store.memory import InMemoryStore

NOW = "2026-03-01T00:00:00+00:00"
CONFIG = HippocampusConfig()
PLACES = ("Rome", "Oslo", "Lima", "Bern")


@pytest.fixture
def graph(any_store: MemoryStore, graph_name: str) -> str:
    """Services that moved on, each once; and one entity beside them with nothing but itself."""
    names = ["api", "web", "lone", *PLACES]
    facts = []
    for service, (old, new) in (("api", PLACES[:2]), ("web", PLACES[2:])):
        for month, place, text in (
            ("01", old, f"{service} runs in {old}"),
            ("02", new, f"{service} runs in {new} instead of {old}"),
        ):
            facts.append({
                "uuid": f"{service}-{place}", "source_node_uuid": service,
                "target_node_uuid": place, "name": "RUNS_IN", "fact": text,
                "valid_at": f"2026-{month}-05T08:00:00+00:00", "episodes": ["e"],
            })  # fmt: skip
    any_store.write_memory(
        graph_name,
        GraphDocument(
            entities=tuple({"uuid": name, "name": name} for name in names),
            facts=tuple(facts),
            episodes=({"uuid": "e", "valid_at": "2026-01-05T08:00:00+00:00"},),
        ),
    )
    return graph_name


class Hands:
    """What a person has: plan, apply, undo."""

    def __init__(self, store: MemoryStore, graph: str, config: HippocampusConfig = CONFIG) -> None:
        self.store, self.graph, self.config = store, graph, config
        self.changes = GraphChanges(store, Scope(graph), config)

    def plan(self) -> MemoryPlan:
        room = self.store.read_room(self.graph)
        return self.changes.plan(self.thoughts(), room, resolve=True, prune=False).plan

    def thoughts(self) -> Any:
        recollector = Recollector(self.store, self.config)
        return recollector.recollect(Scope(self.graph), parse_stamp(NOW))

    def apply(self, plan: MemoryPlan, name: str = "run", **more: Any) -> Applied:
        job = Job(name, "apply", parse_stamp(NOW), **({"max_changes": 9} | more))
        return self.changes.apply(plan, job, f"token of {name}")

    def undo(self, name: str = "run", by: str = "undo", **more: Any) -> Undone:
        return self.changes.undo(name, Job(by, "undo", parse_stamp(NOW), **more), f"token of {by}")

    def consolidate(self, name: str = "batch", **more: Any) -> Any:
        engine = ConsolidationEngine(self.store, self.config, lambda: 0.0)
        return engine.consolidate(Run(Scope(self.graph), parse_stamp(NOW), name, **more))

    def facts(self) -> Any:
        uuids = [f"api-{place}" for place in PLACES[:2]] + [f"web-{p}" for p in PLACES[2:]]
        return self.store.read_facts(self.graph, uuids)

    def state(self, fact: str) -> str | None:
        entry = self.store.read_room(self.graph).ledger.get(fact)
        return None if entry is None else entry["state"]

    def overwrite(self, fact: str, invalid_at: str | None) -> None:
        before = self.facts()[fact]
        assert self.store.acquire_lock(self.graph, "other", 60.0)
        change = EndChange(fact, before, invalid_at, invalid_at)
        assert self.store.change_ends(self.graph, [change], "other") == {fact}
        self.store.release_lock(self.graph, "other")


@pytest.fixture
def hands(any_store: MemoryStore, graph: str) -> Hands:
    return Hands(any_store, graph)


OLD = {"api-Rome", "web-Lima"}


def test_a_plan_is_applied_to_the_letter_and_taken_back(hands: Hands) -> None:
    before, plan = hands.facts(), hands.plan()
    assert {c.memory for c in plan.changes} == OLD and hands.facts() == before
    assert MemoryPlan.loads(plan.dumps()) == plan == hands.plan()
    applied = hands.apply(plan)
    assert (applied.done, applied.left, applied.run_id) == (OLD, {}, "run")
    after = hands.facts()
    assert {f: s.ends for f, s in after.items() if s != before[f]} == {
        c.memory: c.to.model_dump() for c in plan.changes if c.to
    }
    assert {hands.state(fact) for fact in OLD} == {"resolved"}
    undone = hands.undo()
    assert undone.applied.done == OLD and not undone.applied.left
    assert hands.facts() == before and {hands.state(fact) for fact in OLD} == {"undone"}
    assert hands.store.lock_holder(hands.graph) is None


def test_undoing_twice_is_harmless_and_an_undo_can_be_undone(hands: Hands) -> None:
    before, plan = hands.facts(), hands.plan()
    hands.apply(plan)
    after = hands.facts()
    hands.undo()
    revision = hands.store.read_room(hands.graph).revision
    again = hands.undo(by="again")
    assert not again.applied.done and not again.applied.left and hands.facts() == before
    assert hands.store.read_room(hands.graph).revision == revision
    assert hands.undo("undo", by="redo").applied.done == OLD
    assert hands.facts() == after and {hands.state(fact) for fact in OLD} == {"resolved"}
    assert hands.undo("redo", by="last").applied.done == OLD and hands.facts() == before


def test_what_was_undone_is_not_proposed_again(hands: Hands) -> None:
    before = hands.facts()
    hands.apply(hands.plan())
    hands.undo()
    assert not hands.plan().changes
    report = hands.consolidate(resolve=True).report
    assert report.contradictions.resolved == 0 and hands.facts() == before
    assert "decided about the 2 findings" in report.reason_for_zero["resolved"]


def test_an_applied_plan_says_so(hands: Hands) -> None:
    plan = hands.plan()
    hands.apply(plan)
    revision = hands.store.read_room(hands.graph).revision
    again = hands.apply(plan, "again")
    assert again.earlier is not None and again.earlier.run_id == "run" and not again.done
    assert hands.store.read_room(hands.graph).revision == revision
    hands.undo()
    with pytest.raises(UsageError, match="run applied the plan and was undone"):
        hands.apply(plan, "again")


def test_a_plan_that_was_undone_but_for_a_fact_is_not_called_applied(hands: Hands) -> None:
    plan = hands.plan()
    hands.apply(plan)
    hands.overwrite("api-Rome", NOW)
    undone = hands.undo().applied
    assert (undone.done, undone.left.keys()) == (OLD - {"api-Rome"}, {"api-Rome"})
    with pytest.raises(UsageError, match="run applied the plan and was undone"):
        hands.apply(plan, "again")


def test_only_its_own_graph_and_configuration(hands: Hands) -> None:
    plan = hands.plan()
    before = hands.facts()
    sure = ContradictionConfig(resolve_confidence=0.5)
    other = Hands(hands.store, hands.graph, HippocampusConfig(contradictions=sure))
    with pytest.raises(UsageError, match="made with configuration"):
        other.apply(plan)
    with pytest.raises(UsageError, match="the plan is for graph"):
        Hands(hands.store, "elsewhere").apply(plan)
    assert hands.facts() == before


@pytest.mark.parametrize("whose", ["api-Rome", "api-Oslo"])
def test_what_changed_meanwhile_is_left_and_named(hands: Hands, whose: str) -> None:
    plan = hands.plan()
    hands.overwrite(whose, NOW)
    before = hands.facts()
    applied = hands.apply(plan)
    assert applied.done == {"web-Lima"} and set(applied.left) == {"api-Rome"}
    assert "changed since" in applied.left["api-Rome"]
    assert hands.facts() == before | {"web-Lima": hands.facts()["web-Lima"]}
    assert hands.state("api-Rome") is None
    (entry,) = (past.entry for past in hands.changes.runs())
    assert [c.memory for c in entry.changes] == ["web-Lima"]


@pytest.mark.parametrize(
    ("gone", "why"),
    [
        ("api-Rome", "it is gone from the graph"),
        ("api-Oslo", "the fact that replaces it has changed since the plan was made"),
    ],
)
def test_what_is_gone_meanwhile_is_left_and_named(hands: Hands, gone: str, why: str) -> None:
    plan = hands.plan()
    assert hands.apply(archive_plan(hands, gone), "other").done == {gone}
    foreseen, applied = hands.apply(plan, dry_run=True), hands.apply(plan)
    assert applied.done == foreseen.done == {"web-Lima"}
    assert applied.left == foreseen.left == {"api-Rome": why}


def test_a_plan_may_end_what_replaces_another_fact_and_nobody_else_may(hands: Hands) -> None:
    plan, states = hands.plan(), hands.facts()
    first = next(change for change in plan.changes if change.memory == "api-Rome")
    second = first.model_copy(update={
        "memory": "api-Oslo", "by": "web-Bern", "was": Ends(**states["api-Oslo"].ends),
        "before": states["api-Oslo"].digest, "by_before": states["web-Bern"].digest,
    })  # fmt: skip
    (waiting,) = archive_plan(hands, "Bern").changes  # a fact hangs on it: the plan stays open
    plan = plan.model_copy(update={"changes": (first, second, waiting)})
    assert hands.apply(plan).done == {"api-Rome", "api-Oslo"}
    hands.overwrite("api-Rome", None)  # as an ingestion does that still has its older copy
    again = hands.apply(plan)
    assert (again.done, again.already) == ({"api-Rome"}, {"api-Oslo"})
    hands.overwrite("api-Rome", None)
    hands.overwrite("api-Oslo", NOW)
    before, last = hands.facts(), hands.apply(plan)
    assert not last.done and "replaces it has changed" in last.left["api-Rome"]
    assert hands.facts() == before


def test_what_somebody_decided_meanwhile_is_respected(hands: Hands) -> None:
    plan, before = hands.plan(), hands.facts()
    review = Review(hands.store, hands.thoughts(), hands.store.read_room(hands.graph))
    review.decide("api-Rome", "keep-both", "person")
    applied = hands.apply(plan)
    assert applied.done == {"web-Lima"}
    assert applied.left == {"api-Rome": "somebody has decided keep-both about it"}
    assert hands.facts()["api-Rome"] == before["api-Rome"]


def test_a_room_that_moved_on_does_not_spoil_a_plan(hands: Hands) -> None:
    plan = hands.plan()
    hands.consolidate()
    assert hands.apply(plan).done == OLD


def test_undo_leaves_what_others_wrote_since(hands: Hands) -> None:
    hands.apply(hands.plan())
    hands.overwrite("api-Rome", NOW)
    before = hands.facts()
    undone = hands.undo()
    assert undone.applied.done == {"web-Lima"}
    assert undone.applied.left == {"api-Rome": "it no longer is what the run wrote"}
    assert hands.facts()["api-Rome"] == before["api-Rome"]
    (past, _) = hands.changes.runs()
    assert (past.undoing.count, set(past.undoing.left)) == (0, {"api-Rome"})


def test_undo_is_remembered_where_an_ingestion_was_first(hands: Hands) -> None:
    before = hands.facts()
    hands.apply(hands.plan())
    hands.overwrite("api-Rome", None)
    hands.undo()
    assert hands.facts() == before
    hands.consolidate(resolve=True)
    assert hands.facts() == before


def test_a_dry_run_tells_and_writes_nothing(hands: Hands) -> None:
    plan, before = hands.plan(), hands.facts()
    assert hands.apply(plan, dry_run=True).done == OLD
    assert hands.facts() == before and hands.store.read_room(hands.graph).revision == 0
    hands.apply(plan)
    after = hands.facts()
    assert hands.undo(dry_run=True).applied.done == OLD and hands.facts() == after
    assert len(hands.changes.runs()) == 1


def test_the_cap_is_checked_before_anything_is_written(hands: Hands) -> None:
    plan, before = hands.plan(), hands.facts()
    with pytest.raises(SafetyCap, match="--max-changes 2"):
        hands.apply(plan, max_changes=None)
    with pytest.raises(SafetyCap):
        hands.apply(plan, max_changes=1)
    assert hands.facts() == before and hands.store.read_room(hands.graph).revision == 0
    assert not hands.store.read_journal(hands.graph)


def test_a_busy_graph_is_left_alone(hands: Hands) -> None:
    plan, before = hands.plan(), hands.facts()
    assert hands.store.acquire_lock(hands.graph, "somebody", 60.0)
    with pytest.raises(LockBusy):
        hands.apply(plan)
    assert isinstance(hands.consolidate(resolve=True).error, LockBusy)
    assert hands.facts() == before and hands.store.lock_holder(hands.graph) == "somebody"


def test_a_room_that_moved_on_while_it_is_applied_stops_the_run(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, before = hands.plan(), hands.facts()
    take: Callable[..., bool] = hands.store.acquire_lock

    def overtaken(graph: str, token: str, ttl_s: float) -> bool:
        assert take(graph, "faster", ttl_s)
        hands.store.apply(ConsolidationPlan(graph, "faster", "", 0), "faster")
        hands.store.release_lock(graph, "faster")
        return take(graph, token, ttl_s)

    monkeypatch.setattr(hands.store, "acquire_lock", overtaken)
    with pytest.raises(LockBusy, match="meanwhile"):
        hands.apply(plan)
    assert hands.facts() == before and hands.store.lock_holder(hands.graph) is None


def test_consolidate_review_and_apply_share_one_journal(hands: Hands) -> None:
    before = hands.facts()
    review = Review(hands.store, hands.thoughts(), hands.store.read_room(hands.graph))
    review.decide("api-Rome", "keep-new", "person")
    assert hands.consolidate("batch", resolve=True, max_changes=9).report.wrote.invalidated == 1
    past = {p.entry.run_id: (p.entry.command, p.undoing.count) for p in hands.changes.runs()}
    assert past == {"person": ("review", 1), "batch": ("consolidate --resolve", 1)}
    assert hands.undo("person", by="u1").applied.done == {"api-Rome"}
    assert hands.undo("bat", by="u2").applied.done == {"web-Lima"}
    assert hands.facts() == before


@pytest.mark.parametrize("name", ["", "nobody", "u"])
def test_a_run_is_known_by_its_name_or_its_beginning(hands: Hands, name: str) -> None:
    hands.apply(hands.plan())
    hands.undo(by="u1")
    hands.undo("u1", by="u2")
    with pytest.raises(UsageError) as refusal:
        hands.undo(name, by="other")
    assert len(str(refusal.value)) < 130


def test_an_end_that_nothing_explained_comes_back_as_it_was(hands: Hands) -> None:
    hands.overwrite("api-Rome", "2026-01-20T00:00:00+00:00")
    before = hands.facts()
    hands.consolidate()
    assert hands.store.read_room(hands.graph).ledger["api-Rome"]["verdict"] == "doubtful"
    review = Review(hands.store, hands.thoughts(), hands.store.read_room(hands.graph))
    assert review.decide("api-Rome", "undo-invalidation", "person").state == "undone"
    assert hands.facts()["api-Rome"].invalid_at is None
    assert hands.undo("person").applied.done == {"api-Rome"}
    assert hands.facts() == before and hands.state("api-Rome") == "found"
    hands.consolidate("later")
    assert hands.state("api-Rome") == "found"


def archive_plan(hands: Hands, *uuids: str) -> MemoryPlan:
    images = hands.store.read_images(hands.graph, uuids)
    changes = tuple(
        PlannedChange(
            do="archive", memory=u, kind=images[u].kind, before=images[u].digest, reason="faded"
        )
        for u in uuids
    )
    return hands.plan().model_copy(update={"changes": changes})


def test_an_archived_memory_comes_back_with_what_was_decided_about_it(hands: Hands) -> None:
    review = Review(hands.store, hands.thoughts(), hands.store.read_room(hands.graph))
    review.decide("api-Rome", "keep-both", "person")
    uuids = ("api-Rome", "Rome", "lone")
    before = hands.store.read_images(hands.graph, uuids)
    applied = hands.apply(archive_plan(hands, *uuids))
    assert applied.done == set(uuids) and hands.store.read_images(hands.graph, uuids) == {}
    hands.consolidate()
    assert hands.state("api-Rome") is None
    assert hands.undo(dry_run=True).applied.done == set(uuids)
    assert hands.undo().applied.done == set(uuids)
    assert hands.store.read_images(hands.graph, uuids) == before
    assert hands.state("api-Rome") == "decided"
    again = hands.undo(by="again")
    assert not again.applied.done and not again.applied.left


@pytest.mark.parametrize("wanted", ["api-Rome", "run"])
def test_what_is_restored_by_name_comes_back_with_what_was_decided_about_it(
    hands: Hands, wanted: str
) -> None:
    review = Review(hands.store, hands.thoughts(), hands.store.read_room(hands.graph))
    review.decide("api-Rome", "keep-both", "person")
    known = hands.store.read_room(hands.graph).ledger["api-Rome"]
    assert hands.apply(archive_plan(hands, "api-Rome")).done == {"api-Rome"}
    hands.consolidate()
    assert hands.state("api-Rome") is None
    back = hands.changes.restore(wanted, Job("back", "restore", parse_stamp(NOW)), "back")
    assert back.done == {"api-Rome"}
    assert hands.store.read_room(hands.graph).ledger["api-Rome"] == known
    hands.consolidate("late", resolve=True)
    assert hands.state("api-Rome") == "decided"


def test_a_memory_that_changed_or_still_carries_facts_is_not_archived(hands: Hands) -> None:
    plan, late = archive_plan(hands, "api-Rome", "Oslo", "lone"), archive_plan(hands, "lone")
    hands.overwrite("api-Rome", NOW)
    foreseen, applied = hands.apply(plan, dry_run=True), hands.apply(plan)
    assert applied.done == foreseen.done == {"lone"}
    assert (
        applied.left
        == foreseen.left
        == {
            "api-Rome": "it has changed since the plan was made",
            "Oslo": "fact api-Oslo hangs on it and stays",
        }
    )
    assert hands.apply(late, "late").left == {"lone": "it is gone from the graph"}
    hands.store.acquire_lock(hands.graph, "purger", 60.0)
    assert hands.store.purge(hands.graph, parse_stamp(NOW) + 1.0, "purger") == 1
    hands.store.release_lock(hands.graph, "purger")
    assert hands.undo().applied.left == {"lone": "it was purged and is gone for good"}


def test_a_memory_that_was_pinned_meanwhile_is_not_archived(hands: Hands) -> None:
    plan = archive_plan(hands, "lone")
    hands.store.pin(hands.graph, "lone", Pin(0.0, "mine"))
    for applied in (hands.apply(plan, dry_run=True), hands.apply(plan)):
        assert (applied.done, applied.left) == (frozenset(), {"lone": "it is pinned"})
    assert "lone" in hands.store.read_graph(hands.graph).entities.uuid


def test_undoing_tells_what_came_back_and_has_gone_since(hands: Hands) -> None:
    hands.apply(archive_plan(hands, "lone"))
    assert hands.changes.restore("lone", Job("back", "restore", parse_stamp(NOW)), "token").done
    if isinstance(hands.store, InMemoryStore):
        del hands.store._graphs[hands.graph].entities["lone"]
    else:
        query = "MATCH (n:Entity {uuid: 'lone'}) DELETE n"
        hands.store._connection.execute_command(  # type: ignore[attr-defined]
            "GRAPH.QUERY", hands.graph, query
        )
    undone = hands.undo(by="too late")
    assert undone.applied.left == {"lone": "it came back and has gone from the graph since"}
    assert not undone.applied.already


def test_undoing_does_not_call_back_what_is_nowhere_any_more(
    store: FalkorStore, graph_name: str
) -> None:
    store.write_memory(graph_name, GraphDocument(entities=({"uuid": "lone", "name": "Lone"},)))
    hands = Hands(store, graph_name)
    hands.apply(archive_plan(hands, "lone"))
    store._connection.delete(room_key(graph_name, "memory"))
    undone = hands.undo()
    assert undone.applied.left == {"lone": "it is neither in the graph nor in the archive"}
    assert not undone.applied.already


def digests(hands: Hands, uuids: Iterable[str]) -> dict[str, str]:
    images = hands.store.read_images(hands.graph, tuple(uuids))
    return {uuid: image.digest for uuid, image in images.items()}


@pytest.mark.parametrize("batch", [False, True], ids=["at once", "after a batch"])
def test_two_runs_about_one_fact_are_undone_in_either_order(hands: Hands, batch: bool) -> None:
    """One run ends a fact, another archives it with its end."""
    uuids = ("api-Rome", "Rome")
    whole = (*uuids, "api", "Oslo", "api-Oslo", "web-Lima")
    before = digests(hands, whole)
    hands.apply(hands.plan(), "ends")
    ended = digests(hands, whole)
    assert hands.apply(archive_plan(hands, *uuids), "moves").done == set(uuids)
    if batch:
        hands.consolidate()
    early = hands.undo("ends", by="too early").applied
    assert early.left == {"api-Rome": "run moves archived it; undo that run first"}
    assert early.done == {"web-Lima"}, "the other fact is valid again"
    (past,) = [one for one in hands.changes.runs() if one.entry.run_id == "ends"]
    assert past.undoing.left == early.left
    assert hands.undo("moves", by="back").applied.done == set(uuids)
    assert digests(hands, uuids) == {u: ended[u] for u in uuids}
    assert hands.undo("ends", by="now").applied.done == {"api-Rome"}
    assert digests(hands, whole) == before
    assert {hands.state(fact) for fact in OLD} == {"undone"}
    for name in ("ends", "moves"):
        again = hands.undo(name, by="again").applied
        assert not again.done and not again.left


def test_two_runs_that_archive_a_fact_and_its_end_are_undone_in_either_order(
    hands: Hands,
) -> None:
    before = digests(hands, ("api-Rome", "Rome", "api"))
    hands.apply(archive_plan(hands, "api-Rome"), "fact")
    hands.apply(archive_plan(hands, "Rome"), "end")
    assert hands.undo("fact", by="first").applied.done == {"api-Rome"}
    assert digests(hands, before) == before, "it has brought its end along"
    again = hands.undo("end", by="second").applied
    assert not again.done and not again.left
    assert digests(hands, before) == before


def test_of_the_journal_only_what_is_needed_is_understood(
    hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_ago = {"run_id": "old", "now_s": 1.0, "changes": 5}
    assert hands.store.acquire_lock(hands.graph, "mine", 60.0)
    hands.store.append_journal(hands.graph, "old", long_ago, "mine")
    hands.store.release_lock(hands.graph, "mine")
    plan = hands.plan()
    reads: list[str] = []
    read = hands.store.read_journal
    monkeypatch.setattr(
        hands.store, "read_journal", lambda graph: (reads.append(graph), read(graph))[1]
    )
    assert hands.apply(plan).done == OLD
    assert hands.undo().applied.done == OLD
    assert reads == [hands.graph] * 2
    assert [past.entry.run_id for past in hands.changes.runs(1)] == ["undo"]
    with pytest.raises(StoreError, match="'old' of the room's journal cannot be understood"):
        hands.changes.runs()
