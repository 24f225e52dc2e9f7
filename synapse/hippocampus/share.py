"""Share: how much of what an episode said rests on one memory.

An episode that left twenty facts loses little with the shortest of them; an episode that left one
loses everything with it. So of two memories that have faded alike, the one with the smaller share
goes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat

import numpy as np

from synapse.hippocampus.model import Floats
from synapse.hippocampus.ragged import Ragged


def shares(episodes: Ragged, weight: Floats, episodes_count: int) -> Floats:
    """The greatest share that each item has in any of its episodes.

    share_i = max over the episodes e of i of w_i / Σ w_j, where j runs over the items of e

    Args:
        episodes: row of an item -> its episodes.
        weight: w, how much each item says, shape (items,), above 0.
        episodes_count: how many episodes there are.

    Returns:
        Shape (items,), in (0, 1]; 1 for an item without an episode: nobody else tells it.

    >>> episodes = Ragged.from_lists([[0], [0, 1], []])
    >>> shares(episodes, np.array([1.0, 3.0, 2.0]), 2).tolist()
    [0.25, 1.0, 1.0]
    """
    item = episodes.row_numbers()
    said = np.bincount(episodes.values, weight[item], episodes_count)
    share = np.zeros(len(episodes))
    np.maximum.at(share, item, weight[item] / said[episodes.values])
    share[episodes.counts() == 0] = 1.0
    return share


def words_counts(texts: Sequence[str]) -> Floats:
    """Words of each text, as blanks divide them; at least 1.

    >>> words_counts(["we deploy on Fridays", ""]).tolist()
    [4.0, 1.0]
    """
    blanks = np.fromiter(map(str.count, texts, repeat(" ")), np.float64, len(texts))
    return blanks + 1.0
