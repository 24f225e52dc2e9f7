"""``synapse relations``: how many values each relation holds, and why."""

from __future__ import annotations

import json
from typing import Any

from synapse.cli.common import (
    AsJson,
    ConfigFile,
    GraphName,
    GroupId,
    Now,
    Verbose,
    recollected,
)


def relations(
    group_id: GroupId = None,
    graph: GraphName = None,
    now: Now = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> int:
    """Show for each relation whether it holds one value at a time, for how long, and why."""
    rows = recollected(config, graph, group_id, now).relations.as_rows()
    print(json.dumps(rows) if as_json else _table(rows))
    return 0


def _table(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "The graph holds no facts."
    width = min(40, max(len(_name(row)) for row in rows))
    lines = [f"{'relation':<{width}}  values   sure  facts  lifetime"]
    for row in rows:
        days = row["lifetime_days"]
        lifetime = "" if days is None else f"{days:g} days"
        lines.append(
            f"{_name(row):<{width}}  {row['cardinality']:<7}  {row['confidence']:.2f}  "
            f"{row['facts']:>5}  {lifetime}".rstrip()
        )
        others = [name for name in row["names"] if name != row["relation"]]
        reasons = [*row["reasons"], *([f"also named {', '.join(others)}"] if others else [])]
        lines += [f"    {' '.join(reason.split())}" for reason in reasons]
    return "\n".join(lines)


def _name(row: dict[str, Any]) -> str:
    name = " ".join(str(row["relation"]).split())
    return name if len(name) <= 40 else name[:39] + "…"
