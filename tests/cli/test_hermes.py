"""What ``synapse hermes install`` refuses before it does anything."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--deliver", ""], "--deliver names no target"),
        (["--deliver", " "], "--deliver names no target"),
        (["--deliver", "telegram,"], "--deliver names no target"),
        (["--deliver", "to me, please"], "--deliver names no target"),
        (["--max-seconds", "99999999999"], "--max-seconds"),
        (["--silent", "--gate"], "leave --silent away"),
    ],
)
def test_what_cannot_be_a_job_is_refused(synapse, tmp_path, arguments, says):
    home = tmp_path / "home"
    ended = synapse("hermes", "install", *arguments, HERMES_HOME=str(home))
    assert ended.code == 2 and says in ended.err and len(ended.err.splitlines()) == 1
    assert not home.exists()


@pytest.mark.parametrize("command", ["install", "status", "uninstall"])
def test_a_home_that_is_a_file_is_a_sentence(synapse, tmp_path, command):
    (tmp_path / "file").write_text("")
    ended = synapse("hermes", command, HERMES_HOME="file")
    assert ended.code == 2 and ended.err.startswith("HERMES_HOME is no folder but a file")


def test_a_limit_beyond_a_day_is_refused(consolidate):
    ended = consolidate("--max-seconds", "99999999999")
    assert ended.code == 2 and "--max-seconds" in ended.err and "Overflow" not in ended.err
