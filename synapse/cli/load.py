"""``synapse load``: a memory file into a graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from synapse.cli.common import (
    ConfigFile,
    GraphName,
    Verbose,
    opened_store,
    present,
    read_settings,
)


def load(
    file: Annotated[Path, typer.Argument(help="Graphiti-shaped export or MCP memory file.")],
    group_id: Annotated[str, typer.Option("--group-id", metavar="G", help="Group to load into.")],
    graph: GraphName = None,
    config: ConfigFile = None,
    verbose: Verbose = False,
) -> int:
    """Put a small JSON or JSON-lines memory into a graph; loading it twice adds nothing."""
    from synapse.integrations.memory_file import read_memory_file

    settings = read_settings(config)
    document = read_memory_file(file, group_id=group_id, now_iso=present().isoformat())
    with opened_store(settings) as store:
        store.write_memory(graph or group_id, document)
    counts = {
        "entities": len(document.entities),
        "facts": len(document.facts),
        "episodes": len(document.episodes),
        "mentions": len(document.mentions),
    }
    print(json.dumps({"graph": graph or group_id, "group_id": group_id, **counts}))
    return 0
