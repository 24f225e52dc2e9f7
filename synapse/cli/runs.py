"""``synapse runs``: what runs have changed in a graph, and what can be undone."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from synapse.cli.common import (
    AsJson,
    ConfigFile,
    GraphName,
    GroupId,
    Verbose,
    opened_store,
    read_settings,
    wanted_run,
)

if TYPE_CHECKING:
    from synapse.hippocampus.changes import PastRun


def runs(
    last: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only so many of the last ones.")
    ] = None,
    group_id: GroupId = None,
    graph: GraphName = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> int:
    """List the runs that changed the graph itself, the oldest first."""
    from synapse.hippocampus.changes import GraphChanges

    settings = read_settings(config)
    with opened_store(settings) as store:
        run = wanted_run(store, settings, graph, group_id, now_s=0.0)
        past = [
            _as_dict(one) for one in GraphChanges(store, run.scope, settings.hippocampus).runs(last)
        ]
    if as_json:
        print(json.dumps(past))
    elif past:
        print("\n".join(map(_text, past)))
    else:
        print("No run has changed this graph.")
    return 0


def _as_dict(past: PastRun) -> dict[str, Any]:
    from synapse.hippocampus.stamps import iso_time

    entry = past.entry
    made = Counter(c.do for c in entry.changes if c.outcome in ("done", "undone"))
    outcomes = Counter(change.outcome for change in entry.changes)
    return {
        "run_id": entry.run_id,
        "at": iso_time(entry.done_at_s),
        "now": entry.now,
        "command": entry.command,
        "plan": entry.plan_id,
        "undoes": entry.undoes,
        "is_settled": entry.is_settled,
        "ended": made["end"],
        "reopened": made["reopen"],
        "archived": made["archive"],
        "restored": made["restore"],
        "left": outcomes["left"],
        "unsettled": outcomes[""],
        "undone": outcomes["undone"],
        "undoable": past.undoing.count,
        "not_undoable": dict(past.undoing.left),
    }


def _text(run: dict[str, Any]) -> str:
    names = ("ended", "reopened", "archived", "restored", "left", "unsettled", "undone")
    did = ", ".join(f"{run[name]} {name}" for name in names if run[name]) or "nothing"
    lines = [f"{run['run_id']}  {run['at']}  {run['command']}", f"  did     {did}"]
    if run["now"] != run["at"]:
        lines.append(f"  as of   {run['now']}")
    if run["undoes"]:
        lines.append(f"  undoes  {run['undoes']}")
    can = f"{run['undoable']} can be undone" if run["undoable"] else "nothing left to undo"
    cannot = len(run["not_undoable"])
    lines.append(f"  now     {can}{f', {cannot} no longer' if cannot else ''}")
    if not run["is_settled"]:
        lines.append("  state   at work, or it died: apply the plan again, or undo it")
    return "\n".join(lines)
