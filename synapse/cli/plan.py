"""``synapse plan``: what a run would change, as a file to look at and to apply."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from synapse.cli.common import (
    ConfigFile,
    GraphName,
    GroupId,
    MaxChanges,
    Now,
    Verbose,
    moment,
    opened_store,
    read_settings,
    wanted_run,
)
from synapse.cli.complaint import remark
from synapse.cli.report_file import ReportFile
from synapse.cli.told import counted
from synapse.errors import UsageError
from synapse.hippocampus.quantity import quantity

if TYPE_CHECKING:
    from synapse.hippocampus.planning import Planned
    from synapse.hippocampus.ports import MemoryStore
    from synapse.hippocampus.run import Run
    from synapse.settings import Settings


def plan(
    resolve: Annotated[
        bool, typer.Option("--resolve", help="End facts that are contradicted for certain.")
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Move faded memories into the archive.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="F", help="File to write it to.")
    ] = None,
    group_id: GroupId = None,
    graph: GraphName = None,
    now: Now = None,
    max_changes: MaxChanges = None,
    config: ConfigFile = None,
    verbose: Verbose = False,
) -> int:
    """Write down what a run would change, one line each; nothing else is written."""
    from synapse.hippocampus.caps import why_refused

    if not resolve and not prune:
        raise UsageError("say what to plan: --resolve, --prune or both")
    file = None if output is None else ReportFile(output, "plan")
    settings = read_settings(config)
    with opened_store(settings) as store:
        run = wanted_run(
            store, settings, graph, group_id,
            now_s=moment(now), resolve=resolve, prune=prune, max_changes=max_changes,
        )  # fmt: skip
        planned = planned_for(store, settings, run)
        journal = store.read_journal(run.scope.graph)
        refusal = why_refused(planned.plan, journal, run.now_s, run.at_s)
    if file is None:
        print(planned.plan.dumps(), end="")
    else:
        file.write_text(planned.plan.dumps())
        print(f"Plan {planned.plan.id}: {counted(planned.plan.changes)}.")
    if planned.changed:
        left_out = quantity(len(planned.changed), "fact")
        remark(f"{left_out} changed meanwhile, left out of the plan.")
    if planned.why_nothing:
        remark(f"Nothing to archive: {planned.why_nothing}.")
    if planned.waiting_count:
        waiting = quantity(planned.waiting_count, "candidate")
        remark(f"{waiting} left for a later run.")
    for warning in planned.warnings:
        remark(warning)
    if refusal:
        remark(f"synapse apply would refuse it: {refusal}")
    return 0


def planned_for(store: MemoryStore, settings: Settings, run: Run) -> Planned:
    """The plan of a run."""
    from synapse.hippocampus.changes import GraphChanges
    from synapse.hippocampus.recollector import Recollector

    room = store.read_room(run.scope.graph)
    recollector = Recollector(store, settings.hippocampus)
    thoughts = recollector.recollect(run.scope, run.now_s, room)
    changes = GraphChanges(store, run.scope, settings.hippocampus)
    return changes.plan(
        thoughts,
        room,
        resolve=run.resolve,
        prune=run.prune,
        max_changes=run.max_changes,
        at_s=run.at_s,
    )
