"""What Synapse adds beside a live Graphiti: to a search, to an ingestion, and to recording recalls.

Builds a Graphiti-shaped graph with embeddings in a private server, then measures, in pairs side by
side in one process: Graphiti's own search against ``Hippocampus.search`` with its recording;
``observe`` on results of one to fifty facts, by the clock and in CPU time of this process; and
recall sets recorded at 500 a second while a batch runs. The facts of a result are those of one
episode, fifty those of two; what results would cost whose facts come from all over the graph, each
about another subject, is told beside it, without a bar.
Prints one JSON line. Needs the ``graphiti`` and ``embedded`` extras; no model is called.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

from bench import CONSOLIDATE, Bench
from falkordb.asyncio import FalkorDB
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.falkordb_driver import FalkorDriver
from graphiti_core.edges import EntityEdge
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.llm_client.config import LLMConfig
from synthetic_graph import NOW

from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.recall import RecallSet
from synapse.integrations.graphiti import Hippocampus
from synapse.store import open_store
from synapse.store.embedded import EmbeddedServer

GRAPH = "bench"
FLOATS_COUNT = 384
RECALLS_PER_S, RECALL_SECONDS = 550, 10
FACTS_PER_CALL, CALLS_COUNT = (1, 5, 20, 50), 40
BARS = {
    "search_over_graphiti": ("at most", 1.3),
    "observe_over_allowance": ("at most", 1.0),
    "observe_cpu_over_allowance": ("at most", 1.0),
    "recall_sets_lost": ("at most", 0.0),
    "recall_sets_per_s": ("at least", 500.0),
}


class HashEmbedder(EmbedderClient):  # type: ignore[misc]
    """A vector from the letters of a text."""

    async def create(self, input_data: Any) -> list[float]:
        """The vector."""
        text = input_data if isinstance(input_data, str) else " ".join(map(str, input_data))
        raw = hashlib.shake_256(text.encode()).digest(FLOATS_COUNT)
        return [byte / 128.0 - 1.0 for byte in raw]


class NoModel(LLMClient):  # type: ignore[misc]
    """Nothing here asks a model."""

    async def _generate_response(self, *_args: Any, **_options: Any) -> dict[str, Any]:
        raise AssertionError("a benchmark must not ask a model")


class NoRanker(CrossEncoderClient):  # type: ignore[misc]
    """Nothing here ranks pairs."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        """In the order given."""
        return [(passage, 1.0) for passage in passages]


async def measure_search(hippocampus: Hippocampus, queries: list[str]) -> dict[str, Any]:
    """Both searches for each query, taking turns in who comes first."""
    own_s, ours_s = [], []
    for number, query in enumerate(queries):
        for turn in range(2):
            started_s = time.perf_counter()
            if (number + turn) % 2:
                await hippocampus.graphiti.search(query, group_ids=[GRAPH])
                own_s.append(time.perf_counter() - started_s)
            else:
                await hippocampus.search(query, group_ids=[GRAPH])
                ours_s.append(time.perf_counter() - started_s)
    ratios = [ours / own for ours, own in zip(ours_s, own_s, strict=True)]
    return {
        "searches": len(queries),
        "graphiti_ms": round(median(own_s) * 1000, 2),
        "ours_ms": round(median(ours_s) * 1000, 2),
        "search_over_graphiti": round(median(ratios), 3),
    }


async def measure_observe(
    hippocampus: Hippocampus, results: list[list[EntityEdge]]
) -> dict[str, float]:
    """``observe`` on results that hold some facts of the graph, each as if it were new."""
    wall_ms, cpu_ms = [], []
    for number, edges in enumerate(results):
        episode = SimpleNamespace(uuid=f"{number} of {id(results)}", group_id=GRAPH)
        told = [edge.model_copy(update={"episodes": [episode.uuid]}) for edge in edges]
        result = _Result(episode=episode, edges=told)
        started_s, cpu_before_s = time.perf_counter(), time.process_time()
        await hippocampus.observe(result)
        cpu_ms.append((time.process_time() - cpu_before_s) * 1000)
        wall_ms.append((time.perf_counter() - started_s) * 1000)
    facts_count = len(results[0])
    return {
        "facts": facts_count, "allowance_ms": 5.0 + 0.2 * facts_count,
        "subjects": median(len({e.source_node_uuid for e in edges}) for edges in results),
        "ms": round(median(wall_ms), 2), "p95_ms": round(_p95(wall_ms), 2),
        "cpu_ms": round(median(cpu_ms), 2), "cpu_p95_ms": round(_p95(cpu_ms), 2),
    }  # fmt: skip


async def measure_observes(
    hippocampus: Hippocampus, episodes: list[list[EntityEdge]], scattered: list[EntityEdge]
) -> dict[str, Any]:
    """Results of several sizes, and the worst median against what is allowed."""
    pairs = [one + other for one, other in zip(episodes[::2], episodes[1::2], strict=False)]
    rows, scattered_rows = [], []
    for count in FACTS_PER_CALL:
        told = [edges[:count] for edges in [*episodes, *pairs] if len(edges) >= count]
        rows.append(await measure_observe(hippocampus, told[:CALLS_COUNT]))
        told = [scattered[n * count : (n + 1) * count] for n in range(CALLS_COUNT)]
        scattered_rows.append(await measure_observe(hippocampus, told))
    return {
        "calls": rows,
        "scattered_calls": scattered_rows,
        "observe_over_allowance": round(max(r["ms"] / r["allowance_ms"] for r in rows), 3),
        "observe_cpu_over_allowance": round(max(r["cpu_ms"] / r["allowance_ms"] for r in rows), 3),
    }


def _p95(values: list[float]) -> float:
    return sorted(values)[int(0.95 * len(values))]


class _Result:
    """What ``observe`` needs of a result; Graphiti's own validates every field anew."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    @classmethod
    def model_construct(cls, **fields: Any) -> _Result:
        """As pydantic's."""
        return cls(**fields)


async def measure_recalls(
    hippocampus: Hippocampus, bench: Bench, uri: str, facts: list[str]
) -> dict[str, Any]:
    """Record recall sets at a steady rate while a batch runs in another process."""
    recorder, wanted = hippocampus.recaller.recorder, RECALLS_PER_S * RECALL_SECONDS
    await hippocampus.flush()
    store = open_store(uri)
    before = store.summarize_room(GRAPH).recalls_count
    batch = subprocess.Popen(
        [sys.executable, str(CONSOLIDATE), "--graph", GRAPH, "--now", NOW],
        env={**os.environ, "FALKORDB_URI": uri}, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    started_s = time.perf_counter()
    for number in range(wanted):
        ranks = tuple((facts[(number * 7 + k) % len(facts)], k + 1) for k in range(10))
        recorder.record(GRAPH, RecallSet(ranks, "benchmark", 1.7e9 + number))
        ahead_s = (number + 1) / RECALLS_PER_S - (time.perf_counter() - started_s)
        if ahead_s > 0:
            await asyncio.sleep(ahead_s)
    written = await hippocampus.flush()
    took_s = time.perf_counter() - started_s
    batch.wait()
    waiting = store.summarize_room(GRAPH).recalls_count
    room = store.read_room(GRAPH)
    store.close()
    folded = max((p.search_count for p in room.profiles.values()), default=0)
    asked = sum(p.search_count for p in room.profiles.values()) // 10
    return {
        "recall_sets": wanted,
        "recall_sets_lost": before + wanted - waiting - asked if written else wanted,
        "folded_while_recording": asked,
        "most_recalled": folded,
        "recall_sets_per_s": round(wanted / took_s, 1),
    }


async def run(server: EmbeddedServer, bench: Bench, asked: argparse.Namespace) -> dict[str, Any]:
    """Everything, on one graph."""
    driver = FalkorDriver(falkor_db=FalkorDB.from_url(server.uri), database=GRAPH)
    await driver._init_task
    graphiti = Graphiti(
        graph_driver=driver, llm_client=NoModel(LLMConfig(api_key="none")),
        embedder=HashEmbedder(), cross_encoder=NoRanker(),
    )  # fmt: skip
    hippocampus = Hippocampus(graphiti, uri=server.uri)
    await hippocampus.consolidate(GRAPH)
    store = open_store(server.uri)
    snapshot = store.read_graph(GRAPH)
    store.close()
    step = max(1, len(snapshot.facts) // asked.searches)
    queries = [" ".join(text.split()[:6]) for text in snapshot.facts.text[::step]]
    by_uuid = sorted(range(len(snapshot.facts)), key=snapshot.facts.uuid.__getitem__)
    scattered = _edges(snapshot, by_uuid[: max(FACTS_PER_CALL) * CALLS_COUNT])
    episodes = [_edges(snapshot, rows) for rows in _by_episode(snapshot, by_uuid)]
    await hippocampus.search(queries[0], group_ids=[GRAPH])
    await measure_observe(hippocampus, episodes[:3])  # learns the relations of the graph
    found = {"counts": {"entities": len(snapshot.entities), "facts": len(snapshot.facts)}}
    found["search"] = await measure_search(hippocampus, queries)
    found["observe"] = await measure_observes(hippocampus, episodes[3:], scattered)
    found["recalls"] = await measure_recalls(hippocampus, bench, server.uri, snapshot.facts.uuid)
    found["failures"] = dict(hippocampus.aside.failures)
    await hippocampus.close()
    await driver.close()
    return found


def _by_episode(snapshot: GraphSnapshot, rows: list[int]) -> list[list[int]]:
    """The facts that an episode was the first to say, of as many episodes as are needed."""
    said: dict[int, list[int]] = {}
    for row in rows:
        said.setdefault(int(snapshot.facts.episodes[row][0]), []).append(row)
    return list(said.values())[: 3 * CALLS_COUNT]


def _edges(snapshot: GraphSnapshot, rows: list[int]) -> list[EntityEdge]:
    """Facts as Graphiti gives them back."""
    facts, entities = snapshot.facts, snapshot.entities
    return [
        EntityEdge(
            uuid=facts.uuid[row], group_id=GRAPH, name=facts.relation[row], fact=facts.text[row],
            source_node_uuid=entities.uuid[int(facts.source[row])],
            target_node_uuid=entities.uuid[int(facts.target[row])],
            created_at=datetime.fromtimestamp(float(facts.created_at_s[row]), UTC),
        )
        for row in rows
    ]  # fmt: skip


def judged(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Each value beside its bar."""
    values = {**found["search"], **found["observe"], **found["recalls"]}
    return {
        name: {
            "value": values[name], "bar": f"{kind} {bar:g}",
            "met": values[name] >= bar if kind == "at least" else values[name] <= bar,
        }
        for name, (kind, bar) in BARS.items()
    }  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--entities", type=int, default=10_000, metavar="N")
    parser.add_argument("--searches", type=int, default=200, metavar="N")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep and reuse the graph")
    asked = parser.parse_args()
    os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
    with (
        tempfile.TemporaryDirectory(prefix="syn-online-") as folder,
        EmbeddedServer(asked.keep or folder, ["--appendonly", "no"]) as server,
    ):
        bench = Bench(server, dict(os.environ))
        bench.client.config_set("appendonly", "no")  # taking a dump over turns it on
        known = bench.client.exists(GRAPH) and bench.counts(GRAPH)["entities"]
        if known != asked.entities:
            bench.client.delete(GRAPH)
            bench.fill("build", GRAPH, asked.entities, "--embeddings")
            bench.client.save()  # a folder that is kept holds the graph as it was built
        bench.forget(GRAPH)
        found = asyncio.run(run(server, bench, asked))
    print(json.dumps({"benchmark": "online", **found, "bars": judged(found)}))


if __name__ == "__main__":
    main()
