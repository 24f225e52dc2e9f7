"""Side work never costs Graphiti's own: lanes that cannot wait for each other, and a rest."""

import asyncio
import os
import signal
import threading
from contextlib import contextmanager

import pytest

pytest.importorskip("graphiti_core")

from synapse.errors import StoreError, StoreUnreachable
from synapse.integrations import listening, recaller
from synapse.integrations.aside import OBSERVING, SEARCHING, TELLING, WORKING, Aside, Lane
from synapse.integrations.graphiti import Hippocampus
from tests.integrations.test_hippocampus import beside, day, run
from tests.support.graphiti_world import Fact, graphiti_world


def no_answer():
    raise StoreUnreachable("nobody is there")


def refusal():
    raise StoreError("not like this")


async def fail(aside, lane, work=no_answer, times_count=1):
    for _ in range(times_count):
        with pytest.raises(StoreError):
            await aside.run(lane, work)


@contextmanager
def closing(aside):
    try:
        yield aside
    finally:
        aside.close()


def test_after_three_failures_in_a_row_a_lane_rests_for_half_a_minute():
    now_s = 100.0

    async def story(aside):
        nonlocal now_s
        await fail(aside, OBSERVING, times_count=2)
        assert await aside.run(OBSERVING, int) == 0
        await fail(aside, OBSERVING, times_count=2)
        assert not aside.skips(OBSERVING)
        await fail(aside, OBSERVING)
        assert [aside.skips(OBSERVING), aside.skips(SEARCHING)] == [True, False]
        now_s = 129.9
        assert aside.skips(OBSERVING)
        now_s = 130.0
        assert not aside.skips(OBSERVING)
        await fail(aside, OBSERVING)  # still nobody there: one look was enough
        assert aside.skips(OBSERVING)
        now_s = 160.0
        await aside.run(OBSERVING, int)
        assert not aside.skips(OBSERVING)
        await fail(aside, OBSERVING, times_count=2)
        assert not aside.skips(OBSERVING)
        assert aside.skipped_count == 3

    with closing(Aside(lambda: now_s)) as aside:
        run(story(aside))


def test_a_store_that_answers_with_a_refusal_is_no_reason_to_rest():
    with closing(Aside()) as aside:
        for work in (refusal, no_answer, no_answer, refusal, no_answer, no_answer):
            run(fail(aside, OBSERVING, work))
        assert not aside.skips(OBSERVING)


def test_a_lane_waits_no_longer_than_it_may():
    gate = threading.Event()
    short = Lane(SEARCHING.name, 1, 0.01)

    async def story(aside):
        for _ in range(3):
            with pytest.raises(StoreUnreachable, match=r"within 0\.01 s") as late:
                await aside.run(short, gate.wait)
            assert len(str(late.value)) < 130
        assert aside.skips(SEARCHING)
        gate.set()
        assert await aside.run(WORKING, int) == 0

    with closing(Aside()) as aside:
        run(story(aside))


def test_a_search_waits_for_no_other_side_work(falkordb_uri, graph_name, store):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            await world.episode("Ann.", day(0), [Fact("Ann", "VISITS", "Oslo", "Ann visits Oslo")])
            assert store.acquire_lock(graph_name, "somebody else", 60.0)
            gate = threading.Event()
            busy = [
                asyncio.ensure_future(hippocampus.aside.run(lane, gate.wait))
                for lane in (WORKING, OBSERVING, TELLING)
                for _ in range(lane.threads_count + 4)
            ]
            believing = asyncio.ensure_future(
                hippocampus.believe("Ann", "VISITS", "Rome", group_id=graph_name)
            )
            found = await hippocampus.search("Ann visits", group_ids=[graph_name])
            is_any_done = any(one.done() for one in (*busy, believing))
            gate.set()
            store.release_lock(graph_name, "somebody else")
            await asyncio.gather(*busy)
            await believing
            return found, is_any_done, dict(hippocampus.aside.failures)

    found, is_any_done, failures = run(story())
    assert [edge.fact for edge in found] == ["Ann visits Oslo"]
    assert not is_any_done
    assert failures == {}


def test_a_store_that_hangs_is_left_alone_for_a_while(
    falkordb_uri, graph_name, new_server, short_folder, monkeypatch
):
    # Far shorter than what the recorder of recalls, which must not fail here, waits for the store.
    monkeypatch.setattr(recaller, "SEARCHING", Lane(SEARCHING.name, SEARCHING.threads_count, 0.2))
    server = new_server(short_folder / "own")

    async def story():
        async with graphiti_world(falkordb_uri, graph_name) as world:
            await world.episode("Ann.", day(0), [Fact("Ann", "VISITS", "Oslo", "Ann visits Oslo")])
            hippocampus = Hippocampus(world.graphiti, uri=server.uri)
            os.kill(server.pid, signal.SIGSTOP)
            try:
                found = [
                    await hippocampus.search("Ann visits", group_ids=[graph_name]) for _ in range(6)
                ]
                failures, skipped_count = dict(hippocampus.aside.failures), (
                    hippocampus.aside.skipped_count
                )  # fmt: skip
            finally:
                os.kill(server.pid, signal.SIGCONT)
            assert await hippocampus.flush()
            status = await hippocampus.status(graph_name)
            await hippocampus.close()
            return found, failures, skipped_count, status

    found, failures, skipped_count, status = run(story())
    assert [len(facts) for facts in found] == [1] * 6
    assert failures == {"StoreUnreachable": 3}
    assert skipped_count == status["skipped"] == 3
    assert (status["recalls"], status["lost_recalls"]) == (6, 0)


def test_episodes_go_on_while_a_store_hangs_and_are_observed_again_later(
    falkordb_uri, graph_name, new_server, short_folder, monkeypatch
):
    monkeypatch.setattr(listening, "OBSERVING", Lane(OBSERVING.name, OBSERVING.threads_count, 0.2))
    server, now_s = new_server(short_folder / "own"), 0.0

    async def story():
        nonlocal now_s
        async with graphiti_world(falkordb_uri, graph_name) as world:
            hippocampus = Hippocampus(world.graphiti, uri=server.uri)
            hippocampus.aside._clock = lambda: now_s
            world.graphiti, results = hippocampus, []
            os.kill(server.pid, signal.SIGSTOP)
            try:
                for number in range(5):
                    fact = Fact("Ann", "VISITS", f"City {number}", f"Ann visits City {number}")
                    results.append(await world.episode(f"{fact.text}.", day(number), [fact]))
            finally:
                os.kill(server.pid, signal.SIGCONT)
            failures, skipped_count = (
                dict(hippocampus.aside.failures),
                hippocampus.aside.skipped_count,
            )
            resting = hippocampus.aside.skips(OBSERVING)
            now_s = 31.0
            await hippocampus.observe(results[0])
            is_over = not hippocampus.aside.skips(OBSERVING)
            await hippocampus.close()
            return results, failures, skipped_count, resting, is_over

    results, failures, skipped_count, resting, is_over = run(story())
    assert [(len(result.edges), result.surprises) for result in results] == [(1, [])] * 5
    assert (failures, skipped_count) == ({"StoreUnreachable": 3}, 2)
    assert resting and is_over


def test_a_prompt_block_does_not_wait_long_for_a_store_that_hangs(
    falkordb_uri, graph_name, new_server, short_folder, caplog
):
    server = new_server(short_folder / "own")

    async def story():
        async with graphiti_world(falkordb_uri, graph_name) as world:
            hippocampus = Hippocampus(world.graphiti, uri=server.uri)
            os.kill(server.pid, signal.SIGSTOP)
            try:
                block = await hippocampus.context("Ann", group_id=graph_name)
                failures = dict(hippocampus.aside.failures)
            finally:
                os.kill(server.pid, signal.SIGCONT)
            await hippocampus.close()
            return block, failures

    assert run(story()) == ("", {"StoreUnreachable": 1})
    assert "within 5 s" in caplog.text
