"""Pruning as people use it: what goes, what does not, and why nothing does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from synapse.hippocampus.room import Pin
from synapse.store.falkordb import FalkorStore
from tests.cli.conftest import Program

LATER = ("--now", "2031-01-01T00:00:00Z")
"""By then everything in the demo has faded."""


@pytest.fixture
def prune(synapse: Program, demo: str) -> Any:
    return lambda *more: synapse("prune", "--group-id", demo, *LATER, *more)


@pytest.fixture
def summary(synapse: Program, demo: str) -> Any:
    def read() -> Any:
        return synapse("consolidate", "--group-id", demo, "--prune", *LATER, "--dry-run").summary

    return read


def archived(store: FalkorStore, graph: str) -> set[str]:
    return {m.uuid for m in store.read_archive(graph) if m.state == "archived"}


def test_what_was_brought_back_makes_room_for_others(
    synapse: Program, demo: str, store: FalkorStore, prune: Any, summary: Any
) -> None:
    done = prune("--apply", "--json").summary
    first = archived(store, demo)
    assert done["archived"] == len(first) > 0 and done["reason_for_zero"] == {}
    assert synapse("restore", done["run_id"], "--group-id", demo).code == 0
    told = summary()["pruning"]
    assert told["candidates"] > 0 and told["spared_by"]["restored"] >= 1
    assert not {top["uuid"] for top in told["top"]} & first
    again = prune("--apply", "--json").summary
    assert again["archived"] + again["waiting"] == told["candidates"], "both tell the same"
    assert again["archived"] > 0 and not archived(store, demo) & first


def test_where_nothing_goes_the_reason_is_told(
    synapse: Program, demo: str, store: FalkorStore, prune: Any, summary: Any
) -> None:
    for uuid in store.read_graph(demo).memory_uuids:
        store.pin(demo, uuid, Pin(0.0))
    nothing = prune()
    assert nothing.code == 0
    assert "Nothing to archive: all below the threshold are spared: " in nothing.out
    assert " pinned)." in nothing.out
    planned = synapse("plan", "--prune", "--group-id", demo, *LATER)
    assert planned.code == 0 and nothing.out.splitlines()[-1] in planned.err
    reason = prune("--json").summary["reason_for_zero"]["archived"]
    assert reason == summary()["reason_for_zero"]["pruning"]


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        ("point({latitude: 1.0, longitude: 2.0})", "each holds a value of a type"),
        ("[vecf32([1.0])]", "each holds a list with a vector in it"),
        ("[[0.1 + 0.2]]", "a number of more digits than can be read"),
    ],
)
def test_what_no_archive_can_hold_makes_room_too(
    demo: str, store: FalkorStore, prune: Any, odd: str, why: str
) -> None:
    planned = [line.split()[0] for line in prune().out.splitlines() if "moves into" in line]
    for uuid in planned[:-1]:
        query = f"MATCH ()-[e:RELATES_TO {{uuid: '{uuid}'}}]->() SET e.odd = {odd}"
        store._connection.execute_command("GRAPH.QUERY", demo, query)
        query = f"MATCH (n:Entity {{uuid: '{uuid}'}}) SET n.odd = {odd}"
        store._connection.execute_command("GRAPH.QUERY", demo, query)
    done = prune("--apply")
    assert done.code == 0
    assert "cannot be archived: " in done.err and why in done.err
    assert archived(store, demo) and not archived(store, demo) & set(planned[:-1])


def test_used_up_caps_are_the_reason(prune: Any, summary: Any) -> None:
    taken = [prune("--apply", "--json").summary for _ in range(6)]
    counts = [done["archived"] for done in taken]
    assert counts[0] > 0 and counts[-1] == 0
    for done in taken:
        assert bool(done["archived"]) != bool(done["reason_for_zero"])
    assert "over_cap" in summary()["pruning"]["spared_by"]


def test_an_explicit_number_stands_in_place_of_all_caps(
    demo: str, store: FalkorStore, prune: Any
) -> None:
    listed = prune().out.splitlines()
    assert 0 < sum(line.endswith("moves into the archive") for line in listed) < 30, listed
    assert prune("--apply", "--max-changes", "30", "--json").summary["archived"] == 30
    assert len(archived(store, demo)) == 30


def prune_into(uri: str, graph: str, **streams: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "synapse", "prune", "--group-id", graph, *LATER, "--apply"],
        env={**os.environ, "FALKORDB_URI": uri}, text=True, timeout=120, **streams,
    )  # fmt: skip


def test_on_a_full_disk_it_is_told_that_what_was_done_stands(
    store: FalkorStore, falkordb_uri: str, demo: str
) -> None:
    with Path("/dev/full").open("w") as full:
        ended = prune_into(falkordb_uri, demo, stdout=full, stderr=subprocess.PIPE)
    assert ended.returncode == 1 and archived(store, demo)
    said = "the output was not written: no space left on device; what was done stands"
    assert said in ended.stderr and "unexpected" not in ended.stderr


def test_a_remark_that_cannot_be_written_ends_nothing(
    store: FalkorStore, falkordb_uri: str, demo: str
) -> None:
    with Path("/dev/full").open("w") as full:
        ended = prune_into(falkordb_uri, demo, stdout=subprocess.PIPE, stderr=full)
    assert ended.returncode == 0 and "Done" in ended.stdout and archived(store, demo)


def test_looking_ahead_promises_no_more_than_is_done(synapse: Program, demo: str) -> None:
    ahead = [("--now", f"{year}-01-01T00:00:00Z") for year in (2031, 2040, 2500, 2600)]
    for now in ahead:  # what earlier runs took counts by the clock
        told = synapse("prune", "--group-id", demo, *now, "--json").summary
        done = synapse("prune", "--group-id", demo, *now, "--json", "--apply")
        assert done.code == 0, done.err
        assert done.summary["archived"] == told["archived"]
