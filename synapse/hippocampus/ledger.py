"""What Synapse has decided about facts, and what becomes of it as the graph moves on.

An entry is a JSON object, by the uuid of the fact that loses: ``verdict``, ``by``, ``rule`` and
``confidence`` of the finding, and its ``state``::

    found ---> resolving ---> resolved ---> reverted ---> resolving ... ---> given_up
      |                           |          (an ingestion has saved an older copy)
      |                           +---> bereft    (what replaced the fact is lost)
      +------> undoing -----> undone        a person: the fact is valid again
      +------> decided                      a person: leave it as it is
    any of them -> lapsed                   there is no contradiction any more

Entries that write carry ``before`` and ``after``, the two times as the graph had and has them.
``decisions`` remembers what people decided, by a digest of the evidence: a finding with the same
evidence is not proposed again. Only an entry in a state of :data:`WAITING` waits for a person.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from synapse.hippocampus.finding import Finding
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.plan import Change
from synapse.hippocampus.plan_file import PlannedChange
from synapse.hippocampus.stamps import is_moment

Entry = dict[str, Any]

WOULD_RESOLVE = "would_resolve"
"""State in the report of a dry run: a run would write it."""
BEREFT = "bereft"
WAITING = ("found", "given_up", BEREFT, WOULD_RESOLVE)
KEEP_NEW, UNDO = "keep-new", "undo-invalidation"
ON_ITS_WAY = ("resolving", "undoing")
_WRITTEN = (*ON_ITS_WAY, "resolved", "undone", "reverted", BEREFT)
_STATES = (*_WRITTEN, "found", "given_up", "decided", "lapsed")
_NEEDED_ONCE_WRITTEN = ("before", "after", "digest")
_TEXTS = ("evidence", "digest", "decision", "run_id")
_NOT_PROPOSED = ("superseded", "duplicate")


def is_decision(entry: Any) -> bool:
    """Whether a value is an entry of a ledger, with all that its state needs.

    >>> entry = {"verdict": "missed", "by": None, "rule": "r", "confidence": 0.9, "state": "found"}
    >>> is_decision(entry), is_decision({**entry, "state": "resolved"}), is_decision([])
    (True, False, False)
    """
    if not isinstance(entry, dict) or entry.get("state") not in _STATES:
        return False
    needed = ["by", *(_NEEDED_ONCE_WRITTEN if entry["state"] in _WRITTEN else ())]
    needed += ["digest"] if entry["state"] == "given_up" or "reverts" in entry else []
    confidence, decisions = entry.get("confidence"), entry.get("decisions", {})
    return (
        all(name in entry for name in needed)
        and all(isinstance(entry.get(name), str) for name in ("verdict", "rule"))
        and all(isinstance(entry.get(name, ""), str) for name in _TEXTS)
        and all(isinstance(entry.get(name, 0), int) for name in ("attempts", "reverts"))
        and (entry["by"] is None or isinstance(entry["by"], str))
        and isinstance(confidence, int | float)
        and 0.0 <= confidence <= 1.0
        and isinstance(decisions, dict)
        and all(isinstance(decision, str) for decision in decisions.values())
        and all(_are_ends(entry[name]) for name in ("before", "after") if name in entry)
    )


def _are_ends(value: Any) -> bool:
    names = ("invalid_at", "expired_at")
    return isinstance(value, dict) and all(
        name in value and isinstance(value[name], str | None) for name in names
    )


def evidence_digest(snapshot: GraphSnapshot, finding: Finding) -> str:
    """Names a pair of facts and what speaks for the finding: texts, times and rule.

    A rejected finding comes back only when this changes. How sure the rule is, and which later
    episodes say the same again, is not part of it.
    """
    facts = snapshot.facts
    said: list[str] = [finding.rule]
    for row in (finding.fact, finding.by):
        if row >= 0:
            said += [facts.uuid[row], facts.text[row], repr(float(facts.valid_at_s[row]))]
    if finding.verdict == "doubtful":
        said.append(repr(float(finding.invalid_at_s)))
    return hashlib.blake2b(json.dumps(said).encode(), digest_size=8).hexdigest()


def proposals(snapshot: GraphSnapshot, findings: Iterable[Finding]) -> dict[str, Finding]:
    """The findings that may wait for a decision, by fact: not what Graphiti has recorded itself."""
    uuid = snapshot.facts.uuid
    return {uuid[f.fact]: f for f in findings if f.verdict not in _NOT_PROPOSED}


def follow(
    ledger: Mapping[str, Entry],
    snapshot: GraphSnapshot,
    findings: Iterable[Finding],
    elsewhere: Collection[str] = (),
) -> dict[str, Entry]:
    """The entries about the facts of a snapshot, as they are to be after these findings.

    Following twice changes nothing more. Entries about facts that are gone are left out.

    Args:
        ledger: the entries as they are.
        snapshot: the graph, or one group of it.
        findings: about its facts.
        elsewhere: facts that are not in the snapshot and yet not lost: archived, of other groups.
    """
    proposed = proposals(snapshot, findings)
    rows = {uuid: finding.fact for uuid, finding in proposed.items()}
    gone: set[str] = set()
    if ledger:
        rows |= {uuid: row for row, uuid in enumerate(snapshot.facts.uuid) if uuid in ledger}
        gone = replacements(ledger).difference(snapshot.facts.uuid, elsewhere)
    followed = {}
    for uuid, row in rows.items():
        entry = _followed(ledger.get(uuid), proposed.get(uuid), snapshot, row, gone)
        if entry is not None:
            followed[uuid] = entry
    return followed


def replacements(ledger: Mapping[str, Entry]) -> set[str]:
    """The facts that have replaced others."""
    return {entry["by"] for entry in ledger.values() if entry.get("by")}


def new_entry(snapshot: GraphSnapshot, finding: Finding) -> Entry:
    """The entry of a finding that nobody has decided about."""
    return {
        "verdict": finding.verdict,
        "by": snapshot.facts.uuid[finding.by] if finding.by >= 0 else None,
        "rule": finding.rule,
        "confidence": finding.confidence,
        "state": "found",
    }


def begun(known: Entry | None, change: PlannedChange, run_id: str) -> Entry:
    """The entry about a fact whose end is on its way into the graph.

    Args:
        known: what the ledger says so far.
        change: what is to be written.
        run_id: by which run.
    """
    assert change.was is not None and change.to is not None
    is_undo = change.do == "reopen"
    digest = change.claim.get("digest")
    decisions = (known or {}).get("decisions", {})
    if not is_undo:
        decisions = {kept: said for kept, said in decisions.items() if kept != digest}
    return {
        "by": change.by,
        **change.claim,
        **({"evidence": change.evidence} if change.evidence else {}),
        "state": "undoing" if is_undo else "resolving",
        "before": change.was.model_dump(),
        "after": change.to.model_dump(),
        "run_id": run_id,
        **({"decisions": decisions} if decisions else {}),
    }


def confirmed(entry: Entry) -> Entry:
    """The entry once the graph shows what was to be written."""
    if entry.get("decision") == UNDO:
        decisions = {**entry.get("decisions", {}), entry["digest"]: UNDO}
        return {**entry, "state": "undone", "decisions": decisions}
    if entry["verdict"] == "doubtful":  # somebody has brought back an end that nothing explains
        kept = ("verdict", "by", "rule", "confidence", "decisions")
        return {name: entry[name] for name in kept if name in entry} | {"state": "found"}
    return {**entry, "state": "resolved"}


def decided_otherwise(known: Entry | None, claim: Mapping[str, Any]) -> str | None:
    """What a person has decided against a finding that a run would write, if anything."""
    if known is None or "decision" in claim:
        return None
    against: str | None = known.get("decisions", {}).get(claim.get("digest"))
    return against


def settled_by(ledger: Mapping[str, Entry], snapshot: GraphSnapshot) -> Callable[[Finding], bool]:
    """Tells whether a person has said of a finding that it is none."""
    rejected = {fact: entry["decisions"] for fact, entry in ledger.items() if "decisions" in entry}
    uuid = snapshot.facts.uuid

    def is_settled(finding: Finding) -> bool:
        decisions = rejected.get(uuid[finding.fact])
        return decisions is not None and evidence_digest(snapshot, finding) in decisions

    return is_settled


def own_reason(entry: Entry) -> Entry:
    """Why Synapse ended a fact: once it stands in the graph, a finding only says that it does."""
    if entry.get("state") not in _WRITTEN or "evidence" not in entry or is_bereft(entry):
        return {}
    return {name: entry[name] for name in ("by", "rule", "confidence", "evidence")}


def changes(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> tuple[Change, ...]:
    """What turns one ledger into another, in the order of the facts' uuids."""
    return tuple(
        _change(uuid, before.get(uuid), after.get(uuid))
        for uuid in sorted(before.keys() | after.keys())
        if before.get(uuid) != after.get(uuid)
    )


def _change(uuid: str, old: Entry | None, new: Entry | None) -> Change:
    reason = f"{new['state']}: {new['verdict']} by rule {new['rule']}" if new else "no longer found"
    by = new.get("by") if new else None
    return Change(uuid, old, new, reason, (by,) if by else ())


def is_bereft(entry: Entry) -> bool:
    """Whether a fact was ended for one that is lost since: a person has to look again."""
    return entry.get("state") == BEREFT


def _followed(
    entry: Entry | None,
    finding: Finding | None,
    snapshot: GraphSnapshot,
    row: int,
    gone: Collection[str],
) -> Entry | None:
    if entry is None:
        return None if finding is None else new_entry(snapshot, finding)
    digest = "" if finding is None else evidence_digest(snapshot, finding)
    if entry["state"] in _WRITTEN:
        is_undo = entry.get("decision") == UNDO
        still_holds = finding is not None or is_undo
        agrees = finding is None or digest == entry["digest"] or not is_undo
        if _stands(entry["after"], snapshot, row) and agrees:
            is_open = finding is not None and digest not in entry.get("decisions", {})
            if is_open and not is_undo and entry["by"] in gone:
                return {**entry, "state": BEREFT}
            return confirmed(entry)
        was_written = entry["state"] not in ON_ITS_WAY
        if _stands(entry["before"], snapshot, row) and was_written and still_holds:
            return {**entry, "state": "reverted"}
    if finding is None:
        return {**entry, "state": "lapsed"} if entry.keys() & {"decisions", "after"} else None
    rejected = digest in entry.get("decisions", {})
    if entry["state"] == "given_up" and entry["digest"] == digest and not rejected:
        return entry
    return _found_again(entry, new_entry(snapshot, finding), digest)


def _found_again(entry: Entry, again: Entry, digest: str) -> Entry:
    """A new entry with what the old one hands on: earlier decisions and reverts."""
    decisions = entry.get("decisions", {})
    if decisions:
        again["decisions"] = decisions
    if "reverts" in entry and entry["digest"] == digest:
        again |= {"digest": digest, "reverts": entry["reverts"]}
    if digest in decisions:
        again |= {"state": "decided", "decision": decisions[digest]}
    return again


def _stands(ends: Mapping[str, str | None], snapshot: GraphSnapshot, row: int) -> bool:
    facts = snapshot.facts
    return is_moment(ends["invalid_at"], float(facts.invalid_at_s[row])) and is_moment(
        ends["expired_at"], float(facts.expired_at_s[row])
    )
