"""``synapse status``: what there is."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from synapse.cli.common import AsJson, ConfigFile, Verbose, opened_store, read_settings
from synapse.errors import StoreUnreachable, SynapseError

if TYPE_CHECKING:
    from synapse.hippocampus.ports import RoomSummary


def status(config: ConfigFile = None, as_json: AsJson = False, verbose: Verbose = False) -> int:
    """Show the graphs, their last runs and what Synapse keeps about them."""
    rooms: dict[str, RoomSummary | SynapseError] = {}
    with opened_store(read_settings(config)) as store:
        for graph in store.graphs():
            try:
                rooms[graph] = store.summarize_room(graph)
            except StoreUnreachable:
                raise
            except SynapseError as error:  # one damaged room must not hide the others
                rooms[graph] = error
    if as_json:
        print(json.dumps({graph: _room_dict(room) for graph, room in rooms.items()}))
    elif not rooms:
        print("There are no graphs on this server yet.")
    else:
        for graph, room in rooms.items():
            print(_room_text(graph, room))
    return 0


def _room_dict(room: RoomSummary | SynapseError) -> dict[str, Any]:
    return {"error": str(room)} if isinstance(room, SynapseError) else asdict(room)


def _room_text(graph: str, room: RoomSummary | SynapseError) -> str:
    if isinstance(room, SynapseError):
        return f"{graph}\n  damaged    {room}"
    last = room.last_run
    lines = [
        graph,
        f"  last write {last.get('now')} (run {last.get('run_id')})"
        if last
        else "  last write never",
        f"  kept       {room.traces_count} traces, {room.ledger_count} findings, "
        f"{room.surprises_count} surprises and {room.recalls_count} recalls waiting",
        f"  recalled   {room.recalled_count} memories, {room.pins_count} pinned",
    ]
    if room.failures_count:
        lines.append(f"  failed     {room.failures_count} times since the last good run")
    if room.lock_holder:
        lines.append(f"  working    run {room.lock_holder} holds the lock")
    return "\n".join(lines)
