"""``synapse consolidate``: the batch."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from synapse.cli.batch_options import DAY_S
from synapse.cli.common import (
    LOCK_WAIT_S,
    ConfigFile,
    GraphName,
    GroupId,
    LockWait,
    MaxChanges,
    Now,
    Verbose,
    discard_output,
    moment,
    opened_store,
    read_settings,
    wanted_runs,
)
from synapse.cli.complaint import remark
from synapse.cli.report_file import ReportFile
from synapse.cli.time_limit import TimeLimit
from synapse.errors import LockBusy, PartlyApplied, SynapseError, TimeUp, UsageError

if TYPE_CHECKING:
    from synapse.hippocampus.ports import MemoryStore
    from synapse.hippocampus.run import Outcome, Run
    from synapse.integrations.health_check import HealthCheck
    from synapse.settings import Settings


def consolidate(
    group_id: GroupId = None,
    graph: GraphName = None,
    all_groups: Annotated[bool, typer.Option(help="Every graph on the server.")] = False,
    schemas: Annotated[bool, typer.Option("--schemas", help="Extract schemas.")] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Report what could be pruned; deletes nothing.")
    ] = False,
    resolve: Annotated[
        bool, typer.Option("--resolve", help="End facts that are contradicted for certain.")
    ] = False,
    max_changes: MaxChanges = None,
    lock_wait: LockWait = LOCK_WAIT_S,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing at all.")] = False,
    now: Now = None,
    report_file: Annotated[
        Path | None,
        typer.Option(metavar="F", help="Write the summary with its full lists to this file."),
    ] = None,
    config: ConfigFile = None,
    max_seconds: Annotated[
        int | None,
        typer.Option(
            min=1, max=DAY_S, metavar="S", help="End in good order after so many seconds."
        ),
    ] = None,
    always_wake: Annotated[
        bool, typer.Option("--always-wake", help="wakeAgent is true whatever was found.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 4 if another run holds the lock.")
    ] = False,
    verbose: Verbose = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No warnings on stderr.")] = False,
) -> int:
    """Replay what happened: one batch, one JSON summary on stdout."""
    with ExitStack() as until_the_end:
        until_the_end.enter_context(_cycles_left_alone())
        try:
            if all_groups and (group_id is not None or graph is not None):
                raise UsageError("--all-groups excludes --group-id and --graph; give one of them")
            settings, now_s = read_settings(config), moment(now)
            check = until_the_end.enter_context(_health_check(settings, max_seconds))
            report = None if report_file is None else ReportFile(report_file)
            limit = TimeLimit(max_seconds, reserved_s=check.parting_s)
            with limit, opened_store(settings) as store:
                runs = wanted_runs(
                    store, settings, all_groups, graph, group_id,
                    now_s=now_s, schemas=schemas, prune=prune, resolve=resolve, dry_run=dry_run,
                    max_changes=max_changes, lock_wait_s=lock_wait,
                    full_lists=report is not None, always_wake=always_wake,
                )  # fmt: skip
                outcomes, full = _consolidated(store, settings, runs, limit)
            whole = _summary(outcomes) if all_groups else outcomes[0].report.as_dict()
        except Exception as error:
            _print_line({"schema_version": 1, "status": "failed", "error": _short(error)})
            raise
        heard = _print_line(whole)
        if not quiet:
            _print_warnings(outcomes)
        if report is not None:
            report.write({**whole, "groups": full} if all_groups else full[0])
        elif not heard:
            raise BrokenPipeError  # nobody knows what the run has found
        return _judge(outcomes, strict=strict)


def _health_check(settings: Settings, limit_s: float | None) -> HealthCheck:
    from synapse.integrations.health_check import HealthCheck

    url = settings.hosting.health_check_url
    return HealthCheck(None if url is None else url.get_secret_value(), limit_s)


def _print_warnings(outcomes: Sequence[Outcome]) -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        for outcome in outcomes:
            for warning in outcome.report.warnings:
                remark(f"{outcome.report.graph}: {warning}")


def _consolidated(
    store: MemoryStore, settings: Settings, runs: Sequence[Run], limit: TimeLimit
) -> tuple[list[Outcome], list[dict[str, Any]]]:
    """One graph after the other; what a graph held is let go before the next one is read."""
    from synapse.hippocampus.consolidation import ConsolidationEngine
    from synapse.hippocampus.full_report import full_report

    engine = ConsolidationEngine(store, settings.hippocampus, perf_counter)
    outcomes: list[Outcome] = []
    full: list[dict[str, Any]] = []
    try:
        for place, run in enumerate(runs):
            limit.check()
            if place:
                gc.collect()
            outcome = engine.consolidate(run)
            if run.full_lists:
                full.append(full_report(outcome.report, outcome.thoughts, outcome.ledger))
            outcomes.append(replace(outcome, thoughts=None, ledger={}))
            del outcome
        limit.lift()
    except TimeUp as error:
        limit.lift()
        left = [engine.stopped(run, "failed", error) for run in runs[len(outcomes) :]]
        full = full[: len(outcomes)] + [outcome.report.as_dict() for outcome in left]
        outcomes += left
    return outcomes, full


@contextmanager
def _cycles_left_alone() -> Iterator[None]:
    """A run makes millions of objects that live until its end, and next to no cycles among them.

    To look for cycles again and again meanwhile would cost a tenth of the run. What is left then
    goes with the process.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    from synapse.hippocampus.report import GroupsReport

    return GroupsReport.of([outcome.report for outcome in outcomes]).as_dict()


def _judge(outcomes: Sequence[Outcome], *, strict: bool) -> int:
    failed = [outcome for outcome in outcomes if outcome.report.status == "failed"]
    if 0 < len(failed) < len(outcomes):
        first = failed[0].report
        raise PartlyApplied(
            f"{len(failed)} of {len(outcomes)} graphs failed; {first.graph}: {first.error}"
        )
    for outcome in outcomes:
        if outcome.error is not None and (strict or not isinstance(outcome.error, LockBusy)):
            raise outcome.error
    return 0


def _short(error: Exception) -> str:
    from synapse.hippocampus.report import shortened

    known = isinstance(error, SynapseError)
    return str(shortened(str(error) if known else f"unexpected {type(error).__name__}", 400))


def _print_line(whole: dict[str, Any]) -> bool:
    """Print the summary; whether anybody reads it. Where nobody does, the run is complete still."""
    from synapse.hippocampus.report import summary_line

    try:
        print(summary_line(whole), flush=True)
    except BrokenPipeError:
        discard_output()
        return False
    return True
