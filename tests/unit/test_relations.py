from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import pytest

from synapse.hippocampus.config import ContradictionConfig, RelationsConfig
from synapse.hippocampus.contradiction import ContradictionDetector
from synapse.hippocampus.lexicon.english import ENGLISH_RELATIONS
from synapse.hippocampus.lexicon.grammar import Kind, RelationLexicon
from synapse.hippocampus.lexicon.words import stem
from synapse.hippocampus.lifetime import median_lifetime_days
from synapse.hippocampus.model import Entities, Episodes, Facts, GraphSnapshot, Mentions
from synapse.hippocampus.ragged import Ragged
from synapse.hippocampus.relation_table import RelationTable
from synapse.hippocampus.relations import RelationLearner

DAY_S = 86_400.0
BEGIN_S = 1_700_000_123.0
NOW_S = BEGIN_S + 4_000 * DAY_S

Said = tuple[str, str, str, float]
"""Subject, relation, object, and the day it began on."""


def graph(
    said: Sequence[Said],
    ends_day: Sequence[float | None] | None = None,
    texts: Sequence[str] | None = None,
    retired: bool = False,
) -> GraphSnapshot:
    names = sorted({name for s in said for name in (s[0], s[2])})
    number = {name: i for i, name in enumerate(names)}
    facts_count, unknown = len(said), np.full(len(said), np.nan)
    start_s = np.round([BEGIN_S + s[3] * DAY_S for s in said])
    end_s = np.array(
        [np.nan if d is None else BEGIN_S + d * DAY_S for d in ends_day or [None] * facts_count]
    )
    nothing = np.full(len(names), np.nan)
    return GraphSnapshot(
        "g",
        Entities(names, names, [""] * len(names), ["g"] * len(names), [()] * len(names), nothing),
        Facts(
            [f"fact-{i}" for i in range(facts_count)],
            [s[1] for s in said],
            list(texts) if texts else [" / ".join(s[:3]) for s in said],
            ["g"] * facts_count,
            np.array([number[s[0]] for s in said], np.int64),
            np.array([number[s[2]] for s in said], np.int64),
            start_s,
            start_s,
            end_s,
            end_s if retired else unknown,
            Ragged.from_lists([[] for _ in said]),
        ),
        Episodes([], [], np.zeros(0), np.zeros(0)),
        Mentions(np.zeros(0, np.int64), np.zeros(0, np.int64)),
    )


def learn(snapshot: GraphSnapshot, **lists: tuple[str, ...]) -> RelationTable:
    return RelationLearner(RelationsConfig(**lists)).learn(snapshot, NOW_S)


def by_name(relation: str) -> str:
    return RelationLearner(RelationsConfig()).by_name(relation).cardinality


def one_by_one(relation: str, subjects_count: int, values_count: int) -> Iterator[Said]:
    """Values that replace each other, among other facts of the same moments."""
    for subject in range(subjects_count):
        for step in range(values_count):
            day = 40.0 * step + subject
            yield f"s{subject}", relation, f"{relation} {subject} {step}", day
            yield f"s{subject}", "NOTED", f"note {subject} {step}", day


def side_by_side(relation: str, subjects_count: int, values_count: int) -> Iterator[Said]:
    for subject in range(subjects_count):
        for step in range(values_count):
            yield (
                f"s{subject}",
                relation,
                f"{relation} {subject} {step}",
                float(subject + step // 2),
            )


# --- names ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spellings",
    [
        ("WORKS_AT", "works at", "Works-At", "worksAt", "WORKED_AT", "is working at", "WORKS_FOR"),
        ("HAS_PHONE_NUMBER", "phone", "phoneNumber", "telephone"),
        ("PLACE_OF_BIRTH", "birthplace", "was born in", "BORN_IN"),
        ("CURRENT_CEO", "HAS_CEO", "CEO_IS", "chief executive officer"),
        ("OWNED_BY", "owner", "HAS_OWNER", "is owned by"),
        ("RAN_TESTS", "runs tests", "RUNNING_TEST"),
    ],
)
def test_spellings_of_one_property_have_one_normal_name(spellings: tuple[str, ...]) -> None:
    assert len({ENGLISH_RELATIONS.normal(spelling) for spelling in spellings}) == 1


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("CAPITAL_OF", "HAS_CAPITAL"), ("OWNS", "OWNED_BY"), ("MOVED_TO", "MOVED_FROM"),
        ("WORKS_AT", "WORKS_ON"), ("WORKS_AT", "WORKS_IN"), ("BORN_IN", "BORN_ON"),
        ("PARENT_OF", "CHILD_OF"), ("MEMBER_OF", "HAS_MEMBER"), ("REPLACES", "REPLACED_BY"),
        ("SUPPORTS", "OPPOSES"), ("HOME_PHONE", "WORK_PHONE"), ("LIKES", "DISLIKES"),
    ],
)  # fmt: skip
def test_names_of_two_properties_stay_apart(left: str, right: str) -> None:
    assert ENGLISH_RELATIONS.normal(left) != ENGLISH_RELATIONS.normal(right)


@pytest.mark.parametrize("name", ["", "  ", "_", "123", "是", "a" * 5000, "IS_", "HAS", "of of"])
def test_any_string_is_a_name(name: str) -> None:
    assert isinstance(ENGLISH_RELATIONS.normal(name), str)
    assert by_name(name) in ("single", "multi", "event", "unknown")


# --- the lexicon ---------------------------------------------------------------------------

SINGLE = """
    works_at LIVES_IN isMarriedTo MANAGED_BY runs_on LISTENS_ON_PORT hasVersion HAS_STATUS
    assigned_to REPORTS_TO born_in LOCATED_AT capital HAS_CEO favoriteColor current_employer
    email_address JOB_TITLE OWNED_BY number_of_employees TOTAL_USERS max_retries default_branch
    date_of_birth headquartered_in price DUE_DATE LED_BY mayor IS_CAPITAL_OF uses_version
    MEMBER_OF_PARTY primary_language home_address
"""
MULTI = """
    uses USES_TOOL likes manages depends_on speaks member_of knows friend_of has_child HAS_SKILL
    interested_in works_on WORKS_WITH contains includes hasPart supports HAS_FEATURE members imports
    calls former_employer other_names languages children OWNS studies related_to tagged_with
    MEMBER_OF_COMMITTEE parent_of AUTHOR_OF visited_by
"""
EVENT = """
    visited MET_WITH won created MODIFIED_FILE executed_command SEARCHED_FOR said sent_message
    founded graduated_from joined acquired attended nominated_for MOVED_TO deleted hired
    HAS_WON_PRIZE resigned_from
"""


@pytest.mark.parametrize(
    ("name", "kind"),
    [(n, k) for k, names in (("single", SINGLE), ("multi", MULTI), ("event", EVENT))
     for n in names.split()],
)  # fmt: skip
def test_what_a_name_alone_says(name: str, kind: str) -> None:
    assert by_name(name) == kind


def test_relations_named_by_symbols_stay_apart() -> None:
    said = [("api", "🚀", "a", 1.0), ("api", "🐛", "b", 2.0), ("api", "!?", "c", 3.0)]
    assert len(learn(graph(said)).relations) == 3


def test_an_unknown_word_says_nothing() -> None:
    assert by_name("FROBNICATE") == "unknown"


@pytest.mark.parametrize("noun", ["port", "city", "address", "status", "version", "boss"])
def test_the_plural_of_a_noun_holds_many(noun: str) -> None:
    plural = noun[:-1] + "ies" if noun[-1] == "y" else noun + ("es" if noun[-1] == "s" else "s")
    assert (by_name(noun), by_name(f"HAS_{plural}")) == ("single", "multi")


def test_a_mark_in_front_decides() -> None:
    assert by_name("FORMER_EMPLOYER") == by_name("OTHER_ADDRESS") == "multi"
    assert by_name("CURRENT_PROJECT") == by_name("PRIMARY_LANGUAGE") == "single"


@pytest.mark.parametrize("table", ["nouns", "verbs", "roles_of", "memberships"])
def test_no_word_of_the_lexicon_has_two_meanings(table: str) -> None:
    kinds: dict[str, set[Kind]] = {}
    for kind, phrases in getattr(ENGLISH_RELATIONS, table).items():
        for phrase in phrases:
            key = " ".join(map(stem, phrase.replace("_", " ").split()))
            kinds.setdefault(key, set()).add(kind)
    assert {phrase: found for phrase, found in kinds.items() if len(found) > 1} == {}


def test_chances_add_up_to_one() -> None:
    assert [round(sum(kind.chances), 9) for kind in Kind] == [1.0] * len(Kind)


def test_another_language_is_another_object() -> None:
    german = RelationLexicon(
        language="de",
        fillers=frozenset({"hat", "ist"}),
        nouns={Kind.ONE: frozenset({"hauptstadt"}), Kind.MANY: frozenset({"freund"})},
    )
    learner = RelationLearner(RelationsConfig(), german)
    assert learner.by_name("HAT_HAUPTSTADT").cardinality == "single"
    assert learner.by_name("hat freund").cardinality == "multi"


# --- evidence of the graph -------------------------------------------------------------------


def test_a_small_graph_leaves_the_words_as_they_are() -> None:
    table = learn(graph([("a", "USES", "x", 1), ("a", "USES", "y", 9), ("b", "LIVES_IN", "u", 1)]))
    assert table.cardinality("USES") == "multi"
    assert table.cardinality("LIVES_IN") == "single"


def test_values_that_begin_together_make_a_relation_multi() -> None:
    table = learn(graph([*side_by_side("HAS_GLORP", 30, 6)]))
    assert table.cardinality("HAS_GLORP") == "multi"
    assert "90 of 150 further values began together with another" in " ".join(
        table.relation("HAS_GLORP").reasons
    )


def test_values_that_begin_one_by_one_make_a_relation_single() -> None:
    table = learn(graph([*one_by_one("FROBNICATE", 30, 4), *side_by_side("KNOWS", 30, 4)]))
    assert by_name("FROBNICATE") == "unknown"
    assert table.cardinality("FROBNICATE") == "single"


def test_one_by_one_in_a_graph_where_nothing_is_together_shows_nothing() -> None:
    said = [s for s in one_by_one("FROBNICATE", 30, 4) if s[1] != "NOTED"]
    assert learn(graph(said)).cardinality("FROBNICATE") == "unknown"


def test_the_graph_can_overrule_the_words() -> None:
    many = learn(graph([*side_by_side("HAS_PORT", 60, 6)]))
    assert by_name("HAS_PORT") == "single"
    assert many.cardinality("HAS_PORT") == "multi"


def test_events_stay_events_however_they_come() -> None:
    said = [*one_by_one("VISITED", 40, 5), *side_by_side("CREATED", 40, 5)]
    table = learn(graph(said))
    assert table.cardinality("VISITED") == table.cardinality("CREATED") == "event"


def test_years_alone_tip_the_scales_but_do_not_overrule_the_words() -> None:
    def day(year: int) -> float:
        return (int(np.datetime64(f"{year}-01-01", "s").astype(int)) - BEGIN_S) / DAY_S

    def said(name: str) -> list[Said]:
        return [
            (f"s{s}", name, f"{name} {s} {v}", day(1900 + s + 20 * (v // 3)))
            for s in range(60)
            for v in range(6)
        ]

    table = learn(graph([*said("LIVES_IN"), *said("HAS_GLORP")]))
    assert by_name("HAS_GLORP") == "single"
    assert (table.cardinality("LIVES_IN"), table.cardinality("HAS_GLORP")) == ("single", "multi")


def test_written_ends_in_sequence_speak_for_one_value_and_overlaps_for_many() -> None:
    said = [s for s in one_by_one("FROBNICATE", 20, 4) if s[1] != "NOTED"]
    replaced = learn(graph(said, [s[3] + 40.0 for s in said]))
    overlapping = learn(graph(said, [s[3] + 100.0 for s in said]))
    assert replaced.cardinality("FROBNICATE") == "single"
    assert overlapping.cardinality("FROBNICATE") == "multi"
    assert any("began when the one before ended" in r for r in replaced.relations[0].reasons)


def test_ends_that_a_machine_concluded_show_nothing() -> None:
    said = [s for s in one_by_one("FROBNICATE", 20, 4) if s[1] != "NOTED"]
    table = learn(graph(said, [s[3] + 40.0 for s in said], retired=True))
    assert table.cardinality("FROBNICATE") == "unknown"


@pytest.mark.parametrize("values_count", [2, 5, 12])
def test_values_handed_over_within_a_second_are_a_sequence(values_count: int) -> None:
    said = [("api", "RUNS_ON", f"port {n}", 0.0) for n in range(values_count)]
    known = graph(said, [0.0] * values_count, retired=True).facts
    known.valid_at_s[:] = BEGIN_S + 0.02 * np.arange(values_count)
    known.invalid_at_s[:] = np.append(known.valid_at_s[1:], np.nan)
    snapshot = dataclasses.replace(graph(said), facts=known)
    (relation,) = learn(snapshot).relations
    assert relation.cardinality == "single"
    assert any("began later than the one before" in reason for reason in relation.reasons)
    known.invalid_at_s[:] = np.nan
    known.expired_at_s[:] = np.nan
    assert learn(snapshot).relations[0].single < relation.single


def replaced_on_the_day(days_count: int, values_count: int) -> GraphSnapshot:
    """Values of one subject that replace each other, several a day, dated to the day."""
    said = [
        ("tom", "LIVES_IN", f"city {-value} {day}", float(day))
        for day in range(days_count)
        for value in range(values_count)
    ]
    known = graph(said, [0.0] * len(said), retired=True)
    begins_s = known.facts.valid_at_s
    known.facts.invalid_at_s[:] = np.append(begins_s[1:], np.nan)
    known.facts.expired_at_s[-1] = np.nan
    return known


@pytest.mark.parametrize("days_count", [2, 4, 20])
@pytest.mark.parametrize("values_count", [2, 3])
def test_values_replaced_on_the_day_they_began_are_a_sequence(
    days_count: int, values_count: int
) -> None:
    (relation,) = learn(replaced_on_the_day(days_count, values_count)).relations
    assert relation.cardinality == "single"
    assert not any("together" in reason for reason in relation.reasons)


def test_values_said_side_by_side_on_a_day_stay_many() -> None:
    known = replaced_on_the_day(20, 2)
    known.facts.invalid_at_s[:] = known.facts.expired_at_s[:] = np.nan
    (relation,) = learn(known).relations
    assert relation.cardinality == "multi"
    assert any("began together" in reason for reason in relation.reasons)


MANY_WORDS = ("LIKES", "USES", "KNOWS", "OWNS", "SUPPORTS", "SPEAKS")


def told_again(relation: str, subjects_count: int, again_count: int, values: int = 2) -> list[Said]:
    """Subjects with one value, the first of them with more, each at a moment of its own."""
    return [
        (f"{relation} s{i}", relation, f"{relation} {i} {step}", 1_000.0 * step + i)
        for step in range(values)
        for i in range(again_count if step else subjects_count)
    ]


def corrections() -> list[Said]:
    return [s for name in MANY_WORDS for s in told_again(name, 20, 10)]


def test_a_graph_of_corrections_holds_one_value_whatever_the_words_say() -> None:
    table = learn(graph(corrections()))
    assert {table.cardinality(name) for name in MANY_WORDS} == {"single"}
    assert "second values" in " ".join(table.relation("LIKES").reasons)


@pytest.mark.parametrize(
    "more",
    [
        [s for name in ("READS", "EATS") for s in told_again(name, 20, 10, values=3)],
        [(f"s{i}", "KNOWS", f"{who} {i}", 900.0 + i) for i in range(20) for who in "ab"],
    ],
    ids=["third values", "two at one moment"],
)
def test_what_no_correction_brings_leaves_the_words_as_they_are(more: list[Said]) -> None:
    assert learn(graph([*corrections(), *more])).cardinality("LIKES") == "multi"


def test_a_graph_in_which_everybody_has_two_holds_no_corrections() -> None:
    said = [s for name in ("KNOWS", "OWNS", "SPEAKS", "READS") for s in told_again(name, 8, 8)]
    table = learn(graph([*said, *told_again("USES", 70, 55), *told_again("LIKES", 24, 8)]))
    assert {relation.cardinality for relation in table.relations} == {"multi"}


def test_no_relation_shows_by_itself_that_its_graph_holds_corrections() -> None:
    assert learn(graph(told_again("LIKES", 150, 90))).cardinality("LIKES") == "multi"
    assert learn(graph(told_again("FROBNICATE", 150, 90))).cardinality("FROBNICATE") == "unknown"


def test_a_relation_with_third_values_is_not_corrected_in_a_graph_that_is() -> None:
    said = corrections() + told_again("READS", 20, 10, values=4)
    table = learn(graph(said))
    assert table.cardinality("READS") == "multi"


def test_values_of_single_valued_relations_that_change_say_nothing_about_others() -> None:
    names = ("LIVES_IN", "WORKS_AT", "HAS_PHONE", "HAS_STATUS", "REPORTS_TO", "HAS_CEO")
    said = [s for name in names for s in told_again(name, 60, 30)]
    table = learn(graph(said + told_again("LIKES", 12, 6)))
    assert table.cardinality("LIKES") == "multi"


@pytest.mark.parametrize("name", ["FROBNICATE", "HAS_GLORP", "HAS_PROVIDER", "WORKS_WITH"])
@pytest.mark.parametrize("again_count", [0, 1, 2, 4])
def test_few_subjects_of_its_own_never_make_a_relation_sure_enough_to_write(
    name: str, again_count: int
) -> None:
    said = corrections() + told_again(name, 6, again_count)
    assert learn(graph(said)).relation(name).single < ContradictionConfig().resolve_confidence


def test_words_that_are_sure_stay_as_sure_with_few_subjects() -> None:
    said = corrections() + told_again("LIVES_IN", 3, 1)
    alone = RelationLearner(RelationsConfig()).by_name("LIVES_IN").single
    assert learn(graph(said)).relation("LIVES_IN").single == pytest.approx(alone)


def test_one_pair_seen_at_once_leaves_the_words_standing_but_not_sure() -> None:
    pair = [("s", "HAS_PORT", "a", 1.0), ("s", "HAS_PORT", "b", 1.0)]
    table = learn(graph([*pair, ("t", "HAS_PROVIDER", "a", 1.0), ("t", "HAS_PROVIDER", "b", 1.0)]))
    assert (table.cardinality("HAS_PORT"), table.cardinality("HAS_PROVIDER")) == ("single",) * 2
    assert table.relation("HAS_PORT").single < ContradictionConfig().resolve_confidence
    four = [("t", "HAS_PROVIDER", value, 1.0) for value in "abcd"]
    assert learn(graph([*pair, *four])).cardinality("HAS_PROVIDER") == "multi"


def test_sentences_that_presuppose_one_value_speak_for_it() -> None:
    said = [(f"town {i}", "GLORP", f"person {i}", float(i)) for i in range(6)]
    definite = [f"The glorp of {s} is {o}." for s, _, o, _ in said]
    indefinite = [f"{s} has a glorp named {o}." for s, _, o, _ in said]
    assert learn(graph(said, texts=definite)).cardinality("GLORP") == "single"
    assert learn(graph(said, texts=indefinite)).cardinality("GLORP") == "unknown"


def test_values_that_are_measures_speak_for_one() -> None:
    measures = [(f"s{i}", "GLORP", f">={i}.0", float(i)) for i in range(6)]
    things = [(f"s{i}", "GLORP", f"thing {i}", float(i)) for i in range(6)]
    assert learn(graph(measures)).cardinality("GLORP") == "single"
    assert learn(graph(things)).cardinality("GLORP") == "unknown"


def test_self_loops_housekeeping_and_the_future_count_for_nothing() -> None:
    said = [("a", "USES", "a", 1.0)] * 5 + [("a", "IS_DUPLICATE_OF", "b", 1.0)]
    said += [("a", "USES", f"x{i}", 9_999.0) for i in range(9)]
    uses = learn(graph(said)).relation("USES")
    assert uses.facts_count == 14
    assert uses.reasons[1:] == ("5 facts linked an entity to itself, which shows nothing.",)


def test_entities_of_one_name_are_one_value() -> None:
    said = [(f"s{i}", "HAS_PORT", f"{word} {i}", 1.0) for i in range(40) for word in ("X", "x")]
    assert learn(graph(said)).cardinality("HAS_PORT") == "single"


def test_an_empty_graph_has_an_empty_table() -> None:
    table = learn(graph([]))
    assert (table.relations, table.as_rows(), table.codes([]).tolist()) == ((), [], [])
    assert table.property_code("LIVES_IN") == -1
    assert table.cardinality("LIVES_IN") == "single"


# --- reasons -------------------------------------------------------------------------------


def test_reasons_say_what_was_seen_in_plain_words() -> None:
    said = [("a", "SPEAKS", "x", 1.0), ("a", "SPEAKS", "y", 1.0), ("b", "SPEAKS", "x", 2.0)]
    said += [("a", "LIVES_IN", "x", 1.0), ("a", "LIVES_IN", "y", 2.0), ("a", "GLORPABLE", "z", 1.0)]
    table = learn(graph(said))
    assert table.relation("SPEAKS").reasons == (
        "SPEAKS: the verb 'speaks' suggests many values.",
        "1 of 2 subjects had more than one value.",
        "The further value began together with the one before.",
    )
    assert table.relation("LIVES_IN").reasons[1:] == (
        "Its one subject had more than one value.",
        "The further value began later than the one before.",
    )
    assert table.relation("GLORPABLE").reasons == (
        "GLORPABLE: the unknown word 'glorpable' does not tell how many values it holds.",
        "Its one subject had one value.",
        "Not sure enough to decide: without a word of change its values replace nothing.",
    )


def test_housekeeping_is_called_so() -> None:
    table = learn(graph([("a", "IS_DUPLICATE_OF", "b", 1.0)]))
    assert table.relation("IS_DUPLICATE_OF").reasons == (
        "Graphiti's own note that two entities are one; it says nothing about the world.",
    )


def test_few_corrected_subjects_are_named_as_the_reason_for_doubt() -> None:
    few, enough = (
        learn(graph(corrections() + told_again("FROBNICATE", 9, count))).relation("FROBNICATE")
        for count in (4, 5)
    )
    assert few.reasons[-1] == (
        "Fewer than 5 of its own subjects show that, so it is not taken for certain."
    )
    assert few.single < ContradictionConfig().resolve_confidence < enough.single


# --- one property, several names -----------------------------------------------------------


def test_names_told_in_one_sentence_are_one_property() -> None:
    names = ("HAS_GLORP", "GLORPED_BY", "ZORK")
    said = [(f"s{i}", names[i % 3], f"o{i}", float(i)) for i in range(9)]
    table = learn(graph(said, texts=[f"{s} is glorped at length by {o}." for s, _, o, _ in said]))
    assert len({table.property_code(name) for name in names}) == 1
    assert set(table.relation("ZORK").names) == set(names)


def test_sentences_that_say_nothing_join_nothing() -> None:
    said = [(f"s{i}", ("GLORP", "ZORK")[i % 2], f"o{i}", float(i)) for i in range(8)]
    for text in ("{} {}", "{}: {}", "{} has {}", "", "another text"):
        table = learn(graph(said, texts=[text.format(s, o) for s, _, o, _ in said]))
        assert table.property_code("GLORP") != table.property_code("ZORK"), text


def test_a_sentence_of_too_many_names_joins_nothing() -> None:
    said = [(f"s{i}", f"GLORP{chr(97 + i)}", f"o{i}", float(i)) for i in range(20)]
    table = learn(graph(said, texts=[f"{s} is linked with {o}." for s, _, o, _ in said]))
    assert len(table.relations) == 20


def test_opposites_about_the_same_pairs_stay_apart() -> None:
    said = [(f"s{i}", name, f"o{i}", float(i)) for i in range(30) for name in ("LOVES", "HATES")]
    table = learn(graph(said))
    assert table.property_code("LOVES") != table.property_code("HATES")


@pytest.mark.parametrize("name", ["LIVES_IN", "lives in", "livesIn", "LivesIn", "Lives-In"])
def test_a_newer_value_replaces_the_older_one_in_whatever_style_names_are_written(
    name: str,
) -> None:
    said = [("Ann", name, "Rome", 1.0), ("Ann", "LIVES_IN", "Oslo", 9.0)]
    snapshot = graph(said, texts=["Ann lives in Rome.", "Ann lives in Oslo."])
    detector = ContradictionDetector(ContradictionConfig())
    (finding,) = detector.detect(snapshot, NOW_S, learn(snapshot)).findings
    assert (finding.verdict, finding.fact, finding.by) == ("missed", 0, 1)


def test_codes_are_aligned_and_know_other_spellings() -> None:
    table = learn(graph([("a", "LIVES_IN", "x", 1), ("a", "LIKES", "y", 1)]))
    codes = table.codes(["LIKES", "LIVES_IN", "likes", "lived in", "GLORP"]).tolist()
    assert codes[0] == codes[2] != codes[1] == codes[3]
    assert codes[4] == -1
    assert table.is_single[codes[1]] and not table.is_single[codes[0]]


# --- the user's lists ----------------------------------------------------------------------


def test_the_users_lists_beat_words_and_graph() -> None:
    said = [*side_by_side("HAS_PORT", 60, 6), ("a", "LIVES_IN", "b", 1.0)]
    table = learn(graph(said), single=("has port",), multi=("lives-in",), event=("GLORP",))
    assert (table.cardinality("HAS_PORT"), table.cardinality("LIVES_IN")) == ("single", "multi")
    assert table.cardinality("glorp") == "event"
    assert table.relation("HAS_PORT").confidence == table.relation("HAS_PORT").single == 1.0
    assert table.relation("LIVES_IN").single == 0.0
    assert table.relation("LIVES_IN").reasons == ("LIVES_IN is listed as multi.",)


def test_the_digest_changes_with_a_decision_only() -> None:
    said = [("a", "LIVES_IN", "x", 1.0), ("a", "LIKES", "y", 1.0)]
    table = learn(graph(said))
    assert table.digest == learn(graph([*said, ("b", "LIKES", "z", 2.0)])).digest
    assert table.digest != learn(graph(said), multi=("LIVES_IN",)).digest


# --- lifetimes -------------------------------------------------------------------------------

REMISSION_WEEKS = [6, 6, 6, 7, 10, 13, 16, 22, 23, 6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]
"""Freireich et al. 1963, 6-mercaptopurine: nine ends, then twelve patients still in remission."""


def test_the_median_of_the_textbook_example() -> None:
    weeks = np.array(REMISSION_WEEKS, np.float64)
    ended = np.arange(21) < 9
    assert median_lifetime_days(weeks, ended) == 23.0


def test_a_table_computed_by_hand() -> None:
    # at risk 6, 5, 3, 2: 5/6, 5/6 * 4/5 = 2/3, 2/3 * 2/3 = 4/9
    days = np.array([1.0, 2.0, 2.0, 3.0, 4.0, 5.0])
    ended = np.array([True, True, False, True, False, False])
    assert median_lifetime_days(days, ended) == 3.0
    assert median_lifetime_days(days, np.array([True, True, False, False, False, False])) is None


def test_a_relation_lives_as_long_as_half_of_its_facts() -> None:
    said = [(f"s{i}", "LIVES_IN", f"o{i}", float(i)) for i in range(6)]
    ends = [10.0, 21.0, 32.0, 43.0, None, None]
    lived = learn(graph(said, ends)).relation("LIVES_IN")
    assert lived.lifetime_days == pytest.approx(30.0)
    assert learn(graph(said, [10.0, 21.0, *[None] * 4])).relation("LIVES_IN").lifetime_days is None


# --- cost --------------------------------------------------------------------------------------


def operations(facts_count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many elements numpy sorts: the cost that could grow faster than the graph."""
    sorted_count = 0

    def counting(sort: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
        def counted(keys: Sequence[np.ndarray] | np.ndarray, **how: str) -> np.ndarray:
            nonlocal sorted_count
            sorted_count += len(keys) if isinstance(keys, np.ndarray) else len(keys[0])
            return sort(keys, **how)

        return counted

    said = [("hub", "USES", f"o{i}", float(i % 700)) for i in range(facts_count)]
    snapshot = graph(said)
    with monkeypatch.context() as patch:
        for sort in ("lexsort", "argsort", "sort"):
            patch.setattr(np, sort, counting(getattr(np, sort)))
        learn(snapshot)
    return sorted_count


def test_a_hub_costs_in_proportion_to_its_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = [operations(n, monkeypatch) for n in (1_000, 2_000, 4_000)]
    assert costs[0] > 1_000 and all(b <= 2 * a for a, b in pairwise(costs))


@pytest.mark.parametrize("values_count", [3, 60, 2_000])
def test_many_values_of_one_moment_that_is_known_to_the_year_say_something(values_count):
    new_year_day = (1_767_225_600.0 - BEGIN_S) / DAY_S
    said = [("Ada", "PREFERS", f"V{i}", new_year_day) for i in range(values_count)]
    relation = RelationLearner(RelationsConfig()).learn(graph(said), NOW_S).relation("PREFERS")
    assert relation.cardinality == "multi"
    assert relation.single + relation.confidence == pytest.approx(1.0)
