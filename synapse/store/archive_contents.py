"""What archived memories consist of: a hash of bytes beside the archive's graph.

``synapse:{<graph>}:archive`` maps the number of an entry to the memory's content. Embeddings are
most of it, and as properties of a graph each of their numbers would be printed, sent and parsed.
An entry without content here was made by an earlier release, which kept it in the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet

from synapse.hippocampus.image import MemoryImage
from synapse.store.bites import Bites
from synapse.store.keys import ENTRIES_PER_TRIP, room_key


class ArchiveContents:
    """The contents of the archive beside one graph.

    Args:
        bites: asks the server.
        graph: name of the graph that it is the archive of.
    """

    def __init__(self, bites: Bites, graph: str) -> None:
        self._bites = bites
        self._key = room_key(graph, "archive")

    def write(self, images: Mapping[int, MemoryImage]) -> set[int]:
        """Copy memories; return the numbers of the copies that are what they should be."""
        pairs = [part for n, image in images.items() for part in (n, image.content)]
        self._bites.change("HSET", self._key, *pairs)
        kept = self.read(images)
        return {number for number in kept if kept[number] == images[number].content}

    def read(self, numbers: Collection[int]) -> dict[int, bytes]:
        """The contents there are of these entries."""
        if not numbers:
            return {}
        values = self._bites.ask("HMGET", self._key, *numbers)
        found = zip(numbers, values, strict=True)
        return {number: content for number, content in found if content is not None}

    def drop(self, numbers: Collection[int]) -> None:
        """Free the contents of these entries."""
        if numbers:
            self._bites.change("HDEL", self._key, *numbers)

    def drop_strays(
        self,
        live: AbstractSet[int],
        without_entry: Callable[[Sequence[int]], Collection[int]],
    ) -> None:
        """Free what runs that died have left without an entry that refers to it.

        Args:
            live: numbers of entries that are known to have content.
            without_entry: which of some other numbers are proved to have none that does.
        """
        fields = self._bites.connection.hscan_iter(
            self._key, count=ENTRIES_PER_TRIP, no_values=True
        )
        numbers = [int(field) for field in fields if field.isdigit()]  # others are nobody's
        strays = [number for number in numbers if number not in live]
        for start in range(0, len(strays), ENTRIES_PER_TRIP):
            self.drop(without_entry(strays[start : start + ENTRIES_PER_TRIP]))
