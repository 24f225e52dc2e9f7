"""A year of runs every six hours over the demo memory, in virtual time.

What is kept about the memories does not change while nothing happens, so each run is worked out
from that and the moment alone. Every run takes all that it proposes. One part of the memories is
asked for now and then, one is pinned; nobody asks for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
import pytest

from synapse.demo import DEMO_NOW, demo_path
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.model import Bools, GraphOutline, Ints
from synapse.hippocampus.ports import Pin
from synapse.hippocampus.pruning import PruningDecision
from synapse.hippocampus.recall import RecallSet, fold
from synapse.hippocampus.recalled import Recalled
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.standing import Kept, Standing
from synapse.integrations.memory_file import read_memory_file
from synapse.store.memory import InMemoryStore

HOUR_S, DAY_S = 3_600.0, 86_400.0
NOW_S = datetime.fromisoformat(DEMO_NOW).timestamp()
CONFIG = HippocampusConfig()
RECALLS_EVERY_DAYS = 45


@dataclass(frozen=True)
class Held:
    """One run of the year."""

    at_s: float
    uuids: list[str]
    standing: Standing
    decision: PruningDecision
    archived_count: int

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


def year(every_hours: int, takes: bool, days: int = 365) -> Iterator[Held]:
    """The runs of a year; those that take let the memories go that they propose."""
    known, left = thoughts_after_recalls(NOW_S).standing, np.arange(len(GRAPH.memory_uuids))
    count = len(left)
    for hour in range(0, days * 24, every_hours):
        at_s = NOW_S + hour * HOUR_S
        if hour % (RECALLS_EVERY_DAYS * 24) == 0:
            known = thoughts_after_recalls(at_s).standing
        standing = only(known, left, at_s, archived_count=count - len(left))
        uuids = standing.outline.memory_uuids
        yield Held(at_s, uuids, standing, standing.pruning, count - len(left))
        if takes:
            left = np.delete(left, standing.pruning.ranked_candidates)


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
                    "importance": held.standing.importance[rows],
                    "age_days": held.standing.age_days[rows],
                    "since_recall_s": held.at_s - held.standing.usage.last_recall_s[rows],
                },
            )
        )
    return told


def test_something_goes_and_no_run_exceeds_its_caps(runs) -> None:
    assert len(runs) == 365 * 4
    assert sum(len(proposed) for proposed, _ in runs) > 0
    for proposed, told in runs:
        assert told["share"] <= CONFIG.pruning.max_share_ratio
        assert len(proposed) <= CONFIG.pruning.max_count
        assert told["archived"] <= CONFIG.pruning.max_lifetime_ratio * len(GRAPH.memory_uuids)


def test_nothing_pinned_salient_fresh_or_newly_recalled_is_ever_proposed(runs) -> None:
    for proposed, told in runs:
        assert not set(proposed) & {*PINNED, *ASKED}
        assert (told["importance"] < CONFIG.pruning.salient_from).all()
        assert (told["age_days"] >= CONFIG.pruning.grace_days).all()
        assert not (told["since_recall_s"] < CONFIG.pruning.recalled_days * DAY_S).any()


def test_four_runs_a_day_say_what_one_a_day_says() -> None:
    often = list(year(every_hours=6, takes=False, days=120))[::4]
    for one, other in zip(often, year(every_hours=24, takes=False, days=120), strict=True):
        assert one.proposed == other.proposed
        assert one.standing.strength.tobytes() == other.standing.strength.tobytes()
