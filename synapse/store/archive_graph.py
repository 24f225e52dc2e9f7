"""The graph in which a room keeps what was archived: ``synapse:{<graph>}:memory``.

::

    (:Archive {settled})                                   the last number whose memory is away
    (:Archived {number, uuid, run_id, state, details})     one entry, for good

What a memory consists of stands beside it, see :mod:`~synapse.store.archive_contents`. Earlier
releases kept that in the graph as well::

    (:Archived) -[:HOLDS]-> (:Content)                     the memory's properties, as they were
        -[:LINK {type, other, label, is_outgoing}]-> (:Link)    properties of one edge of an entity

No label or type of Graphiti's occurs in it, and Graphiti never opens a graph of that name. It is
created with the first memory that is archived.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from redis.exceptions import ResponseError

from synapse.errors import StoreError, shown
from synapse.hippocampus.archived import ArchivedMemory, ArchiveState
from synapse.hippocampus.image import MemoryImage
from synapse.hippocampus.shared_links import ENTITY
from synapse.store.archive_contents import ArchiveContents
from synapse.store.bites import Bites, is_there
from synapse.store.cypher import batches, literal, portions
from synapse.store.failures import is_without_graph
from synapse.store.images import exact, link
from synapse.store.keys import room_key, shown_key
from synapse.store.records import details, entry_of, entry_of_damaged, understood
from synapse.store.values import decoded

_INDEX = "CREATE INDEX FOR (r:Archived) ON (r.number, r.uuid, r.state)"
_SETTLED = "MATCH (a:Archive) WITH max(a.settled) AS n RETURN collect([n])"
_SETTLE = "UNWIND $rows AS n MERGE (a:Archive) SET a.settled = n"
_RECORDS = "RETURN collect([r.number, r.uuid, r.run_id, r.state, r.details])"
_LAST = "MATCH (r:Archived) WITH max(r.number) AS n RETURN collect([n])"
_PAGE = (
    "UNWIND $rows AS page MATCH (r:Archived) "
    "WHERE r.number >= page[0] AND r.number < page[1] {} " + _RECORDS
)
_BY = "UNWIND $rows AS value MATCH (r:Archived {{{}: value}}) " + _RECORDS
_WRITE = (
    "UNWIND $rows AS x CREATE (r:Archived {number: x[0], uuid: x[1], run_id: x[2], "
    "state: 'archived', details: x[3]}) RETURN collect([r.number])"
)
_LINKS = (
    "OPTIONAL MATCH (r)-[k:LINK]->(q:Link) WITH r, c, collect(CASE WHEN k IS NULL THEN null "
    "ELSE [k.type, k.is_outgoing, k.other, properties(q), [k.label]] END) AS links "
)
_CONTENT = (
    "UNWIND $rows AS n MATCH (r:Archived {number: n})-[:HOLDS]->(c:Content) "
    + _LINKS
    + "RETURN collect([r.number, properties(c), links])"
)
_CONTENT_OF = "(:Archived {number: row.key})-[:HOLDS]->(x:Content)"
_STATE = "UNWIND $rows AS x MATCH (r:Archived {number: x[0]}) SET r.state = x[1]"
_FREE = (
    "UNWIND $rows AS x MATCH (r:Archived {number: x[0]}) SET r.state = x[1], r.details = x[2] "
    "WITH r OPTIONAL MATCH (r)-[:HOLDS|LINK]->(c) DELETE c"
)
_DROP = (
    "UNWIND $rows AS n MATCH (r:Archived {number: n}) "
    "OPTIONAL MATCH (r)-[:HOLDS|LINK]->(c) DELETE c, r"
)
_HAS_CONTENT = (
    "UNWIND $rows AS n OPTIONAL MATCH (r:Archived {number: n}) "
    "WITH n, count(CASE WHEN r.state IN ['restored', 'purged'] THEN null ELSE r END) AS count "
    "RETURN collect([n, count > 0])"
)
_PAGE_COUNT = 1000


@dataclass(frozen=True, slots=True)
class Record:
    """An entry and its place in the order of entries."""

    number: int
    entry: ArchivedMemory


class ArchiveGraph:
    """The archive beside one graph.

    Args:
        bites: asks the server.
        graph: name of the graph that it is the archive of.
    """

    def __init__(self, bites: Bites, graph: str) -> None:
        self.bites = bites
        self._graph = graph
        self._name = room_key(graph, "memory")
        self._contents = ArchiveContents(bites, graph)

    def last_number(self) -> int:
        """The largest number that was given to an entry, 0 where there is none."""
        return max(self._number(_LAST), self._settled())

    def prepare(self) -> None:
        """Create the graph and its index, where there is none."""
        if not is_there(self.bites, self._name):
            self.bites.write(self._name, [], _INDEX)

    def records(self, run_id: str | None = None) -> list[Record]:
        """All entries, or those of one run, oldest first."""
        last = self._number(_LAST)
        only = "" if run_id is None else "AND r.run_id = page[2]"
        found: list[Record] = []
        for start in range(1, last + 1, _PAGE_COUNT):
            page = [start, start + _PAGE_COUNT, run_id]
            found += self._records(self._read([literal(page)], _PAGE.format(only)))
        return sorted(found, key=lambda record: record.number)

    def about(self, uuids: Iterable[str]) -> list[Record]:
        """All entries about some memories, oldest first."""
        return self._by("uuid", sorted(uuid for uuid in set(uuids) if "\0" not in uuid))

    def unfinished(self) -> list[Record]:
        """Entries that a run which died has left half-way, oldest first."""
        first, last = self._settled() + 1, self._number(_LAST) + 1
        copied = self._records(self._read([literal([first, last])], _PAGE.format("")))
        return sorted([*copied, *self._by("state", ["restoring"])], key=lambda r: r.number)

    def settle(self, number: int) -> None:
        """Note that the memories of all entries up to this number are away."""
        self.bites.write(self._name, [str(number)], _SETTLE)

    def write(self, records: Sequence[Record], images: Mapping[str, MemoryImage]) -> list[Record]:
        """Copy memories; return the records whose copy is what it should be."""
        if not records:
            return []
        written = self._contents.write({r.number: images[r.entry.uuid] for r in records})
        rows = [
            literal([r.number, r.entry.uuid, r.entry.run_id, details(r.entry)])
            for r in records
            if r.number in written
        ]
        noted: set[int] = set()
        for portion in portions(rows):
            answer = self.bites.write(self._name, portion, _WRITE)
            noted.update(decoded(number) for (number,) in answer)
        return [record for record in records if record.number in noted]

    def rewrite(self, record: Record, image: MemoryImage) -> None:
        """Keep another content of an entry; what the entry says of the memory stays."""
        if not self._contents.write({record.number: image}):
            raise StoreError(f"the archive did not take an edge of {shown(image.uuid)}; try again")

    def set_state(self, records: Iterable[Record], state: ArchiveState) -> None:
        """Say what became of some memories; their content stays."""
        rows = [literal([record.number, state]) for record in records]
        if rows:
            self.bites.write(self._name, rows, _STATE)

    def free(self, records: Iterable[Record], state: ArchiveState) -> None:
        """Remove the content of some entries; what was purged loses its name as well."""
        rows, numbers = [], []
        for record in records:
            entry = record.entry
            numbers.append(record.number)
            if state == "purged":
                entry = replace(entry, name="", end_names=())
            rows.append(literal([record.number, state, details(entry)]))
        if rows:
            self.bites.write(self._name, rows, _FREE)
            self._contents.drop(numbers)

    def drop(self, records: Iterable[Record]) -> None:
        """Remove entries of memories that never went."""
        rows = [str(record.number) for record in records]
        if rows:
            self.bites.write(self._name, rows, _DROP)
            self._contents.drop([int(row) for row in rows])

    def drop_strays(self) -> None:
        """Free contents that no entry refers to."""
        live = {r.number for r in self.records() if r.entry.has_content}
        self._contents.drop_strays(live, self._without_entry)

    def _without_entry(self, numbers: Sequence[int]) -> list[int]:
        """Those of the numbers that the server itself says no entry with content has."""
        told: dict[int, bool] = {}
        for portion in batches(numbers):
            told |= {
                decoded(number): decoded(has_content)
                for number, has_content in self.bites.read(self._name, portion, _HAS_CONTENT)
            }
        return [number for number in numbers if told.get(number) is False]

    def images(self, records: Sequence[Record]) -> dict[str, MemoryImage]:
        """The content of some entries about different memories, by uuid, without damaged ones."""
        contents = self._contents.read([record.number for record in records])
        in_graph = [r for r in records if r.number not in contents and r.entry.digest]
        images = self._images_in_graph(in_graph)
        for record in records:
            if record.number in contents:
                image = _image_of(record.entry, contents[record.number])
                if image is not None:
                    images[image.uuid] = replace(image, end_names=record.entry.end_names)
        return images

    def _images_in_graph(self, records: Sequence[Record]) -> dict[str, MemoryImage]:
        """The same of entries of an earlier release."""
        if not records:
            return {}
        entries = {record.number: record.entry for record in records}
        rows = self.bites.read(self._name, list(map(str, entries)), _CONTENT)
        cells = {decoded(number): (decoded(props), decoded(links)) for number, props, links in rows}
        printed = {number: properties for number, (properties, _) in cells.items()}
        whole = printed | exact(self.bites, self._name, _CONTENT_OF, printed)
        return {
            entries[number].uuid: MemoryImage(
                entries[number].uuid,
                entries[number].kind,
                whole[number],
                labels=entries[number].labels,
                ends=entries[number].ends,
                links=tuple(map(link, links)),
                end_names=entries[number].end_names,
            )
            for number, (_, links) in cells.items()
        }

    def _by(self, name: str, values: Sequence[str]) -> list[Record]:
        found: list[Record] = []
        for portion in batches(values):
            found += self._records(self._read(portion, _BY.format(name)))
        return sorted(found, key=lambda record: record.number)

    def _read(self, rows: list[str], query: str) -> list[Any]:
        try:
            return self.bites.read(self._name, rows, query)
        except ResponseError as error:
            if not is_without_graph(error):
                raise
            return []

    def _records(self, rows: list[Any]) -> list[Record]:
        settled = self._settled() if rows else 0
        found, damaged = [], {}
        for number, uuid, run_id, state, known in (map(decoded, row) for row in rows):
            is_copied = state == "archived" and number > settled
            entry = entry_of(uuid, run_id, "copied" if is_copied else state, known)
            if entry is None:
                damaged[number] = uuid, run_id, state
            else:
                found.append(Record(number, entry))
        return found + self._damaged(damaged) if damaged else found

    def _damaged(self, rows: Mapping[int, tuple[Any, Any, Any]]) -> list[Record]:
        """Entries that say nothing any more of memories whose content may still be there."""
        contents = self._contents.read(rows)
        found = []
        for number, told in rows.items():
            why = f"unknown, since entry {number} of {shown_key(self._graph, 'memory')} is damaged"
            found.append(Record(number, entry_of_damaged(*told, contents.get(number), why)))
        return found

    def _settled(self) -> int:
        return self._number(_SETTLED)

    def _number(self, query: str) -> int:
        rows = self._read([], query)
        number = decoded(rows[0][0]) if rows else 0
        return int(number) if isinstance(number, int | float) else 0


def _image_of(entry: ArchivedMemory, content: bytes) -> MemoryImage | None:
    """The memory, if the content is what was copied of it."""
    if blake2b(content, digest_size=16).hexdigest() == entry.digest:
        return MemoryImage.of_content(content, entry.labels)
    image = understood(content, entry.labels)
    # Only what has edges to other entities is ever written again, with one of those more.
    is_rewritten = image and any(link.other_label == ENTITY for link in image.links)
    return image if image and image.uuid == entry.uuid and is_rewritten else None
