"""The job in a real Hermes, from its installation to its end."""

import json
import os
import re
import shlex

import pytest

from synapse.integrations.hermes.installation import GATE_PROMPT
from tests.conftest import REPOSITORY

JOB = "synapse-consolidate"
README = (REPOSITORY / "README.md").read_text()
(LINE,) = re.findall(r"^synapse hermes install (.*)$", README, re.MULTILINE)


def installed(world, *arguments):
    ended = world.synapse("hermes", "install", *arguments)
    assert ended.code == 0, ended.err
    return ended.out


@pytest.mark.parametrize("name", ["plain", "mit Leerzeichen und Ümläut's 记忆"])
def test_the_scheduler_runs_the_job_until_it_is_uninstalled(new_world, name, demo, falkordb_uri):
    world = new_world(name)
    world.settings(FALKORDB_URI=falkordb_uri)
    line = shlex.split(LINE.replace("my-agent", demo))
    out = installed(world, *line)
    assert "wrote the launcher" in out and "made the job" in out
    job = world.tick_when_due()
    assert (job["last_status"], job["last_error"]) == ("ok", None)
    summary = world.summary()
    assert summary["graph"] == demo and summary["seen"]["facts"] == 128
    assert summary["wrote"]["traces"] == 183 and summary["schemas"]["count"]
    assert "pruning" in summary
    world.tick_when_due()
    assert world.summary()["wrote"]["traces"] == 0, "a run without news is kept as well"
    before = world.jobs()
    again = installed(world, *line)
    assert world.jobs() == before and "wrote" not in again and "made" not in again
    gone = world.synapse("hermes", "uninstall")
    assert gone.code == 0 and gone.out.count("removed") == 2
    assert world.jobs() == []
    assert [*(world.home / "scripts").iterdir()] == []
    assert [*(world.home / "cron" / "output").iterdir()] == []
    assert "nothing" in world.synapse("hermes", "uninstall").out


def test_silent_tells_only_about_runs_with_news(world, demo, falkordb_uri):
    world.settings(FALKORDB_URI=falkordb_uri)
    installed(world, "--group-id", demo, "--silent")
    assert world.tick_when_due()["last_status"] == "ok"
    assert world.summary()["contradictions"]["count"] > 0
    assert world.tick_when_due()["last_status"] == "ok"
    assert "silent (wakeAgent=false)" in world.newest_output()


def test_the_sentence_about_a_dead_database_arrives_whole(world, delivered):
    world.settings(FALKORDB_URI="redis://localhost:1")
    installed(world, "--group-id", "my-agent")
    job = world.tick_when_due()
    sentence = "no FalkorDB answers at redis://localhost:1 (refused); check FALKORDB_URI"
    assert job["last_status"] == "error" and sentence in job["last_error"]
    failure = f"Script exited with code 75 stderr: {sentence}"
    assert delivered(job).startswith(f"⚠️ Cron '{JOB}' failed: {failure}")
    status = world.synapse("hermes", "status")
    assert status.code == 1 and f"the last run failed: {failure}" in status.out


def test_what_is_broken_is_repaired_and_stays_one_job(world):
    installed(world, "--group-id", "a")
    (job,) = world.jobs()
    world.hermes("cron", "pause", job["id"])
    world.hermes("cron", "edit", job["id"], "--schedule", "every 1h", "--deliver", "telegram")
    world.hermes("cron", "create", "every 2h", "something else", "--name", JOB)
    (world.home / "scripts" / f"{JOB}.sh").unlink()
    assert len(world.jobs()) == 2
    status = world.synapse("hermes", "status").out
    assert "there are 2 jobs" in status and "launcher is missing" in status
    world.variables["SYNAPSE_CONSOLIDATION_INTERVAL_HOURS"] = "1.5"
    out = installed(world, "--group-id", "b")
    for what in ("wrote the launcher", "removed job", "corrected job", "resumed job"):
        assert what in out
    (repaired,) = world.jobs()
    assert repaired["id"] == job["id"] and repaired["enabled"]
    assert (repaired["schedule"]["minutes"], repaired["deliver"]) == (90, "local")
    assert "--group-id b" in (world.home / "scripts" / f"{JOB}.sh").read_text()


def test_a_gate_wakes_an_agent_only_for_findings_that_need_one(world, demo, falkordb_uri):
    world.settings(FALKORDB_URI=falkordb_uri)
    installed(world, "--group-id", demo)
    world.tick_when_due()
    out = installed(world, "--group-id", demo, "--gate")
    assert "corrected job" in out and "it woke no agent" in out
    (job,) = world.jobs()
    assert not job["no_agent"] and job["prompt"] == GATE_PROMPT.strip()
    assert world.tick_when_due()["last_status"] == "ok", "no model is configured, none was needed"
    assert "agent skipped" in world.newest_output()
    assert "it woke an agent" in installed(world, "--group-id", demo)
    assert world.jobs()[0]["no_agent"]
    world.synapse("hermes", "uninstall")
    assert "made the job" in installed(world, "--group-id", demo, "--gate")
    assert not world.jobs()[0]["no_agent"]


def test_a_profile_has_its_own_job(world):
    assert world.hermes("profile", "create", "coder").code == 0
    installed(world, "--group-id", "a", "--profile", "coder")
    own = world.home / "profiles" / "coder"
    assert len(json.loads((own / "cron" / "jobs.json").read_text())["jobs"]) == 1
    assert (own / "scripts" / f"{JOB}.sh").is_file()
    assert world.jobs() == []
    lost = world.synapse("hermes", "install", "--profile", "nobody")
    assert lost.code == 2 and "no profile 'nobody'" in lost.err


def test_a_relative_home_is_the_same_for_both(world):
    world.workplace.mkdir(parents=True, exist_ok=True)
    world.variables["HERMES_HOME"] = os.path.relpath(world.home, world.workplace)
    assert "made the job" in installed(world, "--group-id", "a")
    assert "made" not in installed(world, "--group-id", "a")
    (job,) = world.jobs()
    assert f"job {job['id']}" in world.synapse("hermes", "status").out
    assert world.synapse("hermes", "uninstall").out.count("removed") == 2
    assert world.jobs() == []


def test_what_hermes_refuses_is_said_in_a_sentence(world):
    (world.home / "scripts").mkdir(parents=True)
    (world.home / "scripts" / f"{JOB}.sh").write_text("echo mine\n")
    foreign = world.synapse("hermes", "install")
    assert foreign.code == 1 and "was not written by Synapse" in foreign.err
    assert world.jobs() == []
    (world.home / "scripts" / f"{JOB}.sh").unlink()
    (world.home / "cron").mkdir(exist_ok=True)
    (world.home / "cron" / "jobs.json").write_text("[not json")
    broken = world.synapse("hermes", "install")
    assert broken.code == 1 and "list of jobs is not as expected" in broken.err
    assert (world.home / "cron" / "jobs.json").read_text() == "[not json"


@pytest.mark.parametrize(
    ("limit_s", "told"),
    [(100, "Script timed out after 8s"), (3, "the run reached its limit of 3 s (--max-seconds)")],
)
def test_a_run_that_may_not_write_ends_or_is_killed_and_leaves_nothing_half_done(
    world, demo, falkordb_uri, store, connection, delivered, limit_s, told
):
    world.settings(FALKORDB_URI=falkordb_uri)
    installed(world, "--group-id", demo, "--resolve", "--max-seconds", str(limit_s))
    world.variables["HERMES_CRON_SCRIPT_TIMEOUT"] = "8"
    connection.client_pause(60_000, all=False)
    try:
        job = world.tick_when_due()
    finally:
        connection.client_unpause()
    assert told in job["last_error"]
    assert ("provider timeout" in delivered(job)) == (limit_s == 100), delivered(job)
    assert store.read_room(demo).revision == 0
    connection.delete(f"synapse:{{{demo}}}:lock")  # or wait a minute
    assert world.tick_when_due()["last_status"] == "ok"
    assert world.summary()["contradictions"]["resolved"] > 0
