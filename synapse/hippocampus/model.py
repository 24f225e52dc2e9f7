"""What a graph holds at one moment, as aligned columns.

A *memory* is an entity or a fact; a *fact* is a ``RELATES_TO`` edge; an *episode* is an
``Episodic`` node. Row ``i`` of every column of a table belongs to the same item. Times are
float64 seconds since 1970-01-01 UTC, NaN where unknown; references are row numbers, -1 where the
graph names something that it does not hold.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from synapse.hippocampus.memory_keys import Keys, trace_keys
from synapse.hippocampus.ragged import Ragged

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

DEFAULT_GROUPS = frozenset({"", "_", "\\_"})
"""The spellings that Graphiti's versions use for the group of a caller who named none."""

ENTITY, FACT = 0, 1
KIND_NAMES = ("entity", "fact")


@dataclass(frozen=True, slots=True)
class Entities:
    """``Entity`` nodes. All columns have shape (entities,)."""

    uuid: list[str]
    name: list[str]
    summary: list[str]
    group_id: list[str]
    labels: list[tuple[str, ...]]
    """The node's own types, without ``Entity``; empty for most graphs."""
    created_at_s: Floats

    def __len__(self) -> int:
        return len(self.uuid)

    def take(self, rows: Ints) -> Entities:
        """The given rows, in the given order."""
        return Entities(
            _pick(self.uuid, rows),
            _pick(self.name, rows),
            _pick(self.summary, rows),
            _pick(self.group_id, rows),
            _pick(self.labels, rows),
            self.created_at_s[rows],
        )


@dataclass(frozen=True, slots=True)
class Facts:
    """``RELATES_TO`` edges between entities. All columns have shape (facts,)."""

    uuid: list[str]
    relation: list[str]
    text: list[str]
    group_id: list[str]
    source: Ints
    """Row in :class:`Entities`."""
    target: Ints
    """Row in :class:`Entities`."""
    created_at_s: Floats
    valid_at_s: Floats
    invalid_at_s: Floats
    expired_at_s: Floats
    episodes: Ragged
    """Rows in :class:`Episodes` that support the fact, each once; unknown ones are left out."""
    references_count: Ints | None = None
    """How many episodes the fact names, known or not; ``None`` where nobody has counted."""

    def __len__(self) -> int:
        return len(self.uuid)


@dataclass(frozen=True, slots=True)
class Episodes:
    """``Episodic`` nodes. All columns have shape (episodes,)."""

    uuid: list[str]
    group_id: list[str]
    created_at_s: Floats
    valid_at_s: Floats

    def __len__(self) -> int:
        return len(self.uuid)

    def take(self, rows: Ints) -> Episodes:
        """The given rows, in the given order."""
        return Episodes(
            _pick(self.uuid, rows),
            _pick(self.group_id, rows),
            self.created_at_s[rows],
            self.valid_at_s[rows],
        )


@dataclass(frozen=True, slots=True)
class Mentions:
    """``MENTIONS`` edges, shape (mentions,) each: a row of Episodes and a row of Entities."""

    episode: Ints
    entity: Ints

    def __len__(self) -> int:
        return len(self.episode)


def empty_graph(graph: str) -> GraphSnapshot:
    """A graph in which there is nothing.

    >>> len(empty_graph("new").facts)
    0
    """
    times, rows = np.zeros(0, np.float64), np.zeros(0, np.int64)
    return GraphSnapshot(
        graph,
        Entities([], [], [], [], [], times),
        Facts([], [], [], [], rows, rows, times, times, times, times, Ragged.from_lists([])),
        Episodes([], [], times, times),
        Mentions(rows, rows),
    )


@dataclass(frozen=True)
class GraphOutline:
    """The bones of a graph: which memories there are and how facts join entities.

    Enough to tell how strong each memory is from what is kept about it, without reading a text.
    """

    graph: str
    entity_uuids: list[str]
    fact_uuids: list[str]
    source: Ints
    """Row of each fact's source in ``entity_uuids``, shape (facts,)."""
    target: Ints

    @cached_property
    def memory_uuids(self) -> list[str]:
        """Entities first, then facts."""
        return self.entity_uuids + self.fact_uuids

    @cached_property
    def keys(self) -> Keys:
        """The key of each memory, shape (memories,)."""
        return trace_keys(self.entity_uuids, self.fact_uuids)


@dataclass(frozen=True, slots=True)
class GraphSnapshot:
    """One Graphiti graph, complete, without embeddings."""

    graph: str
    entities: Entities
    facts: Facts
    episodes: Episodes
    mentions: Mentions
    left_out: dict[str, int] = field(default_factory=dict)
    """Items that could not become rows, counted by reason (for the summary's warnings)."""
    digest: str = ""
    """Names everything that was read: equal digests, equal graphs. Empty where unknown."""

    def outline(self) -> GraphOutline:
        """The same graph without its texts and times."""
        return GraphOutline(
            self.graph,
            self.entities.uuid,
            self.facts.uuid,
            self.facts.source,
            self.facts.target,
        )

    @property
    def memory_uuids(self) -> list[str]:
        """Entities first, then facts: the order of every per-memory array."""
        return self.entities.uuid + self.facts.uuid

    @property
    def memory_kinds(self) -> npt.NDArray[np.uint8]:
        """:data:`ENTITY` or :data:`FACT` for each memory."""
        return np.repeat(np.array([ENTITY, FACT], np.uint8), [len(self.entities), len(self.facts)])

    def group_ids(self) -> set[str]:
        """Every ``group_id`` that occurs on an entity, a fact or an episode."""
        return {*self.entities.group_id, *self.facts.group_id, *self.episodes.group_id}

    def only_group(self, group_id: str) -> GraphSnapshot:
        """The part of the graph that belongs to one group.

        The spellings in :data:`DEFAULT_GROUPS` are one group. A fact stays when it carries the
        group and both its ends do; one with an end in another group is counted as left out.
        """
        wanted = DEFAULT_GROUPS if group_id in DEFAULT_GROUPS else frozenset({group_id})
        keep_entity = _in_groups(self.entities.group_id, wanted)
        keep_episode = _in_groups(self.episodes.group_id, wanted)
        of_group = _in_groups(self.facts.group_id, wanted)
        keep_fact = of_group & keep_entity[self.facts.source] & keep_entity[self.facts.target]
        part = self._subset(keep_entity, keep_fact, keep_episode)
        part.left_out["facts_with_ends_in_other_groups"] = int((of_group & ~keep_fact).sum())
        return part

    def _subset(self, entity: Bools, fact: Bools, episode: Bools) -> GraphSnapshot:
        new_entity, new_episode = _renumber(entity), _renumber(episode)
        facts, mentions = self.facts, self.mentions
        fact_rows = np.flatnonzero(fact)
        support = facts.episodes.take(fact_rows)
        known = new_episode[support.values] >= 0
        counts = np.bincount(support.row_numbers()[known], minlength=len(fact_rows))
        mention = entity[mentions.entity] & episode[mentions.episode]
        return GraphSnapshot(
            graph=self.graph,
            entities=self.entities.take(np.flatnonzero(entity)),
            facts=Facts(
                _pick(facts.uuid, fact_rows),
                _pick(facts.relation, fact_rows),
                _pick(facts.text, fact_rows),
                _pick(facts.group_id, fact_rows),
                new_entity[facts.source[fact_rows]],
                new_entity[facts.target[fact_rows]],
                facts.created_at_s[fact_rows],
                facts.valid_at_s[fact_rows],
                facts.invalid_at_s[fact_rows],
                facts.expired_at_s[fact_rows],
                Ragged.from_counts(counts.astype(np.int64), new_episode[support.values[known]]),
                None if facts.references_count is None else facts.references_count[fact_rows],
            ),
            episodes=self.episodes.take(np.flatnonzero(episode)),
            mentions=Mentions(
                new_episode[mentions.episode[mention]], new_entity[mentions.entity[mention]]
            ),
            left_out=dict(self.left_out),
        )


def _in_groups(group_ids: list[str], wanted: frozenset[str]) -> Bools:
    return np.fromiter((g in wanted for g in group_ids), np.bool_, len(group_ids))


def _renumber(keep: Bools) -> Ints:
    new = np.cumsum(keep, dtype=np.int64) - 1
    new[~keep] = -1
    return new


def _pick(column: list[Any], rows: Ints) -> list[Any]:
    return [column[i] for i in rows.tolist()]
