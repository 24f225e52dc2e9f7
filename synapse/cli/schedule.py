"""``synapse schedule``: the batch, written down for other schedulers."""

from __future__ import annotations

import sys
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
from synapse.cli.common import ConfigFile, GraphName, GroupId, Verbose, read_settings
from synapse.errors import UsageError

if TYPE_CHECKING:
    from synapse.integrations.schedules import Occasion

app = typer.Typer(
    name="schedule", help="The batch for cron, systemd and Kubernetes.", no_args_is_help=True
)


@app.callback()
def _schedule() -> None:
    """The batch for cron, systemd and Kubernetes."""


@app.command("print")
def print_schedule(
    cron: Annotated[bool, typer.Option("--cron", help="Lines for a crontab.")] = False,
    systemd: Annotated[bool, typer.Option("--systemd", help="A service and its timer.")] = False,
    kubernetes: Annotated[bool, typer.Option("--kubernetes", help="A CronJob.")] = False,
    at: Annotated[str | None, typer.Option(metavar="18:00", help="Once a day, then.")] = None,
    every: Annotated[str | None, typer.Option(metavar="6h", help="Again and again.")] = None,
    group_id: GroupId = None,
    graph: GraphName = None,
    all_groups: AllGroups = False,
    schemas: Schemas = False,
    prune: Prune = False,
    resolve: Resolve = False,
    max_seconds: MaxSeconds = 600,
    ping: Annotated[
        str | None, typer.Option(metavar="URL", help="Health check that hears of each run.")
    ] = None,
    config: ConfigFile = None,
    verbose: Verbose = False,
) -> int:
    """Print what lets the batch run by itself; nothing is installed."""
    from synapse.integrations.schedules import Batch
    from synapse.settings import configured_file, names_unknown_elsewhere, variables_elsewhere

    if cron + systemd + kubernetes != 1:
        raise UsageError("give one of --cron, --systemd and --kubernetes")
    if at is not None and every is not None:
        raise UsageError("--at excludes --every; give one of them")
    if kubernetes and config is not None:
        raise UsageError("--config names no file inside a container; put settings into the secret")
    _check_ping(ping)
    settings = read_settings(config)
    minutes = settings.hosting.interval_minutes
    occasion = _occasion(at, every, f"{minutes}m")
    file = None if kubernetes else config or configured_file()
    arguments = batch_arguments(
        group_id, graph, all_groups, schemas, prune, resolve, max_seconds, file
    )
    variables = variables_elsewhere(settings, file)
    if any(not word.isprintable() for word in (*arguments, *variables.values())):
        raise UsageError("a name with a line break or other control character cannot be scheduled")
    unknown = names_unknown_elsewhere()
    batch = Batch(sys.executable, arguments, max_seconds, ping, variables, unknown)
    if cron:
        print(batch.as_crontab(occasion), end="")
    elif systemd:
        print("\n".join(batch.as_units(occasion).values()), end="")
    else:
        print(batch.as_manifest(occasion), end="")
    return 0


def _occasion(at: str | None, every: str | None, default: str) -> Occasion:
    from synapse.integrations.schedules import Occasion

    if at is not None:
        return Occasion.daily(at)
    return Occasion.every(default if every is None else every)


def _check_ping(address: str | None) -> None:
    from synapse.addresses import web_address

    try:
        if address is not None:
            web_address(address)
    except ValueError as error:
        raise UsageError(f"--ping cannot be called: {error}") from None
