"""A small memory of our own writing: half a year of an assistant in a team of bicycle people.

It holds what real memories hold: corrections that Graphiti noticed and some that it missed,
facts that were retired by mistake, moves, themes that come back, an incident, things that are
true in several ways at once, and trifles said once.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

DEMO_NOW = "2026-07-01T06:00:00Z"
"""A moment a few days after the last episode, for results that can be compared."""


def demo_path() -> Path:
    """The demo memory: a Graphiti-shaped file of JSON lines.

    >>> demo_path().name
    'memory.jsonl'
    """
    return Path(str(files(__name__) / "memory.jsonl"))
