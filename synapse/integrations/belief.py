"""Statements believed without a model: matched by name, written as Graphiti would have."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid4

from synapse.errors import UsageError
from synapse.hippocampus.lexicon.words import split_name
from synapse.hippocampus.matters import Matters
from synapse.hippocampus.model import GraphSnapshot, empty_graph
from synapse.hippocampus.plan import EndChange
from synapse.hippocampus.ports import LOCK_TTL_S, GraphDocument, MemoryStore
from synapse.hippocampus.relation_table import RelationTable
from synapse.hippocampus.stamps import YEAR_TWO_S, format_stamp
from synapse.integrations.slot import Slot
from synapse.integrations.texts import plain

WAIT_FOR_LOCK_S = 5.0
_BETWEEN_TRIES_S = 0.05
_ENDED_BY_CHOICE = {("uses",), ("has",), ("is",), ("deployed",)}
"""First words of relations that hold one value here and many there: what a run can weigh against
the rest of the graph, and takes back where it was wrong, is not ended at once by a name alone."""
_YEAR_9999_S = datetime(9999, 1, 1, tzinfo=UTC).timestamp()
"""What many write for "for ever"."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: subject, relation, object, and the sentence that says it."""

    subject: str
    relation: str
    object: str
    text: str
    valid_at_s: float


@dataclass(frozen=True, slots=True)
class Belief:
    """What became of a statement."""

    fact: str
    """Uuid of the fact that says it."""
    outcome: Literal["new", "confirmed", "past"]
    """``confirmed``: it was known and holds, or held then; ``past``: a later value holds by now."""
    superseded: tuple[str, ...] = ()
    """Facts that it has ended; each now points to it by its end and its subject."""
    by: str | None = None
    """The fact that replaces it, or will, where one begins, or is said again, later."""
    left_to_the_batch: tuple[str, ...] = ()
    """Facts that it replaces and that could not be ended now; the next run finds them."""
    new_entities: tuple[tuple[str, str], ...] = ()
    """Uuid and name of the entities that were not known before."""


class Believer:
    """Writes statements into the graph of a group.

    Args:
        store: where the graph is.
        sleep: how to wait for the lock, in seconds.
    """

    def __init__(self, store: MemoryStore, sleep: Callable[[float], None] = time.sleep) -> None:
        self._store = store
        self._sleep = sleep

    def believe(
        self, graph: str, group_id: str, said: Statement, relations: RelationTable, now_s: float
    ) -> Belief:
        """Take a statement for true.

        A relation that holds one value at a time ends the value before where this one begins, and
        this one where the next one that is known begins, in whatever order they are told; others
        are appended to. What was said again later is not ended: a value told late between ends
        where it was said again. What is known and holds gets one more episode. While a run
        writes, this waits some seconds; after that it believes without ending anything.

        Args:
            graph: name of the graph.
            group_id: group of what is written.
            said: the statement.
            relations: which relations hold one value at a time.
            now_s: the moment, seconds since 1970.

        Raises:
            UsageError: a name is empty, a text is none that a graph can hold, or the moment is
                one that stands for none.
        """
        _refuse_what_is_none(said)
        token = uuid4().hex
        has_lock = self._take_lock(graph, token)
        try:
            return self._believe(graph, group_id, said, relations, now_s, token if has_lock else "")
        finally:
            if has_lock:
                self._store.release_lock(graph, token)

    def _believe(
        self, graph: str, group_id: str, said: Statement, relations: RelationTable, now_s: float,
        token: str,
    ) -> Belief:  # fmt: skip
        """Believe under the lock of ``token``; without one nothing is ended."""
        named = self._store.find_entities(graph, {said.subject, said.object})
        known = {name: uuids[0] for name, uuids in named.items()}
        told = _Told(graph, group_id, said, now_s, known)
        before = self._known_of(told, relations)
        slot = Slot(before, told.subject, said.relation, relations)
        same = slot.same(told.object, said.valid_at_s)
        if same is not None:
            self._store.write_memory(graph, told.document())
            self._store.confirm_fact(graph, same, told.episode)
            return Belief(same, "confirmed", new_entities=told.new_entities)
        following, replaced = None, list[str]()
        if _replaces(said.relation, relations):
            following = slot.next(said.valid_at_s)
            replaced = slot.replaced(said.valid_at_s, following)
        ends_s = None if following is None else following.at_s
        self._store.write_memory(graph, told.document(with_fact=True, ends_s=ends_s))
        ended = self._end(graph, replaced, said.valid_at_s, now_s, token) if token else set()
        return Belief(
            told.fact,
            "past" if ends_s is not None and ends_s <= now_s else "new",
            tuple(sorted(ended)),
            None if following is None else following.fact,
            tuple(uuid for uuid in replaced if uuid not in ended),
            told.new_entities,
        )

    def _known_of(self, told: _Told, relations: RelationTable) -> GraphSnapshot:
        if told.said.subject not in told.known:
            return empty_graph(told.graph)
        matters = Matters(relations.names(told.said.relation), {told.object})
        return self._store.read_subjects(told.graph, [told.subject], {told.subject: matters})

    def _end(self, graph: str, facts: list[str], at_s: float, now_s: float, token: str) -> set[str]:
        if not facts:
            return set()
        states = self._store.read_facts(graph, facts)
        at, now = format_stamp(at_s), format_stamp(now_s)
        changes = [EndChange(uuid, state, at, now) for uuid, state in sorted(states.items())]
        return self._store.change_ends(graph, changes, token)

    def _take_lock(self, graph: str, token: str) -> bool:
        """Two that believe at once would each make an entity of one name, and end nothing."""
        waited_s = 0.0
        while not self._store.acquire_lock(graph, token, LOCK_TTL_S):
            if waited_s >= WAIT_FOR_LOCK_S:
                return False
            self._sleep(_BETWEEN_TRIES_S)
            waited_s += _BETWEEN_TRIES_S
        return True


class _Told:
    """One statement on its way into a graph, with the uuids of what it names."""

    def __init__(
        self, graph: str, group_id: str, said: Statement, now_s: float, known: Mapping[str, str]
    ) -> None:
        self.graph = graph
        self.said = said
        self.known = known
        self.fact, self.episode = str(uuid4()), str(uuid4())
        self._group_id = group_id
        self._now = format_stamp(now_s)
        names = dict.fromkeys([said.subject, said.object])
        self._uuids = {name: known.get(name) or str(uuid4()) for name in names}

    @property
    def subject(self) -> str:
        """Uuid of the subject."""
        return self._uuids[self.said.subject]

    @property
    def object(self) -> str:
        """Uuid of the object."""
        return self._uuids[self.said.object]

    @property
    def new_entities(self) -> tuple[tuple[str, str], ...]:
        """Uuid and name of what was not known before."""
        return tuple((uuid, n) for n, uuid in self._uuids.items() if n not in self.known)

    def document(self, *, with_fact: bool = False, ends_s: float | None = None) -> GraphDocument:
        """The statement as an episode that mentions its entities, and as a fact if wanted."""
        common: dict[str, Any] = {"group_id": self._group_id, "created_at": self._now}
        valid_at = format_stamp(self.said.valid_at_s)
        episode = {
            **common, "uuid": self.episode, "name": self.said.text[:80], "source": "text",
            "source_description": "stated", "content": self.said.text, "valid_at": valid_at,
        }  # fmt: skip
        entities = tuple(
            {**common, "uuid": uuid, "name": name, "summary": "", "labels": []}
            for uuid, name in self.new_entities
        )
        mentions = tuple(
            {**common, "uuid": str(uuid4()), "episode_uuid": self.episode, "entity_uuid": uuid}
            for uuid in self._uuids.values()
        )
        fact = {
            **common, "uuid": self.fact, "source_node_uuid": self.subject,
            "target_node_uuid": self.object, "name": self.said.relation, "fact": self.said.text,
            "episodes": [self.episode], "valid_at": valid_at,
        }  # fmt: skip
        if ends_s is not None:
            fact |= {"invalid_at": format_stamp(ends_s), "expired_at": self._now}
        return GraphDocument(entities, (fact,) if with_fact else (), (episode,), mentions)


def _refuse_what_is_none(said: Statement) -> None:
    names = (said.subject, said.relation, said.object)
    if any(plain(text) != text for text in (*names, said.text)):
        raise UsageError("a statement must be plain text: take NUL and half surrogates out of it")
    if not all(map(str.strip, names)):
        raise UsageError("subject, relation and object must not be empty; name all three")
    if not YEAR_TWO_S <= said.valid_at_s < _YEAR_9999_S:
        raise UsageError(
            "valid_at must lie between the years 2 and 9998; leave it out where it is not known"
        )


def _replaces(relation: str, relations: RelationTable) -> bool:
    """Whether a new value ends the ones before at once."""
    known = relations.relation(relation)
    return known.cardinality == "single" and (
        known.is_listed or split_name(relation)[:1] not in _ENDED_BY_CHOICE
    )
