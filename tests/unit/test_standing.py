"""How each memory stands at one moment, and what that hands to pruning."""

from __future__ import annotations

from typing import Any

import numpy as np

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.standing import Kept, Standing
from tests.support.fact_graphs import Said, fact_graph

DAY_S = 86_400.0
NOW_S = 1_000 * DAY_S
RING = fact_graph([Said(a, "USES", b) for a, b in ("ab", "ab", "bc", "ca")])
"""Memories: a, b, c, then facts 0 and 1 (both a, b), 2 (b, c) and 3 (c, a)."""
UNPRUNED: dict[str, Any] = {"max_share_ratio": 1.0, "max_lifetime_ratio": 1.0}
CONFIG = HippocampusConfig(pruning=UNPRUNED)


def standing(touched_days_ago: list[float], **columns: list[float]) -> Standing:
    """The memories of the ring, of which some are known to be unlike the others."""
    alike = dict.fromkeys(("frequency", "correction", "emotion", "association", "bonus"), 0.0)
    alike |= dict.fromkeys(("stability", "share", "interference"), 1.0) | {"ended": 0.0}
    count = len(touched_days_ago)
    kept = {name: np.array(columns.get(name, [value] * count)) for name, value in alike.items()}
    last_touch_s = NOW_S - DAY_S * np.array(touched_days_ago)
    return Standing(RING.outline(), Kept.of(last_touch_s=last_touch_s, **kept), NOW_S, CONFIG)


def test_a_fact_that_has_ended_is_no_evidence_for_its_ends() -> None:
    # Of two facts about a pair the one that is still true stays, also where both have faded.
    old = [0.0] * 3 + [500.0, 500.0, 0.0, 0.0]
    ended = standing(old, ended=[0, 0, 0, 1, 0, 1, 1])
    assert ended.pruning.ranked_candidates.tolist() == [3]
    assert ended.pruning.spared_by() == {"sole_evidence": 1}
    other = standing(old, ended=[0, 0, 0, 0, 1, 1, 1])
    assert other.pruning.ranked_candidates.tolist() == [4]


def test_of_equally_faded_memories_the_one_that_tells_less_goes_first() -> None:
    old = [0.0] * 3 + [500.0, 500.0, 0.0, 0.0]
    assert standing(old, share=[1, 1, 1, 0.2, 0.8, 1, 1]).pruning.ranked_candidates[0] == 3
    assert standing(old, share=[1, 1, 1, 0.8, 0.2, 1, 1]).pruning.ranked_candidates[0] == 4
    more = standing(old, frequency=[1, 1, 1, 0.2, 0.0, 1, 1])
    assert more.pruning.ranked_candidates[0] == 4


def test_no_bonus_lifts_a_memory_above_what_strength_can_be() -> None:
    # A strength above 1 would count as unknown, and raise the mean that is reported.
    now = standing([0.0] * 3 + [1.0, 500.0, 0.0, -3.0], bonus=[0.3] * 7)
    assert np.flatnonzero(now.strength == 1.0).tolist() == [0, 1, 2, 3, 5, 6]
    assert 0.3 < now.strength[4] < 1.0


def test_what_is_used_is_what_is_kept_to_the_last_digit() -> None:
    # A run that finds its graph unchanged takes the traces, and must say what the first one said.
    days = [0.1, 1 / 3, 2e-5, 500.1, 1e-9, 7.7, 0.0]
    now = standing(days, frequency=days, share=[1 / 3] * 7, stability=[1.1] * 7)
    assert now.kept.last_touch_s.tolist() == (NOW_S - DAY_S * np.array(days)).tolist()
    outline, kinds = RING.outline(), np.zeros(7, np.uint8)
    table = now.kept.table(outline, kinds)
    again = Kept.from_traces(table, outline)
    assert again is not None
    for name in Kept.__slots__:
        assert getattr(again, name).tolist() == getattr(now.kept, name).tolist(), name


def test_traces_of_which_one_is_missing_are_not_taken() -> None:
    more = fact_graph([*(Said(a, "USES", b) for a, b in ("ab", "ab", "bc", "ca", "cc"))])
    table = standing([1.0] * 7).kept.table(RING.outline(), np.zeros(7, np.uint8))
    assert Kept.from_traces(table, more.outline()) is None
