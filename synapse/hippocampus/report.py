"""The summary of a run: one JSON object on one line, its shape versioned.

Fields may be added, never renamed. The line holds counts and ids, no fact text, and stays under
:data:`MAX_SUMMARY_CHARACTERS` whatever the graph contains; :class:`FullLists` carries everything.
"""

from __future__ import annotations

from bisect import bisect_right
from copy import deepcopy
from typing import Any, Literal

from pydantic import BaseModel, Field

from synapse.hippocampus.json_line import json_line
from synapse.hippocampus.outlived import Outlived

MAX_SUMMARY_CHARACTERS = 3_500
_NAME_CHARACTERS = 128
_WARNING_CHARACTERS = 200
_ERROR_CHARACTERS = 400
_FAILED_GROUPS_COUNT = 5

_STOPPED_FIELDS = (
    "schema_version", "status", "run_id", "graph", "group_id", "now", "dry_run", "error",
    "warnings", "config_digest", "wakeAgent",
)  # fmt: skip

Status = Literal["ok", "partial", "failed", "lock_busy"]


class Seen(BaseModel):
    """What the graph held."""

    episodes: int = 0
    entities: int = 0
    facts: int = 0
    mentions: int = 0


class OnlineContradictions(BaseModel):
    """Prediction errors noticed during ingestion and taken over by this run."""

    count: int = 0


class Contradictions(BaseModel):
    """Facts that another fact contradicts, or whose invalidation nothing explains.

    ``unclear`` are left to a person, ``duplicates`` say the same as another fact; neither is part
    of ``count``.
    """

    count: int = 0
    superseded: int = 0
    missed: int = 0
    doubtful: int = 0
    unclear: int = 0
    duplicates: int = 0
    resolved: int = 0
    would_resolve: int = 0
    reverted: int = 0
    review: int = 0
    top: list[dict[str, Any]] = Field(default_factory=list)


class Hebbian(BaseModel):
    """Episodes with several entities, and pairs that were active together repeatedly."""

    groups: int = 0
    associations: int = 0


class Retention(BaseModel):
    """How strong the memories are. entities + facts = changed + unchanged."""

    entities: int = 0
    facts: int = 0
    changed: int = 0
    unchanged: int = 0
    mean_strength: float = 0.0
    fading: int = 0


class Stale(BaseModel):
    """Active facts that have outlived half of the facts of their relation: a hint to look again.

    No count of any other section depends on it.
    """

    count: int = 0
    top: list[dict[str, Any]] = Field(default_factory=list)


class Recalls(BaseModel):
    """What was recorded of recalls since the last run."""

    counted: int = 0
    exposures: int = 0
    pending: int = 0


class Schemas(BaseModel):
    """Repeated patterns behind the episodes."""

    count: int = 0
    top: list[dict[str, Any]] = Field(default_factory=list)


class Pruning(BaseModel):
    """What could be archived. kept + spared + candidates = entities + facts."""

    threshold: float
    candidates: int = 0
    share: float = 0.0
    kept: int = 0
    spared: int = 0
    spared_by: dict[str, int] = Field(default_factory=dict)
    top: list[dict[str, Any]] = Field(default_factory=list)


class Wrote(BaseModel):
    """What the run wrote."""

    traces: int = 0
    findings: int = 0
    invalidated: int = 0
    revalidated: int = 0
    archived: int = 0


class Durations(BaseModel):
    """Seconds by phase."""

    read: float = 0.0
    think: float = 0.0
    write: float = 0.0


class Timeless(BaseModel):
    """The part of a report that depends on the graph and not on the moment."""

    seen: Seen
    contradictions: Contradictions
    hebbian: Hebbian
    outlived: Outlived
    schemas: Schemas
    warnings: list[str]


class ConsolidationReport(BaseModel):
    """One run over one graph."""

    schema_version: Literal[1] = 1
    status: Status = "ok"
    run_id: str
    graph: str
    group_id: str | None
    now: str
    dry_run: bool = False
    error: str | None = None
    seen: Seen = Seen()
    online_contradictions: OnlineContradictions = OnlineContradictions()
    contradictions: Contradictions = Contradictions()
    hebbian: Hebbian = Hebbian()
    retention: Retention = Retention()
    stale: Stale = Stale()
    recalls: Recalls = Recalls()
    schemas: Schemas | None = None
    pruning: Pruning | None = None
    wrote: Wrote = Wrote()
    reason_for_zero: dict[str, str] = Field(default_factory=dict)
    warnings: list[str] = Field(default_factory=list)
    durations_s: Durations = Durations()
    config_digest: str
    wakeAgent: bool = False  # the name is the scheduler's, not ours

    def as_dict(self) -> dict[str, Any]:
        """The summary as JSON values.

        Sections that were not asked for are absent, and so is every count where the run stopped
        before it could count.
        """
        whole = self.model_dump(mode="json")
        if self.status in ("failed", "lock_busy"):
            whole = {name: whole[name] for name in _STOPPED_FIELDS}
        for optional in ("error", "schemas", "pruning"):
            if whole.get(optional, "") is None:
                del whole[optional]
        for name in ("graph", "group_id", "run_id"):
            whole[name] = shortened(whole[name], _NAME_CHARACTERS)
        if "error" in whole:
            whole["error"] = shortened(whole["error"], _ERROR_CHARACTERS)
        whole["warnings"] = [shortened(w, _WARNING_CHARACTERS) for w in whole["warnings"]]
        return whole

    def as_record(self) -> dict[str, Any]:
        """What the room remembers of a run."""
        return {
            "run_id": self.run_id,
            "group_id": self.group_id,
            "now": self.now,
            "status": self.status,
            "seen": self.seen.model_dump(),
            "contradictions": self.contradictions.count,
            "changed": self.retention.changed,
        }


class GroupsReport(BaseModel):
    """One run over several graphs."""

    status: Status
    groups: list[ConsolidationReport]

    @classmethod
    def of(cls, groups: list[ConsolidationReport]) -> GroupsReport:
        """Put the reports of several graphs together."""
        failed_count = sum(group.status == "failed" for group in groups)
        if not failed_count:
            return cls(status="ok", groups=groups)
        return cls(status="partial" if failed_count < len(groups) else "failed", groups=groups)

    def as_dict(self) -> dict[str, Any]:
        """The summaries and their totals."""
        return {
            "schema_version": 1,
            "status": self.status,
            "groups": [group.as_dict() for group in self.groups],
            "totals": self.totals(),
            "wakeAgent": any(group.wakeAgent for group in self.groups),
        }

    def totals(self) -> dict[str, Any]:
        """Sums over the groups."""
        groups = self.groups
        return {
            "groups": len(groups),
            "failed": sum(g.status == "failed" for g in groups),
            "lock_busy": sum(g.status == "lock_busy" for g in groups),
            "entities": sum(g.seen.entities for g in groups),
            "facts": sum(g.seen.facts for g in groups),
            "contradictions": sum(g.contradictions.count for g in groups),
            "changed": sum(g.retention.changed for g in groups),
            "stale": sum(g.stale.count for g in groups),
            "candidates": sum(g.pruning.candidates for g in groups if g.pruning),
        }


def summary_line(whole: dict[str, Any]) -> str:
    """The JSON line for stdout: pure ASCII, no line break, never above the limit.

    Lists of examples give way first, then warnings, then whole group summaries (from the
    healthy ones); counts never do. Whatever was left out is counted under ``left_out``.

    >>> summary_line({"status": "ok", "graph": "café"})
    '{"status": "ok", "graph": "caf\\\\u00E9"}'
    """
    failed = whole.get("status") != "ok"
    line = json_line(whole, failed=failed)
    if len(line) <= MAX_SUMMARY_CHARACTERS:
        return line
    slim = deepcopy(whole)
    for shrink in (_without_examples, _without_details, _without_healthy_groups):
        shrink(slim)
        line = json_line(slim, failed=failed)
        if len(line) <= MAX_SUMMARY_CHARACTERS:
            break
    return line


def shortened(text: Any, limit: int) -> Any:
    """Cut a string to ``limit`` characters, the last one an ellipsis.

    Characters that JSON writes as escapes count as what they become, so that a name made of
    them cannot outgrow the line.

    >>> shortened("abcdef", 4), shortened("ab", 4), shortened(None, 4)
    ('abc…', 'ab', None)
    """
    if not isinstance(text, str) or _line_characters(text) <= limit:
        return text
    ends = range(1, min(len(text), limit) + 1)
    kept = bisect_right(ends, limit - 1, key=lambda end: _line_characters(text[:end]))
    return text[:kept] + "…"


def _line_characters(text: str) -> int:
    return len(json_line(text, failed=True)) - 2


def _sections(whole: dict[str, Any]) -> list[dict[str, Any]]:
    return [whole, *whole.get("groups", [])]


def _without_examples(whole: dict[str, Any]) -> None:
    for summary in _sections(whole):
        for name in ("contradictions", "stale", "schemas", "pruning"):
            if name in summary:
                summary[name]["top"] = []


def _without_details(whole: dict[str, Any]) -> None:
    for summary in _sections(whole):
        summary.pop("reason_for_zero", None)
        summary["warnings"] = summary.get("warnings", [])[:1]


def _without_healthy_groups(whole: dict[str, Any]) -> None:
    groups = whole.get("groups", [])
    failed = [group for group in groups if group.get("status") == "failed"]
    whole["groups"] = [
        {name: group.get(name) for name in ("graph", "status", "error")}
        for group in failed[:_FAILED_GROUPS_COUNT]
    ]
    whole["left_out"] = {"groups": len(groups) - len(whole["groups"])}
