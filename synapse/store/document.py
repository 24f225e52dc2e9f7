"""Makes a :class:`~synapse.hippocampus.ports.GraphDocument` fit to be stored, or says why not."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from typing import Any

from synapse.errors import UsageError, shown
from synapse.hippocampus.ports import GraphDocument

Item = dict[str, Any]

_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_UUID_MAX_CHARS = 1000
_EMBEDDINGS = ("name_embedding", "fact_embedding")

# Graphiti refuses to read an item that lacks one of these.
_ENTITY: Item = {"name": "", "group_id": "_", "summary": "", "labels": []}
_FACT: Item = {"name": "", "group_id": "_", "fact": "", "episodes": []}
_EPISODE: Item = {
    "name": "",
    "group_id": "_",
    "source": "text",
    "source_description": "",
    "content": "",
}
_MENTION: Item = {"group_id": "_"}


def refuse_own_graph(name: str) -> None:
    """Refuse to treat one of Synapse's own graphs as a memory."""
    if name.startswith("synapse:"):
        raise UsageError(
            f"the graph {shown(name)} belongs to Synapse itself; name the graph beside it"
        )


def storable(document: GraphDocument) -> GraphDocument:
    """The document as it is to be stored: each uuid once, the properties Graphiti needs added.

    Unknown values (``None``), embeddings and NUL characters are left out, ``labels`` lose the
    name ``Entity``, and each episode lists the facts of the document that name it, all as
    Graphiti would have it.

    Raises:
        UsageError: an item without uuid, or a property that a graph cannot hold.

    >>> stored = storable(GraphDocument(entities=({"uuid": "a", "labels": ["Entity", "City"]},)))
    >>> stored.entities[0]["labels"], stored.entities[0]["summary"]
    (['City'], '')
    """
    facts = _items("fact", document.facts, _FACT, ("source_node_uuid", "target_node_uuid"))
    episodes = _items("episode", document.episodes, _EPISODE)
    said_in: dict[str, list[str]] = {}
    for fact in facts:
        for episode in dict.fromkeys(fact["episodes"]):
            said_in.setdefault(episode, []).append(fact["uuid"])
    for episode in episodes:
        episode.setdefault("entity_edges", said_in.get(episode["uuid"], []))
    entities = _items("entity", document.entities, _ENTITY)
    for entity in entities:
        entity["labels"] = _labels(entity)
    return GraphDocument(
        entities=tuple(entities),
        facts=tuple(facts),
        episodes=tuple(episodes),
        mentions=tuple(
            _items("mention", document.mentions, _MENTION, ("episode_uuid", "entity_uuid"))
        ),
    )


def refuse_dangling(
    document: GraphDocument, entities: Collection[str], episodes: Collection[str]
) -> None:
    """Refuse facts and mentions that hang on something that is not there.

    Args:
        document: a storable document.
        entities: uuids of all entities there are or will be.
        episodes: uuids of all episodes there are or will be.
    """
    ends = (
        ("fact", document.facts, "source_node_uuid", "entity", entities),
        ("fact", document.facts, "target_node_uuid", "entity", entities),
        ("mention", document.mentions, "episode_uuid", "episode", episodes),
        ("mention", document.mentions, "entity_uuid", "entity", entities),
    )
    for what, items, end, wanted, known in ends:
        for item in items:
            if item[end] not in known:
                names = f"{shown(item['uuid'])} names {wanted} {shown(item[end])}"
                raise UsageError(f"{what} {names}, which is nowhere; add it")


def _items(
    what: str, items: Iterable[Item], required: Item, references: tuple[str, ...] = ()
) -> list[Item]:
    stored: dict[str, Item] = {}
    for item in items:
        known = {
            name: _without_nul(value)
            for name, value in item.items()
            if value is not None and name not in _EMBEDDINGS
        }
        for name in ("uuid", *references):
            _refuse_unfindable(what, item, name, known.get(name))
        for name, value in known.items():
            _refuse_unstorable(what, known["uuid"], name, value)
        stored.setdefault(known["uuid"], {**required, **known})
    return list(stored.values())


def _refuse_unfindable(what: str, item: Item, name: str, value: Any) -> None:
    if not isinstance(value, str) or not value:
        raise UsageError(f"the {what} {shown(item.get('uuid'))} lacks {name}; give it one")
    # FalkorDB's indices do not find texts of 4096 bytes or with U+0001, and take away spaces at
    # the ends: such an item could be written and never be linked.
    if len(value) > _UUID_MAX_CHARS or value != value.strip() or min(value) < " ":
        raise UsageError(f"{what} {shown(value)}: no index finds such a {name}; use a plain one")


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "")
    return [_without_nul(part) for part in value] if isinstance(value, list | tuple) else value


def _labels(entity: Item) -> list[str]:
    for label in entity["labels"]:
        if not isinstance(label, str) or not _LABEL.fullmatch(label):
            where = f"entity {shown(entity['uuid'])} has label {shown(label)}"
            raise UsageError(f"{where}: use letters and digits")
    return [label for label in entity["labels"] if label != "Entity"]


def _refuse_unstorable(what: str, uuid: str, name: str, value: Any) -> None:
    reason = None if name and _is_text(name) and not {"`", "\0"} & set(name) else "has a name"
    for part in value if isinstance(value, list | tuple) else (value,):
        reason = reason or _why_unstorable(part)
    if reason:
        raise UsageError(f"{what} {shown(uuid)}: {shown(name)} {reason} no graph can hold")


def _why_unstorable(value: Any) -> str | None:
    if isinstance(value, str):
        return None if _is_text(value) else "has a character"
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return None if -(2**63) <= value < 2**63 else "is a number"
    if isinstance(value, float):
        return None if math.isfinite(value) else "is a number"
    return f"is a {type(value).__name__}"


def _is_text(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)
