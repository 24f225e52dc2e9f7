"""How much may change in one run, and in a quarter."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from synapse.errors import SafetyCap, StoreError
from synapse.hippocampus.caps import (
    BUDGET,
    KINDS,
    PER_RUN,
    REVIEW,
    allowance,
    budget_since_s,
    refuse_excess,
    spent_on,
    why_refused,
)
from synapse.hippocampus.journal import JournaledChange, RunEntry, runs_of
from synapse.hippocampus.plan_file import Ends, MemoryPlan, PlannedChange, Seen

DAY_S = 86_400.0
NOW_S = 1_000 * DAY_S


def plan(count: int, facts: int, do: str = "end", first: int = 0, **more: Any) -> MemoryPlan:
    changes = tuple(
        PlannedChange(do=do, memory=f"m{n}", **more) for n in range(first, first + count)
    )
    seen = Seen(entities=facts, facts=facts)
    return MemoryPlan(graph="g", now="", config_digest="", seen=seen, changes=changes)


def run(count: int, days_ago: float, first: int = 0, **more: Any) -> RunEntry:
    outcome, do = more.pop("outcome", "done"), more.pop("do", "end")
    ends = {"was": Ends(), "to": Ends()} if do in ("end", "reopen") else {}
    changes = tuple(
        JournaledChange(do=do, memory=f"m{n}", outcome=outcome, **ends)
        for n in range(first, first + count)
    )
    known = {"plan_id": "", "command": "apply", "now": "", "config_digest": ""} | more
    known = {"run_id": "r"} | known
    return RunEntry(now_s=NOW_S - days_ago * DAY_S, changes=changes, **known)


def journal_of(*runs: RunEntry) -> dict[str, dict[str, Any]]:
    entries = {f"{n}": r.model_copy(update={"run_id": f"{n}"}) for n, r in enumerate(runs)}
    return {run_id: json.loads(json.dumps(r.as_dict())) for run_id, r in entries.items()}


def is_refused(planned: MemoryPlan, *runs: RunEntry, max_changes: int | None = None) -> bool:
    try:
        refuse_excess(planned, journal_of(*runs), NOW_S, max_changes=max_changes)
    except SafetyCap as cap:
        assert len(str(cap)) < 130
        assert f"--max-changes {len(planned.changes)}" in str(cap)
        return True
    return False


@pytest.mark.parametrize("facts", [0, 1, 3, 12, 50, 199, 200, 1_000, 3_999])
def test_a_run_changes_a_share_and_no_more(facts: int) -> None:
    most = PER_RUN.of(facts)
    assert not is_refused(plan(most, facts)) and is_refused(plan(most + 1, facts))
    assert not is_refused(plan(most, facts, kind="entity"))
    assert is_refused(plan(most + 1, facts, do="archive", kind="entity"))


def test_a_large_graph_loses_two_hundred_at_most() -> None:
    assert not is_refused(plan(200, 1_000_000))
    assert is_refused(plan(201, 1_000_000))


def test_many_small_runs_share_one_budget() -> None:
    facts = 1_000
    spent = [run(50, days_ago, first=50 * n) for n, days_ago in enumerate((1, 30, 60, 89))]
    assert sum(len(r.changes) for r in spent) == BUDGET.of(facts)
    assert is_refused(plan(1, facts, first=500), *spent)
    assert not is_refused(plan(1, facts, first=500), *spent[1:], run(50, 90.0))
    assert not is_refused(plan(50, facts), *spent), "the same memories count once"


@pytest.mark.parametrize(
    ("more", "counts"),
    [
        ({}, True),
        ({"outcome": ""}, True),
        ({"outcome": "left"}, False),
        ({"outcome": "undone"}, False),
        ({"do": "reopen"}, False),
        ({"do": "archive"}, True),
        ({"command": REVIEW}, False),
        ({"undoes": "earlier"}, True),
        ({"days_ago": -400.0}, True),
    ],
)
def test_what_counts_against_the_budget(more: dict[str, Any], counts: bool) -> None:
    spent = run(200, **({"days_ago": 1.0} | more))
    assert is_refused(plan(1, 1_000, first=500), spent) is counts


def test_taking_back_is_never_capped_by_number() -> None:
    assert not is_refused(plan(500, 12, do="reopen")) and not is_refused(plan(9, 1, do="restore"))


def test_a_named_number_replaces_the_caps_for_one_run() -> None:
    spent = run(200, 1.0)
    assert not is_refused(plan(600, 1_000, first=500), spent, max_changes=600)
    assert is_refused(plan(601, 1_000), max_changes=600)


def test_what_a_run_may_still_do_is_what_is_not_refused() -> None:
    spent = run(170, 1.0)
    seen = Seen(entities=1_000, facts=1_000)
    left = allowance(seen, journal_of(spent), NOW_S)
    assert left.of_kind == {"fact": 30, "entity": 50}
    assert not is_refused(plan(30, 1_000, first=500), spent)
    assert is_refused(plan(31, 1_000, first=500), spent)
    assert left.without(plan(20, 1_000).changes).of_kind == {"fact": 10, "entity": 50}


memories_count = st.integers(0, 6_000)
few_count = st.integers(0, 60)


@settings(max_examples=30)
@given(
    seen=st.tuples(memories_count, memories_count),
    spent=st.tuples(few_count, few_count),
    beside=st.tuples(few_count, few_count),
    reopened=few_count,
    max_changes=st.none() | few_count,
)
@example(seen=(6_000, 6_000), spent=(0, 0), beside=(150, 0), reopened=0, max_changes=None)
@example(seen=(100, 6_000), spent=(300, 7), beside=(0, 60), reopened=9, max_changes=None)
@example(seen=(6_000, 6_000), spent=(300, 0), beside=(90, 0), reopened=9, max_changes=250)
def test_a_run_that_keeps_to_its_allowance_is_never_refused_and_one_memory_more_is(
    seen: tuple[int, int],
    spent: tuple[int, int],
    beside: tuple[int, int],
    reopened: int,
    max_changes: int | None,
) -> None:
    # Otherwise pruning proposes what makes the whole run fail, also what it was to resolve.
    def changes(what: str, of_kind: dict[str, int], do: str = "archive") -> list[PlannedChange]:
        return [
            PlannedChange(do=do, memory=f"{what}-{kind}-{n}", kind=kind)
            for kind in KINDS
            for n in range(of_kind[kind])
        ]

    def refused(planned: list[PlannedChange]) -> str:
        own = MemoryPlan(graph="g", now="", config_digest="", seen=there, changes=tuple(planned))
        return why_refused(own, journal, NOW_S, max_changes=max_changes)

    there = Seen(facts=seen[0], entities=seen[1])
    gone = changes("gone", dict(zip(KINDS, spent, strict=True)))
    archived = tuple(JournaledChange(do="archive", memory=c.memory, kind=c.kind) for c in gone)
    journal = journal_of(run(0, 1.0).model_copy(update={"changes": archived}))
    allowed = allowance(there, journal, NOW_S, max_changes=max_changes)
    others, left = {}, allowed.in_all
    for kind, n in zip(KINDS, beside, strict=True):
        others[kind] = min(n, allowed.of_kind[kind], left)
        left -= others[kind]
    first = changes("other", others) + changes("again", {"fact": reopened, "entity": 0}, "reopen")
    allowed = allowed.without(first)
    chosen, left = {}, allowed.in_all
    for kind in KINDS:
        chosen[kind] = min(allowed.of_kind[kind], left)
        left -= chosen[kind]
    planned = first + changes("chosen", chosen)
    assert not refused(planned)
    for kind in KINDS:
        if not left or chosen[kind] == allowed.of_kind[kind]:
            assert refused([*planned, PlannedChange(do="archive", memory="more", kind=kind)])


DAYS = [-400.0, 0.0, 1.0, 89.999, 90.0, 90.001, 5_000.0]


def test_what_no_longer_counts_need_not_be_read() -> None:
    journal = journal_of(*(run(1, days, first=n) for n, days in enumerate(DAYS)))
    late = runs_of(journal, budget_since_s(NOW_S))
    assert [r.run_id for r in late] == ["4", "3", "2", "1", "0"]
    journal["damaged"] = {**journal["5"], "changes": 5}
    assert runs_of(journal, budget_since_s(NOW_S)) == late
    spent = {"fact": {"m0", "m1", "m2", "m3"}, "entity": set()}
    assert spent_on(journal, NOW_S) == spent
    for at_s in (NOW_S, None, "long ago", float("nan")):
        journal["damaged"]["now_s"] = at_s
        with pytest.raises(StoreError, match="cannot be understood"):
            spent_on(journal, NOW_S)


@pytest.mark.parametrize("name", ["was", "to"])
def test_an_end_that_does_not_say_from_what_to_what_is_not_understood(name: str) -> None:
    entry = {**journal_of(run(1, 1.0))["0"]}
    ends = {"invalid_at": None, "expired_at": None}
    change = {"do": "end", "memory": "m", "was": ends, "to": ends}
    assert runs_of({"0": {**entry, "changes": [change]}})
    del change[name]
    with pytest.raises(StoreError, match="cannot be understood"):
        runs_of({"0": {**entry, "changes": [change]}})


@pytest.mark.parametrize(
    "now_s, at_s",
    [
        (1.0, NOW_S),
        (NOW_S, 1.0),
        (1.0, NOW_S + 9 * DAY_S),
        (float("nan"), 1.0),
        (1.0, float("nan")),
        (float("nan"), None),
    ],
)
def test_what_was_done_of_late_counts_whatever_moment_it_was_done_for(
    now_s: float, at_s: float | None
) -> None:
    done = run(3, 0.0).model_copy(update={"now_s": now_s, "at_s": at_s})
    assert spent_on(journal_of(done), NOW_S)["fact"] == {"m0", "m1", "m2"}


def test_a_moment_to_come_frees_nothing() -> None:
    planned, journal = plan(1, 1_000, first=500), journal_of(run(200, 1.0))
    late_s = NOW_S + 400 * DAY_S
    assert why_refused(planned, journal, late_s, NOW_S)
    assert why_refused(planned, journal, NOW_S, late_s)
    assert not why_refused(planned, journal, late_s, late_s)
    assert not why_refused(planned, journal, late_s)
