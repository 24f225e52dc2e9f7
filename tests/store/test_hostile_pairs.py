"""What ``--resolve`` writes where sentences only seem to replace what is known."""

from __future__ import annotations

from typing import Any

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.consolidation import ConsolidationEngine, Run
from synapse.hippocampus.ports import GraphDocument, MemoryStore
from synapse.hippocampus.scope import Scope
from synapse.hippocampus.stamps import parse_stamp
from tests.support.fact_graphs import Said
from tests.support.hostile_pairs import Pair, numbered, pairs

TOLD = (("2026-01-05T08:00:00+00:00", "older"), ("2026-02-05T08:00:00+00:00", "newer"))
NOW = "2026-03-01T00:00:00+00:00"


def fact(said: Said, which: int, number: int) -> dict[str, Any]:
    moment, age = TOLD[which]
    return {
        "uuid": f"{age}-{number}", "source_node_uuid": said.source,
        "target_node_uuid": said.target, "name": said.relation, "fact": said.text,
        "valid_at": moment, "created_at": moment, "episodes": [age],
    }  # fmt: skip


def resolved(store: MemoryStore, graph: str, told: list[Pair]) -> set[str]:
    """Facts that a run with ``--resolve`` has ended."""
    facts = [fact(said, which, i) for i, pair in enumerate(told) for which, said in enumerate(pair)]
    names = sorted({name for pair in told for said in pair for name in (said.source, said.target)})
    document = GraphDocument(
        entities=tuple({"uuid": name, "name": name} for name in names),
        facts=tuple(facts),
        episodes=tuple({"uuid": age, "valid_at": moment} for moment, age in TOLD),
    )
    store.write_memory(graph, document)
    engine = ConsolidationEngine(store, HippocampusConfig(), lambda: 0.0)
    run = Run(Scope(graph), parse_stamp(NOW), "run", resolve=True, max_changes=len(facts))
    outcome = engine.consolidate(run)
    assert outcome.error is None
    after = store.read_facts(graph, [fact["uuid"] for fact in facts])
    return {uuid for uuid, ends in after.items() if ends.invalid_at is not None}


def test_nothing_is_ended_by_what_only_seems_to_replace_it(any_store, graph_name):
    assert resolved(any_store, graph_name, numbered(pairs("ask"))) == set()


def test_what_is_told_plainly_is_ended(any_store, graph_name):
    told = numbered(pairs("write"))
    assert resolved(any_store, graph_name, told) == {f"older-{i}" for i in range(len(told))}
