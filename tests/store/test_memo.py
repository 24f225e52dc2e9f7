"""A run that remembers says exactly what a run that thinks would say."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from synapse.demo import DEMO_NOW, demo_path
from synapse.hippocampus.config import HippocampusConfig, PruningConfig
from synapse.hippocampus.consolidation import ConsolidationEngine, Run
from synapse.hippocampus.memo import Memo
from synapse.hippocampus.ports import GraphDocument
from synapse.hippocampus.recall import RecallSet, fold
from synapse.hippocampus.recollector import Recollector
from synapse.hippocampus.review import Review
from synapse.hippocampus.room import Pin, Surprise
from synapse.hippocampus.scope import Scope
from synapse.integrations.memory_file import read_memory_file

NOW_S = datetime.fromisoformat(DEMO_NOW).timestamp()
DAY_S = 86_400.0


def demo_run(store, graph):
    document = read_memory_file(demo_path(), group_id=graph, now_iso=DEMO_NOW)
    store.write_memory(graph, document)
    return Run(Scope(graph), NOW_S, "first", schemas=True, prune=True)


@pytest.fixture
def run(any_store, graph_name):
    return demo_run(any_store, graph_name)


def engine(store, config=None):
    return ConsolidationEngine(store, config or HippocampusConfig(), lambda: 0.0)


def said(outcome):
    assert outcome.error is None
    return {k: v for k, v in outcome.report.as_dict().items() if k != "run_id"}


def test_the_second_run_remembers_and_says_the_same_as_thinking(any_store, run):
    first = engine(any_store).consolidate(run)
    assert first.thoughts is not None
    for days in (0.0, 0.25, 1.0, 30.0, 400.0):
        later = replace(run, run_id="later", now_s=NOW_S + days * DAY_S)
        remembered = engine(any_store).consolidate(later)
        assert remembered.thoughts is None or days == 400.0  # a fact of the demo lies in 2027
        thought = engine(any_store).consolidate(replace(later, full_lists=True, dry_run=True))
        assert thought.thoughts is not None
        assert said(remembered) == {**said(thought), "dry_run": False}


def test_without_the_sections_that_were_not_asked_for(any_store, run):
    later = replace(run, now_s=NOW_S + 120.0 * DAY_S)
    engine(any_store).consolidate(replace(later, schemas=False, prune=False))
    remembered = engine(any_store).consolidate(later)
    assert remembered.thoughts is None
    assert remembered.report.schemas.count and remembered.report.pruning.candidates


def test_a_changed_graph_is_thought_about(any_store, run):
    engine(any_store).consolidate(run)
    entity = {"uuid": "new", "name": "New", "summary": "", "labels": [],
              "group_id": run.scope.graph, "created_at": "2026-06-30T00:00:00+00:00"}  # fmt: skip
    any_store.write_memory(run.scope.graph, GraphDocument(entities=(entity,)))
    again = engine(any_store).consolidate(run)
    assert again.thoughts is not None
    assert again.report.wrote.traces == 1
    assert engine(any_store).consolidate(run).thoughts is None


def test_other_constants_are_thought_about(any_store, run):
    engine(any_store).consolidate(run)
    other = HippocampusConfig(pruning=PruningConfig(threshold=0.2))
    changed = engine(any_store, other).consolidate(run)
    assert changed.thoughts is not None
    assert engine(any_store, other).consolidate(run).thoughts is None


def test_waiting_surprises_are_taken_over(any_store, run):
    engine(any_store).consolidate(run)
    any_store.record_surprises(
        run.scope.graph, {"": [Surprise("f", "g", "single_valued", 0.9, 1.0)]}
    )
    drained = engine(any_store).consolidate(run)
    assert drained.report.online_contradictions.count == 1
    assert engine(any_store).consolidate(run).report.online_contradictions.count == 0


def test_a_time_of_the_graph_that_comes_to_pass_ends_the_memo(any_store, run):
    engine(any_store).consolidate(run)
    memo = Memo.read(any_store.read_room(run.scope.graph).memo)
    assert memo.until_s is not None and memo.since_s <= NOW_S < memo.until_s
    config, ledger = HippocampusConfig(), any_store.read_room(run.scope.graph).ledger
    assert memo.holds(config, ledger, memo.until_s - 1.0)
    assert not memo.holds(config, ledger, memo.until_s)
    assert not memo.holds(config, ledger, memo.since_s - 1.0)
    assert not memo.holds(config, {**ledger, "fact": {"state": "kept"}}, NOW_S)


def test_a_memo_of_another_version_is_no_memo(any_store, run):
    engine(any_store).consolidate(run)
    kept = any_store.read_room(run.scope.graph).memo
    for broken in ({**kept, "version": "0"}, {**kept, "extra": 1}, {"version": 1}, [], None):
        memo = Memo.read(broken)
        assert memo is None or not memo.holds(
            HippocampusConfig(), any_store.read_room(run.scope.graph).ledger, NOW_S
        )


def recall(*uuids, at_s=NOW_S, asked=True):
    return RecallSet(tuple((u, rank) for rank, u in enumerate(uuids, 1)), "search", at_s, asked)


def test_recalls_are_folded_once_and_then_the_graph_is_recognised_again(any_store, run, graph_name):
    engine(any_store).consolidate(run)
    one, other = any_store.read_graph(graph_name).memory_uuids[:2]
    sets = [recall(one, other), recall(one), recall(other, asked=False)]
    any_store.record_recalls(graph_name, sets)
    dry = engine(any_store).consolidate(replace(run, run_id="dry", dry_run=True)).report.recalls
    assert (dry.counted, dry.exposures, dry.pending) == (2, 1, 3)
    folded = engine(any_store).consolidate(replace(run, run_id="folds"))
    assert folded.thoughts is not None
    recalls = folded.report.recalls
    assert (recalls.counted, recalls.exposures, recalls.pending) == (2, 1, 0)
    room = any_store.read_room(graph_name)
    assert (room.profiles, room.links) == fold({}, {}, sets)
    again = engine(any_store).consolidate(replace(run, run_id="again"))
    assert again.thoughts is None
    assert again.report.recalls.counted == 0
    assert again.report.reason_for_zero["recalls"] == "none recorded since the last run"
    assert any_store.read_room(graph_name).revision == room.revision


def test_recalls_of_memories_that_are_gone_are_kept_for_a_while(any_store, run, graph_name):
    known = any_store.read_graph(graph_name).memory_uuids[0]
    any_store.record_recalls(graph_name, [recall("gone", known)])
    engine(any_store).consolidate(run)
    later = replace(run, run_id="later", now_s=NOW_S + 89 * DAY_S, full_lists=True)
    engine(any_store).consolidate(later)
    room = any_store.read_room(graph_name)
    assert room.profiles.keys() == room.links.keys() == {"gone", known}
    late = replace(run, run_id="late", now_s=NOW_S + 91 * DAY_S, full_lists=True)
    engine(any_store).consolidate(late)
    room = any_store.read_room(graph_name)
    assert room.profiles.keys() == room.links.keys() == {known}
    engine(any_store).consolidate(replace(late, run_id="again"))
    assert any_store.read_room(graph_name).revision == room.revision


def says_what_thinking_says(store, run, config=None):
    dry = replace(run, run_id="dry", dry_run=True)
    one, other = (replace(dry, full_lists=full_lists) for full_lists in (False, True))
    return said(engine(store, config).consolidate(one)) == said(
        engine(store, config).consolidate(other)
    )


def in_two_groups(graph):
    entities = [
        {"uuid": name, "name": name, "summary": "", "labels": [], "group_id": group,
         "created_at": "2026-01-01T00:00:00+00:00"}
        for name, group in (("ada", "own"), ("bob", "own"), ("cy", "other"), ("dee", "other"))
    ]  # fmt: skip
    ends = ("ada", "bob", "own"), ("cy", "dee", "other"), ("ada", "cy", "other")
    facts = [
        {"uuid": f"{source}-{target}", "source_node_uuid": source, "target_node_uuid": target,
         "name": "KNOWS", "fact": f"{source} knows {target}", "group_id": group, "episodes": [],
         "created_at": "2026-01-01T00:00:00+00:00"}
        for source, target, group in ends
    ]  # fmt: skip
    return GraphDocument(entities=tuple(entities), facts=tuple(facts))


@pytest.mark.parametrize("recalled", [(), ("cy", "cy-dee")])
def test_after_a_run_over_one_group_the_whole_graph_is_thought_about(
    any_store, graph_name, recalled
):
    any_store.write_memory(graph_name, in_two_groups(graph_name))
    whole = Run(Scope(graph_name), NOW_S, "whole", prune=True)
    engine(any_store).consolidate(whole)
    if recalled:
        any_store.record_recalls(graph_name, [recall(*recalled)])
    group = replace(whole, run_id="group", scope=Scope(graph_name, "own", whole_graph=False))
    assert said(engine(any_store).consolidate(group))["status"] == "ok"
    assert says_what_thinking_says(any_store, whole)
    engine(any_store).consolidate(replace(whole, run_id="again"))
    assert engine(any_store).consolidate(whole).thoughts is None


def in_two_groups_that_move(graph):
    """People of each group move, those of one thrice as often, so that facts last longer there."""
    entities, facts = [], []
    for group, days in (("own", 40), ("other", 120)):
        names = [f"{group} {place}" for place in ("Oslo", "Rome", "Bern")]
        people = [f"{group} {number}" for number in range(20)]
        entities += [
            {"uuid": name, "name": name, "summary": "", "labels": [], "group_id": group,
             "created_at": "2025-01-01T00:00:00+00:00"}
            for name in (*names, *people)
        ]  # fmt: skip
        for number, person in enumerate(people):
            begins = [datetime(2025, 1, 1, tzinfo=UTC) + timedelta((days + number) * n)
                      for n in range(4)]  # fmt: skip
            facts += [
                {"uuid": f"{person} {n}", "source_node_uuid": person, "target_node_uuid": names[n],
                 "name": "LIVES_IN", "fact": f"{person} lives in {names[n]}", "group_id": group,
                 "created_at": begins[n].isoformat(), "valid_at": begins[n].isoformat(),
                 **({"invalid_at": begins[n + 1].isoformat()} if n < 2 else {})}
                for n in range(3)
            ]  # fmt: skip
    return GraphDocument(entities=tuple(entities), facts=tuple(facts))


def test_runs_over_one_group_and_over_all_in_turn_write_nothing(any_store, graph_name):
    any_store.write_memory(graph_name, in_two_groups_that_move(graph_name))
    whole = Run(Scope(graph_name), NOW_S, "whole", prune=True)
    group = replace(whole, scope=Scope(graph_name, "own", whole_graph=False))
    assert engine(any_store).consolidate(group).report.wrote.traces == 83
    first = engine(any_store).consolidate(whole).report.wrote.traces
    assert first == 143, "by the whole graph the facts of the group last longer"
    kept = any_store.read_room(graph_name).traces.tobytes()
    for number in range(3):
        alone = engine(any_store).consolidate(replace(group, run_id=f"group {number}"))
        assert alone.error is None and alone.report.wrote.traces == 0
        assert alone.report.retention.facts == 60
        assert engine(any_store).consolidate(whole).thoughts is None
    assert any_store.read_room(graph_name).traces.tobytes() == kept
    any_store.record_recalls(graph_name, [recall("own 1")])
    assert engine(any_store).consolidate(group).report.wrote.traces
    assert says_what_thinking_says(any_store, whole)
    assert engine(any_store).consolidate(whole).report.wrote.traces


def test_a_run_over_one_group_that_keeps_nothing_else_ends_no_memo(any_store, graph_name):
    any_store.write_memory(graph_name, in_two_groups(graph_name))
    group = Run(Scope(graph_name, "own", whole_graph=False), NOW_S, "group")
    engine(any_store).consolidate(group)
    whole = replace(group, run_id="whole", scope=Scope(graph_name))
    any_store.record_recalls(graph_name, [recall("cy")])
    engine(any_store).consolidate(whole)
    other = replace(group, scope=Scope(graph_name, "other", whole_graph=False))
    for run_ in (other, other, whole, whole):
        engine(any_store).consolidate(run_)
    assert engine(any_store).consolidate(whole).thoughts is None


def test_an_embedding_that_comes_later_makes_near_duplicates(store, graph_name, connection):
    store.write_memory(graph_name, in_two_groups(graph_name))
    config = HippocampusConfig.model_validate({"interference": {"enabled": True}})
    run = Run(Scope(graph_name), NOW_S, "first", prune=True)
    strengths, is_embedded = [], "SET e.name_embedding = vecf32([1.0, 0.5])"
    for change in (
        "MATCH (e:Entity) SET e.name = 'Ada'",
        f"MATCH (e:Entity {{uuid: 'ada'}}) {is_embedded}",
        f"MATCH (e:Entity {{uuid: 'bob'}}) {is_embedded}",
    ):
        connection.execute_command("GRAPH.QUERY", graph_name, change)
        assert says_what_thinking_says(store, run, config)
        report = engine(store, config).consolidate(run).report
        strengths.append(report.retention.mean_strength)
    assert strengths[0] == strengths[1] > strengths[2]


def test_why_no_recall_was_counted(any_store, run, graph_name):
    any_store.record_recalls(graph_name, [recall("a", asked=False)])
    reasons = engine(any_store).consolidate(run).report.reason_for_zero
    assert reasons["recalls"] == "nobody asked: memories were only put into prompts"
    for reason in (None, "every one repeats another within 24 hours"):
        any_store.record_recalls(graph_name, [recall("a")])
        report = engine(any_store).consolidate(replace(run, run_id="again")).report
        assert report.reason_for_zero.get("recalls") == reason


def test_candidates_without_any_recorded_recall_are_a_warning(any_store, run, graph_name):
    later = replace(run, now_s=NOW_S + 120.0 * DAY_S)
    for _ in ("thinks", "remembers"):
        report = engine(any_store).consolidate(later).report
        assert report.pruning.candidates
        assert [w for w in report.warnings if w.startswith("no recall was ever recorded here")]
    assert not engine(any_store).consolidate(replace(later, prune=False)).report.warnings
    of_others = [recall("of another graph"), recall("exposed", asked=False)]
    any_store.record_recalls(graph_name, of_others)
    for _ in ("waiting", "folded"):
        assert engine(any_store).consolidate(later).report.warnings
    known = any_store.read_graph(graph_name).memory_uuids[0]
    any_store.record_recalls(graph_name, [recall(known)])
    for dry_run in (True, False, False):
        assert not engine(any_store).consolidate(replace(later, dry_run=dry_run)).report.warnings


def test_a_run_that_remembers_knows_recalls_and_pins(any_store, run, graph_name):
    months_later = replace(run, now_s=NOW_S + 120.0 * DAY_S)
    candidates = engine(any_store).consolidate(months_later).thoughts.standing.pruning
    uuids = any_store.read_graph(graph_name).memory_uuids
    pinned, asked = (uuids[row] for row in candidates.ranked_candidates[:2])
    any_store.pin(graph_name, pinned, Pin(NOW_S, "keep it"))
    any_store.record_recalls(graph_name, [recall(asked, at_s=months_later.now_s)])
    folded = engine(any_store).consolidate(replace(months_later, run_id="folds"))
    remembered = engine(any_store).consolidate(replace(months_later, run_id="remembers"))
    assert folded.thoughts is not None and remembered.thoughts is None
    assert said(remembered)["pruning"] == said(folded)["pruning"]
    assert remembered.report.pruning.spared_by["pinned"] == 1
    assert not {pinned, asked} & {entry["uuid"] for entry in remembered.report.pruning.top}


def decide(store, run, fact, decision):
    """A person's decision about a fact, as ``synapse review`` takes it."""
    thoughts = Recollector(store, HippocampusConfig()).recollect(run.scope, run.now_s)
    review = Review(store, thoughts, store.read_room(run.scope.graph))
    review.decide(fact, decision, f"{decision} of {fact}")


@pytest.mark.parametrize("decision", ["keep-old", "keep-both", "keep-new"])
def test_what_was_decided_meanwhile_is_told_and_then_remembered(
    any_store, run, graph_name, decision
):
    first = engine(any_store).consolidate(run).report.contradictions
    assert engine(any_store).consolidate(run).thoughts is None
    missed = next(case["fact"] for case in first.top if case["verdict"] == "missed")
    decide(any_store, run, missed, decision)
    assert says_what_thinking_says(any_store, run)
    told = engine(any_store).consolidate(replace(run, run_id="tells"))
    assert told.thoughts is not None
    after = told.report.contradictions
    assert after.review == first.review - 1
    assert after.missed == first.missed - (decision == "keep-new")
    assert missed not in {case["fact"] for case in after.top}
    remembered = engine(any_store).consolidate(replace(run, run_id="remembers"))
    assert remembered.thoughts is None and remembered.report.contradictions == after
    if decision == "keep-new":
        decide(any_store, run, missed, "undo-invalidation")
        assert says_what_thinking_says(any_store, run)
        undone = engine(any_store).consolidate(replace(run, run_id="tells that too"))
        assert undone.thoughts is not None
        assert undone.report.contradictions.superseded == first.superseded
        assert engine(any_store).consolidate(run).thoughts is None


def kept_ledger(connection, graph):
    return f"synapse:{{{graph}}}:ledger", connection.hgetall(f"synapse:{{{graph}}}:ledger")


def test_the_same_decisions_in_other_bytes_are_the_same(store, graph_name, connection):
    run = demo_run(store, graph_name)
    engine(store).consolidate(run)
    key, kept = kept_ledger(connection, graph_name)
    assert kept
    for fact, decision in kept.items():
        reversed_ = dict(reversed(json.loads(decision).items()))
        connection.hset(key, fact, json.dumps(reversed_, indent=1))
    assert engine(store).consolidate(run).thoughts is None


def test_another_decision_is_thought_about_and_a_damaged_one_named(store, graph_name, connection):
    run = demo_run(store, graph_name)
    engine(store).consolidate(run)
    key, kept = kept_ledger(connection, graph_name)
    fact, decision = min(kept.items())
    connection.hset(key, fact, json.dumps({**json.loads(decision), "confidence": 0.5}))
    assert engine(store).consolidate(run).thoughts is not None
    connection.hset(key, fact, decision[:-1])
    assert f"field {fact.decode() if isinstance(fact, bytes) else fact} of" in str(
        engine(store).consolidate(run).error
    )
    connection.hdel(key, fact)
    assert engine(store).consolidate(run).error is None
    assert connection.hget(key, fact) == decision
