"""``synapse restore``: memories out of the archive again."""

from __future__ import annotations

from dataclasses import replace
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
    moment,
    opened_store,
    read_settings,
    wanted_run,
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
    from synapse.hippocampus.bring_back import named, plan_bring_back
    from synapse.hippocampus.changes import GraphChanges

    settings = read_settings(config)
    with opened_store(settings) as store:
        run = wanted_run(store, settings, graph, group_id, now_s=moment(now))
        scope = run.scope
        if not dry_run:
            free_graph(store, scope.graph, lock_wait)
        archive = store.read_archive(scope.graph)
        wanted = named(archive, name)
        found = plan_bring_back(
            store.read_graph(scope.graph), archive, wanted, scope, run.now_s,
            settings.hippocampus.digest, store.read_images(scope.graph, wanted),
        )  # fmt: skip
        job = Job(run.run_id, "restore", run.now_s, is_capped=False, dry_run=dry_run)
        changes = GraphChanges(store, scope, settings.hippocampus)
        applied = changes.apply(found.plan, job, uuid4().hex)
    applied = replace(
        applied, already=applied.already | found.already, left={**found.left, **applied.left}
    )
    tell_applied(applied, dry_run=dry_run, as_json=as_json)
    return 0
