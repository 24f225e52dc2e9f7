"""review lists what waits and takes decisions; relations shows its table."""

import json
import re
import shlex
from datetime import UTC, datetime

import pytest

from synapse.demo import DEMO_NOW
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.plan import ArchiveChange
from synapse.hippocampus.recollector import Recollector
from synapse.hippocampus.scope import Scope
from tests.cli.decisions.conftest import AT, SURE, edges, sure
from tests.cli.test_consolidate import keys_of


@pytest.fixture
def decide(synapse, demo):
    def decided(*arguments):
        return synapse("review", *arguments, "--group-id", demo, *AT)

    return decided


def one(cases, verdict):
    return next(c for c in cases.values() if c["verdict"] == verdict)


def test_the_list_shows_texts_and_evidence(decide, findings, demo, connection):
    waiting, texts = findings(), edges(connection, demo)
    shown = decide().out
    for uuid, case in waiting.items():
        assert uuid in shown and case["evidence"] in shown
        assert case["text"] == texts[uuid]["fact"] and case["text"] in shown
        assert case["by"] is None or case["by_text"] == texts[case["by"]]["fact"]
    assert {case["state"] for case in waiting.values()} == {"found"}


def test_listing_writes_nothing(decide, demo, connection):
    before = keys_of(connection, demo)
    decide()
    assert keys_of(connection, demo) == before


def test_keep_new_ends_the_older_fact_and_says_how_to_take_it_back(
    decide, consolidate, synapse, demo, findings, connection
):
    case = next(
        c for c in findings().values() if c["verdict"] == "missed" and c["confidence"] < SURE
    )
    before = edges(connection, demo)
    ended = decide(case["fact"], "keep-new")
    assert ended.code == 0 and "resolved by keep-new" in ended.out
    after = edges(connection, demo)
    times = {
        "invalid_at": before[case["by"]]["valid_at"],
        "expired_at": "2026-07-01T06:00:00+00:00",
    }
    assert after == before | {case["fact"]: before[case["fact"]] | times}
    assert case["fact"] not in findings()
    consolidate("--group-id", demo, *AT)
    assert edges(connection, demo) == after
    (command,) = re.findall(r"^Take it back with: synapse (.*)$", ended.out, re.MULTILINE)
    assert synapse(*shlex.split(command)).code == 0
    assert edges(connection, demo) == before


@pytest.mark.parametrize("decision", ["keep-old", "keep-both"])
def test_a_rejected_finding_stays_rejected_until_its_text_changes(
    decide, consolidate, demo, findings, connection, tmp_path, decision
):  # fmt: skip
    waiting = findings()
    fact = sorted(sure(waiting))[0]
    file = tmp_path / "r.json"

    def run():
        ended = consolidate("--group-id", demo, *AT, "--resolve", "--report-file", str(file))
        found = json.loads(file.read_text())["contradictions"]["all"]
        return ended.summary, next(f for f in found if f["fact"] == fact)

    before = edges(connection, demo)[fact]
    assert decide(fact, decision).code == 0
    for _ in range(2):
        summary, found = run()
        assert (found["verdict"], found["state"], found["decision"]) == (
            "missed",
            "decided",
            decision,
        )
        assert fact not in {top["fact"] for top in summary["contradictions"]["top"]}
        assert summary["contradictions"]["review"] == len(findings())
        assert edges(connection, demo)[fact] == before and fact not in findings()
    connection.execute_command(
        "GRAPH.QUERY", demo,
        f"MATCH ()-[e:RELATES_TO {{uuid: '{fact}'}}]->() SET e.fact = 'So: ' + e.fact",
    )  # fmt: skip
    assert fact in findings()


def test_undo_brings_a_resolved_fact_back_exactly(
    decide, consolidate, demo, findings, connection
):  # fmt: skip
    before = edges(connection, demo)
    certain = sure(findings())
    consolidate("--group-id", demo, *AT, "--resolve")
    assert edges(connection, demo) != before
    for fact in certain:
        for _ in range(2):
            ended = decide(fact, "undo-invalidation")
            assert ended.code == 0 and "undone" in ended.out
    assert edges(connection, demo) == before
    consolidate("--group-id", demo, *AT, "--resolve")
    assert edges(connection, demo) == before
    assert not certain & set(findings())


@pytest.mark.parametrize("decision", ["keep-new", "undo-invalidation"])
def test_a_fact_ended_for_one_that_was_deleted_since_waits_for_a_person(
    decide, consolidate, demo, findings, connection, decision
):  # fmt: skip
    before = edges(connection, demo)
    fact = min(sure(findings()))
    by = findings()[fact]["by"]
    consolidate("--group-id", demo, *AT, "--resolve")
    resolved = edges(connection, demo)
    assert resolved[fact] != before[fact] and fact not in findings()
    connection.execute_command(
        "GRAPH.QUERY", demo, f"MATCH ()-[e:RELATES_TO {{uuid: '{by}'}}]->() DELETE e"
    )
    ended = consolidate("--group-id", demo, *AT, "--resolve")
    assert "what replaced 1 resolved facts is gone" in str(ended.summary["warnings"])
    assert ended.summary["wakeAgent"] and edges(connection, demo)[fact] == resolved[fact]
    case = findings()[fact]
    assert (case["verdict"], case["state"], case["by"]) == ("doubtful", "bereft", by)
    assert "instead of" not in case["evidence"]
    assert decide(fact, decision).code == 0
    wanted = resolved if decision == "keep-new" else before
    assert edges(connection, demo)[fact] == wanted[fact] and fact not in findings()
    again = consolidate("--group-id", demo, *AT, "--resolve")
    assert not again.summary["warnings"] and fact not in findings()
    assert edges(connection, demo)[fact] == wanted[fact]


def test_what_was_archived_or_is_of_another_group_has_not_left_the_fact_it_replaced(
    consolidate, synapse, demo, findings, connection, store
):  # fmt: skip
    fact = min(sure(findings()))
    by = findings()[fact]["by"]
    consolidate("--group-id", demo, *AT, "--resolve")
    connection.execute_command(
        "GRAPH.QUERY", demo, f"MATCH ()-[e:RELATES_TO {{uuid: '{by}'}}]->() SET e.group_id = 'b'"
    )
    own = Scope(demo, demo, whole_graph=False)
    thoughts = Recollector(store, HippocampusConfig()).recollect(own, at("2026-07-02"))
    assert by not in thoughts.snapshot.facts.uuid
    assert thoughts.followed(store.read_room(demo).ledger)[fact]["state"] == "resolved"
    move_to_archive(store, demo, by)
    for _ in range(2):
        ended = consolidate("--group-id", demo, *AT)
        assert not ended.summary["warnings"] and not ended.summary["wakeAgent"]
        assert fact not in findings()
        purged = synapse("purge", "--older-than", "1d", "--yes", "--group-id", demo)
        assert purged.code == 0, purged.err


def move_to_archive(store, graph, fact):
    change = ArchiveChange(fact, "fact", store.read_images(graph, [fact])[fact].digest, "faded")
    assert store.acquire_lock(graph, "mine", 60.0)
    assert store.archive(graph, [change], "by hand", at("2020-01-01"), "mine") == {fact}
    store.release_lock(graph, "mine")


def at(day):
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()


def test_undo_makes_a_doubtful_fact_valid_again(
    decide, consolidate, demo, findings, connection, store
):  # fmt: skip
    case, before = one(findings(), "doubtful"), edges(connection, demo)
    assert decide(case["fact"], "undo-invalidation").code == 0
    now = edges(connection, demo)[case["fact"]]
    old = before[case["fact"]]
    assert now == {k: v for k, v in old.items() if k not in ("invalid_at", "expired_at")}
    entry = store.read_room(demo).ledger[case["fact"]]
    assert entry["before"] == {name: old.get(name) for name in ("invalid_at", "expired_at")}
    consolidate("--group-id", demo, *AT, "--resolve")
    assert edges(connection, demo)[case["fact"]] == now
    assert case["fact"] not in findings()


def test_keep_new_leaves_a_doubtful_fact_ended(decide, demo, findings, connection):
    case, before = one(findings(), "doubtful"), edges(connection, demo)
    assert "decided by keep-new" in decide(case["fact"], "keep-new").out
    assert edges(connection, demo) == before
    assert case["fact"] not in findings() and case["fact"] in findings("--all")


def test_a_dry_decision_writes_nothing(decide, demo, findings, connection):
    waiting, before = findings(), keys_of(connection, demo)
    for fact, decision in (
        (one(waiting, "missed")["fact"], "keep-new"),
        (one(waiting, "missed")["fact"], "keep-both"),
        (one(waiting, "doubtful")["fact"], "undo-invalidation"),
    ):
        assert decide(fact, decision, "--dry-run").code == 0
    assert keys_of(connection, demo) == before


def test_a_changed_mind(decide, demo, findings, connection):
    fact = one(findings(), "missed")["fact"]
    for decision, state in (("keep-both", "decided"), ("keep-new", "resolved"),
                            ("undo-invalidation", "undone"), ("keep-new", "resolved")):  # fmt: skip
        ended = decide(fact, decision)
        assert ended.code == 0, ended.err
        assert findings("--all")[fact]["state"] == state
    assert "invalid_at" in edges(connection, demo)[fact]


@pytest.mark.parametrize(
    ("verdict", "decision", "words"),
    [
        ("missed", "undo-invalidation", "keep-old, keep-new or keep-both"),
        ("doubtful", "keep-both", "keep-new or undo-invalidation"),
    ],
)
def test_a_decision_that_makes_no_sense(decide, findings, verdict, decision, words):
    ended = decide(one(findings(), verdict)["fact"], decision)
    assert ended.code == 2
    assert words in ended.err and len(ended.err.splitlines()) == 1


def test_wrong_usage_of_review(decide):
    for arguments in (["f"], ["f", "keep"], ["nowhere", "keep-new"]):
        ended = decide(*arguments)
        assert ended.code == 2
        assert len(ended.err.splitlines()) == 1 and len(ended.err) < 131


def test_a_busy_lock_leaves_the_decision_untaken(decide, demo, findings, store):
    waiting = findings()
    assert store.acquire_lock(demo, "somebody", 60.0)
    ended = decide(one(waiting, "missed")["fact"], "keep-both")
    assert ended.code == 4 and "another run works on graph" in ended.err
    assert store.lock_holder(demo) == "somebody"
    assert findings() == waiting


def test_relations_shows_each_relation_with_reasons(synapse, demo):
    rows = json.loads(synapse("relations", "--group-id", demo, "--now", DEMO_NOW, "--json").out)
    assert sum(row["facts"] for row in rows) == 128
    assert all(row["reasons"] for row in rows)
    text = synapse("relations", "--group-id", demo, "--now", DEMO_NOW).out
    assert all(row["relation"][:39] in text and row["reasons"][0] in text for row in rows)
    assert max(map(len, text.splitlines()[:1])) < 100


def test_relations_of_an_empty_graph(synapse, connection, graph_name):
    connection.execute_command("GRAPH.QUERY", graph_name, "RETURN 1")
    assert synapse("relations", "--graph", graph_name).out == "The graph holds no facts.\n"
