"""Remembers what was recalled, off the hot path."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import NamedTuple
from uuid import uuid4

from synapse.hippocampus.ports import MemoryStore, Recorder
from synapse.hippocampus.recall import RecallSet

_WAITING_MAX_COUNT = 100_000


class _Numbered(NamedTuple):
    graph: str
    number: int
    recall_set: RecallSet


class RecallRecorder:
    """Writes recalls into the durable ledger from a thread of its own, each exactly once.

    Every recall has a number of its own in its graph: one that is written again since the answer
    was late is known by it.

    Args:
        store: where the ledger is.
        on_failure: told of what went wrong; what could not be written is tried again with the
            next recall, up to 100,000 sets.
    """

    def __init__(self, store: MemoryStore, on_failure: Callable[[Exception], None]) -> None:
        self._store = store
        self._on_failure = on_failure
        self._name = uuid4().hex
        self._waiting: list[_Numbered] = []
        self._last_number: Counter[str] = Counter()
        self._changed = threading.Condition()
        self._closed = False
        self._busy = False
        self._thread = threading.Thread(target=self._run, name="synapse-recalls", daemon=True)
        self._thread.start()
        self.lost_count = 0

    def record(self, graph: str, recall_set: RecallSet) -> None:
        """Note a recall; returns at once. After the close it counts as lost."""
        with self._changed:
            if self._closed or len(self._waiting) >= _WAITING_MAX_COUNT:
                self.lost_count += 1
                return
            self._last_number[graph] += 1
            self._waiting.append(_Numbered(graph, self._last_number[graph], recall_set))
            self._changed.notify_all()

    def flush(self, within_s: float = 10.0) -> bool:
        """Wait until everything noted is written; return whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, within_s)

    def close(self) -> None:
        """Write what is left and stop."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(timeout=10.0)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                batch, self._waiting = self._waiting, []
                if not batch:
                    return
                self._busy = True
            left = self._write(batch)
            with self._changed:
                self._waiting = left + self._waiting
                self._busy = False
                self._changed.notify_all()
                if left and not self._closed:
                    self._changed.wait(timeout=1.0)  # the next recall, or a second, tries again
                elif left:
                    self.lost_count += len(left)
                    return

    def _write(self, batch: list[_Numbered]) -> list[_Numbered]:
        """Write a batch graph by graph; return what could not be written."""
        by_graph: defaultdict[str, list[_Numbered]] = defaultdict(list)
        for one in batch:
            by_graph[one.graph].append(one)
        left: list[_Numbered] = []
        for graph, numbered in by_graph.items():
            recorder = Recorder(self._name, numbered[0].number)
            try:
                self._store.record_recalls(graph, [one.recall_set for one in numbered], recorder)
            except Exception as error:  # noqa: BLE001  told, counted and tried again
                self._on_failure(error)
                left += numbered
        return left
