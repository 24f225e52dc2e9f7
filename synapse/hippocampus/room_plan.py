"""From thoughts to a plan: what a run keeps of them in the room, as a value; nothing is written."""

from __future__ import annotations

from typing import Any

import numpy as np

from synapse.hippocampus.ledger import changes
from synapse.hippocampus.memo import Memo
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.plan import ConsolidationPlan
from synapse.hippocampus.recalled import changed
from synapse.hippocampus.report import Timeless
from synapse.hippocampus.room import Room
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.traces import TraceTable, changed_rows, key_order, removed_keys, rows_of


def plan_room(
    thoughts: Thoughts, known: Timeless, ledger: dict[str, Any], room: Room, run_id: str,
    whole: GraphSnapshot | None = None,
) -> ConsolidationPlan:  # fmt: skip
    """Compare what was thought with what is kept.

    Args:
        thoughts: what the run has thought.
        known: the part of it that does not depend on the moment.
        ledger: what is decided about the facts that the thoughts are about.
        room: what is kept.
        run_id: names the run.
        whole: the whole graph, where the run looks at one group of it: what is kept about the
            memories of the others stays.
    """
    recalled = thoughts.recalled
    memories = (whole or thoughts.snapshot).memory_uuids
    forgotten = recalled.forgotten(memories, thoughts.now_s)
    is_news = bool(recalled.folded or forgotten)
    if whole is None:
        traces = thoughts.traces
    else:
        # What the whole graph says of its memories stays until something is new: else runs over
        # one group and over all would write over each other's traces for ever.
        is_known = not is_news and _is_known(thoughts, room, whole)
        traces = room.traces if is_known else _with_other_groups(thoughts, room.traces, whole)
        others = set(whole.facts.uuid).difference(thoughts.snapshot.facts.uuid)
        ledger = {u: e for u, e in room.ledger.items() if u in others} | ledger
    changed_traces, removed = changed_rows(room.traces, traces), removed_keys(room.traces, traces)
    if whole is None:
        memo = _new_memo(thoughts, known, ledger, room)
    else:
        # By its group alone a memory is not what it is in the whole graph, and what was recalled of
        # others does not stand in their traces yet: the next run over the whole graph has to think.
        is_other = changed_traces.any() or len(removed) or is_news
        memo = {} if is_other and room.memo else None
    return ConsolidationPlan(
        graph=thoughts.snapshot.graph,
        run_id=run_id,
        config_digest=thoughts.config.digest,
        base_revision=room.revision,
        traces=traces,
        changed=changed_traces,
        removed=removed,
        ledger=changes(room.ledger, ledger),
        memo=memo,
        surprises=tuple(surprise.id for surprise in room.surprises),
        profiles=changed(room.profiles, recalled.profiles, forgotten),
        links=changed(room.links, recalled.links, forgotten),
        forgotten=forgotten,
        folded=recalled.folded,
    )


def _new_memo(
    thoughts: Thoughts, known: Timeless, ledger: dict[str, Any], room: Room
) -> dict[str, Any] | None:
    near_digest = thoughts.near_duplicates.digest
    memo = Memo.of(thoughts.snapshot, thoughts.config, ledger, thoughts.now_s, known, near_digest)
    kept = memo.model_dump(mode="json")
    return None if kept == room.memo else kept


def _is_known(thoughts: Thoughts, room: Room, whole: GraphSnapshot) -> bool:
    """Whether a run over the whole of this very graph would find what is kept."""
    memo = Memo.read(room.memo)
    return (
        memo is not None
        and memo.graph_digest == whole.digest
        and memo.near_digest == thoughts.near_duplicates.digest
        and memo.holds(thoughts.config, room.ledger, thoughts.now_s)
        and rows_of(room.traces, whole.outline().keys) is not None
    )


def _with_other_groups(thoughts: Thoughts, kept: TraceTable, whole: GraphSnapshot) -> TraceTable:
    own = thoughts.traces
    elsewhere = np.setdiff1d(whole.outline().keys, own["key"])
    others = kept[np.isin(kept["key"], elsewhere)]
    both = np.concatenate([own, others])
    return both[key_order(both["key"])]
