"""How good Synapse's judgement is, measured on published data without any LLM.

Each measure runs the shipped engine over one kind of data and prints, beside ours, what trivial
rules score in the same run. A set that the folder lacks is named and left out.

    python benchmarks/quality.py --data DIR [--split dev|heldout] [--only M1,M5] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from measures import (
    answers,
    capabilities,
    cardinality,
    co_activation,
    current_state,
    curves,
    gate,
    overfiring,
    pruning_regret,
    supersession,
    text_pairs,
    told,
)
from measures.data import DataFolder
from measures.engine import Bench
from measures.relations import only_evidence
from measures.result import Measured

from synapse.settings import load_settings

MEASURES: dict[str, tuple[str, Callable[[Bench], Measured]]] = {
    "M1": (supersession.TITLE, supersession.measure),
    "M2": (cardinality.TITLE, cardinality.measure),
    "M3": (answers.TITLE, answers.measure),
    "M4": (current_state.TITLE, current_state.measure),
    "M5": (capabilities.TITLE, capabilities.measure),
    "M6": (text_pairs.TITLE, text_pairs.measure),
    "M7": (pruning_regret.TITLE, pruning_regret.measure),
    "M8": (curves.TITLE, curves.measure),
    "M9": (co_activation.TITLE, co_activation.measure),
    "M11": (overfiring.TITLE, overfiring.measure),
    "M12": (gate.TITLE, gate.measure),
    "M13": (told.TITLE, told.measure),
}


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="evaluation data")
    parser.add_argument("--split", choices=("dev", "heldout"), default="dev")
    parser.add_argument("--only", default=",".join(MEASURES), metavar="M1,M2", help="measures")
    parser.add_argument("--all", action="store_true", help="M1 also on FC 64k and 262k")
    parser.add_argument("--json", action="store_true", help="print one JSON line")
    parser.add_argument("--details", action="store_true", help="list errors one by one")
    parser.add_argument("--config", type=Path, metavar="F", help="configuration (synapse.toml)")
    parser.add_argument(
        "--evidence", choices=("both", "words", "graph"), default="both",
        help="what may decide how many values a relation holds, for comparison",
    )  # fmt: skip
    asked = parser.parse_args(argv)
    asked.only = [name.strip().upper() for name in asked.only.split(",")]
    unknown = sorted(set(asked.only) - set(MEASURES))
    if unknown:
        parser.error(f"no such measure: {', '.join(unknown)}; there are {', '.join(MEASURES)}")
    if not asked.data.is_dir():
        parser.error(f"there is no folder {asked.data}")
    return asked


def run(asked: argparse.Namespace) -> dict[str, Any]:
    """Every measure that is asked for; prints each as soon as it is done, unless as JSON."""
    config = load_settings(asked.config).hippocampus
    measures: dict[str, Any] = {}
    data = DataFolder(asked.data, asked.split)
    with (
        only_evidence(asked.evidence),
        Bench(data, config, all_sizes=asked.all, details=asked.details) as bench,
    ):
        for name in asked.only:
            title, measure = MEASURES[name]
            started = perf_counter()
            measured = measure(bench)
            seconds = round(perf_counter() - started, 1)
            measures[name] = {"title": title, "seconds": seconds, **measured.as_dict()}
            if asked.json:
                print(f"{title}: {seconds} s", file=sys.stderr, flush=True)
            else:
                print(f"\n=== {title} ({seconds} s)\n\n{measured.text()}", flush=True)
    bars = [bar for measure in measures.values() for bar in measure["bars"]]
    return {
        "benchmark": "quality",
        "data": str(asked.data),
        "split": asked.split,
        "evidence": asked.evidence,
        "config_digest": config.digest,
        "measures": measures,
        "bars": {
            "met": sum(bar["met"] is True for bar in bars),
            "missed": [bar["name"] for bar in bars if bar["met"] is False],
            "not_available": [bar["name"] for bar in bars if bar["met"] is None],
        },
    }


def main() -> None:
    """Measure and print; a bar that is missed is a result, not a failure."""
    asked = arguments()
    found = run(asked)
    if asked.json:
        print(json.dumps(found))
        return
    bars = found["bars"]
    print(f"\n=== Bars: {bars['met']} met, {len(bars['missed'])} missed, "
          f"{len(bars['not_available'])} not available")  # fmt: skip
    for name in bars["missed"]:
        print(f"missed: {name}")
    for name in bars["not_available"]:
        print(f"not available: {name}")


if __name__ == "__main__":
    main()
