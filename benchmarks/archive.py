"""What archiving and restoring cost, measured against the bare floor in the same run.

Builds two equal Graphiti-shaped graphs with embeddings in a private server. In one, all memories
are read whole and deleted with raw commands (the floor); in the other they are archived, restored
and archived again. Prints one JSON line. CPU seconds of client and server decide the ratio: on a
machine that does other things too, wall time says little.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import redis
from bench import Bench

from synapse.hippocampus.plan import ArchiveChange
from synapse.store import open_store
from synapse.store.bites import Bites
from synapse.store.embedded import EmbeddedServer
from synapse.store.falkordb import FalkorStore

ARCHIVE_OVER_FLOOR_BAR = 3.0
_LOCK_S = 600.0
_NOW = "2026-01-01T00:00:00Z"
_BATCH_COUNT = 500
_READ_FACTS = "UNWIND $rows AS u MATCH (a)-[e:RELATES_TO {uuid: u}]->(b) RETURN e, a.uuid, b.uuid"
_READ_ENTITIES = (
    "UNWIND $rows AS u MATCH (n:Entity {uuid: u}) OPTIONAL MATCH (n)<-[m:MENTIONS]-(e) "
    "RETURN n, collect(m), collect(e.uuid)"
)
_DELETE_FACTS = "UNWIND $rows AS u MATCH ()-[e:RELATES_TO {uuid: u}]->() DELETE e"
_DELETE_ENTITIES = "UNWIND $rows AS u MATCH (n:Entity {uuid: u}) DELETE n"


@dataclass
class Cost:
    """What one piece of work cost."""

    wall_s: float = 0.0
    client_cpu_s: float = 0.0
    server_cpu_s: float = 0.0
    slowest_query_ms: float = 0.0

    @property
    def cpu_s(self) -> float:
        """Client and server together."""
        return self.client_cpu_s + self.server_cpu_s


class Meter:
    """Measures work of this process on a private server."""

    def __init__(self, pid: int) -> None:
        self._stat = Path(f"/proc/{pid}/stat")

    @contextmanager
    def measured(self) -> Iterator[Cost]:
        """What the block costs; filled in when it ends."""
        cost = Cost()
        server_s, client_s, wall_s = self._server_s(), time.process_time(), time.perf_counter()
        yield cost
        cost.wall_s = time.perf_counter() - wall_s
        cost.client_cpu_s = time.process_time() - client_s
        cost.server_cpu_s = self._server_s() - server_s

    def _server_s(self) -> float:
        user, system = self._stat.read_text(encoding="utf-8").rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class WatchedBites(Bites):
    """Remembers the longest time that any query held the server."""

    slowest_ms = 0.0

    def _run(self, *arguments: Any) -> list[Any]:
        rows = super()._run(*arguments)
        WatchedBites.slowest_ms = max(WatchedBites.slowest_ms, self._slowest_ms)
        return rows


def pay_floor(client: Any, graph: str, facts: Sequence[str], entities: Sequence[str]) -> None:
    """Read every memory whole and exactly, its numbers as numbers, and delete it."""
    kinds = ((facts, _READ_FACTS, _DELETE_FACTS), (entities, _READ_ENTITIES, _DELETE_ENTITIES))
    for uuids, read, delete in kinds:
        for start in range(0, len(uuids), _BATCH_COUNT):
            rows = ",".join(f'"{uuid}"' for uuid in uuids[start : start + _BATCH_COUNT])
            header = f"CYPHER rows=[{rows}] "
            client.execute_command("GRAPH.RO_QUERY", graph, header + read, "--compact")
            client.execute_command("GRAPH.QUERY", graph, header + delete)


def planned(store: FalkorStore, graph: str) -> list[ArchiveChange]:
    """The changes that archive everything there is."""
    snapshot = store.read_graph(graph)
    images = store.read_images(graph, [*snapshot.facts.uuid, *snapshot.entities.uuid])
    return [ArchiveChange(i.uuid, i.kind, i.digest, "faded") for i in images.values()]


def measure(bench: Bench, store: FalkorStore, meter: Meter, entities_count: int) -> dict[str, Cost]:
    """The floor on one graph and our work on its twin."""
    floor_graph, own_graph = "floor", "own"
    for graph in (floor_graph, own_graph):
        bench.client.delete(graph)
        bench.fill("build", graph, entities_count, "--embeddings")
    bench.forget(own_graph)
    bench.consolidate(own_graph, _NOW)  # a memory goes with what is kept about it
    snapshot = store.read_graph(floor_graph)
    changes = planned(store, own_graph)
    wanted = {change.uuid for change in changes}
    store.acquire_lock(own_graph, "bench", _LOCK_S)
    with redis.Redis.from_url(store.uri, protocol=3) as client, meter.measured() as floor:
        pay_floor(client, floor_graph, snapshot.facts.uuid, snapshot.entities.uuid)
    costs = {"floor": floor}
    for name in ("archive", "restore"):
        WatchedBites.slowest_ms = 0.0
        with meter.measured() as cost:
            if name == "archive":
                moved = store.archive(own_graph, changes, "bench", 0.0, "bench")
                require(moved == wanted, "everything is archived")
            else:
                outcomes = store.restore(own_graph, wanted, "bench")
                require(set(outcomes.values()) == {"restored"}, "everything is restored")
        cost.slowest_query_ms = WatchedBites.slowest_ms
        costs[name] = cost
    require({c.uuid: c.before_digest for c in planned(store, own_graph)}
            == {c.uuid: c.before_digest for c in changes}, "everything is as it was")  # fmt: skip
    return costs


def require(holds: bool, what: str) -> None:
    """Stop where the work that is measured was not done."""
    if not holds:
        raise SystemExit(f"not true: {what}")


def main() -> None:
    """Measure, print one JSON line, and say on stderr whether the bar is met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000, metavar="N")
    parser.add_argument("--repeat", type=int, default=3, metavar="N")
    arguments = parser.parse_args()
    import synapse.store.archive
    import synapse.store.restore

    synapse.store.archive.Bites = synapse.store.restore.Bites = WatchedBites  # type: ignore[misc]
    entities_count = max(20, arguments.memories // 6)
    with tempfile.TemporaryDirectory(prefix="syn-") as folder, EmbeddedServer(folder) as server:
        bench, meter = Bench(server, dict(os.environ)), Meter(server.pid)
        with closing(open_store(server.uri)) as store:
            rounds = [measure(bench, store, meter, entities_count) for _ in range(arguments.repeat)]
    typical = {
        name: {f: round(median(asdict(r[name])[f] for r in rounds), 3) for f in asdict(Cost())}
        for name in rounds[0]
    }
    ratios = {
        name: round(median(r[name].cpu_s / r["floor"].cpu_s for r in rounds), 2)
        for name in ("archive", "restore")
    }
    met = ratios["archive"] <= ARCHIVE_OVER_FLOOR_BAR
    found = {
        "memories": entities_count * 6,
        **typical,
        "archive_over_floor": ratios["archive"],
        "restore_over_floor": ratios["restore"],
        "bar": ARCHIVE_OVER_FLOOR_BAR,
        "met": met,
    }
    print(json.dumps(found))
    word = "met" if met else "missed"
    print(f"{word}: archiving costs {ratios['archive']} times the floor; the bar is "
          f"{ARCHIVE_OVER_FLOOR_BAR}", file=sys.stderr)  # fmt: skip


if __name__ == "__main__":
    main()
