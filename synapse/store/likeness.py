"""Which memories are compared with each other, and how alike two embeddings are.

Comparing all with all grows with the square of a memory. Near-duplicates meet in much smaller
places: facts that start at the same entity, and entities whose names share a word.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations

import numpy as np

from synapse.hippocampus.interference import NearDuplicate
from synapse.hippocampus.model import Floats

SOURCE_FACTS_MAX_COUNT = 100
"""Of an entity with more facts only those with the same other end are compared."""
ENDS_FACTS_MAX_COUNT = 300
"""More facts than these between the same two entities are not compared."""
WORD_ENTITIES_MAX_COUNT = 50
"""A word that more names hold tells nothing."""
_DIGITS = 4

_WORDS = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def names_alike(names: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of names that share a word which is not common, or all letters.

    >>> names_alike(["auth service", "AuthService", "billing", "Auth"])
    [(0, 1), (0, 3), (1, 3)]
    """
    holders: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        words = _WORDS.findall(_HUMP.sub(" ", name).casefold())
        for word in {*words, "".join(words)}:
            holders.setdefault(word, []).append(row)
    found: set[tuple[int, int]] = set()
    for rows in holders.values():
        if 1 < len(rows) <= WORD_ENTITIES_MAX_COUNT:
            found.update(combinations(rows, 2))
    return sorted(found)


def together(places: Sequence[Hashable]) -> tuple[list[tuple[int, int]], int]:
    """Pairs of facts in one place, and how many facts stand where there are too many.

    >>> together(["here", "there", "here"])
    ([(0, 2)], 0)
    """
    rows_in: dict[Hashable, list[int]] = {}
    for row, place in enumerate(places):
        rows_in.setdefault(place, []).append(row)
    pairs: list[tuple[int, int]] = []
    left_out_count = 0
    for rows in rows_in.values():
        if len(rows) > ENDS_FACTS_MAX_COUNT:
            left_out_count += len(rows)
        else:
            pairs += combinations(rows, 2)
    return pairs, left_out_count


def near(
    uuids: Sequence[str],
    vectors: Sequence[Sequence[float]],
    pairs: Iterable[tuple[int, int]],
    similarity_min: float,
) -> list[NearDuplicate]:
    """Those pairs whose vectors have at least this cosine.

    Vectors of different lengths come from different models and are not alike; neither is one
    without a direction.

    >>> near(["a", "b"], [[1.0, 0.0], [2.0, 0.0]], [(0, 1)], 0.85)
    [NearDuplicate(one='a', other='b', similarity=1.0)]
    """
    units = [_unit(vector) for vector in vectors]
    found = []
    for one, other in pairs:
        a, b = units[one], units[other]
        if a is not None and b is not None and len(a) == len(b):
            similarity = float(a @ b)
            if similarity >= similarity_min:
                found.append(near_duplicate(uuids[one], uuids[other], similarity))
    return found


def near_duplicate(one: str, other: str, similarity: float) -> NearDuplicate:
    """A pair in order, its cosine to as many digits as any way of computing it agrees on."""
    first, second = sorted((one, other))
    return NearDuplicate(first, second, round(similarity, _DIGITS))


def _unit(vector: Sequence[float]) -> Floats | None:
    values = np.asarray(vector, np.float64)
    length = float(np.sqrt(values @ values)) if values.ndim == 1 and len(values) else 0.0
    return values / length if np.isfinite(length) and length > 0.0 else None
