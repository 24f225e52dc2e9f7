"""What of an entity's many facts bears on a statement about it."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple


class Matters(NamedTuple):
    """Facts of one entity, told by their relations or by their objects."""

    relations: Collection[str] = ()
    """Names of relations, however they are spelt."""
    objects: Collection[str] = ()
    """Uuids of entities."""
    told: str = ""
    """A text in lower case; an entity that it names is an object as well."""
