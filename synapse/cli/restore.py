"""``synapse restore``: memories out of the archive again."""

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
    with changing(
        config, graph, group_id, now, lock_wait_s=lock_wait, dry_run=dry_run, also_gone=True
    ) as opened:
        applied = opened.changes.restore(name, opened.job("restore"), opened.lock_token)
    tell_applied(applied, dry_run=dry_run, as_json=as_json)
    return 0
