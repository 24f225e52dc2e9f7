"""Interference: of two memories that are nearly the same, the weaker one is harder to keep.

That similar memories get in each other's way is among the oldest findings about forgetting:
M. C. Anderson and J. H. Neely, Interference and Inhibition in Memory Retrieval (1996),
doi:10.1016/B978-012102570-0/50010-0. Here it is a factor of the present state, worked out anew
each time from all pairs: it never adds up from run to run, and each pair counts once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from synapse.hippocampus.config import InterferenceConfig
from synapse.hippocampus.model import Floats, Ints


class NearDuplicate(NamedTuple):
    """Two memories and the cosine of their embeddings; ``one`` comes before ``other``."""

    one: str
    other: str
    similarity: float


@dataclass(frozen=True, slots=True)
class NearDuplicates:
    """All pairs that were looked for and found, each once, sorted."""

    pairs: tuple[NearDuplicate, ...] = ()
    left_out_count: int = 0
    """Facts that were not compared, as too many join the same two entities."""

    @property
    def digest(self) -> str:
        """Names them; empty where there are none.

        >>> one, other = (NearDuplicates((NearDuplicate("a", "b", c),)) for c in (0.9, 0.91))
        >>> NearDuplicates().digest, one.digest == other.digest
        ('', False)
        """
        if not self.pairs and not self.left_out_count:
            return ""
        told = json.dumps([self.left_out_count, *self.pairs])
        return blake2b(told.encode(), digest_size=12).hexdigest()


def interference(
    pairs: Sequence[NearDuplicate],
    uuids: Sequence[str],
    lasts_until: Floats,
    config: InterferenceConfig,
) -> Floats:
    """What near-duplicates leave of each memory's retention, from 1 - max_loss to 1.

    f = 1 - min(max_loss, w · Σ c)

    The sum runs over the pairs in which the memory is the weaker one, c is the cosine of the two
    embeddings and w the weight. The weaker one is the one that is forgotten first if nothing
    touches either; of two that are forgotten together the one whose uuid comes later. That does
    not depend on the present moment, so neither does the factor. A memory that is never forgotten,
    or of which that is not known, loses nothing.

    Args:
        pairs: see :class:`NearDuplicates`; pairs with unknown memories are passed over.
        uuids: of the memories.
        lasts_until: when each is forgotten, on any scale of time. Shape (memories,).
        config: weight and bounds.

    >>> config = InterferenceConfig(weight=0.05, max_loss=0.25)
    >>> pairs = [NearDuplicate("a", "b", 0.9)]
    >>> interference(pairs, ["a", "b", "c"], np.array([9.0, 5.0, 1.0]), config).tolist()
    [1.0, 0.955, 1.0]
    """
    one, other, similarity = _rows(pairs, uuids, config.similarity_min)
    known = np.where(np.isnan(lasts_until), np.inf, lasts_until)
    weaker = np.where(known[one] < known[other], one, other)
    loses = np.isfinite(known[weaker])
    weaker, similarity = weaker[loses], similarity[loses]
    # Floats add up to the same only in the same order, whatever the order of pairs and memories.
    order = np.lexsort((similarity, weaker))
    total = np.bincount(weaker[order], similarity[order], minlength=len(uuids))
    factor: Floats = 1.0 - np.minimum(config.weight * total, config.max_loss)
    return factor


def _rows(
    pairs: Sequence[NearDuplicate], uuids: Sequence[str], similarity_min: float
) -> tuple[Ints, Ints, Floats]:
    row_of = {uuid: row for row, uuid in enumerate(uuids)}
    found = [
        (row_of[pair.one], row_of[pair.other], min(pair.similarity, 1.0))
        for pair in set(pairs)
        if pair.one in row_of and pair.other in row_of and pair.similarity >= similarity_min
    ]
    columns = np.array(found, np.float64).reshape(-1, 3)
    return columns[:, 0].astype(np.int64), columns[:, 1].astype(np.int64), columns[:, 2]
