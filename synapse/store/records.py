"""Entries of the archive: made when a memory goes, and written as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, get_args

from synapse.hippocampus.archived import ArchivedMemory, ArchiveState, likeness
from synapse.hippocampus.image import Kind, MemoryImage
from synapse.hippocampus.memory_keys import trace_keys
from synapse.hippocampus.plan import ArchiveChange
from synapse.hippocampus.stamps import LAST_S
from synapse.hippocampus.traces import TraceTable

_as_json = json.JSONEncoder(separators=(",", ":")).encode
TracesOf = Mapping[tuple[Kind, str], Mapping[str, float]]
"""What is kept about memories, by kind and uuid."""
_APART = ("uuid", "run_id", "state")
"""Kept as properties of their own, to be found by."""
_TUPLES = ("labels", "ends", "end_names")
_STATES = get_args(ArchiveState)
_ENDS_COUNT: Mapping[Kind, int] = {"entity": 0, "fact": 2}
_NAMES = tuple(f.name for f in fields(ArchivedMemory) if f.name not in _APART)


def new_entry(
    change: ArchiveChange,
    image: MemoryImage,
    traces: TracesOf,
    run_id: str,
    now_s: float,
    state: ArchiveState,
) -> ArchivedMemory:
    """The entry of a memory that goes, with what is kept about it now."""
    return ArchivedMemory(
        uuid=image.uuid,
        kind=image.kind,
        name=image.name,
        run_id=run_id,
        at_s=now_s,
        reason=change.reason,
        state=state,
        digest=image.digest,
        group_id=image.group_id,
        by_person=change.by_person,
        labels=image.labels,
        ends=image.ends,
        end_names=image.end_names,
        trace=traces.get((image.kind, image.uuid), {}),
        likeness=_likeness(image),
    )


def _likeness(image: MemoryImage) -> str:
    if image.kind == "entity":
        return likeness("entity", image.group_id, image.name)
    source, target = image.end_names or ("", "")
    relation = image.properties.get("name")
    return likeness(
        "fact", image.group_id, source, relation if isinstance(relation, str) else "", target
    )


def traces_of(changes: Sequence[ArchiveChange], traces: TraceTable) -> TracesOf:
    """What a table keeps about the memories that some changes are about.

    >>> from synapse.hippocampus.traces import empty_traces
    >>> traces_of([ArchiveChange("a", "fact", "", "")], empty_traces())
    {}
    """
    names = [name for name in traces.dtype.names or () if name != "key"]
    rows = zip(*(traces[name].tolist() for name in names), strict=True)  # whole rows take longer
    kept = dict(zip(traces["key"].tolist(), rows, strict=True))
    uuids: dict[Kind, list[str]] = {"entity": [], "fact": []}
    for change in changes:
        uuids[change.kind].append(change.uuid)
    memories = [(kind, uuid) for kind, of_kind in uuids.items() for uuid in of_kind]
    keys = trace_keys(uuids["entity"], uuids["fact"]).tolist()
    return {
        memory: dict(zip(names, kept[key], strict=True))
        for memory, key in zip(memories, keys, strict=True)
        if key in kept
    }


def details(entry: ArchivedMemory) -> str:
    """What an entry says beside its uuid, run and state, as JSON."""
    return _as_json({name: getattr(entry, name) for name in _NAMES})


def entry_of(uuid: Any, run_id: Any, state: Any, details: Any) -> ArchivedMemory | None:
    """The entry again; ``None`` where it is none, whoever has damaged it.

    >>> entry_of("a", "run", "archived", "[1]")
    """
    try:
        known = {"likeness": ""} | json.loads(details)
        known = {name: known[name] for name in _NAMES}
        known |= {name: tuple(known[name]) for name in _TUPLES}
        entry = ArchivedMemory(uuid=uuid, run_id=run_id, state=state, **known)
        return entry if _is_whole(entry) else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def entry_of_damaged(
    uuid: Any, run_id: Any, state: Any, content: bytes | None, why: str
) -> ArchivedMemory:
    """What is still known of a memory whose entry is damaged: what its content says.

    It counts as archived at the end of time, so that it is not purged for its age, and by a person,
    so that no run proposes the memory again.

    Args:
        uuid: as it stands in the archive.
        run_id: of the run that moved it.
        state: what became of it.
        content: what is kept of the memory, if anything.
        why: says which entry is damaged.
    """
    image = None if content is None else understood(content)
    known: ArchiveState = state if state in _STATES else "archived"
    entry = ArchivedMemory(
        uuid=uuid if isinstance(uuid, str) else "",
        kind="fact",
        name="",
        run_id=run_id if isinstance(run_id, str) else "",
        at_s=LAST_S,
        reason=why,
        state=known,
        digest="",
        by_person=True,
    )
    if image is None:
        return entry
    return replace(
        entry,
        uuid=image.uuid,
        kind=image.kind,
        name=image.name,
        digest=image.digest,
        group_id=image.group_id,
        labels=image.labels,
        ends=image.ends,
        end_names=tuple("" for _ in image.ends),
        likeness=_likeness(image),
    )


def understood(content: bytes, labels: tuple[str, ...] | None = None) -> MemoryImage | None:
    """The memory of which this is the content, if it is one.

    Args:
        content: what is kept of it.
        labels: in their order, where that is known.

    >>> understood(MemoryImage("a", "entity", {}, labels=("B", "A")).content).labels
    ('A', 'B')
    """
    try:
        known = json.loads(content.partition(b"\n")[0])[2] if labels is None else labels
        image = MemoryImage.of_content(content, tuple(known))
        is_whole = image.content == content and len(image.ends) == _ENDS_COUNT[image.kind]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None
    is_named = all(isinstance(name, str) for name in (image.uuid, *image.ends, *image.labels))
    return image if is_whole and is_named else None


def _is_whole(entry: ArchivedMemory) -> bool:
    texts = [entry.uuid, entry.run_id, entry.name, entry.reason, entry.digest, entry.group_id]
    texts += [entry.likeness, *entry.labels, *entry.ends, *entry.end_names]
    return (
        all(isinstance(text, str) for text in texts)
        and entry.state in _STATES
        and entry.kind in _ENDS_COUNT
        and isinstance(entry.by_person, bool)
        and isinstance(entry.at_s, int | float)
        and abs(entry.at_s) <= LAST_S
        and len(entry.ends) == _ENDS_COUNT[entry.kind]
        and all(isinstance(value, int | float) for value in entry.trace.values())
    )
