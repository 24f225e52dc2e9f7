"""What ``--resolve`` does within a run: plan, apply, and what is to be said about it."""

from __future__ import annotations

from synapse.hippocampus.applier import Applier, Job
from synapse.hippocampus.caps import why_refused
from synapse.hippocampus.planning import plan_resolve
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.resolved import Resolved
from synapse.hippocampus.room import Room
from synapse.hippocampus.scope import Scope
from synapse.hippocampus.stages import Thoughts


def resolve(
    store: MemoryStore, lock_token: str, scope: Scope, thoughts: Thoughts, room: Room, job: Job
) -> Resolved:
    """End what is contradicted for certain, and repeat what was overwritten.

    Args:
        store: where graph and room are.
        lock_token: holds the lock while something is written.
        scope: which graph.
        thoughts: about the graph as it is.
        room: what is kept beside it.
        job: who asks.

    Raises:
        SafetyCap, LockBusy, LockLost: as :meth:`~synapse.hippocampus.applier.Applier.apply`.
    """
    ledger = thoughts.followed(room.ledger)
    planned = plan_resolve(store, scope, thoughts, ledger)
    refusal = ""
    if job.dry_run:
        journal = store.read_journal(planned.plan.graph)
        refusal = why_refused(planned.plan, journal, job.now_s, job.at_s, job.max_changes)
    applied = Applier(store, lock_token).apply(planned.plan, room, job)
    reopened = {change.memory for change in planned.plan.changes if change.do == "reopen"}
    return Resolved(
        room=applied.room,
        ended=applied.done - reopened,
        reopened=applied.done & reopened,
        changed=tuple(sorted({*planned.changed, *applied.left})),
        given_up=planned.given_up,
        reverts_count=planned.reverts_count,
        is_dry=job.dry_run,
        refusal=refusal,
    )
