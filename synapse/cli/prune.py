"""``synapse prune``: what has faded, and moving it into the archive."""

from __future__ import annotations

from typing import Annotated

import typer

from synapse.cli.changing import changing
from synapse.cli.common import (
    AsJson,
    ConfigFile,
    GraphName,
    GroupId,
    LockWait,
    MaxChanges,
    Now,
    Verbose,
    is_typed,
)
from synapse.cli.complaint import remark
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
    with changing(
        config, graph, group_id, now, lock_wait_s=lock_wait, dry_run=not apply,
        prune=True, max_changes=max_changes,
    ) as opened:  # fmt: skip
        planned = planned_for(opened.store, opened.settings, opened.run)
        for warning in planned.warnings:
            remark(warning)
        job = opened.job("prune --apply", max_changes=max_changes, by_person=is_typed())
        applied = opened.changes.apply(planned.plan, job, opened.lock_token)
    if not apply and not as_json:
        print_plan(planned.plan.changes)
    tell_applied(
        applied, dry_run=not apply, as_json=as_json, why_nothing=planned.why_nothing,
        waiting_count=planned.waiting_count,
    )  # fmt: skip
    return 0
