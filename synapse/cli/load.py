"""``synapse load``: a memory file into a graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from synapse.cli.common import (
    ConfigFile,
    Verbose,
    opened_store,
    present,
    read_settings,
)
from synapse.cli.complaint import remark
from synapse.errors import LockBusy, shown
from synapse.hippocampus.quantity import quantity

LOADING_TTL_S = 600.0


def load(
    file: Annotated[Path, typer.Argument(help="Graphiti-shaped export or MCP memory file.")],
    group_id: Annotated[str, typer.Option("--group-id", metavar="G", help="Group to load into.")],
    graph: Annotated[
        str | None, typer.Option("--graph", metavar="NAME", help="Graph to load into, if not G.")
    ] = None,
    config: ConfigFile = None,
    verbose: Verbose = False,
) -> int:
    """Put a small JSON or JSON-lines memory into a graph; loading it twice adds nothing."""
    from synapse.integrations.memory_file import read_memory_file

    settings = read_settings(config)
    document = read_memory_file(file, group_id=group_id, now_iso=present().isoformat())
    target, token = graph or group_id, uuid4().hex
    with opened_store(settings, may_create=True) as store:
        if not store.acquire_lock(target, token, LOADING_TTL_S):
            raise LockBusy(
                f"another run or load works on graph {shown(target)}; try again after it"
            )
        try:
            added = store.write_memory(target, document)
        finally:
            store.release_lock(target, token)
    counts = {
        "entities": len(document.entities),
        "facts": len(document.facts),
        "episodes": len(document.episodes),
        "mentions": len(document.mentions),
    }
    counts["undeclared"] = len(document.undeclared)
    print(json.dumps({"graph": target, "group_id": group_id, **counts, "added": added}))
    if document.undeclared:
        made = quantity(len(document.undeclared), "entity")
        first = shown(document.undeclared[0])
        remark(f"{made} made that the file only refers to, as {first}")
    return 0
