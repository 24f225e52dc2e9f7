"""What is to be written into the graph, decided without touching it.

A missed contradiction ends the older fact at the moment from which the newer one holds, as
Graphiti does it: ``invalid_at`` is that moment, ``expired_at`` the moment of the run. An ingestion
that was on its way can save the copy that it read before; a decision that was undone so is written
again, and given up when that has happened :data:`REVERTS_MAX_COUNT` times.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import isfinite, isnan

from synapse.hippocampus.circles import circles
from synapse.hippocampus.finding import DENIED, Finding
from synapse.hippocampus.ledger import UNDO, Entry, evidence_digest, new_entry, proposals
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.plan import FactState
from synapse.hippocampus.stamps import format_stamp, is_moment

REVERTS_MAX_COUNT = 3


@dataclass(frozen=True, slots=True)
class Step:
    """One fact whose end is to be written, or (``given_up``) no longer written."""

    uuid: str
    fact: int
    """Row of the fact."""
    by: int
    """Row of the fact that replaces it, -1 if there is none."""
    entry: Entry
    """For the ledger; ``after`` holds what is to be written."""
    is_revert: bool
    """Whether this was written before, and an ingestion has overwritten it."""

    @property
    def is_given_up(self) -> bool:
        """Whether the graph is left as it is."""
        return bool(self.entry["state"] == "given_up")

    @property
    def is_undo(self) -> bool:
        """Whether the fact becomes valid again."""
        return self.entry.get("decision") == UNDO


def decide(
    snapshot: GraphSnapshot,
    findings: Collection[Finding],
    ledger: Mapping[str, Entry],
    now_s: float,
    confidence_min: float,
) -> list[Step]:
    """What ``--resolve`` writes: certain findings, and decisions that were reverted.

    Of facts that replace each other in a circle none is ended: they are left to a person.

    Args:
        snapshot: the graph.
        findings: of this snapshot.
        ledger: entries that follow these findings.
        now_s: the moment of the run, seconds since 1970.
        confidence_min: from this confidence on a missed contradiction is certain enough.
    """
    steps = []
    denied = {f.fact for f in findings if f.rule == DENIED}
    for uuid, finding in sorted(proposals(snapshot, findings).items()):
        if finding.by in denied:  # what was taken back must not end what it had replaced
            continue
        entry = ledger[uuid]
        decided = entry["state"] == "reverted" and entry.get("decision") == "keep-new"
        sure = finding.verdict == "missed" and finding.confidence >= confidence_min
        if entry["state"] not in ("found", "reverted") or entry.get("decision") == UNDO:
            continue
        if (sure or decided) and may_end(snapshot, finding, now_s):
            steps.append(end_step(snapshot, finding, entry, now_s))
    steps = _without_circles(steps)
    undone = [
        u for u, e in ledger.items() if e["state"] == "reverted" and e.get("decision") == UNDO
    ]
    rows = {uuid: row for row, uuid in enumerate(snapshot.facts.uuid)} if undone else {}
    for uuid in sorted(undone):
        entry = ledger[uuid]
        steps.append(undo_step(uuid, rows[uuid], entry, entry["after"]))
    return steps


def _without_circles(steps: Collection[Step]) -> list[Step]:
    """Leave facts that replace each other in a circle: ending all of them would leave none."""
    by = {step.fact: step.by for step in steps}
    circular = {row for circle in circles(by) for row in circle}
    return [step for step in steps if step.fact not in circular]


def is_waiting(ledger: Mapping[str, Entry], confidence_min: float) -> bool:
    """Whether the ledger holds something that :func:`decide` may write."""
    return any(
        entry["state"] == "reverted"
        or (
            entry["state"] == "found"
            and entry["verdict"] == "missed"
            and entry["confidence"] >= confidence_min
        )
        for entry in ledger.values()
    )


def may_end(snapshot: GraphSnapshot, finding: Finding, now_s: float) -> bool:
    """Whether a finding can be written at all: never the newer fact, never ahead of time.

    The fact must have begun by the moment at which it is to end, that moment must have come, and
    the replacing fact must have been said last after the other began; if at the same time, it must
    not have been recorded before it, and it must not have ended by then.
    """
    if finding.by < 0 or not isfinite(finding.invalid_at_s) or finding.invalid_at_s > now_s:
        return False
    if replaces_nothing(snapshot, finding):
        return False
    begins_s, said_s = _begins_s(snapshot, finding.fact), _last_said_s(snapshot, finding.by)
    recorded_s = snapshot.facts.created_at_s
    if begins_s == said_s and recorded_s[finding.by] < recorded_s[finding.fact]:
        return False
    return begins_s <= finding.invalid_at_s and begins_s <= said_s


def replaces_nothing(snapshot: GraphSnapshot, finding: Finding) -> bool:
    """Whether the replacing fact had itself ended by the moment of a finding.

    It replaces nothing then, however often it is said again afterwards: ending the other one would
    leave none.
    """
    ends_s = snapshot.facts.invalid_at_s
    return finding.by >= 0 and bool(ends_s[finding.by] <= finding.invalid_at_s)


def end_step(snapshot: GraphSnapshot, finding: Finding, entry: Entry, now_s: float) -> Step:
    """End a fact where the one that replaces it begins."""
    after = {
        "invalid_at": format_stamp(finding.invalid_at_s),
        "expired_at": format_stamp(now_s),
    }
    new = new_entry(snapshot, finding) | {"digest": evidence_digest(snapshot, finding)}
    new["evidence"] = finding.evidence
    uuid = snapshot.facts.uuid[finding.fact]
    return _step(
        uuid, finding.fact, finding.by, entry, new | {"state": "resolving", "after": after}
    )


def undo_step(uuid: str, row: int, entry: Entry, after: Mapping[str, str | None]) -> Step:
    """Give a fact the end, or the lack of one, that it had before."""
    new = {"decision": UNDO, "state": "undoing", "after": dict(after)}
    return _step(uuid, row, -1, entry, new)


def is_unchanged(snapshot: GraphSnapshot, row: int, state: FactState | None) -> bool:
    """Whether a fact still says what the snapshot says of it."""
    facts = snapshot.facts
    return (
        state is not None
        and state.text == facts.text[row]
        and _is_said_as_before(snapshot, row, state)
        and is_moment(state.valid_at, float(facts.valid_at_s[row]))
        and is_moment(state.invalid_at, float(facts.invalid_at_s[row]))
        and is_moment(state.expired_at, float(facts.expired_at_s[row]))
    )


def _is_said_as_before(snapshot: GraphSnapshot, row: int, state: FactState) -> bool:
    facts = snapshot.facts
    known = [snapshot.episodes.uuid[episode] for episode in facts.episodes[row].tolist()]
    if facts.references_count is None:
        return set(known) <= set(state.episodes)
    named = list(filter(None, state.episodes))
    return len(named) == facts.references_count[row] and set(known) <= set(named)


def _step(uuid: str, row: int, by: int, entry: Entry, new: Entry) -> Step:
    is_revert = entry["state"] == "reverted"
    reverts_count = entry.get("reverts", 0) + is_revert
    if is_revert and reverts_count >= REVERTS_MAX_COUNT:
        given_up = entry | {"state": "given_up", "reverts": reverts_count}
        return Step(uuid, row, by, given_up, is_revert)
    counts = {"attempts": entry.get("attempts", 0) + 1, "reverts": reverts_count}
    return Step(uuid, row, by, entry | new | counts, is_revert)


def _begins_s(snapshot: GraphSnapshot, row: int) -> float:
    """When a fact begins: ``valid_at``, else its newest episode, else when it was recorded."""
    facts = snapshot.facts
    for time_s in (facts.valid_at_s[row], _newest_episode_s(snapshot, row)):
        if isfinite(time_s):
            return float(time_s)
    return float(facts.created_at_s[row])


def _last_said_s(snapshot: GraphSnapshot, row: int) -> float:
    begins_s, newest_s = _begins_s(snapshot, row), _newest_episode_s(snapshot, row)
    return begins_s if isnan(newest_s) else max(begins_s, newest_s)


def _newest_episode_s(snapshot: GraphSnapshot, row: int) -> float:
    episodes = snapshot.episodes
    times_s = [
        valid_s if isfinite(valid_s) else created_s
        for valid_s, created_s in (
            (float(episodes.valid_at_s[e]), float(episodes.created_at_s[e]))
            for e in snapshot.facts.episodes[row].tolist()
        )
    ]
    return max((t for t in times_s if isfinite(t)), default=float("nan"))
