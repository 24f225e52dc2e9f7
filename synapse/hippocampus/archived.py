"""What the archive knows about a memory, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

from synapse.hippocampus.image import Kind
from synapse.hippocampus.stamps import LAST_S

ArchiveState = Literal["copied", "archived", "restoring", "restored", "purged"]


@dataclass(frozen=True, slots=True)
class ArchivedMemory:
    """One entry of the archive. It outlives its content, as a tombstone::

        copied ---> archived ---> restoring ---> restored
        (content is kept)   |                    (content is in the graph again)
                            +---> purged         (content is gone for good)

    A run that dies leaves ``copied`` or ``restoring`` behind; the next write completes them.
    """

    uuid: str
    kind: Kind
    name: str
    """The name of an entity, the text of a fact; empty once purged."""
    run_id: str
    """The run that archived it."""
    at_s: float
    reason: str
    state: ArchiveState
    digest: str
    """Of its :class:`~synapse.hippocampus.image.MemoryImage` when it went."""
    group_id: str = ""
    by_person: bool = False
    """Whether a person decided that it goes."""
    labels: tuple[str, ...] = ()
    """Of an entity."""
    ends: tuple[str, ...] = ()
    """Of a fact: uuids of its source and its target."""
    end_names: tuple[str, ...] = ()
    trace: Mapping[str, float] = field(default_factory=dict)
    """What was kept about it when it went: stability, last touch, parts of its importance."""
    likeness: str = ""
    """Names what it speaks of, see :func:`likeness`; purging leaves it."""

    @property
    def has_content(self) -> bool:
        """Whether it can still be brought back."""
        return self.state in ("copied", "archived", "restoring")

    @property
    def is_damaged(self) -> bool:
        """Whether its entry cannot be read any more: when it went is not known."""
        return self.at_s >= LAST_S

    @property
    def is_removed_for_good(self) -> bool:
        """Whether only the tombstone is left."""
        return self.state == "purged"


def newest_first(archive: Iterable[ArchivedMemory]) -> dict[str, ArchivedMemory]:
    """The newest entry about each memory, by uuid: of those with content, if there are any.

    Args:
        archive: in the order in which it was written.

    >>> entry = ArchivedMemory("a", "fact", "", "one", 1.0, "", "restored", "")
    >>> later = ArchivedMemory("a", "fact", "", "two", 2.0, "", "archived", "")
    >>> newest_first([entry, later])["a"].run_id
    'two'
    """
    newest: dict[str, ArchivedMemory] = {}
    for memory in archive:
        earlier = newest.get(memory.uuid)
        if memory.has_content or earlier is None or not earlier.has_content:
            newest[memory.uuid] = memory
    return newest


def named_in(archive: Iterable[ArchivedMemory], name: str) -> dict[str, ArchivedMemory]:
    """The newest entry about each memory of this uuid, or else of this name, by uuid.

    >>> entry = ArchivedMemory("a", "entity", "Ada", "one", 1.0, "", "archived", "")
    >>> list(named_in([entry], "a")), list(named_in([entry], "ada")), named_in([entry], "")
    (['a'], ['a'], {})
    """
    newest = newest_first(archive)
    if name in newest:
        return {name: newest[name]}
    folded = name.casefold()
    return {u: memory for u, memory in newest.items() if name and memory.name.casefold() == folded}


def not_to_propose(archive: Iterable[ArchivedMemory]) -> frozenset[str]:
    """Uuids of memories that no run should propose to archive again by itself.

    A person decided that they go and they came back since, or somebody brought them back.

    >>> entry = ArchivedMemory("a", "fact", "", "one", 1.0, "", "restored", "")
    >>> not_to_propose([entry])
    frozenset({'a'})
    """
    return frozenset(m.uuid for m in archive if m.by_person or m.state == "restored")


def likeness(kind: Kind, group_id: str, *names: str) -> str:
    """What a memory speaks of, told apart from its uuid and its wording.

    What comes back through a new episode comes with a new uuid, and a fact often in other words.
    An entity is known by its name, a fact by the names of its ends and its relation; case and
    blanks do not matter. A digest, so that it can outlive what it was made of.

    Args:
        kind: of the memory.
        group_id: the group that it belongs to.
        names: of an entity its name; of a fact source, relation, target.

    Returns:
        Empty where one of the names is: then it is like no other.

    >>> likeness("entity", "g", "Ada  Lovelace") == likeness("entity", "g", "ada lovelace")
    True
    >>> likeness("fact", "g", "Ada", "", "Bob")
    ''
    """
    return likeness_of_folded(kind, group_id, *map(folded, names))


def folded(name: str) -> str:
    """A name without its case and its superfluous blanks.

    >>> folded(" Ada  Lovelace")
    'ada lovelace'
    """
    return " ".join(name.casefold().split())


def likeness_of_folded(kind: Kind, group_id: str, *names: str) -> str:
    """:func:`likeness` for names that are folded already, as in a graph that repeats them."""
    if not all(names):
        return ""
    said = "\n".join((kind, group_id, *names)).encode("utf-8", "surrogatepass")
    return blake2b(said, digest_size=16).hexdigest()


def former_stability(archive: Iterable[ArchivedMemory]) -> dict[str, float]:
    """How firm each memory was when it went: one that comes back starts from there.

    Args:
        archive: what is known of memories that went.

    Returns:
        By uuid and by likeness; memories that nothing had made firm are left out.

    >>> entry = ArchivedMemory("a", "fact", "", "", 1.0, "", "purged", "", trace={"stability": 3.0})
    >>> former_stability([entry])
    {'a': 3.0}
    """
    stability: dict[str, float] = {}
    for memory in archive:
        known = memory.trace.get("stability", 1.0)
        for key in (memory.uuid, memory.likeness):
            if key and known > stability.get(key, 1.0):
                stability[key] = known
    return stability
