"""recall-log, pin and unpin, as people use them."""

import json
import os
import subprocess
import sys

import pytest

from synapse.demo import DEMO_NOW
from synapse.hippocampus.explanation import find_memory
from synapse.hippocampus.ports import GraphDocument
from synapse.hippocampus.recall import RecallSet
from synapse.hippocampus.stamps import parse_stamp


@pytest.fixture
def log(tmp_path, demo, store):
    """Two recall sets of the demo's memories, and how to write them."""
    uuids = store.read_graph(demo).memory_uuids[:3]
    lines = [
        {"uuids": uuids, "at": "2026-01-05T08:00:00Z", "source": "search"},
        {"ranks": {uuids[0]: 1, uuids[2]: 4}, "at": "2026-01-06T09:00:00Z"},
    ]
    file = tmp_path / "recalls.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_a_log_is_imported_once_and_folded_by_the_next_batch(synapse, demo, store, log):
    for imported in (2, 0):
        ended = synapse("recall-log", str(log), "--group-id", demo)
        assert ended.code == 0, ended.err
        told = {"graph": demo, "recall_sets": 2, "imported": imported, "naming_unknown": 0}
        assert ended.summary == told
    batch = synapse("consolidate", "--group-id", demo, "--now", DEMO_NOW)
    assert batch.summary["recalls"] == {"counted": 5, "exposures": 0, "pending": 0}
    assert synapse("recall-log", str(log), "--group-id", demo).summary["imported"] == 0
    status = synapse("status")
    assert "recalled   3 memories, 0 pinned" in status.out.split(demo)[1]
    with log.open("a") as more:
        more.write('{"uuids": ["new"], "at": 5}\n')
    ended = synapse("recall-log", str(log), "--group-id", demo)
    assert (ended.summary["imported"], ended.summary["naming_unknown"]) == (1, 1)
    assert ended.err == "1 recall set with memories that are not in the graph, as new\n"


def test_explain_shows_in_which_place_and_how_often_a_memory_came(synapse, demo, store, log):
    synapse("recall-log", str(log), "--group-id", demo)
    synapse("consolidate", "--group-id", demo, "--now", "2026-01-07T06:00:00Z")
    first, _, third = store.read_graph(demo).memory_uuids[:3]
    at = ("--group-id", demo, "--now", "2026-01-07T06:00:00Z")
    card = json.loads(synapse("explain", first, *at, "--json").out)
    assert (card["average_rank"], card["recalls_per_day"]) == (1.0, 2.0 / 7.0)
    worse = json.loads(synapse("explain", third, *at, "--json").out)
    assert worse["average_rank"] == 3.5 and 0.0 < worse["demand"] < card["demand"] < 1.0
    said = (
        "asked for  2026-01-06T09:00:00Z, first 2026-01-05T08:00:00Z; 2 times, 2 of them in the "
        "first place, on average in place 1.0; 0.29 a day in a week, 0.07 in 30 days; "
        "by log (1), search (1)\n"
    )
    text = synapse("explain", first, *at).out
    assert said in text and "2 recalls, association" in text and "demand 0.34" in text
    assert card["sources"] == {"log": 1, "search": 1} and card["first_places_count"] == 2
    never = store.read_graph(demo).memory_uuids[3]
    assert "asked for  never\n" in synapse("explain", never, *at).out


@pytest.mark.parametrize("recalled_hours_ago", [(), (2.0,), (13.0, 40.0), (900.0,)])
def test_explain_foretells_what_one_more_recall_does(synapse, demo, store, recalled_hours_ago):
    memory = store.read_graph(demo).facts.uuid[7]
    now_s, at = parse_stamp(DEMO_NOW), ("--group-id", demo, "--now", DEMO_NOW)

    def recall(*hours_ago):
        sets = [RecallSet(((memory, 1),), "search", now_s - 3600.0 * h) for h in hours_ago]
        store.record_recalls(demo, sets)
        assert synapse("consolidate", *at).code == 0

    def card():
        return json.loads(synapse("explain", memory, *at, "--json").out)

    recall(*recalled_hours_ago)
    before = card()
    recall(0.0)
    after = card()
    assert before["if_recalled_now_stability"] == after["stability"] > before["stability"]
    assert before["if_recalled_now_lasts_until"] == after["falls_below_threshold_at"]
    assert after["falls_below_threshold_at"] > before["falls_below_threshold_at"]


def test_a_touch_today_never_shortens_what_is_dated_in_the_future(synapse, graph_name, tmp_path):
    file = tmp_path / "memory.json"
    episode = {"uuid": "ep", "content": "Ada moves to Oslo.", "valid_at": "2027-01-05"}
    fact = {"uuid": "f", "source": "Ada", "target": "Oslo", "name": "LIVES_IN", "episodes": ["ep"]}
    entities = [{"name": "Ada"}, {"name": "Oslo"}]
    file.write_text(json.dumps({"entities": entities, "episodes": [episode], "facts": [fact]}))
    assert synapse("load", str(file), "--group-id", graph_name).code == 0
    at = ("--group-id", graph_name, "--now", DEMO_NOW)
    card = json.loads(synapse("explain", "f", *at, "--json").out)
    assert card["if_touched_now_lasts_until"] >= card["falls_below_threshold_at"] > "2027-01-05"
    assert card["if_recalled_now_lasts_until"] >= card["falls_below_threshold_at"]


def test_the_first_recall_of_a_fact_without_an_episode_makes_it_firmer(synapse, store, graph_name):
    fact = {
        "uuid": "f", "source_node_uuid": "a", "target_node_uuid": "b", "name": "KNOWS",
        "fact": "Ada knows Bob", "created_at": "2025-06-01T00:00:00+00:00",
    }  # fmt: skip
    entities = ({"uuid": "a", "name": "Ada"}, {"uuid": "b", "name": "Bob"})
    store.write_memory(graph_name, GraphDocument(entities=entities, facts=(fact,)))
    at_s = parse_stamp(DEMO_NOW)
    store.record_recalls(graph_name, [RecallSet((("f", 1),), "search", at_s)])
    at = ("--group-id", graph_name, "--now", DEMO_NOW)
    assert synapse("consolidate", *at).code == 0
    assert json.loads(synapse("explain", "f", *at, "--json").out)["stability"] > 17.0


def test_of_a_log_that_is_too_long_the_rest_is_imported_after_the_next_batch(
    synapse, demo, store, tmp_path
):
    memory, count = store.read_graph(demo).memory_uuids[0], 100_001
    lines = (json.dumps({"uuids": [memory], "at": 1.6e9 + n}) + "\n" for n in range(count))
    (tmp_path / "long.jsonl").write_text("".join(lines))
    told = {"graph": demo, "recall_sets": count, "naming_unknown": 0}
    for imported, code, complaint in (
        (100_000, 3, "100000 recall sets imported until the queue was full"),
        (0, 1, "too many recalls wait on "),
    ):
        ended = synapse("recall-log", "long.jsonl", "--group-id", demo)
        assert (ended.code, ended.summary) == (code, {**told, "imported": imported}), ended.err
        assert ended.err.startswith(complaint) and len(ended.err) < 131
        assert "; run synapse consolidate, then " in ended.err
    assert synapse("consolidate", "--group-id", demo).summary["recalls"]["pending"] == 0
    ended = synapse("recall-log", "long.jsonl", "--group-id", demo)
    assert (ended.code, ended.summary) == (0, {**told, "imported": 1}), ended.err


def test_a_log_comes_from_stdin(falkordb_uri, demo, log):
    ended = subprocess.run(
        [sys.executable, "-m", "synapse", "recall-log", "-", "--graph", demo],
        input=log.read_bytes(), capture_output=True,
        env={**os.environ, "FALKORDB_URI": falkordb_uri},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["imported"] == 2


def test_a_wrong_line_takes_nothing(synapse, demo, store, log):
    with log.open("a") as more:
        more.write('{"uuids": ["a"], "at": "tomorrow"}\n')
    ended = synapse("recall-log", str(log), "--group-id", demo)
    assert ended.code == 2
    (complaint,) = ended.err.splitlines()
    assert "recalls.jsonl, line 3: at 'tomorrow' is no time" in complaint and len(complaint) < 130
    assert store.summarize_room(demo).recalls_count == 0


def test_what_is_wrong_with_a_log_is_one_sentence(synapse, demo, graph_name, tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty").write_bytes(b"")
    for arguments in (
        ("nowhere.jsonl", "--group-id", demo),
        (str(tmp_path), "--group-id", demo),
        ("binary", "--group-id", demo),
        ("empty", "--group-id", "nobody"),
    ):
        ended = synapse("recall-log", *arguments)
        assert ended.code == 2 and ended.out == ""
        assert len(ended.err.splitlines()) == 1 and len(ended.err) < 131
    assert synapse("recall-log", "empty", "--group-id", demo).summary["imported"] == 0


def test_a_memory_is_pinned_by_name_or_uuid_until_it_is_unpinned(synapse, demo, store):
    snapshot = store.read_graph(demo)
    uuid = snapshot.memory_uuids[find_memory(snapshot, "mira")]
    for memory in ("mira", uuid):
        ended = synapse("pin", memory, "--group-id", demo, "--reason", "she decides")
        assert (ended.code, ended.out) == (0, f"{uuid} is pinned\n"), ended.err
        pins = store.read_room(demo).pins
        assert {name: pin.reason for name, pin in pins.items()} == {uuid: "she decides"}
    synapse("pin", "mira", "--group-id", demo, "--reason", "another")
    (again,) = store.read_room(demo).pins.values()
    assert (again.at_s, again.reason) == (pins[uuid].at_s, "another")
    card = json.loads(synapse("explain", "mira", "--group-id", demo, "--json").out)
    assert (card["pin_reason"], card["pinned_since"] is None) == ("another", False)
    text = synapse("explain", "mira", "--group-id", demo).out
    assert f"pinned     since {card['pinned_since']}: another" in text
    assert "1 pinned" in synapse("status").out.split(demo)[1]
    for memory, said in (("mira", "no longer"), (uuid, "not")):
        ended = synapse("unpin", memory, "--group-id", demo)
        assert (ended.code, ended.out) == (0, f"{uuid} is {said} pinned\n"), ended.err
    assert store.read_room(demo).pins == {}


@pytest.mark.parametrize("command", ["pin", "unpin"])
def test_an_unknown_memory_is_an_error(synapse, demo, store, command):
    ended = synapse(command, "nobody", "--group-id", demo)
    assert ended.code == 2 and ended.out == ""
    assert "no memory has the uuid or name 'nobody'" in ended.err
    assert store.read_room(demo).pins == {}
