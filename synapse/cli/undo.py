"""``synapse undo``: take back what a run has changed."""

from __future__ import annotations

from typing import Annotated

import typer

from synapse.cli.apply import DryRun
from synapse.cli.changing import changing
from synapse.cli.common import (
    AsJson,
    ConfigFile,
    GraphName,
    GroupId,
    LockWait,
    Now,
    Verbose,
    is_typed,
)
from synapse.cli.told import tell_applied


def undo(
    name: Annotated[str, typer.Argument(metavar="RUN", help="The run, or how its name begins.")],
    group_id: GroupId = None,
    graph: GraphName = None,
    lock_wait: LockWait = 0.0,
    now: Now = None,
    dry_run: DryRun = False,
    config: ConfigFile = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> int:
    """Bring back what a run has changed, where the graph still holds what it wrote."""
    with changing(config, graph, group_id, now, lock_wait_s=lock_wait, dry_run=dry_run) as opened:
        job = opened.job("undo", by_person=is_typed())
        undone = opened.changes.undo(name, job, opened.lock_token)
    if not undone.applied.plan.changes and not undone.applied.left and not as_json:
        print(f"Nothing is left to undo of run {undone.entry.run_id}.")
        return 0
    tell_applied(undone.applied, dry_run=dry_run, as_json=as_json)
    return 0
