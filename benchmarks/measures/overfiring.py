"""M11: real Graphiti graphs. How much would be invalidated, and what of earlier invalidations?

Hardly anything in these graphs should be: most of their facts are events. The audit is compared
with the judgement of people on the invalidations that an LLM had made.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

import redis

from synapse.hippocampus.consolidation import Run
from synapse.hippocampus.ports import GraphDocument, MemoryStore
from synapse.store import open_store
from synapse.store.embedded import EmbeddedServer

from .data import MissingSet, Row, moment, read_lines
from .engine import Bench, Finding, day_after, findings_of, missed, real_graphs
from .relations import relation_table
from .result import Bar, Measured, Table, ratio

TITLE = "M11 over-firing"
NEW_PER_HUNDRED_BAR, WRONG_DOUBTFUL_BAR = 2.0, 0.8
KINDS = ("single", "multi", "event", "mixed", "unknown")
_JUDGED = {1: "right", 0: "wrong", None: "unclear"}


@dataclass(frozen=True)
class Opened:
    """A real graph on a server of its own."""

    store: MemoryStore
    uri: str
    graph: str

    def digest(self) -> str:
        """Changes when any node, edge or property of the graph does."""
        rows: list[str] = []
        client: Any = redis.Redis.from_url(self.uri)
        with closing(client):
            for query in ("MATCH (n) RETURN n", "MATCH ()-[e]->() RETURN e"):
                reply = client.execute_command("GRAPH.RO_QUERY", self.graph, query)
                rows += sorted(map(repr, reply[1]))
        return hashlib.blake2b("\n".join(rows).encode(), digest_size=8).hexdigest()


def measure(bench: Bench) -> Measured:
    """Every real graph of the folder, from its dump where there is one."""
    measured = Measured()
    try:
        graphs = real_graphs(bench.data)
    except MissingSet as reason:
        measured.skipped.append(str(reason))
        return measured
    fired = Table(
        "M11 over-firing: facts newly invalidated per 100, by kind of relation",
        ["graph and rule", "facts", "new per 100", *KINDS],
    )
    audit = Table(
        "M11 audit of the invalidations that are already there",
        ["graph, judged", "facts", "doubtful", "superseded", "no finding"],
    )
    runs = Table(
        "M11 runs on the real graph",
        ["graph", "dry run leaves the graph", "second run changes", "second --resolve changes"],
    )
    measured.tables = [fired, audit, runs]
    for name, exported in graphs.items():
        with _opened(bench.data.folder / "graphiti_real" / f"{name}.rdb", exported, name) as opened:
            now = day_after(exported)
            findings = _checked_runs(bench, opened, now, name, measured, runs)
            kinds = _kinds(bench, opened, exported, now)
        _count_fired(bench, name, exported.facts, kinds, findings, measured, fired)
        _compare_audit(bench, name, findings, measured, audit)
    return measured


@contextmanager
def _opened(dump: Path, exported: GraphDocument, name: str) -> Iterator[Opened]:
    with tempfile.TemporaryDirectory(prefix="synapse-quality-") as folder:
        if dump.is_file():
            shutil.copy(dump, Path(folder) / "dump.rdb")
        with (
            EmbeddedServer(folder) as server,
            closing(open_store(server.uri)) as store,
        ):
            if not dump.is_file():
                store.write_memory(name, exported)
            graphs = store.graphs()
            sizes = {graph: len(store.read_graph(graph).facts) for graph in graphs}
            yield Opened(store, server.uri, max(sizes, key=sizes.__getitem__))


def _checked_runs(
    bench: Bench, opened: Opened, now: datetime, name: str, measured: Measured, table: Table
) -> list[Finding]:
    """What a first run finds; then whether dry runs and second runs keep their promises."""

    def run(**options: Any) -> Any:
        return bench.batch(opened.store, opened.graph, now, **options)

    before = opened.digest()
    first = run(dry_run=True)
    is_same = opened.digest() == before
    run()
    second = sum(run().report.wrote.model_dump().values()) + (opened.digest() != before)
    again: int | None = None
    if any(field.name == "resolve" for field in fields(Run)):
        run(resolve=True)
        resolved = opened.digest()
        # What was resolved may count as a correction from now on: only the graph must stay.
        wrote = run(resolve=True).report.wrote
        again = wrote.invalidated + (opened.digest() != resolved)
    else:
        measured.skipped.append(f"{name}: the product has no --resolve yet: not available")
    table.add(name, "as it was" if is_same else "CHANGED", second, again)
    measured.bars += [
        Bar(f"M11 {name}: dry run leaves the graph identical", float(is_same), 1),
        Bar(f"M11 {name}: second run changes", second, 0, "at most"),
        Bar(f"M11 {name}: second --resolve changes", again, 0, "at most"),
    ]
    return findings_of(first)


def _kinds(bench: Bench, opened: Opened, exported: GraphDocument, now: datetime) -> dict[str, str]:
    """Kind of each relation: as judged, else as the product takes it."""
    table = relation_table(bench.config, opened.store.read_graph(opened.graph), now)
    names = {fact["name"] for fact in exported.facts}
    kinds = {name: table.cardinality(name) if table else "unknown" for name in names}
    try:
        judged = {row["name"]: row["gold"] for row in bench.data.judged_relations}
    except MissingSet:
        judged = {}
    return {name: judged.get(name, kind) for name, kind in kinds.items()}


def _count_fired(
    bench: Bench, name: str, facts: Sequence[Row], kinds: Mapping[str, str],
    findings: Sequence[Finding], measured: Measured, table: Table,
) -> None:  # fmt: skip
    found = missed(findings)
    written = {fact for fact, finding in found.items() if bench.resolvable(finding)}
    rules: dict[str, set[str]] = {
        "ours": set(found),
        "ours, written by --resolve": written,
        "newest wins per source and relation": _newest_wins(facts, "name"),
        "newest wins per pair, other text": _newest_wins(facts, "target_node_uuid", "fact"),
        "right list, per source and relation": _newest_wins(
            [fact for fact in facts if kinds[fact["name"]] == "single"], "name"
        ),
    }
    name_of = {fact["uuid"]: fact["name"] for fact in facts}
    for rule, losers in rules.items():
        counts = Counter(kinds[name_of[uuid]] for uuid in losers if uuid in name_of)
        shares = [100.0 * counts[kind] / len(facts) for kind in KINDS]
        table.add(f"{name}: {rule}", len(facts), 100.0 * len(losers) / len(facts), *shares)
    on_events = sum(kinds[name_of[uuid]] == "event" for uuid in found if uuid in name_of)
    measured.bars += [
        Bar(f"M11 {name}: new invalidations per 100", 100.0 * len(found) / len(facts),
            NEW_PER_HUNDRED_BAR, "at most"),
        Bar(f"M11 {name}: on events", on_events, 0, "at most"),
    ]  # fmt: skip


def _newest_wins(facts: Sequence[Row], key: str, differs: str | None = None) -> set[str]:
    """Facts that have a later one of the same source and ``key``; of two that begin together the
    one further down is later. With ``differs`` only another value there counts."""
    later: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    losers = set()
    newest_first = sorted(enumerate(facts), key=lambda item: (_start(item[1]), item[0]))[::-1]
    for _, fact in newest_first:
        values = later[fact["source_node_uuid"], fact[key]]
        value = fact[differs] if differs else fact["uuid"]
        if values - {value}:
            losers.add(fact["uuid"])
        values.add(value)
    return losers


def _start(fact: Row) -> datetime:
    return moment(fact.get("valid_at") or fact["created_at"])


def _compare_audit(
    bench: Bench, name: str, findings: Sequence[Finding], measured: Measured, table: Table
) -> None:
    file = bench.data.folder / "graphiti_real" / "judged_invalidations.jsonl"
    if not file.is_file():
        measured.skipped.append(f"{name}: {file.name} is not there")
        return
    verdict_of = {finding.fact: finding.verdict for finding in findings}
    groups: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in read_lines(file):
        if row["graph"] == name:
            verdict = verdict_of.get(row["uuid"], "no finding")
            groups[_JUDGED[row["judged"]]][verdict] += 1
    for judged in ("right", "unclear", "wrong"):
        counts = groups[judged]
        verdicts = (counts[verdict] for verdict in ("doubtful", "superseded", "no finding"))
        table.add(f"{name}, {judged}", counts.total(), *verdicts)
    wrong, right = groups["wrong"], groups["right"]
    if not right.total():
        measured.notes.append(
            f"{name} holds no invalidation that was judged right: whether right ones are left "
            "alone cannot be measured there"
        )
    measured.bars += [
        Bar(f"M11 {name}: wrong ones that are doubtful", ratio(wrong["doubtful"], wrong.total()),
            WRONG_DOUBTFUL_BAR),
        Bar(f"M11 {name}: right ones that are doubtful",
            right["doubtful"] if right.total() else None, 0, "at most"),
    ]  # fmt: skip
