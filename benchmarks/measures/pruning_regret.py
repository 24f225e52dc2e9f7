"""M7: is what will be needed again still there?

(a) Facts of long dialogues, and questions about them with their evidence: rank all facts by the
order in which they would go, keep the best part, and see how much of the evidence is held; and how
much of it the default policy takes. (b) How old evidence is, against the age at which a memory
becomes weak. (c) Event streams: at five moments keep the stronger half of the items, and count
those of the other half that are touched again later; by strength, and by the order of pruning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from synapse.hippocampus.caps import BUDGET_DAYS
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.forgetting import ForgettingCurve
from synapse.hippocampus.model import Ints
from synapse.hippocampus.stages import Thoughts
from synapse.store.memory import InMemoryStore

from .data import MissingSet, moment
from .dialogues import Dialogue, dialogues
from .engine import GRAPH, Bench
from .event_streams import SECONDS_PER_DAY, Stream, area_under_curve, kept_half, streams
from .result import Bar, Measured, Table, mean

TITLE = "M7 pruning regret"
LATER_DAYS = (1, 90, 180, 365)
RUN_EVERY_DAYS = 7
MAX_LOST = 0.05
CUTS = (0.4, 0.5, 0.6, 0.7, 0.8)
MAX_BEHIND_LAST_TOUCH = 0.02
RANDOM_SEEDS_COUNT = 20

BASELINES: dict[str, Callable[[Sequence[float], float], float]] = {
    "last touch": lambda touched, now: touched[-1],
    "created": lambda touched, now: touched[0],
    "frequency": lambda touched, now: float(len(touched)),
    "ACT-R sum": lambda touched, now: sum(max(now - t, 1 / 24) ** -0.5 for t in touched),
}
"""Touches of one item in days, oldest first, and the present: the higher, the longer it stays."""
ORDERS = ("salience times share", "salience alone", "random")
RIVALS = ("last touch", "frequency", "ACT-R sum")


def measure(bench: Bench) -> Measured:
    """The three parts."""
    measured = Measured()
    for name, part in (("M7a", _dialogues), ("M7b", _evidence_age), ("M7c", _streams)):
        try:
            part(bench, measured)
        except MissingSet as reason:
            measured.skipped.append(f"{name}: {reason}")
    known = {bar.name for bar in measured.bars}
    absent = {"M7a area above longest text": "above", "M7c mean regret": "at most"}
    measured.bars += [Bar(n, None, 0.0, k) for n, k in absent.items() if n not in known]  # type: ignore[arg-type]
    return measured


def _dialogues(bench: Bench, measured: Measured) -> None:
    found = dialogues(bench.data)
    table = Table(
        "M7a dialogues: mean share of the evidence held when the best 10 to 90 % of facts are kept",
        [
            "conversation",
            "facts",
            "ours",
            "longest text",
            "newest",
            "strength alone",
            "random",
            "share alone",
            "salience alone",
        ],
    )
    for dialogue in found:
        standing = dialogue.standing(bench.config, dialogue.end(1))
        first = len(standing.outline.entity_uuids)
        random = [
            dialogue.area(np.random.default_rng(seed).random(len(dialogue.facts)))
            for seed in range(RANDOM_SEEDS_COUNT)
        ]
        table.add(
            dialogue.name,
            len(dialogue.facts),
            dialogue.area(standing.worth[first:]),
            dialogue.area(np.array([float(len(row["fact"])) for row in dialogue.facts])),
            dialogue.area(np.array([moment(r["valid_at"]).timestamp() for r in dialogue.facts])),
            dialogue.area(standing.strength[first:]),
            float(np.mean(random)),
            dialogue.area(standing.kept.share[first:]),
            dialogue.area(standing.importance[first:]),
        )
    areas = [mean([float(row[i] or 0) for row in table.rows]) for i in range(2, 9)]
    table.add("mean", sum(len(dialogue.facts) for dialogue in found), *areas)
    measured.tables += [table, _policy(bench, found, measured)]
    measured.bars.append(Bar("M7a area above longest text", areas[0], areas[1] or 0.0, "above"))


def _policy(bench: Bench, found: Sequence[Dialogue], measured: Measured) -> Table:
    table = Table(
        f"M7a default policy, nobody asks for anything: share of facts, and of evidence lost; one "
        f"run after so many days, or a run every {RUN_EVERY_DAYS} days until then",
        ["days after the end", "weak", "lost if all weak went", "one run takes", "lost by it",
         "all runs take", "lost by them"],
    )  # fmt: skip
    for days in LATER_DAYS:
        rows = [_policy_row(dialogue, bench.config, days) for dialogue in found]
        means = [mean(column) for column in zip(*rows, strict=True)]
        table.add(str(days), *means)
        name = f"M7a evidence lost by one run {days} days after the end"
        measured.bars.append(Bar(name, means[3], MAX_LOST, "at most"))
    return table


def _policy_row(dialogue: Dialogue, config: HippocampusConfig, days: int) -> list[float]:
    standing = dialogue.standing(config, dialogue.end(days))
    first = len(standing.outline.entity_uuids)
    weak = np.flatnonzero(standing.strength[first:] < config.prune_below)
    once = standing.pruning.ranked_candidates
    once = once[once >= first] - first
    gone = _gone_after_many_runs(dialogue, config, days)
    row = []
    for rows in (weak, once, gone):
        row += [len(rows) / len(dialogue.facts), dialogue.lost_without(rows)]
    return row


def _gone_after_many_runs(dialogue: Dialogue, config: HippocampusConfig, days: int) -> Ints:
    left = np.arange(len(dialogue.facts))
    taken_count: dict[int, int] = {}
    for day in range(days, 0, -RUN_EVERY_DAYS)[::-1]:
        of_late = sum(count for at, count in taken_count.items() if day - at < BUDGET_DAYS)
        standing = dialogue.standing(config, dialogue.end(day), left, of_late)
        rows = standing.pruning.ranked_candidates - len(standing.outline.entity_uuids)
        left = np.delete(left, rows[rows >= 0])
        taken_count[day] = int((rows >= 0).sum())
    return np.setdiff1d(np.arange(len(dialogue.facts)), left)


def _evidence_age(bench: Bench, measured: Measured) -> None:
    rows = bench.data.rows("longmemeval", "evidence_age")
    ages_days = [row["age_days"] for row in rows if row["evidence"]]
    curve = ForgettingCurve(bench.config.forgetting)
    table = Table(
        "M7b age of evidence: share that is older than an untouched memory is kept",
        ["salience", "days until weak", "evidence older"],
    )
    for salience in (0.0, 0.35, 0.5, 0.86):
        days = float(curve.days_until(bench.config.prune_below, salience))
        table.add(str(salience), days, float(np.mean([age > days for age in ages_days])))
    measured.tables.append(table)


def _streams(bench: Bench, measured: Measured) -> None:
    table = Table(
        "M7c event streams: share of the items touched again that the better half leaves out "
        "(area under the curve below)",
        ["stream", "events", "ours", *BASELINES],
    )
    areas = Table("M7c area under the curve", table.columns)
    order = Table("M7c order of pruning: area under the curve", ["stream", "events", *ORDERS])
    for stream in streams(bench.data):
        rows = [_at_cut(stream, int(cut * len(stream.items)), bench.config) for cut in CUTS]
        regret, area = zip(*(zip(*row, strict=True) for row in rows if row), strict=True)
        regrets, under = ([*map(mean, zip(*part, strict=True))] for part in (regret, area))
        table.add(stream.name, len(stream.items), *regrets[: -len(ORDERS)])
        areas.add(stream.name, len(stream.items), *under[: -len(ORDERS)])
        order.add(stream.name, len(stream.items), *under[-len(ORDERS) :])
    columns = {name: i for i, name in enumerate(table.columns)}
    ours = [float(row[2] or 0.0) for row in table.rows]
    means = [mean([float(row[i] or 0) for row in table.rows]) for i in range(2, len(columns))]
    best = min(float(means[columns[name] - 2] or 0.0) for name in RIVALS)
    behind = max(mine - float(row[3] or 0.0) for mine, row in zip(ours, table.rows, strict=True))
    table.add("mean", sum(int(row[1] or 0) for row in table.rows), *means)
    measured.tables += [table, areas, order]
    measured.bars += [
        Bar("M7c mean regret", means[0], best, "at most"),
        Bar("M7c behind last touch, worst stream", behind, MAX_BEHIND_LAST_TOUCH, "at most"),
    ]


def _at_cut(
    stream: Stream, events_count: int, config: HippocampusConfig
) -> list[tuple[float, float | None]]:
    """Regret and area under the curve: ours, then the baselines, then the orders of pruning."""
    history = stream.history(events_count)
    items, later = sorted(history), stream.later(events_count)
    is_needed = np.array([item in later for item in items])
    if not is_needed.any():
        return []
    now_days = stream.times_s[events_count - 1] / SECONDS_PER_DAY
    store = InMemoryStore()
    store.write_memory(GRAPH, stream.document(events_count))
    graph = store.read_graph(GRAPH)
    standing = Thoughts(graph, now_days * SECONDS_PER_DAY, config).standing
    row = {uuid: i for i, uuid in enumerate(graph.memory_uuids)}
    rows = [row[item] for item in items]
    scores = [standing.strength[rows].tolist()]
    scores += [[score(history[item], now_days) for item in items] for score in BASELINES.values()]
    scores += [standing.worth[rows].tolist(), standing.importance[rows].tolist()]
    scores.append(np.random.default_rng(0).random(len(items)).tolist())
    return [
        (
            float((is_needed & ~kept_half(score)).sum() / is_needed.sum()),
            area_under_curve(score, is_needed),
        )
        for score in scores
    ]
