"""Two entities of one name: what is told says which of them it is about."""

import pytest

pytest.importorskip("graphiti_core")

from synapse.hippocampus.context import ACTIVE_TITLE, NAMESAKES_TITLE
from tests.integrations.test_hippocampus import beside, day, run


def told(uri, graph, about, names=("Ann", "Ann"), **options):
    """The block about a name that is given to several entities, each with a home of its own."""

    async def story():
        async with beside(uri, graph) as (world, hippocampus):
            for number, name in enumerate(names):
                entity = await world.entity(name, created_at=day(number))
                place = await world.entity(f"Town {number}")
                episode = await world.bare_episode(f"{name}.", day(number))
                await world.fact(
                    entity, "LIVES_IN", place, f"{name} lives in Town {number}",
                    valid_at=day(number), created_at=day(number), episodes=[episode.uuid],
                )  # fmt: skip
            block = await hippocampus.context(about, group_id=graph, **options)
            return block, dict(hippocampus.aside.failures)

    block, failures = run(story())
    assert failures == {}
    return block


def test_the_facts_of_both_are_told_and_told_apart(falkordb_uri, graph_name):
    assert told(falkordb_uri, graph_name, "Ann").splitlines() == [
        NAMESAKES_TITLE,
        ACTIVE_TITLE,
        '- [2 of 2] "Ann lives in Town 1" (since 2026-01-06)',
        '- [1 of 2] "Ann lives in Town 0" (since 2026-01-05)',
    ]


def test_the_oldest_is_the_first_whichever_was_stored_first(falkordb_uri, graph_name):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            for number in (2, 0, 1):
                entity = await world.entity("Ann", created_at=day(number))
                place = await world.entity(f"Town {number}")
                await world.fact(entity, "LIVES_IN", place, f"Ann lives in Town {number}")
            return await hippocampus.context("Ann", group_id=graph_name)

    assert sorted(run(story()).splitlines()[2:]) == [
        f'- [{number + 1} of 3] "Ann lives in Town {number}"' for number in range(3)
    ]


def test_a_question_that_finds_both_tells_them_apart(falkordb_uri, graph_name):
    block = told(falkordb_uri, graph_name, "where does Ann live?")
    assert block.startswith(NAMESAKES_TITLE)
    assert {"[1 of 2]", "[2 of 2]"} <= {line[2:10] for line in block.splitlines()}


def test_another_groups_entity_in_the_same_graph_is_not_told(falkordb_uri, graph_name):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            for group in (graph_name, "others"):
                ann = await world.entity("Ann", group_id=group)
                place = await world.entity(f"Town of {group}", group_id=group)
                await world.fact(
                    ann, "LIVES_IN", place, f"Ann lives in the town of {group}", group_id=group
                )
            return [await hippocampus.context("Ann", group_id=g) for g in (graph_name, None)]

    own, everything = run(story())
    assert own.splitlines() == [ACTIVE_TITLE, f'- "Ann lives in the town of {graph_name}"']
    assert everything.startswith(NAMESAKES_TITLE)
    assert "town of others" in everything


def test_upper_and_lower_case_alone_are_two_of_one_name(falkordb_uri, graph_name):
    block = told(falkordb_uri, graph_name, "ANN", ["Ann", "ann"])
    assert block.count(" of 2]") == 2


def test_one_of_a_name_has_no_number(falkordb_uri, graph_name):
    block = told(falkordb_uri, graph_name, "Ann", ["Ann", "Bob"])
    assert block.splitlines() == [ACTIVE_TITLE, '- "Ann lives in Town 0" (since 2026-01-05)']


@pytest.mark.parametrize("max_tokens", [0, 10, 20, 30])
def test_a_small_budget_tells_less_and_never_one_for_both(falkordb_uri, graph_name, max_tokens):
    block = told(falkordb_uri, graph_name, "Ann", max_tokens=max_tokens)
    assert len(block) <= 4 * max_tokens
    assert not block or block.startswith(NAMESAKES_TITLE)
