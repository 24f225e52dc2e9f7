"""The options of the batch, for commands that write it down for others to run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from synapse.errors import UsageError

DAY_S = 86_400
"""No run may take longer."""

AllGroups = Annotated[bool, typer.Option("--all-groups", help="Every graph on the server.")]
Schemas = Annotated[bool, typer.Option("--schemas", help="The batch extracts schemas.")]
Prune = Annotated[bool, typer.Option("--prune", help="The batch reports what could be pruned.")]
Resolve = Annotated[bool, typer.Option("--resolve", help="The batch ends contradicted facts.")]
MaxSeconds = Annotated[
    int,
    typer.Option("--max-seconds", min=1, max=DAY_S, metavar="S", help="How long one run may take."),
]


def batch_arguments(
    group_id: str | None, graph: str | None, all_groups: bool, schemas: bool, prune: bool,
    resolve: bool, max_seconds: int, config: Path | None,
) -> list[str]:  # fmt: skip
    """Arguments of ``synapse consolidate``, right in whatever folder it is started.

    >>> batch_arguments("a", None, False, True, False, False, 100, None)
    ['--group-id', 'a', '--schemas', '--max-seconds', '100']
    """
    if all_groups and (group_id is not None or graph is not None):
        raise UsageError("--all-groups excludes --group-id and --graph; give one of them")
    arguments = []
    for option, value in (("--group-id", group_id), ("--graph", graph)):
        if value is not None:
            arguments += [option, value]
    flags = {
        "--all-groups": all_groups, "--schemas": schemas, "--prune": prune, "--resolve": resolve,
    }  # fmt: skip
    arguments += [flag for flag, wanted in flags.items() if wanted]
    arguments += ["--max-seconds", str(max_seconds)]
    if config is not None:
        arguments += ["--config", str(config.absolute())]
    return arguments
