"""What the facts about a graph and the room beside it mean for its memories."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from synapse.hippocampus.diagnosis import DAY_S, Finding, Judgement, counted, short, some, span
from synapse.hippocampus.health import Contents, GraphHealth, Queue, Rights, RoomHealth, Stamps
from synapse.hippocampus.model import DEFAULT_GROUPS
from synapse.hippocampus.quantity import quantity

OVERDUE_DAYS = 2.0
MANY_FAILURES_COUNT = 3
RECORDED = (
    "created_at of entities",
    "created_at of facts",
    "created_at of episodes",
    "valid_at of episodes",
)
"""Times that cannot lie in the future; a fact may well begin or end there."""


def diagnose_graph(health: GraphHealth) -> list[Finding]:
    """One finding for each check of a graph.

    >>> health = GraphHealth("mine", contents=Contents(entities_count=1), room=RoomHealth())
    >>> {finding.level for finding in diagnose_graph(health)}
    {'ok'}
    """
    graph, contents, room = health.graph, health.contents, health.room
    unread: Judgement = ("note", "not checked, for want of the rights above")
    findings = [Finding("rights", *_rights(health.rights), graph)]
    for name, of_contents in _OF_CONTENTS.items():
        judged = unread if contents is None else of_contents(graph, contents)
        findings.append(Finding(name, *judged, graph))
    for name, of_room in _OF_ROOM.items():
        judged = unread if room is None else of_room(graph, room)
        findings.append(Finding(name, *judged, graph))
    return findings


def _rights(rights: Rights) -> Judgement:
    if not rights.missing:
        return "ok", "the database user may do all that Synapse needs"
    lacks = " ".join(rights.missing)
    return "problem", f"the database user lacks {lacks}; grant it with ACL SETUSER"


def _groups(graph: str, contents: Contents) -> Judgement:
    if not contents.entities_count and not contents.facts_count:
        return "note", (
            "the graph holds no memory: asking Graphiti for an unknown group leaves such a graph; "
            "if nothing is to come, delete it"
        )
    others = [
        group
        for group in sorted(contents.items_by_group)
        if group != graph and group not in DEFAULT_GROUPS
    ]
    if not others:
        entities = quantity(contents.entities_count, "entity")
        return "ok", f"{entities}, {quantity(contents.facts_count, 'fact')}, one group"
    items = sum(contents.items_by_group[group] for group in others)
    return "note", (
        f"{items} items are of other groups ({some(others)}): --group-id opens a graph of that "
        "name if there is one; reach these with --graph and --group-id"
    )


def _dates(_: str, contents: Contents) -> Judgement:
    undated, facts = contents.undated_facts_count, contents.facts_count
    if not undated:
        return "ok", "every fact says since when it holds"
    return "note", (
        f"{undated} of {facts} facts ({undated / facts:.0%}) have no valid_at: when they were "
        "recorded stands in for it; name days in what you tell Graphiti"
    )


def _mentions(_: str, contents: Contents) -> Judgement:
    lone, entities = contents.unmentioned_entities_count, contents.entities_count
    if not lone:
        return "ok", "every entity is mentioned in an episode"
    return "note", (
        f"{lone} of {entities} entities ({lone / entities:.0%}) are mentioned in no episode: their "
        "facts or their own record date them; add_triplet and imports leave such"
    )


def _zones(_: str, contents: Contents) -> Judgement:
    stamps = contents.stamps.items()
    naive = counted({place: each.naive_count for place, each in stamps})
    unreadable = counted({place: each.unreadable_count for place, each in stamps})
    parts = [f"{naive} have no zone and are read as UTC"] if naive else []
    parts += [f"{unreadable} cannot be read and count as unknown"] if unreadable else []
    if not parts:
        return "ok", "every time is written with its zone"
    return "note", f"{'; '.join(parts)}: give Graphiti times with a zone"


def _future(_: str, contents: Contents) -> Judgement:
    none = Stamps()
    future = {place: contents.stamps.get(place, none).future_count for place in RECORDED}
    if not any(future.values()):
        return "ok", "nothing was recorded in the future"
    return "note", (
        f"{counted(future)} lie in the future and keep memories from fading until then: check the "
        "clock of whoever adds episodes"
    )


def _damage(_: str, room: RoomHealth) -> Judgement:
    return ("problem", room.damage) if room.damage else ("ok", "what Synapse keeps can be read")


def _lock(graph: str, room: RoomHealth) -> Judgement:
    holder, left_s = room.lock_holder, room.lock_left_s
    if holder is None:
        return "ok", "no run holds the lock"
    if left_s == math.inf:
        key = f"synapse:{{{short(graph)}}}:lock"
        return "problem", f"the lock of {short(holder)} never expires: delete the key {key}"
    left = "" if left_s is None else f" for {span(left_s)} more, unless it extends it"
    return "note", f"run {short(holder)} holds the lock{left}: wait; a dead run's lock expires"


def _recalls(_: str, room: RoomHealth) -> Judgement:
    return _queue(room.recalls, "recalls")


def _surprises(_: str, room: RoomHealth) -> Judgement:
    return _queue(room.surprises, "surprises")


def _queue(queue: Queue, what: str) -> Judgement:
    if not queue.waiting_count:
        return "ok", f"no {what} wait for a run"
    waiting = f"{queue.waiting_count} {what} wait, the oldest for {span(queue.oldest_age_s)}"
    if queue.oldest_age_s > OVERDUE_DAYS * DAY_S:
        return "problem", f"{waiting}: no run takes them over; schedule synapse consolidate"
    return "ok", f"{waiting}; the next run takes them over"


def _runs(_: str, room: RoomHealth) -> Judgement:
    failures = room.failures_count
    if failures >= MANY_FAILURES_COUNT:
        return "problem", f"the last {failures} runs failed; synapse consolidate says why"
    if room.unfinished_runs and room.lock_holder is None:
        return "note", (
            f"{some(room.unfinished_runs)} changed the graph and came to no end: apply the same "
            "plan again, or take it back with synapse undo"
        )
    if failures:
        return "note", f"{failures} of the last runs failed; synapse consolidate says why"
    return "ok", "no run failed or stopped half-way"


def _traces(_: str, room: RoomHealth) -> Judgement:
    kept, lost = room.traces_count, room.lost_traces_count
    if not lost:
        return "ok", f"{kept} traces, none of a memory that is gone"
    return "note", f"{lost} of {kept} traces are of memories that are gone; the next run drops them"


_OF_CONTENTS: Mapping[str, Callable[[str, Contents], Judgement]] = {
    "groups": _groups,
    "dates": _dates,
    "mentions": _mentions,
    "zones": _zones,
    "future": _future,
}
_OF_ROOM: Mapping[str, Callable[[str, RoomHealth], Judgement]] = {
    "room": _damage,
    "lock": _lock,
    "recalls": _recalls,
    "surprises": _surprises,
    "runs": _runs,
    "traces": _traces,
}
