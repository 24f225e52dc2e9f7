"""Where FalkorDB's archive keeps contents, now and in earlier releases, and what it compares."""

from __future__ import annotations

import math
from typing import Any

import pytest

from synapse.hippocampus.archived import not_to_propose
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.consolidation import ConsolidationEngine, Run
from synapse.hippocampus.image import Vector
from synapse.hippocampus.plan import ArchiveChange
from synapse.hippocampus.ports import GraphDocument
from synapse.hippocampus.restoration import LOST
from synapse.hippocampus.scope import Scope
from synapse.store.cypher import literal
from synapse.store.falkordb import FalkorStore
from synapse.store.images import INEXACT, TWIN
from synapse.store.keys import room_key
from tests.support.canonical_dump import canonical_dump
from tests.support.overtaken import Overtaken

MORNING = "2026-01-05T08:00:00+00:00"
ALL = ("ada", "bob", "f1", "f2")
_ENTITIES = GraphDocument(
    entities=tuple({"uuid": u, "name": u.title(), "created_at": MORNING} for u in ("ada", "bob"))
)


@pytest.fixture
def graph(store: FalkorStore, graph_name: str) -> str:
    """A small memory with embeddings and mentions, whose lock is held."""
    entities = ({"uuid": u, "name": u.title(), "created_at": MORNING} for u in ("ada", "bob"))
    ends = {"source_node_uuid": "ada", "target_node_uuid": "bob"}
    document = GraphDocument(
        entities=tuple(entities),
        episodes=({"uuid": "monday", "name": "monday", "created_at": MORNING},),
        facts=tuple({"uuid": u, **ends, "fact": f"{u} says", "weight": 0.1} for u in ("f1", "f2")),
        mentions=({"uuid": "m", "episode_uuid": "monday", "entity_uuid": "ada"},),
    )
    store.write_memory(graph_name, document)
    change(store, graph_name, "MATCH (n:Entity) SET n.name_embedding = vecf32([0.1, -0.0, 1e-7])")
    change(
        store,
        graph_name,
        "MATCH ()-[e:RELATES_TO]->() SET e.fact_embedding = vecf32([0.25, -3, 1e20])",
    )
    assert store.acquire_lock(graph_name, "mine", 60.0)
    return graph_name


def change(store: FalkorStore, graph: str, query: str) -> Any:
    return store._connection.execute_command("GRAPH.QUERY", graph, query)


def move(store: FalkorStore, graph: str, *uuids: str) -> set[str]:
    images = store.read_images(graph, uuids).values()
    changes = [ArchiveChange(i.uuid, i.kind, i.digest, "faded") for i in images]
    return store.archive(graph, changes, "run", 100.0, "mine")


def kept_count(store: FalkorStore, graph: str) -> int:
    return int(store._connection.hlen(room_key(graph, "archive")))


def as_before(store: FalkorStore, graph: str, state: str = "archived") -> None:
    """Bring the archive into the form of earlier releases, which kept contents in its graph."""
    memory = room_key(graph, "memory")
    numbers = {
        uuid.decode(): number
        for number, uuid in change(store, memory, "MATCH (r:Archived) RETURN r.number, r.uuid")[1]
    }
    for uuid, image in store.read_archived_images(graph, ALL).items():
        plain = {k: v for k, v in image.properties.items() if not isinstance(v, Vector)}
        vectors = {k: v for k, v in image.properties.items() if isinstance(v, Vector)}
        links = [
            [k.type, k.is_outgoing, k.other, dict(k.properties), k.other_label] for k in image.links
        ]
        sets = "".join(
            f" SET c.`{name}` = vecf32({[*map(repr, vector.numbers)]})".replace("'", "")
            for name, vector in vectors.items()
        )
        change(
            store,
            memory,
            f"CYPHER p={literal(plain)} links={literal(links)} "
            f"MATCH (r:Archived {{number: {numbers[uuid]}}}) "
            f"CREATE (r)-[:HOLDS]->(c:Content) SET c = $p{sets} "
            "FOREACH (l IN $links | CREATE (r)-[:LINK {type: l[0], is_outgoing: l[1], "
            "other: l[2], label: l[4]}]->(q:Link) SET q = l[3])",
        )
    store._connection.delete(room_key(graph, "archive"))


def test_an_archive_of_an_earlier_release_is_listed_shown_and_restored(
    store: FalkorStore, falkordb_uri: str, graph: str
) -> None:
    before = canonical_dump(falkordb_uri, graph)
    assert move(store, graph, *ALL) == set(ALL)
    images, entries = store.read_archived_images(graph, ALL), store.read_archive(graph)
    as_before(store, graph)
    assert store.read_archive(graph) == entries
    found = store.read_archived_images(graph, ALL)
    assert {u: i.content for u, i in found.items()} == {u: i.content for u, i in images.items()}
    assert set(store.restore(graph, ALL, "mine").values()) == {"restored"}
    assert canonical_dump(falkordb_uri, graph) == before
    assert change(store, room_key(graph, "memory"), "MATCH (n:Content) RETURN count(n)")[1] == [[0]]


def test_an_archive_of_an_earlier_release_is_purged(store: FalkorStore, graph: str) -> None:
    move(store, graph, *ALL)
    as_before(store, graph)
    assert store.purge(graph, math.inf, "mine") == len(ALL)
    assert all(m.is_removed_for_good and not m.name for m in store.read_archive(graph))
    memory = room_key(graph, "memory")
    assert change(store, memory, "MATCH (n) WHERE n:Content OR n:Link RETURN count(n)")[1] == [[0]]


def test_a_run_of_an_earlier_release_that_died_is_settled(
    store: FalkorStore, falkordb_uri: str, graph: str
) -> None:
    before = canonical_dump(falkordb_uri, graph)
    document = store.read_images(graph, ["f1"])["f1"]
    move(store, graph, "f1")
    as_before(store, graph)
    change(store, room_key(graph, "memory"), "MATCH (a:Archive) SET a.settled = 0")
    assert store.restore(graph, ["f1"], "mine") == {"f1": "restored"}, "copied and gone"
    assert canonical_dump(falkordb_uri, graph) == before
    assert store.read_images(graph, ["f1"])["f1"].content == document.content


def test_nothing_is_kept_twice(store: FalkorStore, graph: str) -> None:
    move(store, graph, *ALL)
    assert kept_count(store, graph) == len(ALL)
    store.restore(graph, ["f1"], "mine")
    assert kept_count(store, graph) == 1
    store.purge(graph, math.inf, "mine")
    assert kept_count(store, graph) == 0


def test_a_purge_frees_what_no_entry_refers_to(store: FalkorStore, graph: str) -> None:
    move(store, graph, "f1", "f2")
    key = room_key(graph, "archive")
    store._connection.hset(
        key, mapping={str(n): b"left by a run that died" for n in range(7, 3000)}
    )
    assert store.purge(graph, 0.0, "mine") == 0
    assert kept_count(store, graph) == 2
    restored = store.restore(graph, ["f1", "f2"], "mine")
    assert restored == {"f1": "restored", "f2": "restored"}


OTHER_EMBEDDINGS = {
    "a little": "vecf32([0.25001, -3, 1])",
    "in one place only": "vecf32([0.25, -3, 1.00001])",
    "another size": "vecf32([0.25, -3])",
    "a list": "[0.25, -3, 1]",
    "none": "null",
}


@pytest.mark.parametrize("kind", ["fact", "entity"])
@pytest.mark.parametrize("how", OTHER_EMBEDDINGS)
def test_another_embedding_between_copy_and_removal_stays(
    store: FalkorStore, graph: str, how: str, kind: str
) -> None:
    change(store, graph, "MATCH ()-[e:RELATES_TO]->() SET e.fact_embedding = vecf32([0.25, -3, 1])")
    change(store, graph, "MATCH (n:Entity) SET n.name_embedding = vecf32([0.25, -3, 1])")
    if kind == "entity":
        move(store, graph, "f1", "f2")
    wanted = ("f1", "f2") if kind == "fact" else ("ada", "bob")
    changed = (
        "MATCH ()-[x:RELATES_TO {uuid: 'f1'}]->() SET x.fact_embedding = "
        if kind == "fact"
        else "MATCH (x:Entity {uuid: 'ada'}) SET x.name_embedding = "
    )

    def write(arguments: tuple[Any, ...]) -> None:
        """Somebody writes between the copy and the removal."""
        sent = arguments[2] if len(arguments) > 2 else b""
        if isinstance(sent, bytes) and b"DELETE" in sent and arguments[1] == graph:
            change(store, graph, changed + "null")  # near what is there, nothing is written
            change(store, graph, changed + OTHER_EMBEDDINGS[how])

    images = store.read_images(graph, wanted).values()
    changes = [ArchiveChange(i.uuid, i.kind, i.digest, "faded") for i in images]
    connection = Overtaken(store._connection, write)
    moved = FalkorStore(connection, "redis://here").archive(graph, changes, "r", 1.0, "mine")
    assert moved == {wanted[1]}
    assert set(store.read_images(graph, wanted)) == {wanted[0]}
    assert {m.uuid for m in store.read_archive(graph) if m.run_id == "r"} == {wanted[1]}


DAMAGES = {
    "no text": lambda content: b"\xff" + content,
    "cut in the line": lambda content: content[:40],
    "cut in an embedding": lambda content: content[:-3],
    "another word": lambda content: content.replace(b"f1 says", b"f1 sags"),
    "empty": lambda content: b"",
    "a kind that is a list": lambda content: content.replace(b'"fact", [', b'["fact"], ['),
    "no object of properties": lambda content: b'["f1", "fact", [], ["ada", "bob"], [], "f1 says"]',
}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_content_costs_no_other_memory(store: FalkorStore, graph: str, how: str) -> None:
    move(store, graph, "f1", "f2")
    (number,) = (
        n for n, content in store._connection.hgetall(room_key(graph, "archive")).items()
        if b"f1 says" in content
    )  # fmt: skip
    key = room_key(graph, "archive")
    store._connection.hset(key, number, DAMAGES[how](store._connection.hget(key, number)))
    told = {"f1": LOST, "f2": "restored"}
    assert store.foresee_restore(graph, ["f1", "f2"]) == told
    assert store.restore(graph, ["f1", "f2"], "mine") == told
    assert {m.uuid: m.state for m in store.read_archive(graph)} == {
        "f1": "archived", "f2": "restored",
    }  # fmt: skip
    assert move(store, graph, "f2") == {"f2"}, "and it does not keep others from going"


def test_embeddings_of_several_names_and_sizes_go_together(
    store: FalkorStore, falkordb_uri: str, graph: str
) -> None:
    change(store, graph, "MATCH (n {uuid: 'bob'}) SET n.name_embedding = vecf32([1, 2])")
    change(store, graph, "MATCH (n {uuid: 'bob'}) SET n.other = vecf32([5])")
    change(store, graph, "MATCH ()-[e {uuid: 'f2'}]->() SET e.other = e.fact_embedding")
    change(store, graph, "MATCH ()-[e {uuid: 'f2'}]->() SET e.fact_embedding = null")
    before = canonical_dump(falkordb_uri, graph)
    assert move(store, graph, *ALL) == set(ALL)
    assert set(store.restore(graph, ALL, "mine").values()) == {"restored"}
    assert canonical_dump(falkordb_uri, graph) == before


def test_a_fact_does_not_come_back_between_twins(store: FalkorStore, graph: str) -> None:
    move(store, graph, "f1")
    change(store, graph, "CREATE (:Entity {uuid: 'ada', name: 'Ada'})")
    outcome = store.restore(graph, ["f1"], "mine")
    assert outcome == {"f1": "its end ada shares its uuid with another memory"}
    assert store.read_images(graph, ["f1"]) == {}
    assert [m.state for m in store.read_archive(graph)] == ["archived"]


@pytest.mark.parametrize("number", ["7", "true", "1.5"])
@pytest.mark.parametrize("end", ["ada", "bob"])
def test_a_fact_between_entities_without_a_text_for_uuid_stays(
    store: FalkorStore, graph: str, end: str, number: str
) -> None:
    change(store, graph, f"MATCH (n:Entity {{uuid: '{end}'}}) SET n.uuid = {number}")
    obstacle = store.read_images(graph, ["f1"])["f1"].obstacle
    assert obstacle == "has an end whose uuid is no text"
    assert "f1" not in move(store, graph, *ALL)


def test_an_entity_and_a_fact_of_one_uuid_stay(store: FalkorStore, graph: str) -> None:
    change(store, graph, "CREATE (:Entity {uuid: 'f1', name: 'Eve'})")
    assert store.read_images(graph, ["f1"])["f1"].obstacle == TWIN


TWIN_EPISODE = "CREATE (:Episodic {uuid: 'monday', name: 'twin'})"


def test_an_entity_whose_episode_shares_its_uuid_stays(store: FalkorStore, graph: str) -> None:
    change(store, graph, TWIN_EPISODE)
    obstacle = store.read_images(graph, ["ada"])["ada"].obstacle
    assert obstacle == "has a MENTIONS edge to a node that shares its uuid"
    assert move(store, graph, *ALL) == {*ALL} - {"ada"}


def test_an_edge_is_never_doubled_where_its_other_end_is_there_twice(
    store: FalkorStore, falkordb_uri: str, graph: str
) -> None:
    assert move(store, graph, *ALL) == set(ALL)
    change(store, graph, TWIN_EPISODE)
    told = store.foresee_restore(graph, ALL)
    assert "or there twice, could not come along: MENTIONS from monday" in told["ada"]
    assert store.restore(graph, ALL, "mine") == told
    assert "MENTIONS" not in str(canonical_dump(falkordb_uri, graph))


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        ("[vecf32([1.0])]", "holds a list with a vector in it"),
        ("[1, [vecf32([1.0])]]", "holds a list with a vector in it"),
        ("[[0.1 + 0.2]]", INEXACT),
        ("[[[0.1 + 0.2]], 'text']", INEXACT),
    ],
)
def test_what_cannot_come_back_the_same_stays_and_says_why(
    store: FalkorStore, graph: str, odd: str, why: str
) -> None:
    change(store, graph, f"MATCH (n:Entity {{uuid: 'bob'}}) SET n.odd = {odd}")
    change(store, graph, f"MATCH ()-[e:RELATES_TO {{uuid: 'f1'}}]->() SET e.odd = {odd}")
    images = store.read_images(graph, ALL)
    obstacles = {uuid: image.obstacle for uuid, image in images.items() if image.obstacle}
    assert obstacles == {"bob": why, "f1": why}
    assert move(store, graph, *ALL) == {"f2"}
    assert set(store.read_images(graph, ALL)) == {*ALL} - {"f2"}


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        ("0.1 + 0.2", INEXACT),
        ("[[0.1 + 0.2]]", INEXACT),
        ("[vecf32([1.0])]", "has a MENTIONS edge with a vector"),
    ],
)
def test_an_edge_that_cannot_come_back_the_same_keeps_its_entity(
    store: FalkorStore, graph: str, odd: str, why: str
) -> None:
    change(store, graph, f"MATCH ()-[m:MENTIONS]->(:Entity {{uuid: 'ada'}}) SET m.odd = {odd}")
    assert store.read_images(graph, ["ada"])["ada"].obstacle == why
    assert move(store, graph, *ALL) == {*ALL} - {"ada"}


def test_numbers_that_are_read_whole_come_back_from_lists_of_lists_and_edges(
    store: FalkorStore, falkordb_uri: str, graph: str
) -> None:
    change(store, graph, "MATCH (n:Entity) SET n.odd = [[0.5, -0.0], [[7]], 'text', true]")
    change(store, graph, "MATCH ()-[m:MENTIONS]->() SET m.odd = 0.25, m.more = [[0.5]]")
    before = canonical_dump(falkordb_uri, graph)
    assert move(store, graph, *ALL) == set(ALL)
    assert set(store.restore(graph, ALL, "mine").values()) == {"restored"}
    assert canonical_dump(falkordb_uri, graph) == before


@pytest.mark.parametrize(
    "damage",
    [
        "r.details = '[1]'",
        "r.details = '{}'",
        "r.details = left(r.details, 40)",
        "r.details = 7",
        'r.details = replace(r.details, \'"kind":"fact"\', \'"kind":[1]\')',
        'r.details = replace(r.details, \'"ends":\', \'"ends":7,"was":\')',
        'r.details = replace(r.details, \'"at_s":\', \'"at_s":"x","was":\')',
        'r.details = replace(r.details, \'"trace":\', \'"trace":[1],"was":\')',
        "r.run_id = [1]",
        "r.state = 'x'",
    ],
)
def test_a_damaged_entry_costs_no_memory_and_stops_nothing(
    store: FalkorStore, falkordb_uri: str, graph: str, damage: str
) -> None:
    before = canonical_dump(falkordb_uri, graph)
    assert move(store, graph, *ALL) == set(ALL)
    memory = room_key(graph, "memory")
    change(store, memory, f"MATCH (r:Archived {{uuid: 'f1'}}) SET {damage}")
    told = {entry.uuid: entry for entry in store.read_archive(graph)}
    assert memory in told["f1"].reason and told["f1"].state == "archived"
    assert (told["f1"].kind, told["f1"].name) == ("fact", "f1 says")
    assert "f1" in not_to_propose(told.values())
    run = Run(Scope(graph), 300.0, "run", dry_run=True)
    outcome = ConsolidationEngine(store, HippocampusConfig(), lambda: 0.0).consolidate(run)
    (warning,) = outcome.report.warnings
    assert warning == "1 entry of the archive cannot be read; see synapse archive list"
    store._connection.hset(room_key(graph, "archive"), "note", "by hand")
    assert store.purge(graph, 200.0, "mine") == 3, "how old it is, is not known"
    assert store.read_archived_images(graph, ["f1"]).keys() == {"f1"}
    store.write_memory(graph, _ENTITIES)
    assert store.restore(graph, ["f1"], "mine") == {"f1": "restored"}
    assert "f1 says" in str(canonical_dump(falkordb_uri, graph)) and "f1 says" in str(before)


def test_where_entry_and_content_are_damaged_the_others_come_back(
    store: FalkorStore, graph: str
) -> None:
    assert move(store, graph, *ALL) == set(ALL)
    change(store, room_key(graph, "memory"), "MATCH (r:Archived {uuid: 'f1'}) SET r.details = '7'")
    key = room_key(graph, "archive")
    for number in store._connection.hkeys(key):
        if b"f1 says" in store._connection.hget(key, number):
            store._connection.hset(key, number, "[1]")
    assert store.foresee_restore(graph, ALL)["f1"] == LOST
    assert store.restore(graph, ALL, "mine") == {u: LOST if u == "f1" else "restored" for u in ALL}


@pytest.mark.parametrize("settled", ["'x'", "[1]", "null", "-1.5"])
def test_where_it_is_not_known_what_went_the_graph_tells(
    store: FalkorStore, falkordb_uri: str, graph: str, settled: str
) -> None:
    before = canonical_dump(falkordb_uri, graph)
    assert move(store, graph, "f1", "f2") == {"f1", "f2"}
    assert store.restore(graph, ["f2"], "mine") == {"f2": "restored"}
    change(store, room_key(graph, "memory"), f"MATCH (a:Archive) SET a.settled = {settled}")
    states = {entry.uuid: entry.state for entry in store.read_archive(graph)}
    assert states["f1"] in ("copied", "archived") and states["f2"] == "restored"
    assert store.restore(graph, ["f1"], "mine") == {"f1": "restored"}
    assert canonical_dump(falkordb_uri, graph) == before
