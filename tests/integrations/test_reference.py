"""The reference of the Python side names what there is, and nothing else."""

import inspect
import re
from dataclasses import fields
from typing import get_args, get_type_hints

import pytest

pytest.importorskip("graphiti_core")

from synapse.integrations.belief import Belief
from synapse.integrations.graphiti import Hippocampus
from synapse.integrations.ingestion import Noticed
from synapse.integrations.recall import Recall, RecalledResults
from tests.conftest import REPOSITORY
from tests.integrations.test_hippocampus import beside, run

PAGE = (REPOSITORY / "docs" / "reference" / "hippocampus.md").read_text()


def section(title):
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def documented(title):
    return re.findall(r"^\| `(\w+)` \|", section(title), re.MULTILINE)


@pytest.mark.parametrize(
    ("title", "kind"),
    [("Noticed", Noticed), ("Belief", Belief), ("What a search gives back", Recall)],
)
def test_every_field_is_documented(title, kind):
    assert documented(title) == [field.name for field in fields(kind)]


@pytest.mark.parametrize(
    ("title", "kind", "name"), [("Noticed", Noticed, "kind"), ("Belief", Belief, "outcome")]
)
def test_every_value_is_documented(title, kind, name):
    row = next(line for line in section(title).splitlines() if line.startswith(f"| `{name}`"))
    assert set(re.findall(r"`(\w+)`: ", row)) == set(get_args(get_type_hints(kind)[name]))


def test_what_the_full_search_adds_is_documented():
    own = RecalledResults.model_fields.keys() - RecalledResults.__base__.model_fields.keys()
    assert own == {"edge_recalls", "node_recalls", "left_out_count"}
    assert all(f"`{name}`" in section("What a search gives back") for name in own)


def test_every_call_is_documented():
    calls = {
        name for name, call in inspect.getmembers(Hippocampus, inspect.iscoroutinefunction)
        if not name.startswith("_")
    } | {"search_"}  # fmt: skip
    table = PAGE.split("## Noticed")[0]
    named = re.findall(r"^\| (.*?) \|", table, re.MULTILINE)
    assert set(re.findall(r"`(\w+)", " ".join(named))) == calls


def test_every_field_of_the_status_is_documented(falkordb_uri, graph_name):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            return await hippocampus.status(graph_name)

    assert documented("Status") == list(run(story()))
