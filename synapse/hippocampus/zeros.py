"""Why a count of the report is zero, in one sentence for people."""

from __future__ import annotations

from collections.abc import Mapping

from synapse.hippocampus.ledger import Entry
from synapse.hippocampus.outlived import Outlived
from synapse.hippocampus.quantity import quantity
from synapse.hippocampus.report import ConsolidationReport
from synapse.hippocampus.resolved import Resolved
from synapse.hippocampus.room import Room
from synapse.hippocampus.standing import Standing


def reasons_for_zero(
    report: ConsolidationReport, outlived: Outlived, standing: Standing, room: Room
) -> dict[str, str]:
    """A reason for each count that is zero, by the section or field that it stands in.

    Args:
        report: with everything counted.
        outlived: which facts are older than facts of their relation become.
        standing: how the memories stand.
        room: what was kept beside the graph before the run.
    """
    seen = report.seen
    if not seen.entities and not seen.facts:
        return {"seen": "there are no entities and no facts to see"}
    reasons = {}
    if not report.online_contradictions.count:
        reasons["online_contradictions"] = "none recorded since the last run"
    if not report.contradictions.count:
        reasons["contradictions"] = _nothing_contradicted(report)
    if not report.hebbian.associations:
        reasons["hebbian"] = _nothing_associated(report)
    if not report.recalls.counted:
        reasons["recalls"] = _nothing_recalled(room)
    if not report.retention.fading:
        reasons["fading"] = "nothing falls below the threshold within the warning horizon"
    if report.schemas is not None and not report.schemas.count:
        least = standing.config.schemas.min_members_count
        reasons["schemas"] = f"no pattern has {least} members"
    if report.pruning is not None and not report.pruning.candidates:
        reasons["pruning"] = standing.why_no_candidate
    if seen.facts and not report.stale.count:
        reasons["stale"] = _nothing_stale(outlived)
    return reasons


def why_nothing_resolved(
    resolved: Resolved, ledger: Mapping[str, Entry], confidence_min: float
) -> str:
    """Why a run that was to resolve contradictions has resolved none.

    Args:
        resolved: what became of them.
        ledger: what is decided about facts.
        confidence_min: from 0 to 1, what it takes to resolve one.
    """
    if resolved.is_dry and resolved.ended:
        return f"a dry run writes nothing; {quantity(len(resolved.ended), 'fact')} would be ended"
    if resolved.changed:
        return f"{quantity(len(resolved.changed), 'fact')} to be ended changed meanwhile"
    open_ = [e for e in ledger.values() if e["state"] == "found" and e["verdict"] == "missed"]
    sure_count = sum(entry["confidence"] >= confidence_min for entry in open_)
    if sure_count:
        sure = quantity(sure_count, "missed contradiction")
        return f"{sure} would be certain enough, but what replaces is not newer"
    if open_:
        return f"none of {len(open_)} missed contradictions reaches confidence {confidence_min:g}"
    decided_count = sum(entry["state"] in ("decided", "undone") for entry in ledger.values())
    if decided_count:
        found = quantity(decided_count, "finding")
        return f"a person has decided about the {found} that would be written"
    return "no fact that still holds is contradicted"


def _nothing_contradicted(report: ConsolidationReport) -> str:
    if report.contradictions.review:
        return "what was found waits until somebody decides: synapse review"
    return f"{report.seen.facts} facts: none was invalidated, no text replaces another fact"


def _nothing_associated(report: ConsolidationReport) -> str:
    if report.hebbian.groups:
        return "no two linked entities share a second episode"
    return "no episode involves two entities"


def _nothing_recalled(room: Room) -> str:
    if not room.recalls:
        return "none recorded since the last run"
    if not any(recall_set.asked for recall_set in room.recalls):
        return "nobody asked: memories were only put into prompts"
    return "every one repeats another within 24 hours"


def _nothing_stale(outlived: Outlived) -> str:
    if not outlived.lifetimes_count:
        return "no relation shows yet how long its facts last"
    return "no active fact is older than facts of its relation become"
