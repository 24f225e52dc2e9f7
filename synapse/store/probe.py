"""Tells whether an embedding has changed without sending it.

FalkorDB takes vectors that are near each other for equal, and sending all numbers of a vector takes
as long as reading the whole memory. So it is compared by its distance from a vector that has
nothing to do with it: the server computes that when it reads the memory and when it removes it, and
of the same two vectors the distance is the same to the last digit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from redis.exceptions import ResponseError

from synapse.hippocampus.image import MemoryImage, Vector

_OTHER_VECTOR = re.compile("Vector dimension mismatch|Type mismatch: expected Null or Vectorf32")
_AS_PRINTED = 1e-13
"""What printing leaves out of a distance, relative to it."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A vector to be far from, for the embeddings of one name and size."""

    name: str
    size: int

    @classmethod
    def of(cls, images: Iterable[MemoryImage]) -> Probe | None:
        """One for the only embedding that the first of these memories has, if it has one."""
        for image in images:
            found = [(n, v.size) for n, v in image.properties.items() if isinstance(v, Vector)]
            return cls(*found[0]) if len(found) == 1 and found[0][1] else None
        return None

    @property
    def clause(self) -> str:
        """The beginning of a query, which makes the vector as ``probe``."""
        return f"WITH vecf32({_numbers(self.size)}) AS probe "

    def distance(self, item: str) -> str:
        """How far the embedding of an item is."""
        return f"vec.euclideanDistance({item}.`{self.name}`, probe)"

    def is_as_far(self, item: str, wanted: str) -> str:
        """The condition that it is as far as it was."""
        return f"abs({self.distance(item)} - {wanted}) <= {_AS_PRINTED} * {wanted}"


def is_other_vector(error: ResponseError) -> bool:
    """Whether a distance was asked for of something that is no vector of this size."""
    return bool(_OTHER_VECTOR.match(str(error)))


def distance_in(cell: Any) -> str:
    """The digits of a distance in a reply; empty where there is none to compare with."""
    _, digits = cell
    return digits.decode() if digits is not None and math.isfinite(float(digits)) else ""


@cache
def _numbers(size: int) -> str:
    # About as long as an embedding of length one, so that small changes show.
    scale = math.sqrt(size / 3) * 105
    numbers = ((31 * i * i + 17 * i) % 211 - 105 for i in range(size))
    return f"[{','.join(f'{number / scale:.4g}' for number in numbers)}]"
