"""A real Hermes in an empty home; ``make test-hosts`` installs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ended, demo  # noqa: F401  the fixture
from tests.conftest import REPOSITORY

OWN = ("FALKORDB_", "SYNAPSE_", "HERMES_")


@pytest.fixture(scope="session")
def hermes_program() -> Path:
    """Where the real program is."""
    named = os.environ.get("SYNAPSE_TEST_HERMES")
    if not named:
        pytest.skip("needs a real Hermes agent: make test-hosts installs one and runs this")
    return Path(named)


@dataclass
class World:
    """A person's machine: a home of Hermes, a hermes on the PATH, a working directory."""

    home: Path
    program: Path
    workplace: Path
    variables: dict[str, str]

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
        path = f"{self.program.parent}{os.pathsep}{kept['PATH']}"
        return kept | {"HERMES_HOME": str(self.home), "PATH": path} | self.variables

    def run(self, *command: str | Path) -> Ended:
        done = subprocess.run(
            command,
            env=self.environment(),
            cwd=self.workplace,
            capture_output=True,
            text=True,
            timeout=180,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def synapse(self, *arguments: str) -> Ended:
        return self.run(sys.executable, "-m", "synapse", *arguments)

    def hermes(self, *arguments: str) -> Ended:
        return self.run(self.program, *arguments)

    def settings(self, **variables: str) -> None:
        """What stands in the environment file of Hermes."""
        self.home.mkdir(parents=True, exist_ok=True)
        lines = [f"{name}={value}\n" for name, value in variables.items()]
        (self.home / ".env").write_text("".join(lines))

    def jobs(self) -> list[dict[str, Any]]:
        file = self.home / "cron" / "jobs.json"
        return json.loads(file.read_text())["jobs"] if file.exists() else []

    def tick_when_due(self) -> dict[str, Any]:
        """Let the time of the only job come, and the scheduler look at its jobs; the job after."""
        file = self.home / "cron" / "jobs.json"
        whole = json.loads(file.read_text())
        (job,) = whole["jobs"]
        job["next_run_at"] = (datetime.now(UTC) - timedelta(seconds=5)).isoformat()
        file.write_text(json.dumps(whole))
        self.hermes("cron", "tick")
        (job,) = self.jobs()
        return job

    def newest_output(self) -> str:
        (job,) = self.jobs()
        files = sorted((self.home / "cron" / "output" / job["id"]).iterdir())
        return files[-1].read_text()

    def summary(self) -> dict[str, Any]:
        return json.loads(self.newest_output().split("\n---\n")[1])


@pytest.fixture
def new_world(hermes_program: Path, tmp_path: Path) -> Callable[[str], World]:
    """A machine, all its folders in one of this name."""

    def world(name: str) -> World:
        workplace = tmp_path / name / "somewhere else"
        workplace.mkdir(parents=True)
        variables = {"PYTHONPATH": str(REPOSITORY)}
        return World(tmp_path / name / "hermes home", hermes_program, workplace, variables)

    return world


@pytest.fixture
def world(new_world: Callable[[str], World]) -> World:
    """A machine with folders of strange names."""
    return new_world("mit Leerzeichen und Ümläut's 记忆")


@pytest.fixture
def delivered(hermes_program: Path) -> Callable[[dict[str, Any]], str]:
    """What a person reads in a chat about a job that failed, in Hermes' own words."""
    program = (
        "import json, sys; from cron.scheduler import _summarize_cron_failure_for_delivery as told;"
        "job = json.loads(sys.argv[1]); print(told(job, job['last_error']))"
    )

    def line(job: dict[str, Any]) -> str:
        command = [hermes_program.with_name("python"), "-c", program, json.dumps(job)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    return line
