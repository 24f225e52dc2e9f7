"""Of two memories that are nearly the same the weaker one loses retention."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.hippocampus.config import InterferenceConfig
from synapse.hippocampus.interference import NearDuplicate, interference

CONFIG = InterferenceConfig()
UUIDS = ["a", "b", "c", "d"]

moments = st.sampled_from([0.0, 1.0, 2.0, math.nan, math.inf])
similarities = st.floats(0.5, 1.0)
pairs = st.lists(
    st.tuples(st.sampled_from(UUIDS), st.sampled_from(UUIDS), similarities)
    .filter(lambda pair: pair[0] < pair[1])
    .map(lambda pair: NearDuplicate(*pair)),
    unique_by=lambda pair: pair[:2],
)


def factors(found: list[NearDuplicate], *until: float, **more: float) -> dict[str, float]:
    config = InterferenceConfig(**more)
    return dict(
        zip(UUIDS, interference(found, UUIDS, np.array(until), config).tolist(), strict=True)
    )


def test_the_weaker_one_loses_in_proportion_to_similarity() -> None:
    near = [NearDuplicate("a", "b", 0.9), NearDuplicate("a", "c", 1.0)]
    assert factors(near, 5.0, 9.0, 1.0, 0.0) == {"a": 0.955, "b": 1.0, "c": 0.95, "d": 1.0}


def test_of_two_equally_strong_ones_the_later_uuid_loses() -> None:
    assert factors([NearDuplicate("a", "b", 1.0)], 5.0, 5.0, 0.0, 0.0)["b"] == 0.95


@pytest.mark.parametrize("fresh", [math.nan, math.inf])
def test_what_is_not_known_to_be_forgotten_loses_nothing(fresh: float) -> None:
    near = [NearDuplicate("a", "b", 1.0), NearDuplicate("c", "d", 1.0)]
    assert factors(near, fresh, fresh, fresh, 1.0) == {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.95}


def test_many_near_duplicates_take_no_more_than_the_bound() -> None:
    near = [NearDuplicate(u, "d", 1.0) for u in "abc"]
    assert factors(near, 9.0, 9.0, 9.0, 1.0, weight=0.1, max_loss=0.25)["d"] == 0.75


def test_pairs_that_are_not_alike_enough_or_not_known_are_passed_over() -> None:
    near = [NearDuplicate("a", "b", 0.84), NearDuplicate("c", "gone", 1.0)]
    assert set(factors(near, 1.0, 2.0, 1.0, 1.0).values()) == {1.0}


@given(pairs, st.tuples(moments, moments, moments, moments), st.randoms(use_true_random=False))
def test_order_and_repetition_of_pairs_change_nothing(found, until, random) -> None:
    before = factors(found, *until, similarity_min=0.5)
    shuffled = [*found, *found]
    random.shuffle(shuffled)
    order = list(range(len(UUIDS)))
    random.shuffle(order)
    uuids = [UUIDS[row] for row in order]
    moved = interference(
        shuffled, uuids, np.array(until)[order], InterferenceConfig(similarity_min=0.5)
    )
    assert dict(zip(uuids, moved.tolist(), strict=True)) == before
    assert all(1.0 - CONFIG.max_loss <= factor <= 1.0 for factor in before.values())


@given(pairs, st.tuples(moments, moments, moments, moments))
def test_each_pair_weakens_at_most_one_of_the_two(found, until) -> None:
    for pair in found:
        alone = factors([pair], *until, similarity_min=0.5)
        lost = [uuid for uuid, factor in alone.items() if factor < 1.0]
        assert len(lost) <= 1 and set(lost) <= {pair.one, pair.other}
