"""``synapse explain``: one memory."""

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
    recollected,
)
from synapse.hippocampus.quantity import quantity

if TYPE_CHECKING:
    from synapse.hippocampus.explanation import Explanation


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
    from synapse.hippocampus.explanation import explain as explained
    from synapse.hippocampus.explanation import find_memory

    thoughts = recollected(config, graph, group_id, now)
    explanation = explained(
        thoughts, find_memory(thoughts.snapshot, memory, thoughts.recalled.archive)
    )
    print(json.dumps(explanation.as_dict()) if as_json else _explanation_text(explanation))
    return 0


def _explanation_text(e: Explanation) -> str:
    lines = [
        f"{e.kind} {e.uuid}",
        f"  {e.text}",
        f"strength   {e.strength:.4f}   (threshold {e.threshold:g}{_bonus(e)})",
        f"salience   {e.salience:.4f}",
        *(
            f"  {factor.name:<11}{factor.value:.4f} x {factor.weight:.2f} = "
            f"{factor.contribution:.4f}"
            for factor in e.factors
        ),
        f"half-life  {e.half_life_days:.1f} days   (stability {e.stability:.2f} from "
        f"{quantity(e.rehearsals_count, 'episode')} and {quantity(e.recalls_count, 'recall')}, "
        f"association {e.association:.2f}, demand {e.demand:.2f}{_former(e)})",
        f"last touch {e.last_touch or 'unknown: it counts as fresh'}",
        f"asked for  {_asked(e)}",
        f"falls below the threshold: {e.falls_below_threshold_at or 'never'}",
        f"told again now, it would last until: {e.if_touched_now_lasts_until or 'for ever'}",
        f"found first now, it would last until: {e.if_recalled_now_lasts_until or 'for ever'}   "
        f"(stability {e.if_recalled_now_stability:.2f})",
        f"pruning    {e.pruning}",
    ]
    if e.pinned_since:
        lines.append(f"pinned     since {e.pinned_since}{_because(e.pin_reason)}")
    if e.contradiction:
        lines.append(f"contradiction  {e.contradiction}")
    if e.stale:
        lines.append(f"stale      {e.stale}: look again")
    if e.associates:
        lines.append(f"brings to mind {', '.join(e.associates)}")
    return "\n".join(lines)


def _bonus(e: Explanation) -> str:
    if not e.co_recall_bonus:
        return ""
    return f"; {e.co_recall_bonus:.2f} of it for being recalled together with others"


def _former(e: Explanation) -> str:
    if e.former_stability is None:
        return ""
    return f"; {e.former_stability:.2f} when it was archived before"


def _asked(e: Explanation) -> str:
    shown = f"; shown unasked {quantity(e.exposures_count, 'time')}" if e.exposures_count else ""
    if e.average_rank is None:
        return f"{e.last_recall or 'never'}{shown}"
    sources = ", ".join(f"{source} ({count})" for source, count in sorted(e.sources.items()))
    return (
        f"{e.last_recall}, first {e.first_recall}; {quantity(e.searches_count, 'time')}, "
        f"{e.first_places_count} of them in the first place, on average in place "
        f"{e.average_rank:.1f}; {e.recalls_per_day:.2f} a day in a week, "
        f"{e.recalls_per_day_of_month:.2f} in 30 days; by {sources}{shown}"
    )


def _because(reason: str | None) -> str:
    return f": {' '.join(reason.split())}" if reason else ""
