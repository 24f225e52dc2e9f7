"""From thoughts to a plan: which changes of Graphiti's own data a run would make, and why.

Planning reads, and writes nothing. A fact that changed since the graph was read is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from synapse.hippocampus.caps import BUDGET_DAYS, Allowance, allowance
from synapse.hippocampus.image import Kind, MemoryImage
from synapse.hippocampus.journal import Journal
from synapse.hippocampus.ledger import Entry
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.plan import FactState
from synapse.hippocampus.plan_file import Ends, MemoryPlan, PlannedChange, Seen
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.quantity import quantity
from synapse.hippocampus.resolution import Step, decide, is_unchanged
from synapse.hippocampus.scope import Scope
from synapse.hippocampus.stamps import iso_time

if TYPE_CHECKING:
    from synapse.hippocampus.stages import Thoughts

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
    why_nothing: str = ""
    """Why no memory is archived, where pruning was asked for."""
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
    journal: Journal,
    max_changes: int | None = None,
    beside: Sequence[PlannedChange] = (),
    at_s: float | None = None,
) -> Planned:
    """Archive the candidates that are worth the least, as many as one run may.

    Args:
        store: where the memories are read again.
        scope: which graph.
        thoughts: about it.
        journal: what runs have noted.
        max_changes: what somebody has allowed for this run, in place of the caps.
        beside: other changes of the same plan; what they are about stays.
        at_s: the moment by the clock, where the thoughts are about another one.
    """
    plan, uuids = empty_plan(scope, thoughts), thoughts.snapshot.memory_uuids
    taken = {memory for change in beside for memory in (change.memory, change.by)}
    standing = thoughts.standing
    decision = standing.pruning if max_changes is None else standing.pruned(max_changes)
    ranked = decision.ranked_candidates.tolist()
    rows = {uuids[row]: row for row in ranked if uuids[row] not in taken}
    images = store.read_images(scope.graph, rows) if rows else {}
    movable = [images[uuid] for uuid in rows if uuid in images and not images[uuid].obstacle]
    allowed = allowance(plan.seen, journal, thoughts.now_s, at_s, max_changes).without(beside)
    changes = tuple(
        PlannedChange(
            do="archive",
            memory=image.uuid,
            kind=image.kind,
            text=image.name,
            reason=decision.explain_row(rows[image.uuid]),
            before=image.digest,
        )
        for image in _chosen(movable, allowed)
    )
    return Planned(
        plan.model_copy(update={"changes": changes}),
        waiting_count=len(movable) - len(changes),
        warnings=_cannot_move(image for image in images.values() if image.obstacle),
        why_nothing="" if changes else _why_nothing(thoughts, len(rows), movable, allowed),
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


def _chosen(candidates: Iterable[MemoryImage], allowed: Allowance) -> list[MemoryImage]:
    """The first of the candidates that fit, each kind by itself; facts first.

    An entity goes only with all its facts, which rank before it.
    """
    left: dict[Kind, int] = dict(allowed.of_kind)
    chosen: dict[str, MemoryImage] = {}
    for image in candidates:
        fits = len(chosen) < allowed.in_all and left[image.kind] > 0
        if fits and chosen.keys() >= set(image.facts):
            left[image.kind] -= 1
            chosen[image.uuid] = image
    return sorted(chosen.values(), key=lambda image: image.kind == "entity")


def _cannot_move(candidates: Iterable[MemoryImage]) -> tuple[str, ...]:
    """Which candidates no archive can hold, and why."""
    reasons = Counter(image.obstacle for image in candidates)
    return tuple(
        f"{quantity(n, 'candidate')} cannot be archived: each {why}" for why, n in reasons.items()
    )


def _why_nothing(
    thoughts: Thoughts,
    candidates_count: int,
    movable: Sequence[MemoryImage],
    allowed: Allowance,
) -> str:
    if not len(thoughts.standing.pruning.ranked_candidates):
        return thoughts.standing.why_no_candidate
    if not candidates_count:
        return "the same plan ends every fact that is a candidate"
    if not movable:
        return "no candidate can be archived"
    if not allowed.in_all or not any(allowed.of_kind[image.kind] for image in movable):
        return f"earlier runs of {BUDGET_DAYS:g} days, and this one, have changed all that they may"
    return "the candidates are entities, and facts that hang on them have to go first"
