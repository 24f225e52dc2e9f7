"""Entries of the archive: made when a memory goes, and written as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields

from synapse.errors import StoreError, shown
from synapse.hippocampus.archived import ArchivedMemory, ArchiveState, likeness
from synapse.hippocampus.image import Kind, MemoryImage
from synapse.hippocampus.model import trace_keys
from synapse.hippocampus.plan import ArchiveChange
from synapse.hippocampus.traces import TraceTable

_as_json = json.JSONEncoder(separators=(",", ":")).encode
TracesOf = Mapping[tuple[Kind, str], Mapping[str, float]]
"""What is kept about memories, by kind and uuid."""
_APART = ("uuid", "run_id", "state")
"""Kept as properties of their own, to be found by."""
_TUPLES = ("labels", "ends", "end_names")
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


def entry_of(uuid: str, run_id: str, state: ArchiveState, details: str) -> ArchivedMemory:
    """The entry again.

    Raises:
        StoreError: it is not an entry.
    """
    try:
        known = {"likeness": ""} | json.loads(details)
        known = {name: known[name] for name in _NAMES}
        known |= {name: tuple(known[name]) for name in _TUPLES}
    except (ValueError, TypeError, KeyError) as error:
        raise StoreError(f"the archive's entry about {shown(uuid)} is damaged") from error
    return ArchivedMemory(uuid=uuid, run_id=run_id, state=state, **known)
