"""What a run knows once it has read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from synapse.hippocampus.plan import ConsolidationPlan
from synapse.hippocampus.report import Timeless
from synapse.hippocampus.resolved import Resolved
from synapse.hippocampus.standing import Standing

if TYPE_CHECKING:
    from synapse.hippocampus.stages import Thoughts


@dataclass(frozen=True, slots=True)
class Found:
    """What a run knows, by thinking or by remembering (then without ``thoughts``)."""

    known: Timeless
    standing: Standing
    plan: ConsolidationPlan
    read_s: float
    """When the graph had been read, by the stopwatch."""
    thoughts: Thoughts | None = None
    ledger: dict[str, Any] = field(default_factory=dict)
    resolved: Resolved | None = None
    """What became of the contradictions, where they were to be resolved."""
