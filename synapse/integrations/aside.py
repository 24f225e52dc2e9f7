"""Work beside Graphiti: in threads of its own, and never at the cost of Graphiti's own work."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from synapse.errors import StoreError

T = TypeVar("T")
_LOG = logging.getLogger("synapse")
_THREADS_COUNT = 4


class Aside:
    """Runs blocking work off the event loop, and keeps count of what failed."""

    def __init__(self) -> None:
        self.failures: Counter[str] = Counter()
        """By the type of the error."""
        self.is_closed = False
        self._threads = ThreadPoolExecutor(_THREADS_COUNT, thread_name_prefix="synapse")

    async def run(self, work: Callable[..., T], *args: Any) -> T:
        """Do blocking work in a thread.

        Raises:
            StoreError: everything here is closed.
        """
        if self.is_closed:
            raise StoreError("this Hippocampus is closed; make another one to go on")
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)

    def note_failure(self, error: Exception) -> None:
        """Count a failure; the first of its kind is logged."""
        kind = type(error).__name__
        self.failures[kind] += 1
        if self.failures[kind] == 1:
            _LOG.warning("Synapse could not do its part (%s): %s", kind, error)

    def close(self) -> None:
        """Wait for what is under way."""
        self.is_closed = True
        self._threads.shutdown(wait=True)
