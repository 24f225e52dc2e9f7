"""One job, exactly once: what is to be done for it, and doing it.

Nothing that Hermes prints is taken for granted: after the steps the same plan is made again, and
only if it has become empty is the job there.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from synapse.errors import LockBusy, SynapseError
from synapse.integrations.hermes.home import HermesHome
from synapse.integrations.hermes.job import NAME, Job, WantedJob, synapse_jobs
from synapse.integrations.hermes.launcher import NAME as LAUNCHER
from synapse.integrations.hermes.launcher import (
    launcher_text,
    read_launcher,
    remove_launcher,
    write_launcher,
)
from synapse.integrations.hermes.program import Hermes

GATE_PROMPT = """\
The memory of this agent was consolidated, and new findings need a judgement. The script output is
the summary: contradictions.top names facts by uuid, with the rule and the confidence. Look at each
with the tool synapse_explain where it is there, and tell the user in a few sentences what
contradicts what and which of `synapse review` decisions you would take. Do not decide yourself.
"""

Kind = Literal["write", "remove", "edit", "resume", "create"]
_DONE: dict[Kind, str] = {
    "write": "wrote the launcher",
    "create": "made the job",
    "remove": "removed job ",
    "edit": "corrected job ",
    "resume": "resumed job ",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do, and why."""

    kind: Kind
    reason: str
    job: str = ""
    """Id of the job, where there is one."""

    @property
    def as_done(self) -> str:
        """What was done, for a person."""
        return f"{_DONE[self.kind]}{self.job}: {self.reason}"


class Installation:
    """Synapse's job in one home of Hermes.

    Args:
        home: of the profile.
        hermes: its program.
    """

    def __init__(self, home: HermesHome, hermes: Hermes) -> None:
        self.home = home
        self._hermes = hermes
        self._launcher = home.scripts / LAUNCHER

    def plan(self, wanted: WantedJob, launcher: str) -> list[Step]:
        """What separates what is there from what is wanted."""
        steps = []
        found = read_launcher(self._launcher)
        if found != launcher:
            reason = "there was none" if found is None else "it was another one"
            steps.append(Step("write", reason))
        jobs = synapse_jobs(self.home)
        if not jobs:
            return [*steps, Step("create", "there was none")]
        first, *further = jobs
        steps += [Step("remove", "one is enough", job.id) for job in further]
        differences = ", ".join(wanted.differences(first))
        if differences:
            steps.append(Step("edit", differences, first.id))
        if not first.enabled:
            steps.append(Step("resume", "it was paused", first.id))
        return steps

    def install(self, wanted: WantedJob, arguments: Sequence[str]) -> list[Step]:
        """Make it so; the steps that it took.

        Args:
            wanted: the job.
            arguments: of ``synapse consolidate``.

        Raises:
            SynapseError: a step did not lead where it should; Hermes' own words say why.
        """
        launcher = launcher_text(sys.executable, arguments)
        with self._alone():
            self._try_interpreter()
            steps = self.plan(wanted, launcher)
            said = [self._take(step, wanted, launcher) for step in steps]
            left = self.plan(wanted, launcher)
        if left:
            raise SynapseError(
                f"Hermes did not take it: {_reason(said)} (still open: {left[0].kind}"
                f" {left[0].job or NAME}, {left[0].reason})"
            )
        return steps

    def uninstall(self) -> list[str]:
        """Remove job and launcher; what was removed."""
        with self._alone():
            read_launcher(self._launcher)  # a script of somebody else: all or nothing
            jobs = synapse_jobs(self.home)
            said = [self._hermes.cron("remove", job.id) for job in jobs]
            if synapse_jobs(self.home):
                raise SynapseError(f"the job is still there; Hermes said: {_reason(said)}")
            removed = [f"job {job.id}" for job in jobs]
            if remove_launcher(self._launcher):
                removed.append(f"launcher {self._launcher}")
        return removed

    def jobs(self) -> list[Job]:
        """The jobs of Synapse's name."""
        return synapse_jobs(self.home)

    def problems(self) -> list[str]:
        """What keeps the job from running, as far as it can be seen from here."""
        jobs = self.jobs()
        if not jobs:
            return [f"there is no job {NAME}; synapse hermes install makes it"]
        return list(self._seen(jobs))

    def _seen(self, jobs: Sequence[Job]) -> Iterator[str]:
        if len(jobs) > 1:
            yield f"there are {len(jobs)} jobs {NAME}; synapse hermes install leaves one"
        if read_launcher(self._launcher) is None:
            yield "the launcher is missing; synapse hermes install writes it"
        if not jobs[0].enabled:
            yield f"the job is paused; hermes cron resume {jobs[0].id}"
        if jobs[0].last_status not in (None, "ok"):
            yield f"the last run failed: {' '.join((jobs[0].last_error or '').split())[:160]}"
        if jobs[0].last_delivery_error:
            yield f"the last run was not delivered: {jobs[0].last_delivery_error}"
        silence = self._hermes.silence_of_gateway()
        if silence:
            yield f"Hermes runs no job by itself now: {silence}"

    def _take(self, step: Step, wanted: WantedJob, launcher: str) -> str:
        if step.kind == "write":
            write_launcher(self._launcher, launcher)
            return ""
        if step.kind in ("remove", "resume"):
            return self._hermes.cron(step.kind, step.job)
        common = ["--script", LAUNCHER, "--deliver", wanted.deliver]
        if step.kind == "edit":
            mode = ["--no-agent"] if wanted.prompt is None else ["--agent"]
            asked = ["--prompt", wanted.prompt or ""]
            return self._hermes.cron(
                "edit", step.job, "--schedule", wanted.schedule, *common, *mode, *asked
            )
        mode = ["--no-agent"] if wanted.prompt is None else []
        asked = [] if wanted.prompt is None else [wanted.prompt]
        return self._hermes.cron("create", wanted.schedule, *asked, "--name", NAME, *common, *mode)

    def _try_interpreter(self) -> None:
        """The launcher's interpreter has to find Synapse from any folder, not only from here."""
        done = subprocess.run(
            [sys.executable, "-P", "-c", "import synapse.cli"],
            cwd=self.home.scripts,
            capture_output=True,
        )
        if done.returncode:
            raise SynapseError(
                f"{sys.executable} finds Synapse only in this folder; pip install it there first"
            )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Two installations at once would make two jobs."""
        self.home.make()
        handle = os.open(self.home.folder, os.O_RDONLY)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LockBusy("another synapse hermes command is at work; try again") from None
            yield
        finally:
            os.close(handle)


def _reason(said: Sequence[str]) -> str:
    lines = [line.strip() for text in said for line in text.splitlines() if line.strip()]
    blamed = [line for line in lines if "ail" in line or "rror" in line]
    return (blamed or lines or ["nothing"])[0][:200]
