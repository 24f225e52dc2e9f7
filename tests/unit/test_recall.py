"""Recall sets, and what they add up to."""

from __future__ import annotations

import math
from functools import reduce
from itertools import permutations
from typing import Any

import pytest

from synapse.errors import UsageError
from synapse.hippocampus.co_recall import PARTNERS_COUNT, PARTNERS_MAX_COUNT, pairs
from synapse.hippocampus.recall import (
    OTHER_SOURCES,
    PAIRED_RANKS_COUNT,
    RECENT_MAX_COUNT,
    SOURCES_MAX_COUNT,
    RecallProfile,
    RecallSet,
    fold,
)

HOUR_S, DAY_S = 3600.0, 86_400.0


def recalled(*uuids: str, at_s: float = 0.0, **more: Any) -> RecallSet:
    ranks = tuple((uuid, rank) for rank, uuid in enumerate(uuids, 1))
    return RecallSet(ranks, **{"source": "search", "at_s": at_s, **more})


def test_a_profile_tells_how_a_memory_was_recalled() -> None:
    log = [
        recalled("a", "b", at_s=0.0),
        recalled("b", "a", at_s=DAY_S, source="person"),
        recalled("c", "d", "a", at_s=DAY_S + HOUR_S),
        recalled("a", at_s=2 * DAY_S, asked=False),
    ]
    profile = fold({}, {}, log)[0]["a"]
    assert profile == RecallProfile(
        search_count=3,
        rank_sum=1 + 2 + 3,
        top1_count=1,
        exposure_count=1,
        sources={"search": 2, "person": 1},
        first_s=0.0,
        latest_s=DAY_S + HOUR_S,
        recent_s=(0.0, DAY_S, DAY_S + HOUR_S),
        recent_ranks=(1, 2, 3),
    )
    assert profile.average_rank == 2.0
    assert profile.total_count == 2
    assert profile.last_s == DAY_S + HOUR_S


@pytest.mark.parametrize(("apart_s", "counted"), [(0.0, 1), (DAY_S - 1.0, 1), (DAY_S, 2)])
@pytest.mark.parametrize("late", [False, True])
def test_24_hours_are_looked_at_in_both_directions(
    apart_s: float, counted: int, late: bool
) -> None:
    log = [recalled("a", at_s=9 * DAY_S), recalled("a", at_s=9 * DAY_S + apart_s)]
    profile = fold({}, {}, log[::-1] if late else log)[0]["a"]
    assert (profile.total_count, profile.search_count) == (counted, 2)


def test_a_loop_of_questions_counts_once_a_day() -> None:
    log = [recalled("a", "b", at_s=60.0 * minute) for minute in range(3 * 24 * 60)]
    profiles, links = fold({}, {}, log)
    assert profiles["a"].total_count == 3
    assert links["a"]["b"].times_count == links["b"]["a"].times_count == 3


def test_the_newest_hours_are_kept_and_older_ones_stay_out() -> None:
    count = RECENT_MAX_COUNT + 10
    log = [recalled("a", at_s=day * DAY_S) for day in range(count)]
    profiles, links = fold({}, {}, log)
    assert profiles["a"].total_count == RECENT_MAX_COUNT
    assert profiles["a"].first_s == 0.0
    assert profiles["a"].recent_s == tuple(r.at_s for r in log[-RECENT_MAX_COUNT:])
    again = fold(profiles, links, log)[0]["a"]
    assert again.recent_s == profiles["a"].recent_s


def test_which_recalls_count_does_not_depend_on_which_came_first() -> None:
    log = [recalled("a", at_s=hour * HOUR_S) for hour in (13.0, 0.0, 25.0)]
    for order in permutations(log):
        one_by_one = reduce(lambda known, each: fold(*known, [each]), order, fold({}, {}, []))
        assert one_by_one[0] == fold({}, {}, log)[0]
        assert one_by_one[0]["a"].total_count == 2


def test_the_last_recall_is_the_latest_that_was_asked_for_whether_it_counts_or_not() -> None:
    hours = (34.0, 0.0, 24.0)
    for known in range(1, len(hours) + 1):
        log = [recalled("a", at_s=hour * HOUR_S + 59.0) for hour in hours[:known]]
        assert fold({}, {}, log)[0]["a"].last_s == 34.0 * HOUR_S + 59.0


def test_an_hour_keeps_its_best_rank() -> None:
    log = [RecallSet((("a", rank),), "search", 60.0 * rank) for rank in (5, 2, 7)]
    profile = fold({}, {}, log)[0]["a"]
    assert (profile.recent_s, profile.recent_ranks, profile.rank_sum) == ((0.0,), (2,), 14)


def test_a_memory_named_twice_in_a_set_counts_once_with_its_best_rank() -> None:
    twice = RecallSet((("a", 5), ("b", 2), ("a", 1)), "search", 0.0)
    profile = fold({}, {}, [twice])[0]["a"]
    assert (profile.search_count, profile.rank_sum, profile.top1_count) == (1, 1, 1)


def test_only_the_best_ranked_memories_of_a_set_are_paired() -> None:
    uuids = [f"m{number:04}" for number in range(1000)]
    links = fold({}, {}, [recalled(*uuids)])[1]
    assert set(links) == set(uuids[:PAIRED_RANKS_COUNT])
    assert len(pairs(links)) == PAIRED_RANKS_COUNT * (PAIRED_RANKS_COUNT - 1) // 2


def test_firm_partners_outlast_passing_ones() -> None:
    firm = [recalled("a", "firm", at_s=day * DAY_S) for day in range(10)]
    passing = [recalled("a", f"p{n:03}", at_s=(10 + n) * DAY_S) for n in range(3 * PARTNERS_COUNT)]
    partners = fold({}, {}, [*firm, *passing])[1]["a"]
    assert partners["firm"].times_count == 10
    assert len(partners) <= PARTNERS_MAX_COUNT
    assert f"p{3 * PARTNERS_COUNT - 1:03}" in partners
    assert "p000" not in partners


def test_a_pair_that_one_side_dropped_goes_on_where_the_other_side_left_off() -> None:
    log = [recalled("hub", "quiet", at_s=0.0)]
    log += [recalled("hub", f"p{n:03}", at_s=n * DAY_S) for n in range(1, PARTNERS_MAX_COUNT + 5)]
    profiles, links = fold({}, {}, log)
    assert "quiet" not in links["hub"]
    links = fold(profiles, links, [recalled("hub", "quiet", at_s=400 * DAY_S)])[1]
    assert links["hub"]["quiet"].times_count == links["quiet"]["hub"].times_count == 2


def test_the_sources_of_a_memory_are_bounded() -> None:
    log = [recalled("a", source=f"s{number}") for number in range(SOURCES_MAX_COUNT + 3)]
    sources = fold({}, {}, log)[0]["a"].sources
    assert len(sources) == SOURCES_MAX_COUNT + 1
    assert sources[OTHER_SOURCES] == 3


def test_recalls_per_day_compare_a_week_with_a_month() -> None:
    now_s = 100 * DAY_S
    ever = fold({}, {}, [recalled("a", at_s=day * DAY_S) for day in range(100)])[0]["a"]
    assert ever.per_day(now_s, 7.0) == ever.per_day(now_s, 30.0) == 1.0
    faster = fold({}, {}, [recalled("a", at_s=(95 + day) * DAY_S) for day in range(3)])[0]["a"]
    assert faster.per_day(now_s, 7.0) == 3.0 / 7.0
    assert faster.per_day(now_s, 30.0) == 0.1
    assert faster.per_day(now_s + 90 * DAY_S, 30.0) == RecallProfile().per_day(now_s, 30.0) == 0.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"at_s": math.nan},
        {"at_s": math.inf},
        {"at_s": -1.0},
        {"at_s": 1e18},
        {"at_s": "today"},
        {"at_s": True},
        {"at_s": None},
        {"source": ""},
        {"source": "x" * 1001},
        {"source": None},
        {"ranks": (("a", 0),)},
        {"ranks": (("a", -3),)},
        {"ranks": (("a", 1.5),)},
        {"ranks": (("a", math.nan),)},
        {"ranks": (("a", True),)},
        {"ranks": (("a", "1"),)},
        {"ranks": (("a", 10**9),)},
        {"ranks": (("", 1),)},
        {"ranks": ((7, 1),)},
        {"ranks": (("x" * 1001, 1),)},
        {"ranks": tuple((f"m{n}", 1) for n in range(1001))},
    ],
)
def test_what_no_recall_can_have_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as refusal:
        RecallSet(**{"ranks": (("a", 1),), "source": "search", "at_s": 0.0, **wrong})
    assert len(str(refusal.value)) < 130
