"""Same two entities, yes and no: *works at* and *left*, *likes* and *dislikes*, *no longer uses*.

Each fact says yes or no about one or more matters. Of two facts that say otherwise about one matter
of one pair the newer one counts; a fact that only says that something ended is never ended by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from synapse.hippocampus.finding import DENIED, Finding, date
from synapse.hippocampus.lexicon.words import stem
from synapse.hippocampus.model import Ints
from synapse.hippocampus.numeric import among
from synapse.hippocampus.rules.grade import REVIEW_RATIO, UNREAD_CONFIDENCE
from synapse.hippocampus.rules.graph_reading import EVENT, GraphReading
from synapse.hippocampus.rules.stance import OWN, Stance, StanceReader
from synapse.hippocampus.rules.statement import TARGET
from synapse.hippocampus.rules.succession import Step, Succession

_ROOT_COUNT = 6
"""Letters that a noun shares with its verb: *subscription*, *subscribes*."""
_AFTER_TARGET = re.compile(rf"{TARGET} ([^\W\d_]+)")
_AS_POST = re.compile(r"\bas (?:the |its |their |an? )?(.+?) (?:of|at|for|in)\b")


def denials(graph: GraphReading, of: Ints | None = None) -> Iterator[Finding]:
    """Active facts of which a newer fact of the same pair says the contrary.

    Args:
        graph: the graph.
        of: facts whose pairs alone are looked at; all by default.
    """
    time = graph.time
    rows = np.flatnonzero(graph.speaking & time.speaks)
    pair = _pair(graph, rows)
    if of is not None:
        wanted = among(pair, _pair(graph, of))
        rows, pair = rows[wanted], pair[wanted]
    order = np.argsort(pair, kind="stable")
    shared = np.zeros(len(rows), np.bool_)
    same = pair[order][1:] == pair[order][:-1]
    shared[order[1:][same]] = shared[order[:-1][same]] = True
    rows = rows[shared]
    reader = graph.stances
    stances = _denying(graph, rows, reader)
    if not stances:
        return
    rows = rows[among(_pair(graph, rows), _pair(graph, np.array(sorted(stances), np.int64)))]
    entries: list[tuple[int, int, int]] = []
    number_of: dict[tuple[int, str, int], int] = {}
    for row, of_pair in zip(rows.tolist(), _pair(graph, rows).tolist(), strict=True):
        stance = stances.get(row) or _affirming(graph, row, reader)
        if stance is None:
            continue
        stances[row] = stance
        for matter in sorted(stance.matters):
            own = int(graph.property[row]) if matter == OWN else -1
            group = number_of.setdefault((of_pair, matter, own), len(number_of))
            entries.append((row, group, int(stance.yes)))
    if not entries:
        return
    table = np.array(entries, np.int64)
    succession = Succession(graph.snapshot, time, table[:, 0], table[:, 1], table[:, 2])
    for place in succession.places().tolist():
        row = int(succession.row[place])
        if graph.active[row] and not _stays(graph, row, stances[row]):
            yield _finding(graph, stances, next(succession.steps(place)))


def _finding(graph: GraphReading, stances: dict[int, Stance], step: Step) -> Finding:
    old, new = stances[step.old], stances[step.new]
    said = "the contrary" if new.yes else graph.snapshot.facts.relation[step.new]
    confidence = min(old.confidence, new.confidence)
    parted = graph.scopes_part(step.old, step.new) != "no"
    unread = new.grade == "perhaps" and not _ends_its_own(graph, step)
    if unread or parted or graph.tells_of_earlier_years(step.new):
        confidence = min(confidence, UNREAD_CONFIDENCE)
    review = new.grade == "doubtfully"
    return Finding(
        fact=step.old,
        by=step.new,
        verdict="needs review" if review else "missed",
        rule=DENIED,
        confidence=round(confidence * (REVIEW_RATIO if review else 1.0), 3),
        invalid_at_s=step.at_s,
        evidence=f"A newer fact of the same two entities, from {date(step.at_s)}, says "
        f"otherwise: {' '.join(said.split())[:40]}.",
    )


def _ends_its_own(graph: GraphReading, step: Step) -> bool:
    """Whether the newer sentence, read for the older fact, plainly ends what that one tells.

    *Resigned as CEO of ⟨o⟩* for CEO_OF, *cancelled his ⟨o⟩ subscription* for SUBSCRIBES_TO.
    """
    relation = graph.relation_name(step.old)
    own = graph.assertions.own(relation)

    def is_own(word: str) -> bool:
        return any(stem(word.casefold())[:_ROOT_COUNT] == other[:_ROOT_COUNT] for other in own)

    masked = graph.masked(step.new)
    following = _AFTER_TARGET.search(masked)
    if following and len(following[1]) >= _ROOT_COUNT and is_own(following[1]):
        masked = masked[: following.start(1) - 1] + masked[following.end(1) :]
    read = graph.stances.denial(masked, relation)
    if read is None or read.grade != "plainly":
        return False
    post = _AS_POST.search(masked)
    return post is None or all(is_own(word) for word in post[1].split())


def _pair(graph: GraphReading, rows: Ints) -> Ints:
    source, target = graph.snapshot.facts.source[rows], graph.snapshot.facts.target[rows]
    return np.minimum(source, target) * len(graph.snapshot.entities) + np.maximum(source, target)


def _denying(graph: GraphReading, rows: Ints, reader: StanceReader) -> dict[int, Stance]:
    """Facts that deny, by their relation or by their sentence."""
    spoken = graph.spoken.denials
    denying = np.array(
        [not reader.of_relation(name).yes for name in graph.time.relation_names], np.bool_
    )
    found: dict[int, Stance] = {}
    for row in rows[denying[graph.time.relation[rows]] | spoken[rows]].tolist():
        by_name = bool(denying[graph.time.relation[row]])
        mood = graph.mood(row)
        if not mood.asserts:
            continue
        stance = reader.denial(graph.masked(row), graph.relation_name(row))
        if stance is not None and stance.grade == "not":
            continue
        if stance is None and by_name:
            stance = reader.of_relation(graph.relation_name(row))
            if graph.snapshot.facts.text[row].strip():
                stance = replace(stance, grade="perhaps")
        elif stance is not None and by_name:
            named = reader.of_relation(graph.relation_name(row))
            stance = replace(stance, matters=stance.matters | named.matters)
        if stance is not None:
            found[row] = stance
    return found


def _affirming(graph: GraphReading, row: int, reader: StanceReader) -> Stance | None:
    mood = graph.mood(row)
    if mood.asks or mood.recalls or mood.negates:
        return None
    stance = reader.of_relation(graph.relation_name(row))
    if not stance.yes:
        return None
    return Stance(True, stance.matters | reader.matters(graph.masked(row)), stance.confidence)


def _stays(graph: GraphReading, row: int, stance: Stance) -> bool:
    """What happened and what was founded stays true; a plan can be called off."""
    relation = graph.time.relation[row]
    if graph.is_fixed[relation]:
        return True
    return bool(graph.cardinality[row] == EVENT) and "plan" not in stance.matters
