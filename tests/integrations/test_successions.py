"""Searches of any small history, against the rule of what replaces what written down plainly."""

from typing import NamedTuple

import pytest

pytest.importorskip("graphiti_core")

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.integrations.test_hippocampus import NOW_S, START, day
from tests.integrations.test_successors import ASKED, live

SINGLE = {"LIVES_IN": True, "lives in": True, "LIKES": False}
NOW = (NOW_S - START.timestamp()) / 86_400.0


class Told(NamedTuple):
    """A fact; which of them are found is Graphiti's affair."""

    whose: str
    relation: str
    whereto: str
    is_near: bool
    begins: int | None
    ends: int | None
    recorded: int
    in_group: bool


def mostly(usual, *others):
    return st.sampled_from([usual] * 3 + list(others))


def fact(begins, lasts, **more):
    """A fact that ends some days after it has begun, or never."""
    ends = None if lasts is None else (begins or 0) + lasts
    return Told(begins=begins, ends=ends, **more)


FACTS = st.lists(
    st.builds(
        fact, whose=mostly("Ann", "B \"o'b\\"), relation=mostly("LIVES_IN", "lives in", "LIKES"),
        whereto=st.sampled_from(["Ann", "Oslo", "Åre 猫"]), is_near=st.booleans(),
        begins=st.none() | st.integers(0, 4), lasts=st.none() | st.integers(-1, 2),
        recorded=st.integers(0, 4), in_group=mostly(True, False),
    ),
    min_size=2, max_size=12,
)  # fmt: skip


async def write(town, facts):
    for number, fact in enumerate(facts):
        dates = {"valid_at": fact.begins, "invalid_at": fact.ends, "created_at": fact.recorded}
        await town.world.fact(
            await town.node(fact.whose), fact.relation, await town.node(fact.whereto),
            f"{ASKED} {ASKED} {number}" if fact.is_near else f"elsewhere {number}",
            uuid=f"{number:02} it's \"é\"", group_id=town.graph if fact.in_group else "other",
            **{name: day(number) for name, number in dates.items() if number is not None},
        )  # fmt: skip


def begins(fact):
    return fact.recorded if fact.begins is None else fact.begins


def holds(fact, at):
    """Whether a search may tell it; what is not known speaks for it."""
    begun = fact.begins is None or fact.begins <= at
    return begun and (fact.ends is None or fact.ends > at)


def replaced_by(facts, old, at):
    """Numbers of the one fact that replaced another by that day, if any did."""
    is_single = SINGLE[old.relation]
    if old.ends is None or old.ends > at:
        return []
    if not is_single and old.begins is not None and old.begins >= old.ends:
        return []  # one of many values, of one moment
    slot = old.whose, old.relation.upper().replace(" ", "_"), old.in_group
    followed = [
        (begins(fact), number)
        for number, fact in enumerate(facts)
        if (fact.whose, fact.relation.upper().replace(" ", "_"), fact.in_group) == slot
        and old.ends <= begins(fact) <= at
        and (fact.ends is None or fact.ends > at)
        and (is_single or begins(fact) == old.ends)
    ]
    return [number for _, number in sorted(followed)[:1]]


def numbers(edges):
    return [int(edge.uuid[:2]) for edge in edges]


def told_of(facts, own, limit, at):
    """What must come first: what Graphiti has found and holds, then what replaced the rest."""
    kept = [number for number in own if holds(facts[number], at)]
    ended = [facts[number] for number in own if not holds(facts[number], at)]
    instead = [new for old in ended for new in replaced_by(facts, old, at)]
    return list(dict.fromkeys([*kept, *(n for n in instead if holds(facts[n], at))]))[:limit]


def test_the_rule_holds_for_any_history(falkordb_uri, graph_name):
    runs_count = 0

    @settings(max_examples=60)
    @given(
        FACTS, st.integers(1, 8), mostly(None, 1, 2, 3, 5), mostly(True, False), mostly(False, True)
    )
    def check(facts, limit, at, is_grouped, everything):
        nonlocal runs_count
        runs_count += 1

        async def story(town):
            await write(town, facts)
            asked = {"group_ids": [town.graph] if is_grouped else None, "num_results": limit}
            moment = {} if at is None else {"at": day(at)}
            own = await town.hippocampus.graphiti.search(ASKED, **asked)
            ours = await town.hippocampus.search(
                ASKED, **asked, **moment, include_superseded=everything
            )
            return numbers(own), numbers(ours), [recall.uuid for recall in ours.recalls]

        own, ours, recalled = live(falkordb_uri, f"{graph_name}-{runs_count}", story)
        assert [int(uuid[:2]) for uuid in recalled] == ours
        if everything and at is None:
            assert ours == own
            return
        day_asked = NOW if at is None else at
        first = told_of(facts, own, limit, day_asked)
        assert ours[: len(first)] == first
        assert len(set(ours)) == len(ours) <= limit
        assert all(holds(facts[number], day_asked) for number in ours)
        assert all(facts[number].in_group for number in ours) or not is_grouped

    check()
