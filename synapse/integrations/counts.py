"""Counts as callers give them."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from synapse.errors import UsageError


def refuse_what_is_no_count(**given: Any) -> None:
    """Refuse arguments that are no whole number from 0 up.

    Args:
        given: the arguments by their names.

    Raises:
        UsageError: one of them is something else.
    """
    for name, value in given.items():
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not is_whole or value < 0:
            told = "a negative one" if is_whole else type(value).__name__
            raise UsageError(
                f"{name} must be a whole number from 0 up, not {told}; leave it out for the default"
            )
