"""Trivial rules, to stand beside ours in every table."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from .data import Edge

SEED_PREFIXES = ("uses_", "has_", "is_", "deployed_")
"""Relations that the simplest published rule takes for single-valued."""
SEED_CUE = re.compile(r"\b(?:instead of|replacing|not)\b", re.IGNORECASE)
"""The same rule's phrases: *instead of X*, *replacing X*, *not X*."""
CHANGE_CUES = re.compile(
    r"\b(?:now|no longer|any ?more|instead|actually|chang(?:ed|ing)|switched|moved|updated?|"
    r"replac(?:ed|ing)|new|increased|decreased|extended|postponed|cancell?ed|stopped|used to|"
    r"previously|rather than|correction|just (?:got|started|finished|moved|bought))\b",
    re.IGNORECASE,
)
"""Words that often come with a change."""

Key = Callable[[Edge], tuple[str, ...]]


def newest_wins(edges: Iterable[Edge], key: Key) -> set[str]:
    """Ids of the edges that have a later one with another value under the same key."""
    groups: defaultdict[tuple[str, ...], list[Edge]] = defaultdict(list)
    for edge in edges:
        groups[key(edge)].append(edge)
    losers: set[str] = set()
    for group in groups.values():
        losers |= _older_than_another(group)
    return losers


def _older_than_another(group: list[Edge]) -> set[str]:
    """Sorted from the newest: only the values of strictly newer edges have to be known."""
    group = sorted(group, key=lambda edge: edge.start, reverse=True)
    newer: set[str] = set()
    together: list[Edge] = []
    at: datetime | None = None
    losers = set()
    for edge in group:
        if edge.start != at:
            newer |= {other.object for other in together}
            together, at = [], edge.start
        together.append(edge)
        if len(newer) > 1 or (newer and edge.object not in newer):
            losers.add(edge.id)
    return losers


def by_slot(edge: Edge) -> tuple[str, ...]:
    """Subject and relation as written."""
    return edge.subject, edge.name


def by_subject(edge: Edge) -> tuple[str, ...]:
    """Subject alone."""
    return (edge.subject,)


def has_seed_prefix(relation: str) -> bool:
    """Whether the simplest published rule takes a relation for single-valued."""
    return relation.lower().startswith(SEED_PREFIXES)


def seed_cues(edges: Sequence[Edge]) -> set[str]:
    """Edges whose object a later fact of the same subject names after one of the seed's cues."""
    of_subject: defaultdict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        of_subject[edge.subject].append(edge)
    return {
        older.id
        for edge in edges
        if SEED_CUE.search(edge.text)
        for older in of_subject[edge.subject]
        if older.start < edge.start and seed_cue_names(edge.text, older.object)
    }


def seed_cue_names(text: str, value: str) -> bool:
    """Whether a text says one of the seed's cues and right after it the value."""
    wanted = value.casefold()
    return any(
        text[cue.end() :].lstrip().casefold().startswith(wanted) for cue in SEED_CUE.finditer(text)
    )
