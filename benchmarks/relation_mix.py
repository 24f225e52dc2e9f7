"""Which relations a synthetic graph has, how often each occurs, and how often facts are replaced.

``LIKE_GRAPHITI`` follows a real Graphiti memory, that of a coding agent in July 2025. Of its 185
facts that are no housekeeping 41 % tell an event (MODIFIED, EXECUTED_COMMAND), 51 % one of many
values (USES, HAS_FIELD) and 8 % the value of a property that holds one at a time (RUNS_ON); a
quarter have a name that no other fact has. Of the facts with one of many values 53 % share
subject, relation and episode with another (*uses A, B and C*), of the events 13 %, of the others
none. 10 % have been ended by Graphiti; of 21 such ends that were judged by hand 4 were right.
Housekeeping (IS_DUPLICATE_OF), which newer versions no longer write, and facts that link an
entity to itself are left out here: both would be less work.

In that memory no replaced fact was left open. Here one in five is, two per cent of all facts, so
that the detectors have something to find.

``HARSH`` is no memory that anybody has: relation names that mostly mean one value at a time, and
values at random. One fact in seven is contradicted.
"""

from __future__ import annotations

from dataclasses import dataclass

SINGLE = {"RUNS_ON": 2.0, "BELONGS_TO_COMPONENT": 1.6, "WORKS_AT": 1.3, "LIVES_IN": 1.1,
          "HOSTED_ON": 0.9, "REPORTS_TO": 0.7}  # fmt: skip
EVENTS = {"MODIFIED": 10.0, "MODIFIED_FILE": 10.0, "EXECUTED_COMMAND": 4.0, "USED_TOOL": 3.0,
          "ADDED_PROPERTY": 3.0, "VISITED": 1.5, "DISCUSSED": 1.5, "MET_WITH": 1.0,
          "FETCHED_URL": 0.5}  # fmt: skip
MANY = {"USES": 8.0, "RELATED_TO": 4.0, "KNOWS": 3.0, "HAS_FIELD": 2.0, "REFERENCES": 2.0,
        "DEPENDS_ON": 2.5, "LIKES": 2.0, "READS_FILE": 2.0, "CONFIGURES": 1.5, "EXTENDS": 1.5,
        "INTEGRATED_WITH": 0.7}  # fmt: skip
RARE_WEIGHT = 12.0
"""Of all rare events, and of all rare relations with many values."""
_THINGS = (
    "SERVICE", "LIBRARY", "FUNCTION", "SETTING", "TABLE", "QUERY", "IMAGE", "BRANCH", "SCRIPT",
    "ISSUE", "PAGE", "LAYER", "HOOK", "DEPENDENCY", "PERMISSION", "DOCUMENT", "LESSON", "PROBLEM",
)  # fmt: skip
CONTINUED_EVENTS_RATIO, CONTINUED_MANY_RATIO = 0.08, 0.42


@dataclass(frozen=True)
class RelationMix:
    """Relations and what becomes of their facts. Ratios are shares, from 0 to 1."""

    names: tuple[str, ...]
    weights: tuple[float, ...]
    """How often an episode begins to speak of each."""
    continued_ratio: tuple[float, ...]
    """How often the next fact of the episode has the same subject and relation, for each."""
    single_count: int
    """So many names, the first ones, are properties of an entity that hold one value at a time;
    every entity of a topic is as likely to be asked for them."""
    replaced_ratio: float
    """Facts that a later one of the same subject and relation replaces."""
    single_replaced_ratio: float
    """Of these the ones whose relation holds one value at a time."""
    ended_ratio: float
    """Of these the ones that Graphiti has ended."""
    named_ratio: float
    """Of these the ones whose value the later fact names: *instead of*."""


def _with_rare(common: dict[str, float], *verbs: str) -> dict[str, float]:
    rare = [f"{verb}_{thing}" for verb in verbs for thing in _THINGS]
    return common | dict.fromkeys(rare, RARE_WEIGHT / len(rare))


ALL_EVENTS = _with_rare(EVENTS, "TESTED", "REMOVED", "OPENED", "REVIEWED", "REQUESTED", "FIXED")
ALL_MANY = _with_rare(MANY, "READS", "CALLS", "NEEDS", "CONTAINS", "SUPPORTS", "MENTIONS")
_EACH = SINGLE | ALL_EVENTS | ALL_MANY
LIKE_GRAPHITI = RelationMix(
    names=tuple(_EACH),
    weights=tuple(_EACH.values()),
    continued_ratio=(
        *(0.0,) * len(SINGLE),
        *(CONTINUED_EVENTS_RATIO,) * len(ALL_EVENTS),
        *(CONTINUED_MANY_RATIO,) * len(ALL_MANY),
    ),
    single_count=len(SINGLE),
    replaced_ratio=0.1,
    single_replaced_ratio=0.2,
    ended_ratio=0.8,
    named_ratio=0.3,
)
_HARSH = [
    f"{verb}_{what}"
    for verb in ("USES", "OWNS", "RUNS", "NEEDS", "KNOWS", "LIKES", "MOVES", "TESTS")
    for what in ("SERVICE", "LIBRARY", "MACHINE", "PERSON", "PLACE")
]
HARSH = RelationMix(
    names=tuple(_HARSH),
    weights=(1.0,) * len(_HARSH),
    continued_ratio=(0.0,) * len(_HARSH),
    single_count=0,
    replaced_ratio=0.05,
    single_replaced_ratio=0.0,
    ended_ratio=1.0,
    named_ratio=0.0,
)
