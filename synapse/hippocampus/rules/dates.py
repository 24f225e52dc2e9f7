"""Days and months in words, as ISO 8601 writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(r"[^\W_]+")
_DAY = re.compile(r"^(\d{1,2})(?:st|nd|rd|th)?$")
_YEAR = re.compile(r"^[12]\d{3}$")


def iso_date(text: str, months: Sequence[str]) -> str:
    """A day, or a month of a year, that a name consists of; empty if it is anything else.

    >>> months = ["january", "february", "march"]
    >>> iso_date("March 5th, 2026", months), iso_date("the 5 of Mar 2026", months)
    ('2026-03-05', '2026-03-05')
    >>> iso_date("March 2026", months), iso_date("March 5", months), iso_date("5 of 7", months)
    ('2026-03', '--03-05', '')
    """
    year = month = day = ""
    for word in _WORD.findall(text.casefold()):
        number = _DAY.match(word)
        if _YEAR.match(word) and not year:
            year = word
        elif number and not day:
            day = f"-{int(number[1]):02d}"
        elif len(word) >= 3 and not month and any(name.startswith(word) for name in months):
            place = next(i for i, name in enumerate(months, 1) if name.startswith(word))
            month = f"-{place:02d}"
        elif word not in ("of", "the"):
            return ""
    return f"{year or '-'}{month}{day}" if month and (year or day) else ""
