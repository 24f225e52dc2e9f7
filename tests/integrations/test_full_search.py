"""The full search tells of each result why it stands where it stands."""

import copy
import pickle

import pytest

pytest.importorskip("graphiti_core")

from graphiti_core.search.search_config import SearchResults
from graphiti_core.search.search_config_recipes import COMBINED_HYBRID_SEARCH_RRF

from tests.integrations.test_hippocampus import START, beside, run, tell_moves
from tests.integrations.test_signatures import teas


def searched(uri, graph, *options, consolidated=True):
    """Ann's moves and teas, the full search's answers, and the plain search's."""

    async def story():
        async with beside(uri, graph) as (world, hippocampus):
            await tell_moves(world)
            await world.episode("Ann likes teas.", START, teas(3))
            if consolidated:
                await hippocampus.consolidate(graph, resolve=True)
            asked = {"query": "Ann lives Oslo tea", "group_ids": [graph]}
            full = [
                await hippocampus.search_(config=COMBINED_HYBRID_SEARCH_RRF, **asked, **more)
                for more in options or [{}]
            ]
            plain = await hippocampus.search(**asked)
            assert await hippocampus.flush()
            return full, plain, dict(hippocampus.aside.failures)

    return run(story())


def test_facts_and_entities_carry_relevance_strength_and_why(falkordb_uri, graph_name):
    (found, everything), plain, failures = searched(
        falkordb_uri, graph_name, {}, {"include_superseded": True}
    )
    assert failures == {}
    assert isinstance(found, SearchResults)
    for results, recalls in [
        (found.edges, found.edge_recalls), (found.nodes, found.node_recalls),
    ]:  # fmt: skip
        assert len(results) >= 3
        assert [recall.uuid for recall in recalls] == [one.uuid for one in results]
        assert sorted(r.relevance_rank for r in recalls) == list(range(1, len(results) + 1))
        assert all(0.0 < recall.strength <= 1.0 for recall in recalls)
        assert all(f"strength {recall.strength:.2f}" in recall.why for recall in recalls)
    assert [r.relevance_rank for r in found.node_recalls] == list(range(1, len(found.nodes) + 1))
    assert (found.left_out_count, everything.left_out_count) == (1, 0)
    assert len(everything.edge_recalls) == len(found.edge_recalls) + 1
    strength = {recall.uuid: recall.strength for recall in plain.recalls}
    assert {recall.uuid: recall.strength for recall in found.edge_recalls} == strength


def test_what_no_batch_has_seen_says_so(falkordb_uri, graph_name):
    (found,), _, _ = searched(falkordb_uri, graph_name, consolidated=False)
    recalls = [*found.edge_recalls, *found.node_recalls]
    assert len(recalls) == len(found.edges) + len(found.nodes)
    assert {recall.strength for recall in recalls} == {None}
    assert all(recall.why.endswith("not consolidated yet") for recall in recalls)


def test_what_is_found_can_be_copied_and_pickled(falkordb_uri, graph_name):
    (found,), plain, _ = searched(falkordb_uri, graph_name)
    for again in (
        pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found),
        found.model_copy(deep=True),
    ):  # fmt: skip
        assert type(again) is type(found)
        assert again.model_dump() == found.model_dump()
    again = pickle.loads(pickle.dumps(plain))
    assert [edge.uuid for edge in again] == [edge.uuid for edge in plain]
    assert (again.recalls, again.left_out_count) == (plain.recalls, plain.left_out_count)


def test_a_group_named_twice_is_searched_once(falkordb_uri, graph_name, store):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            await world.episode("Ann likes teas.", START, teas(3))
            told = []
            for groups in ([graph_name], [graph_name, graph_name], (graph_name,) * 3):
                asked = {"query": "Ann tea", "group_ids": groups}
                plain = await hippocampus.search(**asked)
                full = await hippocampus.search_(config=COMBINED_HYBRID_SEARCH_RRF, **asked)
                told.append(
                    [[one.uuid for one in part] for part in (plain, full.edges, full.nodes)]
                )
                assert len(plain.recalls) == len(plain)
                assert len(full.node_reranker_scores) == len(full.nodes)
            assert await hippocampus.flush()
            return told

    once, twice, thrice = run(story())
    assert once == twice == thrice
    assert [len(part) for part in once] == [3, 3, 1]
    recorded = store.read_room(graph_name).recalls
    assert [len(r.best_ranks()) == len(r.ranks) for r in recorded] == [True] * 6
