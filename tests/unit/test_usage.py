"""What recalls, pins and the life of a relation do to the memories of a graph."""

from __future__ import annotations

import numpy as np
import pytest

from synapse.hippocampus.co_recall import CoRecall
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.interference import NearDuplicate, NearDuplicates
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.recall import RecallProfile, RecallSet, fold
from synapse.hippocampus.recalled import NEVER_RECALLED, Recalled
from synapse.hippocampus.room import Pin
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.standing import Standing
from tests.support.fact_graphs import Said, at, fact_graph
from tests.support.small_graphs import UNKNOWN, small_graph

DAY_S = 86_400.0
NOW_S = 20_000 * DAY_S
OLD_S = NOW_S - 800 * DAY_S
RING = small_graph(3, [(0, 1, [0]), (1, 2, [0]), (2, 0, [0])] * 20, [OLD_S])
FACT = 3
"""The first fact, ``fact-0``."""


def standing(recalled: Recalled = NEVER_RECALLED, graph: GraphSnapshot = RING) -> Standing:
    return Thoughts(graph, NOW_S, HippocampusConfig(), recalled).standing


def asked(*days_ago: float) -> Recalled:
    times_s = tuple(NOW_S - days * DAY_S for days in days_ago)
    return Recalled(profiles={"fact-0": RecallProfile(recent_s=times_s)})


def test_a_counted_recall_is_a_touch_and_a_rehearsal() -> None:
    never, once = standing(), standing(asked(400.0))
    assert never.age_days[FACT] == 800.0
    assert once.age_days[FACT] == 400.0
    assert once.kept.stability[FACT] == pytest.approx(never.kept.stability[FACT] + 16.0)
    assert once.strength[FACT] > never.strength[FACT]
    rest = np.arange(len(never.strength)) != FACT
    np.testing.assert_array_equal(never.strength[rest], once.strength[rest])


def test_thoughts_with_further_recalls_are_those_that_the_next_run_has() -> None:
    known = asked(400.0, 90.0)
    further = [RecallSet((("fact-0", 2), ("fact-1", 1)), "search", NOW_S - 50.0 * DAY_S)]
    thoughts = Thoughts(RING, NOW_S, HippocampusConfig(), known)
    assert thoughts.standing.strength[FACT] < thoughts.with_recalls(further).standing.strength[FACT]
    profiles, links = fold(known.profiles, known.links, further)
    anew = Thoughts(RING, NOW_S, HippocampusConfig(), Recalled(profiles, links))
    assert thoughts.with_recalls(further).traces.tobytes() == anew.traces.tobytes()
    assert thoughts.traces.tobytes() != anew.traces.tobytes()


def test_an_exposure_is_neither() -> None:
    shown = Recalled(profiles={"fact-0": RecallProfile(exposure_count=9)})
    np.testing.assert_array_equal(standing().strength, standing(shown).strength)


def test_a_recall_does_not_make_an_unknown_touch_known() -> None:
    graph = small_graph(2, [(0, 1, [])], fact_created_s=[UNKNOWN])
    profiles = {"fact-0": RecallProfile(recent_s=(OLD_S,))}
    assert standing(Recalled(profiles=profiles), graph).strength[2] == 1.0


def test_a_first_recall_makes_a_memory_firmer_that_no_dated_episode_supports() -> None:
    for episodes in ([], [UNKNOWN]):
        support = [0] if episodes else []
        graph = small_graph(2, [(0, 1, support)], episodes, fact_created_s=[OLD_S])
        thoughts = Thoughts(graph, NOW_S, HippocampusConfig(), asked(400.0))
        assert thoughts.stability[2] == pytest.approx(17.0)
    graph.facts.created_at_s[:], graph.facts.valid_at_s[:] = UNKNOWN, OLD_S
    assert Thoughts(graph, NOW_S, HippocampusConfig(), asked(400.0)).stability[2] > 16.0


def test_memories_recalled_together_gain_retention() -> None:
    links = {"fact-0": {"fact-1": CoRecall((1,), 9), "fact-2": CoRecall((1,), 3)}}
    alone, together = standing(), standing(Recalled(links=links))
    assert together.kept.bonus[FACT] == pytest.approx(0.14)
    assert together.strength[FACT] == pytest.approx(alone.strength[FACT] + 0.14)
    assert together.lasts_days[FACT] > 2.0 * alone.lasts_days[FACT]
    often = standing(Recalled(links={"fact-0": {"fact-1": CoRecall((1,), 98)}}))
    assert often.lasts_days[FACT] == np.inf
    assert often.pruning.verdict(FACT) == "keep"


def test_a_superseded_fact_gains_nothing_by_being_recalled_with_others() -> None:
    """The one that replaced it does, and so does one whose end nothing explains."""
    graph = fact_graph(
        [
            Said("api", "USES_DATABASE", "PostgreSQL", "api uses PostgreSQL", valid=0, ended=2),
            Said("api", "USES_DATABASE", "MongoDB", "api uses MongoDB", valid=2),
            Said("Ann", "LIVES_IN", "Rome", "Ann lives in Rome", valid=0, ended=3, retired=3),
        ]
    )
    uuids = graph.facts.uuid
    links = {uuid: {"somebody": CoRecall((1,), 8)} for uuid in (*uuids, graph.entities.uuid[0])}
    thoughts = Thoughts(graph, at(400), HippocampusConfig(), Recalled(links=links))
    verdicts = {f.fact: f.verdict for f in thoughts.contradictions.findings}
    assert verdicts == {0: "superseded", 2: "doubtful"}
    gained = dict(zip(graph.memory_uuids, thoughts.standing.kept.bonus.round(6), strict=True))
    assert [gained[uuid] for uuid in uuids] == [0.0, 0.12, 0.12]
    assert gained[graph.entities.uuid[0]] == 0.12
    never = Thoughts(graph, at(400), HippocampusConfig())
    assert (thoughts.standing.strength >= never.standing.strength).all()


def test_lasting_and_strength_agree() -> None:
    links = {"fact-0": {"fact-1": CoRecall((1,), 8)}}
    now = standing(Recalled(links=links))
    at_s = now.kept.last_touch_s[FACT] + now.lasts_days[FACT] * DAY_S
    then = Standing(now.outline, now.kept, at_s, now.config, now.usage)
    assert then.strength[FACT] == pytest.approx(0.3, abs=1e-9)


def test_pinned_memories_are_spared() -> None:
    assert standing().pruning.verdict(FACT) in ("candidate", "spared")
    assert standing(Recalled(pins={"fact-0": Pin(NOW_S)})).pruning.spared_by()["pinned"] == 1


@pytest.mark.parametrize(("days_ago", "spared"), [(0.0, True), (29.0, True), (31.0, False)])
def test_memories_recalled_not_long_ago_are_spared(days_ago: float, spared: bool) -> None:
    nearly_all = HippocampusConfig.model_validate({"pruning": {"threshold": 1.0}})
    decision = Thoughts(RING, NOW_S + 1.0, nearly_all, asked(days_ago)).standing.pruning
    assert ("recalled" in decision.spared_by()) == spared


def ended_after(days: float, facts_count: int = 8) -> GraphSnapshot:
    """Facts of one relation, all but the last ended after so many days."""
    start_s = NOW_S - 1_000 * DAY_S
    graph = small_graph(
        2, [(0, 1, [0])] * facts_count, [start_s], fact_valid_s=[start_s] * facts_count
    )
    graph.facts.invalid_at_s[:-1] = start_s + days * DAY_S
    return graph


def test_facts_of_a_durable_relation_last_at_least_as_long_as_half_of_them_stay_true() -> None:
    lasting, passing = standing(graph=ended_after(900.0)), standing(graph=ended_after(2.0))
    last = len(lasting.strength) - 1
    assert lasting.lasts_days[last] >= 900.0 > passing.lasts_days[last]
    unknown = standing(graph=ended_after(2.0, facts_count=2))
    assert passing.lasts_days[last] >= unknown.lasts_days[3]


def test_a_fact_that_has_outlived_its_relation_is_stale() -> None:
    config = HippocampusConfig()
    assert Thoughts(ended_after(900.0), NOW_S, config).stale.tolist() == [False] * 7 + [True]
    assert not Thoughts(ended_after(900.0, facts_count=2), NOW_S, config).stale.any()


def test_a_lifetime_does_not_change_while_nothing_happens() -> None:
    graph = ended_after(900.0)
    graph.facts.valid_at_s[3:7] += 600.0 * DAY_S
    graph.facts.invalid_at_s[3:7] = UNKNOWN
    lifetimes = [
        Thoughts(graph, NOW_S + days * DAY_S, HippocampusConfig()).lifetime_days.tolist()
        for days in (0.0, 300.0, 3_000.0)
    ]
    assert lifetimes[0] == lifetimes[1] == lifetimes[2]


def test_the_weaker_of_two_near_duplicates_loses_retention() -> None:
    pairs = (NearDuplicate("fact-0", "fact-1", 0.9),)
    recalled = Recalled(profiles={"fact-0": RecallProfile(recent_s=(NOW_S - 400 * DAY_S,))})
    config, now = HippocampusConfig(), NOW_S
    alone = Thoughts(RING, now, config, recalled).standing
    both = Thoughts(RING, now, config, recalled, NearDuplicates(pairs)).standing
    assert both.strength[FACT] == alone.strength[FACT]
    assert both.strength[FACT + 1] == pytest.approx(alone.strength[FACT + 1] * (1 - 0.05 * 0.9))
    assert both.lasts_days[FACT + 1] < alone.lasts_days[FACT + 1]
    at_s = both.kept.last_touch_s[FACT + 1] + both.lasts_days[FACT + 1] * DAY_S
    then = Standing(both.outline, both.kept, at_s, config, both.usage)
    assert then.strength[FACT + 1] == pytest.approx(0.3, abs=1e-6)


def test_an_unknown_age_loses_nothing_to_a_near_duplicate() -> None:
    graph = small_graph(2, [(0, 1, []), (0, 1, [])], fact_created_s=[UNKNOWN, OLD_S])
    pairs = NearDuplicates((NearDuplicate("fact-0", "fact-1", 1.0),))
    thoughts = Thoughts(graph, NOW_S, HippocampusConfig(), NEVER_RECALLED, pairs)
    assert thoughts.standing.strength[2] == 1.0
    assert thoughts.standing.kept.interference[3] < 1.0
