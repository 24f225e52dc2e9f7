"""``synapse restore``: memories out of the archive again."""

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
    archive_scope,
    free_graph,
    moment,
    opened_store,
    present,
    read_settings,
)
from synapse.cli.told import tell_applied


def restore(
    name: Annotated[
        str, typer.Argument(metavar="UUID|RUN", help="An archived memory, or all that a run moved.")
    ],
    group_id: GroupId = None,
    graph: GraphName = None,
    lock_wait: LockWait = 0.0,
    now: Now = None,
    dry_run: DryRun = False,
    config: ConfigFile = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> int:
    """Bring archived memories back exactly as they were, with the ends that facts need."""
    from synapse.hippocampus.applier import Job
    from synapse.hippocampus.changes import GraphChanges

    settings = read_settings(config)
    with opened_store(settings) as store:
        scope = archive_scope(store, settings, graph, group_id)
        if not dry_run:
            free_graph(store, scope.graph, lock_wait)
        at_s = present().timestamp()
        job = Job(uuid4().hex, "restore", moment(now), dry_run=dry_run, at_s=at_s)
        changes = GraphChanges(store, scope, settings.hippocampus)
        applied = changes.restore(name, job, uuid4().hex)
    tell_applied(applied, dry_run=dry_run, as_json=as_json)
    return 0
