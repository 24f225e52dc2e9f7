"""The documentation names everything that the entry points offer, and nothing else."""

import json
import re
from pathlib import Path

import pytest
from pydantic import BaseModel
from typer.main import get_command

from synapse.cli import command_line
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.report import ConsolidationReport
from synapse.settings import Connection, Hosting

DOCS = Path(__file__).resolve().parents[2] / "docs"
COMMAND_LINE = (DOCS / "reference" / "command-line.md").read_text()
CONFIGURATION = (DOCS / "reference" / "configuration.md").read_text()
SUMMARY = (DOCS / "reference" / "summary.md").read_text()


def commands(group, name=""):
    for word, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{name}{word} ")
        else:
            yield f"{name}{word}", command


COMMANDS = dict(commands(get_command(command_line())))


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_of_every_command_is_documented(name):
    section = COMMAND_LINE.split(f"## `synapse {name}")[1].split("\n## ")[0]
    for parameter in COMMANDS[name].params:
        for option in parameter.opts:
            if parameter.param_type_name == "option" and option not in ("--help", "--verbose"):
                assert f"`{option}" in section, f"{option} of synapse {name}"


def test_no_option_is_documented_that_does_not_exist():
    documented = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", COMMAND_LINE))
    offered = {o for c in COMMANDS.values() for p in c.params for o in p.opts}
    assert documented <= offered


def constants(model: type[BaseModel], prefix: str = ""):
    for name, field in model.model_fields.items():
        if isinstance(field.default, BaseModel):
            yield from constants(type(field.default), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field.default


@pytest.mark.parametrize(("name", "default"), list(constants(HippocampusConfig)))
def test_every_constant_is_documented_with_its_default(name, default):
    row = next((r for r in CONFIGURATION.splitlines() if r.startswith(f"| `{name}` |")), None)
    assert row is not None, f"{name} is missing from docs/reference/configuration.md"
    listed = isinstance(default, tuple) and default
    shown = default[0] if listed else json.dumps(default)
    assert shown in row if listed else f"`{shown}`" in row, row


def test_no_constant_is_documented_that_does_not_exist():
    documented = set(re.findall(r"^\| `([a-z_.]+)` \|", CONFIGURATION, re.MULTILINE))
    connection = {f"falkordb.{name}" for name in Connection.model_fields}
    settings = connection | set(Hosting.model_fields)
    assert documented == {name for name, _ in constants(HippocampusConfig)} | settings


def test_every_field_of_the_summary_is_documented():
    documented = {n for row in re.findall(r"^\| (`.*?) \|", SUMMARY, re.MULTILINE)
                  for n in re.findall(r"`(\w+)`", row)}  # fmt: skip
    assert set(ConsolidationReport.model_fields) == documented


def test_links_between_pages_lead_somewhere():
    root = DOCS.parent
    for page in [*DOCS.rglob("*.md"), root / "README.md", root / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} -> {target}"


def test_the_python_how_to_runs_and_prints_what_it_says(capsys):
    page = (DOCS / "how-to" / "use-from-python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "use-from-python.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    promised = re.findall(r"^print.*\)  # ([\d. ]+)$", page, re.MULTILINE)
    assert len(printed) == 5 and printed[-3:] == promised


def test_the_map_shows_every_room_and_no_other():
    plan = (DOCS / "architecture.md").read_text().split("```")[1]
    shown = set(re.findall(r"^ +([a-z_]+(?:\.py|/))(?: |$)", plan, re.MULTILINE))
    package = DOCS.parent / "synapse"
    rooms = {"cli", "demo", "hermes", "lexicon", "rules"}  # shown as folders, not file by file
    there = {
        path.name if path.is_file() else f"{path.name}/"
        for path in package.rglob("*")
        if not {*path.relative_to(package).parts[:-1]} & {*rooms, "__pycache__"}
        and (path.suffix == ".py" or path.is_dir())
        and not path.name.startswith("__")
    }
    assert shown == there
