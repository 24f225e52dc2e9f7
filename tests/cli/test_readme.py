"""What the README shows is what happens."""

import json
import re
import shlex
import sys
from pathlib import Path

from synapse.demo import DEMO_NOW
from tests.cli.conftest import run_program
from tests.cli.test_schedule import run_by_cron
from tests.conftest import REPOSITORY

README = (REPOSITORY / "README.md").read_text()
MAKEFILE = (REPOSITORY / "Makefile").read_text()
VOLATILE = ("run_id", "durations_s")


def demo_recipe() -> list[list[str]]:
    """The commands of ``make demo``, without the interpreter."""
    recipe = MAKEFILE.split("\ndemo: $(VENV)")[1].split("\n\n")[0].splitlines()[1:]
    commands = [shlex.split(line.strip().lstrip("@")) for line in recipe]
    return [["-m", "synapse", *c[1:]] if c[0] == "$(BIN)/synapse" else c[1:] for c in commands]


def test_the_summary_in_the_readme_is_what_make_demo_prints(short_folder):
    uri = f"embedded:{short_folder / 'demo'}"
    ended = [run_program(command, uri, REPOSITORY) for command in demo_recipe()]
    assert [e.code for e in ended] == [0, 0], ended
    shown = json.loads(re.search(r"```json\n(.*?)```", README, re.DOTALL)[1])
    printed = ended[-1].summary
    assert shown.keys() == printed.keys()
    for field in set(shown) - set(VOLATILE):
        assert shown[field] == printed[field], f"{field} in README.md is out of date"


def test_the_demo_runs_at_its_own_moment():
    assert DEMO_NOW in README and DEMO_NOW in MAKEFILE


def test_the_cron_line_is_what_is_printed_and_runs(falkordb_uri, demo, tmp_path):
    (command,) = re.findall(r"^synapse (schedule print --cron .*)$", README, re.MULTILINE)
    arguments = shlex.split(command)
    shown = re.search(r"```cron\n(.*?)\n```", README)[1]
    schedule = run_program(["-m", "synapse", *arguments], "", tmp_path, PYTHONPATH=str(REPOSITORY))
    assert shown.replace("/opt/synapse/.venv/bin/python", sys.executable) in schedule.out
    crontab = schedule.out.replace("my-agent", demo)
    variables = {"FALKORDB_URI": falkordb_uri, "PYTHONPATH": str(REPOSITORY)}
    ended = run_by_cron(crontab, tmp_path, **variables)
    assert ended.returncode == 0, ended.stderr
    assert json.loads((tmp_path / "synapse.jsonl").read_text())["status"] == "ok"


def test_every_exit_code_is_in_the_readme():
    from synapse import errors

    codes = {leaf.exit_code for leaf in vars(errors).values() if isinstance(leaf, type)
             and issubclass(leaf, errors.SynapseError)}  # fmt: skip
    documented = {int(c) for c in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}
    assert documented == codes | {0, 130}


def test_the_compose_file_is_pinned_and_local():
    compose = Path(REPOSITORY / "docker-compose.yml").read_text()
    assert re.search(r"image: falkordb/falkordb:v\d+\.\d+\.\d+\n", compose)
    assert '"127.0.0.1:' in compose
