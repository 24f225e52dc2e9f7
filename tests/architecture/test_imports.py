"""What starting Synapse loads, and what it must not."""

import subprocess
import sys
from pathlib import Path

import pytest

from synapse.demo import DEMO_NOW, demo_path
from synapse.integrations.memory_file import read_memory_file

REPOSITORY = Path(__file__).resolve().parents[2]


def loaded_by(code: str) -> set[str]:
    """Top-level modules in a fresh interpreter after ``code``."""
    return {name.split(".")[0] for name in modules_after(code)}


def modules_after(code: str) -> set[str]:
    """All modules in a fresh interpreter after ``code``."""
    program = f"import sys\ntry:\n    {code}\nexcept SystemExit: pass\nprint(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        *(
            [name, "--help"]
            for name in (
                "consolidate",
                "doctor",
                "load",
                "review",
                "relations",
                "recall-log",
                "pin",
            )
        ),
        ["hermes", "install", "--help"],
        ["schedule", "print", "--help"],
    ],
)
def test_help_loads_neither_redis_nor_numpy_nor_pydantic(arguments):
    loaded = loaded_by(f"from synapse.cli import main; main({arguments!r})")
    assert "typer" in loaded
    assert not loaded & {"redis", "falkordb", "numpy", "pydantic", "graphiti_core"}


def test_importing_the_package_is_free():
    assert not loaded_by("import synapse, synapse.store") & {"redis", "numpy", "pydantic", "typer"}


def test_without_the_extra_its_name_is_told():
    code = "import sys; sys.modules['graphiti_core'] = None; from synapse import Hippocampus"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = run.stderr.splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: Hippocampus needs Graphiti: pip install ")
    assert "'synapse-hippocampus[graphiti]'" in last and len(last) < 130


def test_the_batch_never_loads_graphiti(falkordb_uri, monkeypatch):
    monkeypatch.setenv("FALKORDB_URI", falkordb_uri)
    loaded = loaded_by("from synapse.cli import main; main(['consolidate', '--all-groups'])")
    assert {"redis", "numpy"} <= loaded
    assert not loaded & {"graphiti_core", "openai", "neo4j"}


def test_a_run_over_an_unchanged_graph_loads_nothing_to_think_with(
    falkordb_uri, store, graph_name, monkeypatch
):
    monkeypatch.setenv("FALKORDB_URI", falkordb_uri)
    document = read_memory_file(demo_path(), group_id=graph_name, now_iso=DEMO_NOW)
    store.write_memory(graph_name, document)
    batch = ["consolidate", "--graph", graph_name, "--now", DEMO_NOW, "--schemas", "--prune"]
    first, second = (
        modules_after(f"from synapse.cli import main; main({batch!r})") for _ in range(2)
    )
    thinking = {f"synapse.hippocampus.{name}" for name in ("thinking", "contradiction", "rules")}
    assert thinking <= first
    assert not thinking & second


def test_the_pure_part_loads_no_database():
    loaded = loaded_by("import synapse.hippocampus.consolidation, synapse.hippocampus.explanation")
    assert "numpy" in loaded
    assert not loaded & {"redis", "falkordb", "typer", "pydantic_settings"}


def test_the_import_contracts_hold():
    lint = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run([lint], cwd=REPOSITORY, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
