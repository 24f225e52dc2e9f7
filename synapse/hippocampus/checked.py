"""Which changes of a plan may be made to a graph as it is now, and why the others may not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from synapse.hippocampus.image import MemoryImage
from synapse.hippocampus.journal import RunEntry
from synapse.hippocampus.ledger import Entry, decided_otherwise
from synapse.hippocampus.plan import FactState
from synapse.hippocampus.plan_file import MemoryPlan, PlannedChange
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.restoration import ALREADY_THERE, RESTORED, notes_in
from synapse.hippocampus.room import Room
from synapse.hippocampus.shared_links import completed, seen_from_the_others

CHANGED = "it has changed since the plan was made"
_BY_CHANGED = "the fact that replaces it has changed since the plan was made"
PINNED = "it is pinned"
_GONE = "it is gone from the graph"


@dataclass(frozen=True, slots=True)
class Checked:
    """A plan, compared with its graph."""

    ready: tuple[PlannedChange, ...]
    already: frozenset[str]
    """Uuids of the memories that are so already."""
    left: dict[str, str]
    """Why each of the others is left as it is, by uuid."""
    states: dict[str, FactState]
    """The facts that ends are about, as they are now."""
    notes: dict[str, str] = field(default_factory=dict)
    """What there is to say of memories that come back, or come along with them."""


def check(
    store: MemoryStore, plan: MemoryPlan, room: Room, begun: RunEntry | None = None
) -> Checked:
    """Compare a plan with its graph.

    Args:
        store: where the graph is.
        plan: what is to change.
        room: what is decided about facts.
        begun: the run that has begun to carry it out, if any. What that has moved is away; all
            else is checked as if for the first time.
    """
    settled = set() if begun is None else {change.memory for change in begun.having("done")}
    planned = {change.memory: change for change in plan.changes}
    ends = [change for change in plan.changes if change.is_end]
    named = {c.memory for c in ends} | {c.by for c in ends if c.by is not None}
    states = store.read_facts(plan.graph, named) if ends else {}
    moving = [change.memory for change in plan.changes if change.do == "archive"]
    images = store.read_images(plan.graph, moving) if moving else {}
    pins = store.read_pins(plan.graph, moving) if moving else {}
    moved = _moved(store, plan.graph, begun) if moving and begun is not None else frozenset()
    images = _with_edges_to_moved(store, plan, images, moved)
    back = [change.memory for change in plan.changes if change.do == "restore"]
    told = store.foresee_restore(plan.graph, back) if back else {}
    ready, already, left = [], set(), {}
    for change in plan.changes:
        state = states.get(change.memory) if change.is_end else None
        is_made = change.is_end and _is_made(change, state)
        # An ingestion may have saved the copy that it had before: then it is to be done again.
        is_as_before = state is not None and state.digest == change.before
        is_to_be_redone = is_as_before and change.was != change.to
        is_made |= change.do == "restore" and told[change.memory] == ALREADY_THERE
        if is_made or (change.memory in settled and not is_to_be_redone):
            already.add(change.memory)
            continue
        why_not = None
        if change.is_end:
            why_not = _obstacle(change, states, planned, room.ledger)
        elif change.do == "archive":
            image = images.get(change.memory)
            if image is not None or (change.memory, change.before) not in moved:
                why_not = PINNED if change.memory in pins else _cannot_move(change, image)
        elif not told[change.memory].startswith(RESTORED):
            why_not = told[change.memory]
        if why_not is None:
            ready.append(change)
        else:
            left[change.memory] = why_not
    left |= _held(ready, images)
    ready = [change for change in ready if change.memory not in left]
    return Checked(tuple(ready), frozenset(already), left, states, notes_in(told, back))


def _held(ready: Iterable[PlannedChange], images: Mapping[str, MemoryImage]) -> dict[str, str]:
    """Why entities stay on which facts hang that do not go before them."""
    moving = {change.memory for change in ready if change.do == "archive"}
    hanging = {u: [f for f in images[u].facts if f not in moving] for u in moving & images.keys()}
    return {u: f"fact {facts[0]} hangs on it and stays" for u, facts in hanging.items() if facts}


def _moved(store: MemoryStore, graph: str, begun: RunEntry) -> frozenset[tuple[str, str]]:
    """Uuid and digest of what a run has moved into the archive."""
    entries = store.read_archive(graph, begun.run_id)
    return frozenset((m.uuid, m.digest) for m in entries if m.state in ("copied", "archived"))


def _with_edges_to_moved(
    store: MemoryStore,
    plan: MemoryPlan,
    images: dict[str, MemoryImage],
    moved: frozenset[tuple[str, str]],
) -> dict[str, MemoryImage]:
    """Memories as they were planned, where only edges to what the run has moved are missing."""
    before = {change.memory: change.before for change in plan.changes}
    other = {u: image for u, image in images.items() if image.digest != before[u]}
    if not moved or not other:
        return images
    contents = store.read_archived_images(plan.graph, {uuid for uuid, _ in moved})
    seen = seen_from_the_others(contents.values())
    return {**images, **{uuid: completed(image, seen) for uuid, image in other.items()}}


def _is_made(change: PlannedChange, state: FactState | None) -> bool:
    is_so = state is not None and change.to is not None and state.ends == change.to.model_dump()
    return is_so and change.was != change.to


def _obstacle(
    change: PlannedChange,
    states: Mapping[str, FactState],
    planned: Mapping[str, PlannedChange],
    ledger: Mapping[str, Entry],
) -> str | None:
    """Why an end cannot be written, if so."""
    state = states.get(change.memory)
    against = decided_otherwise(ledger.get(change.memory), change.claim)
    if against is not None:
        return f"somebody has decided {against} about it"
    if state is None:
        return _GONE
    if state.digest != change.before:
        return CHANGED
    if change.by is not None and not _stands(change, states.get(change.by), planned):
        return _BY_CHANGED
    return None


def _cannot_move(change: PlannedChange, image: MemoryImage | None) -> str | None:
    if image is None:
        return _GONE
    return image.obstacle or (CHANGED if image.digest != change.before else None)


def _stands(
    change: PlannedChange, by: FactState | None, planned: Mapping[str, PlannedChange]
) -> bool:
    """Whether what replaces a fact is what it was, but for an end that the plan itself gave it."""
    if by is None or change.by is None:
        return False
    own = planned.get(change.by)
    if own is not None and own.was is not None and _is_made(own, by):
        by = replace(by, **own.was.model_dump())
    return by.digest == change.by_before
