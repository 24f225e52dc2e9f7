"""Graphiti's time stamps to seconds and back: ISO-8601 text in the graph, float64 in columns.

Graphiti writes ``2026-01-01T00:00:00+00:00``, with microseconds only where they are not zero.
Older graphs hold whatever the caller passed: other offsets, no offset (read as UTC), a space
instead of the ``T``, a date alone. What cannot be read is NaN, never a guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from synapse.hippocampus.model import Bools, Floats, Ints
from synapse.hippocampus.stamps import YEAR_TWO_S, format_stamp, parse_stamp

_SECONDS_END = 19  # of "2026-01-01T00:00:00"
_FIGURES = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18]
_LONGEST = len("2026-01-01T00:00:00.123456+00:00")
_SHORTEST = len("2026-01-01T00:00:00Z")
FEW_COUNT = 256
"""So many stamps are read sooner one by one than in bulk."""


def parse_times(values: Sequence[bytes]) -> Floats:
    """Seconds since 1970-01-01 UTC for each stamp, NaN for what is not a time.

    The two forms that Graphiti writes, and the same with ``Z`` or a space, are read in bulk;
    every other one by :meth:`datetime.datetime.fromisoformat`, to the same last digit.

    >>> parse_times([b"1970-01-02T00:00:00.5+00:00", b"1970-01-02 05:30:00+05:30", b""]).tolist()
    [86400.5, 86400.0, nan]
    """
    widths = np.fromiter(map(len, values), np.int64, len(values))
    ends = np.cumsum(widths)
    return parse_times_in(b"".join(values), ends - widths, ends)


def parse_times_in(text: bytes, starts: Ints, ends: Ints) -> Floats:
    """The same for stamps that stand within one text, from each start to below its end.

    >>> parse_times_in(b"at 1970-01-02 in UTC", np.array([3]), np.array([13])).tolist()
    [86400.0]
    """
    if len(starts) <= FEW_COUNT:
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        return np.array([_parse_one(text[start:end]) for start, end in spans], np.float64)
    return _parse_many(text, starts, ends)


def _parse_many(text: bytes, starts: Ints, ends: Ints) -> Floats:
    seconds = np.full(len(starts), np.nan)
    widths = ends - starts
    rest = widths > 0
    for width in np.flatnonzero(np.bincount(np.minimum(widths, _LONGEST + 1))).tolist():
        if not _SHORTEST <= width <= _LONGEST:
            continue
        rows = np.flatnonzero(widths == width)
        # Every place as the beginning of a stamp, without copying.
        windows = np.ndarray((len(text) - width + 1, width), np.uint8, text, strides=(1, 1))
        cells = windows[starts[rows]]
        in_bulk, microseconds = _parse_bulk(np.ascontiguousarray(cells.T))
        seconds[rows[in_bulk]] = microseconds[in_bulk] / 1e6
        rest[rows[in_bulk]] = False
    for row in np.flatnonzero(rest).tolist():
        seconds[row] = _parse_one(text[starts[row] : ends[row]])
    seconds[seconds < YEAR_TWO_S] = np.nan
    return seconds


def format_time(seconds: float) -> str:
    """The stamp Graphiti writes for a moment; empty for NaN.

    >>> format_time(86400.5), format_time(0.0), format_time(float("nan"))
    ('1970-01-02T00:00:00.500000+00:00', '1970-01-01T00:00:00+00:00', '')
    """
    return "" if np.isnan(seconds) else format_stamp(seconds)


def _parse_one(value: bytes) -> float:
    if not value:
        return float("nan")
    try:
        return parse_stamp(value.decode())
    except UnicodeDecodeError:
        return float("nan")


def _parse_bulk(cells: npt.NDArray[np.uint8]) -> tuple[Bools, Ints]:
    """Which stamps have a common form, and their microseconds since 1970.

    Args:
        cells: shape (length of a stamp, stamps): the characters, one stamp a column.
    """
    zulu = cells[-1] == ord("Z")
    if zulu.all():
        return _parse_form(cells, b"Z")
    if not zulu.any():
        return _parse_form(cells, b"+00:00")
    good = np.zeros(cells.shape[1], np.bool_)
    microseconds = np.zeros(cells.shape[1], np.int64)
    for rows, suffix in ((zulu, b"Z"), (~zulu, b"+00:00")):
        good[rows], microseconds[rows] = _parse_form(cells[:, rows], suffix)
    return good, microseconds


def _parse_form(cells: npt.NDArray[np.uint8], suffix: bytes) -> tuple[Bools, Ints]:
    fraction_end = len(cells) - len(suffix)
    digits = fraction_end - _SECONDS_END - 1  # -1: no point and no fraction
    if digits not in (-1, 1, 2, 3, 4, 5, 6):
        return np.zeros(cells.shape[1], np.bool_), np.zeros(cells.shape[1], np.int64)
    good = (cells[10] == ord("T")) | (cells[10] == ord(" "))
    marks = [(4, "-"), (7, "-"), (13, ":"), (16, ":"), (19, ".")][: 4 + (digits > 0)]
    for place, mark in [*marks, *enumerate(suffix.decode(), fraction_end)]:
        good &= cells[place] == ord(mark)

    figures = np.zeros((20, cells.shape[1]), np.uint8)
    figures[:14] = cells[_FIGURES]
    figures[:14] -= ord("0")  # wraps round, so that no other byte is below 10
    if digits > 0:
        figures[14 : 14 + digits] = cells[_SECONDS_END + 1 : fraction_end]
        figures[14 : 14 + digits] -= ord("0")
    good &= (figures < 10).all(axis=0)
    pairs = (figures[::2] * np.uint8(10) + figures[1::2]).astype(np.int32)
    century, year, month, day, hour, minute, second, *fraction = pairs
    year += 100 * century
    good &= (year > 0) & (month > 0) & (month < 13) & (hour < 24) & (minute < 60) & (second < 60)
    month_starts = _month_starts_days()
    index = np.where(good, year * 12 + month - 13, 0)
    first = month_starts[index]
    good &= (day > 0) & (first + day <= month_starts[index + 1])
    seconds = (first + day - 1) * 86_400 + (hour * 3_600 + minute * 60 + second)
    return good, seconds * 1_000_000 + (fraction[0] * 10_000 + fraction[1] * 100 + fraction[2])


@cache
def _month_starts_days() -> Ints:
    """First day of every month from January of year 1, in days since 1970."""
    months = np.arange("0001-01", "10000-02", dtype="datetime64[M]")
    return months.astype("datetime64[D]").astype(np.int64)
