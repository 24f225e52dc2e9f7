"""One moment as Graphiti writes it and as seconds; whole columns are read by the store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
YEAR_TWO_S = (datetime(2, 1, 1, tzinfo=UTC) - _EPOCH).total_seconds()
"""Year 1 is what several languages write for "no time"; anything before this is unknown."""
_LAST = datetime.max.replace(tzinfo=UTC)
LAST_S = float((_LAST - _EPOCH) // _MICROSECOND) / 1e6
"""The last microsecond that a calendar holds, rounded to what a float can tell apart."""


def parse_stamp(stamp: str) -> float:
    """Seconds since 1970-01-01 UTC; NaN for what is not a time. Without an offset it is UTC.

    Figures alone (an epoch, or a date without dashes) are not taken for a time: a guess could make
    a memory look centuries old.

    >>> parse_stamp("1970-01-02T00:00:00.5+00:00"), parse_stamp("1970-01-01"), parse_stamp("soon")
    (86400.5, 0.0, nan)
    """
    stamp = stamp.strip()
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return float("nan")
    if stamp[4] != "-":
        return float("nan")
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    seconds = float((moment - _EPOCH) // _MICROSECOND) / 1e6
    return seconds if seconds >= YEAR_TWO_S else float("nan")


def format_stamp(seconds: float) -> str:
    """The stamp Graphiti writes for a moment: UTC, microseconds only where there are any.

    >>> format_stamp(86400.5), format_stamp(0.0)
    ('1970-01-02T00:00:00.500000+00:00', '1970-01-01T00:00:00+00:00')
    >>> format_stamp(parse_stamp("9999-12-31T23:59:59.999999+00:00"))
    '9999-12-31T23:59:59.999999+00:00'
    """
    return _moment(seconds).isoformat()


def iso_time(seconds: float) -> str:
    """ISO 8601 in UTC, as the summary writes times.

    >>> iso_time(0.0)
    '1970-01-01T00:00:00Z'
    """
    return _moment(seconds).isoformat().replace("+00:00", "Z")


def is_moment(stamp: str | None, seconds: float) -> bool:
    """Whether a stamp says what a column holds; what is absent or unreadable is NaN there.

    >>> is_moment("1970-01-02", 86400.0), is_moment(None, float("nan")), is_moment(None, 0.0)
    (True, True, False)
    """
    read = float("nan") if stamp is None else parse_stamp(stamp)
    return read == seconds or (read != read and seconds != seconds)


def _moment(seconds: float) -> datetime:
    return _LAST if seconds == LAST_S else datetime.fromtimestamp(seconds, UTC)
