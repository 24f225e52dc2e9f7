"""M3: single-hop questions of FactConsolidation, answered by the facts that are still active.

Subject and property of a question are given. It is right only if every active fact of its slot
carries an accepted answer: a rule that leaves the old value beside the new one has not answered.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .baselines import by_slot, newest_wins
from .data import Edge, MissingSet, Row
from .engine import Bench, missed, statements_of
from .result import Bar, Measured, Table, ratio

TITLE = "M3 answers"
CLEAN_BARS = {"6k": 1.00, "32k": 0.98, "64k": 0.98, "262k": 0.97}
NOISY_BAR = 0.88
SIZES = tuple(CLEAN_BARS)


@dataclass(frozen=True)
class Question:
    """What is asked about one slot, and the answers that count."""

    subject: str
    relation: str
    accepted: tuple[str, ...]


def measure(bench: Bench) -> Measured:
    """Both tracks of every size."""
    measured = Measured()
    table = Table(
        "M3 answers: share of questions right",
        ["set", "questions", "ours", "newest wins", "never invalidate"],
    )
    shares: dict[tuple[str, str], float | None] = {}
    for size in SIZES:
        for track in ("clean", "noisy"):
            try:
                edges = bench.data.consolidation_edges(size, track)
            except MissingSet as reason:
                measured.skipped.append(f"FC {size} {track}: {reason}")
                continue
            questions = questions_of(bench, size, edges, measured)
            found = missed(
                bench.findings(statements_of(edges), real=size == "6k", name=f"m3-{size}-{track}")
            )
            rules: list[set[str]] = [set(found), newest_wins(edges, by_slot), set()]
            right = [share_right(questions, edges, losers) for losers in rules]
            shares[size, track] = right[0]
            table.add(f"FC {size} {track}", len(questions), *right)
    measured.tables = [table]
    for size in SIZES:
        bar = CLEAN_BARS[size]
        measured.bars.append(Bar(f"M3 {size} clean", shares.get((size, "clean")), bar))
    for size in SIZES:
        measured.bars.append(Bar(f"M3 {size} noisy", shares.get((size, "noisy")), NOISY_BAR))
    return measured


def share_right(
    questions: Sequence[Question], edges: Sequence[Edge], losers: set[str]
) -> float | None:
    """Share of questions of which every active fact carries an accepted answer."""
    active: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for edge in edges:
        if edge.id not in losers:
            active[edge.slot].append(edge.object)
    right = sum(_is_right(q, active[q.subject, q.relation]) for q in questions)
    return ratio(right, len(questions))


def _is_right(question: Question, values: Sequence[str]) -> bool:
    return bool(values) and all(
        any(answer.casefold() in value.casefold() for answer in question.accepted)
        for value in values
    )


def questions_of(
    bench: Bench, size: str, edges: Sequence[Edge], measured: Measured
) -> list[Question]:
    rows = _single_hop_rows(bench, size)
    slots = _Slots(edges, bench.data.rows("factconsolidation", f"facts_{size}"))
    questions = [question for row in rows if (question := slots.question(row)) is not None]
    if len(questions) < len(rows):
        outside = len(rows) - len(questions)
        _say_once(measured, f"FC {size}: {outside} questions are about no slot of this half")
    if not questions:
        _say_once(
            measured,
            "where no questions are there, each slot with several values is asked for the last "
            "one: newest wins is right by construction on clean names",
        )
    return questions or _from_facts(edges)


def _say_once(measured: Measured, note: str) -> None:
    if note not in measured.notes:
        measured.notes.append(note)


def _from_facts(edges: Sequence[Edge]) -> list[Question]:
    slots: defaultdict[tuple[str, str], list[Edge]] = defaultdict(list)
    for edge in edges:
        slots[edge.slot].append(edge)
    return [
        Question(*slot, (max(group, key=lambda edge: edge.start).object,))
        for slot, group in slots.items()
        if len({edge.object for edge in group}) > 1
    ]


def _single_hop_rows(bench: Bench, size: str) -> list[Row]:
    for stem in (f"questions_{size}", "questions"):
        try:
            rows = bench.data.rows("factconsolidation", stem)
        except MissingSet:
            continue
        return [row for row in rows if _is_of(row, size) and _is_single_hop(row)]
    return []


def _is_of(row: Row, size: str) -> bool:
    said = next((str(row[key]) for key in ("size", "set", "source") if key in row), size)
    return re.search(rf"(?<!\d){size}$", said.lower()) is not None


def _is_single_hop(row: Row) -> bool:
    keys = ("hops", "hop", "type", "kind", "source")
    said = next((str(row[key]).lower() for key in keys if key in row), "single")
    return said == "1" or re.search(r"single|(?:^|_)sh(?:_|$)", said) is not None


class _Slots:
    """Finds the slot that a question is about: named by subject and relation, or by a fact."""

    def __init__(self, edges: Sequence[Edge], rows: Sequence[Row]) -> None:
        self._of_fact = {edge.id: edge.slot for edge in edges}
        self._known = set(self._of_fact.values())
        self._name_of = {row["pid"]: row["name"] for row in rows}

    def question(self, row: Row) -> Question | None:
        """The question, or ``None`` if it is about no slot of these facts."""
        slot = self._slot(row)
        accepted = tuple(_flat(row.get("answers", row.get("answer", []))))
        return Question(slot[0], slot[1], accepted) if slot and accepted else None

    def _slot(self, row: Row) -> tuple[str, str] | None:
        named = row.get("slot")
        if not isinstance(named, list) or len(named) != 2:
            named = [row.get("subject"), row.get("name") or row.get("property") or row.get("pid")]
        slot = (named[0], self._name_of.get(named[1], named[1]))
        if slot in self._known:
            return slot
        of_facts = (self._of_fact.get(value) for value in row.values() if isinstance(value, str))
        return next((slot for slot in of_facts if slot), None)


def _flat(answers: Any) -> list[str]:
    if isinstance(answers, str):
        return [answers]
    return [text for part in answers for text in _flat(part)]
