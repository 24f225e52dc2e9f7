"""From thoughts to the report: counts, the first few of each list, and a reason for each zero."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import numpy as np

from synapse.hippocampus.model import DEFAULT_GROUPS, KIND_NAMES
from synapse.hippocampus.ports import Room
from synapse.hippocampus.report import (
    ConsolidationReport,
    Contradictions,
    Hebbian,
    OnlineContradictions,
    Pruning,
    Retention,
    Schemas,
    Seen,
    shortened,
)
from synapse.hippocampus.scope import listed
from synapse.hippocampus.stages import Thoughts

TOP_COUNT = 5
_UUID_CHARACTERS = 64
_NAME_CHARACTERS = 60
_VERDICT_ORDER = ("missed", "doubtful", "superseded")


def iso_time(seconds: float) -> str:
    """ISO 8601 in UTC, as the summary writes times.

    >>> iso_time(0.0)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def summarize(
    thoughts: Thoughts, room: Room, *, schemas: bool, prune: bool, **header: Any
) -> ConsolidationReport:
    """Run every stage that the summary needs and count."""
    snapshot = thoughts.snapshot
    report = ConsolidationReport(
        **header,
        config_digest=thoughts.config.digest,
        seen=Seen(
            episodes=len(snapshot.episodes),
            entities=len(snapshot.entities),
            facts=len(snapshot.facts),
            mentions=len(snapshot.mentions),
        ),
        online_contradictions=OnlineContradictions(count=len(room.surprises)),
        contradictions=_contradictions(thoughts),
        hebbian=Hebbian(
            groups=thoughts.co_activation.groups_count,
            associations=thoughts.co_activation.associations_count,
        ),
        retention=_retention(thoughts),
        schemas=_schemas(thoughts) if schemas else None,
        pruning=_pruning(thoughts) if prune else None,
        warnings=_warnings(thoughts),
    )
    report.reason_for_zero = _reasons_for_zero(report, thoughts)
    return report


def _contradictions(thoughts: Thoughts) -> Contradictions:
    findings = thoughts.contradictions.findings
    count = Counter(finding.verdict for finding in findings)
    uuid = thoughts.snapshot.facts.uuid
    first = sorted(
        findings, key=lambda f: (_VERDICT_ORDER.index(f.verdict), -f.confidence, uuid[f.fact])
    )
    return Contradictions(
        count=len(findings),
        superseded=count["superseded"],
        missed=count["missed"],
        doubtful=count["doubtful"],
        review=count["missed"] + count["doubtful"],
        top=[
            {
                "fact": shortened(uuid[finding.fact], _UUID_CHARACTERS),
                "by": shortened(uuid[finding.by], _UUID_CHARACTERS) if finding.by >= 0 else None,
                "verdict": finding.verdict,
                "confidence": finding.confidence,
                "rule": finding.rule,
            }
            for finding in first[:TOP_COUNT]
        ],
    )


def _retention(thoughts: Thoughts) -> Retention:
    strength = thoughts.strength
    return Retention(
        entities=len(thoughts.snapshot.entities),
        facts=len(thoughts.snapshot.facts),
        mean_strength=round(float(strength.mean()), 4) if len(strength) else 0.0,
        fading=int(thoughts.fading.sum()),
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


def _pruning(thoughts: Thoughts) -> Pruning:
    decision = thoughts.pruning
    uuids, kinds = thoughts.snapshot.memory_uuids, thoughts.snapshot.memory_kinds
    candidates = decision.ranked_candidates
    return Pruning(
        threshold=thoughts.config.pruning.threshold,
        candidates=len(candidates),
        share=round(len(candidates) / len(uuids), 4) if uuids else 0.0,
        kept=decision.kept_count,
        spared=decision.spared_count,
        spared_by=decision.spared_by(),
        top=[
            {
                "uuid": shortened(uuids[row], _UUID_CHARACTERS),
                "kind": KIND_NAMES[kinds[row]],
                "strength": round(float(thoughts.strength[row]), 4),
            }
            for row in candidates[:TOP_COUNT].tolist()
        ],
    )


def _warnings(thoughts: Thoughts) -> list[str]:
    snapshot = thoughts.snapshot
    warnings = [f"left out of the run: {n} {what}" for what, n in snapshot.left_out.items() if n]
    unknown_count = int(np.isnan(thoughts.touched.last_touch_s).sum())
    if unknown_count:
        warnings.append(f"{unknown_count} memories carry no readable time; they count as fresh")
    groups = sorted(snapshot.group_ids() - DEFAULT_GROUPS)
    if len(groups) > 1:
        warnings.append(f"the graph holds several groups, taken together: {listed(groups)}")
    return warnings


def _reasons_for_zero(report: ConsolidationReport, thoughts: Thoughts) -> dict[str, str]:
    seen = report.seen
    if not seen.entities and not seen.facts:
        return {"seen": "the graph holds no entities and no facts"}
    reasons = {}
    if not report.online_contradictions.count:
        reasons["online_contradictions"] = "none recorded since the last run"
    if not report.contradictions.count:
        reasons["contradictions"] = (
            f"{seen.facts} facts: none was invalidated, no text replaces another fact"
        )
    if not report.hebbian.associations:
        reasons["hebbian"] = (
            "no two linked entities share a second episode"
            if report.hebbian.groups
            else "no episode involves two entities"
        )
    if not report.retention.fading:
        reasons["fading"] = "nothing falls below the threshold within the warning horizon"
    if report.schemas is not None and not report.schemas.count:
        least = thoughts.config.schemas.min_members_count
        reasons["schemas"] = f"no pattern has {least} members"
    if report.pruning is not None and not report.pruning.candidates:
        reasons["pruning"] = _nothing_to_prune(report.pruning, thoughts)
    return reasons


def _nothing_to_prune(pruning: Pruning, thoughts: Thoughts) -> str:
    if pruning.spared:
        return f"all {pruning.spared} memories below the threshold are spared"
    weakest = float(thoughts.strength.min())
    return f"the weakest memory stands at {weakest:.4f}"
