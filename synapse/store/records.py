"""Entries of the archive: made when a memory goes, and written as JSON."""

from __future__ import annotations

import json
from dataclasses import fields

from synapse.errors import StoreError
from synapse.hippocampus.archived import ArchivedMemory, ArchiveState, likeness
from synapse.hippocampus.image import Kind, MemoryImage
from synapse.hippocampus.model import trace_keys
from synapse.hippocampus.plan import ArchiveChange
from synapse.hippocampus.traces import TraceTable, rows_of

_APART = ("uuid", "run_id", "state")
"""Kept as properties of their own, to be found by."""
_TUPLES = ("labels", "ends", "end_names")
_NAMES = tuple(f.name for f in fields(ArchivedMemory) if f.name not in _APART)


def new_entry(
    change: ArchiveChange,
    image: MemoryImage,
    traces: TraceTable,
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
        trace=trace_of(image.uuid, image.kind, traces),
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


def trace_of(uuid: str, kind: Kind, traces: TraceTable) -> dict[str, float]:
    """What a table keeps about one memory; empty where it keeps nothing.

    >>> from synapse.hippocampus.traces import empty_traces
    >>> trace_of("a", "fact", empty_traces())
    {}
    """
    key = trace_keys([uuid], []) if kind == "entity" else trace_keys([], [uuid])
    row = rows_of(traces, key) if len(traces) else None
    if row is None:
        return {}
    trace = traces[row[0]]
    return {name: trace[name].item() for name in trace.dtype.names or () if name != "key"}


def details(entry: ArchivedMemory) -> str:
    """What an entry says beside its uuid, run and state, as JSON."""
    return json.dumps({name: getattr(entry, name) for name in _NAMES})


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
        raise StoreError(f"the archive's entry about {uuid[:40]!r} is damaged") from error
    return ArchivedMemory(uuid=uuid, run_id=run_id, state=state, **known)
