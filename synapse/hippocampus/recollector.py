"""Brings together what thinking about a graph takes: the graph, and what is kept beside it."""

from __future__ import annotations

from dataclasses import replace

from synapse.hippocampus.archived import former_stability
from synapse.hippocampus.caps import taken_count
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.hearing import Hearing
from synapse.hippocampus.ledger import replacements
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.near_duplicates import near_duplicates
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.recalled import Recalled
from synapse.hippocampus.room import Room
from synapse.hippocampus.scope import Scope, require_group
from synapse.hippocampus.stages import Thoughts


class Recollector:
    """Reads graphs and rooms; writes nothing.

    Args:
        store: where they are.
        config: the constants.
    """

    def __init__(self, store: MemoryStore, config: HippocampusConfig) -> None:
        self._store = store
        self._config = config

    def recollect(self, scope: Scope, now_s: float, room: Room | None = None) -> Thoughts:
        """Read a graph and begin to think about it.

        Args:
            scope: the graph, and the group in it.
            now_s: the moment, seconds since 1970.
            room: what is kept beside the graph, where the caller has read it already.

        Raises:
            UnknownGraph: no such graph, or the graph does not hold the group.
        """
        if room is None:
            room = self._store.read_room(scope.graph)
        hearing = self.hearing()
        snapshot = self._store.read_graph(scope.graph, hearing.hear)
        return self.think(scope, now_s, room, snapshot, hearing)

    def hearing(self) -> Hearing:
        """Listens to the texts of a graph while it is read."""
        return Hearing(self._config.salience.emotion_words)

    def think(
        self, scope: Scope, now_s: float, room: Room, snapshot: GraphSnapshot, hearing: Hearing
    ) -> Thoughts:
        """Begin to think about a graph that has been read.

        Args:
            scope: the graph, and the group in it.
            now_s: the moment, seconds since 1970.
            room: what is kept beside the graph.
            snapshot: the whole graph.
            hearing: has listened to it.

        Raises:
            UnknownGraph: the graph does not hold the group.
        """
        require_group(scope, snapshot.group_ids())
        archive = self._store.read_archive(scope.graph)
        elsewhere = {memory.uuid for memory in archive if memory.state != "restored"}
        if scope.group_id is not None and not scope.whole_graph:
            elsewhere |= replacements(room.ledger).intersection(snapshot.facts.uuid)
            snapshot = snapshot.only_group(scope.group_id)
        recalled = replace(
            Recalled.of(room),
            archived_count=taken_count(self._store.read_journal(scope.graph), now_s),
            former_stability=former_stability(archive),
            archive=tuple(archive),
        )
        duplicates = near_duplicates(self._store, scope.graph, self._config.interference)
        return Thoughts(
            snapshot, now_s, self._config, recalled, duplicates, room.ledger, hearing, elsewhere
        )
