"""The command line without a process of its own: these tests run many commands each."""

from __future__ import annotations

import json
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from synapse.cli import main
from synapse.demo import DEMO_NOW
from synapse.hippocampus.config import ContradictionConfig
from tests.cli.conftest import Ended, Program

AT = ("--now", DEMO_NOW)
SURE = ContradictionConfig().resolve_confidence


@pytest.fixture
def synapse(
    falkordb_uri: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Iterator[Program]:
    """``synapse``, called as a function."""
    monkeypatch.setenv("FALKORDB_URI", falkordb_uri)
    monkeypatch.chdir(tmp_path)
    handler = signal.getsignal(signal.SIGTERM)

    def program(*arguments: str) -> Ended:
        capsys.readouterr()
        with warnings.catch_warnings(), pytest.raises(SystemExit) as ended:
            main(arguments)
        out, err = capsys.readouterr()
        return Ended(int(ended.value.code or 0), out, err)

    yield program
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture
def consolidate(synapse: Program) -> Program:
    """``synapse consolidate``."""
    return lambda *arguments: synapse("consolidate", *arguments)


@pytest.fixture
def findings(synapse: Program, demo: str) -> Callable[..., dict[str, Any]]:
    """What ``synapse review`` lists, by fact."""

    def listed(*options: str) -> dict[str, Any]:
        ended = synapse("review", "--group-id", demo, *AT, "--json", *options)
        assert ended.code == 0, ended.err
        return {case["fact"]: case for case in json.loads(ended.out)}

    return listed


def sure(cases: dict[str, Any]) -> set[str]:
    """The facts that --resolve ends."""
    return {f for f, c in cases.items() if c["verdict"] == "missed" and c["confidence"] >= SURE}


def edges(connection: redis.Redis, graph: str) -> dict[str, dict[str, Any]]:
    """Every property of every fact, by uuid."""
    rows = connection.execute_command(
        "GRAPH.RO_QUERY", graph, "MATCH ()-[e:RELATES_TO]->() RETURN e.uuid, e ORDER BY e.uuid"
    )[1]
    return {uuid: dict(dict(edge)["properties"]) for uuid, edge in rows}
