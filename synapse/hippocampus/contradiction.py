"""Contradictions found offline: facts that another fact has replaced.

Each rule stands in a module of its own:

1. ``rules.audit``: what has ended already, with what could have caused it. A
   fact that Graphiti has retired and that nothing explains is **doubtful**.
2. ``rules.slots``: same subject, same single-valued property, newer value.
3. ``rules.claims``: a newer sentence names the value that ends.
4. ``rules.denial``: same two entities, yes and no.
5. ``rules.beginnings``: a verb begins a new value.
6. ``rules.rewording``: same two entities, other number; or the same again.
7. ``rules.remarks``: what a speaker said of herself, counted otherwise or denied.

Each finding that is sure is read once more (``rules.doubts``): what stands around the newer
statement may make it a question. What the rules find among active facts is **missed**, waits for a
decision (**needs review**), or is a **duplicate**. Direction is decided by time alone: when a fact
begins, the newest episode that says it again, and when it was recorded. Where all are equal there
is no finding: the newer fact never loses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from synapse.hippocampus.config import ContradictionConfig
from synapse.hippocampus.finding import VERDICT_ORDER, Finding, Verdict
from synapse.hippocampus.lexicon.english_changes import LANGUAGES
from synapse.hippocampus.model import Bools, GraphSnapshot, Ints
from synapse.hippocampus.relation_table import RelationTable
from synapse.hippocampus.rules.audit import audited
from synapse.hippocampus.rules.beginnings import beginnings
from synapse.hippocampus.rules.claims import claimed, claims_against
from synapse.hippocampus.rules.denial import denials
from synapse.hippocampus.rules.doubts import weighed
from synapse.hippocampus.rules.graph_reading import GraphReading, Readers
from synapse.hippocampus.rules.remarks import remarks
from synapse.hippocampus.rules.rewording import rewordings
from synapse.hippocampus.rules.slots import slot_findings
from synapse.hippocampus.rules.spoken import PhraseHearing, Spoken
from synapse.hippocampus.timeline import Timeline
from synapse.hippocampus.wording import Wording

__all__ = ["ContradictionDetector", "Contradictions", "Finding", "Verdict"]


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
        languages: how each language speaks of change.
    """

    def __init__(
        self, config: ContradictionConfig, languages: Sequence[Wording] = LANGUAGES
    ) -> None:
        self._tolerance_s = config.supersession_tolerance_s
        self.readers = Readers(languages)

    def hearing(self) -> PhraseHearing:
        """What finds phrases of interest in the texts of a graph as they come in."""
        return PhraseHearing(lambda: self.readers.phrases)

    def detect(
        self,
        snapshot: GraphSnapshot,
        now_s: float,
        relations: RelationTable | None = None,
        time: Timeline | None = None,
        is_settled: Callable[[Finding], bool] | None = None,
        about: Sequence[int] | None = None,
        spoken: Spoken | None = None,
    ) -> Contradictions:
        """Audit what has ended, and find what should have.

        Args:
            snapshot: the graph.
            now_s: the moment, seconds since 1970; a fact whose end lies later is still valid.
            relations: what the graph shows about its relations; without it no relation is known
                to hold one value at a time.
            time: the times of its facts at that moment, where they have been read already.
            is_settled: tells of a finding that a person has rejected it; what came next in its
                slot is then proposed instead.
            about: rows of the only facts of interest: findings that concern none of them may be
                left out. All by default.
            spoken: phrases of interest in its texts, where they have been found already.
        """
        graph = GraphReading(snapshot, now_s, relations, self.readers, time, spoken)
        best: dict[int, Finding] = {}
        claims = claims_against(graph)

        def keep(*rules: Iterable[Finding]) -> None:
            for found in rules:
                _keep_best(best, (weighed(graph, f) for f in found), snapshot.facts.uuid)

        keep(
            slot_findings(graph, is_settled or _nothing_is_settled),
            claimed(graph, claims),
            beginnings(graph),
            remarks(graph),
            audited(graph, claims, self._tolerance_s, about),
        )
        of = None if about is None else _concerned(about, best)
        keep(denials(graph, of), rewordings(graph, of))
        findings = sorted(best.values(), key=lambda finding: snapshot.facts.uuid[finding.fact])
        superseded = np.zeros(len(snapshot.facts), np.bool_)
        superseded[[f.fact for f in findings if f.verdict == "superseded"]] = True
        return Contradictions(tuple(findings), superseded)


def _concerned(about: Sequence[int], best: dict[int, Finding]) -> Ints:
    """Some facts, and those that one of them has replaced so far."""
    some = frozenset(about)
    return np.array([*about, *(f.fact for f in best.values() if f.by in some)], np.int64)


def _nothing_is_settled(_: Finding) -> bool:
    return False


def _keep_best(best: dict[int, Finding], found: Iterable[Finding], uuids: Sequence[str]) -> None:
    for finding in found:
        known = best.get(finding.fact)
        if known is None or _order(finding, uuids) < _order(known, uuids):
            best[finding.fact] = finding


def _order(finding: Finding, uuids: Sequence[str]) -> tuple[int, float, float, str, str]:
    by = uuids[finding.by] if finding.by >= 0 else ""
    place = VERDICT_ORDER.index(finding.verdict)
    return place, -finding.confidence, finding.invalid_at_s, by, finding.rule
