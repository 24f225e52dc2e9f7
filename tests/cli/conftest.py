"""Running the shipped entry points as people do: as programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from synapse.demo import DEMO_NOW, demo_path
from synapse.integrations.memory_file import read_memory_file
from tests.conftest import REPOSITORY

SCRIPT = REPOSITORY / "scripts" / "consolidate.py"


@dataclass(frozen=True)
class Ended:
    """What a program left behind."""

    code: int
    out: str
    err: str

    @property
    def summary(self) -> dict[str, Any]:
        assert len(self.out.splitlines()) == 1, self.out
        return json.loads(self.out)


Program = Callable[..., Ended]


def run_program(
    command: list[str], uri: str, folder: Path, stdin: int = subprocess.DEVNULL, **environment: str
) -> Ended:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FALKORDB_")}
    done = subprocess.run(
        [sys.executable, *command],
        env={**kept, "FALKORDB_URI": uri, **environment},
        cwd=folder,
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def consolidate(falkordb_uri: str, tmp_path: Path) -> Program:
    """``scripts/consolidate.py`` from a folder of its own."""

    def program(*arguments: str, uri: str = falkordb_uri, **environment: str) -> Ended:
        return run_program([str(SCRIPT), *arguments], uri, tmp_path, **environment)

    return program


@pytest.fixture
def synapse(falkordb_uri: str, tmp_path: Path) -> Program:
    """``python -m synapse``."""

    def program(*arguments: str, uri: str = falkordb_uri, **environment: str) -> Ended:
        return run_program(["-m", "synapse", *arguments], uri, tmp_path, **environment)

    return program


@pytest.fixture
def demo(store: Any, graph_name: str) -> str:
    """A graph that holds the demo memory."""
    document = read_memory_file(demo_path(), group_id=graph_name, now_iso=DEMO_NOW)
    store.write_memory(graph_name, document)
    return graph_name
