"""M1: facts written without any end; which of them does one batch invalidate?

Precision, recall and F1 over the labelled edges: an edge that was *replaced* must be invalidated,
one that is *concurrent*, an *event* or the *last* must not; *lapsed* and *open* are not scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from .baselines import by_slot, by_subject, has_seed_prefix, newest_wins, seed_cues
from .data import Edge, MissingSet
from .engine import Bench, Finding, missed, statements_of
from .result import Bar, Measured, Score, Table, mean, ratio

TITLE = "M1 supersession"
MACRO_SETS = ("FC 32k noisy", "wikidata12k", "yago11k", "legislators", "config_history")
RESOLVE_BARS = {"FC": 0.97, "legislators": 0.97, "config_history": 0.97}
RESOLVE_BAR_ELSEWHERE = 0.93
SIZES, LARGE_SIZES, TRACKS = ("6k", "32k"), ("64k", "262k"), ("clean", "noisy", "text")
LABELLED = ("wikidata12k", "yago11k", "legislators", "config_history")
THROUGH_A_SERVER = ("FC 6k", "config_history")
_DAY_S = 86_400.0
_WORST_COUNT = 12


@dataclass
class Outcome:
    """Ours and the trivial rules on one set."""

    name: str
    edges_count: int
    ours: Score
    resolved: Score
    found_count: int
    resolved_count: int
    wrong_direction_count: int
    date_errors_days: list[float]
    false_labels: Counter[str]
    trivial: dict[str, Score]
    worst: list[tuple[str, int, int]] = field(default_factory=list)


def measure(bench: Bench) -> Measured:
    """Every set that the folder holds."""
    measured = Measured()
    outcomes = []
    for name in _names(bench):
        try:
            edges = _edges(bench, name)
        except MissingSet as reason:
            measured.skipped.append(f"{name}: {reason}")
            continue
        outcomes.append(_outcome(bench, name, edges))
    measured.tables = [_f1_table(outcomes), _detail_table(outcomes)]
    if bench.details:
        measured.tables.append(_worst_table(outcomes))
    measured.bars = _bars(outcomes)
    if not bench.all_sizes:
        measured.notes.append(f"FC {' and '.join(LARGE_SIZES)} are measured with --all")
    if bench.resolve_confidence is None:
        measured.notes.append("resolve_confidence is not available: all findings count as written")
    return measured


def _names(bench: Bench) -> list[str]:
    sizes = SIZES + (LARGE_SIZES if bench.all_sizes else ())
    return [f"FC {size} {track}" for size in sizes for track in TRACKS] + list(LABELLED)


def _edges(bench: Bench, name: str) -> list[Edge]:
    if name.startswith("FC "):
        _, size, track = name.split()
        return bench.data.consolidation_edges(size, track)
    return bench.data.edges(name)


def _outcome(bench: Bench, name: str, edges: list[Edge]) -> Outcome:
    real = name.startswith(THROUGH_A_SERVER)
    findings = bench.findings(statements_of(edges), real=real, name=f"m1-{name.replace(' ', '-')}")
    found = missed(findings)
    written = {fact: f for fact, f in found.items() if bench.resolvable(f)}
    edge_of = {edge.id: edge for edge in edges}
    ours = score(edges, found)
    return Outcome(
        name=name,
        edges_count=len(edges),
        ours=ours,
        resolved=score(edges, written),
        found_count=len(found),
        resolved_count=len(written),
        wrong_direction_count=sum(_is_wrong_way(f, edge_of) for f in found.values()),
        date_errors_days=_date_errors_days(found, edge_of),
        false_labels=Counter(edge_of[fact].label for fact in found if edge_of[fact].truth is False),
        trivial=_trivial(bench, name, edges),
        worst=_worst(edges, found),
    )


def score(edges: Sequence[Edge], said: Mapping[str, Finding] | set[str]) -> Score:
    """Compare what was said with the labels."""
    counts = Score()
    for edge in edges:
        if edge.truth is not None:
            counts.add(edge.id in said, edge.truth)
    return counts


def _is_wrong_way(finding: Finding, edge_of: Mapping[str, Edge]) -> bool:
    by = edge_of.get(finding.by or "")
    return by is not None and edge_of[finding.fact].start > by.start


def _date_errors_days(found: Mapping[str, Finding], edge_of: Mapping[str, Edge]) -> list[float]:
    errors = []
    for fact, finding in found.items():
        follower = edge_of.get(edge_of[fact].next or "")
        if edge_of[fact].truth and follower is not None:
            error = abs(finding.invalid_at - follower.start) if finding.invalid_at else None
            errors.append(float("inf") if error is None else error.total_seconds() / _DAY_S)
    return errors


def _trivial(bench: Bench, name: str, edges: list[Edge]) -> dict[str, Score]:
    if name.endswith("text"):  # rules that look at relation names have none to look at
        by_name = {"newest": newest_wins(edges, by_slot)}
    else:
        set_name = "factconsolidation" if name.startswith("FC ") else name
        gold = bench.data.gold_cardinality(set_name, edges)
        single = [edge for edge in edges if gold[edge.true_name] == "single"]
        prefixed = [edge for edge in edges if has_seed_prefix(edge.name)]
        by_name = {
            "newest": newest_wins(edges, by_slot),
            "list": newest_wins(single, by_slot),
            "prefix": newest_wins(prefixed, by_slot),
        }
    rules = {
        **by_name,
        "any later": newest_wins(edges, by_subject),
        "regex": seed_cues(edges),
    }
    return {rule: score(edges, losers) for rule, losers in rules.items()}


def _worst(edges: Sequence[Edge], found: Mapping[str, Finding]) -> list[tuple[str, int, int]]:
    false: Counter[str] = Counter()
    absent: Counter[str] = Counter()
    for edge in edges:
        false[edge.name] += edge.truth is False and edge.id in found
        absent[edge.name] += edge.truth is True and edge.id not in found
    names = sorted(false, key=lambda name: (-false[name] - absent[name], name))
    return [(name, false[name], absent[name]) for name in names[:_WORST_COUNT]
            if false[name] + absent[name]]  # fmt: skip


def _f1_table(outcomes: Sequence[Outcome]) -> Table:
    table = Table(
        "M1 supersession: F1 beside the trivial rules",
        ["set", "facts", "precision", "recall", "F1", "newest wins", "any later fact",
         "newest + right list", "seed regex", "seed prefix"],
    )  # fmt: skip
    for o in outcomes:
        rules = ("newest", "any later", "list", "regex", "prefix")
        trivial = [o.trivial[rule].f1 if rule in o.trivial else None for rule in rules]
        table.add(o.name, o.edges_count, o.ours.precision, o.ours.recall, o.ours.f1, *trivial)
    table.add(
        "macro over five", None, None, None, macro({o.name: o.ours for o in outcomes}),
        *(
            macro({o.name: replace(o.trivial[rule]) for o in outcomes if rule in o.trivial})
            for rule in ("newest", "any later", "list", "regex", "prefix")
        ),
    )  # fmt: skip
    return table


def macro(scores: Mapping[str, Score]) -> float | None:
    """Mean F1 over the five sets that count; ``None`` unless all of them are there."""
    if not set(MACRO_SETS) <= scores.keys():
        return None
    return mean([scores[name].f1 for name in MACRO_SETS])


def _detail_table(outcomes: Sequence[Outcome]) -> Table:
    table = Table(
        "M1 supersession: direction, dates, and what --resolve would write",
        ["set", "found", "wrong direction", "date exact", "date off, days (mean)",
         "false: concurrent", "false: event", "false: last", "written", "written precision",
         "written / found"],
    )  # fmt: skip
    for o in outcomes:
        errors = o.date_errors_days
        table.add(
            o.name,
            o.found_count,
            o.wrong_direction_count,
            ratio(sum(error == 0 for error in errors), len(errors)),
            mean(errors),
            *(o.false_labels[label] for label in ("concurrent", "event", "last")),
            o.resolved_count,
            o.resolved.precision,
            ratio(o.resolved_count, o.found_count),
        )
    return table


def _worst_table(outcomes: Sequence[Outcome]) -> Table:
    table = Table("M1: relations with most errors", ["set", "relation", "false", "not found"])
    for o in outcomes:
        for name, false, absent in o.worst:
            table.add(o.name, name, false, absent)
    return table


def _bars(outcomes: Sequence[Outcome]) -> list[Bar]:
    of = {o.name: o for o in outcomes}
    bars = [Bar("M1 macro F1", macro({o.name: o.ours for o in outcomes}), 0.90)]
    bars += [
        Bar(f"M1 F1 {name}", of[name].ours.f1 if name in of else None, 0.84) for name in MACRO_SETS
    ]
    bars += [Bar(f"M1 F1 {n}", o.ours.f1, 0.99) for n, o in of.items() if n.endswith("clean")]
    found_any = any(o.found_count for o in outcomes)
    wrong = sum(o.wrong_direction_count for o in outcomes) if found_any else None
    bars.append(Bar("M1 wrong direction", wrong, 0, "at most"))
    for name, o in of.items():
        if name.endswith("text"):
            continue
        wanted = RESOLVE_BARS.get(name.split()[0], RESOLVE_BAR_ELSEWHERE)
        bars.append(Bar(f"M1 written precision {name}", o.resolved.precision, wanted))
        share = ratio(o.resolved_count, o.found_count)
        bars.append(Bar(f"M1 written / found {name}", share, 0.5))
    return bars
