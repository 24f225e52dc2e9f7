"""``synapse review``: what waits for a person, and the person's decision."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from synapse.cli.common import (
    AsJson,
    ConfigFile,
    GraphName,
    GroupId,
    Now,
    Verbose,
    moment,
    opened_store,
    read_settings,
    wanted_run,
)
from synapse.cli.told import take_back
from synapse.errors import UsageError

if TYPE_CHECKING:
    from synapse.hippocampus.review import Case

DECISIONS = ("keep-old", "keep-new", "keep-both", "undo-invalidation")


def review(
    fact: Annotated[str | None, typer.Argument(help="Uuid of the fact to decide about.")] = None,
    decision: Annotated[str | None, typer.Argument(help=", ".join(DECISIONS) + ".")] = None,
    group_id: GroupId = None,
    graph: GraphName = None,
    decided_too: Annotated[
        bool, typer.Option("--all", help="Also what is decided or resolved.")
    ] = False,
    now: Now = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing at all.")] = False,
    config: ConfigFile = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> int:
    """List the findings that wait for a decision, with their texts; or take one."""
    from synapse.hippocampus.recollector import Recollector
    from synapse.hippocampus.review import Review

    if (fact is None) != (decision is None) or decision not in (None, *DECISIONS):
        raise UsageError(f"name a fact and one of {', '.join(DECISIONS)}")
    settings, has_written = read_settings(config), False
    with opened_store(settings) as store:
        run = wanted_run(store, settings, graph, group_id, now_s=moment(now))
        room = store.read_room(run.scope.graph)
        recollector = Recollector(store, settings.hippocampus)
        thoughts = recollector.recollect(run.scope, run.now_s, room)
        found = Review(store, thoughts, room)
        if fact is not None and decision is not None:
            cases = [found.decide(fact, decision, run.run_id, dry_run=dry_run, at_s=run.at_s)]
            has_written = run.run_id in store.read_journal(run.scope.graph)
        else:
            cases = found.cases(decided_too=decided_too)
    if as_json:
        print(json.dumps([case.as_dict() for case in cases]))
    elif cases:
        if dry_run and fact is not None:
            print("Dry run, nothing was written. The decision would lead to:")
        print("\n".join(map(_case_text, cases)))
        if has_written:
            print(take_back(run.run_id, run.scope.graph))
    else:
        print("Nothing waits for a decision.")
    return 0


def _case_text(case: Case) -> str:
    lines = [
        f"{case.fact}  {case.verdict}  {case.confidence:.2f}  {case.rule}",
        f"  old    {_line(case.text)}",
    ]
    if case.by is not None:
        lines.append(f"  new    {_line(case.by_text or '(gone)')}  ({case.by})")
    if case.state != "undone":
        ends = "ended" if case.verdict == "doubtful" else "ends"
        lines.append(
            f"  {ends:<5}  {case.invalid_at or 'unknown'}. {_line(case.evidence)}".rstrip()
        )
    lines.append(f"  state  {case.state}{f' by {case.decision}' if case.decision else ''}")
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(text.split())
