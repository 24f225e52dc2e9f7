"""Records of a memory file, joined to the memory that Graphiti would have written.

An MCP memory knows entities, their observations and relations between them. Here an entity is a
Graphiti entity, a relation is a fact, and an observation is a fact from its entity to itself
named ``OBSERVED``: Graphiti, too, keeps statements about one thing as such loops, they count for
the salience of their entity, and two of them can contradict each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid5

from synapse.errors import UsageError
from synapse.hippocampus.ports import GraphDocument
from synapse.integrations.memory_record import (
    Kind,
    Properties,
    Record,
    is_uuid,
    iso_utc,
    labels_of,
    name_of,
    observations_key,
    observed_facts,
    properties_of,
    relation_words,
    shown,
    take_first,
    texts_of,
)

_NAMESPACE = uuid5(NAMESPACE_URL, "synapse-hippocampus/memory-file")
_ENTITY_TYPES = ("entityType", "entity_type", "nodeType", "node_type", "type")
_RELATION_TYPES = ("relationType", "relation_type", "relation", "edgeType", "edge_type", "type")
_SAYING: dict[Kind, tuple[str, ...]] = {
    "fact": ("source_node_uuid", "target_node_uuid", "name", "fact", "valid_at"),
    "episode": ("name", "content", "valid_at"),
    "mention": ("episode_uuid", "entity_uuid"),
}
"""What an item without a uuid is known by."""


@dataclass(frozen=True, slots=True)
class MemoryDocument(GraphDocument):
    """The memory of a file."""

    undeclared: tuple[str, ...] = ()
    """Names of the entities that the file only refers to."""


def document_of(records: Iterable[Record], *, group_id: str, now_iso: str) -> MemoryDocument:
    """Join records to one memory, ends and mentions resolved.

    An end that is named and nowhere declared becomes an entity of that name.

    Raises:
        UsageError: a record is wrong; the sentence names it.
    """
    by_kind: dict[Kind, list[Record]] = {"entity": [], "fact": [], "episode": [], "mention": []}
    for record in records:
        by_kind[record.kind].append(record)
    if not any(by_kind.values()):
        raise UsageError("the file holds no entities, facts, episodes or mentions")
    memory = _Memory(group_id, iso_utc(now_iso, "the time of the run"))
    by_kind["entity"].sort(key=lambda record: not record.values.get("uuid"))
    for record in by_kind["entity"]:
        memory.add_entity(record)
    for record in by_kind["episode"]:
        memory.add_episode(record)
    for record in by_kind["fact"]:
        memory.add_fact(record)
    for record in by_kind["mention"]:
        memory.add_mention(record)
    return memory.document()


class _Memory:
    """The items found so far, by uuid."""

    def __init__(self, group_id: str, now_iso: str) -> None:
        self._group_id = group_id
        self._now_iso = now_iso
        self._items: dict[Kind, dict[str, Properties]] = {
            "entity": {}, "fact": {}, "episode": {}, "mention": {},
        }  # fmt: skip
        self._places: dict[str, str] = {}
        self._named: dict[str, set[str]] = {}
        self._undeclared: list[str] = []

    def document(self) -> MemoryDocument:
        """Everything added, in the order of the file."""
        entities, facts, episodes, mentions = (
            tuple(items.values()) for items in self._items.values()
        )
        return MemoryDocument(entities, facts, episodes, mentions, tuple(self._undeclared))

    def add_entity(self, record: Record) -> None:
        """An entity and the facts its observations are."""
        item = properties_of(record)
        item.pop(observations_key(record), None)
        name = name_of(item, record)
        entity_type = take_first(item, _ENTITY_TYPES)
        observations = observed_facts(record)
        for observation in observations:
            self._set_created_at(observation)
        observed_at = (observation["created_at"] for observation in observations)
        item.setdefault("created_at", min(observed_at, default=self._now_iso))
        item.setdefault("summary", "")
        item["labels"] = labels_of(record, entity_type)
        if entity_type is not None:
            item["entity_type"] = entity_type
        if "uuid" in item:
            uuid = self._add("entity", item, record.where)
        else:
            uuid = self._merge_entity(name, item, record.where)
        self._named.setdefault(name, set()).add(uuid)
        for observation in observations:
            observation |= {"source_node_uuid": uuid, "target_node_uuid": uuid}
            self._add_derived("fact", observation, record.where)

    def _merge_entity(self, name: str, item: Properties, where: str) -> str:
        """Add an entity known by its name only; a second record of that name adds to the first."""
        uuid = self._entity_named(name, where) or self._uuid("entity", name)
        known = self._items["entity"].get(uuid)
        if known is None:
            return self._add("entity", item | {"uuid": uuid}, where)
        known["labels"] = list(dict.fromkeys(known["labels"] + item["labels"]))
        for key, value in item.items():
            known.setdefault(key, value)
        return uuid

    def add_episode(self, record: Record) -> None:
        """An episode; a missing time is taken from the other one, else from the run."""
        item = properties_of(record)
        self._set_created_at(item)
        item.setdefault("valid_at", item["created_at"])
        item.setdefault("name", "episode")
        item.setdefault("source", "text")
        item.setdefault("source_description", "")
        item.setdefault("content", "")
        if "entity_edges" in item:
            item["entity_edges"] = texts_of(record, "entity_edges")
        self._add_derived("episode", item, record.where)

    def add_fact(self, record: Record) -> None:
        """A fact between two entities, given by uuid or by name."""
        item = properties_of(record)
        relation_type = None if "name" in item else take_first(item, _RELATION_TYPES)
        self._set_created_at(item)
        source = self._end(item, ("source_node_uuid", "source_uuid"), ("source", "from"), record)
        target = self._end(item, ("target_node_uuid", "target_uuid"), ("target", "to"), record)
        item |= {"source_node_uuid": source, "target_node_uuid": target}
        words = relation_words(relation_type or item.get("name", ""))
        item.setdefault("name", words.replace(" ", "_").upper() or "RELATES_TO")
        if "fact" not in item:
            names = [self._items["entity"][uuid]["name"] for uuid in (source, target)]
            item["fact"] = f"{names[0]} {words or 'relates to'} {names[1]}"
        item["episodes"] = texts_of(record, "episodes")
        self._add_derived("fact", item, record.where)

    def add_mention(self, record: Record) -> None:
        """A mention of an entity in an episode."""
        item = properties_of(record)
        episode = take_first(
            item, ("episode_uuid", "source_node_uuid", "source_uuid", "episode", "source")
        )
        if episode is None or episode not in self._items["episode"]:
            said = "episode_uuid is missing or not text"
            if episode is not None:
                said = f"no episode of this file is {shown(episode)}"
            raise UsageError(f"{record.where}: {said}")
        entity = self._end(
            item, ("entity_uuid", "target_node_uuid", "target_uuid"), ("entity", "target"), record,
            may_create=False,
        )  # fmt: skip
        item |= {"episode_uuid": episode, "entity_uuid": entity}
        item.setdefault("created_at", self._items["episode"][episode]["created_at"])
        self._add_derived("mention", item, record.where)

    def _end(
        self,
        item: Properties,
        uuid_keys: tuple[str, ...],
        name_keys: tuple[str, ...],
        record: Record,
        *,
        may_create: bool = True,
    ) -> str:
        """The uuid of the entity that one end of a record names."""
        uuid, name = take_first(item, uuid_keys), None
        if uuid is None:
            name = take_first(item, name_keys)
            if name is None:
                raise UsageError(f"{record.where}: {name_keys[0]} is missing or not text")
            uuid = name if name in self._items["entity"] else self._entity_named(name, record.where)
        if uuid is not None and uuid in self._items["entity"]:
            return uuid
        if name is None or is_uuid(name) or not may_create:
            raise UsageError(f"{record.where}: no entity of this file is {shown(uuid or name)}")
        uuid, created_at = self._uuid("entity", name), item["created_at"]
        self._named[name] = {uuid}
        self._undeclared.append(name)
        new = {"uuid": uuid, "name": name, "summary": "", "labels": [], "created_at": created_at}
        return self._add("entity", new, record.where)

    def _entity_named(self, name: str, where: str) -> str | None:
        uuids = self._named.get(name, set())
        if len(uuids) > 1:
            raise UsageError(
                f"{where}: {len(uuids)} entities are named {shown(name)}: refer to one by its uuid"
            )
        return next(iter(uuids), None)

    def _add_derived(self, kind: Kind, item: Properties, where: str) -> None:
        """Add an item; without a uuid of its own it gets one from what it says.

        What is said again is the same item, supported by one more episode.
        """
        if "uuid" not in item:
            said = (str(item.get(key, "")) for key in _SAYING[kind])
            item["uuid"] = self._uuid(kind, *said)
            known = self._items[kind].get(item["uuid"])
            if known is not None:
                if kind == "fact":
                    known["episodes"] = list(dict.fromkeys(known["episodes"] + item["episodes"]))
                return
        self._add(kind, item, where)

    def _add(self, kind: Kind, item: Properties, where: str) -> str:
        item["group_id"] = self._group_id
        uuid = str(item["uuid"])
        if uuid in self._places and self._items[kind].get(uuid) != item:
            raise UsageError(f"{where}: uuid {shown(uuid)} is already used ({self._places[uuid]})")
        self._places.setdefault(uuid, where.rpartition(", ")[2])
        self._items[kind][uuid] = item
        return uuid

    def _set_created_at(self, item: Properties) -> None:
        """What carries no time of learning was learned when it became true, at the latest now."""
        item.setdefault("created_at", min(item.get("valid_at", self._now_iso), self._now_iso))

    def _uuid(self, kind: Kind, *said: str) -> str:
        return str(uuid5(_NAMESPACE, json.dumps([self._group_id, kind, *said])))
