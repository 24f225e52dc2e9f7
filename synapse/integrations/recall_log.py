"""Logs of recalls that other systems have written: JSON lines, one recall set a line.

``{"uuids": ["…", "…"], "at": "2026-01-10T06:00:00Z", "source": "search", "asked": true}``

``uuids`` names the memories in the order in which they were given back; ``ranks`` instead names
each with its rank (``{"…": 1, "…": 3}``). ``at`` is an ISO 8601 time (UTC where it names no zone)
or seconds since 1970. ``source`` is ``log`` and ``asked`` true where a line does not say. Other
keys are refused: a misspelt ``asked`` would make recalls of what nobody asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import isnan
from typing import Any

from synapse.errors import UsageError, shown
from synapse.hippocampus.numeric import SECONDS_PER_DAY
from synapse.hippocampus.recall import RecallSet, as_written
from synapse.hippocampus.stamps import parse_stamp

_BEYOND_S = 1e300
_KEYS = {"uuids", "ranks", "at", "source", "asked"}


def read_recall_log(lines: Iterable[str], *, now_s: float) -> list[RecallSet]:
    """The recall sets of a log, in order of time.

    Args:
        lines: one JSON object each; empty lines are passed over.
        now_s: the present moment. A recall more than a day later is refused.

    Raises:
        UsageError: a line is no recall; the sentence names it, and nothing of the log is taken.

    >>> log = ['{"uuids": ["fact-1"], "at": 5.0}', "", '{"ranks": {"fact-2": 3}, "at": 4}']
    >>> [(r.ranks, r.at_s) for r in read_recall_log(log, now_s=10.0)]
    [((('fact-2', 3),), 4.0), ((('fact-1', 1),), 5.0)]
    """
    recall_sets = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            recall_sets.append(_recall_set(line, now_s))
        except UsageError as error:
            raise UsageError(f"line {number}: {error}") from None
    return sorted(recall_sets, key=lambda recall_set: recall_set.at_s)


def _recall_set(line: str, now_s: float) -> RecallSet:
    try:
        record = json.loads(line, object_pairs_hook=_without_repetition)
    except (ValueError, RecursionError):
        raise UsageError("not JSON; a line holds one object") from None
    if not isinstance(record, dict):
        raise UsageError("not a JSON object")
    unknown = sorted(record.keys() - _KEYS)
    if unknown:
        raise UsageError(f"unknown key {shown(unknown[0])}; known are {', '.join(sorted(_KEYS))}")
    asked = record.get("asked", True)
    if not isinstance(asked, bool):
        raise UsageError("asked is true or false")
    at_s = _seconds(record.get("at"))
    if at_s > now_s + SECONDS_PER_DAY:
        raise UsageError(f"at {as_written(record['at'])} lies in the future")
    return RecallSet(_ranks(record), record.get("source", "log"), at_s, asked)


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise UsageError(f"{shown(key)} stands twice in one object; name it once")
        found[key] = value
    return found


def _ranks(record: dict[str, Any]) -> tuple[tuple[str, int], ...]:
    uuids, ranks = record.get("uuids"), record.get("ranks")
    if isinstance(uuids, list) and ranks is None:
        return tuple((uuid, rank) for rank, uuid in enumerate(uuids, 1))
    if isinstance(ranks, dict) and uuids is None:
        return tuple(ranks.items())
    raise UsageError("needs either uuids, a list, or ranks, an object of uuid and rank")


def _seconds(at: Any) -> float:
    if isinstance(at, int | float) and not isinstance(at, bool):
        return float(max(min(at, _BEYOND_S), -_BEYOND_S))  # no float holds every whole number
    seconds = parse_stamp(at) if isinstance(at, str) else float("nan")
    if isnan(seconds):
        raise UsageError(f"at {as_written(at)} is no time; write it like 2026-01-10T06:00:00Z")
    return seconds
