"""How much of a memory may change in one run, and in all runs of a quarter.

What one run may end or archive of each kind of memory is a share of it,

    limit(n) = max(1, share · n, min(few, few_share · n))

with n the memories of that kind in the graph (rounded down). The second term is for small
memories: five percent of a dozen facts is none. A run changes at most :data:`RUN_MAX_COUNT`
memories in all. What all runs of the last :data:`BUDGET_DAYS` days have changed, and nobody has
undone, counts against a budget of the same form. Whoever has looked at a plan can allow a number
of changes for one run; there is no switch that lifts the caps for good.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from synapse.errors import SafetyCap
from synapse.hippocampus.image import Kind
from synapse.hippocampus.journal import Journal, runs_of
from synapse.hippocampus.numeric import SECONDS_PER_DAY
from synapse.hippocampus.plan_file import MemoryPlan, PlannedChange, Seen
from synapse.hippocampus.quantity import quantity

RUN_MAX_COUNT = 200
BUDGET_DAYS = 90.0
REVIEW = "review"
"""Command of runs that carry out what a person decided about one fact; they do not count."""

KINDS: tuple[Kind, ...] = ("fact", "entity")
COUNTED = ("end", "archive")


@dataclass(frozen=True, slots=True)
class Limit:
    """A share, and what small memories get instead."""

    share_ratio: float
    few_count: int
    few_ratio: float

    def of(self, memories_count: int) -> int:
        """How many of so many memories.

        >>> [PER_RUN.of(n) for n in (0, 1, 12, 39, 80, 1_000)]
        [1, 1, 3, 9, 10, 50]
        >>> [BUDGET.of(n) for n in (0, 1, 12, 39, 80, 1_000)]
        [1, 1, 6, 19, 20, 200]
        """
        few = min(self.few_count, self.few_ratio * memories_count)
        return max(1, int(max(self.share_ratio * memories_count, few)))


PER_RUN = Limit(share_ratio=0.05, few_count=10, few_ratio=0.25)
BUDGET = Limit(share_ratio=0.20, few_count=20, few_ratio=0.5)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one run may change, by kind and in all."""

    of_kind: dict[Kind, int]
    in_all: int

    def without(self, changes: Iterable[PlannedChange]) -> Allowance:
        """What is left beside these changes."""
        taken = Counter(change.kind for change in changes if change.do in COUNTED)
        of_kind = {kind: max(0, n - taken[kind]) for kind, n in self.of_kind.items()}
        return Allowance(of_kind, max(0, self.in_all - taken.total()))


def allowance(
    seen: Seen, journal: Journal, now_s: float, at_s: float | None = None,
    max_changes: int | None = None,
) -> Allowance:  # fmt: skip
    """What a run may change.

    Args:
        seen: the memories there are.
        journal: what runs have noted.
        now_s: the moment of the run, seconds since 1970.
        at_s: the moment by the clock, where that is known.
        max_changes: what somebody has allowed for this run, in place of the caps.
    """
    if max_changes is not None:
        return Allowance(dict.fromkeys(KINDS, max_changes), max_changes)
    spent = spent_on(journal, now_s, at_s)
    counts: dict[Kind, int] = {"fact": seen.facts, "entity": seen.entities}
    of_kind = {
        kind: max(0, min(PER_RUN.of(n), BUDGET.of(n) - len(spent[kind])))
        for kind, n in counts.items()
    }
    return Allowance(of_kind, RUN_MAX_COUNT)


def budget_since_s(now_s: float, at_s: float | None = None) -> float:
    """Changes of runs up to this moment no longer count; a moment to come frees nothing.

    Args:
        now_s: the moment that a run decides for.
        at_s: the moment by the clock, where that is known.

    >>> day_s = 86_400.0
    >>> budget_since_s(99 * day_s) / day_s, budget_since_s(99 * day_s, at_s=95 * day_s) / day_s
    (9.0, 5.0)
    """
    counted_s = now_s if at_s is None else min(now_s, at_s)
    return counted_s - BUDGET_DAYS * SECONDS_PER_DAY


def spent_on(journal: Journal, now_s: float, at_s: float | None = None) -> dict[Kind, set[str]]:
    """The memories that runs of the last ninety days have ended or archived, by kind.

    A run that died counts whole, and so does one that is dated ahead, or was done of late for a
    moment long ago: what is not known for certain leaves less to change, never more.

    Args:
        journal: what runs have noted.
        now_s: the moment of the run that asks, seconds since 1970.
        at_s: the moment by the clock, where that is known.

    Raises:
        StoreError: an entry that may count cannot be understood.
    """
    since_s = budget_since_s(now_s, at_s)
    spent: dict[Kind, set[str]] = {kind: set() for kind in KINDS}
    for run in runs_of(journal, since_s):
        # Where a moment is no number, it is not over.
        is_over = run.now_s <= since_s and run.done_at_s <= since_s
        if not is_over and run.command != REVIEW:
            for change in run.having("", "done"):
                if change.do in COUNTED:
                    spent[change.kind].add(change.memory)
    return spent


def taken_count(journal: Journal, now_s: float) -> int:
    """How many memories that is, of all kinds."""
    return sum(map(len, spent_on(journal, now_s).values()))


def refuse_excess(
    plan: MemoryPlan, journal: Journal, now_s: float, at_s: float | None = None,
    max_changes: int | None = None,
) -> None:  # fmt: skip
    """Refuse a plan that changes more than it may.

    Args:
        plan: what is to change.
        journal: what runs have noted.
        now_s: the moment of the run, seconds since 1970.
        at_s: the moment by the clock, where that is known.
        max_changes: what somebody has allowed for this run, in place of the caps.

    Raises:
        SafetyCap: the sentence names the number and how to allow it.
        StoreError: an entry of the journal that may count cannot be understood.
    """
    spent = spent_on(journal, now_s, at_s)
    most = RUN_MAX_COUNT if max_changes is None else max_changes
    planned = [change for change in plan.changes if change.do in COUNTED]
    hint = f"look at the plan, then allow it with --max-changes {len(planned)}"
    if len(planned) > most:
        raise SafetyCap(
            f"{quantity(len(planned), 'memory')} would change, at most {most} may; {hint}"
        )
    if max_changes is not None:
        return
    for kind in KINDS:
        n = plan.seen.facts if kind == "fact" else plan.seen.entities
        named = {change.memory for change in planned if change.kind == kind}
        noun = f"of {n} {'facts' if kind == 'fact' else 'entities'}"
        if len(named) > PER_RUN.of(n):
            raise SafetyCap(
                f"{len(named)} {noun} would change, at most {PER_RUN.of(n)} may; {hint}"
            )
        in_all_count = len(named | spent[kind])
        if named and in_all_count > BUDGET.of(n):
            raise SafetyCap(
                f"with this {in_all_count} {noun} change in {BUDGET_DAYS:g} days, "
                f"at most {BUDGET.of(n)} may; {hint}"
            )


def why_refused(
    plan: MemoryPlan, journal: Journal, now_s: float, at_s: float | None = None,
    max_changes: int | None = None,
) -> str:  # fmt: skip
    """The sentence with which :func:`refuse_excess` refuses a plan; empty where it does not."""
    try:
        refuse_excess(plan, journal, now_s, at_s, max_changes)
    except SafetyCap as cap:
        return str(cap)
    return ""
