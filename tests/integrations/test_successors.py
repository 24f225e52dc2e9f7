"""What replaced a result that no longer holds is told in its place, without a second search."""

from datetime import datetime, timedelta, timezone
from functools import wraps

import pytest

pytest.importorskip("graphiti_core")

from graphiti_core.driver.falkordb_driver import FalkorDriver
from graphiti_core.search.search_config_recipes import (
    COMBINED_HYBRID_SEARCH_CROSS_ENCODER,
    EDGE_HYBRID_SEARCH_RRF,
    NODE_HYBRID_SEARCH_RRF,
)
from graphiti_core.search.search_filters import SearchFilters

from synapse.errors import StoreUnreachable
from tests.integrations.test_hippocampus import beside, day, run
from tests.integrations.test_signatures import PLAIN

ASKED = "harbour"
"""Only facts of this word are near the question."""


class Town:
    """People and where they live, written by Graphiti's classes; each fact is a word of its own."""

    def __init__(self, world, hippocampus):
        self.world, self.hippocampus = world, hippocampus
        self.graph = world.group_id
        self.calls_count = 0
        self._nodes, self._uuids = {}, {}
        search = hippocampus.graphiti.search_

        @wraps(search)
        async def counted(*args, **options):
            self.calls_count += 1
            return await search(*args, **options)

        hippocampus.graphiti.search_ = counted

    async def node(self, name, **properties):
        if name not in self._nodes:
            self._nodes[name] = await self.world.entity(name, **properties)
        return self._nodes[name]

    async def fact(self, text, begins=None, ends=None, relation="LIVES_IN", whose="Ann", **more):
        """A fact that holds from one day to another."""
        days = {"valid_at": begins, "invalid_at": ends}
        dates = {name: day(number) for name, number in days.items() if number is not None}
        place = await self.node(f"place of {text}")
        edge = await self.world.fact(
            await self.node(whose), relation, place, text, **{**dates, **more}
        )
        return edge.uuid

    async def told(self, count=1, **options):
        """Texts found, whys, and how many times Graphiti has searched."""
        self.calls_count = 0
        found = await self.hippocampus.search(
            ASKED, **{"group_ids": [self.graph], "num_results": count, **options}
        )
        return [edge.fact for edge in found], found.recalls, self.calls_count


def live(uri, graph, story, failures=None):
    async def lived():
        async with beside(uri, graph, config=PLAIN) as (world, hippocampus):
            told = await story(Town(world, hippocampus))
            assert dict(hippocampus.aside.failures) == (failures or {})
            assert await hippocampus.flush()
            return told

    return run(lived())


def test_what_replaced_a_result_is_told_without_another_search(falkordb_uri, graph_name, store):
    async def story(town):
        await town.fact(f"{ASKED} {ASKED}", 0, 5)
        await town.fact("elsewhere", 5)
        return await town.told()

    texts, (recall,), calls_count = live(falkordb_uri, graph_name, story)
    assert (texts, calls_count) == (["elsewhere"], 1)
    assert recall.why.startswith("replaced a result that no longer holds; relevance rank 1")
    (recorded,) = store.read_room(graph_name).recalls
    assert recorded.ranks == ((recall.uuid, 1),)


def test_it_follows_after_what_graphiti_has_found(falkordb_uri, graph_name):
    async def story(town):
        for number in range(3):
            await town.fact(f"{ASKED} {ASKED} old {number}", 0, 5, whose=f"P{number}")
            await town.fact(f"elsewhere {number}", 6, whose=f"P{number}")
            await town.fact(f"{ASKED} {ASKED} {ASKED} {number}", 0, whose="Bob", relation="SEES")
        own = await town.hippocampus.graphiti.search(ASKED, group_ids=[town.graph], num_results=6)
        return [edge.fact for edge in own], await town.told(6), await town.told(5)

    own, (texts, recalls, calls_count), (fewer, _, _) = live(falkordb_uri, graph_name, story)
    kept = [text for text in own if "old" not in text]
    replaced = [f"elsewhere {text[-1]}" for text in own if "old" in text]
    assert len(kept) == len(replaced) == 3
    assert (texts, calls_count) == (kept + replaced, 1)
    assert len(fewer) == 5
    assert [recall.uuid for recall in recalls if "replaced" in recall.why] == [
        recall.uuid for recall in recalls[3:]
    ]


def test_however_many_steps_away_the_value_that_holds_is_told(falkordb_uri, graph_name):
    async def story(town):
        await town.fact(f"{ASKED} {ASKED}", 0, 5)
        await town.fact("next", 5, 9)
        await town.fact("third", 9, 12)
        await town.fact("fourth", 12)
        return [await town.told(), await town.told(at=day(6)), await town.told(at=day(10))]

    told = live(falkordb_uri, graph_name, story)
    assert [(texts, calls) for texts, _, calls in told] == [
        (["fourth"], 1), (["next"], 1), (["third"], 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "other",
    [
        {"relation": "WORKS_AT"}, {"whose": "Bob"}, {"group_id": "another"},
        {"ends": 9}, {"begins": 3}, {"begins": 400}, {"begins": None},
    ],
    ids=["property", "subject", "group", "ended", "before the end", "future", "undated"],
)  # fmt: skip
def test_what_did_not_replace_it_is_not_told_so(falkordb_uri, graph_name, other):
    async def story(town):
        await town.fact(f"{ASKED} {ASKED}", 0, 5)
        more = {"created_at": day(0)} if other == {"begins": None} else {}
        await town.fact("elsewhere", **{"begins": 5, **other, **more})
        return await town.told()

    texts, recalls, calls_count = live(falkordb_uri, graph_name, story)
    assert (texts, recalls, calls_count) == ([], [], 2)


def test_an_undated_fact_begins_with_its_first_episode(falkordb_uri, graph_name):
    async def story(town):
        episode = await town.world.bare_episode("moved", day(7))
        await town.fact(f"{ASKED} {ASKED}", 0, 5)
        await town.fact("elsewhere", episodes=[episode.uuid])
        return await town.told(), await town.told(at=day(6))

    (now, (recall,), calls_count), (_, then, _) = live(falkordb_uri, graph_name, story)
    assert (now, calls_count) == (["elsewhere"], 1)
    assert "replaced" in recall.why
    assert then == []


@pytest.mark.parametrize(("begins", "is_told"), [(5, True), (6, False)])
def test_of_many_values_only_the_one_that_begins_with_the_end(
    falkordb_uri, graph_name, begins, is_told
):
    async def story(town):
        await town.fact(f"{ASKED} {ASKED}", 0, 5, relation="LIKES")
        await town.fact("elsewhere", begins, relation="likes")
        await town.fact("later", 8, relation="LIKES")
        return await town.told()

    texts, recalls, calls_count = live(falkordb_uri, graph_name, story)
    assert (texts, calls_count) == ((["elsewhere"], 1) if is_told else ([], 2))
    assert all("replaced" in recall.why for recall in recalls)


@pytest.mark.parametrize(("relation", "begins"), [("MET", 0), ("LIKES", 5)])
def test_neither_an_event_nor_one_of_many_values_of_a_moment_is_replaced(
    falkordb_uri, graph_name, relation, begins
):
    async def story(town):
        await town.fact(f"{ASKED} {ASKED}", begins, 5, relation=relation)
        await town.fact("elsewhere", 5, relation=relation)
        return await town.told()

    assert live(falkordb_uri, graph_name, story) == ([], [], 2)


@pytest.mark.parametrize(
    "unreal",
    [
        "Ann plans to live in {}", "Ann does not live in {}", "Does Ann live in {}?",
        "Ann also lives in {}", "If she marries, Ann lives in {}",
    ],
)  # fmt: skip
def test_what_gives_no_value_in_place_of_others_replaces_nothing(falkordb_uri, graph_name, unreal):
    async def story(town):
        await town.fact(f"{ASKED} {ASKED}", 0, 5)
        await town.fact(unreal.format("Rome"), 5)
        alone = await town.told()
        await town.fact("Ann lives in Oslo", 8)
        return alone[0], await town.told()

    alone, (texts, recalls, _) = live(falkordb_uri, graph_name, story)
    assert (alone, texts) == ([], ["Ann lives in Oslo"])
    assert "replaced" in recalls[0].why


def test_names_of_one_property_are_known_once_they_are_learned(
    falkordb_uri, graph_name, monkeypatch
):
    async def story(town):
        await town.fact(f"{ASKED} {ASKED}", 0, 5, relation="LIVES_IN")
        await town.fact("elsewhere", 5, relation="IS_LIVING_IN")
        read, reads_count = town.hippocampus._store.read_graph, 0

        def counted(*args, **options):
            nonlocal reads_count
            reads_count += 1
            return read(*args, **options)

        monkeypatch.setattr(town.hippocampus._store, "read_graph", counted)
        before, unread = await town.told(), reads_count
        town.hippocampus._relations.of(graph_name)
        return before, unread, await town.told()

    before, unread, (texts, (recall,), calls_count) = live(falkordb_uri, graph_name, story)
    assert (before[0], unread) == ([], 0)
    assert (texts, calls_count) == (["elsewhere"], 1)
    assert "replaced" in recall.why


def test_one_that_is_found_anyway_keeps_its_place(falkordb_uri, graph_name):
    async def story(town):
        await town.fact(f"{ASKED} {ASKED}", 0, 5)
        await town.fact(f"{ASKED} {ASKED} now", 5)
        return await town.told(10)

    texts, (recall,), _ = live(falkordb_uri, graph_name, story)
    assert texts == [f"{ASKED} {ASKED} now"]
    assert "replaced" not in recall.why


def test_what_is_still_missing_is_searched_for(falkordb_uri, graph_name):
    async def story(town):
        await town.fact(f"{ASKED} {ASKED}", 0, 5)
        await town.fact(f"{ASKED} {ASKED} gone", 0, 5, whose="Bob")
        await town.fact("elsewhere", 5)
        await town.fact(f"far from the {ASKED} with many other words", 0, whose="Eve")
        return await town.told(2)

    texts, recalls, calls_count = live(falkordb_uri, graph_name, story)
    assert texts == ["elsewhere", f"far from the {ASKED} with many other words"]
    assert ["replaced" in recall.why for recall in recalls] == [True, False]
    assert calls_count > 1


def test_each_group_is_filled_up_from_its_own_graph(falkordb_uri, graph_name):
    other = f"{graph_name}-b"

    async def story(town):
        async with beside(falkordb_uri, other) as (world, _):
            there = Town(world, town.hippocampus)
            for where in (town, there):
                await where.fact(f"{ASKED} {ASKED}", 0, 5)
                await where.fact(f"elsewhere in {where.graph}", 5)
        return await town.told(group_ids=[graph_name, other])

    texts, recalls, _ = live(falkordb_uri, graph_name, story)
    assert texts == [f"elsewhere in {graph_name}", f"elsewhere in {other}"]
    assert all("replaced" in recall.why for recall in recalls)


@pytest.mark.parametrize("group_ids", [None, ["_"]], ids=["no group", "default group"])
def test_the_default_group_is_looked_for_where_it_is(new_server, group_ids):
    # On a server of its own: Graphiti keeps the default group in default_db.
    graph = "own" if group_ids is None else "default_db"

    async def story(town):
        town.world.group_id = None
        await town.fact(f"{ASKED} {ASKED}", 0, 5)
        await town.fact("elsewhere", 5)
        return await town.told(group_ids=group_ids)

    texts, _, calls_count = live(new_server().uri, graph, story)
    assert (texts, calls_count) == (["elsewhere"], 1)


def test_a_driver_of_its_own_is_read_with(falkordb_uri, graph_name):
    other = f"{graph_name}-b"

    async def story(town):
        async with beside(falkordb_uri, other) as (world, _):
            there = Town(world, town.hippocampus)
            await there.fact(f"{ASKED} {ASKED}", 0, 5)
            await there.fact("elsewhere", 5)
            return await town.told(group_ids=None, driver=world.driver)

    texts, _, calls_count = live(falkordb_uri, graph_name, story)
    assert (texts, calls_count) == (["elsewhere"], 1)


def test_reading_them_builds_no_indices(falkordb_uri, graph_name, monkeypatch):
    other, build, builds = f"{graph_name}-b", FalkorDriver.build_indices_and_constraints, []

    async def counted(driver, *args, **options):
        builds.append(driver)
        return await build(driver, *args, **options)

    async def story(town):
        async with beside(falkordb_uri, other) as (world, _):
            there = Town(world, town.hippocampus)
            await there.fact(f"{ASKED} {ASKED}", 0, 5)
            await there.fact("elsewhere", 5)
        asked = {"group_ids": [other]}
        monkeypatch.setattr(FalkorDriver, "build_indices_and_constraints", counted)
        await town.hippocampus.graphiti.search(ASKED, **asked)
        own_count = len(builds)
        texts, _, calls_count = await town.told(**asked)
        return texts, calls_count, len(builds) - own_count, own_count

    texts, calls_count, ours_count, own_count = live(falkordb_uri, graph_name, story)
    assert (texts, calls_count) == (["elsewhere"], 1)
    assert ours_count == own_count


def test_a_filter_decides_alone(falkordb_uri, graph_name):
    async def story(town):
        await town.fact(f"{ASKED} {ASKED}", 0, 5)
        await town.fact("elsewhere", 5)
        narrow = {"search_filter": SearchFilters(edge_types=["LIVES_IN"])}
        ours = await town.told(**narrow)
        config = EDGE_HYBRID_SEARCH_RRF.model_copy(update={"limit": 1})
        high = config.model_copy(update={"reranker_min_score": 0.5})
        asked = {"query": ASKED, "group_ids": [town.graph]}
        full = await town.hippocampus.search_(config=config, **asked, **narrow)
        strict = await town.hippocampus.search_(config=high, **asked)
        return ours[0], full.edges, strict.edges

    assert live(falkordb_uri, graph_name, story) == ([], [], [])


@pytest.mark.parametrize("recipe", [EDGE_HYBRID_SEARCH_RRF, COMBINED_HYBRID_SEARCH_CROSS_ENCODER])
def test_the_full_search_tells_it_as_well(falkordb_uri, graph_name, recipe):
    async def story(town):
        await town.fact(f"{ASKED} {ASKED}", 0, 5)
        await town.fact("elsewhere", 5)
        config, asked = recipe.model_copy(update={"limit": 1}), {"group_ids": [town.graph]}
        found = await town.hippocampus.search_(ASKED, config, **asked)
        calls_count = town.calls_count
        nodes = await town.hippocampus.search_(ASKED, NODE_HYBRID_SEARCH_RRF, **asked)
        everything = await town.hippocampus.search_(ASKED, config, **asked, include_superseded=True)
        return found, calls_count, nodes, everything

    found, calls_count, nodes, everything = live(falkordb_uri, graph_name, story)
    assert ([edge.fact for edge in found.edges], calls_count) == (["elsewhere"], 1)
    assert found.edge_reranker_scores == [0.0]
    assert "replaced" in found.edge_recalls[0].why
    assert (nodes.edges, nodes.edge_recalls) == ([], [])
    assert [edge.fact for edge in everything.edges] == [f"{ASKED} {ASKED}"]


@pytest.mark.parametrize("error", [StoreUnreachable("no store"), ValueError("no sense")])
def test_without_a_store_the_search_goes_on_as_before(falkordb_uri, graph_name, monkeypatch, error):
    async def story(town):
        await town.fact(f"{ASKED} {ASKED}", 0, 5)
        await town.fact("elsewhere", 5)
        await town.fact(f"far from the {ASKED}", 0, whose="Bob")

        def broken(*_args):
            raise error

        monkeypatch.setattr(town.hippocampus._store, "read_subjects", broken)
        return await town.told()

    texts, recalls, calls_count = live(falkordb_uri, graph_name, story, {type(error).__name__: 1})
    assert calls_count > 1
    assert texts == [f"far from the {ASKED}"]
    assert not any("replaced" in recall.why for recall in recalls)


ODD = 'it\'s "odd" \\ `{$uuid}` \t\x1f\x1e é 猫 '


def test_whatever_a_uuid_or_a_name_is_made_of(falkordb_uri, graph_name):
    async def story(town):
        await town.node("Ann", uuid=f"{ODD}a")
        await town.fact(f"{ASKED} {ASKED}", 0, 5, uuid=f"{ODD}1", relation=ODD)
        await town.node("place of elsewhere", uuid=f"{ODD}b")
        await town.fact("elsewhere", 5, uuid=f"{ODD}2", relation=ODD)
        await town.fact(f"{ASKED} {ASKED} Bob", 0, 5, whose="Bob", relation="")
        await town.fact("nowhere", 5, whose="Bob", relation="")
        return await town.told(2)

    texts, recalls, calls_count = live(falkordb_uri, graph_name, story)
    assert (sorted(texts), calls_count) == (["elsewhere", "nowhere"], 1)
    assert f"{ODD}2" in [recall.uuid for recall in recalls]


def test_values_that_replaced_each_other_in_a_circle_lead_nowhere(falkordb_uri, graph_name):
    async def story(town):
        await town.fact(f"{ASKED} {ASKED}", 0, 5)
        await town.fact("elsewhere", 5, 0)
        await town.fact("at no time", 5, 5)
        return await town.told()

    texts, _, _ = live(falkordb_uri, graph_name, story)
    assert texts == []


@pytest.mark.parametrize(
    ("at", "texts"),
    [
        (datetime.max, ["elsewhere"]), (day(6).replace(tzinfo=None), ["elsewhere"]),
        (day(6).astimezone(timezone(timedelta(hours=14))), ["elsewhere"]),
        (day(5), ["elsewhere"]), (day(5) - timedelta(microseconds=1), [f"{ASKED} {ASKED}"]),
        (datetime.min, []),
    ],
)  # fmt: skip
def test_the_moment_asked_about_decides(falkordb_uri, graph_name, at, texts):
    async def story(town):
        await town.fact(f"{ASKED} {ASKED}", 0, 5)
        await town.fact("elsewhere", 5)
        return await town.told(at=at)

    assert live(falkordb_uri, graph_name, story)[0] == texts


def test_dates_that_are_none_replace_nothing(falkordb_uri, graph_name):
    async def story(town):
        await town.fact(f"{ASKED} {ASKED}", 0, 5)
        uuid = await town.fact("elsewhere", 5)
        await town.world.cypher(
            "MATCH ()-[e:RELATES_TO {uuid: $uuid}]->() SET e.valid_at = 'soon', e.created_at = ''",
            uuid=uuid,
        )
        return await town.told()

    assert live(falkordb_uri, graph_name, story)[0] == []


def test_a_broken_fact_hides_no_other_replacement(falkordb_uri, graph_name):
    async def story(town):
        for number in range(4):
            await town.fact(f"{ASKED} {ASKED} {number}", 0, 5, whose=f"P{number}")
            ends = await town.node(f"P{number}"), "LIVES_IN", await town.node("a place")
            new = await town.world.fact(*ends, f"elsewhere {number}", valid_at=day(6))
            beside = await town.world.fact(*ends, f"beside {number}", valid_at=day(9))
            broken, name = [(new, "invalid_at"), (beside, "created_at")][number % 2]
            await town.world.cypher(
                f"MATCH ()-[e:RELATES_TO {{uuid: $uuid}}]->() SET e.{name} = 'some day'",
                uuid=broken.uuid,
            )
        return await town.told(4)

    texts, recalls, _ = live(falkordb_uri, graph_name, story)
    assert sorted(texts) == ["elsewhere 1", "elsewhere 3"]
    assert all("replaced" in recall.why for recall in recalls)


@pytest.mark.parametrize("recipe", [None, EDGE_HYBRID_SEARCH_RRF])
def test_a_search_that_has_an_answer_outlives_the_next_one(falkordb_uri, graph_name, recipe):
    async def story(town):
        await town.fact(f"{ASKED} {ASKED}", 0, 5)
        await town.fact(f"{ASKED} {ASKED} now", 0, whose="Bob")
        search = town.hippocampus.graphiti.search_

        @wraps(search)
        async def once(*args, **options):
            if town.calls_count:
                raise ValueError("no more")
            return await search(*args, **options)

        town.hippocampus.graphiti.search_ = once
        if recipe is None:
            return (await town.told(2))[0]
        config = recipe.model_copy(update={"limit": 2})
        found = await town.hippocampus.search_(ASKED, config, group_ids=[town.graph])
        return [edge.fact for edge in found.edges]

    told = live(falkordb_uri, graph_name, story, {"ValueError": 2})
    assert told == [f"{ASKED} {ASKED} now"]


def test_what_goes_while_it_is_looked_up_is_not_told(falkordb_uri, graph_name, monkeypatch):
    async def story(town):
        for whose in ("Ann", "Bob"):
            await town.fact(f"{ASKED} {ASKED} {whose}", 0, 5, whose=whose)
            await town.fact(f"elsewhere {whose}", 5, whose=whose, uuid=f"new of {whose}")
        store = town.hippocampus._store
        read = store.read_subjects

        def read_and_delete(*args):
            known = read(*args)
            store._connection.execute_command(
                "GRAPH.QUERY", graph_name,
                "MATCH ()-[e:RELATES_TO {uuid: 'new of Ann'}]->() DELETE e",
            )  # fmt: skip
            return known

        monkeypatch.setattr(store, "read_subjects", read_and_delete)
        return await town.told(2)

    texts, (recall,), _ = live(falkordb_uri, graph_name, story)
    assert (texts, recall.uuid) == (["elsewhere Bob"], "new of Bob")


def test_a_search_that_has_none_says_so(falkordb_uri, graph_name):
    async def story(town):
        uuid = await town.fact(f"{ASKED} {ASKED}", 0, 5)
        await town.world.cypher(
            "MATCH ()-[e:RELATES_TO {uuid: $uuid}]->() SET e.valid_at = 'some day'", uuid=uuid
        )
        with pytest.raises(ValueError, match="some day"):
            await town.told()

    live(falkordb_uri, graph_name, story)


def test_many_results_left_out_are_replaced_each_once(falkordb_uri, graph_name):
    async def story(town):
        for number in range(30):
            await town.fact(f"{ASKED} {ASKED} {number}", number, number + 1)
        await town.fact("elsewhere", 30)
        return await town.told(30)

    texts, _, _ = live(falkordb_uri, graph_name, story)
    assert texts == ["elsewhere"]
