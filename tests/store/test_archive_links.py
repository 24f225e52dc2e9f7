"""Edges of other types between entities that are both archived come back once, in any order."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from synapse.hippocampus.ports import GraphDocument
from synapse.store.cypher import literal
from synapse.store.falkordb import FalkorStore
from tests.store.test_archive import entity, fact, move
from tests.support.canonical_dump import canonical_dump

PAIR = ("ada", "bob")
EDGES = [
    ("ada", "bob", "KNOWS", {"since": 2020}),
    ("ada", "bob", "KNOWS", {"since": 2020}),
    ("bob", "ada", "KNOWS", {"since": 2021}),
    ("ada", "ada", "TRUSTS", {}),
]


@pytest.fixture
def graph(store: FalkorStore, graph_name: str) -> str:
    """Two people with edges of a user's own between them, and the lock held."""
    vector = {"name_embedding": [0.5, 1.0]}
    people = (entity("ada", **vector), entity("bob"), entity("eve"))
    store.write_memory(graph_name, GraphDocument(people, facts=(fact("f", "ada", "bob"),)))
    for source, target, kind, properties in EDGES:
        link(store, graph_name, source, target, kind, properties)
    assert store.acquire_lock(graph_name, "mine", 60.0)
    return graph_name


def link(
    store: FalkorStore, graph: str, source: str, target: str, kind: str, properties: Any
) -> None:
    """Write an edge that neither Graphiti nor Synapse knows."""
    row = literal({"a": source, "b": target, "p": properties})
    query = (
        f"CYPHER x={row} MATCH (a:Entity {{uuid: x.a}}) MATCH (b:Entity {{uuid: x.b}}) "
        f"CREATE (a)-[e:{kind}]->(b) SET e = x.p"
    )
    store._connection.execute_command("GRAPH.QUERY", graph, query.replace("x.", "$x."))


@pytest.mark.parametrize("back", [*permutations(PAIR), PAIR])
@pytest.mark.parametrize("runs", [(("f", *PAIR),), (("f",), ("ada",), ("bob",))])
@pytest.mark.parametrize("is_together", [True, False])
def test_edges_of_a_users_own_come_back_once(
    store: FalkorStore,
    falkordb_uri: str,
    graph: str,
    runs: tuple[tuple[str, ...], ...],
    back: tuple[str, ...],
    is_together: bool,
) -> None:
    before = canonical_dump(falkordb_uri, graph)
    for number, uuids in enumerate(runs):
        assert move(store, graph, *uuids, run_id=f"run {number}") == set(uuids)
    if is_together:
        told = store.foresee_restore(graph, back)
        assert store.restore(graph, back, "mine") == told
        assert told == dict.fromkeys(back, "restored")
    else:
        for uuid in back:
            told = store.foresee_restore(graph, [uuid])
            assert store.restore(graph, [uuid], "mine") == told
            assert told[uuid].startswith("restored")
    store.restore(graph, ["f"], "mine")
    assert canonical_dump(falkordb_uri, graph) == before
