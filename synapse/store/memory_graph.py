"""One graph in plain dictionaries."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from synapse.hippocampus.model import (
    Entities,
    Episodes,
    Facts,
    Floats,
    GraphSnapshot,
    Ints,
    Mentions,
)
from synapse.hippocampus.plan import EndChange, FactState
from synapse.hippocampus.ports import GraphDocument
from synapse.hippocampus.ragged import Ragged
from synapse.store.document import Item, refuse_dangling
from synapse.store.times import parse_times


@dataclass(slots=True)
class Items:
    """What one graph holds, by uuid."""

    entities: dict[str, Item] = field(default_factory=dict)
    facts: dict[str, Item] = field(default_factory=dict)
    episodes: dict[str, Item] = field(default_factory=dict)
    mentions: dict[str, Item] = field(default_factory=dict)

    def with_document(self, document: GraphDocument) -> Items:
        """The graph with what a document adds; existing uuids are left as they are."""
        entities = {e["uuid"]: e for e in document.entities} | self.entities
        episodes = {e["uuid"]: e for e in document.episodes} | self.episodes
        refuse_dangling(document, entities, episodes)
        facts = {f["uuid"]: f for f in document.facts} | self.facts
        mentions = {m["uuid"]: m for m in document.mentions} | self.mentions
        return Items(entities, facts, episodes, mentions)

    def about(self, subjects: Collection[str]) -> Items:
        """The facts that start at some entities, with their ends and what supports them."""
        facts = {u: f for u, f in self.facts.items() if f["source_node_uuid"] in subjects}
        ends = {f[end] for f in facts.values() for end in ("source_node_uuid", "target_node_uuid")}
        ends.update(subjects)
        support = {uuid for fact in facts.values() for uuid in fact.get("episodes", ())}
        return Items(
            {u: {**e, "summary": ""} for u, e in self.entities.items() if u in ends},
            facts,
            {u: e for u, e in self.episodes.items() if u in support},
        )

    def named(self, names: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Uuids of the entities of each name, the oldest first."""
        exact: defaultdict[str, list[str]] = defaultdict(list)
        alike: defaultdict[str, list[str]] = defaultdict(list)
        for entity in sorted(self.entities.values(), key=_age):
            exact[entity["name"]].append(entity["uuid"])
            alike[entity["name"].lower()].append(entity["uuid"])
        found = {name: exact.get(name) or alike.get(name.lower()) for name in names}
        return {name: tuple(uuids) for name, uuids in found.items() if uuids}

    def confirm(self, fact: str, episode: str) -> bool:
        """Add an episode to those that support a fact; say whether it was new."""
        kept = self.facts.get(fact)
        if kept is None or episode in kept.get("episodes", []):
            return False
        kept["episodes"] = [*kept.get("episodes", []), episode]
        return True

    def states(self, facts: Iterable[str]) -> dict[str, FactState]:
        """What of these facts is compared before they are changed; gone ones are left out."""
        return {fact: _state(self.facts[fact]) for fact in facts if fact in self.facts}

    def change_ends(self, changes: Sequence[EndChange], check_lock: Callable[[], None]) -> set[str]:
        """Write when facts ended, each only where its end is still what it was before."""
        before, written = self.states(_named(changes)), set()
        for change in changes:
            check_lock()
            if _is_same(before, change.fact, change.before) and (
                change.by is None or _is_same(before, change.by, change.by_before)
            ):
                fact = {**self.facts[change.fact], "invalid_at": change.invalid_at}
                fact["expired_at"] = change.expired_at
                self.facts[change.fact] = {k: v for k, v in fact.items() if v is not None}
                written.add(change.fact)
        return written


def _age(item: Item) -> tuple[str, str]:
    return item.get("created_at") or "", item["uuid"]


def _state(fact: Item) -> FactState:
    valid_at, invalid_at, expired_at = map(fact.get, ("valid_at", "invalid_at", "expired_at"))
    return FactState(fact["fact"], valid_at, invalid_at, expired_at, tuple(fact["episodes"]))


def _named(changes: Iterable[EndChange]) -> set[str]:
    return {uuid for change in changes for uuid in (change.fact, change.by) if uuid is not None}


def _is_same(states: Mapping[str, FactState], uuid: str, before: FactState | None) -> bool:
    return before is not None and uuid in states and _bare(states[uuid]) == _bare(before)


def _bare(state: FactState) -> tuple[Any, ...]:
    """What of a fact is compared; an absent time and an empty one are the same."""
    return tuple(value or "" for value in astuple(state))


def snapshot_of(graph: str, kept: Items) -> GraphSnapshot:
    """The graph as columns."""
    entity_row = {uuid: row for row, uuid in enumerate(kept.entities)}
    episode_row = {uuid: row for row, uuid in enumerate(kept.episodes)}
    entities, facts = list(kept.entities.values()), list(kept.facts.values())
    episodes, mentions = list(kept.episodes.values()), list(kept.mentions.values())
    return GraphSnapshot(
        graph=graph,
        entities=Entities(
            uuid=_texts(entities, "uuid"),
            name=_texts(entities, "name"),
            summary=_texts(entities, "summary"),
            group_id=_texts(entities, "group_id"),
            labels=[tuple(dict.fromkeys(entity["labels"])) for entity in entities],
            created_at_s=_times(entities, "created_at"),
        ),
        facts=Facts(
            uuid=_texts(facts, "uuid"),
            relation=_texts(facts, "name"),
            text=_texts(facts, "fact"),
            group_id=_texts(facts, "group_id"),
            source=_rows(facts, "source_node_uuid", entity_row),
            target=_rows(facts, "target_node_uuid", entity_row),
            created_at_s=_times(facts, "created_at"),
            valid_at_s=_times(facts, "valid_at"),
            invalid_at_s=_times(facts, "invalid_at"),
            expired_at_s=_times(facts, "expired_at"),
            episodes=Ragged.from_lists([_known(f["episodes"], episode_row) for f in facts]),
            references_count=np.array([sum(map(bool, f["episodes"])) for f in facts], np.int64),
        ),
        episodes=Episodes(
            uuid=_texts(episodes, "uuid"),
            group_id=_texts(episodes, "group_id"),
            created_at_s=_times(episodes, "created_at"),
            valid_at_s=_times(episodes, "valid_at"),
        ),
        mentions=Mentions(
            episode=_rows(mentions, "episode_uuid", episode_row),
            entity=_rows(mentions, "entity_uuid", entity_row),
        ),
        digest=blake2b(json.dumps(asdict(kept)).encode(), digest_size=16).hexdigest(),
    )


def _texts(items: list[Item], name: str) -> list[str]:
    return [str(item[name]) for item in items]


def _times(items: list[Item], name: str) -> Floats:
    return parse_times([str(item.get(name, "")).encode() for item in items])


def _rows(items: list[Item], name: str, row_of: dict[str, int]) -> Ints:
    return np.fromiter((row_of[item[name]] for item in items), np.int64, len(items))


def _known(uuids: list[str], row_of: dict[str, int]) -> list[int]:
    return [row_of[uuid] for uuid in dict.fromkeys(uuids) if uuid in row_of]
