"""The command line: the only place that prints or exits.

Heavy modules are imported inside the commands, so that ``--help`` answers at once.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, NoReturn
from uuid import uuid4

import typer

from synapse.errors import LockBusy, PartlyApplied, SynapseError, UsageError

if TYPE_CHECKING:
    from synapse.hippocampus.consolidation import Outcome, Run
    from synapse.hippocampus.explanation import Explanation
    from synapse.hippocampus.ports import MemoryStore, RoomSummary
    from synapse.settings import Settings

INTERRUPTED = 130
_CLICK_ERROR: Any = typer.BadParameter.mro()[2]  # click's own or the copy that typer carries

app = typer.Typer(
    name="synapse",
    help="The sleep that a Graphiti memory lacks: score, fade, find contradictions, report.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

GroupId = Annotated[
    str | None,
    typer.Option("--group-id", metavar="G", help="Graphiti group: the graph of that name."),
]
GraphName = Annotated[
    str | None, typer.Option("--graph", metavar="NAME", help="FalkorDB graph to read.")
]
Now = Annotated[str | None, typer.Option(metavar="ISO", help="Take this as the present moment.")]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", metavar="F", help="Configuration file (synapse.toml).")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Tell more on stderr.")]


@app.command()
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
        settings, now_s = _settings(config), _moment(now)
        with _store(settings) as store:
            runs = _runs(
                store, settings, all_groups, graph, group_id,
                now_s=now_s, schemas=schemas, prune=prune, dry_run=dry_run,
            )  # fmt: skip
            whole, outcomes = _consolidated(store, settings, runs, all_groups)
            if report_file is not None:
                _write_report(report_file, whole, outcomes)
    except SynapseError as error:
        _print_line({"schema_version": 1, "status": "failed", "error": str(error)})
        raise
    _print_line(whole)
    if sys.stderr.isatty() and not quiet:
        for outcome in outcomes:
            for warning in outcome.report.warnings:
                print(f"{outcome.report.graph}: {warning}", file=sys.stderr)
    return _judge(outcomes, strict=strict)


@app.command()
def status(config: ConfigFile = None, as_json: AsJson = False, verbose: Verbose = False) -> int:
    """Show the graphs, their last runs and what Synapse keeps about them."""
    with _store(_settings(config)) as store:
        rooms = {graph: store.summarize_room(graph) for graph in store.graphs()}
    if as_json:
        print(json.dumps({graph: _room_dict(room) for graph, room in rooms.items()}))
    elif not rooms:
        print("There are no graphs on this server yet.")
    else:
        for graph, room in rooms.items():
            print(_room_text(graph, room))
    return 0


@app.command()
def explain(
    memory: Annotated[str, typer.Argument(help="Uuid of an entity or fact, or an entity's name.")],
    group_id: GroupId = None,
    graph: GraphName = None,
    now: Now = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> int:
    """Show one memory: its score by factor, its curve, and what would save it."""
    from synapse.hippocampus.consolidation import ConsolidationEngine
    from synapse.hippocampus.explanation import explain as explained
    from synapse.hippocampus.explanation import find_memory

    settings = _settings(config)
    with _store(settings) as store:
        runs = _runs(store, settings, False, graph, group_id, now_s=_moment(now))
        thoughts = ConsolidationEngine(store, settings.hippocampus, _no_stopwatch).recollect(
            runs[0]
        )
    explanation = explained(thoughts, find_memory(thoughts.snapshot, memory))
    print(json.dumps(explanation.as_dict()) if as_json else _explanation_text(explanation))
    return 0


@app.command()
def load(
    file: Annotated[Path, typer.Argument(help="Graphiti-shaped export or MCP memory file.")],
    group_id: Annotated[str, typer.Option("--group-id", metavar="G", help="Group to load into.")],
    graph: GraphName = None,
    config: ConfigFile = None,
    verbose: Verbose = False,
) -> int:
    """Put a small JSON or JSON-lines memory into a graph; loading it twice adds nothing."""
    from synapse.integrations.memory_file import read_memory_file

    settings = _settings(config)
    document = read_memory_file(file, group_id=group_id, now_iso=_now().isoformat())
    with _store(settings) as store:
        store.write_memory(graph or group_id, document)
    counts = {
        "entities": len(document.entities),
        "facts": len(document.facts),
        "episodes": len(document.episodes),
        "mentions": len(document.mentions),
    }
    print(json.dumps({"graph": graph or group_id, "group_id": group_id, **counts}))
    return 0


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit with its code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    verbose = "-v" in arguments or "--verbose" in arguments
    if not verbose:
        warnings.simplefilter("ignore")
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        code = _invoke(arguments)
    except SynapseError as error:
        _complain(str(error), error, verbose)
        code = error.exit_code
    except KeyboardInterrupt:
        _complain("interrupted; what was already written stays valid", None, verbose)
        code = INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except Exception as error:  # noqa: BLE001  the last line of defence: a person reads this
        _complain(f"unexpected {type(error).__name__}: {error}; add -v to see more", error, verbose)
        code = 1
    sys.exit(code)


def _invoke(arguments: list[str]) -> int:
    try:
        return app(args=arguments, prog_name="synapse", standalone_mode=False) or 0
    except _CLICK_ERROR as problem:
        raise UsageError(f"{problem.format_message()} (see synapse --help)") from None


def _interrupt(_signal: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _complain(sentence: str, error: BaseException | None, verbose: bool) -> None:
    print(" ".join(sentence.split()), file=sys.stderr)
    if verbose and error is not None:
        traceback.print_exception(error, file=sys.stderr)


def _print_line(whole: dict[str, Any]) -> None:
    from synapse.hippocampus.report import summary_line

    print(summary_line(whole), flush=True)


def _settings(config: Path | None) -> Settings:
    from synapse.settings import load_settings

    return load_settings(config)


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _moment(now: str | None) -> float:
    if now is None:
        return _now().timestamp()
    try:
        moment = datetime.fromisoformat(now)
    except ValueError:
        raise UsageError(
            f"--now {now!r} is not an ISO 8601 time; write it like 2026-01-10T06:00:00Z"
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


@contextmanager
def _store(settings: Settings) -> Iterator[MemoryStore]:
    from synapse.store import open_store

    store = open_store(settings.connection.address())
    try:
        with redirect_stdout(sys.stderr):  # a library's print must not break the JSON line
            yield store
    finally:
        store.close()


def _runs(
    store: MemoryStore,
    settings: Settings,
    all_groups: bool,
    graph: str | None,
    group_id: str | None,
    **what: Any,
) -> list[Run]:
    from synapse.hippocampus.consolidation import Run
    from synapse.hippocampus.scope import Scope, choose_scope

    graphs = store.graphs()
    default = settings.connection.database
    scopes = (
        [Scope(name) for name in graphs]
        if all_groups
        else [choose_scope(graphs, graph=graph, group_id=group_id, default_graph=default)]
    )
    return [Run(scope, run_id=uuid4().hex, **what) for scope in scopes]


def _consolidated(
    store: MemoryStore, settings: Settings, runs: Sequence[Run], all_groups: bool
) -> tuple[dict[str, Any], list[Outcome]]:
    from synapse.hippocampus.consolidation import ConsolidationEngine

    engine = ConsolidationEngine(store, settings.hippocampus, perf_counter)
    if all_groups:
        report, outcomes = engine.consolidate_all(runs)
        return report.as_dict(), outcomes
    outcome = engine.consolidate(runs[0])
    return outcome.report.as_dict(), [outcome]


def _judge(outcomes: Sequence[Outcome], *, strict: bool) -> int:
    failed = [outcome for outcome in outcomes if outcome.report.status == "failed"]
    if failed and len(outcomes) > 1:
        raise PartlyApplied(
            f"{len(failed)} of {len(outcomes)} graphs failed; "
            f"{failed[0].report.graph}: {failed[0].report.error}"
        )
    for outcome in outcomes:
        if outcome.error is not None and (strict or not isinstance(outcome.error, LockBusy)):
            raise outcome.error
    return 0


def _write_report(file: Path, whole: dict[str, Any], outcomes: Sequence[Outcome]) -> None:
    from synapse.hippocampus.full_report import full_report

    full = [full_report(outcome.report, outcome.thoughts) for outcome in outcomes]
    content = {**whole, "groups": full} if "groups" in whole else full[0]
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


def _room_dict(room: RoomSummary) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(room)


def _room_text(graph: str, room: RoomSummary) -> str:
    last = room.last_run
    lines = [f"{graph}"]
    lines.append(f"  last run   {last['now']} ({last['run_id']})" if last else "  last run   never")
    lines.append(
        f"  kept       {room.traces_count} traces, {room.ledger_count} findings, "
        f"{room.surprises_count} surprises and {room.recalls_count} recalls waiting"
    )
    if room.failures_count:
        lines.append(f"  failed     {room.failures_count} times since the last good run")
    if room.lock_holder:
        lines.append(f"  working    run {room.lock_holder} holds the lock")
    return "\n".join(lines)


def _explanation_text(e: Explanation) -> str:
    lines = [
        f"{e.kind} {e.uuid}",
        f"  {e.text}",
        f"strength   {e.strength:.4f}   (threshold {e.threshold:g})",
        f"salience   {e.salience:.4f}",
        *(
            f"  {factor.name:<11}{factor.value:.4f} x {factor.weight:.2f} = "
            f"{factor.contribution:.4f}"
            for factor in e.factors
        ),
        f"half-life  {e.half_life_days:.1f} days   (stability {e.stability:.2f} from "
        f"{e.rehearsals_count} episodes, association {e.association:.2f})",
        f"last touch {e.last_touch or 'unknown: it counts as fresh'}",
        f"falls below the threshold: {e.falls_below_threshold_at or 'never'}",
        f"touched now, it would last until: {e.if_touched_now_lasts_until or 'for ever'}",
        f"pruning    {e.pruning}",
    ]
    if e.contradiction:
        lines.append(f"contradiction  {e.contradiction}")
    return "\n".join(lines)


def _no_stopwatch() -> float:
    return 0.0
