"""One memory with everything that is needed to bring it back as it was."""

from __future__ import annotations

import json
import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal

Kind = Literal["entity", "fact"]

_NUMBER_BYTES = 4
_as_json = json.JSONEncoder(sort_keys=True).encode


class Vector:
    """An embedding: numbers of 32 bits, kept apart from a list of numbers.

    Args:
        packed: its numbers, four bytes each, the lowest byte first.

    >>> Vector.of([0.5, 1.0]).numbers, Vector.of([0.5, 1.0]) == Vector.of([0.5, -1.0])
    ((0.5, 1.0), False)
    """

    __slots__ = ("packed",)

    def __init__(self, packed: bytes) -> None:
        self.packed = packed

    @classmethod
    def of(cls, numbers: Collection[float]) -> Vector:
        """A vector of these numbers, rounded to 32 bits."""
        return Vector(struct.pack(f"<{len(numbers)}f", *numbers))

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return len(self.packed) // _NUMBER_BYTES

    @property
    def numbers(self) -> tuple[float, ...]:
        """What it consists of."""
        return struct.unpack(f"<{self.size}f", self.packed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vector) and self.packed == other.packed

    def __hash__(self) -> int:
        return hash(self.packed)

    def __repr__(self) -> str:
        return f"Vector.of({self.numbers})"


@dataclass(frozen=True, slots=True)
class Link:
    """One edge of an entity that is no fact: an episode's mention, a community's membership."""

    type: str
    other: str
    """Uuid of the node at the other end."""
    other_label: str
    is_outgoing: bool
    properties: Mapping[str, Any]

    def canonical(self) -> list[Any]:
        """The same for equal links, whatever the order of their properties."""
        plain, _ = _plain(self.properties)
        return [self.type, self.other, self.other_label, self.is_outgoing, plain]

    @property
    def named(self) -> str:
        """Its canonical form as JSON."""
        return _as_json(self.canonical())

    @classmethod
    def of_canonical(cls, line: str) -> Link:
        """The link again, from its canonical form as JSON."""
        return cls(*json.loads(line))


@dataclass(frozen=True)
class MemoryImage:
    """A memory as its graph holds it: the state before it is archived, and after it is restored.

    >>> image = MemoryImage("a", "entity", {"name": "Ada", "age": 36})
    >>> image.digest == MemoryImage("a", "entity", {"age": 36, "name": "Ada"}).digest
    True
    >>> image.digest == MemoryImage("a", "entity", {"name": "Ada", "age": 36.0}).digest
    False
    """

    uuid: str
    kind: Kind
    properties: Mapping[str, Any]
    """As the server holds them: text, integer, float, truth, a list of these, or a vector."""
    labels: tuple[str, ...] = ()
    """Of an entity."""
    ends: tuple[str, ...] = ()
    """Of a fact: uuids of its source and its target."""
    links: tuple[Link, ...] = ()
    """Of an entity: every edge but the facts."""
    end_names: tuple[str, ...] = ()
    """Names of the ends, to speak of them when they are gone. Not in the digest."""
    facts: tuple[str, ...] = field(default=())
    """Of an entity: uuids of the facts that hang on it, which go before it. Not in the digest."""
    obstacle: str = ""
    """Why this memory cannot be archived; empty where it can. Not in the digest."""

    @property
    def name(self) -> str:
        """The name of an entity, the text of a fact."""
        said = self.properties.get("name" if self.kind == "entity" else "fact")
        return said if isinstance(said, str) else ""

    @property
    def group_id(self) -> str:
        """The Graphiti group that it belongs to."""
        group = self.properties.get("group_id")
        return group if isinstance(group, str) else ""

    @cached_property
    def content(self) -> bytes:
        """The memory in exactly this state, whatever the order of properties and links.

        A line of JSON, and the numbers of its embeddings after it.
        """
        links = sorted(link.named for link in self.links)
        plain, packed = _plain(self.properties)
        whole = [self.uuid, self.kind, sorted(self.labels), self.ends, links, plain]
        return b"\n".join((_as_json(whole).encode("ascii"), *packed))

    @classmethod
    def of_content(cls, content: bytes, labels: tuple[str, ...] = ()) -> MemoryImage:
        """The memory again.

        Args:
            content: what :attr:`content` was.
            labels: its labels in their order.

        >>> image = MemoryImage("a", "entity", {"v": Vector.of([0.5])}, labels=("Entity",))
        >>> MemoryImage.of_content(image.content, ("Entity",)) == image
        True
        """
        line, _, packed = content.partition(b"\n")
        uuid, kind, _, ends, links, properties = json.loads(line)
        start = 0
        for name, value in properties.items():
            if isinstance(value, dict):
                end = start + value["vector"] * _NUMBER_BYTES
                properties[name] = Vector(packed[start:end])
                start = end
        return cls(
            uuid, kind, properties, labels, tuple(ends), tuple(map(Link.of_canonical, links))
        )

    @cached_property
    def digest(self) -> str:
        """Names the memory in exactly this state."""
        return blake2b(self.content, digest_size=16).hexdigest()


def digests(images: Mapping[str, MemoryImage]) -> dict[str, str]:
    """What names each memory in its present state, by uuid."""
    return {uuid: image.digest for uuid, image in images.items()}


def _plain(properties: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """As JSON can say it, of an embedding only how many numbers it has; and the embeddings."""
    plain, vectors = dict(properties), []
    for name in sorted(plain):
        value = plain[name]
        if isinstance(value, Vector):
            plain[name] = {"vector": value.size}
            vectors.append(value.packed)
    return plain, [b"".join(vectors)] if vectors else []
