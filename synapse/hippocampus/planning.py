"""From thoughts to a plan: which changes of Graphiti's own data a run would make, and why.

Planning reads, and writes nothing. A fact that changed since the graph was read is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from synapse.hippocampus.archived import not_to_propose
from synapse.hippocampus.caps import Allowance, allowance
from synapse.hippocampus.image import Kind
from synapse.hippocampus.journal import RunEntry
from synapse.hippocampus.ledger import Entry
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.plan import FactState
from synapse.hippocampus.plan_file import Ends, MemoryPlan, PlannedChange, Seen
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.resolution import Step, decide, is_unchanged
from synapse.hippocampus.scope import Scope
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.stamps import iso_time

_NOT_CLAIMED = ("state", "before", "after", "run_id", "decisions", "evidence")


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, and what is to be said beside it."""

    plan: MemoryPlan
    changed: tuple[str, ...] = ()
    """Facts that were left out: they, or what replaces them, changed since they were read."""
    given_up: Mapping[str, Entry] = field(default_factory=dict)
    """Entries of the ledger that are no longer written, having been overwritten too often."""
    reverts_count: int = 0
    """Decisions that an ingestion had overwritten."""
    waiting_count: int = 0
    """Candidates of pruning that have to wait for a later run."""
    warnings: tuple[str, ...] = ()
    """What whoever carries it out should know."""


def empty_plan(scope: Scope, thoughts: Thoughts) -> MemoryPlan:
    """A plan without changes."""
    snapshot = thoughts.snapshot
    return MemoryPlan(
        graph=scope.graph,
        group_id=scope.group_id,
        now=iso_time(thoughts.now_s),
        config_digest=thoughts.config.digest,
        seen=Seen(entities=len(snapshot.entities), facts=len(snapshot.facts)),
    )


def plan_resolve(
    store: MemoryStore, scope: Scope, thoughts: Thoughts, ledger: Mapping[str, Entry]
) -> Planned:
    """End what is contradicted for certain, and repeat what was overwritten.

    Args:
        store: where the facts are read again.
        scope: which graph.
        thoughts: about it.
        ledger: entries that follow the findings.
    """
    snapshot = thoughts.snapshot
    steps = decide(
        snapshot, thoughts.contradictions.findings, ledger, thoughts.now_s,
        thoughts.config.contradictions.resolve_confidence,
    )  # fmt: skip
    to_write = [step for step in steps if not step.is_given_up]
    changes, changed = planned_ends(store, snapshot, to_write)
    return Planned(
        empty_plan(scope, thoughts).model_copy(update={"changes": changes}),
        changed,
        {step.uuid: step.entry for step in steps if step.is_given_up},
        sum(step.is_revert for step in steps),
    )


def planned_ends(
    store: MemoryStore, snapshot: GraphSnapshot, steps: Sequence[Step]
) -> tuple[tuple[PlannedChange, ...], tuple[str, ...]]:
    """The changes that carry out some steps, and the facts that have changed meanwhile."""
    if not steps:
        return (), ()
    uuid = snapshot.facts.uuid
    named = {s.uuid for s in steps} | {uuid[s.by] for s in steps if s.by >= 0}
    states = store.read_facts(snapshot.graph, named)
    changes, changed = [], []
    for step in steps:
        rows = [row for row in (step.fact, step.by) if row >= 0]
        if all(is_unchanged(snapshot, row, states.get(uuid[row])) for row in rows):
            changes.append(_planned_end(snapshot, step, states))
        else:
            changed.append(step.uuid)
    return tuple(changes), tuple(sorted(changed))


def plan_prune(
    store: MemoryStore,
    scope: Scope,
    thoughts: Thoughts,
    runs: Sequence[RunEntry],
    max_changes: int | None = None,
    beside: Sequence[PlannedChange] = (),
) -> Planned:
    """Archive the weakest candidates, as many as one run may.

    Args:
        store: where the memories are read again.
        scope: which graph.
        thoughts: about it.
        runs: what the journal tells of earlier runs.
        max_changes: what somebody has allowed for this run, in place of the caps.
        beside: other changes of the same plan; what they are about stays.
    """
    plan, snapshot = empty_plan(scope, thoughts), thoughts.snapshot
    settled = {memory for change in beside for memory in (change.memory, change.by)}
    settled |= not_to_propose(store.read_archive(scope.graph))
    candidates = [
        row for row in thoughts.standing.pruning.ranked_candidates.tolist()
        if snapshot.memory_uuids[row] not in settled
    ]  # fmt: skip
    allowed = allowance(plan.seen, runs, thoughts.now_s, max_changes).without(beside)
    chosen = _chosen(snapshot, candidates, allowed)
    changes = _planned_archives(store, thoughts, chosen)
    return Planned(
        plan.model_copy(update={"changes": changes}), waiting_count=len(candidates) - len(changes)
    )


def _planned_end(
    snapshot: GraphSnapshot, step: Step, states: Mapping[str, FactState]
) -> PlannedChange:
    entry, before = step.entry, states[step.uuid]
    by = snapshot.facts.uuid[step.by] if step.by >= 0 else None
    how = "overwritten by an ingestion, written again: " if step.is_revert else ""
    return PlannedChange(
        do="reopen" if step.is_undo else "end",
        memory=step.uuid,
        text=before.text,
        by=by,
        by_text=None if by is None else states[by].text,
        was=Ends(**before.ends),
        to=Ends(**entry["after"]),
        reason=f"{how}{entry['verdict']} by rule {entry['rule']}, "
        f"confidence {entry['confidence']:.2f}",
        evidence=entry.get("evidence", ""),
        before=before.digest,
        by_before=None if by is None else states[by].digest,
        claim={name: value for name, value in entry.items() if name not in _NOT_CLAIMED},
    )


def _chosen(snapshot: GraphSnapshot, candidates: Sequence[int], allowed: Allowance) -> list[int]:
    """The first of the candidates that fit, each kind by itself."""
    left: dict[Kind, int] = dict(allowed.of_kind)
    chosen: list[int] = []
    for row in candidates:
        kind: Kind = "entity" if row < len(snapshot.entities) else "fact"
        if len(chosen) < allowed.in_all and left[kind]:
            left[kind] -= 1
            chosen.append(row)
    return chosen


def _planned_archives(
    store: MemoryStore, thoughts: Thoughts, rows: Sequence[int]
) -> tuple[PlannedChange, ...]:
    """Facts first; an entity goes only with all its facts."""
    snapshot, decision = thoughts.snapshot, thoughts.standing.pruning
    uuids = snapshot.memory_uuids
    images = store.read_images(snapshot.graph, [uuids[row] for row in rows]) if rows else {}
    facts = {u for u, image in images.items() if image.kind == "fact" and not image.obstacle}
    changes = []
    for row in rows:
        image = images.get(uuids[row])
        if image is not None and not image.obstacle and facts.issuperset(image.facts):
            changes.append(
                PlannedChange(
                    do="archive",
                    memory=image.uuid,
                    kind=image.kind,
                    text=image.name,
                    reason=decision.explain_row(row),
                    before=image.digest,
                )
            )
    return tuple(sorted(changes, key=lambda change: change.kind == "entity"))
