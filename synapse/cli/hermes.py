"""``synapse hermes``: the batch as a job of the Hermes agent."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated

import typer

from synapse.cli.batch_options import (
    AllGroups,
    MaxSeconds,
    Prune,
    Resolve,
    Schemas,
    batch_arguments,
)
from synapse.cli.common import AsJson, ConfigFile, GraphName, GroupId, Verbose, read_settings
from synapse.errors import UsageError

if TYPE_CHECKING:
    from synapse.integrations.hermes.installation import Installation

app = typer.Typer(
    name="hermes", help="The batch as a job of the Hermes agent.", no_args_is_help=True
)

_TARGETS = re.compile(r"[A-Za-z][\w-]*(:[^\s,]+)?(,[A-Za-z][\w-]*(:[^\s,]+)?)*")

Profile = Annotated[str | None, typer.Option(metavar="P", help="Profile of Hermes.")]


@app.command()
def install(
    group_id: GroupId = None,
    graph: GraphName = None,
    all_groups: AllGroups = False,
    schemas: Schemas = False,
    prune: Prune = False,
    resolve: Resolve = False,
    max_seconds: MaxSeconds = 100,
    deliver: Annotated[
        str, typer.Option(metavar="T", help="Where Hermes tells about runs: local, telegram, …")
    ] = "local",
    silent: Annotated[
        bool, typer.Option("--silent", help="Tell only about runs with new findings.")
    ] = False,
    gate: Annotated[
        bool, typer.Option("--gate", help="Wake an agent when findings need a judgement.")
    ] = False,
    profile: Profile = None,
    config: ConfigFile = None,
    verbose: Verbose = False,
) -> int:
    """Write the launcher and make the job, exactly once; repair what is broken."""
    from synapse.integrations.hermes.installation import GATE_PROMPT
    from synapse.integrations.hermes.job import WantedJob
    from synapse.settings import configured_file

    if silent and gate:
        raise UsageError("--gate is silent by itself; leave --silent away")
    if not _TARGETS.fullmatch(deliver):
        raise UsageError("--deliver names no target; write it like local, telegram or discord:123")
    settings = read_settings(config)
    arguments = batch_arguments(
        group_id, graph, all_groups, schemas, prune, resolve, max_seconds,
        config or configured_file(),
    )  # fmt: skip
    if not silent and not gate:
        arguments.append("--always-wake")
    prompt = GATE_PROMPT.strip() if gate else None
    wanted = WantedJob(settings.hosting.interval_minutes, deliver, prompt)
    installation = _installation(profile)
    steps = installation.install(wanted, arguments)
    for step in steps:
        print(step.as_done)
    (job,) = installation.jobs()
    print(f"job {job.id} runs {wanted.schedule}, next at {job.next_run_at}")
    print(f"each run is kept in {installation.home.output(job.id)}")
    for hint in _hints(installation):
        print(f"note: {hint}")
    return 0


@app.command()
def status(profile: Profile = None, as_json: AsJson = False, verbose: Verbose = False) -> int:
    """Show the job, its last run, and what keeps it from running."""
    installation = _installation(profile)
    jobs, problems = installation.jobs(), installation.problems()
    if as_json:
        print(json.dumps({"jobs": [job.as_dict() for job in jobs], "problems": problems}))
        return 1 if problems else 0
    for job in jobs:
        print(f"job {job.id}\n  runs       {job.schedule}, next at {job.next_run_at}")
        print(f"  last run   {job.last_run_at or 'never'} {job.last_status or ''}".rstrip())
        print(f"  kept in    {installation.home.output(job.id)}")
    for problem in problems:
        print(f"problem: {problem}")
    return 1 if problems else 0


@app.command()
def uninstall(profile: Profile = None, verbose: Verbose = False) -> int:
    """Remove the job with what its runs left, and the launcher."""
    for what in _installation(profile).uninstall() or ["nothing: Synapse was not installed here"]:
        print(f"removed {what}")
    return 0


def _installation(profile: str | None) -> Installation:
    from synapse.integrations.hermes.home import find_home
    from synapse.integrations.hermes.installation import Installation
    from synapse.integrations.hermes.program import Hermes
    from synapse.settings import hermes_home

    home = find_home(hermes_home(), profile)
    return Installation(home, Hermes(home))


def _hints(installation: Installation) -> list[str]:
    from synapse.settings import INTERVAL_NAME, names_set_here

    home = installation.home
    missing = set(names_set_here()) - home.names_in_environment_file() - {INTERVAL_NAME}
    hints = [
        f"{name} is set here and not in {home.environment_file}; without it there, the job may not"
        " see it"
        for name in sorted(missing)
    ]
    return hints + [problem for problem in installation.problems() if "by itself" in problem]
