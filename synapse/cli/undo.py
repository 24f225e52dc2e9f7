"""``synapse undo``: take back what a run has changed."""

from __future__ import annotations

from typing import Annotated
from uuid import uuid4

import typer

from synapse.cli.apply import DryRun
from synapse.cli.common import (
    AsJson,
    ConfigFile,
    GraphName,
    GroupId,
    LockWait,
    Now,
    Verbose,
    free_graph,
    is_typed,
    moment,
    opened_store,
    read_settings,
    wanted_run,
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
    from synapse.hippocampus.applier import Job
    from synapse.hippocampus.changes import GraphChanges

    settings = read_settings(config)
    with opened_store(settings) as store:
        run = wanted_run(store, settings, graph, group_id, now_s=moment(now))
        if not dry_run:
            free_graph(store, run.scope.graph, lock_wait)
        job = Job(
            run.run_id, "undo", run.now_s, by_person=is_typed(), dry_run=dry_run, at_s=run.at_s
        )
        changes = GraphChanges(store, run.scope, settings.hippocampus)
        undone = changes.undo(name, job, uuid4().hex)
    if not undone.applied.plan.changes and not undone.applied.left and not as_json:
        print(f"Nothing is left to undo of run {undone.entry.run_id}.")
        return 0
    tell_applied(undone.applied, dry_run=dry_run, as_json=as_json)
    return 0
