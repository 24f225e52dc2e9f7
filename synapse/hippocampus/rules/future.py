"""Dates in sentences that had not come when their fact began."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

_YEAR = r"(?<![\w.:/-])(2[0-2]\d\d)(?![\w:/]|[.-]\d)"
_ISO = re.compile(r"(?<![\w.:/-])(2[0-2]\d\d)-(\d\d)(?:-(\d\d))?(?![\w-])")
_QUARTER = re.compile(rf"\bq([1-4]),? (?:of )?{_YEAR}", re.IGNORECASE)
_BARE_YEAR = re.compile(r"(?<!\d)(2[0-2]\d\d)(?!\d|[.,]\d)")


def names_later_date(masked: str, start_s: float, months: Sequence[str]) -> bool:
    """Whether a sentence names a date after the moment at which its fact begins.

    Args:
        masked: the sentence with marks for its names.
        start_s: the moment, seconds since 1970.
        months: names of the months, in order.

    >>> may_s = 1_778_000_000.0  # in May 2026
    >>> [names_later_date(said, may_s, ["january", "may", "june"]) for said in (
    ...     "From June 2027 ⟨s⟩ is ⟨o⟩", "⟨s⟩ left ⟨o⟩ in January 2026", "By 2030 ⟨s⟩ left ⟨o⟩")]
    [True, False, True]
    """
    if not np.isfinite(start_s) or "2" not in masked:
        return False
    start = str(np.datetime64(int(start_s), "s").astype("datetime64[D]"))
    return any(date > start[: len(date)] for date in _dates(masked, tuple(months)))


def _dates(masked: str, months: tuple[str, ...]) -> Iterator[str]:
    """The dates of a sentence as ISO 8601 writes them, as long as they are known."""
    for year in _BARE_YEAR.findall(masked):
        yield year
    for year, month, day in _ISO.findall(masked):
        yield "-".join(part for part in (year, month, day) if part)
    for quarter, year in _QUARTER.findall(masked):
        yield f"{year}-{3 * int(quarter) - 2:02d}"
    for match in _worded(months).finditer(masked):
        place = next(
            i for i, name in enumerate(months, 1) if name.startswith(match["month"].casefold())
        )
        day = match["before"] or match["after"]
        yield f"{match['year']}-{place:02d}" + (f"-{int(day):02d}" if day else "")


@lru_cache(8)
def _worded(months: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(f"{name[:3]}(?:{name[3:]})?" if name[3:] else name for name in months)
    return re.compile(
        rf"(?:\b(?P<before>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?)?"
        rf"\b(?P<month>{names})\.?(?: (?P<after>\d{{1,2}})(?:st|nd|rd|th)?)?,? (?:of )?"
        rf"(?P<year>2[0-2]\d\d)(?!\w)",
        re.IGNORECASE,
    )
