"""The product as its users run it: a memory is written, one batch runs, its findings are read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.consolidation import ConsolidationEngine, Outcome, Run
from synapse.hippocampus.full_report import full_report
from synapse.hippocampus.ports import GraphDocument, MemoryStore
from synapse.hippocampus.scope import Scope
from synapse.store import open_store
from synapse.store.embedded import EmbeddedServer
from synapse.store.memory import InMemoryStore

from .data import DataFolder, Edge, MissingSet, moment, read_lines
from .relations import Evidence, RelationTable, relation_table

GRAPH = "quality"
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact as an extractor would hand it over; entities are known by their names."""

    id: str
    subject: str
    name: str
    object: str
    text: str
    said_at: tuple[datetime, ...]
    """Moments at which it was said: its beginning, then every restatement."""
    created_at: datetime | None = None
    """When it was recorded; as it was said, if nothing else is known."""
    subject_key: str = ""
    """Tells apart subjects of the same name."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One entry of the report's full list of contradictions."""

    fact: str
    by: str | None
    verdict: str
    confidence: float
    rule: str
    invalid_at: datetime | None


@dataclass
class Bench:
    """Everything that a measure needs; closing it stops the server."""

    data: DataFolder
    config: HippocampusConfig
    all_sizes: bool = False
    details: bool = False

    def __post_init__(self) -> None:
        self._open = ExitStack()

    def __enter__(self) -> Bench:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    @property
    def resolve_confidence(self) -> float | None:
        """Confidence from which on ``--resolve`` writes; ``None`` while the product cannot."""
        return getattr(self.config.contradictions, "resolve_confidence", None)

    def resolvable(self, finding: Finding) -> bool:
        """Whether ``--resolve`` would write it."""
        return self.resolve_confidence is None or finding.confidence >= self.resolve_confidence

    @cached_property
    def _server_store(self) -> MemoryStore:
        folder = self._open.enter_context(tempfile.TemporaryDirectory(prefix="synapse-quality-"))
        server = self._open.enter_context(EmbeddedServer(folder, ["--appendonly", "no"]))
        store = open_store(server.uri)
        self._open.callback(store.close)
        return store

    def store_and_graph(self, real: bool, name: str) -> tuple[MemoryStore, str]:
        """A FalkorDB, or a store in memory; and a graph name that is new there."""
        if not real:
            return InMemoryStore(), GRAPH
        taken = set(self._server_store.graphs())
        wanted = f"{GRAPH}-{name}"
        while wanted in taken:
            wanted += "-again"
        return self._server_store, wanted

    def findings(
        self, statements: Sequence[Statement], *, real: bool = False, name: str = ""
    ) -> list[Finding]:
        """Write the statements into an empty graph, run one batch, return what it found.

        Args:
            statements: the facts.
            real: through a FalkorDB server instead of the store in memory.
            name: names the graph on the server.
        """
        store, graph = self.store_and_graph(real, name)
        whole = document(statements, graph)
        store.write_memory(graph, whole)
        return findings_of(self.batch(store, graph, day_after(whole)))

    def batch(self, store: MemoryStore, graph: str, now: datetime, **options: Any) -> Outcome:
        """One run of the engine; what the product does not offer yet is left out."""
        offered = {field.name for field in fields(Run)}
        given = {name: value for name, value in options.items() if name in offered}
        run = Run(Scope(graph), now_s=now.timestamp(), run_id="quality", **given)
        outcome = ConsolidationEngine(store, self.config, perf_counter).consolidate(run)
        if outcome.error is not None:
            raise outcome.error
        return outcome

    def learned(
        self, *documents: GraphDocument, evidence: Evidence = "both"
    ) -> RelationTable | None:
        """What the product learns about relations from a graph of all these documents."""
        store = InMemoryStore()
        for part in documents:
            store.write_memory(GRAPH, part)
        now = max(map(day_after, documents))
        return relation_table(self.config, store.read_graph(GRAPH), now, evidence)


def findings_of(outcome: Outcome) -> list[Finding]:
    """The findings as ``--report-file`` lists them."""
    return [
        Finding(
            fact=item["fact"],
            by=item["by"],
            verdict=item["verdict"],
            confidence=item["confidence"],
            rule=item["rule"],
            invalid_at=moment(item["invalid_at"]) if item["invalid_at"] else None,
        )
        for item in full_report(outcome.report, outcome.thoughts)["contradictions"]["all"]
    ]


def missed(findings: Iterable[Finding]) -> dict[str, Finding]:
    """Facts that the product would invalidate."""
    return {finding.fact: finding for finding in findings if finding.verdict == "missed"}


def statements_of(edges: Iterable[Edge]) -> list[Statement]:
    """Each edge as a fact of its own."""
    return [Statement(e.id, e.subject, e.name, e.object, e.text, (e.start,)) for e in edges]


def document(statements: Sequence[Statement], graph: str) -> GraphDocument:
    """The statements in Graphiti's shape: one entity a name, one episode a subject and moment."""
    entities: dict[str, dict[str, Any]] = {}
    episodes: dict[tuple[str, datetime], dict[str, Any]] = {}

    def entity(name: str, key: str = "") -> str:
        known = entities.get(key + name)
        if known is None:
            known = {"uuid": _uuid(graph, "entity", key + name), "name": name, "group_id": graph}
            entities[key + name] = known
        return str(known["uuid"])

    def episode(subject: str, time: datetime) -> str:
        known = episodes.get((subject, time))
        if known is None:
            at = time.isoformat()
            known = {"uuid": _uuid(graph, "episode", f"{subject} {at}"), "name": subject}
            known |= {"group_id": graph, "created_at": at, "valid_at": at}
            episodes[subject, time] = known
        return str(known["uuid"])

    facts = []
    for s in statements:
        source = entity(s.subject, s.subject_key)
        target = source if s.object == s.subject else entity(s.object)
        facts.append(
            {
                "uuid": s.id,
                "source_node_uuid": source,
                "target_node_uuid": target,
                "name": s.name,
                "fact": s.text,
                "group_id": graph,
                "episodes": [episode(s.subject_key + s.subject, time) for time in s.said_at],
                "created_at": (s.created_at or s.said_at[0]).isoformat(),
                "valid_at": s.said_at[0].isoformat(),
            }
        )
    return GraphDocument(
        entities=tuple(entities.values()), facts=tuple(facts), episodes=tuple(episodes.values())
    )


def real_graphs(data: DataFolder) -> dict[str, GraphDocument]:
    """The real graphs of the folder, from their exports as JSON lines."""
    folder = data.folder / "graphiti_real"
    names = [file.name.split(".")[0] for file in sorted(folder.glob("*.edges.jsonl"))]
    if not names:
        raise MissingSet("no graphiti_real/<name>.edges.jsonl is there")
    return {name: _exported(folder, name) for name in names}


def _exported(folder: Path, name: str) -> GraphDocument:
    entities, edges, episodes, mentions = (
        tuple(read_lines(folder / f"{name}.{part}.jsonl"))
        for part in ("entities", "edges", "episodes", "mentions")
    )
    linked = ({**m, "episode_uuid": m["episode"], "entity_uuid": m["entity"]} for m in mentions)
    return GraphDocument(entities, edges, episodes, tuple(linked))


def day_after(document: GraphDocument) -> datetime:
    """One day after the last moment that the memory knows of."""
    items = (*document.facts, *document.episodes)
    times = [item[key] for item in items for key in ("valid_at", "created_at") if item.get(key)]
    return max(map(moment, times)) + _DAY


def _uuid(graph: str, kind: str, name: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"{graph}/{kind}/{name}"))
