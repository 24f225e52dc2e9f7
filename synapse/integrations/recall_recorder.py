"""Remembers what was recalled, off the hot path."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable

from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.recall import RecallSet

_WAITING_MAX_COUNT = 100_000


class RecallRecorder:
    """Writes recalls into the durable ledger from a thread of its own.

    Args:
        store: where the ledger is.
        on_failure: told of what went wrong; what could not be written is tried again with the
            next recall, up to 100,000 sets.
    """

    def __init__(self, store: MemoryStore, on_failure: Callable[[Exception], None]) -> None:
        self._store = store
        self._on_failure = on_failure
        self._waiting: list[tuple[str, RecallSet]] = []
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
            self._waiting.append((graph, recall_set))
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

    def _write(self, batch: list[tuple[str, RecallSet]]) -> list[tuple[str, RecallSet]]:
        """Write a batch graph by graph; return what could not be written."""
        by_graph: defaultdict[str, list[RecallSet]] = defaultdict(list)
        for graph, recall_set in batch:
            by_graph[graph].append(recall_set)
        left: list[tuple[str, RecallSet]] = []
        for graph, recall_sets in by_graph.items():
            try:
                self._store.record_recalls(graph, recall_sets)
            except Exception as error:  # noqa: BLE001  told, counted and tried again
                self._on_failure(error)
                left += [(graph, recall_set) for recall_set in recall_sets]
        return left
