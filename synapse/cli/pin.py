"""``synapse pin`` and ``synapse unpin``: memories that are never pruned."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from synapse.cli.common import (
    ConfigFile,
    GraphName,
    GroupId,
    Verbose,
    moment,
    opened_store,
    read_settings,
    wanted_run,
)
from synapse.errors import UsageError

if TYPE_CHECKING:
    from synapse.hippocampus.ports import MemoryStore

Memory = Annotated[str, typer.Argument(help="Uuid of an entity or fact, or an entity's name.")]
REASON_CHARACTERS = 500


def pin(
    memory: Memory,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for later.")] = "",
    group_id: GroupId = None,
    graph: GraphName = None,
    config: ConfigFile = None,
    verbose: Verbose = False,
) -> int:
    """Keep a memory whatever its strength; pinning it again changes only the reason."""
    from synapse.hippocampus.room import Pin

    if len(reason) > REASON_CHARACTERS:
        raise UsageError(f"--reason takes at most {REASON_CHARACTERS} characters")
    with _store_and_graph(config, graph, group_id) as (store, target):
        uuid = _uuid_of(store, target, memory)
        known = store.read_pins(target, [uuid]).get(uuid)
        if known is None or known.reason != reason:
            store.pin(target, uuid, Pin(known.at_s if known else moment(None), reason))
    print(f"{uuid} is pinned")
    return 0


def unpin(
    memory: Memory,
    group_id: GroupId = None,
    graph: GraphName = None,
    config: ConfigFile = None,
    verbose: Verbose = False,
) -> int:
    """Take a pin back; a memory that is not pinned stays so."""
    with _store_and_graph(config, graph, group_id) as (store, target):
        was_pinned = store.unpin(target, memory)  # also a memory that the graph no longer has
        uuid = memory if was_pinned else _uuid_of(store, target, memory)
        was_pinned = was_pinned or store.unpin(target, uuid)
    print(f"{uuid} is {'no longer' if was_pinned else 'not'} pinned")
    return 0


@contextmanager
def _store_and_graph(
    config: Path | None, graph: str | None, group_id: str | None
) -> Iterator[tuple[MemoryStore, str]]:
    settings = read_settings(config)
    with opened_store(settings) as store:
        run = wanted_run(store, settings, graph, group_id, now_s=moment(None))
        yield store, run.scope.graph


def _uuid_of(store: MemoryStore, graph: str, memory: str) -> str:
    from synapse.hippocampus.explanation import find_memory

    snapshot = store.read_graph(graph)
    return snapshot.memory_uuids[find_memory(snapshot, memory, store.read_archive(graph))]
