"""``synapse consolidate``: the batch."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from synapse.cli.common import (
    ConfigFile,
    GraphName,
    GroupId,
    Now,
    Verbose,
    moment,
    opened_store,
    read_settings,
    wanted_runs,
)
from synapse.errors import LockBusy, PartlyApplied, SynapseError, UsageError

if TYPE_CHECKING:
    from synapse.hippocampus.consolidation import Outcome, Run
    from synapse.hippocampus.ports import MemoryStore
    from synapse.settings import Settings


def consolidate(
    group_id: GroupId = None,
    graph: GraphName = None,
    all_groups: Annotated[bool, typer.Option(help="Every graph on the server.")] = False,
    schemas: Annotated[bool, typer.Option("--schemas", help="Extract schemas.")] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Report what could be pruned; deletes nothing.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing at all.")] = False,
    now: Now = None,
    report_file: Annotated[
        Path | None,
        typer.Option(metavar="F", help="Write the summary with its full lists to this file."),
    ] = None,
    config: ConfigFile = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 4 if another run holds the lock.")
    ] = False,
    verbose: Verbose = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No warnings on stderr.")] = False,
) -> int:
    """Replay what happened: one batch, one JSON summary on stdout."""
    try:
        if all_groups and (group_id is not None or graph is not None):
            raise UsageError("--all-groups excludes --group-id and --graph; give one of them")
        settings, now_s = read_settings(config), moment(now)
        with opened_store(settings) as store:
            runs = wanted_runs(
                store, settings, all_groups, graph, group_id,
                now_s=now_s, schemas=schemas, prune=prune, dry_run=dry_run,
                full_lists=report_file is not None,
            )  # fmt: skip
            outcomes, full = _consolidated(store, settings, runs, keep_full=bool(report_file))
        whole = _summary(outcomes) if all_groups else outcomes[0].report.as_dict()
        if report_file is not None:
            _write_report(report_file, {**whole, "groups": full} if all_groups else full[0])
    except SynapseError as error:
        _print_line({"schema_version": 1, "status": "failed", "error": str(error)})
        raise
    _print_line(whole)
    if sys.stderr.isatty() and not quiet:
        for outcome in outcomes:
            for warning in outcome.report.warnings:
                print(f"{outcome.report.graph}: {warning}", file=sys.stderr)
    return _judge(outcomes, strict=strict)


def _consolidated(
    store: MemoryStore, settings: Settings, runs: Sequence[Run], *, keep_full: bool
) -> tuple[list[Outcome], list[dict[str, Any]]]:
    """One graph after the other; what a graph held is let go before the next one is read."""
    from synapse.hippocampus.consolidation import ConsolidationEngine
    from synapse.hippocampus.full_report import full_report

    engine = ConsolidationEngine(store, settings.hippocampus, perf_counter)
    outcomes, full = [], []
    for run in runs:
        outcome = engine.consolidate(run)
        if keep_full:
            full.append(full_report(outcome.report, outcome.thoughts))
        outcomes.append(replace(outcome, thoughts=None))
    return outcomes, full


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


def _write_report(file: Path, content: dict[str, Any]) -> None:
    half_written = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with half_written.open("w", encoding="utf-8") as stream:
            json.dump(content, stream)
        half_written.replace(file)
    except OSError as error:
        half_written.unlink(missing_ok=True)
        raise UsageError(
            f"cannot write the report file {file}: {error.strerror}; the run itself is complete"
        ) from error


def _print_line(whole: dict[str, Any]) -> None:
    from synapse.hippocampus.report import summary_line

    print(summary_line(whole), flush=True)
