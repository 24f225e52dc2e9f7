"""What a store in plain dictionaries keeps beside one graph."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from synapse.errors import LockLost, shown
from synapse.hippocampus.plan import ConsolidationPlan
from synapse.hippocampus.ports import LOCK_TTL_S, Recorder
from synapse.hippocampus.recall import RecallSet
from synapse.hippocampus.room import Pin, Room, RoomSummary, Surprise
from synapse.store.memory_archive import Archive
from synapse.store.recalls import RECALLS_MAX_COUNT, queue_full


class MemoryRoom:
    """The room of one graph, with its lock, journal and archive.

    Args:
        graph: name of the graph.
        clock: seconds that never go back; the lock expires by it.
    """

    def __init__(self, graph: str, clock: Callable[[], float]) -> None:
        self.kept = Room()
        self.archive = Archive()
        self._graph = graph
        self._clock = clock
        self._journal: dict[str, Any] = {}
        self._token, self._expires_s = "", -math.inf
        self._surprises_count = 0
        self._noticed: set[str] = set()
        self._recalls_count = 0
        self._recorded: Counter[str] = Counter()
        self._imported: set[bytes] = set()

    def summary(self) -> RoomSummary:
        """Sizes and last run."""
        kept = self.kept
        return RoomSummary(
            traces_count=len(kept.traces),
            ledger_count=len(kept.ledger),
            surprises_count=len(kept.surprises),
            recalls_count=len(kept.recalls),
            recalled_count=len(kept.profiles),
            pins_count=len(kept.pins),
            revision=kept.revision,
            failures_count=kept.failures_count,
            last_run=kept.last_run,
            lock_holder=self.lock_holder(),
        )

    def lock_holder(self) -> str | None:
        """Token of the run that works on the graph, if any."""
        return self._token if self._clock() < self._expires_s else None

    def acquire_lock(self, token: str, ttl_s: float) -> bool:
        """Take the lock unless another token holds it, or extend one's own."""
        if self.lock_holder() not in (None, token):
            return False
        self._token, self._expires_s = token, self._clock() + ttl_s
        return True

    def release_lock(self, token: str) -> None:
        """Give the lock back if the token still holds it."""
        if self.lock_holder() == token:
            self._expires_s = -math.inf

    def keep_lock(self, token: str) -> None:
        """Extend one's own lock.

        Raises:
            LockLost: the token does not hold it any more.
        """
        self.require_lock(token)
        self.acquire_lock(token, LOCK_TTL_S)

    def require_lock(self, token: str) -> None:
        """Refuse to write for one who does not hold the lock any more."""
        if self.lock_holder() != token:
            raise LockLost(
                f"the lock on {shown(self._graph)} passed to another run; nothing more is written"
            )

    def apply(self, plan: ConsolidationPlan, lock_token: str) -> None:
        """Write the plan in one step and raise the revision by one."""
        room = self.kept
        self.require_lock(lock_token)
        if room.revision != plan.base_revision:
            raise LockLost(
                f"another run wrote the room of {shown(plan.graph)}; nothing was written"
            )
        self._journal |= _copied(plan.journal)
        after = {change.target: change.after for change in plan.ledger}
        ledger = {fact: _copied(decision) for fact, decision in {**room.ledger, **after}.items()}
        profiles, links = {**room.profiles, **plan.profiles}, {**room.links, **plan.links}
        folded = next((n for n, r in enumerate(room.recalls, 1) if r.id == plan.folded), 0)
        self.kept = replace(
            room,
            revision=room.revision + 1,
            traces=plan.traces.copy(),
            ledger={fact: decision for fact, decision in ledger.items() if decision is not None},
            surprises=tuple(s for s in room.surprises if s.id not in set(plan.surprises)),
            recalls=room.recalls[folded:],
            profiles={m: profiles[m] for m in profiles.keys() - plan.forgotten},
            links={m: links[m] for m in links.keys() - plan.forgotten},
            last_run=room.last_run if plan.interim else _copied(plan.run_record),
            failures_count=room.failures_count if plan.interim else 0,
            memo=room.memo if plan.memo is None else _copied(plan.memo),
        )

    def append_journal(self, run_id: str, entry: Mapping[str, Any], lock_token: str) -> None:
        """Write what a run changes in Graphiti's own data, before it does."""
        self.require_lock(lock_token)
        self._journal[run_id] = _copied(dict(entry))

    def journal(self) -> dict[str, dict[str, Any]]:
        """All entries of the journal, by run id."""
        entries: dict[str, dict[str, Any]] = _copied(self._journal)
        return entries

    def record_surprises(self, episode: str, surprises: Sequence[Surprise]) -> bool:
        """Append to the queue that the next run drains, once for each episode."""
        if episode and not self._is_first(episode):
            return False
        wanted = [s for s in surprises if not s.event or self._is_first(s.event)]
        first = self._surprises_count + 1
        self._surprises_count += len(wanted)
        new = (replace(s, event="", id=f"{number}-0") for number, s in enumerate(wanted, first))
        self.kept = replace(self.kept, surprises=(*self.kept.surprises, *new))
        return True

    def _is_first(self, event: str) -> bool:
        is_first = event not in self._noticed
        self._noticed.add(event)
        return is_first

    def record_recalls(self, recall_sets: Sequence[RecallSet], recorder: Recorder) -> None:
        """Append to the queue that the next run folds."""
        last = self._recorded[recorder.name]
        numbered = enumerate(recall_sets, recorder.first_number)
        wanted = [r for n, r in numbered if r.ranks and (n > last or not recorder.name)]
        if wanted and len(self.kept.recalls) + len(wanted) > RECALLS_MAX_COUNT:
            raise queue_full(self._graph)
        self._append_recalls(wanted)
        self._recorded[recorder.name] = max(last, recorder.first_number + len(recall_sets) - 1)

    def import_recalls(self, recall_sets: Sequence[RecallSet]) -> int:
        """Append those recall sets that no import has appended before."""
        imported_count = 0
        for recall_set in recall_sets:
            if recall_set.ranks and recall_set.digest not in self._imported:
                if len(self.kept.recalls) >= RECALLS_MAX_COUNT:
                    raise queue_full(self._graph, imported_count)
                self._imported.add(recall_set.digest)
                self._append_recalls([recall_set])
                imported_count += 1
        return imported_count

    def _append_recalls(self, recall_sets: Sequence[RecallSet]) -> None:
        first = self._recalls_count + 1
        self._recalls_count += len(recall_sets)
        new = (replace(r, id=f"{number}-0") for number, r in enumerate(recall_sets, first))
        self.kept = replace(self.kept, recalls=(*self.kept.recalls, *new))

    def pin(self, memory: str, pin: Pin) -> bool:
        """Pin a memory, or pin it anew; say whether it was not pinned before."""
        pins = self.kept.pins
        self.kept = replace(self.kept, pins={**pins, memory: pin})
        return memory not in pins

    def unpin(self, memory: str) -> bool:
        """Take a pin back; say whether there was one."""
        pins = self.kept.pins
        self.kept = replace(self.kept, pins={m: pin for m, pin in pins.items() if m != memory})
        return memory in pins

    def record_failure(self) -> int:
        """Count a failed run; return how many failed since one succeeded."""
        self.kept = replace(self.kept, failures_count=self.kept.failures_count + 1)
        return self.kept.failures_count

    def clear_failures(self) -> None:
        """Forget earlier failures after a run that had nothing to write."""
        self.kept = replace(self.kept, failures_count=0)


def _copied(value: Any) -> Any:
    """The value as it would come back from a server."""
    return json.loads(json.dumps(value))
