"""A private server, and what processes cost that work on it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import redis

from synapse.store.embedded import EmbeddedServer

HERE = Path(__file__).resolve().parent
CONSOLIDATE = HERE.parent / "scripts" / "consolidate.py"
PING_INTERVAL_S = 0.01


@dataclass(frozen=True)
class Cost:
    """What one process cost."""

    wall_s: float
    client_cpu_s: float
    server_cpu_s: float
    peak_mib: float
    output: str = ""

    @property
    def cpu_s(self) -> float:
        """Client and server together."""
        return self.client_cpu_s + self.server_cpu_s


class Bench:
    """A private server, and processes that are measured against it."""

    def __init__(self, server: EmbeddedServer, environment: dict[str, str]) -> None:
        self._server = server
        # As installed packages are: compiled once, not before each run.
        compiled = {"PYTHONPYCACHEPREFIX": str(Path(server.folder) / "bytecode")}
        kept = {k: v for k, v in environment.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self._environment = {**kept, **compiled, "FALKORDB_URI": server.uri}
        self.client = redis.Redis.from_url(server.uri, protocol=2, socket_timeout=600.0)

    def run(self, *command: str) -> Cost:
        """Run Python with these arguments and wait for its end."""
        server_before_s, started_s = self._server_cpu_s(), time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, *command],
            stdout=subprocess.PIPE,
            env=self._environment,
            cwd=self._server.folder,
        )
        assert process.stdout is not None
        output = process.stdout.read().decode()
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - started_s
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}: {output}")
        return Cost(
            wall_s=wall_s,
            client_cpu_s=usage.ru_utime + usage.ru_stime,
            server_cpu_s=self._server_cpu_s() - server_before_s,
            peak_mib=usage.ru_maxrss / 1024,
            output=output,
        )

    def fill(self, action: str, graph: str, entities_count: int, *options: str) -> float:
        """Build or grow a graph. A process of its own, so that its memory ends with it."""
        script = str(HERE / "graph_writer.py")
        uri = self._server.uri
        return self.run(script, action, uri, graph, str(entities_count), *options).wall_s

    def floor(self, graph: str, *options: str) -> Cost:
        """Pay the bare floor."""
        return self.run(str(HERE / "bare_floor.py"), self._server.uri, graph, *options)

    def consolidate(self, graph: str, now: str, *options: str) -> Cost:
        """Run the product."""
        flags = ("--schemas", "--prune", "--now", now, *options)
        return self.run(str(CONSOLIDATE), "--graph", graph, *flags)

    def forget(self, graph: str) -> None:
        """Delete everything that is kept beside a graph."""
        for pattern in (f"synapse:{{{graph}}}:*", f"floor:{{{graph}}}:*"):
            for key in list(self.client.scan_iter(match=pattern, count=1000)):
                self.client.delete(key)

    def revision(self, graph: str) -> bytes | None:
        """Grows with every write into the room beside a graph."""
        return self.client.hget(f"synapse:{{{graph}}}:meta", "revision")  # type: ignore[return-value]

    def counts(self, graph: str) -> dict[str, int]:
        """What the graph holds."""
        patterns = {
            "entities": "(x:Entity)", "facts": "()-[x:RELATES_TO]->()",
            "episodes": "(x:Episodic)", "mentions": "()-[x:MENTIONS]->()",
        }  # fmt: skip
        counts = {}
        for name, pattern in patterns.items():
            query = f"MATCH {pattern} RETURN count(x)"
            counts[name] = int(self.client.execute_command("GRAPH.RO_QUERY", graph, query)[1][0][0])
        return counts

    @contextmanager
    def pinging(self, into_ms: list[float]) -> Iterator[None]:
        """Ping from a second client, a hundred times a second."""
        ended = threading.Event()

        def ping() -> None:
            with redis.Redis.from_url(self._server.uri, protocol=2, socket_timeout=60.0) as client:
                client.ping()
                while not ended.is_set():
                    sent_s = time.perf_counter()
                    client.ping()
                    took_s = time.perf_counter() - sent_s
                    into_ms.append(took_s * 1000)
                    ended.wait(max(0.0, PING_INTERVAL_S - took_s))

        thread = threading.Thread(target=ping)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _server_cpu_s(self) -> float:
        stat = Path(f"/proc/{self._server.pid}/stat").read_text(encoding="utf-8")
        user, system = stat.rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
