"""What people, other clients and dead servers can do to the memory beside Graphiti."""

import asyncio
import time
from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import redis.asyncio

pytest.importorskip("graphiti_core")

from synapse.errors import StoreError, StoreUnreachable, UsageError
from synapse.hippocampus.context import ActiveFact, Change, context_block
from synapse.hippocampus.gate import TURN_CHARACTERS_MAX, QuestionGate
from synapse.integrations.graph_names import server_uri
from synapse.integrations.graphiti import Hippocampus
from tests.integrations.test_hippocampus import NOW_S, beside, day, run
from tests.support.graphiti_world import Fact, graphiti_world
from tests.support.processes import kill

PIECES = ["and, ", "?", "! ", "mr. ", "a.b.", "...", " (", "`", "```", "how many ", "x and ",
          '?"', "i was wondering ", "so, well, ", "\u202e?", "\0", "\ud800", "if "]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_the_longest_turn_is_split_in_a_moment(piece):
    turn = piece * (TURN_CHARACTERS_MAX // len(piece))
    before_s = time.process_time()
    QuestionGate().split(turn)
    block = context_block([ActiveFact(turn)], [Change(turn, turn)])
    assert time.process_time() - before_s < 5.0  # it took minutes where time grew with the square
    assert len(block.encode()) < 6_000


@pytest.mark.parametrize("end", ["", "\u202c", "\u200f", "\u200b", "\ufeff", '"\u2069'])
def test_invisible_characters_hide_no_question(end):
    turn = QuestionGate().split(f"\u202eAnn lives in Oslo?{end} \u200fBob lives in Rome.")
    assert turn.statements == ("\u200fBob lives in Rome.",)


@pytest.mark.parametrize("text", ["nul\0", "half \ud800"])
def test_what_no_graph_can_hold_is_refused_in_words(falkordb_uri, graph_name, store, text):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            for said in [(text, "R", "o"), ("s", text, "o"), ("s", "R", text)]:
                with pytest.raises(UsageError, match="plain text"):
                    await hippocampus.believe(*said, group_id=graph_name)
            return await hippocampus.context(text, group_id=graph_name)

    assert run(story()) == ""
    assert len(store.read_graph(graph_name).entities) == 0


NO_MOMENTS = [
    datetime.max, datetime.min, datetime(1, 6, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC),
    datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))), "2026-01-05", 1.7e9, float("nan"),
    date(2026, 1, 5),
]  # fmt: skip


def test_what_is_no_moment_is_refused_in_words(falkordb_uri, graph_name, store):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            for moment in NO_MOMENTS:
                with pytest.raises(UsageError, match="leave it out") as refused:
                    await hippocampus.believe("Ann", "LIVES_IN", "Oslo", valid_at=moment)
                assert len(str(refused.value)) < 130
            for moment in NO_MOMENTS[5:]:
                for ask in (hippocampus.context, hippocampus.search, hippocampus.search_):
                    with pytest.raises(UsageError, match="at must be a datetime"):
                        await ask("Ann", at=moment)

    run(story())
    assert len(store.read_graph(graph_name).entities) == 0


def test_the_ends_of_time_are_moments_to_ask_about(falkordb_uri, graph_name):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            await hippocampus.believe(
                "Ann", "LIVES_IN", "Oslo", valid_at=datetime(2026, 1, 5), group_id=graph_name
            )
            return [
                await hippocampus.context("Ann", at=moment, group_id=graph_name)
                for moment in NO_MOMENTS[:5]
            ]

    told = ["Oslo" in block for block in run(story())]
    assert told == [True, False, False, True, True]


def test_two_that_believe_at_once_agree(falkordb_uri, graph_name, store):
    async def story():
        async with graphiti_world(falkordb_uri, graph_name) as world:
            both = [Hippocampus(world.graphiti, clock=lambda: NOW_S) for _ in range(2)]
            told = [
                both[n % 2].believe("Ann", "LIVES_IN", f"City {n // 2}", group_id=graph_name,
                                    valid_at=day(n // 2))
                for n in range(8)
            ]  # fmt: skip
            await asyncio.gather(*told)
            for hippocampus in both * 2:
                await hippocampus.close()

    run(story())
    graph = store.read_graph(graph_name)
    assert sorted(graph.entities.name) == ["Ann", *(f"City {n}" for n in range(4))]
    holding = [row for row, end in enumerate(graph.facts.invalid_at_s) if end != end]
    assert [graph.entities.name[graph.facts.target[row]] for row in holding] == ["City 3"]
    assert len(graph.facts) == 4


def test_a_store_that_dies_fails_nobody_and_loses_no_recall(
    falkordb_uri, graph_name, new_server, short_folder, caplog
):
    aside = new_server(short_folder / "own")

    async def story():
        async with graphiti_world(falkordb_uri, graph_name) as world:
            hippocampus = Hippocampus(world.graphiti, uri=aside.uri)
            kill(aside)
            with pytest.raises(StoreUnreachable):
                Hippocampus(world.graphiti, uri=aside.uri)
            world.graphiti, answers = hippocampus, []
            for number in range(3):
                fact = Fact("Ann", "VISITS", f"City {number}", f"Ann visits City {number}")
                result = await world.episode(f"{fact.text}.", day(number), [fact])
                found = await hippocampus.search("Ann visits", group_ids=[graph_name])
                answers.append((len(result.edges), result.surprises, len(found)))
            aside.start()
            assert await hippocampus.flush()
            status = await hippocampus.status(graph_name)
            await hippocampus.close()
            return answers, status

    answers, status = run(story())
    assert answers == [(1, [], 1), (1, [], 2), (1, [], 3)]
    assert (status["recalls"], status["lost_recalls"]) == (3, 0)
    assert status["failures"]["StoreUnreachable"] >= 6
    assert sum(record.name == "synapse" for record in caplog.records) == 1


def test_without_a_store_the_block_is_empty_and_the_rest_says_so(
    falkordb_uri, graph_name, new_server, short_folder, caplog
):
    aside = new_server(short_folder / "own")

    async def story():
        async with graphiti_world(falkordb_uri, graph_name) as world:
            await world.episode("Ann.", day(0), [Fact("Ann", "VISITS", "Oslo", "Ann visits Oslo")])
            hippocampus = Hippocampus(world.graphiti, uri=aside.uri)
            kill(aside)
            blocks = [await hippocampus.context(about) for about in ("Ann", "who visits Oslo?")]
            outcome = await hippocampus.consolidate(graph_name)
            with pytest.raises(StoreUnreachable) as explained:
                await hippocampus.explain("Ann", graph_name)
            with pytest.raises(StoreUnreachable) as believed:
                await hippocampus.believe("Ann", "VISITS", "Rome", group_id=graph_name)
            status = await hippocampus.status(graph_name)
            await hippocampus.close()
            return blocks, outcome, status, explained, believed

    blocks, outcome, status, explained, believed = run(story())
    assert blocks == ["", ""]
    assert (outcome.report.status, type(outcome.error)) == ("failed", StoreUnreachable)
    assert (status["traces"], status["recalls"], status["last_run"]) == (None, None, None)
    assert status["failures"] == {"StoreUnreachable": 2}
    for sentence in (outcome.report.error, status["problem"], explained.value, believed.value):
        assert len(str(sentence).splitlines()[0]) < 130
        assert "own" in str(sentence)
    assert sum(record.name == "synapse" for record in caplog.records) == 1


def test_recalls_outlive_the_event_loop(falkordb_uri, graph_name, store):
    async def searched():
        async with graphiti_world(falkordb_uri, graph_name) as world:
            await world.episode("Ann.", day(0), [Fact("Ann", "VISITS", "Oslo", "Ann visits Oslo")])
            hippocampus = Hippocampus(world.graphiti)
            for _ in range(20):
                await hippocampus.search("Ann visits", group_ids=[graph_name])
            return hippocampus

    hippocampus = run(searched())
    run(hippocampus.close())
    assert store.summarize_room(graph_name).recalls_count == 20


def test_what_is_no_result_is_counted_and_fails_nobody(falkordb_uri, graph_name, caplog):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            fact = Fact("Ann", "VISITS", "Oslo", "Ann visits Oslo")
            result = await world.episode("Ann visits Oslo.", day(0), [fact])
            strange = [
                None, 5, "x", {}, result.model_dump(), [], (1, 2), SimpleNamespace(), object(),
                SimpleNamespace(episode=result.episode, edges=None),
                SimpleNamespace(episode=result.episode, edges=[None]),
            ]  # fmt: skip
            noticed = [await hippocampus.observe(one) for one in strange]
            loose = SimpleNamespace(episode=None, episodes=None, edges=result.edges)
            loose = [
                await hippocampus.observe(loose),
                await hippocampus.observe(SimpleNamespace(**vars(result))),
            ]
            return noticed, loose, await hippocampus.status(graph_name)

    noticed, loose, status = run(story())
    assert noticed == [[]] * 11
    assert [len(found) for found in loose] == [1, 1]
    assert status["failures"] == {"UsageError": 10, "AttributeError": 1}
    assert sum(record.name == "synapse" for record in caplog.records) == 2


def test_a_graph_that_is_not_there_is_named(falkordb_uri, graph_name):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            return await hippocampus.status("nobody_has_this")

    assert "no graph 'nobody_has_this'" in run(story())["problem"]


def test_after_the_close_search_goes_on(falkordb_uri, graph_name):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            fact = Fact("Ann", "VISITS", "Oslo", "Ann visits Oslo")
            result = await world.episode("Ann visits Oslo.", day(0), [fact])
            await hippocampus.close()
            found = await hippocampus.search("Ann visits", group_ids=[graph_name])
            noticed = await hippocampus.observe(result)
            block = await hippocampus.context("Ann", group_id=graph_name)
            with pytest.raises(StoreError, match="closed"):
                await hippocampus.believe("Ann", "VISITS", "Rome", group_id=graph_name)
            return found, noticed, block, await hippocampus.status(graph_name)

    found, noticed, block, status = run(story())
    assert (len(found), noticed, block) == (1, [], "")
    assert status["lost_recalls"] == 1
    assert "closed" in status["problem"]


@pytest.mark.parametrize("thing", [None, 5, b"Ann", ["Ann"]])
def test_what_is_no_text_is_refused_in_words(falkordb_uri, graph_name, thing):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            for said in [(thing, "R", "o"), ("s", thing, "o"), ("s", "R", thing)]:
                with pytest.raises(UsageError, match="must be text, not"):
                    await hippocampus.believe(*said, group_id=graph_name)
            with pytest.raises(UsageError, match="fact must be text"):
                await hippocampus.believe("s", "R", "o", fact=thing or 0, group_id=graph_name)
            for tell in (hippocampus.hear, hippocampus.context, hippocampus.explain):
                with pytest.raises(UsageError, match="must be text, not"):
                    await tell(thing, group_id=graph_name)
            if thing is not None:  # the driver's own graph
                for tell in (
                    hippocampus.consolidate, hippocampus.status,
                    partial(hippocampus.context, "Ann"), partial(hippocampus.explain, "Ann"),
                ):  # fmt: skip
                    with pytest.raises(UsageError, match="group_id must be text, not"):
                        await tell(group_id=thing)

    run(story())


@pytest.mark.parametrize("group_id", ["team a", "*", "a\0b", "a/b", "team\n", 5, "x" * 99 + "!"])
def test_a_group_that_graphiti_never_searches_is_refused(falkordb_uri, graph_name, store, group_id):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            with pytest.raises(UsageError, match="no group of Graphiti's") as refused:
                await hippocampus.believe("Ann", "LIVES_IN", "Oslo", group_id=group_id)
            return refused.value

    before = store.graphs()
    assert len(str(run(story()))) < 130
    assert set(store.graphs()) <= {*before, graph_name}


def test_blanks_around_a_name_are_not_part_of_it(falkordb_uri, graph_name, store):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            await hippocampus.believe("Ann", "LIVES_IN", "Oslo", group_id=graph_name)
            again = await hippocampus.believe(
                " Ann\n", " LIVES_IN", "Oslo ", fact="  ", group_id=graph_name
            )
            rocket = await hippocampus.believe("Ann", "🚀", "Moon", fact=" ", group_id=graph_name)
            bug = await hippocampus.believe("Ann", "🐛", "Moon", group_id=graph_name)
            return again, rocket, bug

    again, rocket, bug = run(story())
    assert (again.outcome, rocket.outcome, bug.outcome) == ("confirmed", "new", "new")
    graph = store.read_graph(graph_name)
    assert sorted(graph.entities.name) == ["Ann", "Moon", "Oslo"]
    assert sorted(graph.facts.text) == ["Ann lives in Oslo", "Ann 🐛 Moon", "Ann 🚀 Moon"]


@pytest.mark.parametrize("said", ["_?", "\x7f?", "Where is Ann\ud800?", "Where is Ann\0?"])
def test_a_turn_that_the_search_refuses_leaves_the_block_empty(falkordb_uri, graph_name, said):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            await hippocampus.believe("Ann", "LIVES_IN", "Oslo", group_id=graph_name)
            block = await hippocampus.context(said, group_id=graph_name)
            failures = (await hippocampus.status(graph_name))["failures"]
            heard = None
            if "Ann" in said:
                heard = (await hippocampus.hear(said, group_id=graph_name)).recalled
            return block, failures, heard

    block, failures, heard = run(story())
    if heard is None:
        assert (block, failures) == ("", {"ResponseError": 1})
    else:
        assert failures == {}
        assert "Ann lives in Oslo" in block
        assert [edge.fact for edge in heard] == ["Ann lives in Oslo"]


NO_COUNTS = [None, "5", 5.0, float("nan"), float("inf"), True, -1, -(10**9), [5]]


@pytest.mark.parametrize("count", NO_COUNTS)
def test_what_is_no_count_is_refused_in_words(falkordb_uri, graph_name, store, count):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            in_group = {"group_id": graph_name}
            for ask in (
                partial(hippocampus.search, "Where is Ann?", num_results=count),
                partial(hippocampus.search, "Where is Ann?", expand=count),
                partial(hippocampus.context, "Ann", max_tokens=count, **in_group),
                partial(hippocampus.context, "Ann", num_results=count, **in_group),
                partial(hippocampus.hear, "Ann is ill.", num_results=count, **in_group),
            ):
                with pytest.raises(UsageError, match="must be a whole number from 0 up") as refused:
                    await ask()
                assert len(str(refused.value)) < 130
            assert not (await hippocampus.status(graph_name))["failures"]

    before = store.graphs()
    run(story())
    assert set(store.graphs()) <= {*before, graph_name}
    assert len(store.read_graph(graph_name).episodes) == 0


@pytest.mark.parametrize(
    "groups", [5, b"ab", {"a": 1}, True, [5], [None], [["a"]], ["a", b"b"], [""]]
)
def test_groups_that_are_no_names_are_refused_in_words(falkordb_uri, graph_name, store, groups):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            for search in (hippocampus.search, hippocampus.search_):
                with pytest.raises(UsageError, match=r"group_ids (must be .*, not|is empty)"):
                    await search("Ann", group_ids=groups)
            for search in (hippocampus.search, hippocampus.search_):
                with pytest.raises(UsageError, match="query must be text, not"):
                    await search(groups)
            with pytest.raises(UsageError, match="group_id must be text, not"):
                await hippocampus.hear("Ann is ill.", group_id=groups)

    before = store.graphs()
    run(story())
    assert set(store.graphs()) <= {*before, graph_name}


def test_counts_and_groups_of_other_kinds_that_mean_the_same_are_taken(falkordb_uri, graph_name):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            await hippocampus.believe("Ann", "LIVES_IN", "Oslo", group_id=graph_name)
            told = [
                await hippocampus.search("Ann", group_ids=groups, num_results=np.int64(3))
                for groups in ([graph_name], (graph_name,), {graph_name}, iter([graph_name]))
            ]
            none = await hippocampus.search("Ann", group_ids=[graph_name], num_results=0)
            many = await hippocampus.search("Ann", group_ids=[graph_name], num_results=10**6)
            block = await hippocampus.context("Ann", group_id=graph_name, max_tokens=0)
            return [len(found) for found in (*told, none, many)], block

    assert run(story()) == ([1, 1, 1, 1, 0, 1], "")


def test_a_group_named_as_a_text_is_refused_before_it_makes_graphs(falkordb_uri, graph_name, store):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            for search in (hippocampus.search, hippocampus.search_):
                with pytest.raises(UsageError, match=r"list of names; write \['xyz'\]"):
                    await search("Ann", group_ids="xyz")

    before = store.graphs()
    run(story())
    assert set(store.graphs()) <= {*before, graph_name}


def test_the_empty_name_is_the_drivers_own_graph_everywhere(falkordb_uri, graph_name):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            await hippocampus.believe("Ann", "LIVES_IN", "Oslo", group_id="")
            asked = "Where does Ann live?"
            return await hippocampus.context(asked, group_id=""), (
                await hippocampus.hear(asked, group_id="")
            ).recalled

    block, recalled = run(story())
    assert "Ann lives in Oslo" in block
    assert [edge.fact for edge in recalled] == ["Ann lives in Oslo"]


@pytest.mark.parametrize(
    ("uri", "known"),
    [
        ("redis://localhost:6380/3", "redis://localhost:6380/3"),
        ("redis://localhost:6380/0", "redis://localhost:6380"),
        ("redis://me:p%40ss@localhost/2", "redis://me:p%40ss@localhost:6379/2"),
        ("unix:///tmp/a.sock?db=2", "unix:///tmp/a.sock?db=2"),
        ("unix:///tmp/a.sock", "unix:///tmp/a.sock"),
    ],
)
def test_the_store_is_where_the_driver_is(uri, known):
    pool = redis.asyncio.ConnectionPool.from_url(uri)
    connection = SimpleNamespace(connection_pool=pool)
    assert server_uri(SimpleNamespace(client=SimpleNamespace(connection=connection))) == known


def test_what_is_noticed_lies_in_the_database_of_the_graph(new_server, short_folder):
    async def story(uri):
        async with graphiti_world(uri, "g") as world:
            hippocampus = Hippocampus(world.graphiti)
            fact = Fact("Ann", "LIVES_IN", "Oslo", "Ann lives in Oslo")
            noticed = await hippocampus.observe(await world.episode("…", day(0), [fact]))
            await hippocampus.close()
            return [one.kind for one in noticed]

    server = new_server()
    assert run(story(f"{server.uri}?db=3")) == ["novel"]
