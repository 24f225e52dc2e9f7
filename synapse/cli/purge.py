"""``synapse purge``: the only command that cannot be taken back."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from synapse.cli.common import (
    AsJson,
    ConfigFile,
    GraphName,
    GroupId,
    Now,
    Verbose,
    archive_scope,
    moment,
    opened_store,
    present,
    read_settings,
)
from synapse.errors import LockBusy, UsageError, shown
from synapse.hippocampus.quantity import quantity

if TYPE_CHECKING:
    from synapse.hippocampus.ports import MemoryStore

DAY_S = 86_400.0
_AGE = re.compile(r"(\d{1,5})d")


def purge(
    older_than: Annotated[
        str, typer.Option(metavar="AGE", help="Free what was archived longer ago, as in 90d.")
    ],
    yes: Annotated[
        bool, typer.Option("--yes", help="Do it; without this nothing is freed.")
    ] = False,
    group_id: GroupId = None,
    graph: GraphName = None,
    now: Now = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> int:
    """Free archived memories for good; what is left is that they were there."""
    from synapse.hippocampus.stamps import iso_time

    age = _AGE.fullmatch(older_than)
    if age is None:
        raise UsageError(f"--older-than {shown(older_than)} is not a number of days; write 90d")
    now_s = moment(now)
    if now_s > present().timestamp():
        raise UsageError(f"--now {shown(str(now))} lies in the future; purge takes the past only")
    before_s = now_s - int(age.group(1)) * DAY_S
    settings = read_settings(config)
    with opened_store(settings) as store:
        scope = archive_scope(store, settings, graph, group_id)
        if not scope.whole_graph:
            raise UsageError(f"purge frees a whole graph; name it alone: --graph {scope.graph}")
        entries = store.read_archive(scope.graph)
        count = sum(entry.state == "archived" and entry.at_s < before_s for entry in entries)
        if yes and count:
            count = _freed(store, scope.graph, before_s)
    before = iso_time(before_s)
    if as_json:
        told = {"graph": scope.graph, "archived_before": before, "memories": count}
        print(json.dumps({**told, "freed": count if yes else 0}))
    elif yes:
        print(f"Gone for good: {quantity(count, 'memory')} archived before {before}.")
    else:
        print(f"Would be gone for good: {quantity(count, 'memory')} archived before {before}.")
        print("Nothing was freed; add --yes to do it. This cannot be taken back.")
    return 0


def _freed(store: MemoryStore, graph: str, before_s: float) -> int:
    """How many memories were freed, under the lock of the graph's room."""
    from synapse.hippocampus.ports import LOCK_TTL_S

    token = uuid4().hex
    if not store.acquire_lock(graph, token, LOCK_TTL_S):
        raise LockBusy(f"another run works on graph {shown(graph)}; nothing was freed, try again")
    try:
        return store.purge(graph, before_s, token)
    finally:
        store.release_lock(graph, token)
