"""What the commands that change a graph say: planned changes, and what became of them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from synapse.errors import PartlyApplied
from synapse.hippocampus.quantity import quantity

if TYPE_CHECKING:
    from synapse.hippocampus.applier import Applied
    from synapse.hippocampus.plan_file import PlannedChange

_DOES = {
    "end": ("ends", "fact", "ended"),
    "reopen": ("is valid again", "fact", "valid again"),
    "archive": ("moves into the archive", "memory", "archived"),
    "restore": ("comes back from the archive", "memory", "restored"),
}
LEFT_LINES = 20
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What steers a terminal, turns the direction of what follows, or is half a character."""


def print_plan(changes: Iterable[PlannedChange]) -> None:
    """Planned changes, for people."""
    for change in changes:
        print(_change_text(change))


def tell_applied(
    applied: Applied, *, dry_run: bool, as_json: bool, why_nothing: str = "", waiting_count: int = 0
) -> None:
    """Print what became of a plan.

    Args:
        applied: what became of it.
        dry_run: whether nothing was to be written.
        as_json: for programs.
        why_nothing: why nothing was planned, if so.
        waiting_count: candidates that have to wait for a later run.

    Raises:
        PartlyApplied: some of it was not done; the message says how much.
    """
    if as_json:
        told = _as_dict(applied, dry_run) | {"waiting": waiting_count}
        told["reason_for_zero"] = {"archived": why_nothing} if why_nothing else {}
        print(json.dumps(told))
    else:
        print("\n".join(_lines(applied, dry_run)))
        if why_nothing:
            print(f"Nothing to archive: {why_nothing}.")
        if waiting_count:
            waiting = quantity(waiting_count, "more candidate")
            print(f"{waiting} {'waits' if waiting_count == 1 else 'wait'} for a later run.")
    if applied.left:
        left_count, all_count = len(applied.left), len(applied.left) + len(applied.done)
        first = next(iter(applied.left.values()))
        raise PartlyApplied(
            f"{left_count} of {all_count} changes were not made; the first: {first}"
        )


def counted(changes: Iterable[PlannedChange]) -> str:
    """How many changes of each kind.

    >>> counted([])
    'nothing'
    """
    counts = dict.fromkeys(_DOES, 0)
    for change in changes:
        counts[change.do] += 1
    said = (
        f"{quantity(count, _DOES[do][1])} {_DOES[do][2]}" for do, count in counts.items() if count
    )
    return ", ".join(said) or "nothing"


def take_back(run_id: str, graph: str) -> str:
    """How to undo a run.

    >>> take_back("r1", "my graph")
    "Take it back with: synapse undo r1 --graph 'my graph'"
    """
    return f"Take it back with: synapse undo {run_id} --graph {shlex.quote(graph)}"


def line(text: str) -> str:
    r"""Text of a memory on one line that does nothing to a terminal.

    >>> line("say\n \"hi\" \x1b[31m\u202e")
    'say "hi" \\x1b[31m\\u202e'
    """
    return _unsteered(" ".join(text.split()))


def paragraphs(text: str) -> str:
    """The same with its lines kept as they are.

    >>> paragraphs("one\\n\\ttwo\\x1b[31m")
    'one\\n        two\\\\x1b[31m'
    """
    return "\n".join(_unsteered(row.expandtabs()) for row in text.splitlines())


def _unsteered(text: str) -> str:
    return _STEERING.sub(lambda found: ascii(found[0])[1:-1], text)


def _change_text(change: PlannedChange) -> str:
    lines = [f"{change.memory}  {_DOES[change.do][0]}", f"  {change.kind:<8}{line(change.text)}"]
    if change.by is not None:
        lines.append(f"  new     {line(change.by_text or '')}  ({change.by})")
    if change.to is not None and change.to.invalid_at is not None:
        lines.append(f"  from    {change.to.invalid_at}")
    lines.append(f"  reason  {change.reason}{'. ' if change.evidence else ''}{change.evidence}")
    return "\n".join(lines)


def _lines(applied: Applied, dry_run: bool) -> list[str]:
    done = counted(c for c in applied.plan.changes if c.memory in applied.done)
    lines = [f"Dry run, nothing was written. It would be: {done}." if dry_run else f"Done: {done}."]
    if applied.run_id:
        lines.append(take_back(applied.run_id, applied.plan.graph))
    if applied.already:
        lines.append(f"Already so: {len(applied.already)}.")
    lines += [f"note  {uuid}  {said}" for uuid, said in list(applied.notes.items())[:LEFT_LINES]]
    if len(applied.notes) > LEFT_LINES:
        lines.append(f"note  {len(applied.notes) - LEFT_LINES} more; --json lists them all")
    lines += [f"left  {uuid}  {why}" for uuid, why in list(applied.left.items())[:LEFT_LINES]]
    if len(applied.left) > LEFT_LINES:
        lines.append(f"left  {len(applied.left) - LEFT_LINES} more; --json lists them all")
    return lines


def _as_dict(applied: Applied, dry_run: bool) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "graph": applied.plan.graph,
        "plan": applied.plan.id,
        "run_id": applied.run_id or None,
        "dry_run": dry_run,
        "ended": applied.count("end"),
        "reopened": applied.count("reopen"),
        "archived": applied.count("archive"),
        "restored": applied.count("restore"),
        "already": len(applied.already),
        "left": dict(applied.left),
        "notes": dict(applied.notes),
    }
