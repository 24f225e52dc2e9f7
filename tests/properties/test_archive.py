"""Archiving and restoring leaves any graph exactly as it was, whatever is in it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synapse.hippocampus.plan import ArchiveChange
from synapse.store.cypher import literal
from synapse.store.falkordb import FalkorStore
from synapse.store.indices import create_indices
from tests.support.canonical_dump import canonical_dump

HOSTILE = st.sampled_from(
    [
        'say "hi" \\',
        "back\\",
        "`tick` 'quote'",
        "🧠 naïve \u202e",
        "x\r\n\t\x01\x1f",
        '"}) MATCH (n) DETACH DELETE n //',
        "$rows {.*}",
        "",
        " blanks ",
    ]
)
TEXTS = st.one_of(
    HOSTILE, st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
)
NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False).filter(
        lambda x: abs(x) < 1e308
    ),
    st.just(0.1 + 0.2),
    st.booleans(),
)
SCALARS = st.one_of(TEXTS, NUMBERS)
NAMES = st.sampled_from(["a", "with blank", "naïve", "$rows", "x.y", "number", "v0", "p"])
PROPERTIES = st.dictionaries(NAMES, st.one_of(SCALARS, st.lists(SCALARS, max_size=3)), max_size=4)
VECTORS = st.lists(st.floats(-10, 10, width=32), min_size=1, max_size=5)
LABELS = st.lists(st.sampled_from(["Person", "with blank", "naïve"]), unique=True, max_size=2)
ENTITIES = st.lists(
    st.tuples(LABELS, PROPERTIES, st.none() | VECTORS, TEXTS), min_size=1, max_size=5
)
EDGES = st.lists(
    st.tuples(
        st.integers(0, 99), st.integers(0, 99), PROPERTIES, st.none() | VECTORS, st.booleans()
    ),
    max_size=8,
)
LINKS = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 6), TEXTS), max_size=8)
"""Of an entity; to an episode, a community or, from 3 on, another entity or itself."""


@pytest.fixture
def empty(connection: Any, graph_name: str) -> Callable[[], str]:
    """Empty the test's graph and Synapse's room beside it; making indices anew would take long."""
    create_indices(connection, graph_name)

    def emptied() -> str:
        connection.execute_command("GRAPH.QUERY", graph_name, "MATCH (n) DELETE n")
        for key in connection.scan_iter(match=f"synapse:{{{graph_name}}}:*"):
            connection.delete(key)
        return graph_name

    return emptied


def build(connection: Any, graph: str, entities: Any, edges: Any, links: Any) -> list[str]:
    """Write a graph as it is given; return the uuids of its memories."""

    def run(query: str, **values: Any) -> None:
        header = " ".join(f"{name}={literal(value)}" for name, value in values.items())
        connection.execute_command("GRAPH.QUERY", graph, f"CYPHER {header} {query}")

    run("CREATE (:Episodic {uuid: 'e0'}), (:Episodic {uuid: 'e1'}), (:Community {uuid: 'e2'})")
    names = []
    for place, (labels, properties, vector, name) in enumerate(entities):
        names.append(f"n{place}")
        known = {**properties, "uuid": names[-1], "name": name}
        labelled = "".join(f":`{label}`" for label in ["Entity", *labels])
        embedding = "SET n.name_embedding = vecf32($v)" if vector else ""
        run(f"CREATE (n{labelled}) SET n = $p {embedding}", p=known, v=vector or [])
    for place, (source, target, properties, vector, has_episodes) in enumerate(edges):
        known = {**properties, "uuid": f"f{place}", "fact": "a fact"}
        known |= {"episodes": ["e0", "nowhere"]} if has_episodes else {}
        embedding = "SET e.fact_embedding = vecf32($v)" if vector else ""
        run(
            "MATCH (a:Entity {uuid: $a}) MATCH (b:Entity {uuid: $b}) "
            f"CREATE (a)-[e:RELATES_TO]->(b) SET e = $p {embedding}",
            a=names[source % len(names)],
            b=names[target % len(names)],
            p=known,
            v=vector or [],
        )
    for place, (entity, other, said) in enumerate(links):
        known = {"uuid": f"m{place}", "said": said}
        kind, label = ("HAS_MEMBER", "Community") if other == 2 else ("MENTIONS", "Episodic")
        start = f"e{other}"
        if other > 2:
            kind, label, start, known = "KNOWS", "Entity", names[other % len(names)], {"said": said}
        run(
            f"MATCH (a:{label} {{uuid: $a}}) MATCH (b:Entity {{uuid: $b}}) "
            f"CREATE (a)-[e:{kind}]->(b) SET e = $p",
            a=start,
            b=names[entity % len(names)],
            p=known,
        )
    return [*names, *(f"f{place}" for place in range(len(edges)))]


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    entities=ENTITIES, edges=EDGES, links=LINKS, chosen=st.sets(st.integers(0, 12)), data=st.data()
)
def test_archive_and_restore_is_identity(
    store: FalkorStore,
    falkordb_uri: str,
    empty: Callable[[], str],
    entities: Any,
    edges: Any,
    links: Any,
    chosen: set[int],
    data: st.DataObject,
) -> None:
    graph = empty()
    memories = build(store._connection, graph, entities, edges, links)
    before = canonical_dump(falkordb_uri, graph)
    wanted = [memories[place] for place in chosen if place < len(memories)]
    images = store.read_images(graph, wanted)
    assert set(images) == set(wanted) and not any(i.obstacle for i in images.values())
    changes = [ArchiveChange(i.uuid, i.kind, i.digest, "faded") for i in images.values()]
    store.acquire_lock(graph, "mine", 60.0)
    moved = store.archive(graph, changes, "run", 1.0, "mine")
    refused = {i.uuid for i in images.values() if not set(i.facts) <= set(wanted)}
    assert moved == set(wanted) - refused
    assert store.read_images(graph, moved) == {}
    archived = store.read_archived_images(graph, moved)
    assert {u: i.digest for u, i in archived.items()} == {u: images[u].digest for u in moved}
    if not moved:
        assert canonical_dump(falkordb_uri, graph) == before
    some = [uuid for uuid in sorted(moved) if data.draw(st.booleans())]
    told = store.foresee_restore(graph, some)
    assert store.restore(graph, some, "mine") == told
    assert all(said.startswith("restored") and "gone" not in said for said in told.values())
    outcomes = store.restore(graph, moved, "mine")
    assert set(outcomes.values()) <= {"restored", "already there"}
    assert canonical_dump(falkordb_uri, graph) == before
    assert store.restore(graph, moved, "mine") == dict.fromkeys(moved, "already there")
    assert store.purge(graph, math.inf, "mine") == 0
    assert canonical_dump(falkordb_uri, graph) == before


KINDS = st.sampled_from(["KNOWS", "TRUSTS"])
OWN_EDGES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), KINDS, st.integers(0, 1)), max_size=6
)
STEPS = st.lists(st.tuples(st.booleans(), st.sets(st.integers(0, 3), min_size=1)), max_size=6)


def build_people(connection: Any, graph: str, edges: Any, embedded: set[int]) -> list[str]:
    """Four entities, some with an embedding, and edges of a user's own between them."""
    people = [([], {}, [0.5, 1.0] if place in embedded else None, "name") for place in range(4)]
    names = build(connection, graph, people, [], [])
    for source, target, kind, since in edges:
        query = (
            f"MATCH (a:Entity {{uuid: '{names[source]}'}}) MATCH (b:Entity "
            f"{{uuid: '{names[target]}'}}) CREATE (a)-[:{kind} {{since: {since}}}]->(b)"
        )
        connection.execute_command("GRAPH.QUERY", graph, query)
    return names


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edges=OWN_EDGES, steps=STEPS, embedded=st.sets(st.integers(0, 3)))
def test_edges_of_a_users_own_survive_any_order(
    store: FalkorStore,
    falkordb_uri: str,
    empty: Callable[[], str],
    edges: Any,
    steps: Any,
    embedded: set[int],
) -> None:
    graph = empty()
    names = build_people(store._connection, graph, edges, embedded)
    before = canonical_dump(falkordb_uri, graph)
    store.acquire_lock(graph, "mine", 60.0)
    for number, (is_archiving, places) in enumerate(steps):
        some = [names[place] for place in sorted(places)]
        images = store.read_images(graph, some)
        if is_archiving:
            changes = [ArchiveChange(i.uuid, i.kind, i.digest, "") for i in images.values()]
            assert store.archive(graph, changes, f"run {number}", 1.0, "mine") == set(images)
        else:
            away = set(some) - images.keys()
            told = store.foresee_restore(graph, away)
            assert store.restore(graph, away, "mine") == told
            assert all(said.startswith("restored") for said in told.values())
    away = set(names) - store.read_images(graph, names).keys()
    assert store.restore(graph, away, "mine") == dict.fromkeys(away, "restored")
    assert canonical_dump(falkordb_uri, graph) == before
