"""The how-to beside Graphiti does what it says."""

import json
import os
import re
import subprocess
import sys
from datetime import timedelta

import pytest

pytest.importorskip("graphiti_core")

from tests.conftest import REPOSITORY
from tests.integrations.test_hippocampus import run
from tests.support.graphiti_world import (
    NEW_YEAR,
    Fact,
    OverlapRanker,
    ScriptedLLM,
    WordEmbedder,
    graphiti_world,
)

PAGE = REPOSITORY / "docs" / "how-to" / "beside-graphiti.md"


def blocks():
    """The Python of the page."""
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_the_how_to_runs_and_prints_what_it_says(falkordb_uri, graph_name, capsys):
    first, second, _ = blocks()
    compile(second, PAGE.name, "exec")  # it needs keys to run
    page = {}
    exec(compile(first, PAGE.name, "exec"), page)

    async def story():
        async with graphiti_world(falkordb_uri, graph_name) as world:
            world.llm.facts = [Fact("Ann", "LIVES_IN", "Oslo", "Ann lives in Oslo")]
            await world.graphiti.add_episode(
                name="before", episode_body="Ann lives in Oslo.", source_description="test",
                reference_time=NEW_YEAR, group_id=graph_name,
            )  # fmt: skip
            world.llm.facts = [
                Fact(
                    "Ann",
                    "LIVES_IN",
                    "Rome",
                    "Ann moved from Oslo to Rome",
                    NEW_YEAR + timedelta(9),
                )
            ]
            await page["remember"](world.graphiti, graph_name)

    run(story())
    said = capsys.readouterr().out
    assert re.search(r"^contradicts 0\.\d+ \w", said, re.MULTILINE)
    assert "new 1" in said
    assert re.search(r"^Ann moved from Oslo to Rome \| relevance rank", said, re.MULTILINE)
    assert "None True" in said
    assert '- "API runs on port 9090"' in said
    assert '- no longer "API runs on port 8080"; since' in said
    assert said.endswith("ok 1\n")


def test_the_server_of_ones_own_keeps_what_was_remembered(short_folder, capsys):
    first, _, third = blocks()
    page, folder = {}, short_folder / "memory"
    exec(compile(first, PAGE.name, "exec"), page)
    exec(compile(third, PAGE.name, "exec"), page)
    remember, seen = page["remember"], []

    async def remember_and_look(graphiti):
        await remember(graphiti)
        seen.append(synapse(capsys.readouterr().out.split()[0], "status"))

    page["remember"] = remember_and_look
    llm = ScriptedLLM()
    llm.facts = [Fact("Ann", "LIVES_IN", "Rome", "Ann moved to Rome", NEW_YEAR)]
    clients = {"llm_client": llm, "embedder": WordEmbedder(), "cross_encoder": OverlapRanker()}
    run(page["remember_in"](folder, **clients))
    assert "my-agent" in seen[0]
    said = synapse(f"embedded:{folder}", "consolidate", "--group-id", "my-agent")
    assert json.loads(said)["seen"]["facts"] == 3


def synapse(uri, *arguments):
    """What a command prints about the memory at an address."""
    ran = subprocess.run(
        [sys.executable, "-m", "synapse", *arguments],
        env={**os.environ, "FALKORDB_URI": uri}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return ran.stdout
