"""The order in which recalled memories are told: relevance first, strength beside it.

A search ranks by relevance to the question. Of two memories that answer it alike, the one that is
alive in memory should come first (Anderson and Schooler, Reflections of the environment in memory,
1991: what is needed next is predicted by recency and frequency as well as by the question).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from synapse.hippocampus.config import RankingConfig
from synapse.hippocampus.model import Floats, Ints


def ranking_score(relevance_rank: Any, strength: Any, config: RankingConfig) -> Floats:
    """Score of search results: reciprocal rank times a bounded factor of strength.

    s = 1 / (c + r) · max(f, S)^w

    The factor lies between f^w and 1, so that strength moves a result by a few places and never
    out of sight. With w = 0 the order is that of the search (Cormack, Clarke and Buettcher,
    Reciprocal rank fusion, 2009, for the reciprocal rank).

    Args:
        relevance_rank: r, place in the search's own order, from 1.
        strength: S from 0 to 1; NaN, where nothing is known yet, counts as 1.
        config: c is ``rank_constant``, f ``strength_floor``, w ``strength_weight``.

    >>> ranking_score([1, 1, 9], [1.0, 0.0, 1.0], RankingConfig()).round(3).tolist()
    [0.167, 0.083, 0.071]
    """
    alive = np.clip(np.nan_to_num(np.asarray(strength, np.float64), nan=1.0), 0.0, 1.0)
    factor = np.maximum(config.strength_floor, alive) ** config.strength_weight
    scores: Floats = factor / (config.rank_constant + np.asarray(relevance_rank, np.float64))
    return scores


def ranked(strength: Floats, config: RankingConfig) -> Ints:
    """Places of search results in the order in which they are told.

    The search's best match is never moved below the third place.

    Args:
        strength: of the results in the search's order, shape (results,).
        config: see :func:`ranking_score`.

    >>> ranked(np.array([1.0, 0.1, 1.0]), RankingConfig()).tolist()
    [0, 2, 1]
    """
    scores = ranking_score(np.arange(1, len(strength) + 1), strength, config)
    order: Ints = np.argsort(-scores, kind="stable")
    place = int(np.flatnonzero(order == 0)[0]) if len(order) else 0
    if place > _BEST_WITHIN - 1:
        order = np.insert(np.delete(order, place), _BEST_WITHIN - 1, 0)
    return order


_BEST_WITHIN = 3
