"""M4: after replaying all statements in order of time, are exactly the true values active?

Restatements are fed as Graphiti does it: the edge that is already there gets one more episode.
Counted are slots of single-valued relations that have had several values and have one today; on
their own, those that came back to a value which they had had before (A -> B -> A).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from .baselines import by_slot, newest_wins
from .data import Edge, MissingSet
from .engine import Bench, Statement, missed
from .result import Bar, Measured, Table, ratio

TITLE = "M4 current state"
SETS = ("legislators", "config_history")
THROUGH_A_SERVER = ("config_history",)
BARS = {"changed": 0.99, "back at an old value": 0.98}
Slot = tuple[str, str]
Values = dict[Slot, frozenset[str]]


@dataclass(frozen=True)
class Slots:
    """The slots that are asked for, and the truth about them."""

    truth: Values
    returned: frozenset[Slot]
    """Those whose last value had been there before."""


def measure(bench: Bench) -> Measured:
    """Both histories."""
    measured = Measured()
    table = Table(
        "M4 current state: share of slots whose active values are exactly the true ones",
        ["set", "slots", "ours", "newest wins", "newest wins, merged", "never invalidate"],
    )
    for name in SETS:
        try:
            edges = bench.data.history_edges(name)
        except MissingSet as reason:
            measured.skipped.append(f"{name}: {reason}")
            measured.bars += [Bar(f"M4 {name}, {row}", None, bar) for row, bar in BARS.items()]
            continue
        slots = slots_of(edges, bench.data.gold_cardinality(name, edges))
        merged, statements = restated(edges)
        found = missed(bench.findings(statements, real=name in THROUGH_A_SERVER, name=f"m4-{name}"))
        states = [
            active(merged, set(found)),
            active(edges, newest_wins(edges, by_slot)),
            active(merged, newest_wins(merged, by_slot)),
            active(edges, set()),
        ]
        rows: dict[str, frozenset[Slot]] = {
            "changed": frozenset(slots.truth), "back at an old value": slots.returned
        }  # fmt: skip
        for row, asked in rows.items():
            shares = [share_right(asked, slots.truth, state) for state in states]
            table.add(f"{name}, {row}", len(asked), *shares)
            measured.bars.append(Bar(f"M4 {name}, {row}", shares[0], BARS[row]))
    measured.tables = [table]
    return measured


def slots_of(edges: Sequence[Edge], gold: Mapping[str, str]) -> Slots:
    """Single-valued slots that changed and hold a value today."""
    groups: defaultdict[Slot, list[Edge]] = defaultdict(list)
    for edge in edges:
        if gold[edge.true_name] == "single":
            groups[edge.slot].append(edge)
    truth, returned = {}, set()
    for slot, group in groups.items():
        group.sort(key=lambda edge: edge.start)
        today = frozenset(edge.object for edge in group if edge.holds)
        if today and len({edge.object for edge in group}) > 1:
            truth[slot] = today
            if group[-1].object in {edge.object for edge in group[:-1]}:
                returned.add(slot)
    return Slots(truth, frozenset(returned))


def restated(edges: Sequence[Edge]) -> tuple[list[Edge], list[Statement]]:
    """One edge a subject, relation and value: the first; and what is said of it and when."""
    first: dict[tuple[str, str, str], Edge] = {}
    said: defaultdict[str, list[datetime]] = defaultdict(list)
    for edge in sorted(edges, key=lambda edge: edge.start):
        kept = first.setdefault((edge.subject, edge.name, edge.object), edge)
        said[kept.id].append(edge.start)
    merged = list(first.values())
    statements = [
        Statement(e.id, e.subject, e.name, e.object, e.text, tuple(said[e.id])) for e in merged
    ]
    return merged, statements


def active(edges: Sequence[Edge], losers: set[str]) -> Values:
    """Values of each slot that nothing has invalidated."""
    values: defaultdict[Slot, set[str]] = defaultdict(set)
    for edge in edges:
        if edge.id not in losers:
            values[edge.slot].add(edge.object)
    return {slot: frozenset(of_slot) for slot, of_slot in values.items()}


def share_right(asked: frozenset[Slot], truth: Values, state: Values) -> float | None:
    """Share of the slots whose active values are the true ones."""
    return ratio(sum(state.get(slot) == truth[slot] for slot in asked), len(asked))
