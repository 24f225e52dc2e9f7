"""Facts by uuid are Graphiti's own objects, found with one question; a broken one costs itself."""

import asyncio
from contextlib import asynccontextmanager

import pytest

pytest.importorskip("graphiti_core")

from graphiti_core.edges import EntityEdge
from hypothesis import example, given
from hypothesis import strategies as st

from synapse.integrations.facts import facts_of
from tests.integrations.test_hippocampus import day, run
from tests.support.graphiti_world import graphiti_world

ODD = 'it\'s "odd" \\ `{$uuid}` [1] \t\x1f\x1e é 猫'
UUIDS = ["plain", "PLAIN", ODD, f"{ODD} two", "loop", "back", *(f"beside {n}" for n in range(9))]


@asynccontextmanager
async def filled(uri, graph):
    """Every kind of edge between two entities, of which one is the first node of the graph; and
    how many rows each answer has that the driver gets."""
    async with graphiti_world(uri, graph) as world:
        ann, bob = await world.entity("Ann"), await world.entity("Bob", uuid=f"{ODD}Bob")
        ends = {"loop": (ann, ann), "back": (bob, ann)}
        for number, uuid in enumerate(UUIDS):
            source, target = ends.get(uuid, (ann, bob))
            dates = {"valid_at": day(0), "invalid_at": day(number), "expired_at": day(99)}
            await world.fact(
                source, ODD, target, f"text of {uuid}", uuid=uuid, reference_time=day(number),
                group_id=["one", "two"][number % 2], episodes=[ODD] * (number % 3),
                attributes={"weight": number, "mark": ODD}, **(dates if number % 4 else {}),
            )  # fmt: skip
        counts, ask = [], world.driver.execute_query

        async def counted(query, **parameters):
            answer = await ask(query, **parameters)
            counts.append(len(answer[0]))
            return answer

        world.driver.execute_query = counted
        yield world, counts


def test_they_are_what_graphiti_loads_one_by_one(falkordb_uri, graph_name):
    async def story(check):
        async with filled(falkordb_uri, graph_name) as (world, counts):
            plain = {uuid: await EntityEdge.get_by_uuid(world.driver, uuid) for uuid in UUIDS}
            loop = asyncio.get_running_loop()

            def ask(uuids):
                counts.clear()
                asking = facts_of(world.driver, uuids)
                return asyncio.run_coroutine_threadsafe(asking, loop).result(), list(counts)

            await asyncio.to_thread(check, plain, ask)

    def check(plain, ask):
        @given(st.lists(st.sampled_from([*UUIDS, "unknown", "", "plai", "%"]), max_size=20))
        @example(UUIDS)
        def one(uuids):
            found, counts = ask(uuids)
            wanted = [plain[uuid] for uuid in dict.fromkeys(uuids) if uuid in plain]
            assert [edge.model_dump() for edge in found] == [edge.model_dump() for edge in wanted]
            assert all(type(edge) is EntityEdge for edge in found)
            assert counts == ([len(wanted)] if uuids else [])

        one()

    run(story(check))


def test_they_are_found_by_the_index_of_edges(falkordb_uri, graph_name):
    async def story():
        async with filled(falkordb_uri, graph_name) as (world, _):
            explained = []

            async def explain(query, **parameters):
                graph = world.driver.client.select_graph(graph_name)
                explained.append(str(await graph.explain(query, parameters)))
                return [], [], None

            world.driver.execute_query = explain
            assert await facts_of(world.driver, UUIDS) == []
            return explained

    (plan,) = run(story())
    assert "Edge By Index Scan" in plan
    assert "Node" not in plan
    assert "Conditional Traverse" not in plan


@pytest.mark.parametrize(
    "broken",
    [
        "e.valid_at = 'soon'", "e.invalid_at = 'never'", "e.expired_at = '2026-02-30'",
        "e.created_at = NULL", "e.created_at = ''", "e.reference_time = [1]", "e.valid_at = true",
        "e.valid_at = point({latitude: 1.0, longitude: 2.0})", "e.name = NULL", "e.fact = 1",
        "e.episodes = 'one'", "e.episodes = [1]", "e.group_id = NULL",
        "e.valid_at = localdatetime({year: 20000})", "e.seen = duration('P99999999Y')",
    ],
)  # fmt: skip
def test_of_what_graphiti_makes_no_object_the_others_do_not_suffer(
    falkordb_uri, graph_name, broken
):
    async def story():
        async with filled(falkordb_uri, graph_name) as (world, _):
            await world.cypher(f"MATCH ()-[e:RELATES_TO {{uuid: 'beside 3'}}]->() SET {broken}")
            return [edge.uuid for edge in await facts_of(world.driver, UUIDS)]

    assert run(story()) == [uuid for uuid in UUIDS if uuid != "beside 3"]


def test_nor_do_they_from_texts_that_are_no_utf_8(falkordb_uri, graph_name, connection):
    async def story():
        async with filled(falkordb_uri, graph_name) as (world, _):
            for uuid in ("plain", "beside 3", "beside 4"):
                connection.execute_command(
                    "GRAPH.QUERY", graph_name,
                    b"MATCH ()-[e:RELATES_TO {uuid: '%b'}]->() SET e.fact = '\xff'" % uuid.encode(),
                )  # fmt: skip
            found = [edge.uuid for edge in await facts_of(world.driver, UUIDS)]
            return found, await facts_of(world.driver, ["plain"])

    lost = {"plain", "beside 3", "beside 4"}
    assert run(story()) == ([uuid for uuid in UUIDS if uuid not in lost], [])


def test_nor_from_a_name_that_no_graph_can_hold(falkordb_uri, graph_name):
    async def story():
        async with filled(falkordb_uri, graph_name) as (world, _):
            asked = ["back", "half \ud800", "nul\0", "plain\0", "loop", "plain"]
            return [edge.uuid for edge in await facts_of(world.driver, asked)]

    assert run(story()) == ["back", "loop", "plain"]


def test_what_is_gone_is_left_out(falkordb_uri, graph_name):
    async def story():
        async with filled(falkordb_uri, graph_name) as (world, _):
            await world.cypher("MATCH ()-[e:RELATES_TO {uuid: 'loop'}]->() DELETE e")
            return [edge.uuid for edge in await facts_of(world.driver, ["back", "loop", "plain"])]

    assert run(story()) == ["back", "plain"]
