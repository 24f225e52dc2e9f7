"""Verbs that begin a new value: who *moved to* Rome no longer lives where she lived before."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from synapse.hippocampus.finding import Finding, date, shown
from synapse.hippocampus.lexicon.words import split_name, stem
from synapse.hippocampus.model import Ints
from synapse.hippocampus.numeric import among
from synapse.hippocampus.phrase import Phrase
from synapse.hippocampus.rules.graph_reading import EVENT, SINGLE, UNKNOWN, GraphReading
from synapse.hippocampus.rules.spelling import is_refinement
from synapse.hippocampus.rules.statement import TARGET
from synapse.hippocampus.wording import CACHED_COUNT, Beginning

RULE = "new_value_begins"
_WORDS_BETWEEN_MAX = 5
_REVIEW_CONFIDENCE = 0.7
"""Beginnings that are less sure than this wait for a decision."""
_OPEN_CONFIDENCE = 0.7
"""Where the older relation may hold several values, the change is at most this sure."""


@dataclass(frozen=True, slots=True)
class _Begun:
    start_s: float
    uuid: str
    row: int
    beginning: Beginning


def beginnings(graph: GraphReading) -> Iterator[Finding]:
    """Active facts of a family of which a newer fact of the same source begins another value."""
    begun = _begun(graph)
    if not begun:
        return
    facts, time = graph.snapshot.facts, graph.time
    rows = np.flatnonzero(
        graph.active & time.speaks & among(facts.source, np.array(list(begun)))
        & (graph.cardinality != EVENT)
    )  # fmt: skip
    families = [graph.reader.families(name) for name in time.relation_names]
    stems = [frozenset(map(stem, split_name(name))) for name in time.relation_names]
    open_slots = _values_count(graph, rows)
    for row in rows.tolist():
        relation = int(time.relation[row])
        if not families[relation] or graph.is_fixed[relation]:
            continue
        for candidate in _after(begun[int(facts.source[row])], float(time.start_s[row])):
            finding = None
            if candidate.beginning.families & families[relation]:
                finding = _finding(graph, row, candidate, stems[relation], open_slots)
            if finding is not None:
                yield finding
                break


def _begun(graph: GraphReading) -> dict[int, list[_Begun]]:
    """Facts that begin a value, by source and in order of time."""
    facts, time = graph.snapshot.facts, graph.time
    kinds = graph.cardinality_of_relation
    named = list(map(graph.reader.named_beginning, time.relation_names))
    by_name = [beginning for beginning, _ in named]
    marked = np.array([beginning is not None for beginning in by_name], np.bool_)
    told = np.array([is_told for _, is_told in named], np.bool_)
    open_to_text = marked | told | (kinds == EVENT) | (kinds == UNKNOWN)
    spoken = graph.spoken.beginnings & open_to_text[time.relation]
    rows = np.flatnonzero((marked[time.relation] | spoken) & graph.speaking & time.speaks)
    if not len(rows):
        return {}
    patterns, needles = graph.reader.beginnings, graph.languages[0].beginning_needles
    told_by = lru_cache(CACHED_COUNT)(partial(_told_by, patterns, [n.strip() for n in needles]))
    begun: defaultdict[int, list[_Begun]] = defaultdict(list)
    for row in rows.tolist():
        beginning = by_name[time.relation[row]]
        if spoken[row]:
            by_text = told_by(graph.masked(row))
            if by_text and (not beginning or by_text.families & beginning.families):
                beginning = by_text
        mood = graph.mood(row) if beginning else None
        if beginning and mood and mood.asserts and not (mood.adds or mood.negates or mood.recalls):
            begun[int(facts.source[row])].append(
                _Begun(float(time.start_s[row]), facts.uuid[row], row, beginning)
            )
    for listed in begun.values():
        listed.sort(key=lambda b: (b.start_s, b.uuid))
    return begun


def _told_by(
    patterns: Sequence[tuple[Beginning, Phrase]], parts: Sequence[str], masked: str
) -> Beginning | None:
    """What a sentence begins, if a part of some phrase stands before the target at all."""
    before = masked[: max(masked.rfind(TARGET), 0)].casefold()
    if not any(map(before.__contains__, parts)):
        return None
    return next((b for b, pattern in patterns if _begins(pattern, masked)), None)


def _begins(pattern: Phrase, masked: str) -> bool:
    """Whether the phrase stands before the target and speaks of it."""
    match = pattern.search(masked)
    if match is None:
        return False
    following = masked[match.end() :].split(TARGET)
    return len(following) > 1 and len(following[0].split()) <= _WORDS_BETWEEN_MAX


def _after(begun: list[_Begun], start_s: float) -> list[_Begun]:
    first = (
        bisect_right([b.start_s for b in begun], start_s)
        if len(begun) > 1
        else int(begun[0].start_s <= start_s)
    )
    return begun[first : first + 4]


def _values_count(graph: GraphReading, rows: Ints) -> dict[tuple[int, int], int]:
    """How many active values each slot has."""
    facts = graph.snapshot.facts
    slots: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for row in rows.tolist():
        slot = (int(facts.source[row]), int(graph.property[row]))
        slots[slot].add(int(facts.target[row]))
    return {slot: len(targets) for slot, targets in slots.items()}


def _finding(
    graph: GraphReading,
    row: int,
    begun: _Begun,
    stems: frozenset[str],
    open_slots: dict[tuple[int, int], int],
) -> Finding | None:
    facts, time = graph.snapshot.facts, graph.time
    support_s = float(time.support_s[row])
    if support_s > max(begun.start_s, float(np.nan_to_num(time.support_s[begun.row], nan=-np.inf))):
        return None
    if begun.beginning.only and not stems & frozenset(map(stem, begun.beginning.only)):
        return None
    if time.relation[row] == time.relation[begun.row]:
        return None
    old, new = graph.target_name(row), graph.target_name(begun.row)
    if is_refinement(old, new) or graph.amounts.value(old) == graph.amounts.value(new):
        return None
    if not _is_of_one_kind(graph, row, begun) or _says_otherwise(graph, row, begun):
        return None
    single = graph.cardinality[row] == SINGLE
    confidence = begun.beginning.confidence
    if not single:
        if open_slots[int(facts.source[row]), int(graph.property[row])] > 1:
            return None
        confidence = min(confidence, _OPEN_CONFIDENCE)
    sure = confidence >= _REVIEW_CONFIDENCE
    return Finding(
        fact=row,
        by=begun.row,
        verdict="missed" if sure else "needs review",
        rule=RULE,
        confidence=confidence,
        invalid_at_s=begun.start_s,
        evidence=f"A newer fact of the same source, from {date(begun.start_s)}, begins another "
        f'value: "{shown(new)}".',
    )


def _is_of_one_kind(graph: GraphReading, row: int, begun: _Begun) -> bool:
    """Whether the new value can stand where the old one does: *a mother* is no occupation."""
    old, new = graph.target_name(row), graph.target_name(begun.row)
    if any(map(str.isdigit, old)) != any(map(str.isdigit, new)):
        return False
    if old[:1].isupper() and new[:1].islower():
        return False
    if begun.beginning.only and begun.beginning.families & graph.assertions.words.posts:
        return graph.assertions.is_occupation(new) or not graph.assertions.is_occupation(old)
    kinds, other = (
        frozenset(graph.snapshot.entities.labels[graph.snapshot.facts.target[r]])
        for r in (row, begun.row)
    )
    common = kinds & other
    return not (kinds - common and other - common)


def _says_otherwise(graph: GraphReading, row: int, begun: _Begun) -> bool:
    """Whether the newer sentence is about another subject, or about what did not happen."""
    masked, relation = graph.masked(begun.row), graph.relation_name(row)
    return graph.assertions.read(masked, relation).grade == "not"
