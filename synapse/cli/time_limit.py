"""A limit that a run keeps by itself, before its host ends it the hard way."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Self

from synapse.errors import TimeUp

_RING_AGAIN_S = 1.0


class TimeLimit:
    """Raises :class:`~synapse.errors.TimeUp` in the main thread once the time is over.

    Whatever is under way ends there. All that a run writes is written in atomic steps, and each
    step is understood by the next run, so any moment is a good one.

    Args:
        limit_s: seconds; none: no limit.
        reserved_s: seconds of it that are left to what comes afterwards.
    """

    def __init__(self, limit_s: float | None, reserved_s: float = 0.0) -> None:
        self.limit_s = limit_s
        self._reserved_s = reserved_s
        self.is_over = False

    def __enter__(self) -> Self:
        if self.limit_s is not None:
            signal.signal(signal.SIGALRM, self._ring)
            # Again and again: an exception can get lost where it comes up inside a destructor.
            own_s = self.limit_s - self._reserved_s
            signal.setitimer(signal.ITIMER_REAL, own_s, _RING_AGAIN_S)
        return self

    def __exit__(self, *_: object) -> None:
        self.lift()

    def lift(self) -> None:
        """Take the limit away."""
        if self.limit_s is not None:
            signal.setitimer(signal.ITIMER_REAL, 0.0)

    def check(self) -> None:
        """Raise :class:`~synapse.errors.TimeUp` if the time was over already."""
        if self.is_over:
            raise self.error()

    def error(self) -> TimeUp:
        """The sentence for a person."""
        return TimeUp(
            f"the run reached its limit of {self.limit_s:g} s (--max-seconds);"
            " nothing is half done, the next run goes on; or allow it more"
        )

    def _ring(self, _signal: int, _frame: FrameType | None) -> None:
        self.is_over = True
        raise self.error()
