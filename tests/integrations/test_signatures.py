"""Searches and ingestion with whatever arguments Graphiti takes, into and from the right graph."""

import asyncio
import inspect
from contextlib import closing

import pytest

pytest.importorskip("graphiti_core")

from graphiti_core.driver.falkordb_driver import FalkorDriver
from graphiti_core.nodes import EpisodeType
from graphiti_core.search.search_config_recipes import (
    COMBINED_HYBRID_SEARCH_CROSS_ENCODER,
    NODE_HYBRID_SEARCH_RRF,
)
from graphiti_core.search.search_filters import SearchFilters
from graphiti_core.utils.bulk_utils import RawEpisode

from synapse.hippocampus.config import HippocampusConfig, RankingConfig
from synapse.store import open_store
from tests.integrations.test_hippocampus import START, beside, day, run, tell_moves
from tests.support.graphiti_world import Fact

PLAIN = HippocampusConfig(ranking=RankingConfig(strength_weight=0.0))


def teas(count):
    return [Fact("Ann", "LIKES", f"T{n}", f"Ann likes tea number {n}") for n in range(count)]


def test_without_a_group_all_goes_to_the_drivers_graph(new_server):
    # On a server of its own: Graphiti makes a default_db while it looks for the default group.
    uri, graph_name = new_server().uri, "own"

    async def story():
        async with beside(uri, graph_name) as (world, hippocampus):
            world.group_id = None
            results = await tell_moves(world)
            again = await hippocampus.observe(results[1])
            await hippocampus.consolidate()
            found = await hippocampus.search("where does Ann live", include_superseded=True)
            assert await hippocampus.flush()
            return results[1].surprises, again, found, await hippocampus.status()

    noticed, again, found, status = run(story())
    assert [n.kind for n in noticed] == ["contradicts"]
    assert again == noticed
    assert (status["graph"], status["failures"]) == (graph_name, {})
    assert {edge.group_id for edge in found} == {"_"}
    assert all(recall.strength is not None for recall in found.recalls)
    with closing(open_store(uri)) as store:
        assert len(store.read_room(graph_name).recalls) == 1
        other = store.read_room("default_db")
        assert other.recalls == other.surprises == ()


@pytest.mark.parametrize("count", [2, 5])
def test_each_of_several_groups_gives_its_share(falkordb_uri, graph_name, store, count):
    groups = [graph_name, f"{graph_name}-b"]

    async def story():
        async with beside(falkordb_uri, graph_name, config=PLAIN) as (world, hippocampus):
            for group in groups:
                await world.episode("Ann likes teas.", START, teas(4), group_id=group)
            query = {"query": "Ann tea 3", "group_ids": groups, "num_results": count}
            own = await hippocampus.graphiti.search(**query)
            ours = await hippocampus.search(**query, include_superseded=True)
            assert await hippocampus.flush()
            return [edge.uuid for edge in own], [edge.uuid for edge in ours], ours.recalls

    own, ours, recalls = run(story())
    assert len(own) == 2 * min(count, 4)
    assert ours == own == [recall.uuid for recall in recalls]
    assert [len(store.read_room(group).recalls) for group in groups] == [1, 1]


def test_the_full_search_takes_its_arguments_by_place(falkordb_uri, graph_name, store):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            await world.episode("Ann likes teas.", START, teas(6))
            await hippocampus.consolidate(graph_name)
            asked = "Ann tea 3", COMBINED_HYBRID_SEARCH_CROSS_ENCODER, [graph_name]
            own = await hippocampus.graphiti.search_(*asked)
            ours = await hippocampus.search_(*asked)
            nodes = await hippocampus.search_("Ann", NODE_HYBRID_SEARCH_RRF, [graph_name])
            assert await hippocampus.flush()
            return own, ours, nodes

    own, ours, nodes = run(story())
    scores = dict(zip([e.uuid for e in own.edges], own.edge_reranker_scores, strict=True))
    assert len(ours.edges) == 6
    assert ours.edge_reranker_scores == [scores[edge.uuid] for edge in ours.edges]
    assert (ours.nodes, ours.node_reranker_scores) == (own.nodes, own.node_reranker_scores)
    first, second = store.read_room(graph_name).recalls
    assert [uuid for uuid, _ in first.ranks] == [m.uuid for m in [*ours.edges, *ours.nodes]]
    assert [uuid for uuid, _ in second.ranks] == [node.uuid for node in nodes.nodes]


def test_search_passes_on_center_filter_and_driver(falkordb_uri, graph_name, store):
    other = f"{graph_name}-b"

    async def story():
        async with beside(falkordb_uri, graph_name, config=PLAIN) as (world, hippocampus):
            (first, _) = await tell_moves(world)
            await world.episode("Ann likes teas.", START, teas(3))
            await world.episode("Bob.", START, [Fact("Bob", "LIKES", "T", "Bob likes T")],
                                group_id=other)  # fmt: skip
            elsewhere = FalkorDriver(falkor_db=world.driver.client, database=other)
            await elsewhere._init_task
            searches = [
                {"query": "Ann", "center_node_uuid": first.edges[0].target_node_uuid},
                {"query": "Ann", "search_filter": SearchFilters(edge_types=["LIVES_IN"])},
                {"query": "Bob likes", "driver": elsewhere},
            ]
            own = [await hippocampus.graphiti.search(**asked) for asked in searches]
            ours = [await hippocampus.search(**q, include_superseded=True) for q in searches]
            assert await hippocampus.flush()
            return own, ours, dict(hippocampus.aside.failures)

    own, ours, failures = run(story())
    assert [[e.uuid for e in found] for found in ours] == [[e.uuid for e in f] for f in own]
    assert [len(found) for found in ours] == [5, 2, 1]
    assert failures == {}
    assert [len(store.read_room(graph).recalls) for graph in (graph_name, other)] == [2, 1]


def test_times_without_a_zone_are_utc(falkordb_uri, graph_name):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            for place, at in [("Oslo", day(0)), ("Rome", day(7))]:
                await hippocampus.believe("Ann", "LIVES_IN", place, group_id=graph_name,
                                          valid_at=at.replace(tzinfo=None))  # fmt: skip
            at = day(3).replace(tzinfo=None)
            found = await hippocampus.search("Ann lives", group_ids=[graph_name], at=at)
            block = await hippocampus.context("Ann", group_id=graph_name, at=at)
            return [edge.fact for edge in found], block

    found, block = run(story())
    assert found == ["Ann lives in Oslo"]
    assert "Oslo" in block and "Rome" not in block


def test_a_bulk_of_episodes_of_each_group_is_noticed_once(falkordb_uri, graph_name, store):
    groups = [graph_name, f"{graph_name}-b"]

    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            known = inspect.signature(world.graphiti.graphiti.add_episode_bulk).parameters
            one_by_one = {name: False for name in ("use_combined_extraction",) if name in known}

            async def tell(group):
                await world.episode(
                    "Ann.", day(0), [Fact("Ann", "LIVES_IN", "Oslo", "Ann lives in Oslo")],
                    group_id=group,
                )  # fmt: skip
                world.llm.facts = [Fact("Ann", "LIVES_IN", "Rome", "Ann lives in Rome", day(1))]
                raw = [
                    RawEpisode(name=f"e{n}", content="Ann lives in Rome.", reference_time=day(n),
                               source=EpisodeType.text, source_description="test")
                    for n in (1, 2)
                ]  # fmt: skip
                result = await hippocampus.add_episode_bulk(raw, group, **one_by_one)
                assert await hippocampus.observe(result) == result.surprises
                return result

            return await asyncio.gather(*map(tell, groups)), dict(hippocampus.aside.failures)

    results, failures = run(story())
    assert failures == {}
    for group, result in zip(groups, results, strict=True):
        assert len(result.episodes) == 2
        assert "contradicts" in {n.kind for n in result.surprises}
        waiting = store.read_room(group).surprises
        assert [s.fact for s in waiting][1:] == [n.fact for n in result.surprises]
        assert sum(s.kind == "contradicts" for s in waiting) == 1


@pytest.mark.parametrize("count", [1, 2, 3])
def test_of_copies_that_one_bulk_brings_the_first_is_novel(falkordb_uri, graph_name, store, count):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            known = inspect.signature(world.graphiti.graphiti.add_episode_bulk).parameters
            one_by_one = {name: False for name in ("use_combined_extraction",) if name in known}
            world.llm.facts = [Fact("Ann", "LIVES_IN", "Oslo", "Ann lives in Oslo")]
            raw = [
                RawEpisode(name=f"e{n}", content="Ann lives in Oslo.", reference_time=day(n),
                           source=EpisodeType.text, source_description="test")
                for n in range(count)
            ]  # fmt: skip
            result = await hippocampus.add_episode_bulk(raw, graph_name, **one_by_one)
            return result.surprises, await hippocampus.observe(result), len(result.edges)

    noticed, again, edges_count = run(story())
    assert again == noticed
    assert edges_count == count
    first, *others = [(n.kind, n.surprise) for n in noticed]  # each fact names several episodes
    assert first == ("novel", 0.5)
    assert len(others) >= count - 1
    assert set(others) <= {("expected", 0.0)}
