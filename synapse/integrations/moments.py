"""Moments as callers give them."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isnan
from typing import Any

from synapse.errors import UsageError, shown


def seconds_of(moment: Any, name: str) -> float:
    """Seconds since 1970; a moment without an offset is UTC.

    Args:
        moment: what the caller has given.
        name: of the argument.

    Raises:
        UsageError: it is no moment.

    >>> seconds_of(datetime(1970, 1, 2), "at")
    86400.0
    """
    if isinstance(moment, datetime):
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        if not isnan(seconds):
            return seconds
    raise UsageError(
        f"{name} must be a datetime, not {type(moment).__name__} {shown(str(moment))}; "
        "leave it out for now"
    )
