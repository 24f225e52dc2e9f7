"""M2: does a relation hold one value at a time? By its name alone, and with a graph around it.

The pairs of the challenge set are stories of their own; as one graph they are harder than any that
somebody has, for no subject in it has a third fact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from synapse.hippocampus.ports import GraphDocument

from .baselines import has_seed_prefix
from .capabilities import both
from .data import MissingSet, Row
from .engine import (
    GRAPH,
    Bench,
    Statement,
    document,
    real_graphs,
    statements_of,
)
from .relations import Evidence, RelationTable
from .result import Bar, Measured, Table, mean, ratio

TITLE = "M2 cardinality"
CONSOLIDATION_SIZE = "32k"
RULES_WITH_A_GRAPH: dict[str, Evidence] = {
    "ours, name and graph": "both",
    "ours, graph without words": "graph",
}
CONSTANT_RULES = ("always single", "never single")
_TIME = datetime(2026, 1, 1, tzinfo=UTC)
Said = Callable[[Row], bool]
"""Whether a rule takes a relation for single-valued."""


def measure(bench: Bench) -> Measured:
    """Balanced accuracy of single against not single; ``unknown`` is not single."""
    measured = Measured()
    try:
        rows = [row for row in bench.data.judged_relations if row["gold"] != "mixed"]
    except MissingSet as reason:
        measured.skipped.append(str(reason))
        rows = []
    if not rows:
        return measured
    rules: dict[str, Said] = {
        "always single": lambda row: True,
        "never single": lambda row: False,
        "seed prefix": lambda row: has_seed_prefix(row["name"]),
    }
    rules |= _ours(bench, rows, measured)
    table = Table(
        "M2 cardinality: balanced accuracy, single against not single",
        ["rule", "balanced accuracy", "single right", "multi right", "event right"],
    )
    for name, said in rules.items():
        table.add(name, balanced(rows, said), *(_share_right(rows, said, gold)
                  for gold in ("single", "multi", "event")))  # fmt: skip
    measured.tables = [table, _by_source(rows, rules)]
    if bench.details:
        measured.tables.append(_errors(rows, rules))
    by_name, in_graph = (
        balanced(rows, rules[rule]) if rule in rules else None
        for rule in ("ours, name alone", "ours, name and graph")
    )
    measured.bars = [
        Bar("M2 balanced accuracy by name", by_name, 0.85),
        Bar("M2 balanced accuracy with a graph, against by name", in_graph, by_name or 0, "above"),
    ]
    return measured


def _ours(bench: Bench, rows: Sequence[Row], measured: Measured) -> dict[str, Said]:
    alone = bench.learned(_one_fact_each(rows))
    if alone is None:
        measured.skipped.append("the product has no table of relations: not available")
        return {}
    graphs = _graphs(bench, {row["source"] for row in rows}, measured)
    rules: dict[str, Said] = {
        "ours, name alone": lambda row: alone.cardinality(row["name"]) == "single"
    }
    for name, evidence in RULES_WITH_A_GRAPH.items():
        tables = {
            source: bench.learned(*said, evidence=evidence) for source, said in graphs.items()
        }
        if None in tables.values():
            measured.skipped.append(f"{name}: not available")
        else:
            rules[name] = _in_graph(tables, alone)
    return rules


def _in_graph(tables: dict[str, RelationTable | None], alone: RelationTable) -> Said:
    def said(row: Row) -> bool:
        table = tables.get(row["source"]) or alone
        return table.cardinality(row["name"]) == "single"

    return said


def _one_fact_each(rows: Sequence[Row]) -> GraphDocument:
    """A graph that shows nothing: one fact a relation, no entity twice, words that say nothing."""
    return document(
        [
            Statement(str(n), f"S{n}", row["name"], f"O{n}", f"S{n} O{n}", (_TIME,))
            for n, row in enumerate(rows)
        ],
        GRAPH,
    )


def _graphs(
    bench: Bench, sources: set[str], measured: Measured
) -> dict[str, Sequence[GraphDocument]]:
    graphs = {}
    for source in sorted(sources):
        try:
            graphs[source] = _graph(bench, source)
        except MissingSet as reason:
            measured.skipped.append(f"graph of {source}: {reason}; its names are read alone")
    return graphs


def _graph(bench: Bench, source: str) -> Sequence[GraphDocument]:
    if source == "graphiti_real":
        return list(real_graphs(bench.data).values())
    if source == "challenge":
        pairs = bench.data.rows("challenge", "pairs")
        statements = [s for pair in pairs for s in both(pair, subject_key=pair["id"])]
    elif source == "factconsolidation":
        statements = statements_of(bench.data.consolidation_edges(CONSOLIDATION_SIZE))
    else:
        statements = statements_of(bench.data.edges(source))
    return [document(statements, GRAPH)]


def balanced(rows: Sequence[Row], said: Said) -> float | None:
    """Mean of the shares right among the single-valued and among the others."""
    sides = [[row for row in rows if (row["gold"] == "single") is side] for side in (True, False)]
    shares = [
        ratio(sum(said(row) is side for row in rows_), len(rows_))
        for side, rows_ in zip((True, False), sides, strict=True)
    ]
    return mean(shares)


def _share_right(rows: Sequence[Row], said: Said, gold: str) -> float | None:
    of_gold = [row for row in rows if row["gold"] == gold]
    return ratio(sum(said(row) is (gold == "single") for row in of_gold), len(of_gold))


def _by_source(rows: Sequence[Row], rules: dict[str, Said]) -> Table:
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["source"]].append(row)
    names = [name for name in rules if name not in CONSTANT_RULES]
    table = Table(
        "M2 cardinality by source: balanced accuracy (share right where all are of one kind)",
        ["source", "names", *names],
    )
    for source, group in sorted(groups.items()):
        table.add(source, len(group), *(balanced(group, rules[name]) for name in names))
    return table


def _errors(rows: Sequence[Row], rules: dict[str, Said]) -> Table:
    table = Table("M2: names that ours gets wrong", ["rule", "source", "name", "gold"])
    for name, said in rules.items():
        if name.startswith("ours"):
            for row in rows:
                if said(row) is not (row["gold"] == "single"):
                    table.add(name, row["source"], row["name"], row["gold"])
    return table
