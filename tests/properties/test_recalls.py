"""Recalls are counted exactly once, whatever the batches, the order and the values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from synapse.hippocampus.co_recall import PARTNERS_MAX_COUNT, CoRecall, pairs
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.recall import (
    RECENT_MAX_COUNT,
    SOURCES_MAX_COUNT,
    RecallSet,
    fold,
    hour_of,
)
from synapse.hippocampus.recalled import Recalled
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.traces import TraceTable
from tests.support.small_graphs import small_graph

DAY_S = 86_400.0
START_S = 1.7e9

memories = st.sampled_from([f"m{number}" for number in range(6)])
ranks = st.lists(st.tuples(memories, st.integers(1, 20)), max_size=8).map(tuple)
# Whole hours meet the bound of 24 hours exactly; a few days make near repetitions likely.
moments = st.one_of(
    st.integers(0, 200).map(lambda hour: START_S + 3600.0 * hour),
    st.floats(START_S, START_S + 9.0 * DAY_S),
)
recall_sets = st.builds(
    RecallSet,
    ranks=ranks,
    source=st.sampled_from(["search", "person"]),
    at_s=moments,
    asked=st.sampled_from([True, True, True, False]),
)
logs = st.lists(recall_sets, max_size=40)


def in_batches(log: Sequence[RecallSet], cuts: Iterable[int]) -> tuple[object, object]:
    """Fold a log in parts that end at the cuts."""
    profiles, links = fold({}, {}, [])
    bounds = [0, *sorted(min(cut, len(log)) for cut in cuts), len(log)]
    for start, end in pairwise(bounds):
        profiles, links = fold(profiles, links, log[start:end])
    return profiles, links


def greedy_count(times_s: Iterable[float]) -> int:
    """How many of the times are counted when each is at least a day after the last counted."""
    count, last_s = 0, float("-inf")
    for at_s in sorted(map(hour_of, times_s)):
        if at_s - last_s >= DAY_S:
            count, last_s = count + 1, at_s
    return count


def asked_times_s(log: Sequence[RecallSet], *uuids: str) -> list[float]:
    return [r.at_s for r in log if r.asked and {*uuids} <= r.best_ranks().keys()]


@given(logs, st.lists(st.integers(0, 40), max_size=5))
def test_it_does_not_matter_how_many_sets_a_batch_takes(
    log: list[RecallSet], cuts: list[int]
) -> None:
    assert in_batches(log, cuts) == fold({}, {}, log)


@given(logs)
def test_what_is_known_before_is_left_as_it_is(log: list[RecallSet]) -> None:
    before = fold({}, {}, log)
    kept = ({**before[0]}, {m: {**partners} for m, partners in before[1].items()})
    fold(*before, log)
    assert before == kept


@given(logs)
def test_a_pair_counts_once_a_day(log: list[RecallSet]) -> None:
    for pair, together in pairs(fold({}, {}, log)[1]).items():
        times_s = asked_times_s(log, *pair)
        assert together == CoRecall.on(*times_s)
        assert together.times_count == len({at_s // DAY_S for at_s in times_s})
        assert together.last_s == max(times_s) // DAY_S * DAY_S


@given(logs, st.randoms(use_true_random=False))
def test_neither_order_nor_batches_matter_to_profiles_and_pairs(
    log: list[RecallSet], random
) -> None:
    shuffled = log.copy()
    random.shuffle(shuffled)
    cuts = [random.randint(0, len(log)) for _ in range(3)]
    assert in_batches(shuffled, cuts) == fold({}, {}, log)


@given(logs)
def test_a_recall_counts_a_day_after_the_one_before_and_the_last_is_the_latest(
    log: list[RecallSet],
) -> None:
    for memory, profile in fold({}, {}, log)[0].items():
        times_s = asked_times_s(log, memory)
        assert profile.total_count == greedy_count(times_s)
        assert profile.first_s == min(times_s, default=None)
        assert profile.last_s == max(times_s, default=None)


@given(logs)
def test_folding_again_never_counts_a_recall_twice(log: list[RecallSet]) -> None:
    once = fold({}, {}, log)
    twice = fold(*once, log)
    for memory, profile in once[0].items():
        assert twice[0][memory].last_s == profile.last_s
        assert twice[0][memory].recent_s == profile.recent_s


@given(logs)
def test_exposures_are_told_apart(log: list[RecallSet]) -> None:
    asked_only, _ = fold({}, {}, [r for r in log if r.asked])
    profiles, links = fold({}, {}, log)
    assert links == fold({}, {}, [r for r in log if r.asked])[1]
    for memory, profile in profiles.items():
        exposures = [r for r in log if not r.asked and memory in r.best_ranks()]
        assert profile.exposure_count == len(exposures)
        if memory in asked_only:
            assert profile.recent_s == asked_only[memory].recent_s
        else:
            assert profile.total_count == profile.search_count == 0


@given(
    st.lists(
        st.builds(
            RecallSet,
            ranks=st.lists(
                st.tuples(st.text(min_size=1, max_size=3), st.integers(1, 1_000_000)), max_size=12
            ).map(tuple),
            source=st.text(min_size=1, max_size=2),
            at_s=st.floats(0.0, 253_402_300_799.0),
        ),
        max_size=60,
    ),
    st.lists(st.integers(0, 60), max_size=3),
)
def test_everything_stays_bounded(log: list[RecallSet], cuts: list[int]) -> None:
    profiles, links = fold({}, {}, log)
    assert in_batches(log, cuts) == (profiles, links)
    for profile in profiles.values():
        assert len(profile.recent_s) <= RECENT_MAX_COUNT
        assert len(profile.sources) <= SOURCES_MAX_COUNT + 1
        assert sum(profile.sources.values()) == profile.search_count
        assert profile.search_count <= profile.rank_sum
    assert all(len(partners) <= PARTNERS_MAX_COUNT for partners in links.values())


@given(st.floats(0.0, 1e11), logs)
def test_rates_are_bounded_at_any_moment(now_s: float, log: list[RecallSet]) -> None:
    for profile in fold({}, {}, log)[0].values():
        assert profile.per_day(now_s, 7.0) * 7.0 <= profile.total_count + 1e-9


def small_memory() -> GraphSnapshot:
    """Facts that are named like the memories that are recalled here, told long ago."""
    graph = small_graph(3, [(0, 1, [0]), (1, 2, [0]), (2, 0, [0])] * 2, [START_S - 90.0 * DAY_S])
    graph.facts.uuid[:] = [f"m{number}" for number in range(6)]
    return graph


MEMORY = small_memory()
NOW_S = START_S + 1_000.0 * DAY_S


def thoughts(known: object) -> Thoughts:
    profiles, links = known  # type: ignore[misc]
    return Thoughts(MEMORY, NOW_S, HippocampusConfig(), Recalled(profiles, links))


def kept(known: object) -> TraceTable:
    return thoughts(known).traces


@given(logs, recall_sets)
def test_one_more_recall_never_makes_a_memory_weaker(log: list[RecallSet], more: RecallSet) -> None:
    """Whenever it was, whatever its rank, with whatever others."""
    before, after = (thoughts(fold({}, {}, each)) for each in (log, [*log, more]))
    assert (after.demand >= before.demand - 1e-12).all()
    assert (after.standing.strength >= before.standing.strength - 1e-6).all()
    until_days = [t.standing.lasts_days + t.last_touch_s / DAY_S for t in (before, after)]
    assert (until_days[1] >= until_days[0] * (1.0 - 1e-6)).all()


settings_of_forgetting = st.fixed_dictionaries(
    {
        "recall_gain": st.sampled_from([0.0, 0.05, 0.4, 1.0, 16.0]),
        "stability_max": st.sampled_from([2.0, 32.0, 100.0, 1_000.0]),
        "demand_boost": st.sampled_from([0.0, 0.25, 10.0]),
        "spacing_days": st.sampled_from([0.1, 3.0, 50.0]),
    }
)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 3, 64, RECENT_MAX_COUNT - 1, RECENT_MAX_COUNT, RECENT_MAX_COUNT + 9]),
    st.sampled_from([0.1, 3.0, 30.0, 900.0]),
    st.floats(-0.2, 1.2),
    st.integers(1, 1_000_000),
    settings_of_forgetting,
)
def test_one_more_recall_of_many_never_makes_a_memory_weaker_whatever_the_constants(
    seed: int, count: int, days: float, place: float, rank: int, forgetting: dict[str, float]
) -> None:
    random = Random(seed)
    log = [
        RecallSet(
            (("m0", random.randint(1, 40)),), "search", START_S + random.random() * days * DAY_S
        )
        for _ in range(count)
    ]
    more = RecallSet((("m0", rank),), "search", START_S + place * days * DAY_S)
    config = HippocampusConfig.model_validate({"forgetting": forgetting})
    profiles = [fold({}, {}, each)[0] for each in (log, [*log, more])]
    before, after = (Thoughts(MEMORY, NOW_S, config, Recalled(each)) for each in profiles)
    assert after.demand[3] >= before.demand[3] - 1e-12
    assert after.stability[3] >= before.stability[3] * (1.0 - 1e-12)
    assert after.last_touch_s[3] >= before.last_touch_s[3]
    assert after.standing.strength[3] >= before.standing.strength[3] - 1e-6


@given(logs, st.randoms(use_true_random=False))
def test_better_places_never_make_a_memory_weaker(log: list[RecallSet], random) -> None:
    better = [
        replace(r, ranks=tuple((uuid, random.randint(1, rank)) for uuid, rank in r.ranks))
        for r in log
    ]
    before, after = (fold({}, {}, each)[0] for each in (log, better))
    worse, best = thoughts((before, {})), thoughts((after, {}))
    assert (best.standing.strength >= worse.standing.strength - 1e-6).all()


@given(logs, st.lists(st.integers(0, 40), max_size=5))
def test_what_is_kept_of_a_memory_does_not_depend_on_how_often_runs_come_by(
    log: list[RecallSet], cuts: list[int]
) -> None:
    assert kept(in_batches(log, cuts)).tobytes() == kept(fold({}, {}, log)).tobytes()


@given(logs)
def test_a_log_that_comes_twice_changes_nothing_of_what_is_kept(log: list[RecallSet]) -> None:
    once = fold({}, {}, log)
    (again, _) = fold(*once, log)
    assert kept((again, once[1])).tobytes() == kept(once).tobytes()
