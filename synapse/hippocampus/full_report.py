"""The summary with every list complete: what ``--report-file`` holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from synapse.hippocampus.ledger import Entry, own_reason
from synapse.hippocampus.model import KIND_NAMES
from synapse.hippocampus.outlived import outlived_reason
from synapse.hippocampus.report import ConsolidationReport
from synapse.hippocampus.stamps import iso_time

if TYPE_CHECKING:
    from synapse.hippocampus.stages import Thoughts


def full_report(
    report: ConsolidationReport,
    thoughts: Thoughts | None,
    ledger: Mapping[str, Entry] | None = None,
) -> dict[str, Any]:
    """The same object as on stdout, plus ``all`` in each section (none for a run that failed).

    Args:
        report: of the run.
        thoughts: behind it.
        ledger: what is decided about the facts.
    """
    whole = report.as_dict()
    if thoughts is None:
        return whole
    whole["contradictions"]["all"] = _findings(thoughts, ledger or {})
    whole["retention"]["all"] = _memories(thoughts)
    whole["stale"]["all"] = _stale(thoughts)
    if report.schemas is not None:
        whole["schemas"]["all"] = [schema.as_dict() for schema in thoughts.schemas]
    if report.pruning is not None:
        whole["pruning"]["all"] = _pruning(thoughts)
    return whole


def _findings(thoughts: Thoughts, ledger: Mapping[str, Entry]) -> list[dict[str, Any]]:
    uuid = thoughts.snapshot.facts.uuid
    return [
        {
            "fact": uuid[finding.fact],
            "by": uuid[finding.by] if finding.by >= 0 else None,
            "verdict": finding.verdict,
            "confidence": finding.confidence,
            "rule": finding.rule,
            "invalid_at": _time_or_none(finding.invalid_at_s),
            "evidence": finding.evidence,
            **own_reason(ledger.get(uuid[finding.fact], {})),
            **_decided(ledger.get(uuid[finding.fact], {})),
        }
        for finding in thoughts.contradictions.findings
    ]


def _decided(entry: Entry) -> Entry:
    return {name: entry[name] for name in ("state", "decision") if name in entry}


def _memories(thoughts: Thoughts) -> list[dict[str, Any]]:
    standing = thoughts.standing
    parts = standing.parts
    columns = zip(
        thoughts.snapshot.memory_uuids,
        thoughts.snapshot.memory_kinds.tolist(),
        *(
            column.round(6).tolist()
            for column in (
                standing.salience,
                parts.recency,
                parts.frequency,
                parts.correction,
                parts.emotion,
                standing.strength,
            )
        ),
        strict=True,
    )
    return [
        {
            "uuid": uuid,
            "kind": KIND_NAMES[kind],
            "salience": salience,
            "recency": recency,
            "frequency": frequency,
            "correction": correction,
            "emotion": emotion,
            "strength": strength,
        }
        for uuid, kind, salience, recency, frequency, correction, emotion, strength in columns
    ]


def _stale(thoughts: Thoughts) -> list[dict[str, Any]]:
    facts, days, since_s = thoughts.snapshot.facts, thoughts.lifetime_days, thoughts.outlives_s
    rows = np.flatnonzero(thoughts.stale).tolist()
    return [
        {
            "fact": facts.uuid[row],
            "relation": facts.relation[row],
            "lasts_days": round(float(days[row]), 1),
            "since": iso_time(round(float(since_s[row]))),
            "reason": outlived_reason(facts.relation[row], float(days[row])),
        }
        for row in sorted(rows, key=lambda row: (since_s[row], facts.uuid[row]))
    ]


def _pruning(thoughts: Thoughts) -> list[dict[str, Any]]:
    decision, uuids = thoughts.standing.pruning, thoughts.snapshot.memory_uuids
    kinds = thoughts.snapshot.memory_kinds
    return [
        {
            "uuid": uuids[row],
            "kind": KIND_NAMES[kinds[row]],
            "verdict": decision.verdict(row),
            "reason": decision.explain_row(row),
            "strength": round(float(thoughts.standing.strength[row]), 6),
        }
        for row in decision.candidates_and_spared().tolist()
    ]


def _time_or_none(seconds: float) -> str | None:
    return iso_time(seconds) if seconds == seconds else None
