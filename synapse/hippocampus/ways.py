"""Ways: whether two entities stay connected when a fact between them goes.

A full search for bridges would have to be made anew after every fact that goes. Here only the few
facts that may go are looked at. Most are settled at once: their ends are connected by facts that
all stay. The others are looked at one after the other, each by a search of bounded size in the
graph that is left; where the bound is met before another way, there is held to be none.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from synapse.hippocampus.model import Bools, GraphOutline, Ints

REACH_COUNT = 256
"""Facts that a search follows before it gives up."""


class Ways:
    """The facts of a graph, some of which go one by one.

    Args:
        outline: the graph.
        may_go: the facts that may go, shape (facts,).

    >>> outline = GraphOutline("g", ["a", "b", "c"], ["ab", "bc", "ca"],
    ...                        np.array([0, 1, 2]), np.array([1, 2, 0]))
    >>> ways = Ways(outline, may_go=np.ones(3, bool))
    >>> ways.is_bridge(0)
    False
    >>> ways.remove(0)
    >>> ways.is_bridge(1)
    False
    >>> ways.facts_left(1), ways.facts_left(2)
    (1, 2)
    """

    def __init__(self, outline: GraphOutline, may_go: Bools) -> None:
        self._source, self._target = outline.source, outline.target
        self._counts = counts = np.bincount(self._ends(), minlength=len(outline.entity_uuids))
        self._is_gone = np.zeros(len(outline.source), np.bool_)
        loops = outline.source[outline.source == outline.target]
        self._left = counts - np.bincount(loops, minlength=len(counts))

        stays = ~may_go
        self._part = parts(len(counts), outline.source[stays], outline.target[stays])

    def facts_left(self, entity: int) -> int:
        """Facts at an entity that have not gone; a self-loop counts once."""
        return int(self._left[entity])

    def remove(self, fact: int) -> None:
        """Let a fact go."""
        self._is_gone[fact] = True
        for entity in {int(self._source[fact]), int(self._target[fact])}:
            self._left[entity] -= 1

    def is_bridge(self, fact: int) -> bool:
        """Whether the fact is the only way between two parts of the graph, as far as is seen.

        A fact at whose one end nothing else hangs is no bridge.
        """
        source, target = int(self._source[fact]), int(self._target[fact])
        if source == target or min(self._left[source], self._left[target]) <= 1:
            return False
        if self._part[source] == self._part[target]:
            return False
        sides = ({source}, {target})
        edges: tuple[list[int], list[int]] = ([source], [target])
        followed_count = 0
        while edges[0] and edges[1]:
            side = 0 if self._left[edges[0][0]] <= self._left[edges[1][0]] else 1
            entity = edges[side].pop(0)
            for neighbour in self._neighbours(entity, fact):
                if neighbour in sides[1 - side]:
                    return False
                if neighbour not in sides[side]:
                    sides[side].add(neighbour)
                    edges[side].append(neighbour)
                followed_count += 1
                if followed_count >= REACH_COUNT:
                    return True
        return True

    def _ends(self) -> Ints:
        return np.concatenate([self._source, self._target])

    @cached_property
    def _at_entities(self) -> tuple[Ints, Ints]:
        """All facts, entity after entity, and where those of each entity begin."""
        order = np.argsort(self._ends(), kind="stable")
        return order % max(1, len(self._source)), np.concatenate([[0], np.cumsum(self._counts)])

    def _neighbours(self, entity: int, without: int) -> list[int]:
        facts, offsets = self._at_entities
        facts = facts[offsets[entity] : offsets[entity + 1]][:REACH_COUNT]
        facts = facts[~self._is_gone[facts] & (facts != without)]
        others = np.where(self._source[facts] == entity, self._target[facts], self._source[facts])
        return [int(other) for other in others]


def parts(nodes_count: int, source: Ints, target: Ints) -> Ints:
    """The connected part of each node, named by its lowest node.

    Each round ties every part to the lowest part it touches, then shortens all ways to the root.

    Source:
        after Y. Zhang, A. Azad and Z. Hu, FastSV: a distributed-memory connected component
        algorithm with fast convergence, SIAM PP 2020, doi:10.1137/1.9781611976137.5.

    >>> parts(5, np.array([1, 4]), np.array([2, 1])).tolist()
    [0, 1, 1, 3, 1]
    """
    part = np.arange(nodes_count)
    while True:
        of_source, of_target = part[source], part[target]
        lowest = np.minimum(of_source, of_target)
        tied = part.copy()
        np.minimum.at(tied, of_source, lowest)
        np.minimum.at(tied, of_target, lowest)
        while not (tied[tied] == tied).all():
            tied = tied[tied]
        if (tied == part).all():
            return part
        part = tied
