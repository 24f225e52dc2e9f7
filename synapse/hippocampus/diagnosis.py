"""Findings: what a check has found, in one sentence for a person.

A finding is ``ok``, a ``note`` (nothing is in danger, but a person should know) or a ``problem``
(memories may be lost, runs fail, or what was recorded never arrives). What could not be checked is
a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

Level = Literal["ok", "note", "problem"]
Judgement = tuple[Level, str]

DAY_S, HOUR_S = 86_400.0, 3_600.0
_SHOWN_COUNT, _SHOWN_CHARACTERS = 5, 40


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    check: str
    level: Level
    sentence: str
    graph: str | None = None
    """``None`` for the server."""

    def as_dict(self) -> dict[str, str | None]:
        """JSON values."""
        return asdict(self)


def unchecked(what: str, right: str) -> Judgement:
    """What the database user may not ask."""
    return "note", f"{what} could not be checked: the database user would need +{right}"


def span(seconds: float) -> str:
    """A length of time.

    >>> span(90.0), span(7_200.0), span(259_200.0)
    ('90 s', '2 hours', '3 days')
    """
    if seconds >= 2 * DAY_S:
        return f"{seconds / DAY_S:.0f} days"
    if seconds >= 2 * HOUR_S:
        return f"{seconds / HOUR_S:.0f} hours"
    return f"{seconds:.0f} s"


def counted(counts: Mapping[str, int]) -> str:
    """Counts with what they are of; zeros are left out.

    >>> counted({"facts": 2, "entities": 0})
    '2 facts'
    """
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


def short(name: str) -> str:
    """A name on one line of bounded length."""
    line = " ".join(name.split())
    return line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1] + "…"


def some(names: Sequence[str]) -> str:
    """The first few names, and how many more there are.

    >>> some(["a", "b", "c", "d", "e", "f"])
    'a, b, c, d, e and 1 more'
    """
    shown = ", ".join(map(short, names[:_SHOWN_COUNT]))
    rest = len(names) - _SHOWN_COUNT
    return f"{shown} and {rest} more" if rest > 0 else shown
