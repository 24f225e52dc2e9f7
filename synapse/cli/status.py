"""``synapse status``: what there is."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from synapse.cli.common import (
    AsJson,
    ConfigFile,
    GraphName,
    GroupId,
    Verbose,
    opened_store,
    read_settings,
    wanted_graph,
)
from synapse.errors import StoreUnreachable, SynapseError
from synapse.hippocampus.quantity import quantity

if TYPE_CHECKING:
    from synapse.hippocampus.room import RoomSummary


def status(
    group_id: GroupId = None,
    graph: GraphName = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> int:
    """Show the graphs, their last runs and what Synapse keeps about them."""
    rooms: dict[str, RoomSummary | SynapseError] = {}
    settings = read_settings(config)
    with opened_store(settings) as store:
        is_one = group_id is not None or graph is not None
        graphs = [wanted_graph(store, settings, graph, group_id)] if is_one else store.graphs()
        for name in graphs:
            try:
                rooms[name] = store.summarize_room(name)
            except StoreUnreachable:
                raise
            except SynapseError as error:  # one damaged room must not hide the others
                rooms[name] = error
    if as_json:
        print(json.dumps({name: _room_dict(room) for name, room in rooms.items()}))
    elif not rooms:
        print("There are no graphs on this server yet.")
    else:
        for name, room in rooms.items():
            print(_room_text(name, room))
    return 0


def _room_dict(room: RoomSummary | SynapseError) -> dict[str, Any]:
    return {"error": str(room)} if isinstance(room, SynapseError) else asdict(room)


def _room_text(graph: str, room: RoomSummary | SynapseError) -> str:
    if isinstance(room, SynapseError):
        return f"{graph}\n  not read   {room}"
    last = room.last_run
    lines = [
        graph,
        f"  last write {last.get('now')} (run {last.get('run_id')})"
        if last
        else "  last write never",
        f"  kept       {quantity(room.traces_count, 'trace')}, "
        f"{quantity(room.ledger_count, 'finding')}, "
        f"{quantity(room.surprises_count, 'surprise')} and "
        f"{quantity(room.recalls_count, 'recall')} waiting",
        f"  recalled   {quantity(room.recalled_count, 'memory')}, {room.pins_count} pinned",
    ]
    if room.failures_count:
        times = quantity(room.failures_count, "time")
        lines.append(f"  failed     {times} since the last good run")
    if room.lock_holder:
        lines.append(f"  working    run {room.lock_holder} holds the lock")
    return "\n".join(lines)
