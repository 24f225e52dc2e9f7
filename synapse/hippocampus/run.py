"""What a caller asks of the batch on one graph, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from synapse.errors import SynapseError
from synapse.hippocampus.report import ConsolidationReport
from synapse.hippocampus.scope import Scope

if TYPE_CHECKING:
    from synapse.hippocampus.stages import Thoughts


@dataclass(frozen=True, slots=True)
class Run:
    """What a caller asks for."""

    scope: Scope
    now_s: float
    run_id: str
    schemas: bool = False
    prune: bool = False
    resolve: bool = False
    """Whether certain contradictions are written into the graph."""
    max_changes: int | None = None
    """How many facts may be ended by this run, in place of the caps."""
    lock_wait_s: float = 0.0
    """How long to wait for another run at work on the graph."""
    dry_run: bool = False
    full_lists: bool = False
    """Whether the caller wants the thoughts behind the report, which takes thinking anew."""
    always_wake: bool = False
    """Whether a host that is silent about runs without news is to speak about this one."""
    at_s: float | None = None
    """The moment by the clock, where ``now_s`` is another one."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A report, and the thoughts behind it (``None`` where the run failed or remembered)."""

    report: ConsolidationReport
    thoughts: Thoughts | None = None
    error: SynapseError | None = None
    ledger: dict[str, Any] = field(default_factory=dict)
    """What is decided about the facts that the thoughts are about."""
