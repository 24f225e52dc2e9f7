"""M5: pairs of facts by capability. Which of the two is wrong now: the first, the second, none?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from .baselines import SEED_CUE, seed_cue_names
from .data import MissingSet, Row, moment
from .engine import Bench, Statement, missed
from .result import Bar, Measured, Score, Table, mean, ratio

TITLE = "M5 capabilities"
MACRO_BAR, CATEGORY_BAR = 0.88, 0.5
Rule = Callable[[Row], str]


def measure(bench: Bench) -> Measured:
    """Macro accuracy over the categories, and each category."""
    measured = Measured()
    try:
        pairs = bench.data.rows("challenge", "pairs")
    except MissingSet as reason:
        measured.skipped.append(str(reason))
        return measured
    ours = {pair["id"]: decision(bench, pair) for pair in pairs}
    rules: dict[str, Rule] = {
        "ours": lambda pair: ours[pair["id"]],
        "never": lambda pair: "none",
        "newest valid_at wins": _newest_wins,
        "last arrival wins": lambda pair: "first" if _same_slot(pair) else "none",
        "seed regex anywhere": _regex_anywhere,
        "seed regex before the old object": _regex_before,
    }
    summary = Table("M5 capabilities: three-way decision", ["rule", "macro accuracy", "F1"])
    accuracy = {name: by_category(pairs, rule) for name, rule in rules.items()}
    for name, rule in rules.items():
        summary.add(name, mean(list(accuracy[name].values())), f1(pairs, rule))
    measured.tables = [summary, _category_table(pairs, accuracy)]
    if bench.details:
        measured.tables.append(_errors(pairs, ours))
    worst = min((a for a in accuracy["ours"].values() if a is not None), default=None)
    measured.bars = [
        Bar("M5 macro accuracy", mean(list(accuracy["ours"].values())), MACRO_BAR),
        Bar("M5 worst category", worst, CATEGORY_BAR),
    ]
    return measured


def decision(bench: Bench, pair: Row) -> str:
    """What the product would invalidate in a graph of just these two facts."""
    losers = [fact.rsplit("-", 1)[1] for fact in missed(bench.findings(both(pair)))]
    return "both" if len(losers) > 1 else losers[0] if losers else "none"


def both(pair: Row, subject_key: str = "") -> list[Statement]:
    """The two facts of a pair in the order of their arrival."""
    times = {part: moment(pair[part]["valid_at"]) for part in ("first", "second")}
    arrived = {"first": times["first"], "second": max(times.values())}
    return [
        Statement(
            id=f"{pair['id']}-{part}",
            subject=pair[part]["subject"],
            name=pair[part]["name"],
            object=pair[part]["object"],
            text=pair[part]["fact"],
            said_at=(times[part],),
            created_at=arrived[part],
            subject_key=subject_key,
        )
        for part in ("first", "second")
    ]


def by_category(pairs: Sequence[Row], rule: Rule) -> dict[str, float | None]:
    """Share of right decisions in each category."""
    groups: defaultdict[str, list[bool]] = defaultdict(list)
    for pair in pairs:
        groups[pair["category"]].append(rule(pair) == pair["expect"])
    return {name: ratio(sum(group), len(group)) for name, group in sorted(groups.items())}


def f1(pairs: Sequence[Row], rule: Rule) -> float | None:
    """F1 of naming a loser: right only if it is the right one."""
    score = Score()
    for pair in pairs:
        said, expect = rule(pair), pair["expect"]
        score.hits += said == expect != "none"
        score.false += said not in ("none", expect)
        score.missed += expect not in ("none", said)
    return score.f1


def _same_slot(pair: Row) -> bool:
    first, second = pair["first"], pair["second"]
    same = all(first[key] == second[key] for key in ("subject", "name"))
    return same and bool(first["object"] != second["object"])


def _newest_wins(pair: Row) -> str:
    first, second = (moment(pair[part]["valid_at"]) for part in ("first", "second"))
    if not _same_slot(pair) or first == second:
        return "none"
    return "first" if first < second else "second"


def _regex_anywhere(pair: Row) -> str:
    return "first" if SEED_CUE.search(pair["second"]["fact"]) else "none"


def _regex_before(pair: Row) -> str:
    says = seed_cue_names(pair["second"]["fact"], pair["first"]["object"])
    return "first" if says else "none"


def _category_table(pairs: Sequence[Row], accuracy: dict[str, dict[str, float | None]]) -> Table:
    table = Table("M5 capabilities: accuracy by category", ["category", "pairs", "expect",
                  *accuracy])  # fmt: skip
    for category in accuracy["ours"]:
        group = [pair for pair in pairs if pair["category"] == category]
        expect = "/".join(sorted({pair["expect"] for pair in group}))
        table.add(category, len(group), expect, *(of[category] for of in accuracy.values()))
    return table


def _errors(pairs: Sequence[Row], ours: dict[str, str]) -> Table:
    table = Table("M5: pairs that ours gets wrong",
                  ["category", "expect", "ours", "first", "second"])  # fmt: skip
    for pair in pairs:
        said = ours[pair["id"]]
        if said != pair["expect"]:
            facts = (pair[part]["fact"] for part in ("first", "second"))
            table.add(pair["category"], pair["expect"], said, *facts)
    return table
