"""Work beside Graphiti: in threads of its own, and never at the cost of Graphiti's own work."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import inf
from typing import Any, TypeVar

from synapse.errors import StoreError, StoreUnreachable, SynapseError

T = TypeVar("T")
_LOG = logging.getLogger("synapse")
_FAILURES_IN_A_ROW_MAX_COUNT = 3
_REST_S = 30.0


@dataclass(frozen=True, slots=True)
class Lane:
    """Threads of one kind of work, which no other kind of work can keep waiting."""

    name: str
    threads_count: int
    within_s: float = inf
    """How long the caller waits; a thread under way goes on, its result is not told any more."""


SEARCHING = Lane("search", 4, 2.0)
OBSERVING = Lane("observe", 4, 10.0)
TELLING = Lane("tell", 2, 5.0)
"""Prompt blocks and ``status``."""
BRIEFING = Lane(TELLING.name, TELLING.threads_count, 30.0)
"""A prompt block of a store that does answer: its first one reads the whole graph."""
WORKING = Lane("work", 4)
"""What the caller wants done however long it takes: beliefs, runs, explanations."""


class Aside:
    """Runs blocking work off the event loop, and keeps count of what failed.

    Where a store has not answered a lane three times in a row, that lane's work is left out for
    half a minute: a server that hangs then costs searches and episodes nothing.

    Args:
        clock: seconds of a clock that never goes back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.failures: Counter[str] = Counter()
        """By the type of the error."""
        self.skipped_count = 0
        """Pieces of side work left out while the store rested."""
        self.is_closed = False
        self._clock = clock
        self._in_a_row: Counter[str] = Counter()
        self._rests_until_s: defaultdict[str, float] = defaultdict(lambda: -inf)
        self._pools = {
            lane.name: ThreadPoolExecutor(lane.threads_count, f"synapse-{lane.name}")
            for lane in (SEARCHING, OBSERVING, TELLING, WORKING)
        }

    async def run(self, lane: Lane, work: Callable[..., T], *args: Any) -> T:
        """Do blocking work in a thread of a lane.

        Raises:
            StoreError: everything here is closed.
            StoreUnreachable: it takes longer than the lane allows.
        """
        if self.is_closed:
            raise StoreError("this Hippocampus is closed; make another one to go on")
        pool = self._pools[lane.name]
        under_way = asyncio.get_running_loop().run_in_executor(pool, work, *args)
        try:
            done = await _within(under_way, lane)
        except StoreUnreachable:
            self._in_a_row[lane.name] += 1
            if self._in_a_row[lane.name] >= _FAILURES_IN_A_ROW_MAX_COUNT:
                self._rests_until_s[lane.name] = self._clock() + _REST_S
            raise
        except SynapseError:  # it does answer
            self._in_a_row[lane.name] = 0
            raise
        self._in_a_row[lane.name] = 0
        return done

    def skips(self, lane: Lane) -> bool:
        """Whether a piece of side work is to be left out, which is counted."""
        is_skipped = self._clock() < self._rests_until_s[lane.name]
        self.skipped_count += is_skipped
        return is_skipped

    def note_failure(self, error: Exception) -> None:
        """Count a failure; the first of its kind is logged."""
        kind = type(error).__name__
        self.failures[kind] += 1
        if self.failures[kind] == 1:
            _LOG.warning("Synapse could not do its part (%s): %s", kind, error)

    def close(self) -> None:
        """Wait for what is under way."""
        self.is_closed = True
        for pool in self._pools.values():
            pool.shutdown(wait=True)


async def _within(under_way: asyncio.Future[T], lane: Lane) -> T:
    try:
        return await asyncio.wait_for(under_way, None if lane.within_s == inf else lane.within_s)
    except TimeoutError as error:
        raise StoreUnreachable(
            f"the store has not answered within {lane.within_s:g} s; Graphiti's own work went on"
        ) from error
