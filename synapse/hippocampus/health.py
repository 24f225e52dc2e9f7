"""What is known about a server, a graph and the room beside it: the facts of a diagnosis.

``None`` stands for what the database user may not ask.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.traces import TraceTable


@dataclass(frozen=True, slots=True)
class ServerHealth:
    """One server."""

    redis_version: str | None = None
    module_version: int | None = None
    """As FalkorDB writes it: 41603 is 4.16.3."""
    role: str | None = None
    """``master`` or ``slave``."""
    maxmemory_bytes: int | None = None
    """0 stands for no limit."""
    used_memory_bytes: int | None = None
    maxmemory_policy: str | None = None
    is_append_only: bool | None = None
    save_points: str | None = None
    """When it takes snapshots; empty for never."""
    failed_writes: tuple[str, ...] = ()
    """What it could not bring to disk last time, in its own words."""
    resultset_size: int | None = None
    """How many rows an answer may have; negative for any number."""
    compares_wrongly: bool | None = None
    """Whether ``<`` on an indexed text finds more than it should."""
    clock_ahead_s: float | None = None
    """The server's clock minus ours."""
    graphs: tuple[str, ...] | None = None
    orphaned_rooms: tuple[str, ...] | None = None
    """Graphs that are gone while their rooms are there."""


@dataclass(frozen=True, slots=True)
class Stamps:
    """How the times in one property of one kind of item are written."""

    known_count: int = 0
    naive_count: int = 0
    """Without a zone."""
    unreadable_count: int = 0
    future_count: int = 0


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits for the next run."""

    waiting_count: int = 0
    oldest_age_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Rights:
    """What the database user may not do on one graph."""

    missing: tuple[str, ...] = ()
    """As rules of an access list."""
    least: str = ""
    """A command that gives a user just enough."""


@dataclass(frozen=True, slots=True)
class RoomHealth:
    """Synapse's room beside a graph."""

    damage: str = ""
    """Why it cannot be read, where that is so."""
    lock_holder: str | None = None
    lock_left_s: float | None = None
    """Until the lock expires; infinite for never, ``None`` where it cannot be asked."""
    recalls: Queue = Queue()
    surprises: Queue = Queue()
    failures_count: int = 0
    unfinished_runs: tuple[str, ...] = ()
    """Runs that changed the graph and never came to their end."""
    traces_count: int = 0
    lost_traces_count: int = 0
    """Traces of memories that the graph does not hold any more."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a graph holds, and what it lacks."""

    entities_count: int = 0
    facts_count: int = 0
    items_by_group: Mapping[str, int] = field(default_factory=dict)
    undated_facts_count: int = 0
    unmentioned_entities_count: int = 0
    stamps: Mapping[str, Stamps] = field(default_factory=dict)
    """By property and kind, such as ``valid_at of facts``."""

    @classmethod
    def of(cls, snapshot: GraphSnapshot, stamps: Mapping[str, Stamps]) -> Contents:
        """Count in a graph."""
        entities, facts = snapshot.entities, snapshot.facts
        groups = chain(entities.group_id, facts.group_id, snapshot.episodes.group_id)
        return cls(
            entities_count=len(entities),
            facts_count=len(facts),
            items_by_group=Counter(groups),
            undated_facts_count=int(np.isnan(facts.valid_at_s).sum()),
            unmentioned_entities_count=len(entities) - len(np.unique(snapshot.mentions.entity)),
            stamps=stamps,
        )


@dataclass(frozen=True, slots=True)
class GraphHealth:
    """One graph and the room beside it."""

    graph: str
    rights: Rights = Rights()
    contents: Contents | None = None
    room: RoomHealth | None = None


def lost_count(traces: TraceTable, snapshot: GraphSnapshot) -> int:
    """How many traces are about memories that the graph does not hold.

    >>> from synapse.hippocampus.model import empty_graph
    >>> from synapse.hippocampus.traces import empty_traces
    >>> lost_count(empty_traces(), empty_graph("new"))
    0
    """
    return int(np.count_nonzero(~np.isin(traces["key"], snapshot.outline().keys)))
