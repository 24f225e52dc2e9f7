"""What Synapse wants of Hermes, without one; ``make test-hosts`` asks a real one."""

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.errors import LockBusy, SynapseError, UsageError
from synapse.integrations.hermes.home import HermesHome, find_home
from synapse.integrations.hermes.installation import Installation
from synapse.integrations.hermes.job import NAME, WantedJob, synapse_jobs
from synapse.integrations.hermes.launcher import NAME as LAUNCHER
from synapse.integrations.hermes.launcher import (
    launcher_text,
    read_launcher,
    remove_launcher,
    write_launcher,
)
from synapse.integrations.hermes.program import Hermes
from synapse.settings import hermes_home

# Written by Hermes 0.19 for: create "every 6h" --script … --no-agent --name … --deliver local
JOB = {
    "id": "b0949c457f76", "name": NAME, "prompt": "", "script": LAUNCHER, "no_agent": True,
    "schedule": {"kind": "interval", "minutes": 360, "display": "every 360m"},
    "schedule_display": "every 360m", "enabled": True, "state": "scheduled", "deliver": "local",
    "next_run_at": None, "last_run_at": None, "last_status": None, "last_error": None,
    "last_delivery_error": None,
}  # fmt: skip
WANTED = WantedJob(360)


@pytest.fixture
def home(tmp_path):
    return HermesHome(tmp_path / "home")


def keep(home, *jobs):
    home.jobs_file.parent.mkdir(parents=True, exist_ok=True)
    home.jobs_file.write_text(json.dumps({"jobs": jobs}))


def steps(home, wanted=WANTED, launcher="x"):
    return [(step.kind, step.job) for step in Installation(home, None).plan(wanted, launcher)]


def test_an_empty_home_needs_launcher_and_job(home):
    assert steps(home) == [("write", ""), ("create", "")]


def test_where_all_is_well_there_is_nothing_to_do(home):
    keep(home, JOB, {**JOB, "id": "other", "name": "another job"})
    text = launcher_text("python", [])
    write_launcher(home.scripts / LAUNCHER, text)
    assert steps(home, launcher=text) == []


@pytest.mark.parametrize(
    ("broken", "kinds"),
    [
        ({"schedule": {"kind": "once"}}, ["edit"]),
        ({"schedule": {"kind": "interval", "minutes": 361}}, ["edit"]),
        ({"schedule": None}, ["edit"]),
        ({"script": None}, ["edit"]),
        ({"script": f"{LAUNCHER} --prune"}, ["edit"]),
        ({"no_agent": False}, ["edit"]),
        ({"deliver": ["telegram", "local"]}, ["edit"]),
        ({"deliver": None}, ["edit"]),
        ({"enabled": False}, ["resume"]),
        ({"state": "paused", "deliver": "x"}, ["edit", "resume"]),
    ],
)
def test_each_difference_is_seen(home, broken, kinds):
    keep(home, {**JOB, **broken})
    assert steps(home)[1:] == [(kind, JOB["id"]) for kind in kinds]


def test_a_second_job_of_the_name_is_removed(home):
    keep(home, JOB, {**JOB, "id": "second"})
    assert steps(home)[1:] == [("remove", "second")]


def test_a_gate_differs_by_its_prompt(home):
    keep(home, {**JOB, "no_agent": False, "prompt": "old"})
    assert steps(home, WantedJob(360, prompt="new"))[1:] == [("edit", JOB["id"])]
    assert steps(home, WantedJob(360, prompt="old"))[1:] == []


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"jobs": 3}', json.dumps({"jobs": [{"name": NAME}]})]
)
def test_a_list_of_jobs_that_is_none_is_an_error(home, text):
    keep(home)
    home.jobs_file.write_text(text)
    with pytest.raises(SynapseError, match="list of jobs is not as expected"):
        synapse_jobs(home)


argument = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1)


@given(st.lists(argument, max_size=4))
def test_bash_hands_every_argument_on_as_it_is(arguments):
    tell = "import json, sys; print(json.dumps(sys.argv[1:]))"
    text = launcher_text(sys.executable, arguments)
    text = text.replace("-m synapse consolidate", f"-c '{tell}'")
    done = subprocess.run(["bash", "-c", os.fsencode(text)], capture_output=True, check=True)
    assert json.loads(done.stdout) == arguments


def test_a_launcher_is_replaced_whole_and_removed(tmp_path):
    file = tmp_path / "scripts" / LAUNCHER
    for arguments in (["a"], ["b"]):
        write_launcher(file, launcher_text("python", arguments))
        assert read_launcher(file) == launcher_text("python", arguments)
    assert [path.name for path in file.parent.iterdir()] == [LAUNCHER]
    assert remove_launcher(file) and not remove_launcher(file)


def test_a_script_of_somebody_else_is_left_alone(tmp_path):
    file = tmp_path / LAUNCHER
    file.write_text("echo mine")
    for act in (read_launcher, remove_launcher):
        with pytest.raises(SynapseError, match="was not written by Synapse"):
            act(file)
    assert file.read_text() == "echo mine"


def test_the_home_is_the_one_that_hermes_takes(tmp_path):
    coder = tmp_path / "profiles" / "coder"
    coder.mkdir(parents=True)
    assert find_home(tmp_path, None) == HermesHome(tmp_path)
    assert find_home(tmp_path, "coder") == find_home(coder, None) == HermesHome(coder, "coder")
    assert find_home(coder, "default") == HermesHome(tmp_path)
    (tmp_path / "active_profile").write_text("coder\n")
    assert find_home(tmp_path, None).profile == "coder"
    for name in ("nobody", "../coder", ""):
        if name:
            with pytest.raises(UsageError, match="no profile"):
                find_home(tmp_path, name)


@pytest.mark.parametrize("named", ["rel", "./rel", "~/rel"])
def test_hermes_is_told_the_home_that_is_meant_here(tmp_path, monkeypatch, named):
    """It runs in another folder, where a relative home would be another one."""
    program = tmp_path / "bin" / "hermes"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$HERMES_HOME"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HERMES_HOME", named)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rel" / "profiles" / "coder").mkdir(parents=True)
    for profile in (None, "coder"):
        said = Hermes(find_home(hermes_home(), profile)).cron("list")
        assert said.strip() == str(tmp_path / "rel")


def test_a_home_that_cannot_be_one_is_a_sentence(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(UsageError, match=r"no folder but a file: .*/file; correct"):
        find_home(file, None)
    with pytest.raises(UsageError, match="a user unknown here"):
        find_home(Path("~nobody-of-this-name/x"), None)
    with pytest.raises(SynapseError, match=r"cannot make .*: Not a directory"):
        find_home(file / "below", None).make()


def test_differences_and_spans_are_told_in_the_words_of_the_option(home):
    keep(home, {**JOB, "deliver": "telegram"})
    (job,) = synapse_jobs(home)
    assert job.schedule == WantedJob(360).schedule == "every 6h"
    assert list(WantedJob(90).differences(job)) == [
        "it ran every 6h instead of every 90m",
        "it told telegram instead of local",
    ]


def test_names_but_no_values_are_read_from_the_environment_file(home):
    home.folder.mkdir()
    home.environment_file.write_text("A=1\nexport B = x\n# C=1\n  D=\n")
    assert home.names_in_environment_file() == {"A", "B", "D"}
    assert HermesHome(Path("/nowhere")).names_in_environment_file() == set()


@pytest.fixture
def refusing(tmp_path, monkeypatch, home):
    """A hermes that prints an error and ends with 0, as the real one does."""
    program = tmp_path / "bin" / "hermes"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'Failed to create job: the moon is full'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    return Installation(home, Hermes(home))


def test_a_program_that_says_no_and_ends_with_0_is_not_believed(refusing):
    with pytest.raises(SynapseError, match=r"the moon is full.*still open: create"):
        refusing.install(WANTED, [])
    keep(refusing.home, JOB)
    with pytest.raises(SynapseError, match="the job is still there; Hermes said: Failed to"):
        refusing.uninstall()


def test_without_the_program_a_sentence_says_so(home, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SynapseError, match="no hermes program on the PATH"):
        Hermes(home)


def test_only_one_installation_is_at_work_at_a_time(refusing):
    refusing.home.folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(refusing.home.folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(LockBusy, match="at work"):
            refusing.install(WANTED, [])
    finally:
        os.close(handle)
