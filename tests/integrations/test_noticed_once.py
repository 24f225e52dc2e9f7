"""What happened counts once: whichever result tells it, in whatever order, however often."""

import asyncio
import copy
import pickle
import random
from datetime import UTC, datetime
from itertools import pairwise, permutations

import pytest

pytest.importorskip("graphiti_core")

from graphiti_core.graphiti import AddBulkEpisodeResults

from synapse.integrations.ingestion import ingested
from tests.integrations.test_hippocampus import beside, day, run
from tests.support.graphiti_world import Fact


def lives(where, **options):
    return Fact("Ann", "LIVES_IN", where, f"Ann lives in {where}", **options)


def bulk_of(*results, times_count=1):
    """What ``add_episode_bulk`` would have returned for the episodes of some results."""
    newest = {edge.uuid: edge for result in results for edge in result.edges}
    edges = [newest[edge.uuid] for result in results for edge in result.edges]
    return AddBulkEpisodeResults(
        episodes=[result.episode for result in results],
        edges=edges * times_count,
        **{name: [] for name in ("episodic_edges", "nodes", "communities", "community_edges")},
    )


async def told(world, hippocampus, *places):
    """Moves a week apart, ingested past the hippocampus."""
    world.graphiti = hippocampus.graphiti
    return [
        await world.episode(f"Ann lives in {place}.", day(7 * n), [lives(place)])
        for n, place in enumerate(places)
    ]


def recorded(store, graph):
    """How often which fact was recorded as contradicting which."""
    return sorted(
        (s.fact, s.against) for s in store.read_room(graph).surprises if s.kind == "contradicts"
    )


def observing(falkordb_uri, graph_name, places, choose):
    """Tell moves, and observe the results that ``choose`` picks, one after the other."""

    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            results = await told(world, hippocampus, *places)
            noticed = [await hippocampus.observe(result) for result in choose(results)]
            assert hippocampus.aside.failures == {}
            return results, noticed

    return run(story())


HISTORIES = [
    ["Oslo", "Rome"],
    ["Oslo", "Rome", "Oslo"],
    ["Oslo", "Rome", "Oslo", "Rome"],
    ["Oslo", "Oslo", "Rome", "Rome", "Oslo", "Bern"],
]
WAYS = {
    "one by one": lambda r: r,
    "backwards": lambda r: r[::-1],
    "all at once": lambda r: [bulk_of(*r)],
    "one by one, then all at once": lambda r: [*r, bulk_of(*r)],
    "all at once, then one by one": lambda r: [bulk_of(*r), *r],
    "in overlapping parts": lambda r: [bulk_of(*r[:2]), bulk_of(*r[1:]), bulk_of(*r)],
    "with edges named again": lambda r: [bulk_of(*r, times_count=3)],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("places", HISTORIES, ids=" ".join)
def test_a_move_is_one_surprise(falkordb_uri, graph_name, store, way, places):
    count = sum(one != other for one, other in pairwise(places))
    results, noticed = observing(falkordb_uri, graph_name, places, WAYS[way])
    assert len(recorded(store, graph_name)) == count
    assert len({r.episode.uuid for r in results}) == len(places)
    if len(noticed) == 1:
        assert sum(n.kind == "contradicts" for n in noticed[0]) == count


def in_any_parts(results, chance):
    """Some results, alone and in bulks, in any order and some of them again."""
    told = []
    for _ in range(chance.randint(1, 3)):
        cuts = sorted(chance.sample(range(1, len(results)), chance.randint(0, len(results) - 2)))
        parts = [results[a:b] for a, b in pairwise([0, *cuts, len(results)])]
        chance.shuffle(parts)
        told += [p[0] if len(p) == 1 and chance.random() < 0.5 else bulk_of(*p) for p in parts]
    return told


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("when", ["at once", "late"])
def test_no_telling_again_counts_again(falkordb_uri, graph_name, store, when, seed):
    chance = random.Random(seed)
    places = [chance.choice(["Oslo", "Rome", "Bern"]) for _ in range(6)]

    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            if when == "late":
                results = await told(world, hippocampus, *places)
            else:
                results = [
                    await world.episode(f"Ann lives in {place}.", day(7 * n), [lives(place)])
                    for n, place in enumerate(places)
                ]
            for result in in_any_parts(results, chance):
                await hippocampus.observe(result)

    run(story())
    count, moves_count = len(recorded(store, graph_name)), sum(a != b for a, b in pairwise(places))
    assert count == moves_count if when == "at once" else 1 <= count <= moves_count


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_episodes_ingested_at_once_count_each_pair_once(falkordb_uri, graph_name, store, order):
    places = ["Oslo", "Rome", "Bern"]
    observing(falkordb_uri, graph_name, places, lambda r: [r[n] for n in order])
    pairs = [frozenset(pair) for pair in recorded(store, graph_name)]
    assert len(pairs) == len(set(pairs)) == 2


def test_one_episode_that_contradicts_itself_counts_once(falkordb_uri, graph_name, store):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, _):
            facts = [lives("Oslo", valid_at=day(1)), lives("Rome", valid_at=day(5))]
            return await world.episode("Ann moved from Oslo to Rome.", day(9), facts)

    result = run(story())
    assert [n.kind for n in result.surprises] == ["novel", "contradicts"]
    assert len(recorded(store, graph_name)) == 1


def test_a_triplet_that_comes_again_is_expected(falkordb_uri, graph_name, store):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, _):
            ann, oslo, rome = [await world.entity(name) for name in ("Ann", "Oslo", "Rome")]
            first = await world.triplet(ann, lives("Oslo", valid_at=day(0)), oslo)
            second = await world.triplet(ann, lives("Rome", valid_at=day(7)), rome)
            again = await world.triplet(ann, lives("Rome", valid_at=day(7)), rome)
            episode = await world.episode("Ann lives in Rome.", day(9), [lives("Rome")])
            later = await world.episode("Ann lives in Rome!", day(11), [lives("Rome")])
            return [first, second, again, episode, later]

    results = run(story())
    assert len({result.edges[0].uuid for result in results[1:]}) == 1
    assert [[n.kind for n in result.surprises] for result in results] == [
        ["novel"], ["contradicts"], ["expected"], ["expected"], ["expected"]
    ]  # fmt: skip
    assert len(recorded(store, graph_name)) == 1


def test_a_triplet_that_comes_back_contradicts_what_came_between(falkordb_uri, graph_name, store):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            ann, oslo, rome = [await world.entity(name) for name in ("Ann", "Oslo", "Rome")]
            results = [
                await world.triplet(ann, lives("Oslo", valid_at=day(0)), oslo),
                await world.triplet(ann, lives("Rome", valid_at=day(7)), rome),
                await world.triplet(ann, lives("Oslo", valid_at=day(14)), oslo),
            ]
            for result in results * 2:
                await hippocampus.observe(result)
            return results

    results = run(story())
    assert [[n.kind for n in result.surprises] for result in results] == [
        ["novel"], ["contradicts"], ["contradicts"]
    ]  # fmt: skip
    assert len(recorded(store, graph_name)) == 2


def test_a_run_in_between_changes_nothing(falkordb_uri, graph_name, store):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            results = await told(world, hippocampus, "Oslo", "Rome", "Oslo")
            await asyncio.gather(*map(hippocampus.observe, results))
            counts = [len(recorded(store, graph_name))]
            for again in ([], results, [bulk_of(*results)]):
                for result in again:
                    await hippocampus.observe(result)
                outcome = await hippocampus.consolidate(graph_name)
                counts.append(outcome.report.online_contradictions.count)
            return counts

    assert run(story()) == [2, 2, 0, 0]


def test_a_fact_older_than_its_first_episode_was_known(falkordb_uri, graph_name):
    result = observing(falkordb_uri, graph_name, ["Oslo"], lambda r: r)[0][0]
    assert [one.is_new for one in ingested(result).said] == [True]
    result.edges[0].created_at = datetime(2020, 1, 1, tzinfo=UTC)
    assert [one.is_new for one in ingested(result).said] == [False]
    vars(result.episode)["created_at"] = None
    assert [one.is_new for one in ingested(result).said] == [True]


@pytest.mark.parametrize("kind", ["episode", "bulk", "triplet"])
def test_a_result_with_surprises_can_be_copied_and_pickled(falkordb_uri, graph_name, kind):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            if kind == "triplet":
                ann, oslo = [await world.entity(name) for name in ("Ann", "Oslo")]
                return await world.triplet(ann, lives("Oslo", valid_at=day(0)), oslo)
            result = await world.episode("Ann lives in Oslo.", day(0), [lives("Oslo")])
            return (
                await hippocampus._listener.observed(bulk_of(result)) if kind == "bulk" else result
            )

    result = run(story())
    assert [n.kind for n in result.surprises] == ["novel"]
    for again in (
        pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result),
        result.model_copy(deep=True),
    ):  # fmt: skip
        assert type(again) is type(result)
        assert again.surprises == result.surprises
        assert again.model_dump() == result.model_dump()
