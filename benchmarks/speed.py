"""What a consolidation costs, measured against the bare floor in the same run.

Builds Graphiti-shaped graphs in a private server, then measures, each as a process of its own:
the floor (reading the needed columns with raw commands and writing as many bytes as a first run
keeps), a first run with a ping beside it, a run with nothing new, and one with 1 % more episodes.
Prints one JSON line. CPU seconds of client and server decide the ratios: on a machine that does
other things too, wall time says little.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bench import CONSOLIDATE, Bench, Cost
from synthetic_graph import NOW

from synapse.store.embedded import EmbeddedServer

LATER = "2026-01-01T06:00:00Z"
"""When the next run comes: strengths have changed by then, what is kept has not."""

HELP_PAIRS_COUNT = 7
OUR_RUNS = ("first_run", "unchanged", "one_percent_more")
BARS = {
    "first_run_over_floor": ("at most", 2.5),
    "client_peak_mib": ("below", 700.0),
    "ping_p99_ms": ("below", 100.0),
    "unchanged_over_read_floor": ("at most", 1.5),
    "exponent": ("below", 1.15),
    "help_over_typer": ("at most", 2.0),
}


@dataclass
class Measured:
    """Everything measured on one graph."""

    entities_count: int
    graph: str
    counts: dict[str, int] = field(default_factory=dict)
    build_s: float = 0.0
    costs: dict[str, list[Cost]] = field(default_factory=dict)
    pings_ms: list[float] = field(default_factory=list)

    def add(self, name: str, cost: Cost) -> None:
        self.costs.setdefault(name, []).append(cost)
        say(f"  {name}: wall {cost.wall_s:.2f} s, CPU {cost.client_cpu_s:.2f} client + "
            f"{cost.server_cpu_s:.2f} server, peak {cost.peak_mib:.0f} MiB")  # fmt: skip

    def cpu_s(self, name: str) -> float:
        return median(cost.cpu_s for cost in self.costs[name])

    def wall_s(self, name: str) -> float:
        return median(cost.wall_s for cost in self.costs[name])

    def peak_mib(self, name: str) -> float:
        return max(cost.peak_mib for cost in self.costs[name])

    def work_s(self, name: str) -> float:
        """The stages of the run as it reports them, without the start of the process."""
        return median(sum(durations_s(cost).values()) for cost in self.costs[name])


def say(text: str) -> None:
    """Progress, for people."""
    print(text, file=sys.stderr, flush=True)


def durations_s(cost: Cost) -> dict[str, float]:
    """How long each stage of a consolidation took, from its summary."""
    found: dict[str, float] = json.loads(cost.output)["durations_s"]
    return found


def build_graph(bench: Bench, entities_count: int, options: Sequence[str]) -> Measured:
    """Build one graph unless it is there already."""
    graph = f"bench-{entities_count}" + "".join(option[1:] for option in options)
    measured = Measured(entities_count, graph)
    if not bench.client.exists(graph):
        say(f"building {graph}")
        measured.build_s = bench.fill("build", graph, entities_count, *options)
    measured.counts = bench.counts(graph)
    say(f"{graph}: {measured.counts}, built in {measured.build_s:.1f} s")
    return measured


def measure_graph(bench: Bench, measured: Measured, repeat: int, options: Sequence[str]) -> None:
    """Measure everything on one graph; in the end it has grown."""
    graph = measured.graph
    say(f"measuring {graph}")
    bench.consolidate(graph, NOW, "--dry-run")  # compiles, and brings everything into the caches
    form = faster_form(bench, graph)
    for _ in range(repeat):
        bench.forget(graph)
        measured.add("read_floor", bench.floor(graph, "--form", form))
        measured.add("floor", bench.floor(graph, "--form", form, "--write"))
        bench.forget(graph)
        with bench.pinging(measured.pings_ms):
            measured.add("first_run", bench.consolidate(graph, NOW))
        before = bench.revision(graph)
        unchanged = bench.consolidate(graph, LATER)
        require_nothing_written(unchanged, before, bench.revision(graph))
        measured.add("unchanged", unchanged)
    bench.fill("grow", graph, measured.entities_count, *options)
    measured.add("one_percent_more", bench.consolidate(graph, LATER))
    bench.forget(graph)


def faster_form(bench: Bench, graph: str) -> str:
    """Rows or joined columns, whichever costs less here."""
    costs = {form: bench.floor(graph, "--form", form).cpu_s for form in ("rows", "joined")}
    say("  floor: " + ", ".join(f"{form} {cpu_s:.2f} s" for form, cpu_s in costs.items()))
    return min(costs, key=costs.__getitem__)


def require_nothing_written(cost: Cost, before: bytes | None, after: bytes | None) -> None:
    """A run over an unchanged graph leaves the room as it was, and says so."""
    wrote = json.loads(cost.output)["wrote"]
    if before is None or before != after or any(wrote.values()):
        raise SystemExit(f"nothing was new, but revision {before!r} became {after!r}: {wrote}")


def help_over_typer(bench: Bench) -> dict[str, float]:
    """``--help`` beside ``import typer``, in pairs."""
    pairs = [
        (bench.run(str(CONSOLIDATE), "--help"), bench.run("-c", "import typer"))
        for _ in range(HELP_PAIRS_COUNT)
    ]
    return {
        "help_s": round(median(ours.wall_s for ours, _ in pairs), 3),
        "typer_s": round(median(typer.wall_s for _, typer in pairs), 3),
        "wall_ratio": round(median(ours.wall_s / typer.wall_s for ours, typer in pairs), 3),
        "cpu_ratio": round(
            median(ours.client_cpu_s / typer.client_cpu_s for ours, typer in pairs), 3
        ),
    }


def graph_report(measured: Measured) -> dict[str, Any]:
    """One entry of ``graphs``."""
    report: dict[str, Any] = {**measured.counts, "build_s": round(measured.build_s, 1)}
    for name, costs in measured.costs.items():
        report[name] = {
            "wall_s": round(measured.wall_s(name), 3),
            "cpu_s": round(measured.cpu_s(name), 3),
            "client_cpu_s": round(median(cost.client_cpu_s for cost in costs), 3),
            "server_cpu_s": round(median(cost.server_cpu_s for cost in costs), 3),
            "peak_mib": round(measured.peak_mib(name), 1),
        }
        if costs[0].output:
            stages = [durations_s(cost) for cost in costs]
            report[name]["stages_s"] = {
                k: round(median(s[k] for s in stages), 3) for k in stages[0]
            }
    report["missed_ratio"] = missed_ratio(measured)
    report["ping_ms"] = ping_report(measured.pings_ms)
    report["ratios"] = ratios(measured)
    return report


def missed_ratio(measured: Measured) -> float:
    """Share of the facts that another one contradicts and nobody has ended: work to be found."""
    found = json.loads(measured.costs["first_run"][0].output)["contradictions"]
    return round(found["missed"] / measured.counts["facts"], 4)


def ping_report(pings_ms: Sequence[float]) -> dict[str, float]:
    """Percentiles of all answers."""
    cuts = quantiles(pings_ms, n=100, method="inclusive")
    return {
        "count": len(pings_ms),
        "p50": round(cuts[49], 2),
        "p99": round(cuts[98], 2),
        "max": round(max(pings_ms), 2),
    }


def ratios(measured: Measured) -> dict[str, float]:
    """Runs over their floors: of CPU seconds, and of wall time to look at."""
    pairs = {
        "first_run_over_floor": ("first_run", "floor"),
        "unchanged_over_read_floor": ("unchanged", "read_floor"),
        "one_percent_more_over_first_run": ("one_percent_more", "first_run"),
    }
    found = {}
    for name, (ours, theirs) in pairs.items():
        # Neighbours in time share what else the machine does: ratios first, then the median.
        both = list(zip(measured.costs[ours], measured.costs[theirs], strict=False))
        found[name] = round(median(o.cpu_s / t.cpu_s for o, t in both), 3)
        found[f"{name}_wall"] = round(median(o.wall_s / t.wall_s for o, t in both), 3)
    return found


def exponents(small: Measured, large: Measured) -> dict[str, float]:
    """b in cost = a · entities^b for a first run: of its stages, and of all CPU seconds."""
    growth = math.log(large.entities_count / small.entities_count)
    work = math.log(large.work_s("first_run") / small.work_s("first_run")) / growth
    cpu = math.log(large.cpu_s("first_run") / small.cpu_s("first_run")) / growth
    return {"work": round(work, 3), "cpu": round(cpu, 3)}


def judged(values: dict[str, float]) -> dict[str, dict[str, Any]]:
    """Each value beside its bar."""
    bars = {}
    for name, value in values.items():
        kind, bar = BARS[name]
        met = value < bar if kind == "below" else value <= bar
        bars[name] = {"value": value, "bar": bar, "met": met}
        if not met:
            say(f"missed: {name} is {value:g}, the bar is {kind} {bar:g}")
    return bars


def measure(
    bench: Bench, sizes: Sequence[int], repeat: int, options: Sequence[str]
) -> dict[str, Any]:
    """Everything, as the object that is printed."""
    graphs = [build_graph(bench, size, options) for size in sizes]
    bench.client.save()  # a folder that is kept holds the graphs as they were built
    for measured in graphs:
        measure_graph(bench, measured, repeat, options)
    start = help_over_typer(bench)
    largest = graph_report(graphs[-1])
    reports = [*map(graph_report, graphs[:-1]), largest]
    values = {
        "first_run_over_floor": largest["ratios"]["first_run_over_floor"],
        "client_peak_mib": max(largest[run]["peak_mib"] for run in OUR_RUNS),
        "ping_p99_ms": largest["ping_ms"]["p99"],
        "unchanged_over_read_floor": largest["ratios"]["unchanged_over_read_floor"],
        "help_over_typer": start["wall_ratio"],
    }
    growth = exponents(graphs[0], graphs[-1]) if len(graphs) > 1 else {}
    if growth:
        values["exponent"] = max(growth.values())
    return {
        "benchmark": "speed",
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "repeat": repeat,
        "options": list(options),
        "graphs": reports,
        "exponent": growth,
        "help": start,
        "bars": judged(values),
    }


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--entities", type=int, default=100_000, help="measure a tenth, and this")
    parser.add_argument("--sizes", help="measure these numbers of entities, such as 300,3000")
    parser.add_argument("--repeat", type=int, default=3, help="take the median of so many")
    parser.add_argument("--embeddings", action="store_true", help="store vectors of 384 floats")
    parser.add_argument("--harsh", action="store_true", help="contradict one fact in seven")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep and reuse the graphs")
    return parser.parse_args()


def main() -> None:
    """Measure and print one JSON line; a bar that is missed is a result, not a failure."""
    asked = arguments()
    sizes = [
        int(size) for size in (asked.sizes or f"{asked.entities // 10},{asked.entities}").split(",")
    ]
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("SYNAPSE_", "FALKORDB_"))}
    with (
        tempfile.TemporaryDirectory(prefix="synapse-bench-") as folder,
        # Without persistence: what is measured is the work, not the disk.
        EmbeddedServer(asked.keep or folder, ["--appendonly", "no"]) as server,
    ):
        server_bench = Bench(server, inherited)
        server_bench.client.config_set("appendonly", "no")  # taking a dump over turns it on
        options = [f"--{name}" for name in ("embeddings", "harsh") if getattr(asked, name)]
        found = measure(server_bench, sorted(sizes), asked.repeat, options)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
