"""A year of runs every six hours over the demo memory, in virtual time.

What is kept about the memories does not change while nothing happens, so each run is worked out
from that and the moment alone. Every run takes all that it proposes. One part of the memories is
asked for now and then, one is pinned; nobody asks for the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

import numpy as np
import pytest

from synapse.demo import DEMO_NOW, demo_path
from synapse.hippocampus.applier import Job
from synapse.hippocampus.caps import BUDGET, BUDGET_DAYS, spent_on
from synapse.hippocampus.changes import GraphChanges
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.consolidation import ConsolidationEngine, Run
from synapse.hippocampus.model import Bools, GraphOutline, Ints
from synapse.hippocampus.pruning_decision import PruningDecision
from synapse.hippocampus.recall import RecallSet, fold
from synapse.hippocampus.recalled import Recalled
from synapse.hippocampus.recollector import Recollector
from synapse.hippocampus.room import Pin
from synapse.hippocampus.scope import Scope
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.standing import Kept, Standing
from synapse.integrations.memory_file import read_memory_file
from synapse.store.memory import InMemoryStore

HOUR_S, DAY_S = 3_600.0, 86_400.0
NOW_S = datetime.fromisoformat(DEMO_NOW).timestamp()
CONFIG = HippocampusConfig()
RECALLS_EVERY_DAYS = 45
DAYS_COUNT = 365


@dataclass(frozen=True)
class Held:
    """One run of the year."""

    at_s: float
    uuids: list[str]
    standing: Standing
    decision: PruningDecision
    archived_count: int
    """What the runs of the ninety days before have taken."""

    @property
    def proposed(self) -> list[str]:
        return [self.uuids[row] for row in self.decision.ranked_candidates.tolist()]


def snapshot_of_the_demo():
    store = InMemoryStore()
    store.write_memory("demo", read_memory_file(demo_path(), group_id="demo", now_iso=DEMO_NOW))
    return store.read_graph("demo")


GRAPH = snapshot_of_the_demo()
ASKED, PINNED = GRAPH.facts.uuid[:6], (*GRAPH.facts.uuid[6:9], GRAPH.entities.uuid[5])


def thoughts_after_recalls(at_s: float) -> Thoughts:
    """What is known once everything that was asked until then is folded."""
    days = range(0, int((at_s - NOW_S) / DAY_S) + 1, RECALLS_EVERY_DAYS)
    asked = [
        RecallSet(tuple((u, n + 1) for n, u in enumerate(ASKED)), "test", NOW_S + day * DAY_S)
        for day in days
    ]
    profiles, links = fold({}, {}, asked)
    pins = {uuid: Pin(NOW_S) for uuid in PINNED}
    return Thoughts(GRAPH, at_s, CONFIG, Recalled(profiles, links, pins))


def year(every_hours: int, takes: bool) -> Iterator[Held]:
    """The runs of a year; those that take let the memories go that they propose."""
    known, left = thoughts_after_recalls(NOW_S).standing, np.arange(len(GRAPH.memory_uuids))
    taken: deque[float] = deque()
    for hour in range(0, DAYS_COUNT * 24, every_hours):
        at_s = NOW_S + hour * HOUR_S
        if hour % (RECALLS_EVERY_DAYS * 24) == 0:
            known = thoughts_after_recalls(at_s).standing
        while taken and taken[0] <= at_s - BUDGET_DAYS * DAY_S:
            taken.popleft()
        standing = only(known, left, at_s, archived_count=len(taken))
        yield Held(at_s, standing.outline.memory_uuids, standing, standing.pruning, len(taken))
        if takes:
            gone = standing.pruning.ranked_candidates
            left = np.delete(left, gone)
            taken.extend([at_s] * len(gone))


def only(known: Standing, left: Ints, at_s: float, archived_count: int) -> Standing:
    """The same memories without those that are gone."""
    entities_count, total = len(GRAPH.entities), len(GRAPH.memory_uuids)
    is_left: Bools = np.isin(np.arange(total), left)
    renumbered = np.cumsum(is_left[:entities_count]) - 1
    facts = left[left >= entities_count] - entities_count
    assert is_left[GRAPH.facts.source[facts]].all() and is_left[GRAPH.facts.target[facts]].all()
    outline = GraphOutline(
        "demo",
        [GRAPH.entities.uuid[i] for i in left[left < entities_count]],
        [GRAPH.facts.uuid[i] for i in facts],
        renumbered[GRAPH.facts.source[facts]],
        renumbered[GRAPH.facts.target[facts]],
    )
    kept = Kept(**{name: getattr(known.kept, name)[left] for name in Kept.__slots__})
    usage = replace(
        known.usage,
        last_recall_s=known.usage.last_recall_s[left],
        pinned=known.usage.pinned[left],
        restored=known.usage.restored[left],
        archived_count=archived_count,
    )
    return Standing(outline, kept, at_s, CONFIG, usage)


@pytest.fixture(scope="module")
def runs() -> list[tuple[list[str], dict]]:
    """For each run of the year what it proposed, and what is needed to judge it."""
    told = []
    for held in year(every_hours=6, takes=True):
        rows = held.decision.ranked_candidates
        told.append(
            (
                held.proposed,
                {
                    "share": len(rows) / len(held.uuids),
                    "archived": held.archived_count + len(rows),
                    "there_were": held.archived_count + len(held.uuids),
                    "importance": held.standing.importance[rows],
                    "age_days": held.standing.age_days[rows],
                    "since_recall_s": held.at_s - held.standing.usage.last_recall_s[rows],
                },
            )
        )
    return told


def test_something_goes_and_no_run_exceeds_its_caps(runs) -> None:
    assert len(runs) == DAYS_COUNT * 4
    assert sum(len(proposed) for proposed, _ in runs) > 0
    for proposed, told in runs:
        assert told["share"] <= CONFIG.pruning.max_share_ratio
        assert len(proposed) <= CONFIG.pruning.max_count
        assert told["archived"] <= CONFIG.pruning.max_lifetime_ratio * told["there_were"]


def test_nothing_pinned_salient_fresh_or_newly_recalled_is_ever_proposed(runs) -> None:
    for proposed, told in runs:
        assert not set(proposed) & {*PINNED, *ASKED}
        assert (told["importance"] < CONFIG.pruning.salient_from).all()
        assert (told["age_days"] >= CONFIG.pruning.grace_days).all()
        assert not (told["since_recall_s"] < CONFIG.pruning.recalled_days * DAY_S).any()


def test_four_runs_a_day_say_what_one_a_day_says() -> None:
    often, once_a_day = year(every_hours=6, takes=False), year(every_hours=24, takes=False)
    proposed_count = 0
    for one, other in zip(islice(often, 0, None, 4), once_a_day, strict=True):
        assert one.at_s == other.at_s and one.proposed == other.proposed
        assert one.standing.strength.tobytes() == other.standing.strength.tobytes()
        proposed_count += len(one.proposed)
    assert other.at_s == NOW_S + (DAYS_COUNT - 1) * DAY_S and proposed_count > 0


def test_a_year_of_weekly_pruning_keeps_its_budget_and_what_is_needed() -> None:
    """The engine itself, with everything that it writes, reads and archives on the way."""
    store, scope = InMemoryStore(), Scope("demo")
    store.write_memory("demo", read_memory_file(demo_path(), group_id="demo", now_iso=DEMO_NOW))
    for uuid in PINNED:
        store.pin("demo", uuid, Pin(NOW_S))
    engine = ConsolidationEngine(store, CONFIG, lambda: 0.0)
    changes = GraphChanges(store, scope, CONFIG)
    for day in range(0, DAYS_COUNT, 7):
        at_s = NOW_S + day * DAY_S
        if day % 42 == 0:
            ranks = tuple((uuid, n) for n, uuid in enumerate(ASKED, 1))
            store.record_recalls("demo", [RecallSet(ranks, "test", at_s)])
        outcome = engine.consolidate(Run(scope, at_s, f"run {day}", prune=True))
        assert outcome.error is None
        candidates = outcome.report.pruning
        assert candidates is not None
        room = store.read_room("demo")
        thoughts = Recollector(store, CONFIG).recollect(scope, at_s, room)
        plan = changes.plan(thoughts, room, resolve=False, prune=True).plan
        assert len(plan.changes) <= candidates.candidates
        applied = changes.apply(plan, Job(f"prune {day}", "prune --apply", at_s), "token")
        assert applied.done == {change.memory for change in plan.changes}
        spent = spent_on(store.read_journal("demo"), at_s)
        assert len(spent["fact"]) <= BUDGET.of(plan.seen.facts)
        assert len(spent["entity"]) <= BUDGET.of(plan.seen.entities)
        archived_count = len(spent["fact"]) + len(spent["entity"])
        there_were = plan.seen.facts + plan.seen.entities + archived_count - len(applied.done)
        assert archived_count <= CONFIG.pruning.max_lifetime_ratio * there_were
    left = store.read_graph("demo").memory_uuids
    assert {*PINNED, *ASKED} <= {*left}
    assert 0 < len(GRAPH.memory_uuids) - len(left) == len(store.read_archive("demo"))
