"""Same two entities and same property, told again: with another value, or only in other words."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from synapse.hippocampus.finding import Finding, date
from synapse.hippocampus.lexicon.words import stem
from synapse.hippocampus.model import Ints
from synapse.hippocampus.numeric import among
from synapse.hippocampus.rules.amounts import Shape
from synapse.hippocampus.rules.grade import UNREAD_CONFIDENCE
from synapse.hippocampus.rules.graph_reading import EVENT, MULTI, SINGLE, GraphReading
from synapse.hippocampus.rules.statement import SUBJECT, TARGET
from synapse.hippocampus.rules.succession import Succession
from synapse.hippocampus.rules.told import read
from synapse.hippocampus.wording import fold_name

OTHER_VALUE, SAID_AGAIN = "other_value", "said_again"
_CONFIDENCE = {SINGLE: 0.9, MULTI: 0.75}
_UNKNOWN_CONFIDENCE = 0.8
_DUPLICATE_CONFIDENCE = 0.9
_DIGIT = re.compile(r"\d")
_NO_VALUES = Shape("", (), 0)
_FRAME_WORDS_MIN_COUNT = 2
_VALUES_MAX_COUNT = 6
_NUMBER, _OF = "⟨number⟩", "of"


def rewordings(graph: GraphReading, of: Ints | None = None) -> Iterator[Finding]:
    """Active facts that a newer fact of the same pair and property tells otherwise, or repeats.

    Args:
        graph: the graph.
        of: facts whose pairs and properties alone are looked at; all by default.
    """
    rows = _repeated(graph, of)
    if not len(rows):
        return
    moods = [graph.mood(row) for row in rows.tolist()]
    rows = rows[[mood.asserts and not mood.recalls for mood in moods]]
    shapes = {row: _shape(graph, row) for row in rows.tolist()}
    telling = rows[[_can_conflict(shapes[row]) for row in rows.tolist()]]
    telling = telling[[not graph.full_mood(row).acts for row in telling.tolist()]]
    yield from _other_values(graph, telling, shapes)
    yield from _duplicates(graph, rows, shapes)


def _shape(graph: GraphReading, row: int) -> Shape:
    masked = graph.masked(row)
    if graph.spoken.states[row] or _DIGIT.search(masked):
        return graph.amounts.shape(masked)
    return _NO_VALUES


def _repeated(graph: GraphReading, of: Ints | None) -> Ints:
    """Facts that share source, target and property with another one; events aside."""
    rows = np.flatnonzero(graph.speaking & (graph.cardinality != EVENT))
    group = _group(graph, rows)
    if of is not None:
        wanted = among(group, _group(graph, of))
        rows, group = rows[wanted], group[wanted]
    order = np.argsort(group, kind="stable")
    same = group[order][1:] == group[order][:-1]
    shared = np.zeros(len(rows), np.bool_)
    shared[order[1:][same]] = shared[order[:-1][same]] = True
    return rows[shared]


def _group(graph: GraphReading, rows: Ints) -> Ints:
    facts = graph.snapshot.facts
    pair = facts.source[rows] * len(graph.snapshot.entities) + facts.target[rows]
    return pair * (int(graph.property.max(initial=0)) + 1) + graph.property[rows]


def _can_conflict(shape: Shape) -> bool:
    return (
        0 < len(shape.values) <= _VALUES_MAX_COUNT
        and shape.words_count >= _FRAME_WORDS_MIN_COUNT
        and not shape.identifiers_count
    )


def _other_values(graph: GraphReading, rows: Ints, shapes: dict[int, Shape]) -> Iterator[Finding]:
    if not len(rows):
        return
    frames: dict[tuple[int, str], int] = {}
    values: dict[tuple[str, ...], int] = {}
    groups = _group(graph, rows).tolist()
    group = np.array(
        [
            frames.setdefault((g, shapes[row].frame), len(frames))
            for g, row in zip(groups, rows.tolist(), strict=True)
        ],
        np.int64,
    )
    value = np.array(
        [values.setdefault(shapes[row].values, len(values)) for row in rows.tolist()], np.int64
    )
    succession = Succession(graph.snapshot, graph.time, rows, group, value)
    for place in succession.places().tolist():
        row = int(succession.row[place])
        step = next(succession.steps(place))
        if not graph.active[row] or graph.mood(step.new).adds:
            continue
        old, new = shapes[row].values, shapes[step.new].values
        changed = [f"{o} -> {n}" for o, n in zip(old, new, strict=True) if o != n]
        yield Finding(
            fact=row,
            by=step.new,
            verdict="missed",
            rule=OTHER_VALUE,
            confidence=_confidence(graph, row, step.new, shapes),
            invalid_at_s=step.at_s,
            evidence=f"A newer fact, from {date(step.at_s)}, says the same with another value: "
            f"{', '.join(changed)[:60]}.",
        )


def _confidence(graph: GraphReading, old: int, new: int, shapes: dict[int, Shape]) -> float:
    """Where several values differ, or the circumstances may, the sentences may tell two things."""
    confidence = _CONFIDENCE.get(int(graph.cardinality[old]), _UNKNOWN_CONFIDENCE)
    sure = (
        graph.scopes_part(old, new) == "no"
        and read(graph, new).grade in ("plainly", "perhaps")
        and _measures(graph, shapes[old], shapes[new])
    )
    return confidence if sure else min(confidence, UNREAD_CONFIDENCE)


def _measures(graph: GraphReading, old: Shape, new: Shape) -> bool:
    """Whether one value differs, and it is a quantity or a state: *port 80*, not *shard 1 of*."""
    frame = new.frame.split()
    places = [i for i, word in enumerate(frame) if word[0] == "⟨" and word not in (SUBJECT, TARGET)]
    changed = [i for i, (o, n) in enumerate(zip(old.values, new.values, strict=True)) if o != n]
    if len(changed) != 1 or len(places) != len(new.values):
        return False
    place = places[changed[0]]
    if frame[place] != _NUMBER:
        return True
    noun, following = frame[place - 1 : place], frame[place + 1 : place + 2]
    return following != [_OF] and any(stem(word) in graph.assertions.nouns for word in noun)


def _duplicates(graph: GraphReading, rows: Ints, shapes: dict[int, Shape]) -> Iterator[Finding]:
    """Facts that say the same: of one pair, one property, one set of values."""
    rows = rows[graph.active[rows]]
    facts, time = graph.snapshot.facts, graph.time
    order = np.lexsort((time.created_s[rows], time.start_s[rows]))
    newest: dict[tuple[int, str], int] = {}
    for row, group in reversed(
        list(zip(rows[order].tolist(), _group(graph, rows[order]).tolist(), strict=True))
    ):
        single = graph.cardinality[row] == SINGLE and facts.source[row] != facts.target[row]
        said = _numbers(shapes[row]) if single else fold_name(facts.text[row])
        if graph.mood(row).negates:
            continue
        by = newest.setdefault((group, said), row)
        if by != row and _is_older(graph, row, by):
            yield Finding(
                fact=row,
                by=by,
                verdict="duplicate",
                rule=SAID_AGAIN,
                confidence=_DUPLICATE_CONFIDENCE,
                invalid_at_s=float(time.start_s[by]),
                evidence=f"A newer fact of the same two entities, from "
                f"{date(float(time.start_s[by]))}, says the same.",
            )


def _numbers(shape: Shape) -> str:
    return " ".join(value for value in shape.values if _DIGIT.search(value))


def _is_older(graph: GraphReading, old: int, new: int) -> bool:
    start_s, created_s = graph.time.start_s, graph.time.created_s
    if start_s[old] != start_s[new]:
        return bool(start_s[old] < start_s[new])
    return bool(created_s[old] < created_s[new])
