"""Entities of which the graph says that one is a part of the other, or another name of it.

Who lives in Paris lives in France, too, and whoever works at Orbit, a part of Acme, works at Acme.
"""

from __future__ import annotations

import numpy as np

from synapse.hippocampus.model import Ints
from synapse.hippocampus.numeric import distinct


class RelatedValues:
    """Pairs of entities, in any order.

    Args:
        left: one entity of each pair.
        right: the other one.

    >>> related = RelatedValues(np.array([1, 7]), np.array([4, 2]))
    >>> related.holds(4, 1), related.holds(2, 7), related.holds(1, 2)
    (True, True, False)
    """

    def __init__(self, left: Ints, right: Ints) -> None:
        self._width = int(max(left.max(initial=0), right.max(initial=0))) + 1
        self._keys = distinct(np.minimum(left, right) * self._width + np.maximum(left, right))

    def holds(self, left: int, right: int) -> bool:
        """Whether the two are a pair."""
        low, high = sorted((left, right))
        if high >= self._width:
            return False
        key = low * self._width + high
        place = int(np.searchsorted(self._keys, key))
        return place < len(self._keys) and bool(self._keys[place] == key)
