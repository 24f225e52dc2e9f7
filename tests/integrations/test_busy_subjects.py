"""Of a subject with many facts only some are read, and a new fact is judged as if all were."""

from __future__ import annotations

from typing import Any

import pytest

from synapse.demo import DEMO_NOW, demo_path
from synapse.hippocampus.bearing import Told
from synapse.hippocampus.config import ContradictionConfig, RelationsConfig
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.ports import GraphDocument
from synapse.hippocampus.prediction_error import PredictionErrorDetector
from synapse.hippocampus.relation_table import RelationTable
from synapse.hippocampus.relations import RelationLearner
from synapse.integrations.memory_file import read_memory_file
from synapse.store import neighbourhood
from tests.support.fact_graphs import at

DETECTOR = PredictionErrorDetector(ContradictionConfig())
PLAIN = [("LIKES", f"thing {n}", f"Ada likes thing {n}") for n in range(12)]


def written(store: Any, graph: str, told: list[tuple[str, str, str]]) -> GraphSnapshot:
    """A graph of facts about Ada, one a day."""
    names = dict.fromkeys(["Ada", *(name for _, name, _ in told)])
    entities = tuple(
        {"uuid": f"id of {name}", "name": name, "group_id": "g", "labels": [], "summary": "",
         "created_at": DEMO_NOW} for name in names
    )  # fmt: skip
    facts = tuple(
        {"uuid": f"f{day}", "source_node_uuid": "id of Ada", "target_node_uuid": f"id of {name}",
         "group_id": "g", "name": relation, "fact": text, "episodes": [],
         "created_at": f"2026-01-{day + 1:02}T00:00:00+00:00",
         "valid_at": f"2026-01-{day + 1:02}T00:00:00+00:00"}
        for day, (relation, name, text) in enumerate(told)
    )  # fmt: skip
    store.write_memory(graph, GraphDocument(entities=entities, facts=facts))
    read: GraphSnapshot = store.read_graph(graph)
    return read


def learned(graph: GraphSnapshot) -> RelationTable:
    return RelationLearner(RelationsConfig()).learn(graph, at(1_000))


def judged(store: Any, graph: GraphSnapshot, row: int, table: RelationTable) -> list[Any]:
    """How a fact is judged beside all facts of its subject, and beside those that matter."""
    facts, entities = graph.facts, graph.entities.uuid
    ends = entities[int(facts.source[row])], entities[int(facts.target[row])]
    statement = Told(ends[0], facts.relation[row], ends[1], facts.text[row])
    errors = []
    for matters in ({}, DETECTOR.matters([statement], table)):
        known = store.read_subjects(graph.graph, [ends[0]], matters)
        new = known.facts.uuid.index(facts.uuid[row])
        error = DETECTOR.judge_all(known, [new], at(1_000), table)[0]
        findings = [
            (known.facts.uuid[f.fact], f.by >= 0 and known.facts.uuid[f.by], f.rule, f.confidence)
            for f in error.findings
        ]
        errors.append((error.kind, error.surprise, findings))
    return errors


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        (("LIVES_IN", "Paris", "Ada lives in Paris"), ("MOVED_TO", "Rome", "Ada moved to Rome"),
         "new_value_begins"),
        (("lives in", "Paris", "Ada lives in Paris"),
         ("ANNOUNCED", "Rome", "Ada relocated to Rome"), "new_value_begins"),
        (("WORKS_AT", "Acme", "Ada works at Acme"), ("JOINED", "Globex", "Ada joined Globex"),
         "new_value_begins"),
        (("HAS_JOB", "nurse", "Ada is a nurse"), ("BECAME", "pilot", "Ada became a pilot"),
         "new_value_begins"),
        (("USES", "Vim", "Ada uses Vim"),
         ("SWITCHED_TO", "Emacs", "Ada switched from VIM to Emacs"), "cue_switched_from"),
        (("USES", 'the "Vim" \\ editor', 'Ada uses the "Vim" \\ editor'),
         ("PREFERS", "Emacs", 'Ada uses Emacs instead of the "Vim" \\ editor'), "cue_instead_of"),
        (("WORKS_AT", "Acme", "Ada works at Acme"), ("LEFT", "Acme", "Ada left Acme"), "denied"),
    ],
)  # fmt: skip
def test_what_contradicts_is_seen_among_many_facts(
    store: Any, graph_name: str, old: tuple[str, str, str], new: tuple[str, str, str], rule: str
) -> None:
    graph = written(store, graph_name, [old, *PLAIN, new])
    whole, some = judged(store, graph, graph.facts.uuid.index("f13"), learned(graph))
    assert some == whole
    assert (some[0], [found[:3] for found in some[2]]) == ("contradicts", [("f0", "f13", rule)])


def test_what_is_told_late_is_seen_to_have_ended(store: Any, graph_name: str) -> None:
    late, moved = ("LIVES_IN", "Paris", "Ada lives in Paris"), ("MOVED_TO", "Rome", "Ada moved")
    graph = written(store, graph_name, [late, *PLAIN, moved])
    whole, some = judged(store, graph, graph.facts.uuid.index("f0"), learned(graph))
    assert some == whole
    assert [found[:2] for found in some[2]] == [("f0", "f13")]


def test_what_only_shares_a_word_is_not_read(store: Any, graph_name: str) -> None:
    new = ("MOVED_TO", "Rome", "Ada moved to Rome")
    graph = written(store, graph_name, [("MET_IN", "Rome"[::-1], "Ada met emoR"), *PLAIN, new])
    statement = Told("id of Ada", *new[:1], "id of Rome", new[2])
    matters = DETECTOR.matters([statement], learned(graph))
    assert store.read_subjects(graph_name, ["id of Ada"], matters).facts.uuid == ["f13"]


def test_the_demo_is_judged_alike_however_little_is_read(
    store: Any, graph_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbourhood, "_HUB_FACTS_COUNT", 0)
    document = read_memory_file(demo_path(), group_id=graph_name, now_iso=DEMO_NOW)
    store.write_memory(graph_name, document)
    graph = store.read_graph(graph_name)
    table, kinds = learned(graph), set()
    for row in range(len(graph.facts)):
        whole, some = judged(store, graph, row, table)
        assert some == whole, graph.facts.text[row]
        kinds.add(some[0])
    assert kinds == {"contradicts", "expected", "novel"}


@pytest.mark.parametrize("name", ["7", "['Vim']", "null", "''"])
def test_objects_may_have_names_that_are_no_text(
    store: Any, connection: Any, graph_name: str, name: str
) -> None:
    old = ("USES", "Vim", "Ada uses Vim")
    new = ("PREFERS", "Emacs", "Ada uses Emacs instead of Vim, 7 days a week")
    graph = written(store, graph_name, [old, *PLAIN, new])
    odd = f"MATCH (b:Entity {{name: 'thing 3'}}) SET b.name = {name}"
    connection.execute_command("GRAPH.QUERY", graph_name, odd)
    whole, some = judged(store, graph, graph.facts.uuid.index("f13"), learned(graph))
    assert some == whole and some[0] == "contradicts"
