"""What the prompt block tells where facts contradict each other without an end."""

import pytest

pytest.importorskip("graphiti_core")

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.contradiction import ContradictionDetector
from synapse.hippocampus.ports import GraphDocument
from synapse.hippocampus.relations import RelationLearner
from synapse.hippocampus.stamps import format_stamp
from synapse.integrations.briefing import Briefer

DAY_S = 86_400.0
BEGIN_S = 1_767_225_600.0
"""The first of January 2026."""
NOW_S = BEGIN_S + 100 * DAY_S


def stamp(at_day):
    return format_stamp(BEGIN_S + at_day * DAY_S)


@pytest.fixture
def told(any_store, graph_name):
    """Write where Ann lives as (place, text, begin, end, days on which it was said), and get the
    block, the findings and the texts of the facts."""

    def tell(*lives):
        names = ("Ann", *(life[0] for life in lives))
        common = {"group_id": "g", "created_at": stamp(0)}
        entities = [{**common, "uuid": n, "name": n, "summary": "", "labels": []} for n in names]
        facts, episodes = [], []
        for number, (place, text, begin, end, said) in enumerate(lives):
            uuids = [f"said {number} {at_day}" for at_day in said]
            for uuid, at_day in zip(uuids, said, strict=True):
                when = {"created_at": stamp(at_day), "valid_at": stamp(at_day)}
                told = {"name": uuid, "content": text, "source": "text", "source_description": ""}
                episodes.append({**common, **when, **told, "uuid": uuid})
            ends = {} if end is None else {"invalid_at": stamp(end), "expired_at": stamp(end)}
            facts.append({
                **common, **ends, "uuid": f"fact {number}", "source_node_uuid": "Ann",
                "target_node_uuid": place, "name": "LIVES_IN", "fact": text, "episodes": uuids,
                "valid_at": stamp(begin),
            })  # fmt: skip
        document = GraphDocument(tuple(entities), tuple(facts), tuple(episodes), ())
        any_store.write_memory(graph_name, document)
        config = HippocampusConfig()
        known = any_store.read_graph(graph_name)
        relations = RelationLearner(config.relations).learn(known, NOW_S)
        detector = ContradictionDetector(config.contradictions)
        found = detector.detect(known, NOW_S, relations).findings
        briefer = Briefer(any_store, config)
        block = briefer.brief(graph_name, ["Ann"], relations, NOW_S, 300)
        uuid = known.facts.uuid
        return block, {(uuid[f.fact], uuid[f.by], f.verdict) for f in found if f.by >= 0}

    return tell


def test_what_had_ended_itself_replaces_nothing(told):
    block, found = told(
        ("Oslo", "Ann lives in Oslo", 1, 10, (1, 30)),
        ("Rome", "Ann lives in Rome", 10, 20, (10, 40)),
        ("Bern", "Ann lives in Bern", 20, None, (20,)),
    )
    assert ("fact 2", "fact 0", "missed") in found
    assert block == (
        "## Verified active memory\n"
        '- "Ann lives in Bern" (since 2026-01-21)\n'
        "## Resolved changes (do not use old values)\n"
        '- no longer "Ann lives in Oslo"; since 2026-01-21 "Bern"'
    )


def test_a_value_outlives_one_that_came_and_went(told):
    block, found = told(
        ("Oslo", "Ann lives in Oslo", 1, None, (1, 30)),
        ("Rome", "Ann lives in Rome", 10, 30, (10, 40)),
    )
    assert ("fact 0", "fact 1", "missed") in found
    assert block == '## Verified active memory\n- "Ann lives in Oslo" (since 2026-01-02)'


@pytest.mark.parametrize("is_reversed", [False, True])
def test_of_facts_that_replace_each_other_the_newest_is_told(told, is_reversed):
    lives = [
        ("Oslo", "Ann now lives in Oslo", 1, None, (1, 5, 7)),
        ("Bern", "Ann moved from Oslo to Bern", 3, None, (7,)),
    ]
    block, found = told(*(lives[::-1] if is_reversed else lives))
    assert found == {("fact 0", "fact 1", "missed"), ("fact 1", "fact 0", "missed")}
    assert block == (
        "## Verified active memory\n"
        '- "Ann moved from Oslo to Bern" (since 2026-01-04)\n'
        "## Resolved changes (do not use old values)\n"
        '- no longer "Ann now lives in Oslo"; since 2026-01-04 "Bern"'
    )


def test_what_a_newer_value_replaces_is_not_told_as_holding(told):
    block, _ = told(
        ("Oslo", "Ann lives in Oslo", 1, None, (1,)),
        ("Rome", "Ann lives in Rome", 10, None, (10,)),
        ("Bern", "Ann lives in Bern", 20, None, (20,)),
    )
    assert block == (
        "## Verified active memory\n"
        '- "Ann lives in Bern" (since 2026-01-21)\n'
        "## Resolved changes (do not use old values)\n"
        '- no longer "Ann lives in Oslo"; since 2026-01-21 "Bern"'
    )


def test_a_value_that_came_back_is_not_told_as_left(told):
    block, _ = told(
        ("Oslo", "Ann lives in Oslo", 1, None, (1,)),
        ("Rome", "Ann moved to Rome", 30, None, (30,)),
        ("Oslo", "Ann moved to Oslo", 60, None, (60,)),
    )
    assert block == (
        "## Verified active memory\n"
        '- "Ann moved to Oslo" (since 2026-03-02)\n'
        "## Resolved changes (do not use old values)\n"
        '- no longer "Ann moved to Rome"; since 2026-03-02 "Oslo"'
    )


def test_of_another_number_about_the_same_the_whole_sentence_is_told(told):
    block, _ = told(
        ("Rome", "Ann rents a flat in Rome for 500 EUR a month", 1, 30, (1,)),
        ("Rome", "Ann rents a flat in Rome for 700 EUR a month", 30, None, (30,)),
    )
    assert block == (
        "## Verified active memory\n"
        '- "Ann rents a flat in Rome for 700 EUR a month" (since 2026-01-31)\n'
        "## Resolved changes (do not use old values)\n"
        '- no longer "Ann rents a flat in Rome for 500 EUR a month"; since 2026-01-31 '
        '"Ann rents a flat in Rome for 700 EUR a month"'
    )


def test_what_is_stored_twice_is_told_once_since_it_began(told):
    block, found = told(
        ("Oslo", "Ann lives in Oslo", 30, None, (30,)),
        ("Oslo", "Ann lives in Oslo", 1, None, (1,)),
        ("Oslo", "Ann lives in Oslo", 9, None, (9,)),
        ("Oslo", "Ann works in Oslo", 2, None, (2,)),
    )
    assert ("fact 1", "fact 0", "duplicate") in found
    assert block == (
        "## Verified active memory\n"
        '- "Ann works in Oslo" (since 2026-01-03)\n'
        '- "Ann lives in Oslo" (since 2026-01-02)'
    )
