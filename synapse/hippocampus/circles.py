"""Facts that replace each other in a circle: whoever ends all of them leaves none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


def circles(by: Mapping[int, int]) -> Iterator[list[int]]:
    """The rows of each circle of replacements.

    Args:
        by: row of a fact -> row of the fact that replaces it.

    >>> list(circles({0: 1, 1: 2, 2: 1, 3: 0, 4: 5}))
    [[1, 2]]
    """
    seen = set[int]()
    for row in by:
        path: dict[int, int] = {}
        while row in by and row not in seen and row not in path:
            path[row] = len(path)
            row = by[row]
        if row in path:
            yield list(path)[path[row] :]
        seen |= path.keys()
