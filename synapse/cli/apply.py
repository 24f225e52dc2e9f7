"""``synapse apply``: carry out a plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from synapse.cli.changing import changing
from synapse.cli.common import (
    AsJson,
    ConfigFile,
    LockWait,
    MaxChanges,
    Now,
    Verbose,
)
from synapse.cli.told import tell_applied
from synapse.errors import UsageError

if TYPE_CHECKING:
    from synapse.hippocampus.journal import RunEntry
    from synapse.hippocampus.plan_file import MemoryPlan

DryRun = Annotated[bool, typer.Option("--dry-run", help="Write nothing at all.")]


def apply(
    file: Annotated[Path, typer.Argument(metavar="PLAN", help="File that synapse plan wrote.")],
    graph: Annotated[
        str | None,
        typer.Option("--graph", metavar="NAME", help="Refuse a plan that is for another graph."),
    ] = None,
    max_changes: MaxChanges = None,
    lock_wait: LockWait = 0.0,
    now: Now = None,
    dry_run: DryRun = False,
    config: ConfigFile = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> int:
    """Do exactly what a plan says; what changed since it was made is left alone."""
    plan = _read(file)
    named = plan.graph if graph is None else graph
    with changing(config, named, None, now, lock_wait_s=lock_wait, dry_run=dry_run) as opened:
        job = opened.job("apply", max_changes=max_changes, by_person=True)
        applied = opened.changes.apply(plan, job, opened.lock_token)
    was_applied = applied.earlier is not None and applied.earlier.is_settled
    if was_applied and not applied.done and not applied.left and not as_json:
        assert applied.earlier is not None
        print(_told_before(applied.earlier))
        return 0
    tell_applied(applied, dry_run=dry_run, as_json=as_json)
    return 0


def _read(file: Path) -> MemoryPlan:
    from synapse.hippocampus.plan_file import MemoryPlan

    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UsageError(f"cannot read the plan {str(file)[:60]!r}: {why}") from error
    return MemoryPlan.loads(text)


def _told_before(run: RunEntry) -> str:
    from synapse.hippocampus.stamps import iso_time

    when = iso_time(run.done_at_s)
    return f"Nothing to do: run {run.run_id} has applied this plan already ({when})."
