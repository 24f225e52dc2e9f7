"""One memory with everything that is needed to bring it back as it was."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal

Kind = Literal["entity", "fact"]


class Vector:
    """An embedding: numbers of 32 bits, kept apart from a list of numbers.

    Args:
        digits: its numbers as they are printed, with commas between. Reading thousands of
            embeddings would take longer than everything else about their memories.

    >>> Vector.of([0.5, 1.0]).numbers, Vector.of([0.5, 1.0]) == Vector("0.5,1")
    ((0.5, 1.0), True)
    """

    __slots__ = ("digits",)

    def __init__(self, digits: str) -> None:
        self.digits = digits

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Vector:
        """A vector of these numbers, rounded to 32 bits."""
        count = len(numbers)
        rounded = struct.unpack(f"{count}f", struct.pack(f"{count}f", *numbers))
        return Vector(",".join(f"{number:.17g}" for number in rounded))

    @property
    def numbers(self) -> tuple[float, ...]:
        """What it consists of."""
        return tuple(map(float, self.digits.split(","))) if self.digits else ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vector) and self.digits == other.digits

    def __hash__(self) -> int:
        return hash(self.digits)

    def __repr__(self) -> str:
        return f"Vector({self.digits!r})"


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
        plain = _plain(self.properties)
        return [self.type, self.other, self.other_label, self.is_outgoing, plain]


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
    def digest(self) -> str:
        """Names the memory in exactly this state, whatever the order of properties and links."""
        links = sorted(json.dumps(link.canonical(), sort_keys=True) for link in self.links)
        labels = sorted(self.labels)
        whole = [self.uuid, self.kind, labels, self.ends, links, _plain(self.properties)]
        digest = blake2b(json.dumps(whole, sort_keys=True).encode(), digest_size=16)
        for name in sorted(self.properties):
            value = self.properties[name]
            if isinstance(value, Vector):
                digest.update(f"[{value.digits}]".encode())
        return digest.hexdigest()


def _plain(properties: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON can say it; of a vector only where it stands."""
    return {
        name: {"vector": None} if isinstance(value, Vector) else value
        for name, value in properties.items()
    }
