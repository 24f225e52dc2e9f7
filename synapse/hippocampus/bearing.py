"""Which of the known facts a new statement can bear on, before any of them is read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from synapse.hippocampus.matters import Matters
from synapse.hippocampus.relation_table import RelationTable
from synapse.hippocampus.rules.graph_reading import Readers
from synapse.hippocampus.wording import Beginning


class Told(NamedTuple):
    """A fact as it is told."""

    subject: str
    """Uuid of the entity that it starts at."""
    relation: str
    object: str
    """Uuid of the entity that it ends at."""
    text: str


class Bearing:
    """Tells what statements bear on.

    A statement is compared with the facts of its subject that give the same property a value, or
    that have the same object. What begins a value (*moved to*) bears on every property of that
    family (*LIVES_IN*, *RESIDES_AT*), and they on it; a sentence with a phrase of change
    (*instead of*) bears on whatever it names.

    Args:
        readers: of the languages.
        relations: what the whole graph shows about its relations.
    """

    def __init__(self, readers: Readers, relations: RelationTable) -> None:
        self.relations = relations
        self._readers = readers
        self._by_name, self._of_families = cache(self._told_by_name), cache(self._names_of_families)

    def of(self, statements: Sequence[Told]) -> dict[str, Matters]:
        """What the statements about each subject bear on, by the subject's uuid."""
        spoken = self._readers.phrases.find([one.text for one in statements])
        changing = set[int]().union(*spoken.cues)
        found: dict[str, tuple[set[str], set[str], list[str]]] = {}
        for row, (subject, relation, object_, text) in enumerate(statements):
            names, objects, told = found.setdefault(subject, (set(), set(), []))
            names |= self._by_name(relation)
            objects.add(object_)
            if row in changing:
                told.append(text.lower())
        for row in np.flatnonzero(spoken.beginnings).tolist():
            found[statements[row].subject][0].update(self._told_by_text(statements[row].text))
        return {
            subject: Matters(names, objects, " ".join(told))
            for subject, (names, objects, told) in found.items()
        }

    def _told_by_name(self, relation: str) -> frozenset[str]:
        """Names of the relation's own property, and of those that begin each other's values."""
        reader = self._readers.statements
        names, families = self.relations.names(relation), reader.families(relation)
        if begun := reader.named_beginning(relation)[0]:
            names |= self._of_families(begun.families)
        return names | {name for name, begun in self._begun.items() if begun.families & families}

    @cached_property
    def _begun(self) -> dict[str, Beginning]:
        """The relations whose names begin a value."""
        names = {name for relation in self.relations.relations for name in relation.names}
        read = self._readers.statements.named_beginning
        return {name: begun for name in names if (begun := read(name)[0])}

    def _told_by_text(self, text: str) -> frozenset[str]:
        """Names of the relations of which a sentence begins a value."""
        patterns = self._readers.statements.beginnings
        begun = [beginning.families for beginning, pattern in patterns if pattern.search(text)]
        return self._of_families(frozenset[str]().union(*begun))

    def _names_of_families(self, families: frozenset[str]) -> frozenset[str]:
        """Names of the relations of some families; what happened ends nothing."""
        of_name = self._readers.statements.families
        return frozenset(
            name
            for relation in self.relations.relations
            if families and relation.cardinality != "event"
            for name in relation.names
            if of_name(name) & families
        )
