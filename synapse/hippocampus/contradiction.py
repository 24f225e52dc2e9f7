"""Contradictions found offline: facts that another fact has replaced.

Two signals are read:

1. *Already invalidated.* For a fact that has ended, the audit looks for what replaced it: a fact
   of the same source and relation, or else of the same two entities, that begins later than the
   ended fact and close to its end. Such a fact is **superseded**. Where Graphiti has retired a
   fact (``expired_at``) and nothing of the kind begins, the retirement is **doubtful**. A plain
   end date that the text gave needs no successor and is no finding.
2. *Wording.* A newer fact whose text names the value that ends ("… instead of Y") makes the
   active facts of the same source with the target Y **missed** contradictions.

Direction is decided by time alone (:class:`~synapse.hippocampus.timeline.Timeline`): of two facts
that begin together the later recorded one is newer, and where that is equal too there is no
finding. The newer fact never loses.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, isnan
from typing import Literal

import numpy as np

from synapse.hippocampus.config import ContradictionConfig
from synapse.hippocampus.model import Bools, GraphSnapshot, Ints
from synapse.hippocampus.timeline import Timeline
from synapse.hippocampus.wording import (
    LANGUAGES,
    Cue,
    Wording,
    find_hits,
    fold_name,
    rows_with_cues,
)

Verdict = Literal["superseded", "missed", "doubtful"]

RULE_CONFIDENCE = {"same_relation": 0.9, "same_pair": 0.7, "no_successor": 0.5}
"""How far each rule of the audit is to be believed, before the distance in time is counted."""
PLAIN_END_RATIO = 0.8
"""What is left of that where Graphiti did not retire the fact itself."""
OTHER_RELATION_RATIO = 0.8
"""What is left of a cue's confidence where the two facts have different relations."""

_NAME_CHARACTERS_MAX = 60
_Name = tuple[int, str]
"""Row of a source, and the folded name of a target."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact that is, or should be, replaced, or whose replacement cannot be found."""

    fact: int
    """Row of the fact that loses."""
    by: int
    """Row of the fact that replaces it, -1 if there is none."""
    verdict: Verdict
    rule: str
    confidence: float
    """From 0 to 1."""
    invalid_at_s: float
    """When the fact ended: as recorded, or as resolving the finding would write it."""
    evidence: str
    """One sentence."""


@dataclass(frozen=True, slots=True)
class Contradictions:
    """All findings of one snapshot, at most one a fact, in the order of the facts' uuids."""

    findings: tuple[Finding, ...]
    superseded: Bools
    """Facts with a credible replacement, shape (facts,)."""


class ContradictionDetector:
    """Finds facts that another fact has replaced.

    Args:
        config: the constants.
        languages: the phrases that announce a change.
    """

    def __init__(
        self, config: ContradictionConfig, languages: Sequence[Wording] = LANGUAGES
    ) -> None:
        self._tolerance_s = config.supersession_tolerance_s
        self._languages = tuple(languages)

    def detect(self, snapshot: GraphSnapshot, now_s: float) -> Contradictions:
        """Audit what has ended, and find what should have.

        Args:
            snapshot: the graph.
            now_s: the moment, seconds since 1970; a fact whose end lies later is still valid.
        """
        time = Timeline.of(snapshot, now_s)
        findings = [
            *_audit(snapshot, time, self._tolerance_s),
            *_missed(snapshot, time, self._languages),
        ]
        findings.sort(key=lambda finding: snapshot.facts.uuid[finding.fact])
        superseded = np.zeros(len(snapshot.facts), np.bool_)
        superseded[[f.fact for f in findings if f.verdict == "superseded"]] = True
        return Contradictions(tuple(findings), superseded)


def _audit(snapshot: GraphSnapshot, time: Timeline, tolerance_s: float) -> Iterator[Finding]:
    """Signal 1: what has ended, with what replaced it."""
    facts = snapshot.facts
    ended = np.flatnonzero(time.ended)
    successor = np.full(len(ended), -1, np.int64)
    rule = np.full(len(ended), "no_successor", np.dtypes.ObjectDType())

    def other_statement(old: Ints, new: Ints) -> Bools:
        differs: Bools = facts.target[old] != facts.target[new]
        for i in np.flatnonzero(~differs).tolist():
            differs[i] = fold_name(facts.text[old[i]]) != fold_name(facts.text[new[i]])
        return differs

    def other_relation(old: Ints, new: Ints) -> Bools:
        differs: Bools = time.relation[old] != time.relation[new]
        return differs

    same_relation = facts.source * len(time.relation_names) + time.relation
    same_pair = facts.source * len(snapshot.entities) + facts.target
    for name, group, differs in (
        ("same_relation", same_relation, other_statement),
        ("same_pair", same_pair, other_relation),
    ):
        left = np.flatnonzero(successor < 0)
        found = time.nearest_successors(ended[left], group, facts.uuid, tolerance_s, differs)
        successor[left] = found
        rule[left[found >= 0]] = name
    for old, new, name in zip(ended.tolist(), successor.tolist(), rule.tolist(), strict=True):
        if new >= 0:
            yield _superseded(old, new, name, time, tolerance_s)
        elif time.retired[old]:
            yield _doubtful(old, time, tolerance_s)


def _superseded(old: int, new: int, rule: str, time: Timeline, tolerance_s: float) -> Finding:
    end_s = float(time.end_s[old])
    gap_s = abs(float(time.start_s[new]) - end_s)
    closeness = 1.0 - 0.5 * gap_s / tolerance_s if tolerance_s else 1.0
    trust = 1.0 if time.retired[old] else PLAIN_END_RATIO
    shared = "source and relation" if rule == "same_relation" else "two entities"
    begins = "at that moment" if gap_s == 0 else f"{gap_s / 3600:.1f} hours from then"
    return Finding(
        fact=old,
        by=new,
        verdict="superseded",
        rule=rule,
        confidence=round(RULE_CONFIDENCE[rule] * closeness * trust, 3),
        invalid_at_s=end_s,
        evidence=f"It ended on {_date(end_s)}, and a newer fact of the same {shared} begins "
        f"{begins}.",
    )


def _doubtful(old: int, time: Timeline, tolerance_s: float) -> Finding:
    end_s = float(time.end_s[old])
    return Finding(
        fact=old,
        by=-1,
        verdict="doubtful",
        rule="no_successor",
        confidence=RULE_CONFIDENCE["no_successor"],
        invalid_at_s=end_s,
        evidence=f"It was retired as of {_date(end_s)}, but no newer fact of the same source and "
        f"relation, or of the same two entities, begins within {tolerance_s / 3600:g} hours of it.",
    )


@dataclass(frozen=True, slots=True)
class _Claim:
    """A fact whose text says that something has ended."""

    order: tuple[float, float]
    """When it begins and when it was recorded."""
    uuid: str
    row: int
    cue: Cue


class _Claims:
    """Claims about one name of one source, searchable by time."""

    def __init__(self, claims: list[_Claim]) -> None:
        self._claims = sorted(claims, key=lambda claim: (claim.order, claim.uuid))
        self._orders = [claim.order for claim in self._claims]

    def first_against(self, row: int, time: Timeline) -> _Claim | None:
        """The first claim newer than a fact that no later episode has confirmed again."""
        created_s, support_s = float(time.created_s[row]), float(time.support_s[row])
        recorded_s = inf if isnan(created_s) else created_s
        place = bisect_right(self._orders, (float(time.start_s[row]), recorded_s))
        if place < len(self._claims) and not isnan(support_s):
            claim = self._claims[place]
            if support_s > max(claim.order[0], float(time.support_s[claim.row])):
                place = max(place, bisect_left(self._orders, (support_s, -inf)))
        return self._claims[place] if place < len(self._claims) else None


def _missed(
    snapshot: GraphSnapshot, time: Timeline, languages: Sequence[Wording]
) -> Iterator[Finding]:
    """Signal 2: active facts that a newer fact's text names as ended."""
    facts, names = snapshot.facts, snapshot.entities.name
    spoken = [
        (row, wording) for wording in languages for row in _speakers(facts.text, time, wording)
    ]
    sources = np.unique(facts.source[[row for row, _ in spoken]])
    active = time.speaks & ~time.ended & ~time.retired & np.isin(facts.source, sources)
    named = _by_name(snapshot, np.flatnonzero(active))
    claims: defaultdict[_Name, list[_Claim]] = defaultdict(list)
    for row, wording in spoken:
        source, own = int(facts.source[row]), fold_name(names[facts.target[row]])
        created_s = float(time.created_s[row])
        order = (float(time.start_s[row]), -inf if isnan(created_s) else created_s)
        for hit in find_hits(facts.text[row], wording, named[source].__contains__):
            if hit.name != own:
                claims[source, hit.name].append(_Claim(order, facts.uuid[row], row, hit.cue))
    for (source, name), about in claims.items():
        yield from _losers(named[source][name], about, snapshot, time)


def _speakers(texts: Sequence[str], time: Timeline, wording: Wording) -> list[int]:
    rows = np.array(rows_with_cues(texts, wording), np.int64)
    retracted = time.end_s[rows] <= time.start_s[rows]
    return [int(row) for row in rows[time.speaks[rows] & ~retracted]]


def _by_name(snapshot: GraphSnapshot, rows: Ints) -> defaultdict[int, dict[str, list[int]]]:
    """Facts by source and by the folded name of their target."""
    source, target = snapshot.facts.source[rows].tolist(), snapshot.facts.target[rows].tolist()
    folded = {entity: fold_name(snapshot.entities.name[entity]) for entity in set(target)}
    named: defaultdict[int, dict[str, list[int]]] = defaultdict(dict)
    for row, start, end in zip(rows.tolist(), source, target, strict=True):
        named[start].setdefault(folded[end], []).append(row)
    return named


def _losers(
    rows: list[int], about: list[_Claim], snapshot: GraphSnapshot, time: Timeline
) -> Iterator[Finding]:
    by_relation: defaultdict[int, list[_Claim]] = defaultdict(list)
    for claim in about:
        by_relation[int(time.relation[claim.row])].append(claim)
    of_relation = {code: _Claims(claims) for code, claims in by_relation.items()}
    of_any = _Claims(about)
    for row in rows:
        best: Finding | None = None
        for claims in (of_relation.get(int(time.relation[row])), of_any):
            first = claims.first_against(row, time) if claims else None
            if first is not None:
                finding = _missed_by(row, first, snapshot, time)
                if best is None or finding.confidence > best.confidence:
                    best = finding
        if best is not None:
            yield best


def _missed_by(row: int, claim: _Claim, snapshot: GraphSnapshot, time: Timeline) -> Finding:
    related = time.relation[row] == time.relation[claim.row]
    name = snapshot.entities.name[snapshot.facts.target[row]]
    shown = " ".join(name.split())[:_NAME_CHARACTERS_MAX]
    cue = claim.cue.name.replace("_", " ")
    return Finding(
        fact=row,
        by=claim.row,
        verdict="missed",
        rule=f"cue_{claim.cue.name}",
        confidence=round(claim.cue.confidence * (1.0 if related else OTHER_RELATION_RATIO), 3),
        invalid_at_s=claim.order[0],
        evidence=f"A newer fact of the same source, from {_date(claim.order[0])}, "
        f'says "{cue}" of "{shown}".',
    )


def _date(time_s: float) -> str:
    return str(np.datetime64(int(time_s), "s"))[:10]
