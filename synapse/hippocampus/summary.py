"""From thoughts to the report: counts, the first few of each list, and warnings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

import numpy as np

from synapse.hippocampus.ledger import BEREFT, WAITING, WOULD_RESOLVE, Entry
from synapse.hippocampus.model import DEFAULT_GROUPS, ENTITY, FACT, KIND_NAMES
from synapse.hippocampus.outlived import Outlived
from synapse.hippocampus.plan import Change
from synapse.hippocampus.quantity import quantity
from synapse.hippocampus.recalled import NO_RECALL_KNOWN, is_any_recall_known
from synapse.hippocampus.report import (
    ConsolidationReport,
    Contradictions,
    Hebbian,
    OnlineContradictions,
    Pruning,
    Retention,
    Schemas,
    Seen,
    Stale,
    Timeless,
    shortened,
)
from synapse.hippocampus.resolved import Resolved
from synapse.hippocampus.room import Room
from synapse.hippocampus.scope import listed
from synapse.hippocampus.stamps import iso_time
from synapse.hippocampus.standing import Standing
from synapse.hippocampus.zeros import reasons_for_zero, why_nothing_resolved

if TYPE_CHECKING:
    from synapse.hippocampus.stages import Thoughts

TOP_COUNT = 5
_UUID_CHARACTERS = 64
_NAME_CHARACTERS = 60
_VERDICT_ORDER = ("missed", "doubtful", "needs review", "superseded", "duplicate")


def timeless(thoughts: Thoughts, ledger: Mapping[str, Entry]) -> Timeless:
    """Everything in the report that follows from the graph and what was decided about it."""
    snapshot = thoughts.snapshot
    return Timeless(
        seen=Seen(
            episodes=len(snapshot.episodes),
            entities=len(snapshot.entities),
            facts=len(snapshot.facts),
            mentions=len(snapshot.mentions),
        ),
        contradictions=_contradictions(thoughts, ledger),
        hebbian=Hebbian(
            groups=thoughts.co_activation.groups_count,
            associations=thoughts.co_activation.associations_count,
        ),
        outlived=thoughts.outlived,
        schemas=_schemas(thoughts),
        warnings=_warnings(thoughts, ledger),
    )


def summarize(
    known: Timeless, standing: Standing, room: Room, *, schemas: bool, prune: bool, **header: Any
) -> ConsolidationReport:
    """Put together what is known of the graph and how its memories stand now."""
    report = ConsolidationReport(
        **header,
        config_digest=standing.config.digest,
        seen=known.seen,
        online_contradictions=OnlineContradictions(
            count=sum(s.kind == "contradicts" for s in room.surprises)
        ),
        contradictions=known.contradictions,
        hebbian=known.hebbian,
        retention=_retention(standing),
        stale=_stale(known.outlived, standing.now_s),
        schemas=known.schemas if schemas else None,
        pruning=_pruning(standing) if prune else None,
        warnings=list(known.warnings),
    )
    memories = standing.outline.memory_uuids
    if report.pruning and report.pruning.candidates and not is_any_recall_known(room, memories):
        report.warnings.append(NO_RECALL_KNOWN)
    report.reason_for_zero = reasons_for_zero(report, known.outlived, standing, room)
    return report


def tell_resolved(
    report: ConsolidationReport,
    resolved: Resolved,
    ledger: Mapping[str, Entry],
    confidence_min: float,
) -> None:
    """Put into the report what became of the contradictions that were to be resolved."""
    counts = {"reverted": resolved.reverts_count}
    if resolved.is_dry:
        counts |= {"would_resolve": len(resolved.ended)}
    else:
        counts |= {"resolved": len(resolved.ended)}
        report.wrote.invalidated = len(resolved.ended)
        report.wrote.revalidated = len(resolved.reopened)
    report.contradictions = report.contradictions.model_copy(update=counts)
    if resolved.refusal:
        report.warnings.append(f"a run would refuse this: {resolved.refusal}")
    if resolved.changed:
        report.warnings.append(
            f"{quantity(len(resolved.changed), 'fact')} changed meanwhile and not resolved: "
            f"{listed(resolved.changed)}"
        )
    if not report.contradictions.resolved and report.seen.facts:
        report.reason_for_zero["resolved"] = why_nothing_resolved(resolved, ledger, confidence_min)


def tell_lapsed(report: ConsolidationReport, ledger: Iterable[Change]) -> None:
    """Say which decisions this run found overwritten and without a reason to repeat them."""
    written = ("resolved", "reverted", "undone")
    lapsed = [
        change.target
        for change in ledger
        if change.before and change.after
        and change.before["state"] in written and change.after["state"] == "lapsed"
    ]  # fmt: skip
    if lapsed:
        report.warnings.append(
            f"{len(lapsed)} resolved facts were overwritten and are no longer contradicted; "
            f"left as they are: {listed(lapsed)}"
        )


def _contradictions(thoughts: Thoughts, ledger: Mapping[str, Entry]) -> Contradictions:
    findings = [f for f in thoughts.contradictions.findings if f.verdict != "duplicate"]
    count = Counter(finding.verdict for finding in thoughts.contradictions.findings)
    uuid = thoughts.snapshot.facts.uuid
    first = nsmallest(
        TOP_COUNT,
        (f for f in findings if _state(ledger, uuid[f.fact]) in WAITING),
        key=lambda f: (
            _state(ledger, uuid[f.fact]) != WOULD_RESOLVE,
            _VERDICT_ORDER.index(f.verdict), -f.confidence, uuid[f.fact],
        ),
    )  # fmt: skip
    return Contradictions(
        count=len(findings) - count["needs review"],
        superseded=count["superseded"],
        missed=count["missed"],
        doubtful=count["doubtful"],
        unclear=count["needs review"],
        duplicates=count["duplicate"],
        review=sum(entry["state"] in WAITING for entry in ledger.values()),
        top=[
            {
                "fact": shortened(uuid[finding.fact], _UUID_CHARACTERS),
                "by": shortened(uuid[finding.by], _UUID_CHARACTERS) if finding.by >= 0 else None,
                "verdict": finding.verdict,
                "confidence": finding.confidence,
                "rule": finding.rule,
                **_would_be(ledger.get(uuid[finding.fact])),
            }
            for finding in first
        ],
    )


def _state(ledger: Mapping[str, Entry], fact: str) -> str:
    entry = ledger.get(fact)
    return "found" if entry is None else str(entry["state"])


def _would_be(entry: Entry | None) -> dict[str, str]:
    return {"state": WOULD_RESOLVE} if entry and entry["state"] == WOULD_RESOLVE else {}


def _retention(standing: Standing) -> Retention:
    strength = standing.strength
    return Retention(
        entities=len(standing.outline.entity_uuids),
        facts=len(standing.outline.fact_uuids),
        mean_strength=round(float(strength.mean()), 4) if len(strength) else 0.0,
        fading=int(standing.fading.sum()),
    )


def _stale(outlived: Outlived, now_s: float) -> Stale:
    return Stale(
        count=outlived.count(now_s),
        top=[
            {
                "fact": shortened(fact.fact, _UUID_CHARACTERS),
                "relation": shortened(fact.relation, _NAME_CHARACTERS),
                "lasts_days": round(fact.lasts_days, 1),
                "since": iso_time(round(fact.since_s)),
            }
            for fact in outlived.named(now_s)
        ],
    )


def _schemas(thoughts: Thoughts) -> Schemas:
    return Schemas(
        count=len(thoughts.schemas),
        top=[
            {
                "id": schema.id,
                "name": shortened(schema.name, _NAME_CHARACTERS),
                "members": schema.members_count,
            }
            for schema in thoughts.schemas[:TOP_COUNT]
        ],
    )


def _pruning(standing: Standing) -> Pruning:
    decision, uuids = standing.pruning, standing.outline.memory_uuids
    entities_count = len(standing.outline.entity_uuids)
    candidates = decision.ranked_candidates
    return Pruning(
        threshold=standing.config.prune_below,
        candidates=len(candidates),
        share=round(len(candidates) / len(uuids), 4) if uuids else 0.0,
        kept=decision.kept_count,
        spared=decision.spared_count,
        spared_by=decision.spared_by(),
        top=[
            {
                "uuid": shortened(uuids[row], _UUID_CHARACTERS),
                "kind": KIND_NAMES[ENTITY if row < entities_count else FACT],
                "strength": round(float(standing.strength[row]), 4),
            }
            for row in candidates[:TOP_COUNT].tolist()
        ],
    )


def _warnings(thoughts: Thoughts, ledger: Mapping[str, Entry]) -> list[str]:
    snapshot = thoughts.snapshot
    warnings = [f"left out of the run: {n} {what}" for what, n in snapshot.left_out.items() if n]
    unknown_count = int(np.isnan(thoughts.touched.last_touch_s).sum())
    if unknown_count:
        unknown = quantity(unknown_count, "memory")
        warnings.append(f"{unknown} without a readable time, taken as fresh")
    crowded_count = thoughts.near_duplicates.left_out_count
    if crowded_count:
        crowded = quantity(crowded_count, "fact")
        warnings.append(f"{crowded} not compared with each other: too many join two entities")
    archive = thoughts.recalled.archive
    damaged_count = sum(memory.is_damaged and memory.has_content for memory in archive)
    if damaged_count:
        damaged = quantity(damaged_count, "entry")
        warnings.append(f"{damaged} of the archive cannot be read; see synapse archive list")
    groups = sorted(snapshot.group_ids() - DEFAULT_GROUPS)
    if len(groups) > 1:
        warnings.append(f"the graph holds several groups, taken together: {listed(groups)}")
    return warnings + _ledger_warnings(ledger)


def _ledger_warnings(ledger: Mapping[str, Entry]) -> list[str]:
    state = Counter(entry["state"] for entry in ledger.values())
    warnings = []
    if state["reverted"]:
        warnings.append(
            f"an ingestion has overwritten {state['reverted']} resolved facts; add --resolve"
        )
    if state[BEREFT]:
        warnings.append(
            f"what replaced {state[BEREFT]} resolved facts is gone from the graph; "
            "see synapse review"
        )
    if state["given_up"]:
        warnings.append(
            f"{state['given_up']} resolved facts were overwritten too often; see synapse review"
        )
    return warnings
