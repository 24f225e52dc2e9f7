"""A finding: one fact that is, or should be, replaced, or that needs somebody's eye."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from synapse.hippocampus.numeric import SECONDS_PER_DAY

Verdict = Literal["superseded", "missed", "doubtful", "needs review", "duplicate"]

VERDICT_ORDER: tuple[Verdict, ...] = (
    "superseded", "missed", "doubtful", "needs review", "duplicate"
)  # fmt: skip
"""What a fact of several findings is reported as: the first of these."""

DENIED = "denied"
"""The rule by which a fact is taken back."""

_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact that is, or should be, replaced, or whose replacement cannot be found."""

    fact: int
    """Row of the fact that loses."""
    by: int
    """Row of the fact that replaces it, -1 if there is none."""
    verdict: Verdict
    rule: str
    confidence: float
    """From 0 to 1."""
    invalid_at_s: float
    """When the fact ended: as recorded, or as resolving the finding would write it."""
    evidence: str
    """One sentence."""


def date(time_s: float) -> str:
    """The day of a time, for people.

    >>> date(0.0)
    '1970-01-01'
    """
    return _day(int(time_s // SECONDS_PER_DAY))


@lru_cache(4_096)
def _day(day: int) -> str:
    return str(np.datetime64(day, "D"))


def shown(name: str) -> str:
    """A name as one short line.

    >>> shown("Ann  Lee")
    'Ann Lee'
    """
    return " ".join(name.split())[:_SHOWN_CHARACTERS]
