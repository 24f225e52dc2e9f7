from __future__ import annotations

import math

import numpy as np
import pytest

from synapse.hippocampus import hebbian
from synapse.hippocampus.hebbian import co_activation
from synapse.hippocampus.touches import touches
from tests.support.small_graphs import UNKNOWN, small_graph


def test_only_repetition_makes_an_association() -> None:
    once = co_activation(small_graph(2, [(0, 1, [0])], [1.0]))
    twice = co_activation(small_graph(2, [(0, 1, [0, 1])], [1.0, 2.0]))
    assert (once.groups_count, once.associations_count) == (1, 0)
    assert once.fact_weight.tolist() == [0.0]
    assert (twice.groups_count, twice.associations_count) == (2, 1)
    assert twice.fact_weight.tolist() == twice.entity_weight.tolist()[:1] == [0.5]


def test_weight_is_the_cosine_of_the_repeated_co_activations() -> None:
    result = co_activation(
        small_graph(
            3,
            facts=[(0, 1, [0, 1, 2]), (1, 0, []), (1, 2, [3])],
            episode_times_s=[1.0, 2.0, 3.0, 4.0, 5.0],
            mentions=[(3, 0), (4, 0)],
        )
    )
    # Entity 0 in all five episodes, entity 1 in the first four, four shared.
    assert result.fact_weight.tolist() == [3 / math.sqrt(20), 3 / math.sqrt(20), 0.0]
    assert result.entity_weight.tolist() == [3 / math.sqrt(20), 3 / math.sqrt(20), 0.0]
    assert result.associations_count == 1


def test_mentions_alone_activate() -> None:
    mentions = [(episode, entity) for episode in range(3) for entity in range(2)]
    result = co_activation(small_graph(2, [(0, 1, [])], [1.0, 2.0, 3.0], mentions))
    assert result.groups_count == 3
    assert result.fact_weight.tolist() == [2 / 3]


def test_entities_without_a_fact_between_them_are_no_pair() -> None:
    mentions = [(episode, entity) for episode in range(3) for entity in range(2)]
    result = co_activation(small_graph(2, [], [1.0, 2.0, 3.0], mentions))
    assert (result.groups_count, result.associations_count) == (3, 0)
    assert result.entity_weight.tolist() == [0.0, 0.0]


def test_self_loops_weigh_nothing() -> None:
    result = co_activation(small_graph(1, [(0, 0, [0, 1, 2])], [1.0, 2.0, 3.0]))
    assert (result.groups_count, result.associations_count) == (0, 0)
    assert result.fact_weight.tolist() == result.entity_weight.tolist() == [0.0]


def test_without_episodes_and_mentions_equal_valid_at_groups() -> None:
    result = co_activation(
        small_graph(
            4,
            facts=[(0, 1, []), (0, 1, []), (2, 3, []), (2, 3, [])],
            fact_valid_s=[1.0, 2.0, UNKNOWN, UNKNOWN],
        )
    )
    assert (result.groups_count, result.associations_count) == (2, 1)
    assert result.fact_weight.tolist() == [0.5, 0.5, 0.0, 0.0]


@pytest.mark.parametrize("known", ["episode", "mention"])
def test_one_episode_or_mention_rules_the_fallback_out(known: str) -> None:
    facts = [(0, 1, [0] if known == "episode" else []), (0, 1, [])]
    mentions = [(0, 0)] if known == "mention" else []
    result = co_activation(small_graph(2, facts, [1.0], mentions, fact_valid_s=[1.0, 2.0]))
    assert result.associations_count == 0


def test_an_empty_graph() -> None:
    result = co_activation(small_graph(0))
    assert (result.groups_count, result.associations_count) == (0, 0)
    assert len(result.fact_weight) == len(result.entity_weight) == 0


def test_known_touches_give_the_same_result() -> None:
    graph = small_graph(2, [(0, 1, [0, 1])], [1.0, 2.0])
    assert co_activation(graph, touches(graph)).fact_weight.tolist() == [0.5]


@pytest.mark.parametrize("probes_count", [1, 3, 1 << 20])
@pytest.mark.parametrize("marks_count", [1, 7, 1 << 24])
def test_blocks_and_marks_do_not_change_the_result(
    monkeypatch: pytest.MonkeyPatch, probes_count: int, marks_count: int
) -> None:
    monkeypatch.setattr(hebbian, "PROBES_PER_BLOCK_COUNT", probes_count)
    monkeypatch.setattr(hebbian, "_MARKS_COUNT", marks_count)
    random = np.random.default_rng(7)
    ends = random.integers(0, 12, (60, 2)).tolist()
    support = [sorted(set(random.integers(0, 9, 4).tolist())) for _ in ends]
    facts = [(a, b, episodes) for (a, b), episodes in zip(ends, support, strict=True)]
    activated: list[set[int]] = [set() for _ in range(12)]
    for source, target, episodes in facts:
        activated[source].update(episodes)
        activated[target].update(episodes)
    expected = [
        0.0
        if a == b
        else max(0, len(activated[a] & activated[b]) - 1)
        / math.sqrt(len(activated[a]) * len(activated[b]))
        for a, b, _ in facts
    ]
    result = co_activation(small_graph(12, facts, list(range(9))))
    np.testing.assert_allclose(result.fact_weight, expected, rtol=1e-15)


def test_a_giant_episode_and_a_hub_stay_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    probes_count = 0
    take = hebbian.Ragged.take

    def counting_take(self: hebbian.Ragged, rows: np.ndarray) -> hebbian.Ragged:
        nonlocal probes_count
        taken = take(self, rows)
        probes_count += len(taken.values)
        return taken

    monkeypatch.setattr(hebbian.Ragged, "take", counting_take)
    spokes_count, episodes_count = 10_000, 5_000
    facts = [(0, spoke, [spoke % episodes_count, 0]) for spoke in range(1, spokes_count + 1)]
    mentions = [(episode, 0) for episode in range(episodes_count)]
    mentions += [(0, entity) for entity in range(1, 1_001)]
    graph = small_graph(spokes_count + 1, facts, list(range(episodes_count)), mentions)
    result = co_activation(graph)
    assert result.groups_count == episodes_count
    assert 0 < probes_count <= 2 * len(facts)
