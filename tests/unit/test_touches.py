from __future__ import annotations

import numpy as np

from synapse.hippocampus.touches import Touches, touches
from tests.support.small_graphs import UNKNOWN, small_graph


def rows(touched: Touches) -> list[list[float]]:
    return [part.tolist() for part in np.split(touched.times_s, touched.offsets[1:-1])]


def test_an_episode_touches_what_it_mentions_and_the_ends_of_its_facts() -> None:
    touched = touches(
        small_graph(
            3,
            facts=[(0, 1, [2, 0])],
            episode_times_s=[30.0, 20.0, 10.0],
            mentions=[(1, 0), (1, 2)],
        )
    )
    assert rows(touched) == [[10.0, 20.0, 30.0], [10.0, 30.0], [20.0], [10.0, 30.0]]
    assert touched.last_touch_s.tolist() == [30.0, 30.0, 20.0, 30.0]
    assert touched.episodes_count.tolist() == [3, 2, 1, 2]
    assert len(touched) == 4


def test_an_episode_touches_a_memory_once() -> None:
    touched = touches(
        small_graph(
            1,
            facts=[(0, 0, [0]), (0, 0, [0])],
            episode_times_s=[5.0],
            mentions=[(0, 0), (0, 0)],
        )
    )
    assert rows(touched) == [[5.0], [5.0], [5.0]]
    assert touched.episodes_count.tolist() == [1, 1, 1]


def test_episodes_at_one_moment_are_distinct_touches() -> None:
    touched = touches(small_graph(1, episode_times_s=[5.0, 5.0], mentions=[(0, 0), (1, 0)]))
    assert rows(touched) == [[5.0, 5.0]]


def test_an_episode_without_valid_at_happened_when_it_was_recorded() -> None:
    touched = touches(
        small_graph(
            1,
            episode_times_s=[UNKNOWN, 1.0],
            episode_created_s=[7.0, 99.0],
            mentions=[(0, 0), (1, 0)],
        )
    )
    assert rows(touched) == [[1.0, 7.0]]


def test_an_episode_of_unknown_time_leaves_the_last_touch_open() -> None:
    touched = touches(
        small_graph(
            2,
            facts=[(0, 1, [0, 1])],
            episode_times_s=[UNKNOWN, 4.0],
            mentions=[(0, 0)],
            entity_created_s=[1.0, 1.0],
            fact_created_s=[9.0],
        )
    )
    assert rows(touched) == [[4.0], [4.0], [4.0]]
    assert touched.episodes_count.tolist() == [2, 2, 2]
    np.testing.assert_array_equal(touched.last_touch_s, [UNKNOWN] * 3)


def test_without_episodes_the_records_tell() -> None:
    touched = touches(
        small_graph(
            5,
            facts=[(0, 1, []), (1, 2, []), (2, 2, [])],
            entity_created_s=[10.0, UNKNOWN, UNKNOWN, 3.0, UNKNOWN],
            fact_created_s=[5.0, UNKNOWN, UNKNOWN],
            fact_valid_s=[99.0, 6.0, UNKNOWN],
        )
    )
    expected = [10.0, UNKNOWN, UNKNOWN, 3.0, UNKNOWN, 5.0, UNKNOWN, UNKNOWN]
    np.testing.assert_array_equal(touched.last_touch_s, expected)
    assert len(touched.times_s) == 0
    assert touched.episodes_count.tolist() == [0] * 8


def test_an_empty_graph() -> None:
    touched = touches(small_graph(0))
    assert len(touched) == 0
    assert touched.offsets.tolist() == [0]
    assert len(touched.last_touch_s) == len(touched.times_s) == 0


def test_the_history_of_an_entity_is_in_order_of_time() -> None:
    touched = touches(
        small_graph(
            2,
            facts=[(0, 1, [1])],
            episode_times_s=[30.0, UNKNOWN, 10.0],
            mentions=[(0, 0), (2, 0)],
        )
    )
    assert touched.entity_episodes[0].tolist() == [0, 1, 2]
    assert touched.entity_episodes[1].tolist() == [2]
