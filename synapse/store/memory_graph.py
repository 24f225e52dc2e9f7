"""One graph in plain dictionaries."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from hashlib import blake2b

import numpy as np

from synapse.hippocampus.model import (
    Entities,
    Episodes,
    Facts,
    Floats,
    GraphSnapshot,
    Ints,
    Mentions,
    Ragged,
)
from synapse.hippocampus.plan import FactState
from synapse.store.document import Item
from synapse.store.times import parse_times


@dataclass(slots=True)
class Items:
    """What one graph holds, by uuid."""

    entities: dict[str, Item] = field(default_factory=dict)
    facts: dict[str, Item] = field(default_factory=dict)
    episodes: dict[str, Item] = field(default_factory=dict)
    mentions: dict[str, Item] = field(default_factory=dict)


def state_of(fact: Item) -> FactState:
    """What of a fact is compared before it is changed."""
    valid_at, invalid_at, expired_at = map(fact.get, ("valid_at", "invalid_at", "expired_at"))
    return FactState(fact["fact"], valid_at, invalid_at, expired_at, tuple(fact["episodes"]))


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
