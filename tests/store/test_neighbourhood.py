"""What an online observer reads: a few subjects and a few traces."""

import numpy as np
import pytest

from synapse.demo import DEMO_NOW, demo_path
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.consolidation import ConsolidationEngine, Run
from synapse.hippocampus.matters import Matters
from synapse.hippocampus.memory_keys import memory_keys
from synapse.hippocampus.ports import GraphDocument
from synapse.hippocampus.scope import Scope
from synapse.integrations.memory_file import read_memory_file
from synapse.store import neighbourhood


@pytest.fixture
def demo(any_store, graph_name):
    document = read_memory_file(demo_path(), group_id=graph_name, now_iso=DEMO_NOW)
    any_store.write_memory(graph_name, document)
    return any_store.read_graph(graph_name)


def stated(snapshot):
    """Every fact with its ends and support, by uuid."""
    facts, entities, episodes = snapshot.facts, snapshot.entities, snapshot.episodes
    return {
        uuid: (
            entities.name[facts.source[row]], facts.relation[row], entities.name[facts.target[row]],
            facts.text[row], repr(facts.valid_at_s[row]), repr(facts.invalid_at_s[row]),
            [episodes.uuid[e] for e in facts.episodes[row]],
        )
        for row, uuid in enumerate(facts.uuid)
    }  # fmt: skip


def test_the_facts_of_some_subjects_read_as_in_the_whole_graph(any_store, graph_name, demo):
    subjects = {demo.entities.uuid[row] for row in sorted(set(demo.facts.source.tolist()))[:7]}
    part = any_store.read_subjects(graph_name, subjects)
    of_subjects = [demo.entities.uuid[row] in subjects for row in demo.facts.source]
    whole = stated(demo)
    assert stated(part) == {
        uuid: whole[uuid]
        for uuid, wanted in zip(demo.facts.uuid, of_subjects, strict=True)
        if wanted
    }
    assert set(part.entities.summary) == {""}
    ages = dict(zip(demo.entities.uuid, demo.entities.created_at_s, strict=True))
    assert np.isfinite(part.entities.created_at_s).all()
    assert part.entities.created_at_s.tolist() == [ages[uuid] for uuid in part.entities.uuid]
    times = dict(zip(demo.episodes.uuid, demo.episodes.valid_at_s, strict=True))
    assert all(
        times[u] == t for u, t in zip(part.episodes.uuid, part.episodes.valid_at_s, strict=True)
    )


@pytest.mark.parametrize("subjects", [[], ["unknown"], ["'] OR 1=1 //", '\u2028"\\']])
def test_unknown_subjects_have_no_facts(any_store, graph_name, demo, subjects):
    part = any_store.read_subjects(graph_name, subjects)
    assert (len(part.entities), len(part.facts), part.left_out) == (0, 0, {})


def test_of_a_hub_those_facts_are_read_that_matter(store, graph_name, monkeypatch):
    monkeypatch.setattr(neighbourhood, "_HUB_FACTS_COUNT", 5)
    entities = tuple(
        {"uuid": f"e{n}", "name": f"E{n}", "group_id": "g", "labels": [], "summary": "",
         "created_at": DEMO_NOW} for n in range(9)
    )  # fmt: skip
    facts = tuple(
        {"uuid": f"f{n}", "source_node_uuid": "e0", "target_node_uuid": f"e{n}", "group_id": "g",
         "name": ("USES", "it's")[n % 2], "fact": "", "episodes": [], "created_at": DEMO_NOW}
        for n in range(9)
    )  # fmt: skip
    store.write_memory(graph_name, GraphDocument(entities=entities, facts=facts))
    read = store.read_subjects(
        graph_name, ["e0", "e0"], {"e0": Matters(["it's"], ["e2"]), "e1": Matters(["USES"])}
    )
    assert sorted(read.facts.uuid) == ["f1", "f2", "f3", "f5", "f7"]
    assert len(store.read_subjects(graph_name, ["e0"]).facts) == 9
    for spelt in ("Uses", "u_s-e S", "-USES", " uses"):
        read = store.read_subjects(graph_name, ["e0"], {"e0": Matters([spelt])})
        assert sorted(read.facts.uuid) == ["f0", "f2", "f4", "f6", "f8"]


@pytest.mark.parametrize("spelt", ["_LIVES_IN", "-lives-in", " Lives In", "livesIn", "LIVES_IN"])
@pytest.mark.parametrize("wanted", ["lives in", "_lives_in", "LIVES-IN"])
def test_a_hub_names_its_relations_in_any_spelling(
    store, connection, graph_name, monkeypatch, spelt, wanted
):
    monkeypatch.setattr(neighbourhood, "_HUB_FACTS_COUNT", 1)
    query = (
        "CREATE (a:Entity {uuid: 'a', name: 'a'}), (b:Entity {uuid: 'b', name: 'b'}), "
        "(a)-[:RELATES_TO {uuid: 'other', name: 'LIKES'}]->(b), "
        f"(a)-[:RELATES_TO {{uuid: 'same', name: '{spelt}'}}]->(b)"
    )
    connection.execute_command("GRAPH.QUERY", graph_name, query)
    assert store.read_subjects(graph_name, ["a"], {"a": Matters([wanted])}).facts.uuid == ["same"]


@pytest.mark.parametrize(
    ("spelt", "wanted"),
    [("\u0130stanbul", "istanbul"), ("\u1e9ex", "\u00dfx"), ("\u2126mega", "\u03a9MEGA"),
     ("\u212a_unit", "k unit"), ("\u00dcBER", "\u00fcber"), ("\U0001f600A", "\U0001f600a")],
)  # fmt: skip
def test_a_hub_names_its_relations_in_any_letters(
    store, connection, graph_name, monkeypatch, spelt, wanted
):
    test_a_hub_names_its_relations_in_any_spelling(
        store, connection, graph_name, monkeypatch, spelt, wanted
    )


@pytest.mark.parametrize("name", ["7", "['USES']", "null"])
def test_a_hub_may_have_names_that_are_no_text(store, connection, graph_name, monkeypatch, name):
    monkeypatch.setattr(neighbourhood, "_HUB_FACTS_COUNT", 1)
    query = (
        "CREATE (a:Entity {uuid: 'a', name: 'a'}), (b:Entity {uuid: 'b', name: 'b'}), "
        f"(a)-[:RELATES_TO {{uuid: 'odd', name: {name}}}]->(b), "
        "(a)-[:RELATES_TO {uuid: 'plain', name: 'LIVES_IN'}]->(b)"
    )
    connection.execute_command("GRAPH.QUERY", graph_name, query)
    assert store.read_subjects(graph_name, ["a"], {"a": Matters(["lives in"])}).facts.uuid == [
        "plain"
    ]


def test_some_traces_are_those_of_the_whole_room(any_store, graph_name, demo):
    engine = ConsolidationEngine(any_store, HippocampusConfig(), lambda: 0.0)
    assert engine.consolidate(Run(Scope(graph_name), now_s=1.8e9, run_id="run")).error is None
    keys = np.append(demo.outline().keys[[0, 7, 100]], memory_keys(["unknown"]))
    some, all_ = any_store.read_traces(graph_name, keys), any_store.read_room(graph_name).traces
    assert len(some) == 3
    assert (all_[np.isin(all_["key"], some["key"])] == some).all()
    assert len(any_store.read_traces(graph_name, keys[:0])) == 0


def test_all_entities_of_a_name_are_found_oldest_first(any_store, graph_name):
    named = [("c", "Ann", 3), ("a", "Ann", 2), ("b", "ann", 1), ("d", "Bob", 1), ("e", "Ann", 2)]
    entities = tuple(
        {"uuid": uuid, "name": name, "created_at": f"2026-01-0{day}T00:00:00+00:00"}
        for uuid, name, day in named
    )
    any_store.write_memory(graph_name, GraphDocument(entities=entities))
    found = any_store.find_entities(graph_name, ["Ann", "ann", "ANN", "Cid"])
    assert found == {"Ann": ("a", "e", "c"), "ann": ("b",), "ANN": ("b", "a", "e", "c")}
    assert any_store.find_entities("nobody-has-this", ["Ann"]) == {}


@pytest.mark.parametrize(
    "odd", ["name: 7", "name: ['USES']", "fact: true", "valid_at: 12.5", "episodes: 'e'", "uuid: 3"]
)
def test_a_value_that_is_no_text_keeps_nothing_else_from_being_read(
    store, connection, graph_name, odd
):
    plain = {"uuid": "'f'", "name": "'USES'", "fact": "'a'", "episodes": "['e', 'gone']"}
    field, value = odd.split(": ")
    of_odd = ", ".join(f"{k}: {v}" for k, v in {**plain, "uuid": "'odd'", field: value}.items())
    of_plain = ", ".join(f"{k}: {v}" for k, v in plain.items())
    query = (
        "CREATE (a:Entity {uuid: 'a', name: 'A'}), (b:Entity {uuid: 'b', name: 5}), "
        f"(:Episodic {{uuid: 'e', created_at: 9}}), (a)-[:RELATES_TO {{{of_plain}}}]->(b), "
        f"(b)-[:RELATES_TO {{{of_odd}}}]->(a)"
    )
    connection.execute_command("GRAPH.QUERY", graph_name, query)
    part, whole = store.read_subjects(graph_name, ["a", "b"]), store.read_graph(graph_name)
    assert stated(part) == stated(whole)
    assert len(part.facts) == 2
