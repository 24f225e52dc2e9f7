"""What is known of one property of a subject, in time: where a value that is told now belongs."""

from __future__ import annotations

from math import inf, isfinite, isnan
from typing import NamedTuple

from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.relation_table import RelationTable
from synapse.integrations.arrival import begun_s, said_again_s


class Next(NamedTuple):
    """The value that follows."""

    at_s: float
    """When it begins, or is said again."""
    fact: str
    """Uuid of the fact that says it."""


class Slot:
    """The facts of a subject about one property.

    A fact without a date begins with the first episode that says it; of one that nothing dates
    the beginning lies before all else. A fact that is said again later held until then.

    Args:
        known: the facts of the subject.
        subject: its uuid.
        relation: a name of the property.
        relations: what else the property is called.
    """

    def __init__(
        self, known: GraphSnapshot, subject: str, relation: str, relations: RelationTable
    ) -> None:
        self._known = known
        self._facts, self._entities = known.facts, known.entities
        self._begins_s: dict[int, float] = {}
        for row in _rows(known, subject, relation, relations):
            at_s = begun_s(known, row)
            self._begins_s[row] = at_s if isfinite(at_s) else -inf

    def same(self, target: str, at_s: float) -> str | None:
        """The fact that gives the property this value and holds, or held at the moment."""
        for row in self._begins_s:
            is_same = self._entities.uuid[int(self._facts.target[row])] == target
            if is_same and (self._is_open(row) or self._held(row, at_s)):
                return self._facts.uuid[row]
        return None

    def next(self, at_s: float) -> Next | None:
        """What follows a value of this moment: the first that begins, or is said again, later."""
        after = [
            Next(moment_s, self._facts.uuid[row])
            for row, begins_s in self._begins_s.items()
            for moment_s in ([begins_s] if begins_s > at_s else self._said_again_s(row, at_s))
        ]
        return min(after, default=None)

    def replaced(self, at_s: float, following: Next | None) -> list[str]:
        """What a value of this moment ends: what held when it begins, up to now or until the next
        value, which was told before; but nothing that is said again later."""
        until_s = inf if following is None else following.at_s
        return [
            self._facts.uuid[row]
            for row in self._begins_s
            if self._held(row, at_s)
            and (self._is_open(row) or self._facts.invalid_at_s[row] == until_s)
            and not self._said_again_s(row, at_s)
        ]

    def _is_open(self, row: int) -> bool:
        return isnan(self._facts.invalid_at_s[row])

    def _held(self, row: int, at_s: float) -> bool:
        return self._begins_s[row] <= at_s and not self._facts.invalid_at_s[row] <= at_s

    def _said_again_s(self, row: int, at_s: float) -> list[float]:
        """When a fact that held at a moment was said after it, up to its end."""
        if not self._held(row, at_s):
            return []
        again_s = said_again_s(self._known, self._facts.episodes[row])
        end_s = self._facts.invalid_at_s[row]
        return [moment_s for moment_s in again_s if moment_s > at_s and not moment_s >= end_s]


def _rows(known: GraphSnapshot, subject: str, relation: str, relations: RelationTable) -> list[int]:
    facts = known.facts
    *properties, wanted = relations.properties([*facts.relation, relation]).tolist()
    return [
        row
        for row, number in enumerate(properties)
        if number == wanted and known.entities.uuid[int(facts.source[row])] == subject
    ]
