"""Whether a fact is the only way between two entities, against a search of the whole graph."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from synapse.hippocampus.model import GraphOutline
from synapse.hippocampus.ways import REACH_COUNT, Ways, parts

ends = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=14)


def outline(facts: list[tuple[int, int]], entities_count: int = 8) -> GraphOutline:
    columns = np.array(facts, np.int64).reshape(-1, 2).T
    names = [str(i) for i in range(entities_count)]
    return GraphOutline("g", names, [f"f{i}" for i in range(len(facts))], *columns)


def reachable(facts: list[tuple[int, int]], start: int) -> set[int]:
    seen, edge = {start}, [start]
    while edge:
        node = edge.pop()
        for a, b in facts:
            for one, other in ((a, b), (b, a)):
                if one == node and other not in seen:
                    seen.add(other)
                    edge.append(other)
    return seen


@given(ends, st.data())
def test_a_bridge_is_what_no_other_way_goes_round(
    facts: list[tuple[int, int]], data: st.DataObject
) -> None:
    count = len(facts)
    may_go = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    ways, left = Ways(outline(facts), may_go), dict(enumerate(facts))
    for fact in data.draw(st.permutations(np.flatnonzero(may_go).tolist())):
        source, target = left[fact]
        others = [ends for number, ends in left.items() if number != fact]
        alone = any(all(end not in other for other in others) for end in (source, target))
        is_cut = target not in reachable(others, source)
        assert ways.is_bridge(fact) == (is_cut and not alone)
        if not ways.is_bridge(fact):
            ways.remove(fact)
            del left[fact]
            for entity in {source, target}:
                assert ways.facts_left(entity) == sum(entity in ends for ends in left.values())


@given(ends)
def test_parts_are_the_connected_ones(facts: list[tuple[int, int]]) -> None:
    source, target = np.array(facts).T
    found = parts(8, source, target).tolist()
    assert found == [min(reachable(facts, node)) for node in range(8)]


def test_a_way_that_is_too_long_to_see_is_none() -> None:
    around = [(i, i + 1) for i in range(4 * REACH_COUNT)] + [(4 * REACH_COUNT, 0)]
    graph = outline(around, 4 * REACH_COUNT + 1)
    all_may_go = np.ones(len(around), np.bool_)
    assert Ways(graph, all_may_go).is_bridge(0)
    only_one = np.zeros(len(around), np.bool_)
    only_one[0] = True
    assert not Ways(graph, only_one).is_bridge(0)


def test_a_long_chain_takes_few_rounds() -> None:
    order = np.random.default_rng(5).permutation(50_000)
    assert (parts(50_000, order[:-1], order[1:]) == 0).all()
