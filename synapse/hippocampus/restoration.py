"""What can be brought back from the archive, in which order, and why the rest cannot."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from synapse.errors import shown
from synapse.hippocampus.archived import ArchivedMemory, newest_first
from synapse.hippocampus.image import Link

RESTORED = "restored"
ALREADY_THERE = "already there"
LOST = "the archive has lost its content, or that is damaged"
CHANGED = "it is there again, but not as it was; the archive keeps it as it was"
_NAMED_LINKS_COUNT = 3


@dataclass(slots=True)
class Restoration:
    """Entries to bring back, entities before the facts between them, and what is decided."""

    entities: dict[str, ArchivedMemory] = field(default_factory=dict)
    facts: dict[str, ArchivedMemory] = field(default_factory=dict)
    outcomes: dict[str, str] = field(default_factory=dict)
    """Uuid -> :data:`ALREADY_THERE`, or one sentence that says why it stays in the archive."""
    again: dict[str, str] = field(default_factory=dict)
    """What there is to say of an entity that comes back although its name is there again."""

    def told(self) -> dict[str, str]:
        """The outcomes, and what there is to say of those that came back."""
        return {
            uuid: f"{outcome}; {self.again[uuid]}"
            if uuid in self.again and outcome.startswith(RESTORED)
            else outcome
            for uuid, outcome in self.outcomes.items()
        }


def notes_in(told: Mapping[str, str], asked: Collection[str]) -> dict[str, str]:
    """What there is to say of memories that come back, by uuid.

    Args:
        told: what becomes of each of them.
        asked: those that were asked for; the others come along.

    >>> notes_in({"f": "restored", "ada": "restored"}, ["f"])
    {'ada': 'comes along: a fact that comes back hangs on it'}
    """
    begins = f"{RESTORED}; "
    notes = {u: said.removeprefix(begins) for u, said in told.items() if said.startswith(begins)}
    along = {u for u, said in told.items() if said.startswith(RESTORED)} - set(asked)
    return notes | dict.fromkeys(sorted(along), "comes along: a fact that comes back hangs on it")


def came_back(gone: Sequence[Link], archived: Sequence[Link] = ()) -> str:
    """What is said of a memory that came back.

    Args:
        gone: those of its links that could not come along, since one end is not there, or there
            more than once.
        archived: those that come with the other end, which is in the archive.

    >>> print(came_back([Link("KNOWS", "eve", "Entity", False, {})]))
    restored; 1 link whose other end is gone, or there twice, could not come along: KNOWS from eve
    >>> came_back([], [Link("KNOWS", "bob", "Entity", True, {})])
    'restored; 1 link whose other end is archived comes back with that: KNOWS to bob'
    """
    said = [RESTORED]
    if gone:
        which = _links_whose_ends("gone, or there twice,", gone)
        said.append(f"{which} could not come along: {_named(gone)}")
    if archived:
        which = _links_whose_ends("archived", archived)
        comes = "comes" if len(archived) == 1 else "come"
        said.append(f"{which} {comes} back with that: {_named(archived)}")
    return "; ".join(said)


def _links_whose_ends(are: str, links: Sequence[Link]) -> str:
    which = "link whose other end is" if len(links) == 1 else "links whose other ends are"
    return f"{len(links)} {which} {are}"


def _named(links: Sequence[Link]) -> str:
    named = [f"{link.type} {'to' if link.is_outgoing else 'from'} {link.other}" for link in links]
    more_count = len(named) - _NAMED_LINKS_COUNT
    more = f" and {more_count} more" if more_count > 0 else ""
    return ", ".join(named[:_NAMED_LINKS_COUNT]) + more


def names_of_ends(archive: Iterable[ArchivedMemory]) -> dict[str, tuple[str, str]]:
    """Name and group of archived entities and of the ends of facts, by uuid, when they went."""
    archive = list(archive)
    own = {m.uuid: (m.name, m.group_id) for m in archive if m.kind == "entity" and m.name}
    return own | {
        end: (name, memory.group_id)
        for memory in archive
        for end, name in zip(memory.ends, memory.end_names, strict=False)
    }


def decide(
    wanted: Collection[str],
    archive: Iterable[ArchivedMemory],
    present: Mapping[str, str],
    namesakes: Mapping[str, str],
) -> Restoration:
    """Decide about each wanted memory.

    A fact takes archived ends along. Where an end is gone, or its name belongs to another entity
    by now, nothing is guessed: the fact stays until the end is named as well.

    Args:
        wanted: uuids.
        archive: all entries about them and about the ends of facts, oldest first.
        present: digests of the memories that the graph holds, of these, by uuid.
        namesakes: uuid of an entity that the graph lacks -> another of its name that it has.

    >>> ada = ArchivedMemory("ada", "entity", "Ada", "run", 1.0, "", "archived", "")
    >>> fact = ArchivedMemory("f", "fact", "", "run", 1.0, "", "archived", "", ends=("ada", "bob"))
    >>> found = decide(["f"], [ada, fact], {"bob": ""}, {})
    >>> list(found.entities), list(found.facts)
    (['ada'], ['f'])
    """
    newest = newest_first(archive)
    found = Restoration()
    for uuid in sorted(wanted):
        memory = newest.get(uuid)
        if memory is not None and memory.state == "restoring":
            pass  # an earlier call stopped half-way: complete it
        elif uuid in present:
            found.outcomes[uuid] = _how_present(memory, uuid, present[uuid])
            continue
        elif memory is None or not memory.has_content:
            found.outcomes[uuid] = _why_lost(memory)
            continue
        (found.entities if memory.kind == "entity" else found.facts)[uuid] = memory
    for uuid, memory in list(found.facts.items()):
        missing = [end for end in dict.fromkeys(memory.ends) if end not in present]
        missing = [end for end in missing if end not in found.entities]
        reasons = [_why_not_along(memory, end, newest.get(end), namesakes) for end in missing]
        if any(reasons):
            del found.facts[uuid]
            found.outcomes[uuid] = next(filter(None, reasons))
        else:
            found.entities |= {end: newest[end] for end in missing}
    found.again = {
        uuid: f"the graph also holds {shown(memory.name)} as {namesakes[uuid]}, created again since"
        for uuid, memory in found.entities.items()
        if uuid in namesakes and uuid not in present
    }
    return found


def _how_present(memory: ArchivedMemory | None, uuid: str, digest: str) -> str:
    if memory is None or not memory.has_content or memory.digest == digest:
        return ALREADY_THERE
    return (
        "the graph holds another version of it; the archived one stays: "
        f"synapse archive show {uuid}"
    )


def _why_lost(memory: ArchivedMemory | None) -> str:
    if memory is None:
        return "it is not in the archive"
    if memory.is_removed_for_good:
        return "it was purged and is gone for good"
    return "it was restored before and has gone from the graph since"


def _why_not_along(
    fact: ArchivedMemory, end: str, entity: ArchivedMemory | None, namesakes: Mapping[str, str]
) -> str:
    named = dict(zip(fact.ends, fact.end_names, strict=False)).get(end, "")
    whom = f"its end {shown(named)} ({end})" if named else f"its end {end}"
    can_come = entity is not None and entity.has_content
    if end in namesakes:
        again = f"{whom} was created again as {namesakes[end]}"
        return f"{again}; restore {end} as well to have both" if can_come else again
    return "" if can_come else f"{whom} is gone"
