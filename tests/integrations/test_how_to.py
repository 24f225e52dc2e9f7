"""The how-to beside Graphiti does what it says."""

import re
from datetime import timedelta

import pytest

pytest.importorskip("graphiti_core")

from tests.conftest import REPOSITORY
from tests.integrations.test_hippocampus import run
from tests.support.graphiti_world import NEW_YEAR, Fact, graphiti_world

PAGE = REPOSITORY / "docs" / "how-to" / "beside-graphiti.md"


def test_the_how_to_runs_and_prints_what_it_says(falkordb_uri, graph_name, capsys):
    first, second = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
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
