"""The reference of the Python side names what there is, and nothing else."""

import inspect
import re
from dataclasses import fields
from typing import get_args, get_type_hints

import pytest

pytest.importorskip("graphiti_core")

from synapse import errors
from synapse.integrations.belief import Belief
from synapse.integrations.graphiti import Hippocampus
from synapse.integrations.ingestion import Noticed
from synapse.integrations.recall import Recall, RecalledResults
from synapse.integrations.recaller import Recaller
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
    table = PAGE.split("\n## ")[0]
    named = re.findall(r"^\| (.*?) \|", table, re.MULTILINE)
    assert set(re.findall(r"`(\w+)", " ".join(named))) == calls


OWN = inspect.Parameter.KEYWORD_ONLY
TAKES = {
    "Hippocampus": Hippocampus,
    "observe": Hippocampus.observe,
    "hear": Hippocampus.hear,
    "believe": Hippocampus.believe,
    "context": Hippocampus.context,
    "consolidate": Hippocampus.consolidate,
    "explain": Hippocampus.explain,
    "status": Hippocampus.status,
    "search": Recaller.search,
    "search_": Recaller.search_,
}


@pytest.mark.parametrize("call", TAKES)
def test_every_argument_of_synapses_own_is_documented(call):
    parameters = inspect.signature(TAKES[call]).parameters.values()
    if call.startswith("search"):  # the others are Graphiti's
        parameters = [p for p in parameters if p.kind is OWN]
    own = {p.name for p in parameters} - {"self", "episode"}
    row = re.search(rf"^\| `{call}` \| (.*) \|$", section("What the calls take"), re.MULTILINE)[1]
    named = set(re.findall(r"(?<!\[)`(\w+)`", row))
    others = {
        "HippocampusConfig",
        "add_episode",
        "source_description",
        "reference_time",
        "group_ids",
    }
    assert own == named - others


def test_every_error_that_is_named_is_one_of_ours():
    named = set(re.findall(r"`(\w+(?:Error|Unreachable))`", section("What the calls take")))
    assert len(named) == 5
    assert all(issubclass(getattr(errors, name), errors.SynapseError) for name in named)


def test_every_field_of_the_status_is_documented(falkordb_uri, graph_name):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            return await hippocampus.status(graph_name)

    assert documented("Status") == list(run(story()))
