"""What waits for a person, and what a person decides about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, cast

from synapse.errors import SynapseError, UsageError, shown
from synapse.hippocampus.applier import Applier, Job
from synapse.hippocampus.caps import REVIEW
from synapse.hippocampus.finding import Finding
from synapse.hippocampus.ledger import (
    KEEP_NEW,
    UNDO,
    WAITING,
    Entry,
    begun,
    confirmed,
    evidence_digest,
    is_bereft,
    new_entry,
)  # fmt: skip
from synapse.hippocampus.planning import empty_plan, planned_ends
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.resolution import Step, end_step, may_end, undo_step
from synapse.hippocampus.room import Room
from synapse.hippocampus.scope import Scope
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.stamps import iso_time

KEEP_OLD, KEEP_BOTH = "keep-old", "keep-both"
DECISIONS = (KEEP_OLD, KEEP_NEW, KEEP_BOTH, UNDO)
_DECISIONS_MAX_COUNT = 16


@dataclass(frozen=True, slots=True)
class Case:
    """One fact that something speaks against. Times are ISO 8601, ``None`` where unknown."""

    fact: str
    text: str
    by: str | None
    by_text: str | None
    verdict: str
    rule: str
    confidence: float
    invalid_at: str | None
    """When the fact ended, or would end."""
    evidence: str
    state: str
    decision: str | None

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


class Review:
    """The findings about one graph, and decisions about them.

    Args:
        store: where the decisions go.
        thoughts: about the graph.
        room: what is kept beside it.
    """

    def __init__(self, store: MemoryStore, thoughts: Thoughts, room: Room) -> None:
        self._store = store
        self._thoughts = thoughts
        self._snapshot = thoughts.snapshot
        self._now_s = thoughts.now_s
        self._room = room
        self._findings = thoughts.contradictions.findings
        uuid = self._snapshot.facts.uuid
        self._row_of = {name: row for row, name in enumerate(uuid)}
        self._finding_of = {uuid[finding.fact]: finding for finding in self._findings}
        self._ledger = thoughts.followed(room.ledger)

    def cases(self, *, decided_too: bool = False) -> list[Case]:
        """What waits for a decision, the surest first; then, if wanted, what is decided."""
        wanted = [
            self._case(uuid, entry)
            for uuid, entry in self._ledger.items()
            if decided_too or entry["state"] in WAITING
        ]
        return sorted(wanted, key=lambda c: (c.state not in WAITING, -c.confidence, c.fact))

    def decide(
        self,
        fact: str,
        decision: str,
        run_id: str,
        *,
        dry_run: bool = False,
        at_s: float | None = None,
    ) -> Case:
        """Take a decision: into the ledger, and where it says so into the graph.

        Args:
            fact: uuid of the fact that loses.
            decision: one of :data:`DECISIONS`.
            run_id: names the run, and holds the lock meanwhile.
            dry_run: whether nothing is to be written.
            at_s: the moment by the clock, where the thoughts are about another one.

        Raises:
            UsageError: there is nothing of the kind to decide about this fact.
            LockBusy: another run works on the graph.
            SynapseError: the fact has changed meanwhile; nothing was written.
        """
        entry = self._ledger.get(fact)
        if entry is None:
            raise UsageError(f"nothing is known against fact {shown(fact)}; see synapse review")
        if _is_done(entry, decision):
            return self._case(fact, entry)
        job = Job(run_id, REVIEW, self._now_s, is_capped=False, dry_run=dry_run, at_s=at_s)
        return self._case(fact, self._decide(job, fact, entry, decision))

    def _decide(self, job: Job, fact: str, entry: Entry, decision: str) -> Entry:
        finding = self._finding_of.get(fact)
        verdict = "resolved" if entry["state"] == "resolved" else finding and finding.verdict
        open_question = verdict in ("missed", "needs review")
        if finding and open_question and decision == KEEP_NEW:
            return self._write(job, self._end(fact, entry, finding))
        if finding and (
            (open_question and decision in (KEEP_OLD, KEEP_BOTH))
            or (verdict == "doubtful" and decision == KEEP_NEW)
        ):
            return self._remember(job, fact, entry, finding, decision)
        if decision == UNDO and verdict in ("doubtful", "resolved"):
            return self._write(job, self._undo(fact, entry, finding))
        if entry["state"] == "undone":
            raise UsageError(f"fact {shown(fact)} is valid again, and nothing contradicts it now")
        allowed = {
            "doubtful": f"{KEEP_NEW} or {UNDO}",
            "resolved": UNDO,
        }.get(verdict or "", f"{KEEP_OLD}, {KEEP_NEW} or {KEEP_BOTH}")
        raise UsageError(f"fact {shown(fact)} is {verdict or entry['state']}: decide {allowed}")

    def _end(self, fact: str, entry: Entry, finding: Finding) -> Step:
        if not may_end(self._snapshot, finding, self._now_s):
            raise UsageError(f"fact {shown(fact)} cannot end yet: what replaces it is not newer")
        digest = evidence_digest(self._snapshot, finding)
        decisions = {d: kept for d, kept in _decisions(entry).items() if d != digest}
        base = new_entry(self._snapshot, finding) | {"decision": KEEP_NEW}
        return end_step(
            self._snapshot, finding, base | ({"decisions": decisions} if decisions else {}),
            self._now_s,
        )  # fmt: skip

    def _undo(self, fact: str, entry: Entry, finding: Finding | None) -> Step:
        if entry["state"] == "resolved" or is_bereft(entry):
            return undo_step(fact, self._row_of[fact], entry, entry["before"])
        assert finding is not None
        base = entry | {
            "digest": evidence_digest(self._snapshot, finding), "evidence": finding.evidence
        }  # fmt: skip
        return undo_step(fact, finding.fact, base, {"invalid_at": None, "expired_at": None})

    def _write(self, job: Job, step: Step) -> Entry:
        changes, _ = planned_ends(self._store, self._snapshot, [step])
        scope = Scope(self._snapshot.graph)
        plan = empty_plan(scope, self._thoughts).model_copy(update={"changes": changes})
        applied = Applier(self._store, job.run_id).apply(plan, self._room, job)
        if step.uuid not in applied.done:
            raise SynapseError(f"fact {shown(step.uuid)} has changed meanwhile; look again")
        if job.dry_run:
            return confirmed(begun(self._ledger.get(step.uuid), changes[0], job.run_id))
        return cast(Entry, applied.room.ledger[step.uuid])

    def _remember(
        self, job: Job, fact: str, entry: Entry, finding: Finding, decision: str
    ) -> Entry:
        digest = evidence_digest(self._snapshot, finding)
        others = [(d, kept) for d, kept in _decisions(entry).items() if d != digest]
        decisions = dict([*others, (digest, decision)][-_DECISIONS_MAX_COUNT:])
        entries = {fact: entry | {"decisions": decisions}}
        after = self._thoughts.followed(entries)[fact]
        if not job.dry_run:
            applier = Applier(self._store, job.run_id)
            applier.note(self._snapshot.graph, self._room, {fact: after})
        return after

    def _case(self, fact: str, entry: Entry) -> Case:
        facts, finding = self._snapshot.facts, self._finding_of.get(fact)
        row, by = self._row_of[fact], self._row_of.get(entry["by"])
        if is_bereft(entry) and finding is not None:
            again = new_entry(self._snapshot, finding)
            entry = again | {"by": entry["by"], "state": entry["state"]}
        end_s = float(facts.invalid_at_s[row]) if finding is None else finding.invalid_at_s
        return Case(
            fact=fact,
            text=facts.text[row],
            by=entry["by"],
            by_text=None if by is None else facts.text[by],
            verdict=entry["verdict"],
            rule=entry["rule"],
            confidence=entry["confidence"],
            invalid_at=iso_time(end_s) if isfinite(end_s) else None,
            evidence=entry.get("evidence") or ("" if finding is None else finding.evidence),
            state=entry["state"],
            decision=entry.get("decision"),
        )


def _is_done(entry: Entry, decision: str) -> bool:
    if entry["state"] == "undone":
        return decision == UNDO or (decision != KEEP_NEW and entry["verdict"] != "doubtful")
    if entry["state"] == "decided":
        return bool(entry.get("decision") == decision)
    return entry["state"] == "resolved" and decision == KEEP_NEW


def _decisions(entry: Entry) -> dict[str, str]:
    decisions: dict[str, str] = entry.get("decisions", {})
    return decisions
