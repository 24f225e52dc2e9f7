"""Which facts count as replaced, by which, and which pairs are left alone."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from synapse.hippocampus.config import ContradictionConfig, RelationsConfig
from synapse.hippocampus.contradiction import ContradictionDetector, Contradictions, Finding
from synapse.hippocampus.lexicon.english_changes import ENGLISH
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.relations import RelationLearner
from synapse.hippocampus.wording import Cue, Wording
from tests.support.fact_graphs import Said, at, fact_graph, real_graph

NOW = 100.0


def detect(graph: GraphSnapshot, now: float = NOW, tolerance_s: float = 86_400.0) -> Contradictions:
    config = ContradictionConfig(supersession_tolerance_s=tolerance_s)
    relations = RelationLearner(RelationsConfig()).learn(graph, at(now))
    return ContradictionDetector(config).detect(graph, at(now), relations)


def found(facts: Sequence[Said], now: float = NOW, **episodes: float) -> list[tuple[str, int, int]]:
    findings = detect(fact_graph(facts, episodes), now).findings
    return [(finding.verdict, finding.fact, finding.by) for finding in findings]


def only(facts: Sequence[Said], **episodes: float) -> Finding:
    (finding,) = detect(fact_graph(facts, episodes)).findings
    return finding


def about(fact: int, facts: Sequence[Said]) -> Finding:
    (finding,) = [f for f in detect(fact_graph(facts)).findings if f.fact == fact]
    return finding


POSTGRES = Said("A", "USES", "PostgreSQL", "A uses PostgreSQL", valid=0)
MONGO = Said("A", "USES", "MongoDB", "A uses MongoDB instead of PostgreSQL", valid=2)


class TestWording:
    def test_the_newer_fact_that_names_the_old_value_replaces_it(self) -> None:
        finding = only([POSTGRES, MONGO])
        assert (finding.verdict, finding.fact, finding.by) == ("missed", 0, 1)
        assert finding.invalid_at_s == at(2)
        assert finding.rule == "cue_instead_of"
        assert finding.confidence == 0.9
        assert finding.evidence.startswith("A newer fact of the same source, from 2026-01-03,")
        assert "PostgreSQL" in finding.evidence

    @pytest.mark.parametrize(
        "text",
        [
            "A uses MongoDB instead of PostgreSQL",
            "A uses MongoDB instead of using the old PostgreSQL for orders.",
            "Actually A replaced PostgreSQL with MongoDB",
            "A introduced MongoDB, replacing PostgreSQL",
            "In A, MongoDB replaces POSTGRESQL",
            "PostgreSQL was replaced by MongoDB in A",
            "In A PostgreSQL has been replaced with MongoDB.",
            "A switched from PostgreSQL to MongoDB",
            "MongoDB took over from PostgreSQL in A",
            "A runs on MongoDB rather than PostgreSQL",
            "Correction: A uses MongoDB, not PostgreSQL",
            "A no longer relies on PostgreSQL and has MongoDB now",
            "It was decided last week. A uses MongoDB instead of “PostgreSQL”; all is well.",
        ],
    )
    def test_phrases_that_announce_a_change(self, text: str) -> None:
        assert found([POSTGRES, replace_text(MONGO, text)]) == [("missed", 0, 1)]

    @pytest.mark.parametrize(
        "text",
        [
            "A uses MongoDB and PostgreSQL",
            "Should we use MongoDB instead of PostgreSQL in A?",
            "A could use MongoDB instead of PostgreSQL",
            "A might be replacing PostgreSQL with MongoDB",
            "The team considers MongoDB instead of PostgreSQL for A",
            "A plans to use MongoDB instead of PostgreSQL",
            "A would use MongoDB rather than PostgreSQL",
            "A also uses MongoDB instead of PostgreSQL",
            "A uses MongoDB, not PostgreSQL, as well",
            "A has not replaced PostgreSQL with MongoDB",
            "MongoDB is not replacing PostgreSQL in A",
            "A never replaced PostgreSQL",
            "A uses MongoDB, not only PostgreSQL",
            "A does not yet use PostgreSQL",
            "A did not hate PostgreSQL",
            "A cannot PostgreSQL",
            "A uses MongoDB instead of PostgreSQL drivers",
            "A is not PostgreSQL compatible",
            "A uses MongoDB instead of PostgreSQL-based stores",
            "A uses MongoDB instead of PostgreSQLite",
            "A indents with tabs instead of spaces, unlike PostgreSQL",
            "Another notable thing about replication in A: PostgreSQL",
            "MongoDB instead of Oracle. PostgreSQL stays.",
            "",
        ],
    )
    def test_phrases_that_announce_nothing(self, text: str) -> None:
        assert found([POSTGRES, replace_text(MONGO, text)]) == []

    def test_replaced_by_names_the_winner_last(self) -> None:
        older = Said("A", "USES", "MongoDB", "A uses MongoDB", valid=0)
        newer = Said("A", "USES", "Redis", "PostgreSQL was replaced by MongoDB", valid=2)
        assert found([older, newer]) == []

    def test_only_facts_of_the_same_source_lose(self) -> None:
        assert found([POSTGRES._replace(source="B"), MONGO]) == []

    def test_several_facts_about_the_old_value_lose_together(self) -> None:
        stores = Said("A", "STORES_DATA_IN", "PostgreSQL", "A stores data there", valid=1)
        findings = detect(fact_graph([POSTGRES, MONGO, stores])).findings
        assert [(f.fact, f.by) for f in findings] == [(0, 1), (2, 1)]
        assert findings[0].confidence > findings[1].confidence

    def test_names_of_several_words_and_punctuation(self) -> None:
        old = Said("Ann", "LIVES_IN", "Berlin, Germany", "Ann lives there", valid=0)
        new = Said("Ann", "LIVES_IN", "Rome", "Ann moved from Berlin, Germany to Rome", valid=2)
        assert found([old, new]) == [("missed", 0, 1)]

    def test_the_longest_name_is_meant(self) -> None:
        short = Said("A", "USES", "Postgre", "A uses Postgre", valid=0)
        long = Said("A", "USES", "Postgre Cloud", "A uses Postgre Cloud", valid=0)
        new = Said("A", "USES", "MongoDB", "A uses MongoDB instead of Postgre Cloud", valid=2)
        assert found([short, long, new]) == [("missed", 1, 2)]

    def test_a_fact_never_speaks_against_its_own_target(self) -> None:
        again = Said("A", "USES", "PostgreSQL", "A uses MongoDB instead of PostgreSQL", valid=2)
        assert found([POSTGRES, again]) == []

    def test_self_loops_and_duplicate_marks_are_left_out(self) -> None:
        loop = Said("A", "IS", "A", "A uses MongoDB instead of PostgreSQL", valid=2)
        mark = Said("A", "IS_DUPLICATE_OF", "B", "A uses B instead of PostgreSQL", valid=2)
        assert found([POSTGRES, loop, mark]) == []
        assert found([POSTGRES._replace(relation="is_duplicate_of"), MONGO]) == []

    def test_another_language_is_another_table(self) -> None:
        german = Wording(
            language="de",
            cues=(Cue("statt", ("statt",), r"\b(?:an)?statt\b", "after", 0.9),),
            fillers=frozenset({"der", "die", "das"}),
            followers=frozenset({"und"}),
            negations=frozenset({"nicht"}),
            vetoes=r"\?|\bauch\b",
        )
        graph = fact_graph([POSTGRES, replace_text(MONGO, "A nutzt MongoDB statt PostgreSQL")])
        assert detect(graph).findings == ()
        detector = ContradictionDetector(ContradictionConfig(), [ENGLISH, german])
        (finding,) = detector.detect(graph, at(NOW)).findings
        assert (finding.fact, finding.by, finding.rule) == (0, 1, "cue_statt")


class TestDirection:
    def test_an_older_fact_that_arrives_late_still_loses(self) -> None:
        late = POSTGRES._replace(recorded=9)
        assert found([late, MONGO._replace(recorded=2)]) == [("missed", 0, 1)]

    def test_the_newer_fact_never_loses(self) -> None:
        assert found([POSTGRES._replace(valid=5), MONGO]) == []

    def test_equal_times_are_decided_by_the_record(self) -> None:
        old, new = POSTGRES._replace(valid=2, recorded=2), MONGO._replace(recorded=3)
        assert found([old, new]) == [("missed", 0, 1)]
        assert found([old._replace(recorded=4), new]) == []

    def test_wholly_equal_times_decide_nothing(self) -> None:
        assert found([POSTGRES._replace(valid=2, recorded=3), MONGO._replace(recorded=3)]) == []
        assert found([POSTGRES._replace(valid=2), MONGO]) == []

    def test_without_valid_at_the_newest_episode_counts_and_then_the_record(self) -> None:
        old = POSTGRES._replace(valid=None, episodes=["first"], recorded=50)
        new = MONGO._replace(valid=None, recorded=7)
        finding = only([old, new], first=1)
        assert (finding.fact, finding.by, finding.invalid_at_s) == (0, 1, at(7))

    def test_without_any_time_nothing_is_decided(self) -> None:
        assert found([POSTGRES._replace(valid=None), MONGO]) == []
        assert found([POSTGRES, MONGO._replace(valid=None)]) == []

    def test_a_fact_that_has_not_begun_replaces_nothing_yet(self) -> None:
        assert found([POSTGRES, MONGO], now=1) == []

    def test_back_to_the_first_value(self) -> None:
        again = Said("A", "USES", "PostgreSQL", "A uses PostgreSQL instead of MongoDB", valid=4)
        assert found([POSTGRES, MONGO, again]) == [("missed", 0, 1), ("missed", 1, 2)]

    def test_a_fact_confirmed_again_afterwards_stays(self) -> None:
        confirmed = POSTGRES._replace(episodes=["first", "again"])
        assert (
            found([confirmed, MONGO._replace(episodes=["second"])], first=0, second=2, again=4)
            == []
        )

    def test_the_episode_that_reports_the_change_does_not_confirm_the_old_value(self) -> None:
        mentioned = POSTGRES._replace(episodes=["first", "second"])
        facts = [mentioned, MONGO._replace(episodes=["second"])]
        assert found(facts, first=0, second=2.5) == [("missed", 0, 1)]

    def test_a_later_change_ends_a_confirmed_fact(self) -> None:
        confirmed = POSTGRES._replace(episodes=["again"])
        later = Said("A", "USES", "Redis", "A uses Redis instead of PostgreSQL", valid=6)
        assert found([confirmed, MONGO, later], again=4) == [("missed", 0, 2)]

    def test_a_retracted_fact_is_no_evidence(self) -> None:
        assert ("missed", 0, 1) not in found([POSTGRES, MONGO._replace(ended=2, retired=3)])

    def test_an_invalidated_fact_is_not_proposed_again(self) -> None:
        assert [v for v, *_ in found([POSTGRES._replace(ended=2), MONGO])] == ["superseded"]
        assert [v for v, *_ in found([POSTGRES._replace(retired=50), MONGO])] == ["doubtful"]
        assert found([POSTGRES._replace(retired=50, ended=NOW + 1), MONGO]) == []


class TestAudit:
    OLD = Said("Ann", "LIVES_IN", "Rome", "Ann lives in Rome", valid=0, ended=10, retired=12)
    NEW = Said("Ann", "lives in", "Oslo", "Ann lives in Oslo", valid=10)

    def test_same_relation_in_any_spelling(self) -> None:
        finding = only([self.OLD, self.NEW])
        assert (finding.verdict, finding.by, finding.rule) == ("superseded", 1, "same_property")
        assert (finding.confidence, finding.invalid_at_s) == (0.9, at(10))
        assert detect(fact_graph([self.OLD, self.NEW])).superseded.tolist() == [True, False]

    def test_the_contrary_about_the_same_pair_comes_second(self) -> None:
        left = Said("Ann", "LEFT", "Rome", "Ann left Rome", valid=10)
        assert only([self.OLD, left]).rule == "denied"
        assert only([self.OLD, left, self.NEW]).rule == "same_property"
        visited = left._replace(relation="VISITED", text="Ann visited Rome")
        assert only([self.OLD, visited]).verdict == "doubtful"

    def test_the_nearest_in_time_wins_and_distance_costs_confidence(self) -> None:
        near, far = self.NEW._replace(valid=10.25), self.NEW._replace(target="Bonn", valid=9)
        finding = about(0, [self.OLD, far, near])
        assert finding.by == 2
        assert finding.confidence == pytest.approx(0.9 * (1 - 0.25 / 2), abs=1e-3)

    def test_beyond_the_tolerance_nothing_is_credible(self) -> None:
        finding = only([self.OLD, self.NEW._replace(valid=11.5)])
        assert (finding.verdict, finding.by, finding.rule) == ("doubtful", -1, "no_successor")
        assert finding.invalid_at_s == at(10)
        assert "no newer fact" in finding.evidence

    def test_without_tolerance_the_moment_must_be_the_same(self) -> None:
        graph = fact_graph([self.OLD, self.NEW])
        assert detect(graph, tolerance_s=0).findings[0].verdict == "superseded"
        graph = fact_graph([self.OLD, self.NEW._replace(valid=10.001)])
        assert detect(graph, tolerance_s=0).findings[0].verdict == "doubtful"

    def test_an_older_fact_never_supersedes(self) -> None:
        newer = self.OLD._replace(valid=10, ended=10)
        assert [v for v, *_ in found([newer, self.NEW._replace(valid=9.5)])] == ["doubtful"]

    def test_a_restatement_does_not_supersede(self) -> None:
        again = self.OLD._replace(valid=10, ended=None, retired=None, text="Ann  lives in ROME.")
        assert [v for v, *_ in found([self.OLD, again])] == ["doubtful"]

    def test_self_loops_and_duplicate_marks_never_supersede(self) -> None:
        loop = Said("Ann", "LIVES_IN", "Ann", "Ann lives alone", valid=10)
        mark = Said("Ann", "IS_DUPLICATE_OF", "Rome", "Ann is a duplicate", valid=10)
        assert [v for v, *_ in found([self.OLD, loop, mark])] == ["doubtful"]

    def test_another_source_never_supersedes(self) -> None:
        assert [v for v, *_ in found([self.OLD, self.NEW._replace(source="Bob")])] == ["doubtful"]

    def test_a_plain_end_date_needs_no_successor(self) -> None:
        assert found([self.OLD._replace(retired=None)]) == []
        finding = only([self.OLD._replace(retired=None), self.NEW])
        assert (finding.verdict, finding.confidence) == ("superseded", 0.72)

    def test_an_end_in_the_future_is_no_end(self) -> None:
        assert found([self.OLD, self.NEW], now=9.5) == []

    def test_retired_without_an_end_date_counts_from_the_retirement(self) -> None:
        finding = only([self.OLD._replace(ended=None), self.NEW._replace(valid=12)])
        assert (finding.verdict, finding.invalid_at_s) == ("superseded", at(12))

    def test_back_to_the_first_value_is_two_replacements(self) -> None:
        oslo = self.NEW._replace(ended=20, retired=21)
        rome = self.OLD._replace(valid=20, ended=None, retired=None)
        assert found([self.OLD, oslo, rome]) == [("superseded", 0, 1), ("superseded", 1, 2)]

    def test_equal_distances_are_decided_by_record_then_uuid(self) -> None:
        facts = [
            self.OLD._replace(uuid="old"),
            self.NEW._replace(target="Bonn", uuid="b", recorded=30),
            self.NEW._replace(uuid="c", recorded=20),
        ]
        assert about(0, facts).by == 2
        assert about(0, [facts[0], facts[2], facts[1]]).by == 1
        b, c = (fact._replace(recorded=20) for fact in facts[1:])
        assert about(0, [facts[0], b, c]).by == 1
        assert about(0, [facts[0], c, b]).by == 2


class TestNothingToFind:
    def test_multi_valued_relations_without_cue(self) -> None:
        likes = [
            Said("Ann", "LIKES", f"dish {i}", f"Ann likes dish {i}", valid=i) for i in range(9)
        ]
        assert found(likes) == []

    def test_events_and_refinements(self) -> None:
        facts = [
            Said("Ann", "VISITED", "Rome", "Ann visited Rome", valid=0),
            Said("Ann", "VISITED", "Oslo", "Ann visited Oslo", valid=1),
            Said("Ann", "LIVES_IN", "Germany", "Ann lives in Germany", valid=2),
            Said("Ann", "LIVES_IN", "Bonn, Germany", "Ann lives in Bonn, Germany", valid=3),
        ]
        assert found(facts) == []

    def test_empty_graph(self) -> None:
        result = detect(fact_graph([]))
        assert result.findings == () and result.superseded.shape == (0,)


def test_findings_stand_in_the_order_of_the_uuids() -> None:
    facts = [
        TestAudit.OLD._replace(uuid="z"),
        TestAudit.OLD._replace(source="Bob", uuid="a"),
        POSTGRES._replace(uuid="m"),
        MONGO._replace(uuid="b"),
    ]
    graph = fact_graph(facts)
    assert [graph.facts.uuid[f.fact] for f in detect(graph).findings] == ["a", "m", "z"]


def test_times_that_no_calendar_holds_count_as_unknown() -> None:
    graph = fact_graph([POSTGRES, MONGO, TestAudit.OLD, TestAudit.NEW])
    for malformed in (np.inf, -np.inf, 1e300, -1e300):
        times_s = np.full(4, malformed)
        facts = replace(graph.facts, valid_at_s=times_s, invalid_at_s=times_s, expired_at_s=times_s)
        assert detect(replace(graph, facts=facts)).findings == ()


def test_hostile_names_and_texts_are_data() -> None:
    name = "Postgre\x00SQL\n(?:\\'\" 🐘 " + "x" * 10_000
    old = Said("A", "USES", name, "A uses it", valid=0)
    new = Said("A", "USES", "MongoDB", f"A uses MongoDB instead of {name}", valid=2)
    for finding in detect(fact_graph([old, new])).findings:
        assert len(finding.evidence) < 200 and "\n" not in finding.evidence


@pytest.mark.parametrize("kind", ["cues", "ended", "one target"])
def test_a_hub_costs_no_more_than_its_share(kind: str) -> None:
    small, large = _hub(kind, 1_000), _hub(kind, 10_000)
    assert _cpu_s(large) < 15 * _cpu_s(small)


def test_long_texts_full_of_cues_cost_no_more_than_their_share() -> None:
    def graph(count: int) -> GraphSnapshot:
        return fact_graph([POSTGRES, replace_text(MONGO, "not was replaced from a " * count)])

    assert _cpu_s(graph(5_000)) < 15 * _cpu_s(graph(500))


def test_real_invalidations_judged_wrong_are_doubted(shared_data: Path) -> None:
    folder = shared_data / "graphiti_real"
    graph = real_graph(folder, "july")
    lines = (folder / "judged_invalidations.jsonl").read_text().splitlines()
    judged = {row["uuid"]: row["judged"] for row in map(json.loads, lines)}
    result = detect(graph, now=0)
    by_verdict = {
        verdict: {graph.facts.uuid[f.fact] for f in result.findings if f.verdict == verdict}
        for verdict in ("superseded", "missed", "doubtful")
    }
    wrong = {uuid for uuid, right in judged.items() if right == 0}
    assert len(wrong) == 17
    assert wrong <= by_verdict["doubtful"]
    assert not wrong & by_verdict["superseded"]
    assert len(by_verdict["missed"]) <= 0.03 * len(graph.facts)


def replace_text(fact: Said, text: str) -> Said:
    return fact._replace(text=text)


def _hub(kind: str, facts_count: int) -> GraphSnapshot:
    facts = []
    for i in range(facts_count):
        name = f"tool {i // 2}"
        if kind == "one target":
            name = "tool" if i % 2 == 0 else f"tool {i}"
        text = f"hub uses {name}"
        if kind == "cues" and i % 2:
            text = f"hub uses {name} instead of tool {i // 2 - 1}"
        if kind == "one target" and i % 2:
            text = f"hub uses {name} instead of tool"
        ended = i + 1 if kind == "ended" and i % 2 else None
        facts.append(Said("hub", "USES", name, text, valid=i * 1e-3, ended=ended, retired=ended))
    return fact_graph(facts)


def _cpu_s(graph: GraphSnapshot) -> float:
    def once() -> float:
        start = time.process_time()
        detect(graph, now=1e5)
        return time.process_time() - start

    return min(once() for _ in range(3))
