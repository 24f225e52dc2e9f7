"""Synapse beside a real Graphiti on a real FalkorDB; only the language model is a script."""

import asyncio
import json
import logging
import subprocess
import sys
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

pytest.importorskip("graphiti_core")

from synapse.hippocampus.config import HippocampusConfig, RankingConfig
from synapse.integrations.graphiti import Hippocampus
from tests.conftest import REPOSITORY
from tests.support.graphiti_world import Fact, graphiti_world

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
NOW_S = datetime(2026, 3, 1, tzinfo=UTC).timestamp()


def day(number):
    return START + timedelta(days=number)


@asynccontextmanager
async def beside(uri, graph, **options):
    """A world, and a hippocampus that does what the world's scripted episodes say."""
    async with graphiti_world(uri, graph) as world:
        hippocampus = Hippocampus(world.graphiti, uri=uri, clock=lambda: NOW_S, **options)
        real, world.graphiti = world.graphiti, hippocampus
        try:
            yield world, hippocampus
        finally:
            world.graphiti = real
            await hippocampus.close()


async def tell_moves(world, places=("Oslo", "Rome")):
    """Ann moves from place to place, a week apart."""
    results = []
    for number, place in enumerate(places):
        fact = Fact("Ann", "LIVES_IN", place, f"Ann lives in {place}")
        results.append(await world.episode(f"Ann lives in {place}.", day(7 * number), [fact]))
    return results


def run(coroutine):
    return asyncio.run(coroutine)


def test_an_episode_says_what_it_contradicts(falkordb_uri, graph_name, store):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, _):
            return await tell_moves(world)

    first, second = run(story())
    assert [n.kind for n in first.surprises] == ["novel"]
    (noticed,) = second.surprises
    assert (noticed.kind, noticed.against) == ("contradicts", first.edges[0].uuid)
    assert 0.5 < noticed.surprise <= 1.0
    assert noticed.evidence
    assert second.episode.content == "Ann lives in Rome."
    waiting = store.read_room(graph_name).surprises
    assert [(s.fact, s.against, s.kind) for s in waiting] == [
        (first.edges[0].uuid, "", "novel"),
        (second.edges[0].uuid, first.edges[0].uuid, "contradicts"),
    ]


def test_observing_again_adds_nothing(falkordb_uri, graph_name, store):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            results = await tell_moves(world)
            return [await hippocampus.observe(result) for result in results * 2]

    again = run(story())
    assert [n.kind for n in again[1]] == ["contradicts"]
    assert again[1] == again[3]
    assert len(store.read_room(graph_name).surprises) == 2


def test_the_cron_script_drains_what_was_noticed(falkordb_uri, graph_name):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, _):
            await tell_moves(world, ["Oslo", "Rome", "Oslo", "Bern"])

    run(story())
    counts = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "scripts/consolidate.py", "--group-id", graph_name,
             "--now", "2026-03-01T00:00:00Z"],
            cwd=REPOSITORY, capture_output=True, text=True, check=True,
            env={"FALKORDB_URI": falkordb_uri, "PATH": "", "PYTHONPATH": str(REPOSITORY)},
        )  # fmt: skip
        counts.append(json.loads(done.stdout)["online_contradictions"]["count"])
    assert counts == [3, 0]


def test_search_leaves_out_what_no_longer_holds(falkordb_uri, graph_name, store):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            await tell_moves(world)
            await hippocampus.consolidate(graph_name, resolve=True)
            found = [
                await hippocampus.search("where does Ann live", group_ids=[graph_name], **options)
                for options in ({}, {"include_superseded": True}, {"at": day(3)})
            ]
            assert await hippocampus.flush()
            return found

    now, everything, then = run(story())
    assert [edge.fact for edge in now] == ["Ann lives in Rome"]
    assert now.left_out_count == 1
    assert sorted(edge.fact for edge in everything) == ["Ann lives in Oslo", "Ann lives in Rome"]
    assert [edge.fact for edge in then] == ["Ann lives in Oslo"]
    assert now.recalls[0].uuid == now[0].uuid
    assert 0.0 < now.recalls[0].strength <= 1.0
    assert store.summarize_room(graph_name).recalls_count == 3


def test_without_weight_the_order_is_graphitis_own(falkordb_uri, graph_name):
    async def story():
        config = HippocampusConfig(ranking=RankingConfig(strength_weight=0.0))
        async with beside(falkordb_uri, graph_name, config=config) as (world, hippocampus):
            facts = [Fact("Ann", "LIKES", f"T{n}", f"Ann likes tea number {n}") for n in range(12)]
            await world.episode("Ann likes teas.", START, facts)
            await hippocampus.consolidate(graph_name)
            query = {"query": "Ann tea 3", "group_ids": [graph_name], "num_results": 5}
            own = await hippocampus.graphiti.search(**query)
            ours = await hippocampus.search(**query, include_superseded=True)
            return [edge.uuid for edge in own], [edge.uuid for edge in ours]

    own, ours = run(story())
    assert len(own) == 5
    assert ours == own


def test_a_broken_ledger_never_breaks_ingestion_or_search(
    falkordb_uri, graph_name, monkeypatch, caplog
):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):

            def broken(*_args):
                raise RuntimeError("the ledger is gone")

            for name in ("read_subjects", "read_traces", "record_recalls"):
                monkeypatch.setattr(hippocampus._store, name, broken)
            results = await tell_moves(world)
            found = await hippocampus.search("Ann lives", group_ids=[graph_name])
            return results, found, await hippocampus.status(graph_name)

    with caplog.at_level(logging.WARNING, "synapse"):
        results, found, status = run(story())
    assert [len(result.edges) for result in results] == [1, 1]
    assert len(found) == 2
    assert status["failures"]["RuntimeError"] >= 3
    assert len(caplog.records) == 1


def test_groups_at_once_do_not_mix(falkordb_uri, graph_name, store):
    other = f"{graph_name}-b"

    async def story():
        async with (
            beside(falkordb_uri, graph_name) as (one, _),
            beside(falkordb_uri, other) as (two, _),
        ):
            await asyncio.gather(tell_moves(one), tell_moves(two, ["Bern", "Kyiv", "Bern"]))

    run(story())
    assert [len(store.read_room(g).surprises) for g in (graph_name, other)] == [2, 3]


@pytest.mark.parametrize("count", [1, 3, 10])
def test_results_left_out_change_nothing_of_graphitis_order(falkordb_uri, graph_name, count):
    async def story():
        config = HippocampusConfig(ranking=RankingConfig(strength_weight=0.0))
        async with beside(falkordb_uri, graph_name, config=config) as (_, hippocampus):
            words = ["red", "blue", "green", "tea", "coffee", "port", "city", "book"]
            for n in range(40):
                said = f"P{n % 9} likes {words[n % 8]} {words[n // 5]} {words[n * 3 % 7]}"
                relation = "LIVES_IN" if n % 4 == 0 else "LIKES"
                await hippocampus.believe(
                    f"P{n % 9}", relation, f"thing {n}", fact=said, valid_at=day(n),
                    group_id=graph_name,
                )  # fmt: skip
            pairs = []
            for query in ("red tea", "blue book city", "coffee port"):
                asked = {"query": query, "group_ids": [graph_name], "num_results": count}
                own = await hippocampus.graphiti.search(**asked)
                active = [edge.uuid for edge in own if edge.invalid_at is None]
                pairs.append((active, [e.uuid for e in await hippocampus.search(**asked)]))
            return pairs

    for own, ours in run(story()):
        assert ours[: len(own)] == own
        assert len(ours) == count


def test_a_long_history_never_hides_the_current_fact(falkordb_uri, graph_name):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            for n in range(25):
                await hippocampus.believe(
                    "Ann", "LIVES_IN", f"Town {n}", valid_at=day(n), group_id=graph_name
                )
            query = {"query": "where does Ann live", "group_ids": [graph_name]}
            found = [await hippocampus.search(**query, num_results=n) for n in (1, 3, 10)]
            found.append((await hippocampus.search_(**query)).edges)
            then = await hippocampus.search(**query, num_results=1, at=day(7))
            return found, then

    found, then = run(story())
    assert [[edge.fact for edge in edges] for edges in found] == [["Ann lives in Town 24"]] * 4
    assert [edge.fact for edge in then] == ["Ann lives in Town 7"]


@pytest.mark.parametrize("spelt", ["LIKES_TO_EAT", "LIKES TO EAT", "LIKES-TO-EAT", "likes to eat"])
def test_a_value_is_less_news_where_others_were_known_in_any_spelling(
    falkordb_uri, graph_name, spelt
):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            figs = Fact("Ann", "LIKES_TO_EAT", "figs", "Ann likes to eat figs")
            await world.episode("Figs.", day(0), [figs])
            world.graphiti = hippocampus.graphiti  # what follows is observed late
            rice = Fact("Ann", spelt, "rice", "Ann likes to eat rice")
            result = await world.episode("Rice.", day(1), [rice])
            no_rice = Fact("Ann", "LIKES_TO_EAT", "rice", "Ann no longer likes to eat rice")
            await world.episode("No rice.", day(2), [no_rice])
            return await hippocampus.observe(result)

    (noticed,) = run(story())
    assert (noticed.kind, noticed.surprise) == ("novel", pytest.approx(1 / 3))
