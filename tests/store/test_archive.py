"""What goes into the archive comes back as it was, on every store."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np
import pytest

from synapse.errors import LockLost, UnknownGraph
from synapse.hippocampus.archived import former_stability, likeness, not_to_propose
from synapse.hippocampus.memory_keys import trace_keys
from synapse.hippocampus.plan import ArchiveChange, ConsolidationPlan
from synapse.hippocampus.ports import GraphDocument, MemoryStore
from synapse.hippocampus.room import Pin
from synapse.hippocampus.traces import trace_table
from synapse.store.falkordb import FalkorStore

MORNING = "2026-01-05T08:00:00+00:00"
DAY_S = 86_400.0


def entity(uuid: str, **more: Any) -> dict[str, Any]:
    return {"uuid": uuid, "name": uuid.title(), "created_at": MORNING, **more}


def fact(uuid: str, source: str, target: str, **more: Any) -> dict[str, Any]:
    ends = {"source_node_uuid": source, "target_node_uuid": target}
    return {"uuid": uuid, **ends, "name": "KNOWS", "fact": f"{uuid} says", **more}


def mention(episode: str, entity: str) -> dict[str, Any]:
    ends = {"episode_uuid": episode, "entity_uuid": entity}
    return {"uuid": f"{episode}-{entity}", **ends, "created_at": MORNING}


DOCUMENT = GraphDocument(
    entities=(entity("ada", labels=["Person"], age=36), entity("bob"), entity("eve", ratio=0.5)),
    episodes=(
        {"uuid": "monday", "name": "monday", "created_at": MORNING, "valid_at": MORNING},
        {"uuid": "tuesday", "name": "tuesday", "created_at": MORNING, "valid_at": MORNING},
    ),
    facts=(
        fact("f1", "ada", "bob", episodes=["monday", "tuesday"], valid_at=MORNING),
        fact("f2", "ada", "bob", episodes=[]),
        fact("loop", "ada", "ada", episodes=["nowhere"], weight=3, is_sure=True),
    ),
    mentions=(mention("monday", "ada"), mention("tuesday", "ada"), mention("monday", "bob")),
)
ALL = ("ada", "bob", "eve", "f1", "f2", "loop")


@pytest.fixture
def graph(any_store: MemoryStore, graph_name: str) -> str:
    """A small memory whose lock is held."""
    any_store.write_memory(graph_name, DOCUMENT)
    assert any_store.acquire_lock(graph_name, "mine", 60.0)
    return graph_name


def restore(store: MemoryStore, graph: str, uuids: Collection[str]) -> dict[str, str]:
    """Bring memories back, as was foreseen."""
    foreseen = store.foresee_restore(graph, uuids)
    told = store.restore(graph, uuids, "mine")
    assert foreseen == told
    return told


def move(store: MemoryStore, graph: str, *uuids: str, **more: Any) -> set[str]:
    """Archive memories as they are now."""
    at_s, run_id = more.pop("at_s", 100.0), more.pop("run_id", "run")
    changes = [
        ArchiveChange(i.uuid, i.kind, i.digest, "faded", **more)
        for i in store.read_images(graph, uuids).values()
    ]
    return store.archive(graph, changes, run_id, at_s, "mine")


def digests(store: MemoryStore, graph: str) -> dict[str, str]:
    return {uuid: image.digest for uuid, image in store.read_images(graph, ALL).items()}


def test_an_image_holds_everything(any_store: MemoryStore, graph: str) -> None:
    images = any_store.read_images(graph, [*ALL, "nobody"])
    assert set(images) == set(ALL)
    ada, loop = images["ada"], images["loop"]
    assert (ada.kind, ada.name, ada.group_id, ada.properties["age"]) == ("entity", "Ada", "_", 36)
    assert set(ada.labels) == {"Entity", "Person"} and set(ada.facts) == {"f1", "f2", "loop"}
    assert {(li.type, li.other, li.other_label, li.is_outgoing) for li in ada.links} == {
        ("MENTIONS", "monday", "Episodic", False),
        ("MENTIONS", "tuesday", "Episodic", False),
    }
    assert {li.properties["created_at"] for li in ada.links} == {MORNING}
    assert (loop.kind, loop.name, loop.ends) == ("fact", "loop says", ("ada", "ada"))
    assert loop.end_names == ("Ada", "Ada")
    assert (loop.properties["weight"], loop.properties["is_sure"]) == (3, True)
    assert (loop.properties["episodes"], images["f2"].properties["episodes"]) == (["nowhere"], [])
    assert len({image.digest for image in images.values()}) == len(ALL)
    assert not any(image.obstacle for image in images.values())


def test_everything_goes_and_comes_back(any_store: MemoryStore, graph: str) -> None:
    before = digests(any_store, graph)
    assert move(any_store, graph, *ALL) == set(ALL)
    assert any_store.read_images(graph, ALL) == {}
    archived = any_store.read_archived_images(graph, ALL)
    assert {uuid: image.digest for uuid, image in archived.items()} == before
    outcomes = restore(any_store, graph, ALL)
    assert outcomes == dict.fromkeys(ALL, "restored")
    assert digests(any_store, graph) == before
    assert restore(any_store, graph, ALL) == dict.fromkeys(ALL, "already there")
    assert any_store.read_archived_images(graph, ALL) == {}


def test_an_entity_stays_while_a_fact_hangs_on_it(any_store: MemoryStore, graph: str) -> None:
    assert move(any_store, graph, "ada", "f1", "loop") == {"f1", "loop"}
    assert set(any_store.read_images(graph, ALL)) == {"ada", "bob", "eve", "f2"}


def test_what_has_changed_stays(any_store: MemoryStore, graph: str) -> None:
    changes = [ArchiveChange(u, "fact", "another digest", "faded") for u in ("f1", "nobody")]
    assert any_store.archive(graph, changes, "run", 1.0, "mine") == set()
    assert set(any_store.read_images(graph, ALL)) == set(ALL)
    assert any_store.read_archive(graph) == []


def test_what_is_pinned_stays(any_store: MemoryStore, graph: str) -> None:
    for memory in ("f1", "bob", "eve"):
        any_store.pin(graph, memory, Pin(0.0))
    assert move(any_store, graph, *ALL) == {"f2", "loop"}
    assert any_store.read_images(graph, ALL).keys() == {"ada", "bob", "eve", "f1"}
    assert {m.uuid for m in any_store.read_archive(graph)} == {"f2", "loop"}
    for memory in ("f1", "bob", "eve"):
        any_store.unpin(graph, memory)
    assert move(any_store, graph, "ada", "bob", "eve", "f1") == {"ada", "bob", "eve", "f1"}


def test_the_archive_says_what_it_holds(any_store: MemoryStore, graph: str) -> None:
    move(any_store, graph, "f1", run_id="first", at_s=1.0)
    move(any_store, graph, "f2", "eve", run_id="second", at_s=2.5, by_person=True)
    f1, *second = any_store.read_archive(graph)
    assert (f1.uuid, f1.kind, f1.name, f1.run_id) == ("f1", "fact", "f1 says", "first")
    assert (f1.at_s, f1.reason, f1.state) == (1.0, "faded", "archived")
    assert (f1.ends, f1.end_names, f1.by_person) == (("ada", "bob"), ("Ada", "Bob"), False)
    assert {m.uuid for m in second} == {"f2", "eve"} and all(m.by_person for m in second)
    assert any_store.read_archive(graph, "second") == second
    assert any_store.read_archive(graph, "third") == []


def test_a_fact_brings_its_ends_along(any_store: MemoryStore, graph: str) -> None:
    before = digests(any_store, graph)
    move(any_store, graph, *ALL)
    restored = restore(any_store, graph, ["f1"])
    assert restored == dict.fromkeys(["ada", "bob", "f1"], "restored")
    assert digests(any_store, graph) == {uuid: before[uuid] for uuid in ("ada", "bob", "f1")}


def test_an_end_under_another_uuid_is_not_guessed(any_store: MemoryStore, graph: str) -> None:
    move(any_store, graph, "ada", "f1", "f2", "loop")
    any_store.write_memory(graph, GraphDocument(entities=(entity("other", name="Ada"),)))
    outcome = restore(any_store, graph, ["f1"])
    assert "'Ada' (ada) was created again as other" in outcome.pop("f1") and not outcome
    assert any_store.read_images(graph, ["ada", "f1"]) == {}
    both = restore(any_store, graph, ["ada", "f1"])
    again = "restored; the graph also holds 'Ada' as other, created again since"
    assert both == {"ada": again, "f1": "restored"}


def test_what_cannot_come_back_says_why(any_store: MemoryStore, graph: str) -> None:
    move(any_store, graph, *ALL, at_s=1.0)
    assert restore(any_store, graph, ["nobody"]) == {"nobody": "it is not in the archive"}
    restore(any_store, graph, ["bob"])
    assert any_store.purge(graph, 2.0, "mine") == 5
    outcome = restore(any_store, graph, ["eve", "f1"])
    assert outcome == dict.fromkeys(["eve", "f1"], "it was purged and is gone for good")


def test_purging_leaves_no_text_of_earlier_times(any_store: MemoryStore, graph: str) -> None:
    move(any_store, graph, "f1", at_s=1 * DAY_S)
    restore(any_store, graph, ["f1"])
    move(any_store, graph, "f1", at_s=2 * DAY_S)
    assert any_store.purge(graph, 3 * DAY_S, "mine") == 1
    assert [(m.state, m.name, m.end_names) for m in any_store.read_archive(graph)] == [
        ("purged", "", ()), ("purged", "", ())
    ]  # fmt: skip


def test_purging_what_went_before_keeps_that_a_memory_is_back(
    any_store: MemoryStore, graph: str
) -> None:
    again = fact("f1", "ada", "bob", episodes=["monday"], valid_at=MORNING)
    move(any_store, graph, "f1", at_s=1 * DAY_S)
    any_store.write_memory(graph, GraphDocument(facts=(again,)))
    move(any_store, graph, "f1", at_s=2 * DAY_S)
    restore(any_store, graph, ["f1"])
    assert any_store.purge(graph, math.inf, "mine") == 1
    assert [m.state for m in any_store.read_archive(graph)] == ["purged", "restored"]


def test_purging_leaves_tombstones(any_store: MemoryStore, graph: str) -> None:
    move(any_store, graph, "f1", at_s=1 * DAY_S, by_person=True)
    move(any_store, graph, "f2", at_s=2 * DAY_S)
    for never in (0.0, 1 * DAY_S, -math.inf, math.nan):
        assert any_store.purge(graph, never, "mine") == 0
    assert any_store.purge(graph, 2 * DAY_S, "mine") == 1
    assert any_store.purge(graph, 2 * DAY_S, "mine") == 0
    gone, kept = any_store.read_archive(graph)
    assert gone.is_removed_for_good and (gone.uuid, gone.name, gone.by_person) == ("f1", "", True)
    assert kept.state == "archived"
    assert set(any_store.read_archived_images(graph, ALL)) == {"f2"}
    assert restore(any_store, graph, ["f2"]) == {"f2": "restored"}


def test_what_came_back_by_itself_can_go_again(any_store: MemoryStore, graph: str) -> None:
    move(any_store, graph, "f1", run_id="first")
    any_store.write_memory(graph, GraphDocument(facts=(fact("f1", "bob", "ada"),)))
    before = digests(any_store, graph)["f1"]
    outcome = restore(any_store, graph, ["f1"])
    assert "another version" in outcome["f1"] and "synapse archive show f1" in outcome["f1"]
    assert move(any_store, graph, "f1", run_id="second") == {"f1"}
    assert any_store.read_archived_images(graph, ["f1"])["f1"].digest == before
    assert restore(any_store, graph, ["f1"]) == {"f1": "restored"}
    assert digests(any_store, graph)["f1"] == before
    assert [m.state for m in any_store.read_archive(graph)] == ["archived", "restored"]
    assert "another version" in restore(any_store, graph, ["f1"])["f1"], "of the first"
    first = any_store.read_archived_images(graph, ["f1"])["f1"]
    assert first.digest != before


def test_what_came_back_as_it_was_is_there_already(any_store: MemoryStore, graph: str) -> None:
    move(any_store, graph, "f1")
    was = any_store.read_archived_images(graph, ["f1"])["f1"]
    as_it_was = fact("f1", "ada", "bob", episodes=["monday", "tuesday"], valid_at=MORNING)
    any_store.write_memory(graph, GraphDocument(facts=(as_it_was,)))
    assert digests(any_store, graph)["f1"] == was.digest
    assert any_store.foresee_restore(graph, ["f1"]) == {"f1": "already there"}
    assert restore(any_store, graph, ["f1"]) == {"f1": "already there"}
    assert [m.state for m in any_store.read_archive(graph)] == ["restored"]
    assert any_store.purge(graph, math.inf, "mine") == 0


def test_a_link_that_cannot_come_back_is_named(store: FalkorStore, graph_name: str) -> None:
    store.write_memory(graph_name, DOCUMENT)
    assert store.acquire_lock(graph_name, "mine", 60.0)
    move(store, graph_name, *ALL)
    store._connection.execute_command(
        "GRAPH.QUERY", graph_name, "MATCH (p:Episodic {uuid: 'monday'}) DELETE p"
    )
    outcomes = restore(store, graph_name, ALL)
    assert outcomes.pop("ada") == (
        "restored; 1 link whose other end is gone, or there twice, could not come along: "
        "MENTIONS from monday"
    )


def test_the_trace_is_kept_with_the_memory(any_store: MemoryStore, graph: str) -> None:
    traces = trace_table(
        trace_keys(["bob"], ["f1", "f2"]),
        {"stability": np.array([4.0, 2.5, 1.0]), "last_touch_s": np.array([6.0, 7.0, 8.0])},
    )
    plan = ConsolidationPlan(graph, "run", "c", 0, traces=traces, changed=np.ones(3, np.bool_))
    any_store.apply(plan, "mine")
    move(any_store, graph, "f1", "f2", "eve", "bob", by_person=True)
    entries = {m.uuid: m for m in any_store.read_archive(graph)}
    assert (entries["bob"].trace["stability"], entries["bob"].trace["kind"]) == (4.0, 0)
    assert entries["f1"].trace["stability"] == 2.5 and entries["f1"].trace["last_touch_s"] == 7.0
    assert entries["eve"].trace == {}
    any_store.purge(graph, math.inf, "mine")
    archive = any_store.read_archive(graph)
    like = likeness("fact", "_", "Ada", "KNOWS", "Bob")
    bob = likeness("entity", "_", "Bob")
    assert former_stability(archive) == {"f1": 2.5, like: 2.5, "bob": 4.0, bob: 4.0}
    assert not_to_propose(archive) == {"f1", "f2", "eve", "bob"}


def test_without_the_lock_nothing_moves(any_store: MemoryStore, graph: str) -> None:
    move(any_store, graph, "f1")
    image = any_store.read_images(graph, ["f2"])["f2"]
    any_store.release_lock(graph, "mine")
    any_store.acquire_lock(graph, "somebody", 60.0)
    with pytest.raises(LockLost):
        any_store.archive(graph, [ArchiveChange("f2", "fact", image.digest, "")], "r", 1.0, "mine")
    with pytest.raises(LockLost):
        any_store.restore(graph, ["f1"], "mine")
    with pytest.raises(LockLost):
        any_store.purge(graph, math.inf, "mine")
    with pytest.raises(LockLost):
        any_store.append_journal(graph, "run", {}, "mine")
    assert "f1" not in any_store.read_images(graph, ALL)
    assert [m.state for m in any_store.read_archive(graph)] == ["archived"]


def test_an_archive_is_known_by_its_graph(any_store: MemoryStore, graph: str) -> None:
    assert graph not in any_store.archived_graphs()
    move(any_store, graph, "f1")
    assert graph in any_store.archived_graphs() and graph in any_store.graphs()


def test_an_unknown_graph_is_not_created(any_store: MemoryStore, graph_name: str) -> None:
    with pytest.raises(UnknownGraph):
        any_store.read_images(graph_name, ["a"])
    any_store.acquire_lock(graph_name, "mine", 60.0)
    with pytest.raises(UnknownGraph):
        any_store.restore(graph_name, ["a"], "mine")
    with pytest.raises(UnknownGraph):
        any_store.foresee_restore(graph_name, ["a"])
    assert graph_name not in any_store.archived_graphs()
    assert any_store.read_archive(graph_name) == []
    assert any_store.purge(graph_name, math.inf, "mine") == 0
    assert any_store.read_archived_images(graph_name, ["a"]) == {}
    assert graph_name not in any_store.graphs()
