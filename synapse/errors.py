"""Every error Synapse raises on purpose, and the exit code each one ends a command with.

::

    SynapseError                  1   something failed; the sentence says what
    ├── UsageError                2   a wrong option or argument
    │   └── UnknownGraph          2   no such graph or group; the sentence lists what there is
    ├── ConfigurationError        2   a setting out of bounds, an unreadable synapse.toml
    ├── StoreError                1   the database answered, but not as it must
    │   ├── StoreUnreachable     75   no server there now, or it is still loading: try again later
    │   ├── AccessRefused         2   wrong password, a right that is missing, a read-only replica
    │   ├── NotFalkorDB           2   a server without the FalkorDB module
    │   ├── OutOfMemory           1   the server is at its memory limit and refuses to write
    │   ├── QueueFull             1   recalls wait for a run and leave no room for more
    │   └── IncompleteRead        1   fewer rows arrived than the graph holds
    ├── TimeUp                   75   the run took longer than it may; the next one goes on
    ├── LockBusy                  4   another run works on this graph
    ├── LockLost                  1   the lock was taken over; nothing more was written
    ├── PartlyApplied             3   a graph failed or a queue was full; the rest is done
    └── SafetyCap                 5   a plan exceeds its caps; nothing was written

A message is one sentence: what went wrong, on which thing, and what to do next. The first line
stays under 130 characters, so names in it are :func:`shown`, and avoids the words that job
schedulers rewrite.
"""

from __future__ import annotations

import re
from typing import ClassVar

REWRITTEN_WORDS = re.compile(
    r"time-?out|timed out|authenticat|authori[sz]|(?:rate|usage) limit|429|\b40[13]\b",
    re.IGNORECASE,
)
"""A host that finds one of these in a failed job's output tells its user about a model provider
instead of what went wrong (Hermes 0.18 and 0.19 do)."""

_SHOWN_CHARACTERS = 40


def shown(name: object) -> str:
    """A name, or a wrong value, as it stands in a message: quoted, on one line, not too long.

    >>> print(shown("Ann's\\ndog"), shown(None), shown("x" * 60))
    "Ann's\\ndog" None 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'
    """
    text = repr(name)
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    return f"{text[: _SHOWN_CHARACTERS - 2]}…{text[-1]}"


class SynapseError(Exception):
    """Something failed; ``str(error)`` is one sentence for a person."""

    exit_code: ClassVar[int] = 1


class UsageError(SynapseError):
    """A wrong option or argument."""

    exit_code = 2


class UnknownGraph(UsageError):
    """There is no such graph or group."""


class ConfigurationError(SynapseError):
    """A setting is out of bounds or a configuration file cannot be read."""

    exit_code = 2


class StoreError(SynapseError):
    """The database answered, but not as it must."""


class StoreUnreachable(StoreError):
    """No server answers there now; a later run may succeed."""

    exit_code = 75


class AccessRefused(StoreError):
    """The server refuses: wrong password, missing right, or a read-only replica."""

    exit_code = 2


class NotFalkorDB(StoreError):
    """The server has no FalkorDB module."""

    exit_code = 2


class OutOfMemory(StoreError):
    """The server is at its memory limit and refuses to write."""


class QueueFull(StoreError):
    """Recalls wait for a run and leave no room for more."""

    def __init__(self, message: str, taken_count: int = 0) -> None:
        super().__init__(message)
        self.taken_count = taken_count
        """Recall sets that were taken before the queue was full."""


class IncompleteRead(StoreError):
    """Fewer rows arrived than the graph holds."""


class TimeUp(SynapseError):
    """The run took longer than it may; what it had written is whole, and the next one goes on."""

    exit_code = 75


class LockBusy(SynapseError):
    """Another run works on this graph."""

    exit_code = 4


class LockLost(SynapseError):
    """The lock was taken over; nothing more was written."""


class PartlyApplied(SynapseError):
    """Some of it was not done; what was done is whole."""

    exit_code = 3


class SafetyCap(SynapseError):
    """A plan exceeds its caps; nothing was written."""

    exit_code = 5
