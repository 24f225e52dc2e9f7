"""What ``--resolve`` does within a run: plan, apply, and what is to be said about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from synapse.hippocampus.applier import Applier, Job
from synapse.hippocampus.caps import why_refused
from synapse.hippocampus.ledger import WOULD_RESOLVE, Entry, follow
from synapse.hippocampus.planning import plan_resolve
from synapse.hippocampus.ports import MemoryStore, Room
from synapse.hippocampus.scope import Scope
from synapse.hippocampus.stages import Thoughts


@dataclass(frozen=True, slots=True)
class Resolved:
    """What became of the contradictions. In a dry run: what would become of them."""

    room: Room
    """As it is afterwards."""
    ended: frozenset[str] = frozenset()
    """Uuids of the facts that were ended."""
    reopened: frozenset[str] = frozenset()
    """Uuids of those that were made valid again, by a decision that had been overwritten."""
    changed: tuple[str, ...] = ()
    """Uuids of those that were left alone since they, or what replaces them, have changed."""
    given_up: Mapping[str, Entry] = field(default_factory=dict)
    """Entries of the ledger that are no longer written."""
    reverts_count: int = 0
    """Decisions that an ingestion had overwritten."""
    is_dry: bool = False
    refusal: str = ""
    """Why a run would refuse what this dry run has planned."""

    @property
    def has_written(self) -> bool:
        """Whether the graph is no longer what was read."""
        return not self.is_dry and bool(self.ended or self.reopened)

    def seen_in(self, ledger: Mapping[str, Entry]) -> dict[str, Entry]:
        """A ledger for a report: it says what was left alone, and what a run would write."""
        states = dict.fromkeys(self.changed, "changed")
        if self.is_dry:
            states |= dict.fromkeys(self.ended | self.reopened, WOULD_RESOLVE)
        told = {u: ledger[u] | {"state": state} for u, state in states.items() if u in ledger}
        return {**ledger, **told}


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
    ledger = follow(room.ledger, thoughts.snapshot, thoughts.contradictions.findings)
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
