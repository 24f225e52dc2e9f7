from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from synapse.hippocampus.config import RelationsConfig
from synapse.hippocampus.lexicon.english import ENGLISH_RELATIONS
from synapse.hippocampus.lexicon.words import split_name, stem
from synapse.hippocampus.lifetime import median_lifetime_days
from synapse.hippocampus.relations import RelationLearner
from tests.support.small_graphs import with_facts_in_order
from tests.unit.test_relations import NOW_S, Said, graph

WORDS = "works lives has is capital of at in uses port ports visited by"
words = st.sampled_from(WORDS.split())
names = st.lists(words, min_size=1, max_size=4).map("_".join)
facts = st.tuples(
    st.sampled_from("abcd"), names, st.sampled_from("vwxyz"), st.integers(0, 6).map(float)
)


@given(st.lists(facts, max_size=30), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_order_of_the_rows_changes_nothing(said: list[Said], random: object) -> None:
    snapshot = graph(said)
    order = list(range(len(said)))
    random.shuffle(order)  # type: ignore[attr-defined]
    learner = RelationLearner(RelationsConfig())
    table = learner.learn(snapshot, NOW_S)
    shuffled = learner.learn(with_facts_in_order(snapshot, np.array(order, np.int64)), NOW_S)
    assert shuffled.as_rows() == table.as_rows()
    assert shuffled.digest == table.digest


@given(st.lists(facts, min_size=1, max_size=30))
@settings(max_examples=60)
def test_chances_are_chances_and_every_name_has_one_property(said: list[Said]) -> None:
    table = RelationLearner(RelationsConfig()).learn(graph(said), NOW_S)
    assert ((table.single >= 0.0) & (table.single <= 1.0)).all()
    assert all(0.5 <= relation.confidence <= 1.0 for relation in table.relations)
    told = [name for relation in table.relations for name in relation.names]
    assert sorted(told) == sorted({s[1] for s in said})
    assert sum(relation.facts_count for relation in table.relations) == len(said)


@given(names)
def test_style_does_not_matter(name: str) -> None:
    camel = "".join(part.capitalize() for part in name.split("_"))
    styles = name, name.upper(), name.replace("_", " "), camel
    assert len(set(map(ENGLISH_RELATIONS.normal, styles))) == 1


@given(st.text(max_size=30))
def test_any_text_has_a_normal_name(name: str) -> None:
    assert isinstance(ENGLISH_RELATIONS.normal(name), str)
    assert all(len(stem(word)) <= len(word) + 6 for word in split_name(name))


@given(st.lists(st.tuples(st.floats(0, 1e4), st.booleans()), min_size=1, max_size=30))
def test_a_fact_that_goes_on_never_shortens_a_lifetime(lived: list[tuple[float, bool]]) -> None:
    days = np.array([d for d, _ in lived])
    ends = np.array([e for _, e in lived])
    before = median_lifetime_days(days, ends)
    after = median_lifetime_days(np.append(days, 1e5), np.append(ends, False))
    assert after is None or (before is not None and after >= before)
