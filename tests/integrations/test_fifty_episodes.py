"""Fifty turns through a real Graphiti: what is noticed online is what the batch takes over."""

import asyncio
import json
import subprocess
import sys

import pytest

pytest.importorskip("graphiti_core")

from tests.conftest import REPOSITORY
from tests.integrations.test_hippocampus import beside, day, run
from tests.support.graphiti_world import Fact

LIVES, NEW, AGAIN, OTHER = "LIVES_IN", "novel", "expected", "contradicts"


def lives(who, where, **options):
    return Fact(who, LIVES, where, f"{who} lives in {where}", **options)


def likes(who, what):
    return Fact(who, "LIKES", what, f"{who} likes {what}")


def works(who, where, text="", **options):
    return Fact(who, "WORKS_AT", where, text or f"{who} works at {where}", **options)


MOVES = [
    (lives("Ann", "Oslo"), NEW),
    (lives("Bob", "Rome"), NEW),
    "Where does Ann live?",
    (lives("Ann", "Rome"), OTHER),
    (lives("Ann", "Oslo"), OTHER),  # and back
    "Does Ann live in Rome?",
    (lives("Cid", "Bern", valid_at=day(-10)), NEW),
    (lives("Cid", "Kyiv", valid_at=day(-30)), OTHER),  # told late
    (lives("Cid", "Lima", valid_at=day(-20)), OTHER),  # told late, between the two
    (likes("Ann", "tea"), NEW),
    (likes("Ann", "coffee"), NEW),
    (likes("Ann", "jazz"), NEW),
    "What does Ann like?",
    (lives("Bob", "Rome", repeats=["Bob lives in Rome"]), AGAIN),
    (lives("Bob", "Paris", contradicts=["Bob lives in Rome"]), OTHER),
    (lives("Bob", "Rome"), OTHER),
    "Tell me where Bob lives.",
    (works("Ann", "Acme"), NEW),
    (works("Ann", "Globex", "Ann works at Globex instead of Acme"), OTHER),
    (works("Bob", "Acme"), NEW),
    (works("Bob", "Initech", contradicts=["Bob works at Acme"]), OTHER),
    "Is Bob still at Acme?",
    (lives("Dan", "Oslo"), NEW),
    (lives("Dan", "Oslo", repeats=["Dan lives in Oslo"]), AGAIN),
    (lives("Dan", "Rome"), OTHER),
    (lives("Dan", "Bern"), OTHER),
    (lives("Dan", "Oslo"), OTHER),
    "Where is Dan these days?",
]
CORRECTIONS = [
    (lives("Ann", "Kyiv"), NEW),  # another group's Ann
    "Where does Ann live?",
    (lives("Ann", "Lima"), OTHER),
    (lives("Ann", "Kyiv"), OTHER),
    (likes("Eve", "chess"), NEW),
    (likes("Eve", "go"), NEW),
    (works("Eve", "Acme"), NEW),
    (works("Eve", "Acme", repeats=["Eve works at Acme"]), AGAIN),
    "Who works at Acme?",
    (works("Eve", "Hooli", "Eve works at Hooli instead of Acme"), OTHER),
    (lives("Eve", "Bern", valid_at=day(-3)), NEW),
    (lives("Eve", "Rome", valid_at=day(-9)), OTHER),
    (lives("Fay", "Oslo"), NEW),
    (lives("Fay", "Rome", contradicts=["Fay lives in Oslo"]), OTHER),
    "Did Fay move?",
    (likes("Fay", "tea"), NEW),
    (likes("Fay", "jazz"), NEW),
    (lives("Fay", "Rome", repeats=["Fay lives in Rome"]), AGAIN),
    (lives("Fay", "Lima"), OTHER),
    "What do you know about Fay?",
    (works("Gus", "Acme"), NEW),
    (lives("Gus", "Oslo"), NEW),
]


async def tell(world, hippocampus, group, turns):
    """Tell turns one a day; return what was noticed, and what was asked."""
    noticed, asked = [], []
    for number, turn in enumerate(turns):
        if isinstance(turn, str):
            asked.append(await hippocampus.hear(turn, group_id=group))
            continue
        result = await world.episode(f"{turn[0].text}.", day(number), [turn[0]], group_id=group)
        noticed.append(result.surprises)
    return noticed, asked


def consolidate(uri, group, *options):
    done = subprocess.run(
        [sys.executable, "scripts/consolidate.py", "--group-id", group,
         "--now", "2027-03-01T00:00:00Z", *options],
        cwd=REPOSITORY, capture_output=True, text=True, check=True,
        env={"FALKORDB_URI": uri, "PATH": "", "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    return json.loads(done.stdout)


def test_the_batch_takes_over_exactly_what_was_noticed(falkordb_uri, graph_name, store):
    groups = {graph_name: MOVES, f"{graph_name}-b": CORRECTIONS}
    assert sum(map(len, groups.values())) == 50

    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            told = [tell(world, hippocampus, group, turns) for group, turns in groups.items()]
            return await asyncio.gather(*told), dict(hippocampus.aside.failures)

    told, failures = run(story())
    assert failures == {}
    for (group, turns), (noticed, asked) in zip(groups.items(), told, strict=True):
        stated = [turn for turn in turns if not isinstance(turn, str)]
        assert [heard.ingested for heard in asked] == [None] * (len(turns) - len(stated))
        seen = [
            (fact.text, *(n.kind for n in one))
            for (fact, _), one in zip(stated, noticed, strict=True)
        ]
        assert seen == [(fact.text, kind) for fact, kind in stated]
        waiting = store.read_room(group).surprises
        assert [(s.fact, s.against, s.rule, s.kind, s.surprise_ratio) for s in waiting] == [
            (n.fact, n.against, n.rule, n.kind, n.surprise) for one in noticed for n in one
        ]
        graph = store.read_graph(group)
        assert {s.fact for s in waiting} == set(graph.facts.uuid)
        assert len(graph.episodes) == len(stated)
        counted = [consolidate(falkordb_uri, group) for _ in range(2)]
        count = sum(kind == OTHER for _, kind in stated)
        assert [c["online_contradictions"]["count"] for c in counted] == [count, 0]
        assert store.read_room(group).surprises == ()


@pytest.mark.parametrize("how", ["past us", "raised", "raised and told again"])
def test_what_was_not_noticed_is_found_by_the_batch_once(
    falkordb_uri, graph_name, store, monkeypatch, how
):
    async def broken(*_args, **_options):
        raise RuntimeError("after the commit")

    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            await world.episode("Ann lives in Oslo.", day(0), [lives("Ann", "Oslo")])
            rome = "Ann lives in Rome.", day(1), [lives("Ann", "Rome")]
            if how == "past us":
                world.graphiti = hippocampus.graphiti
                await world.episode(*rome)
                return []
            with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="after"):
                patch.setattr("graphiti_core.graphiti.update_community", broken)
                await world.episode(*rome, update_communities=True)
            return (await world.episode(*rome)).surprises if "again" in how else []

    told_again = run(story())
    assert [n.kind for n in told_again] == ["expected"] * ("again" in how)
    first, second = (consolidate(falkordb_uri, graph_name) for _ in range(2))
    assert [c["online_contradictions"]["count"] for c in (first, second)] == [0, 0]
    assert [c["contradictions"]["count"] for c in (first, second)] == [1, 1]
    assert [c["wrote"]["findings"] for c in (first, second)] == [1, 0]
    assert len(store.read_room(graph_name).ledger) == 1


def test_a_value_that_comes_back_is_news_once(falkordb_uri, graph_name):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, _):
            places = ["Oslo", "Rome", "Oslo", "Oslo", "Rome", "Rome"]
            return [
                await world.episode(f"Ann lives in {place}.", day(n), [lives("Ann", place)])
                for n, place in enumerate(places)
            ]

    kinds = [one.kind for result in run(story()) for one in result.surprises]
    assert kinds == [NEW, OTHER, OTHER, AGAIN, OTHER, AGAIN]
