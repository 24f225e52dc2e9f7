"""What can be brought back from the archive, in which order, and why the rest cannot."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from synapse.hippocampus.archived import ArchivedMemory, newest_first

RESTORED = "restored"
ALREADY_THERE = "already there"
LOST = "the archive has lost its content"
CHANGED = "it is there again, but not as it was; the archive keeps it as it was"


@dataclass(slots=True)
class Restoration:
    """Entries to bring back, entities before the facts between them, and what is decided."""

    entities: dict[str, ArchivedMemory] = field(default_factory=dict)
    facts: dict[str, ArchivedMemory] = field(default_factory=dict)
    outcomes: dict[str, str] = field(default_factory=dict)
    """Uuid -> :data:`ALREADY_THERE`, or one sentence that says why it stays in the archive."""


def left_out(links_count: int) -> str:
    """What is said of a memory that came back without some of its links.

    >>> left_out(1)
    'restored; 1 link whose other end is gone could not come along'
    """
    which = "link whose other end is" if links_count == 1 else "links whose other ends are"
    return f"{RESTORED}; {links_count} {which} gone could not come along"


def names_of_ends(archive: Iterable[ArchivedMemory]) -> dict[str, tuple[str, str]]:
    """Name and group of the ends of facts, by uuid, as they were when the facts went."""
    return {
        end: (name, memory.group_id)
        for memory in archive
        for end, name in zip(memory.ends, memory.end_names, strict=False)
    }


def decide(
    wanted: Collection[str],
    archive: Iterable[ArchivedMemory],
    present: Collection[str],
    namesakes: Mapping[str, str],
) -> Restoration:
    """Decide about each wanted memory.

    A fact takes archived ends along. Where an end is gone, or its name belongs to another entity
    by now, nothing is guessed: the fact stays until the end is named as well.

    Args:
        wanted: uuids.
        archive: all entries about them and about the ends of facts, oldest first.
        present: uuids of the memories that the graph holds, of these.
        namesakes: uuid of an end that the graph lacks -> an entity of the same name that it has.

    >>> ada = ArchivedMemory("ada", "entity", "Ada", "run", 1.0, "", "archived", "")
    >>> fact = ArchivedMemory("f", "fact", "", "run", 1.0, "", "archived", "", ends=("ada", "bob"))
    >>> found = decide(["f"], [ada, fact], {"bob"}, {})
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
            found.outcomes[uuid] = ALREADY_THERE
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
    return found


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
    whom = f"its end {named[:40]!r} ({end})" if named else f"its end {end}"
    can_come = entity is not None and entity.has_content
    if end in namesakes:
        again = f"{whom} was created again as {namesakes[end]}"
        return f"{again}; restore {end} as well to have both" if can_come else again
    return "" if can_come else f"{whom} is gone"
