"""status, explain, load."""

import json

import pytest

from synapse import __version__
from synapse.demo import DEMO_NOW, demo_path
from tests.cli.test_consolidate import keys_there


def test_load_twice_adds_nothing(synapse, graph_name, store):
    for added in (128, 0):
        ended = synapse("load", str(demo_path()), "--group-id", graph_name)
        assert ended.code == 0, ended.err
        assert (ended.summary["facts"], ended.summary["added"]["facts"]) == (128, added)
    snapshot = store.read_graph(graph_name)
    assert (len(snapshot.entities), len(snapshot.facts)) == (55, 128)


def test_load_takes_the_table_of_records_in_the_documentation(synapse, graph_name, tmp_path, store):
    file = tmp_path / "memory.json"
    episode = {"uuid": "ep", "content": "Ada moved to Oslo.", "valid_at": "2026-01-05"}
    fact = {"source": "Ada", "target": "Oslo", "name": "LIVES_IN", "episodes": ["ep"]}
    mention = {"source": "ep", "target": "Ada"}
    entities = [{"name": "Ada"}, {"name": "Oslo"}]
    memory = {"entities": entities, "episodes": [episode], "facts": [fact], "mentions": [mention]}
    file.write_text(json.dumps(memory))
    ended = synapse("load", str(file), "--group-id", graph_name)
    assert ended.summary["added"] == {"entities": 2, "facts": 1, "episodes": 1, "mentions": 1}
    file.write_text(json.dumps({**memory, "mentions": [{"target": "Ada"}]}))
    assert "episode_uuid is missing" in synapse("load", str(file), "--group-id", graph_name).err


def test_load_says_which_entities_a_file_only_refers_to(synapse, graph_name, tmp_path):
    file = tmp_path / "memory.jsonl"
    file.write_text(
        '{"type": "entity", "name": "Ada", "entityType": "person"}\n'
        '{"type": "relation", "from": "Ada", "to": "Oslo", "relationType": "lives in"}\n'
    )
    ended = synapse("load", str(file), "--group-id", graph_name)
    assert (ended.code, ended.summary["entities"], ended.summary["undeclared"]) == (0, 2, 1)
    assert ended.err == "1 entity made that the file only refers to, as 'Oslo'\n"


def test_the_version_is_told(synapse):
    assert synapse("--version").out == f"synapse-hippocampus {__version__}\n"


def test_load_says_what_is_wrong_with_a_file(synapse, graph_name, tmp_path, store):
    file = tmp_path / "broken.json"
    file.write_text('{"entities": [')
    ended = synapse("load", str(file), "--group-id", graph_name)
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1 and "broken.json" in ended.err
    assert graph_name not in store.graphs()


def test_explain_by_name_and_by_uuid(synapse, demo):
    by_name = synapse("explain", "mira", "--group-id", demo, "--now", DEMO_NOW, "--json")
    assert by_name.code == 0, by_name.err
    card = json.loads(by_name.out)
    by_uuid = synapse("explain", card["uuid"], "--group-id", demo, "--now", DEMO_NOW, "--json")
    assert json.loads(by_uuid.out) == card
    assert card["salience"] == pytest.approx(sum(f["contribution"] for f in card["factors"]))
    assert card["if_touched_now_lasts_until"] > card["falls_below_threshold_at"]
    text = synapse("explain", "mira", "--group-id", demo, "--now", DEMO_NOW).out
    for word in ("strength", "recency", "half-life", "threshold", "pruning"):
        assert word in text


def test_explain_of_something_unknown(synapse, demo):
    ended = synapse("explain", "nobody at all", "--group-id", demo)
    assert ended.code == 2
    assert "no memory has the uuid or name 'nobody at all'" in ended.err


def test_explain_writes_nothing(synapse, demo, connection):
    before = keys_there(connection)
    synapse("explain", "mira", "--group-id", demo)
    assert keys_there(connection) == before


def test_status_shows_the_last_run_that_wrote(synapse, consolidate, demo):
    assert "never" in synapse("status").out
    run_id = consolidate("--group-id", demo, "--now", DEMO_NOW).summary["run_id"]
    room = json.loads(synapse("status", "--json").out)[demo]
    assert room["last_run"]["run_id"] == run_id
    assert room["traces_count"] == 183
    assert room["lock_holder"] is None
    assert run_id in synapse("status").out


def test_a_word_that_is_no_command(synapse):
    ended = synapse("consolidat")
    assert ended.code == 2
    assert "No such command" in ended.err


def test_one_damaged_room_does_not_hide_the_others(synapse, demo, connection):
    connection.set("synapse:{damaged}:meta", "x")
    connection.execute_command("GRAPH.QUERY", "damaged", "CREATE (:Entity {uuid: 'a'})")
    try:
        ended = synapse("status", "--json")
        assert ended.code == 0
        rooms = json.loads(ended.out)
        assert rooms[demo]["traces_count"] == 0 and "error" in rooms["damaged"]
        assert "damaged" in synapse("status").out
    finally:
        connection.delete("damaged", "synapse:{damaged}:meta")


def test_simulate_draws_what_would_fade_and_refuses_what_condemns_all(synapse, demo):
    asked = ["simulate", "--group-id", demo, "--now", DEMO_NOW]
    drawn = synapse(*asked)
    assert drawn.code == 0
    assert "█" in drawn.out and "share below 0.3" in drawn.out
    found = json.loads(synapse(*asked, "--days", "120", "--json").out)
    assert found["refused"] is None
    assert sum(found["moments"][-1]["candidates"].values()) > 0
    refused = synapse(*asked, "--half-life-days", "0.001")
    assert refused.code == 2
    assert refused.err.splitlines()[0].startswith("every memory falls below 0.3 within")
    for option in (["--days", "0"], ["--half-life-days", "-1"], ["--boost", "nan"]):
        ended = synapse(*asked, *option)
        assert ended.code == 2 and len(ended.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--half-life-days", "-3"), "--half-life-days -3.0: must be greater than 0"),
        (("--boost", "1000"), "--boost 1000.0: must be less than"),
        (("--days", "0.001"), "--days takes 1 to 36500 days, not 0.001"),
        (
            ("--now", "9999-12-31", "--days", "90"),
            "--days 90 leads beyond the year 9999; take fewer",
        ),
        (("--days", "nan"), "--days takes 1 to 36500 days, not nan"),
    ],
)
def test_simulate_speaks_of_its_options(synapse, demo, arguments, says):
    ended = synapse("simulate", "--group-id", demo, *arguments)
    assert ended.code == 2 and ended.err.startswith(says)


def test_status_and_doctor_of_one_group(synapse, consolidate, demo, connection):
    other = f"{demo}-other"
    query = "CREATE (:Entity {uuid: 'u', name: 'n', group_id: 'inside'})"
    connection.execute_command("GRAPH.QUERY", other, query)
    for named in (("--group-id", demo), ("--graph", demo)):
        assert list(json.loads(synapse("status", *named, "--json").out)) == [demo]
        found = json.loads(synapse("doctor", *named, "--json").out)["findings"]
        assert {f["graph"] for f in found} == {None, demo}
    inside = ("--graph", other, "--group-id", "inside")
    assert list(json.loads(synapse("status", *inside, "--json").out)) == [other]
    for command in ("status", "doctor"):
        ended = synapse(command, "--graph", other, "--group-id", "outside")
        assert ended.code == 2 and "there is no group 'outside'" in ended.err


@pytest.mark.parametrize("group", ["archive", "hermes", "schedule"])
def test_a_group_of_commands_shows_them_once(synapse, group):
    ended = synapse(group)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.count("Usage:") == 1 and ended.out == synapse(group, "--help").out


@pytest.mark.parametrize(
    "command", ["status", "doctor", "consolidate", "explain x", "review", "prune", "runs"]
)
def test_a_folder_without_a_memory_stays_as_it_is(synapse, tmp_path, command):
    (tmp_path / "other").mkdir()
    for name in ("typo", "other"):
        ended = synapse(*command.split(), uri=f"embedded:{tmp_path / name}")
        assert ended.code == 2 and ended.err.startswith("no memory is kept in ")
        assert f"/{name}; check FALKORDB_URI" in ended.err
    assert [*tmp_path.iterdir()] == [tmp_path / "other"] and not any((tmp_path / "other").iterdir())


def test_purge_refuses_a_moment_to_come(synapse, demo):
    ended = synapse("purge", "--older-than", "90d", "--now", "2999-01-01", "--group-id", demo)
    assert ended.code == 2 and "lies in the future" in ended.err


def test_what_a_terminal_cannot_show_does_not_end_a_command(synapse, demo, connection):
    connection.execute_command(
        "GRAPH.QUERY", demo, "MATCH (n:Entity {name: 'Mira'}) SET n.name = 'Mira 東', n.uuid = 'Ł'"
    )
    for command in (["pin", "Mira 東"], ["explain", "Mira 東"], ["simulate"], ["unpin", "Mira 東"]):
        options = ["--group-id", demo, *(["--now", DEMO_NOW] if "pin" not in command[0] else [])]
        ended = synapse(*command, *options, PYTHONIOENCODING="ascii")
        assert ended.code == 0, ended.err
        assert "\\u" in ended.out
