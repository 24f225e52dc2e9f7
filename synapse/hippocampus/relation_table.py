"""The relations of one graph, as a table: how many values they hold, how long, and why."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from synapse.hippocampus.model import Bools, Floats, Ints
from synapse.hippocampus.wording import normal_relation

Cardinality = Literal["single", "multi", "event", "unknown"]


@dataclass(frozen=True, slots=True)
class Relation:
    """One property of a graph, with all the names it goes by."""

    name: str
    """Its most frequent name."""
    names: tuple[str, ...]
    cardinality: Cardinality
    confidence: float
    """Chance, from 0 to 1, that it is *single*, or that it is not, whichever is claimed."""
    single: float
    """Chance that it holds one value at a time."""
    facts_count: int
    lifetime_days: float | None
    """Median time that its facts stay true, ``None`` where too few of them have ended."""
    reasons: tuple[str, ...]
    """Sentences."""
    is_listed: bool = False
    """Whether the user has decided how many values it holds."""

    def as_row(self) -> dict[str, Any]:
        """Plain values, rounded for display."""
        return {
            "relation": self.name,
            "names": list(self.names),
            "cardinality": self.cardinality,
            "confidence": round(self.confidence, 3),
            "facts": self.facts_count,
            "lifetime_days": None if self.lifetime_days is None else round(self.lifetime_days, 1),
            "reasons": list(self.reasons),
        }


@dataclass(frozen=True, slots=True)
class RelationTable:
    """What is known about the relations of one graph; a row is a property."""

    relations: tuple[Relation, ...]
    _code_of: dict[str, int]
    """By the names of the graph and by their normal names."""
    _normal: Callable[[str], str]
    _by_name: Callable[[str], Relation]

    @property
    def is_single(self) -> Bools:
        """Whether each property holds one value at a time, shape (properties,)."""
        return np.array([r.cardinality == "single" for r in self.relations], np.bool_)

    @property
    def single(self) -> Floats:
        """Chance that each property holds one value at a time, shape (properties,)."""
        return np.array([r.single for r in self.relations], np.float64)

    @property
    def lifetime_days(self) -> Floats:
        """Median lifetime of each property, NaN where unknown, shape (properties,)."""
        return np.array([r.lifetime_days for r in self.relations], np.float64)

    def property_code(self, relation: str) -> int:
        """Row of the property that a name means, -1 if the graph has no such property."""
        code = self._code_of.get(relation)
        return self._code_of.get(self._normal(relation), -1) if code is None else code

    def codes(self, relations: Sequence[str]) -> Ints:
        """Row of each relation's property, shape (len(relations),)."""
        code_of = {relation: self.property_code(relation) for relation in set(relations)}
        return np.fromiter(map(code_of.__getitem__, relations), np.int64, len(relations))

    def properties(self, relations: Sequence[str]) -> Ints:
        """Number of each relation's property, shape (len(relations),): its row, and after the last
        row one number for all spellings of a name that the graph lacks."""
        number_of, lacking = dict[str, int](), dict[str, int]()
        for relation in dict.fromkeys(relations):
            number = self.property_code(relation)
            if number < 0:
                after = len(self.relations) + len(lacking)
                number = lacking.setdefault(normal_relation(relation), after)
            number_of[relation] = number
        return np.fromiter(map(number_of.__getitem__, relations), np.int64, len(relations))

    def relation(self, relation: str) -> Relation:
        """What is known about a relation; for one that the graph lacks, what its name says."""
        code = self.property_code(relation)
        return self.relations[code] if code >= 0 else self._by_name(relation)

    def names(self, relation: str) -> frozenset[str]:
        """Everything that a relation's property is called here, the relation itself included."""
        return frozenset((relation, normal_relation(relation), *self.relation(relation).names))

    def cardinality(self, relation: str) -> Cardinality:
        """How many values a relation holds at a time."""
        return self.relation(relation).cardinality

    def as_rows(self) -> list[dict[str, Any]]:
        """The table as plain values, the most frequent relation first."""
        ordered = sorted(self.relations, key=lambda r: (-r.facts_count, r.name))
        return [relation.as_row() for relation in ordered]

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that change when a decision or a group of names changes."""
        lines = sorted([r.cardinality, *sorted(r.names)] for r in self.relations)
        return hashlib.blake2b(json.dumps(lines).encode(), digest_size=6).hexdigest()
