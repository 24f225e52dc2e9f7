"""``synapse doctor`` as a program."""

import json

import pytest
import redis

from synapse.demo import DEMO_NOW, demo_path
from synapse.integrations.memory_file import read_memory_file
from synapse.store import open_store
from synapse.store.keys import room_key
from tests.store.test_room import everything


@pytest.fixture
def place(new_server):
    """A server with the demo memory in ``my-agent``; yields its address and its owner."""
    server = new_server()
    store = open_store(server.uri)
    store.write_memory(
        "my-agent", read_memory_file(demo_path(), group_id="my-agent", now_iso=DEMO_NOW)
    )
    store.close()
    with redis.Redis.from_url(server.uri) as owner:
        yield server.uri, owner


def levels(ended):
    return {(f["graph"], f["check"]): f["level"] for f in json.loads(ended.out)["findings"]}


def test_a_sound_memory_is_told_so_and_not_touched(synapse, consolidate, place):
    uri, owner = place
    assert consolidate("--graph", "my-agent", uri=uri).code == 0
    before = everything(owner)
    ended = synapse("doctor", uri=uri)
    assert ended.code == 0, ended.out
    assert ended.err == "" and "\nmy-agent\n" in ended.out
    assert "Problems: 0" in ended.out and "ACL SETUSER" in ended.out
    assert everything(owner) == before


def test_problems_end_with_1_and_stand_in_the_json(synapse, place):
    uri, owner = place
    owner.config_set("maxmemory-policy", "allkeys-lru")
    owner.config_set("maxmemory", 2**30)
    owner.set(room_key("my-agent", "lock"), "for ever")
    ended = synapse("doctor", "--json", uri=uri)
    assert ended.code == 1 and len(ended.out.splitlines()) == 1
    document = json.loads(ended.out)
    assert (document["schema_version"], document["ok"]) == (1, False)
    found = levels(ended)
    problems = {place for place, level in found.items() if level == "problem"}
    assert problems == {(None, "memory"), ("my-agent", "lock")}
    assert document["least_rights"].startswith("ACL SETUSER USER on >PASSWORD ~GRAPH ")


def test_the_traces_of_what_is_gone_are_noted_until_the_next_run(synapse, consolidate, place):
    uri, owner = place
    assert consolidate("--graph", "my-agent", uri=uri).code == 0
    owner.execute_command(
        "GRAPH.QUERY", "my-agent", "MATCH (n:Entity) WITH n LIMIT 1 DETACH DELETE n"
    )
    assert levels(synapse("doctor", "--json", uri=uri))["my-agent", "traces"] == "note"
    assert consolidate("--graph", "my-agent", uri=uri).code == 0
    assert levels(synapse("doctor", "--json", uri=uri))["my-agent", "traces"] == "ok"


def test_a_user_with_few_rights_gets_what_can_be_said(synapse, place):
    uri, owner = place
    rules = ["on", ">secret", "~my-agent", "+graph.ro_query", "+multi", "+discard"]
    owner.execute_command("ACL", "SETUSER", "agent", *rules)
    uri = uri.replace("unix://", "unix://agent:secret@")
    for arguments, environment in (
        (("--graph", "my-agent"), {}),
        ((), {"FALKORDB_DATABASE": "my-agent"}),
    ):
        ended = synapse("doctor", "--json", *arguments, uri=uri, **environment)
        assert ended.code == 1 and ended.err == "" and "secret" not in ended.out
        found = levels(ended)
        assert found["my-agent", "rights"] == "problem"
        assert found["my-agent", "groups"] == "ok" and found["my-agent", "lock"] == "note"
        assert [level for (graph, _), level in found.items() if graph is None] == ["note"] * 9


def test_no_server_is_a_finding_and_no_graph_of_that_name_an_error(synapse, place, tmp_path):
    ended = synapse("doctor", "--json", uri=f"unix://me:secret@{tmp_path}/none")
    assert ended.code == 1 and ended.err == "" and "secret" not in ended.out
    assert levels(ended) == {(None, "connection"): "problem"}
    ended = synapse("doctor", "--graph", "nowhere", uri=place[0])
    assert (ended.code, ended.out) == (2, "") and "nowhere" in ended.err
    assert place[1].execute_command("GRAPH.LIST") == [b"my-agent"]


def test_without_a_connection_nothing_is_said_of_rights(synapse):
    ended = synapse("doctor", uri="redis://localhost:1")
    assert ended.code == 1 and "no FalkorDB answers" in ended.out and "ACL" not in ended.out
    document = json.loads(synapse("doctor", "--json", uri="redis://localhost:1").out)
    assert document["least_rights"] is None
