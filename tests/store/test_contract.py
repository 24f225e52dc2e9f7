"""What every store promises, checked on each of them."""

from __future__ import annotations

import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import redis

from synapse.errors import (
    ConfigurationError,
    LockLost,
    QueueFull,
    SynapseError,
    UnknownGraph,
    UsageError,
)
from synapse.hippocampus.memory_keys import memory_keys
from synapse.hippocampus.model import GraphOutline, GraphSnapshot
from synapse.hippocampus.plan import Change, ConsolidationPlan
from synapse.hippocampus.ports import GraphDocument, MemoryStore, Recorder
from synapse.hippocampus.recall import RecallSet, fold
from synapse.hippocampus.room import Pin, Room, RoomSummary, Surprise
from synapse.hippocampus.traces import (
    TraceTable,
    changed_rows,
    key_order,
    removed_keys,
    trace_table,
)
from synapse.store import memory_room, open_store, recalls
from synapse.store.embedded import EmbeddedServer
from synapse.store.falkordb import FalkorStore
from synapse.store.keys import room_key
from synapse.store.memory import InMemoryStore

MORNING = "2026-01-05T08:00:00+00:00"
HOSTILE = [
    'it\'s "quoted" and `ticked`',
    "back\\slash \\",
    '\\"',
    "🧠 naïve 中文 \u202e",
    "x" * 10_000,
    '"}) MATCH (n) DETACH DELETE n //',
    "$rows {a: 1} /* comment",
    "line\nbreak\ttab\r\x01\x1e\x1f",
    "CYPHER rows=[] RETURN 1",
    "' OR 1=1 --",
    "{0} %s ${HOME}",
]


@pytest.fixture(params=["memory", "falkordb"])
def store(request: pytest.FixtureRequest) -> Iterator[MemoryStore]:
    if request.param == "memory":
        yield InMemoryStore()
    else:
        opened = open_store(request.getfixturevalue("falkordb_uri"))
        yield opened
        opened.close()


@pytest.fixture
def graph(store: MemoryStore, request: pytest.FixtureRequest) -> str:
    if isinstance(store, InMemoryStore):
        return "my-agent"
    name: str = request.getfixturevalue("graph_name")
    return name


def entity(uuid: str, **more: Any) -> dict[str, Any]:
    known = {"name": uuid, "group_id": "g", "summary": "", "created_at": MORNING}
    return {"uuid": uuid, **known, **more}


def episode(uuid: str, **more: Any) -> dict[str, Any]:
    known = {"name": uuid, "group_id": "g", "created_at": MORNING, "valid_at": MORNING}
    return {"uuid": uuid, "content": "said so", **known, **more}


def fact(uuid: str, source: str, target: str, **more: Any) -> dict[str, Any]:
    ends = {"source_node_uuid": source, "target_node_uuid": target}
    known = {"name": "KNOWS", "fact": f"{source} knows {target}", "group_id": "g"}
    return {"uuid": uuid, **ends, **known, "episodes": [], "created_at": MORNING, **more}


def mention(uuid: str, episode: str, entity: str) -> dict[str, Any]:
    ends = {"episode_uuid": episode, "entity_uuid": entity}
    return {"uuid": uuid, **ends, "group_id": "g", "created_at": MORNING}


DOCUMENT = GraphDocument(
    entities=(entity("ada", labels=["Entity", "Person"]), entity("bob", summary="a colleague")),
    episodes=(episode("monday"), episode("tuesday")),
    facts=(
        fact("f1", "ada", "bob", episodes=["monday", "tuesday"], valid_at=MORNING),
        fact("f2", "ada", "bob", episodes=["tuesday"], invalid_at=MORNING, expired_at=MORNING),
        fact("f3", "bob", "bob"),
    ),
    mentions=(mention("m1", "monday", "ada"), mention("m2", "tuesday", "bob")),
)


def table(uuids: list[str], stability: float = 1.0) -> TraceTable:
    return trace_table(memory_keys(uuids), {"stability": np.full(len(uuids), stability)})


def plan_to(graph: str, room: Room, traces: TraceTable, **more: Any) -> ConsolidationPlan:
    """The plan that turns a room's traces into the given ones."""
    return ConsolidationPlan(
        graph=graph,
        run_id="run",
        config_digest="c0ffee",
        base_revision=room.revision,
        traces=traces,
        changed=changed_rows(room.traces, traces),
        removed=removed_keys(room.traces, traces),
        **more,
    )


FOUND = {"verdict": "missed", "by": "g", "rule": "r", "confidence": 0.9, "state": "found"}


def write(store: MemoryStore, graph: str, traces: TraceTable, **more: Any) -> Room:
    """Apply a plan under a lock of its own; return the room after it."""
    assert store.acquire_lock(graph, "writer", 60.0)
    store.apply(plan_to(graph, store.read_room(graph), traces, **more), "writer")
    store.release_lock(graph, "writer")
    return store.read_room(graph)


def contents(store: MemoryStore, graph: str) -> Mapping[str, Any]:
    """A graph's memories by uuid, in no particular order."""
    read = store.read_graph(graph)
    entities, facts, episodes, mentions = read.entities, read.facts, read.episodes, read.mentions
    found: dict[str, Any] = {"left_out": read.left_out, "mentions": set()}
    for i, name in enumerate(entities.uuid):
        columns = (entities.name, entities.summary, entities.group_id, entities.labels)
        found[f"entity {name}"] = (*(c[i] for c in columns), entities.created_at_s[i].item())
    for i, name in enumerate(facts.uuid):
        times = (facts.created_at_s, facts.valid_at_s, facts.invalid_at_s, facts.expired_at_s)
        said = sorted(episodes.uuid[e] for e in facts.episodes[i])
        ends = (entities.uuid[facts.source[i]], entities.uuid[facts.target[i]])
        texts = (facts.relation[i], facts.text[i], facts.group_id[i])
        found[f"fact {name}"] = (*ends, *texts, *(repr(t[i].item()) for t in times), said)
    for i, name in enumerate(episodes.uuid):
        created, valid = episodes.created_at_s[i].item(), episodes.valid_at_s[i].item()
        found[f"episode {name}"] = (episodes.group_id[i], created, valid)
    for e, n in zip(mentions.episode, mentions.entity, strict=True):
        found["mentions"].add((episodes.uuid[e], entities.uuid[n]))
    return found


def test_lists_graphs_by_name(store: MemoryStore, graph: str) -> None:
    before = store.graphs()
    assert graph not in before
    store.write_memory(graph, DOCUMENT)
    write(store, graph, table(["ada"]))
    assert store.graphs() == sorted([*before, graph])


def test_reads_what_was_written(store: MemoryStore, graph: str) -> None:
    store.write_memory(graph, DOCUMENT)
    found = contents(store, graph)
    morning = 1767600000.0
    assert found["entity ada"] == ("ada", "", "g", ("Person",), morning)
    assert found["entity bob"] == ("bob", "a colleague", "g", (), morning)
    assert found["episode monday"] == ("g", morning, morning)
    assert found["mentions"] == {("monday", "ada"), ("tuesday", "bob")}
    times = (repr(morning), repr(morning), "nan", "nan")
    ends = ("ada", "bob", "KNOWS", "ada knows bob", "g")
    assert found["fact f1"] == (*ends, *times, ["monday", "tuesday"])
    assert found["fact f2"] == (*ends, repr(morning), "nan", *times[:2], ["tuesday"])
    assert sum(found["left_out"].values()) == 0


def test_keeps_parallel_facts_and_self_loops(store: MemoryStore, graph: str) -> None:
    store.write_memory(graph, DOCUMENT)
    facts = store.read_graph(graph).facts
    assert sorted(facts.uuid) == ["f1", "f2", "f3"]
    loop = facts.uuid.index("f3")
    assert facts.source[loop] == facts.target[loop]


def test_loading_twice_adds_nothing(store: MemoryStore, graph: str) -> None:
    store.write_memory(graph, DOCUMENT)
    before = contents(store, graph)
    store.write_memory(graph, DOCUMENT)
    assert contents(store, graph) == before


def test_leaves_existing_uuids_as_they_are(store: MemoryStore, graph: str) -> None:
    store.write_memory(graph, DOCUMENT)
    before = dict(contents(store, graph))
    store.write_memory(
        graph,
        GraphDocument(
            entities=(entity("ada", summary="another"), entity("carol"), entity("carol", name="x")),
            facts=(fact("f1", "bob", "ada"), fact("f4", "carol", "ada")),
        ),
    )
    after = dict(contents(store, graph))
    assert after.pop("entity carol")[0] == "carol"
    assert after.pop("fact f4")[:2] == ("carol", "ada")
    assert after == before


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_data(store: MemoryStore, graph: str, text: str) -> None:
    key = uuid.uuid4().hex + "".join(c for c in text[:900] if c >= " ") + "."
    document = GraphDocument(
        entities=(entity(key, name=text, summary=text, group_id=text, **{"own key": text}),),
        episodes=(episode(f"e{key}", content=text, source_description=text),),
        facts=(fact(f"f{key}", key, key, name=text, fact=text, episodes=[f"e{key}"]),),
        mentions=(mention(f"m{key}", f"e{key}", key),),
    )
    store.write_memory(graph, document)
    found = contents(store, graph)
    assert found[f"entity {key}"][:3] == (text, text, text)
    assert found[f"fact f{key}"][:4] == (key, key, text, text)
    assert found["mentions"] == {(f"e{key}", key)}
    assert sum(found["left_out"].values()) == 0
    room = write(
        store, graph, table([key]), ledger=(Change(text, None, FOUND | {"by": text}, text),)
    )
    assert room.ledger == {text: FOUND | {"by": text}}


def test_nul_characters_are_dropped_as_graphiti_drops_them(store: MemoryStore, graph: str) -> None:
    document = GraphDocument(
        entities=(entity("a\0da", name="nul\0 nul"),),
        facts=(fact("f", "ada", "a\0da", fact="\0", episodes=["m\0"]),),
        episodes=(episode("\0m"),),
    )
    store.write_memory(graph, document)
    found = contents(store, graph)
    assert found["entity ada"][0] == "nul nul"
    assert found["fact f"][:2] == ("ada", "ada")
    assert (found["fact f"][3], found["fact f"][-1]) == ("", ["m"])


@pytest.mark.parametrize(
    "items",
    [
        {"entities": ({"name": "no uuid"},)},
        {"entities": (entity("ada", labels=["Bad`Label"]),)},
        {"entities": (entity("ada", labels=["A:B"]),)},
        {"entities": (entity("\0"),)},
        {"entities": (entity("ada", **{"bad\0key": 1}),)},
        {"entities": (entity("x" * 10_000),)},
        {"entities": (entity(" ada"),)},
        {"entities": (entity("ada\x01"),)},
        {"entities": (entity("ada"),), "facts": (fact("f", "ada", "ada "),)},
        {"entities": (entity("ada", name="half a pair \ud800"),)},
        {"entities": (entity("ada", deep={"map": 1}),)},
        {"entities": (entity("ada", **{"bad`key": 1}),)},
        {"entities": (entity("ada", big=2**63),)},
        {"entities": (entity("ada", ratio=float("nan")),)},
        {"entities": (entity("ada"),), "facts": (fact("f", "ada", "nobody"),)},
        {"entities": (entity("ada"),), "facts": ({"uuid": "f", "source_node_uuid": "ada"},)},
        {"entities": (entity("ada"),), "mentions": (mention("m", "never", "ada"),)},
    ],
)
def test_refuses_what_does_not_fit(store: MemoryStore, graph: str, items: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as refusal:
        store.write_memory(graph, GraphDocument(**items))
    assert len(str(refusal.value)) < 130
    assert graph not in store.graphs()


def test_a_graph_read_before_is_only_outlined(store: MemoryStore, graph: str) -> None:
    store.write_memory(graph, DOCUMENT)
    read = store.read_graph(graph)
    assert read.digest == store.read_graph(graph).digest != ""
    write(store, graph, table(["ada"]))
    outline = store.read_graph_unless(graph, read.digest)
    assert isinstance(outline, GraphOutline)
    np.testing.assert_equal(asdict(outline), asdict(read.outline()))
    assert outline.memory_uuids == read.memory_uuids


@pytest.mark.parametrize("digest", ["", "c0ffee"])
def test_a_graph_never_read_before_is_read(store: MemoryStore, graph: str, digest: str) -> None:
    store.write_memory(graph, DOCUMENT)
    again = store.read_graph_unless(graph, digest)
    np.testing.assert_equal(asdict(again), asdict(store.read_graph(graph)))


@pytest.mark.parametrize(
    "more",
    [
        {"entities": (entity("new"),)},
        {"facts": (fact("new", "ada", "bob"),)},
        {"episodes": (episode("new"),)},
        {"mentions": (mention("new", "tuesday", "ada"),)},
    ],
)
def test_whatever_is_added_is_noticed(store: MemoryStore, graph: str, more: dict[str, Any]) -> None:
    store.write_memory(graph, DOCUMENT)
    before = store.read_graph(graph).digest
    store.write_memory(graph, GraphDocument(**more))
    again = store.read_graph_unless(graph, before)
    assert isinstance(again, GraphSnapshot)
    assert again.digest == store.read_graph(graph).digest != before


def test_texts_are_heard_in_their_order_where_they_are_read(store: MemoryStore, graph: str) -> None:
    store.write_memory(graph, DOCUMENT)
    told: list[str] = []
    read = store.read_graph(graph, told.extend)
    assert told == read.facts.text and len(told) > 1
    told.clear()
    assert isinstance(store.read_graph_unless(graph, read.digest, told.extend), GraphOutline)
    assert not told, "an unchanged graph is compared, not understood"
    again = store.read_graph_unless(graph, "", told.extend)
    assert isinstance(again, GraphSnapshot) and told == again.facts.text


def test_unknown_graph_is_an_error_and_stays_unknown(store: MemoryStore, graph: str) -> None:
    with pytest.raises(UnknownGraph):
        store.read_graph(graph)
    with pytest.raises(UnknownGraph):
        store.read_graph_unless(graph, "c0ffee")
    assert store.read_room(graph).revision == 0
    assert store.summarize_room(graph) == RoomSummary()
    assert graph not in store.graphs()


def test_refuses_synapses_own_graphs(store: MemoryStore) -> None:
    with pytest.raises(UsageError):
        store.read_graph("synapse:{my-agent}:memory")
    with pytest.raises(UsageError):
        store.write_memory("synapse:{my-agent}:memory", DOCUMENT)


def test_a_room_never_seen_is_empty(store: MemoryStore, graph: str) -> None:
    room = store.read_room(graph)
    assert (room.revision, room.ledger, room.surprises, room.last_run) == (0, {}, (), {})
    assert len(room.traces) == 0
    assert room.failures_count == 0


def test_apply_then_read_back(store: MemoryStore, graph: str) -> None:
    traces = table([str(uuid.uuid4()) for _ in range(1000)] + ["not a uuid", "", "x" * 10_000], 1.5)
    decision = FOUND | {"confidence": 0.97, "why": ["a", "b"], "until": None}
    room = write(
        store,
        graph,
        traces,
        ledger=(Change("fact", None, decision, "newer value"),),
        run_record={"run_id": "r1", "seen": {"facts": 3}},
    )
    assert room.traces.tobytes() == traces.tobytes()
    assert room.ledger == {"fact": decision}
    assert room.last_run == {"run_id": "r1", "seen": {"facts": 3}}
    assert room.revision == 1


def test_keys_with_trailing_zero_bytes_come_back(store: MemoryStore, graph: str) -> None:
    uuids = ["00000000-0000-0000-0000-000000000000", "ab000000-0000-0000-0000-000000000000"]
    assert write(store, graph, table(uuids)).traces.tobytes() == table(uuids).tobytes()


def test_a_later_plan_changes_adds_and_removes(store: MemoryStore, graph: str) -> None:
    uuids = [str(uuid.UUID(int=i * 65_536 + i % 3)) for i in range(30)]
    write(store, graph, table(uuids, 1.0))
    after = np.concatenate((table(uuids[:10], 1.0), table(uuids[10:20], 2.0), table(["new"], 3.0)))
    after = after[key_order(after["key"])]
    room = write(store, graph, after)
    assert room.traces.tobytes() == after.tobytes()
    assert room.revision == 2
    assert len(write(store, graph, table([])).traces) == 0


def test_ledger_entries_change_and_go(store: MemoryStore, graph: str) -> None:
    one, two, three = (FOUND | {"n": n} for n in (1, 2, 3))
    first = (Change("a", None, one, ""), Change("b", None, two, ""))
    write(store, graph, table([]), ledger=first)
    second = (Change("a", one, None, ""), Change("b", two, three, ""))
    room = write(store, graph, table([]), ledger=(*second, Change("never", None, None, "")))
    assert room.ledger == {"b": three}


def test_a_plan_of_an_older_revision_is_refused(store: MemoryStore, graph: str) -> None:
    plan = plan_to(graph, store.read_room(graph), table(["late"]))
    write(store, graph, table(["ada"]))
    assert store.acquire_lock(graph, "late", 60.0)
    with pytest.raises(LockLost):
        store.apply(plan, "late")
    room = store.read_room(graph)
    assert (room.revision, room.traces.tobytes()) == (1, table(["ada"]).tobytes())


@pytest.mark.parametrize("holder", [None, "another"])
def test_writing_without_the_lock_is_refused(
    store: MemoryStore, graph: str, holder: str | None
) -> None:
    if holder:
        assert store.acquire_lock(graph, holder, 60.0)
    with pytest.raises(LockLost):
        store.apply(plan_to(graph, store.read_room(graph), table(["ada"])), "mine")
    assert store.read_room(graph).revision == 0
    assert len(store.read_room(graph).traces) == 0


def test_one_holder_at_a_time(store: MemoryStore, graph: str) -> None:
    assert store.lock_holder(graph) is None
    assert store.acquire_lock(graph, "first", 60.0)
    assert not store.acquire_lock(graph, "second", 60.0)
    assert store.acquire_lock(graph, "first", 60.0)
    assert store.lock_holder(graph) == store.summarize_room(graph).lock_holder == "first"
    store.release_lock(graph, "second")
    assert store.lock_holder(graph) == "first"
    store.release_lock(graph, "first")
    assert store.lock_holder(graph) is None
    assert store.acquire_lock(graph, "second", 60.0)


def test_a_dead_holders_lock_is_taken_over(store: MemoryStore, graph: str) -> None:
    assert store.acquire_lock(graph, "dead", 0.001)
    give_up_s = time.monotonic() + 30.0
    while not store.acquire_lock(graph, "heir", 60.0):
        assert time.monotonic() < give_up_s
    with pytest.raises(LockLost):
        store.apply(plan_to(graph, store.read_room(graph), table(["ada"])), "dead")
    store.apply(plan_to(graph, store.read_room(graph), table(["ada"])), "heir")
    assert store.read_room(graph).revision == 1


def test_surprises_wait_until_a_run_takes_them(store: MemoryStore, graph: str) -> None:
    seen = [Surprise(f"f{i}", "old 'fact'", "single_valued", 0.1 * i, 1.5e9 + i) for i in range(3)]
    store.record_surprises(graph, {"": seen[:2]})
    store.record_surprises(graph, {"": seen[2:]})
    store.record_surprises(graph, {"": []})
    waiting = store.read_room(graph).surprises
    assert [(s.fact, s.against, s.rule, s.surprise_ratio, s.at_s) for s in waiting] == [
        (s.fact, s.against, s.rule, s.surprise_ratio, s.at_s) for s in seen
    ]
    assert len({s.id for s in waiting}) == 3
    room = write(store, graph, table([]), surprises=tuple(s.id for s in waiting[:2]))
    assert room.surprises == waiting[2:]
    assert store.summarize_room(graph).surprises_count == 1


def test_a_long_queue_of_surprises_is_read_whole(store: MemoryStore, graph: str) -> None:
    store.record_surprises(
        graph, {"": [Surprise(f"f{i}", "", "rule", 1.0, i) for i in range(2001)]}
    )
    waiting = store.read_room(graph).surprises
    assert [s.fact for s in waiting] == [f"f{i}" for i in range(2001)]
    room = write(store, graph, table([]), surprises=tuple(s.id for s in waiting))
    assert room.surprises == ()


def recalled(*uuids: str, at_s: float = 1.5e9, **more: Any) -> RecallSet:
    ranks = tuple((uuid, rank) for rank, uuid in enumerate(uuids, 1))
    return RecallSet(ranks, **{"source": "search", "at_s": at_s, **more})


def folding(room: Room, until: int) -> dict[str, Any]:
    """What a plan says that folds the first recall sets of a room."""
    profiles, links = fold(room.profiles, room.links, room.recalls[:until])
    return {"profiles": profiles, "links": links, "folded": room.recalls[until - 1].id}


def test_recalls_wait_in_order_until_a_run_folds_them(store: MemoryStore, graph: str) -> None:
    sets = [
        recalled("ada", "f1"),
        recalled('it\'s "quoted" 🧠', "\ud800", at_s=0.1, source="a 'person'"),
        RecallSet((("f2", 7), ("f3", 2)), "hook", 1.25e9, asked=False),
    ]
    store.record_recalls(graph, sets[:1])
    store.record_recalls(graph, [*sets[1:], RecallSet((), "search", 0.0)])
    store.record_recalls(graph, [])
    waiting = store.read_room(graph).recalls
    assert [(r.ranks, r.source, r.at_s, r.asked) for r in waiting] == [
        (r.ranks, r.source, r.at_s, r.asked) for r in sets
    ]
    assert len({r.id for r in waiting}) == 3
    room = write(store, graph, table([]), **folding(store.read_room(graph), 2))
    assert room.recalls == waiting[2:]
    assert (room.profiles, room.links) == fold({}, {}, sets[:2])
    store.record_recalls(graph, [recalled("f1", at_s=1.6e9)])
    again = store.read_room(graph)
    assert again.recalls[0] == waiting[2]
    room = write(store, graph, table([]), **folding(again, 2))
    assert room.recalls == ()
    assert (room.profiles, room.links) == fold({}, {}, [*sets, recalled("f1", at_s=1.6e9)])
    assert store.read_links(graph, ["f1", "nobody", "\ud800"]) == {
        memory: room.links[memory] for memory in ("f1", "\ud800")
    }
    assert store.read_links(graph, []) == {}
    store.record_recalls(graph, [recalled("last")])
    assert [r.ranks for r in store.read_room(graph).recalls] == [(("last", 1),)]


def test_what_a_recorder_writes_again_is_recorded_once(store: MemoryStore, graph: str) -> None:
    sets = [recalled(f"f{i}") for i in range(6)]
    one, other = Recorder("one"), Recorder("other")
    store.record_recalls(graph, sets[:2], one)
    store.record_recalls(graph, sets[:3], one)
    store.record_recalls(graph, sets[:2], one)
    store.record_recalls(graph, sets[3:4], other)
    store.record_recalls(graph, [RecallSet((), "search", 0.0), sets[4]], Recorder("one", 4))
    store.record_recalls(graph, [sets[4]], Recorder("one", 5))
    for _ in range(2):
        store.record_recalls(graph, sets[5:])
    told = [recall.ranks[0][0] for recall in store.read_room(graph).recalls]
    assert told == ["f0", "f1", "f2", "f3", "f4", "f5", "f5"]


def test_a_recorder_is_known_by_graph_and_for_a_while(
    falkordb_uri: str, graph_name: str, connection: redis.Redis
) -> None:
    with closing(FalkorStore.open(falkordb_uri)) as store:
        store.record_recalls(graph_name, [recalled("f0")], Recorder("one"))
        store.record_recalls(f"{graph_name}-b", [recalled("f0")], Recorder("one"))
        for graph in (graph_name, f"{graph_name}-b"):
            assert len(store.read_room(graph).recalls) == 1
            kept_s = connection.ttl(room_key(graph, "recorded:one"))
            assert 6 * 86_400 < kept_s <= 7 * 86_400


def test_a_long_queue_of_recalls_is_read_whole(store: MemoryStore, graph: str) -> None:
    sets = [recalled(f"f{i}", at_s=float(i)) for i in range(2001)]
    store.record_recalls(graph, sets)
    room = store.read_room(graph)
    assert [r.ranks for r in room.recalls] == [r.ranks for r in sets]
    room = write(store, graph, table([]), **folding(room, 2001))
    assert (len(room.recalls), len(room.profiles)) == (0, 2001)


def test_recalls_that_came_while_a_run_was_thinking_stay(store: MemoryStore, graph: str) -> None:
    store.record_recalls(graph, [recalled("ada")] * 3)
    plan = plan_to(
        graph, store.read_room(graph), table([]), folded=store.read_room(graph).recalls[-1].id
    )
    store.record_recalls(graph, [recalled("bob")])
    assert store.acquire_lock(graph, "run", 60.0)
    store.apply(plan, "run")
    assert [r.ranks for r in store.read_room(graph).recalls] == [(("bob", 1),)]


def test_importing_a_log_again_adds_only_what_is_new(store: MemoryStore, graph: str) -> None:
    log = [recalled("ada", "f1", at_s=float(n)) for n in range(600)]
    assert store.import_recalls(graph, log[:400]) == 400
    assert store.import_recalls(graph, [*log, RecallSet((), "search", 0.0)]) == 200
    room = store.read_room(graph)
    assert [r.at_s for r in room.recalls] == [r.at_s for r in log]
    write(store, graph, table([]), **folding(room, 600))
    assert store.import_recalls(graph, log) == 0
    assert store.read_room(graph).recalls == ()
    store.record_recalls(graph, log[:1])
    different = [
        recalled("ada", "f1", at_s=0.5),
        recalled("f1", "ada", at_s=0.0),
        recalled("ada", "f1", at_s=0.0, source="person"),
        recalled("ada", "f1", at_s=0.0, asked=False),
    ]
    assert store.import_recalls(graph, [*different, *different]) == 4


def test_an_import_never_pushes_anything_out_of_the_queue(
    store: MemoryStore, graph: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (recalls, memory_room):
        monkeypatch.setattr(module, "RECALLS_MAX_COUNT", 500)
    log = [recalled("ada", at_s=float(n)) for n in range(700)]
    with pytest.raises(QueueFull, match=r"run synapse consolidate") as refusal:
        store.import_recalls(graph, log)
    assert refusal.value.taken_count == 500
    room = store.read_room(graph)
    assert [r.at_s for r in room.recalls] == [r.at_s for r in log[:500]]
    with pytest.raises(QueueFull):
        store.import_recalls(graph, log)
    assert store.import_recalls(graph, log[:500]) == 0
    write(store, graph, table([]), **folding(room, 500))
    assert store.import_recalls(graph, log) == 200


def test_a_full_queue_takes_no_more_recalls_and_loses_none(
    store: MemoryStore, graph: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (recalls, memory_room):
        monkeypatch.setattr(module, "RECALLS_MAX_COUNT", 500)
    log = [recalled("ada", at_s=float(n)) for n in range(502)]
    store.record_recalls(graph, log[:499])
    with pytest.raises(QueueFull, match=r"run synapse consolidate"):
        store.record_recalls(graph, log[499:501])
    store.record_recalls(graph, log[499:500])
    store.record_recalls(graph, [RecallSet((), "search", 0.0)])
    with pytest.raises(QueueFull):
        store.record_recalls(graph, log[500:501])
    room = store.read_room(graph)
    assert [r.at_s for r in room.recalls] == [r.at_s for r in log[:500]]
    write(store, graph, table([]), **folding(room, 500))
    store.record_recalls(graph, log[500:])
    assert len(store.read_room(graph).recalls) == 2


def test_what_is_known_about_recalls_can_be_forgotten(store: MemoryStore, graph: str) -> None:
    store.record_recalls(graph, [recalled("ada", "bob")])
    write(store, graph, table([]), **folding(store.read_room(graph), 1))
    room = write(store, graph, table([]), forgotten=frozenset({"ada", "nobody"}))
    assert (room.profiles.keys(), room.links.keys()) == ({"bob"}, {"bob"})


def test_an_overtaken_plan_folds_nothing(store: MemoryStore, graph: str) -> None:
    store.record_recalls(graph, [recalled("ada")])
    room = store.read_room(graph)
    plan = plan_to(graph, room, table([]), **folding(room, 1))
    with pytest.raises(LockLost):
        store.apply(plan, "without the lock")
    after = store.read_room(graph)
    assert (after.recalls, after.profiles, after.links) == (room.recalls, {}, {})


def test_pins_stay_until_they_are_taken_back(store: MemoryStore, graph: str) -> None:
    assert store.pin(graph, "ada", Pin(1.5e9, 'she said "keep"'))
    assert store.pin(graph, "bob 🧠", Pin(1.0))
    assert not store.pin(graph, "ada", Pin(1.6e9, "again"))
    pins = {"ada": Pin(1.6e9, "again"), "bob 🧠": Pin(1.0)}
    assert write(store, graph, table(["ada"])).pins == pins
    assert store.read_pins(graph, ["bob 🧠", "eve"]) == {"bob 🧠": Pin(1.0)}
    assert store.read_pins(graph, []) == {}
    assert store.unpin(graph, "ada")
    assert not store.unpin(graph, "ada")
    assert store.read_room(graph).pins == {"bob 🧠": Pin(1.0)}


def test_failures_count_until_a_run_succeeds(store: MemoryStore, graph: str) -> None:
    assert [store.record_failure(graph) for _ in range(3)] == [1, 2, 3]
    assert store.read_room(graph).failures_count == 3
    assert write(store, graph, table(["ada"])).failures_count == 0
    store.record_failure(graph)
    store.clear_failures(graph)
    room = store.read_room(graph)
    assert (room.failures_count, room.revision) == (0, 1)


def test_summary_tells_the_sizes(store: MemoryStore, graph: str) -> None:
    store.record_surprises(graph, {"": [Surprise("f", "g", "rule", 1.0, 0.0)] * 4})
    ledger = tuple(Change(f"f{i}", None, {"i": i}, "") for i in range(3))
    write(store, graph, table(["a", "b"]), ledger=ledger, run_record={"run_id": "r"})
    store.record_failure(graph)
    store.record_recalls(graph, [recalled("a", "b"), recalled("c")])
    write(
        store, graph, table(["a", "b"]), **folding(store.read_room(graph), 1),
        run_record={"run_id": "r"},
    )  # fmt: skip
    store.record_failure(graph)
    store.pin(graph, "a", Pin(0.0))
    assert store.summarize_room(graph) == RoomSummary(
        traces_count=2,
        ledger_count=3,
        surprises_count=4,
        recalls_count=1,
        recalled_count=2,
        pins_count=1,
        revision=2,
        failures_count=1,
        last_run={"run_id": "r"},
        lock_holder=None,
    )


def test_rooms_do_not_touch_each_other(store: MemoryStore, graph: str) -> None:
    write(store, graph, table(["ada"]))
    assert store.read_room(graph + "2").revision == 0
    assert store.lock_holder(graph + "2") is None


def test_every_refusal_is_one_short_sentence(store: MemoryStore) -> None:
    graph = "g" * 10_000
    long = "é" * 10_000
    attempts = (
        lambda: store.read_graph(graph),
        lambda: store.apply(plan_to(graph, Room(), table([])), "mine"),
        lambda: store.read_room(f"synapse:{graph}"),
        lambda: store.write_memory("g", GraphDocument(facts=(fact(long, long, long),))),
        lambda: store.write_memory("g", GraphDocument(mentions=(mention(long, long, long),))),
        lambda: store.write_memory("g", GraphDocument(facts=({"uuid": long},))),
        lambda: store.write_memory("g", GraphDocument(episodes=(episode(long, **{long: {}}),))),
        lambda: store.write_memory("g", GraphDocument(episodes=(episode(long, x="\ud800"),))),
        lambda: store.write_memory("g", GraphDocument(entities=(entity(long, labels=[long]),))),
    )
    for attempt in attempts:
        with pytest.raises(SynapseError) as refusal:
            attempt()
        assert len(str(refusal.value)) < 130


def test_locks_in_memory_expire_by_the_given_clock() -> None:
    now_s = [100.0]
    store = InMemoryStore(clock=lambda: now_s[0])
    assert store.acquire_lock("g", "first", 10.0)
    now_s[0] = 109.9
    assert not store.acquire_lock("g", "second", 10.0)
    now_s[0] = 110.0
    assert store.lock_holder("g") is None
    assert store.acquire_lock("g", "second", 10.0)


def test_an_embedded_store_keeps_its_memory_and_stops_with_its_store(short_folder: Path) -> None:
    for loaded in (False, True):
        store = open_store(f"embedded:{short_folder}")
        assert store.graphs() == (["my-agent"] if loaded else [])
        store.write_memory("my-agent", DOCUMENT)
        store.close()
    # A folder has one server at a time: taking it again shows that the last one is gone.
    with EmbeddedServer(short_folder) as server, redis.Redis.from_url(server.uri) as client:
        assert client.exists("my-agent")


@pytest.mark.parametrize(
    "uri", ["", "embedded:", "localhost:6379", "http://me:secret@host", "/tmp"]
)
def test_another_address_is_refused_with_the_accepted_ones(uri: str) -> None:
    with pytest.raises(ConfigurationError, match=r"redis://.*rediss://.*unix://.*embedded:") as no:
        open_store(uri)
    assert len(str(no.value)) < 130
    assert "secret" not in str(no.value)


def test_importing_the_package_is_free() -> None:
    code = "import sys, synapse.store; sys.exit(bool({'redis', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_memory_store_needs_no_redis() -> None:
    code = "import sys, synapse.store.memory; sys.exit('redis' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
