"""What comes to mind with what was found."""

import pytest

pytest.importorskip("graphiti_core")

from graphiti_core.search.search_filters import SearchFilters

from synapse.errors import UsageError
from tests.integrations.test_hippocampus import beside, day, run
from tests.support.graphiti_world import Fact

RIDE = [
    Fact("Ann", "RIDES", "Zephyr", "Ann rides Zephyr"),
    Fact("Ann", "FEEDS", "Zephyr", "Ann feeds Zephyr"),
]
PLAY = [Fact("Ann", "PLAYS", "cello", "Ann plays the cello")]
FAR = [Fact("Quito", "HOSTS", "Biennale", "Quito hosts a Biennale")]


async def searched(hippocampus, graph, **options):
    found = await hippocampus.search(
        "Ann rides Zephyr", group_ids=[graph], num_results=1, **options
    )
    return [edge.fact for edge in found], [recall.why for recall in found.recalls], found


def told_to(uri, graph, story):
    async def told():
        async with beside(uri, graph) as (world, hippocampus):
            for number, facts in enumerate([RIDE, PLAY, FAR]):
                await world.episode(f"{facts[0].text}.", day(number), facts)
            return await story(hippocampus), dict(hippocampus.aside.failures)

    return run(told())


def test_facts_of_the_same_episode_follow(falkordb_uri, graph_name, store):
    async def story(hippocampus):
        found = [await searched(hippocampus, graph_name, expand=n) for n in (0, 1, 9)]
        assert await hippocampus.flush()
        return found

    (plain, one, many), failures = told_to(falkordb_uri, graph_name, story)
    assert plain[0] == ["Ann rides Zephyr"]
    assert one[0] == many[0] == ["Ann rides Zephyr", "Ann feeds Zephyr"]
    assert one[1][1] == "comes to mind with what was found, association 0.28"
    assert [recall.relevance_rank for recall in one[2].recalls] == [1, 0]
    assert failures == {}
    counted = [(len(r.ranks), r.asked) for r in store.read_room(graph_name).recalls]
    assert counted == [(1, True), (1, True), (1, False), (1, True), (1, False)]


def test_what_was_recalled_together_follows_closest_first(falkordb_uri, graph_name):
    async def story(hippocampus):
        both = await hippocampus.search(
            "Ann rides Zephyr, Quito hosts a Biennale", group_ids=[graph_name], num_results=9
        )
        assert len(both) == 4
        assert await hippocampus.flush()
        await hippocampus.consolidate(graph_name)
        return await searched(hippocampus, graph_name, expand=2)

    (facts, why, _), failures = told_to(falkordb_uri, graph_name, story)
    assert facts[:2] == ["Ann rides Zephyr", "Ann feeds Zephyr"]  # recalled and told together
    assert len(facts) == 3
    assert "association 1.28" in why[1] and "association 1.00" in why[2]
    assert failures == {}


def test_what_has_ended_does_not_come_to_mind(falkordb_uri, graph_name, store):
    async def story(hippocampus):
        feeds = next(
            uuid
            for uuid, text in zip(*_facts(store, graph_name), strict=True)
            if text == "Ann feeds Zephyr"
        )
        driver = hippocampus.graphiti.driver
        await driver.execute_query(
            "MATCH ()-[e:RELATES_TO {uuid: $uuid}]->() SET e.invalid_at = $at",
            uuid=feeds, at=day(1).isoformat(),
        )  # fmt: skip
        now = await searched(hippocampus, graph_name, expand=3)
        ever = await searched(hippocampus, graph_name, expand=3, include_superseded=True)
        return now[0], ever[0]

    (now, ever), failures = told_to(falkordb_uri, graph_name, story)
    assert (now, failures) == (["Ann rides Zephyr"], {})
    assert ever == ["Ann rides Zephyr", "Ann feeds Zephyr"]


def test_a_failure_or_a_filter_is_no_riddle(falkordb_uri, graph_name, monkeypatch):
    async def story(hippocampus):
        with pytest.raises(UsageError, match="search_filter"):
            await searched(
                hippocampus, graph_name, expand=1,
                search_filter=SearchFilters(edge_types=["RIDES"]),
            )  # fmt: skip

        def broken(*_args):
            raise RuntimeError("no links")

        monkeypatch.setattr(hippocampus._store, "read_links", broken)
        return await searched(hippocampus, graph_name, expand=1)

    (facts, _, _), failures = told_to(falkordb_uri, graph_name, story)
    assert (facts, failures) == (["Ann rides Zephyr"], {"RuntimeError": 1})


def _facts(store, graph):
    facts = store.read_graph(graph).facts
    return facts.uuid, facts.text
