"""What replaced a fact, against the same rule written down without any index."""

import math

import pytest

pytest.importorskip("graphiti_core")

from hypothesis import given
from hypothesis import strategies as st

from synapse.hippocampus.config import RelationsConfig
from synapse.hippocampus.model import empty_graph
from synapse.hippocampus.relations import RelationLearner
from synapse.integrations.successors import succeeding
from tests.support.fact_graphs import Said, at, fact_graph

TABLE = RelationLearner(RelationsConfig()).learn(empty_graph("facts"), 0.0)
SINGLE = {"LIVES_IN": True, "lives in": True, "LIKES": False}
DAYS = st.none() | st.integers(0, 6)
EPISODES = {f"on day {day}": day for day in range(7)}
FACTS = st.lists(
    st.builds(
        Said,
        source=st.sampled_from(["Ann", "Bob"]), relation=st.sampled_from(list(SINGLE)),
        target=st.sampled_from(["Oslo", "Rome"]), text=st.just("so it is"), uuid=st.just(""),
        valid=DAYS, ended=DAYS, recorded=DAYS,
        episodes=st.lists(st.sampled_from(list(EPISODES)), max_size=2, unique=True),
    ),
    max_size=9,
)  # fmt: skip


def begins(fact):
    said = [fact.valid, min((EPISODES[e] for e in fact.episodes), default=None), fact.recorded]
    return next((day for day in said if day is not None), math.inf)


def replaced_by(facts, old, now):
    """Number of the fact that replaced another one by that day, ``None`` if none did."""
    if old.ended is None or old.ended > now:
        return None
    if not SINGLE[old.relation] and old.valid is not None and old.valid >= old.ended:
        return None  # one of many values, of one moment
    name = old.relation.upper().replace(" ", "_")
    followed = [
        (begins(fact), f"fact-{number}", number)
        for number, fact in enumerate(facts)
        if (fact.source, fact.relation.upper().replace(" ", "_")) == (old.source, name)
        and old.ended <= begins(fact) <= now
        and (fact.ended is None or fact.ended > now)
        and (SINGLE[old.relation] or begins(fact) == old.ended)
    ]
    return min(followed)[2] if followed else None


@given(FACTS, st.integers(0, 7))
def test_the_first_that_follows_and_holds_has_replaced_it(facts, now):
    names = [f"fact-{number}" for number in range(len(facts))]
    found = succeeding(fact_graph(facts, EPISODES), TABLE, [*names, "unknown"], at(now))
    wanted = dict.fromkeys(replaced_by(facts, fact, now) for fact in facts)
    assert found == [number for number in wanted if number is not None]
