"""The plugin in a real Hermes that has Synapse beside it."""

import json

import pytest


@pytest.fixture
def enabled(world, falkordb_uri):
    world.settings(FALKORDB_URI=falkordb_uri)
    assert "synapse" in world.hermes("plugins", "list").out
    assert world.hermes("plugins", "enable", "synapse").code == 0
    return world


def test_its_commands_are_those_of_synapse(enabled, demo):
    done = enabled.hermes("synapse", "consolidate", "--group-id", demo, "--schemas")
    assert done.code == 0, done.err
    assert json.loads(done.out)["wrote"]["traces"] == 183
    assert demo in json.loads(enabled.hermes("synapse", "status", "--json").out)
    assert "strength" in enabled.hermes("synapse", "explain", "Mira", "--group-id", demo).out
    lost = enabled.hermes("synapse", "consolidate", "--group-id", "nobody")
    assert lost.code == 2 and "no graph" in lost.err
    assert enabled.hermes("synapse", "load", "x").code != 0, "nothing that writes by hand"


ASK = """
import json, sys
from hermes_cli.env_loader import load_hermes_dotenv
load_hermes_dotenv()
from hermes_cli.plugins import discover_plugins
from tools.registry import registry
discover_plugins()
print(json.dumps([registry.dispatch("synapse_explain", one) for one in json.loads(sys.argv[1])]))
"""


def test_the_agent_has_one_look_that_changes_nothing(enabled, demo, store):
    python = enabled.program.with_name("python")
    asked = [
        {"memory": "Mira", "group_id": demo},
        {"memory": "--help", "group_id": demo},
        {"memory": "Mira", "group_id": "--help"},
        {},
    ]
    done = enabled.run(python, "-c", ASK, json.dumps(asked))
    assert done.code == 0, done.err
    found, *lost = map(json.loads, json.loads(done.out.splitlines()[-1]))
    assert found["text"].startswith("Mira") and 0 < found["strength"] <= 1
    assert all(set(answer) == {"error"} for answer in lost)
    assert "--help" in lost[0]["error"]
    assert store.read_room(demo).revision == 0
