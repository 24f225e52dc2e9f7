"""M6: two dated statements and nothing else. Does the newer one contradict the older?

A statement of which only the text is known stands in a graph as a fact that links an entity to
itself; the two are such facts of one person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from .baselines import CHANGE_CUES, SEED_CUE
from .data import MissingSet, Row, moment
from .engine import Bench, Statement
from .result import Bar, Measured, Score, Table, ratio

TITLE = "M6 text pairs"
SETS = ("longmemeval", "beam")
PRECISION_BAR, FALSE_FIRES_BAR = 0.6, 0.02
USER, SAID = "user", "SAID"
_OLD, _NEW = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
Rule = Callable[[Row], bool]


def measure(bench: Bench) -> Measured:
    """Both sets."""
    measured = Measured()
    table = Table(
        "M6 text pairs: does the newer statement contradict the older?",
        ["set and rule", "pairs", "true", "fires", "precision", "recall", "F1",
         "false fires / negatives"],
    )  # fmt: skip
    kinds = Table("M6 text pairs: share that fires, by kind", ["set and kind", "pairs", "truth",
                  "ours", "seed regex", "change cues"])  # fmt: skip
    measured.tables = [table, kinds]
    for name in SETS:
        try:
            pairs = bench.data.rows(name, "pairs")
        except MissingSet as reason:
            measured.skipped.append(f"{name}: {reason}")
            measured.bars += _bars(name, {})
            continue
        ours = {pair["id"]: _verdicts(bench, pair) for pair in pairs}
        rules: dict[str, Rule] = {
            "ours": lambda pair, ours=ours: "missed" in ours[pair["id"]],  # type: ignore[misc]
            "ours, with review": lambda pair, ours=ours: bool(ours[pair["id"]]),  # type: ignore[misc]
            "always": lambda pair: True,
            "seed regex": lambda pair: bool(SEED_CUE.search(pair["new"])),
            "change cues": lambda pair: bool(CHANGE_CUES.search(pair["new"])),
        }
        scores = {rule: score(pairs, says) for rule, says in rules.items()}
        for rule, s in scores.items():
            fires = s.hits + s.false
            table.add(f"{name}: {rule}", len(pairs), s.hits + s.missed, fires, s.precision,
                      s.recall, s.f1, ratio(s.false, s.false + s.passed))  # fmt: skip
        _add_kinds(kinds, name, pairs, rules)
        measured.bars += _bars(name, scores)
        if bench.details:
            measured.tables.append(_fired(name, pairs, rules["ours"]))
    return measured


def _verdicts(bench: Bench, pair: Row) -> set[str]:
    """Verdicts that say of the older statement that the newer one ends it, surely or perhaps."""
    times = [moment(pair[key]) if pair.get(key) else None for key in ("old_at", "new_at")]
    old_at, new_at = times[0] or _OLD, times[1] or _NEW
    findings = bench.findings(
        [
            Statement("old", USER, SAID, USER, pair["old"], (old_at,)),
            Statement("new", USER, SAID, USER, pair["new"], (new_at,)),
        ]
    )
    return {
        finding.verdict.replace("_", " ")
        for finding in findings
        if finding.fact == "old" and finding.verdict.replace("_", " ") in ("missed", "needs review")
    }


def score(pairs: Sequence[Row], says: Rule) -> Score:
    """Compare a rule with the labels."""
    counts = Score()
    for pair in pairs:
        counts.add(says(pair), bool(pair["label"]))
    return counts


def _add_kinds(table: Table, name: str, pairs: Sequence[Row], rules: Mapping[str, Rule]) -> None:
    for (kind, label), count in sorted(Counter((p["kind"], p["label"]) for p in pairs).items()):
        group = [pair for pair in pairs if (pair["kind"], pair["label"]) == (kind, label)]
        shares = (
            ratio(sum(map(rules[rule], group)), count)
            for rule in ("ours", "seed regex", "change cues")
        )
        table.add(f"{name}: {kind}", count, "contradicts" if label else "does not", *shares)


def _bars(name: str, scores: Mapping[str, Score]) -> list[Bar]:
    ours = scores.get("ours")
    if ours is None:
        return [Bar(f"M6 {name} precision", None, PRECISION_BAR)]
    others = [
        s.f1 or 0.0
        for rule, s in scores.items()
        if not rule.startswith("ours") and (s.precision or 0.0) >= PRECISION_BAR
    ]
    false_share = ratio(ours.false, ours.false + ours.passed)
    return [
        Bar(f"M6 {name} precision where it fires", ours.precision, PRECISION_BAR),
        Bar(f"M6 {name} false fires of the negatives", false_share, FALSE_FIRES_BAR, "at most"),
        Bar(f"M6 {name} F1 against trivial rules of that precision", ours.f1,
            max(others, default=0.0), "above"),
    ]  # fmt: skip


def _fired(name: str, pairs: Sequence[Row], says: Rule) -> Table:
    table = Table(f"M6 {name}: pairs on which ours fires", ["id", "kind", "label"])
    for pair in pairs:
        if says(pair):
            table.add(pair["id"], pair["kind"], pair["label"])
    return table
