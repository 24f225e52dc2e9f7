"""``synapse simulate``: what would fade when."""

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
from synapse.errors import ConfigurationError, UsageError
from synapse.hippocampus.quantity import quantity

if TYPE_CHECKING:
    from synapse.hippocampus.simulation import Moment, Simulation
    from synapse.hippocampus.stages import Thoughts
    from synapse.hippocampus.standing import Standing

BAR_CHARACTERS = 32
_OPTIONS = {"base_half_life_days": "--half-life-days", "salience_boost": "--boost"}
"""The options that try other constants, by the constants' names."""


def simulate(
    days: Annotated[float, typer.Option(metavar="N", help="How far to look.")] = 90.0,
    half_life_days: Annotated[
        float | None, typer.Option(metavar="N", help="Try this base half-life.")
    ] = None,
    boost: Annotated[
        float | None, typer.Option(metavar="N", help="Try this salience boost.")
    ] = None,
    group_id: GroupId = None,
    graph: GraphName = None,
    now: Now = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> int:
    """Show what would fade and become a prune candidate if nothing were touched any more."""
    from synapse.hippocampus.numeric import SECONDS_PER_DAY
    from synapse.hippocampus.simulation import simulate as simulated
    from synapse.hippocampus.stamps import LAST_S

    if not 1.0 <= days <= 36_500.0:
        raise UsageError(f"--days takes 1 to 36500 days, not {days:g}")
    thoughts = recollected(config, graph, group_id, now)
    if thoughts.now_s + days * SECONDS_PER_DAY > LAST_S:
        raise UsageError(f"--days {days:g} leads beyond the year 9999; take fewer")
    found = simulated(_standing(thoughts, half_life_days, boost), days)
    print(json.dumps(found.as_dict()) if as_json else _chart(found))
    if found.refused:
        raise ConfigurationError(found.refused)
    return 0


def _standing(thoughts: Thoughts, half_life_days: float | None, boost: float | None) -> Standing:
    """How memories stand under the constants to be tried."""
    from pydantic import ValidationError

    from synapse.hippocampus.stages import Thoughts
    from synapse.settings import in_words

    values = dict(zip(_OPTIONS, (half_life_days, boost), strict=True))
    tried = {name: value for name, value in values.items() if value is not None}
    if not tried:
        return thoughts.standing
    whole = thoughts.config.model_dump()
    whole["forgetting"] |= tried
    try:
        config = type(thoughts.config).model_validate(whole)
    except ValidationError as error:
        problem = error.errors()[0]
        name = str(problem["loc"][-1])
        said = in_words(problem)
        raise UsageError(f"{_OPTIONS.get(name, name)} {problem['input']}: {said}") from None
    tried_out = Thoughts(
        thoughts.snapshot, thoughts.now_s, config, thoughts.recalled, thoughts.near_duplicates,
        thoughts.ledger,
    )  # fmt: skip
    return tried_out.standing


def _chart(found: Simulation) -> str:
    memories_count = sum(found.memories.values())
    if not memories_count:
        return "The graph holds no memories."
    memories = quantity(memories_count, "memory")
    lines = [
        f"{memories} ({_counts(found.memories)}), if nothing is touched any more:",
        f"{'in days':>7}  {'share below ' + format(found.threshold, 'g'):<{BAR_CHARACTERS}}"
        f"  {'weak':>7}  a run would propose",
    ]
    lines += [_line(moment, memories_count) for moment in found.moments]
    first = next((moment for moment in found.moments if moment.first), None)
    if first:
        lines.append(f"first to go, in {first.days:g} days: {', '.join(first.first)}")
    return "\n".join(lines)


def _line(moment: Moment, memories_count: int) -> str:
    weak_count, candidates_count = sum(moment.weak.values()), sum(moment.candidates.values())
    filled = round(weak_count / memories_count * BAR_CHARACTERS)
    bar = "█" * filled + "·" * (BAR_CHARACTERS - filled)
    proposed = f"{candidates_count}  ({_counts(moment.candidates)})" if candidates_count else "0"
    return f"{moment.days:>7g}  {bar}  {weak_count:>7}  {proposed}"


def _counts(by_kind: dict[str, int]) -> str:
    return ", ".join(quantity(n, kind) for kind, n in by_kind.items() if n)
