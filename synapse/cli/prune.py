"""``synapse prune``: what has faded, and moving it into the archive."""

from __future__ import annotations

import sys
from typing import Annotated
from uuid import uuid4

import typer

from synapse.cli.common import (
    AsJson,
    ConfigFile,
    GraphName,
    GroupId,
    LockWait,
    MaxChanges,
    Now,
    Verbose,
    free_graph,
    is_typed,
    moment,
    opened_store,
    read_settings,
    wanted_run,
)
from synapse.cli.plan import planned_for
from synapse.cli.told import print_plan, tell_applied


def prune(
    apply: Annotated[
        bool, typer.Option("--apply", help="Move them into the archive; without it, only look.")
    ] = False,
    group_id: GroupId = None,
    graph: GraphName = None,
    now: Now = None,
    max_changes: MaxChanges = None,
    lock_wait: LockWait = 0.0,
    config: ConfigFile = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> int:
    """List the faded memories that one run may archive, or archive them."""
    from synapse.hippocampus.applier import Job
    from synapse.hippocampus.changes import GraphChanges

    settings = read_settings(config)
    with opened_store(settings) as store:
        run = wanted_run(
            store, settings, graph, group_id,
            now_s=moment(now), prune=True, max_changes=max_changes,
        )  # fmt: skip
        if apply:
            free_graph(store, run.scope.graph, lock_wait)
        planned = planned_for(store, settings, run)
        for warning in planned.warnings:
            print(warning, file=sys.stderr)
        job = Job(
            run.run_id, "prune --apply", run.now_s, max_changes,
            by_person=is_typed(), dry_run=not apply, at_s=run.at_s,
        )  # fmt: skip
        changes = GraphChanges(store, run.scope, settings.hippocampus)
        applied = changes.apply(planned.plan, job, uuid4().hex)
    if not apply and not as_json:
        print_plan(planned.plan.changes)
    tell_applied(
        applied, dry_run=not apply, as_json=as_json, why_nothing=planned.why_nothing,
        waiting_count=planned.waiting_count,
    )  # fmt: skip
    return 0
