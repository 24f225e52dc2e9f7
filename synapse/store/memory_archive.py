"""The archive of a store in plain dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from synapse.hippocampus.archived import ArchivedMemory
from synapse.hippocampus.image import Link, MemoryImage, digests
from synapse.hippocampus.plan import ArchiveChange
from synapse.hippocampus.restoration import (
    ALREADY_THERE,
    Restoration,
    came_back,
    decide,
    names_of_ends,
)
from synapse.store.document import Item
from synapse.store.memory_graph import Items

_ENDS = ("source_node_uuid", "target_node_uuid")


def read_images(items: Items, uuids: Iterable[str]) -> dict[str, MemoryImage]:
    """These memories with everything that they consist of."""
    found = {}
    for uuid in uuids:
        if uuid in items.entities:
            found[uuid] = _entity_image(items, items.entities[uuid])
        elif uuid in items.facts:
            found[uuid] = _fact_image(items, items.facts[uuid])
    return found


class Archive:
    """Entries and contents, in the order in which they were written."""

    def __init__(self) -> None:
        self._entries: list[tuple[ArchivedMemory, MemoryImage | None]] = []

    def entries(self, run_id: str | None = None) -> list[ArchivedMemory]:
        """All entries, or those of one run, oldest first."""
        return [entry for entry, _ in self._entries if run_id in (None, entry.run_id)]

    def images(self, uuids: Collection[str]) -> dict[str, MemoryImage]:
        """What is kept of these memories, the newest of each."""
        return {entry.uuid: image for entry, image in self._entries if image if entry.uuid in uuids}

    def move(
        self,
        items: Items,
        changes: Sequence[ArchiveChange],
        new_entry: Callable[[ArchiveChange, MemoryImage], ArchivedMemory],
        check_lock: Callable[[], None],
        is_pinned: Callable[[str], bool],
    ) -> set[str]:
        """Move memories out of a graph, facts first."""
        moved = set()
        for change in sorted(changes, key=lambda change: change.kind == "entity"):
            check_lock()
            image = read_images(items, [change.uuid]).get(change.uuid)
            if image is None or image.digest != change.before_digest or image.facts:
                continue
            if is_pinned(change.uuid):
                continue
            self._entries.append((new_entry(change, image), image))
            _remove(items, image)
            moved.add(change.uuid)
        return moved

    def restore(
        self, items: Items, uuids: Collection[str], check_lock: Callable[[], None]
    ) -> dict[str, str]:
        """Bring memories back, entities first."""
        found = self._decided(items, uuids)
        present = digests(read_images(items, uuids))
        for place, (entry, _) in enumerate(self._entries):
            is_there = found.outcomes.get(entry.uuid) == ALREADY_THERE
            if is_there and entry.state == "archived" and entry.digest == present[entry.uuid]:
                self._entries[place] = (replace(entry, state="restored"), None)
        for uuid in (*found.entities, *found.facts):
            check_lock()
            found.outcomes[uuid] = self._put_back(items, uuid)
        return found.told()

    def foresee(self, items: Items, uuids: Collection[str]) -> dict[str, str]:
        """What :meth:`restore` would say."""
        found = self._decided(items, uuids)
        for uuid, image in self.images([*found.entities, *found.facts]).items():
            found.outcomes[uuid] = came_back(_lost(items, image))
        return found.told()

    def _decided(self, items: Items, uuids: Collection[str]) -> Restoration:
        ends = {end for entry in self.entries() if entry.uuid in uuids for end in entry.ends}
        present = digests(read_images(items, ends | set(uuids)))
        gone = (ends | set(uuids)) - present.keys()
        return decide(uuids, self.entries(), present, self._namesakes(items, gone))

    def purge(self, before_s: float, check_lock: Callable[[], None]) -> int:
        """Free what was archived before a moment."""
        old = [
            (entry.uuid, place)
            for place, (entry, image) in enumerate(self._entries)
            if image is not None and entry.at_s < before_s
        ]
        gone = dict(old)
        for place, (entry, image) in enumerate(self._entries):
            is_old = image is not None and entry.at_s < before_s
            # An entry of an earlier time, from which the memory came back, still tells its text.
            if is_old or (entry.state == "restored" and place < gone.get(entry.uuid, 0)):
                check_lock()
                tombstone = replace(entry, state="purged", name="", end_names=())
                self._entries[place] = (tombstone, None)
        return len(old)

    def _put_back(self, items: Items, uuid: str) -> str:
        kept = enumerate(self._entries)
        place = max(i for i, (entry, image) in kept if entry.uuid == uuid and image)
        entry, image = self._entries[place]
        assert image is not None
        _add(items, image)
        self._entries[place] = (replace(entry, state="restored"), None)
        return came_back(_lost(items, image))

    def _namesakes(self, items: Items, ends: Collection[str]) -> dict[str, str]:
        known = names_of_ends(self.entries())
        there = {(e["name"], e["group_id"]): uuid for uuid, e in items.entities.items()}
        return {end: there[known[end]] for end in ends if known.get(end) in there}


def _entity_image(items: Items, entity: Item) -> MemoryImage:
    uuid = entity["uuid"]
    return MemoryImage(
        uuid,
        "entity",
        {name: value for name, value in entity.items() if name != "labels"},
        labels=("Entity", *entity["labels"]),
        links=tuple(_links(items.mentions.values(), uuid)),
        facts=tuple(f["uuid"] for f in items.facts.values() if uuid in map(f.get, _ENDS)),
    )


def _fact_image(items: Items, fact: Item) -> MemoryImage:
    ends = tuple(fact[end] for end in _ENDS)
    names = tuple(items.entities[end]["name"] for end in ends)
    return MemoryImage(fact["uuid"], "fact", dict(fact), ends=ends, end_names=names)


def _links(mentions: Iterable[Item], entity: str) -> Iterator[Link]:
    for mention in mentions:
        if mention["entity_uuid"] == entity:
            properties = {k: v for k, v in mention.items() if k not in _MENTION_ENDS}
            yield Link("MENTIONS", mention["episode_uuid"], "Episodic", False, properties)


_MENTION_ENDS = ("episode_uuid", "entity_uuid")


def _remove(items: Items, image: MemoryImage) -> None:
    if image.kind == "fact":
        del items.facts[image.uuid]
        return
    del items.entities[image.uuid]
    for link in image.links:
        del items.mentions[link.properties["uuid"]]


def _add(items: Items, image: MemoryImage) -> None:
    """Put a memory back, with those of its links whose other ends are there."""
    if image.kind == "fact":
        items.facts[image.uuid] = dict(image.properties)
        return
    labels = [label for label in image.labels if label != "Entity"]
    items.entities[image.uuid] = {**image.properties, "labels": labels}
    links = [link for link in image.links if link.other in items.episodes]
    for link in links:
        ends: Mapping[str, str] = {"episode_uuid": link.other, "entity_uuid": image.uuid}
        items.mentions[link.properties["uuid"]] = {**link.properties, **ends}


def _lost(items: Items, image: MemoryImage) -> list[Link]:
    return [link for link in image.links if link.other not in items.episodes]
