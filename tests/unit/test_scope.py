"""Which graph a caller means."""

import pytest

from synapse.errors import UnknownGraph
from synapse.hippocampus.scope import Scope, choose_scope, listed, require_group


def choose(graphs, graph=None, group_id=None):
    return choose_scope(graphs, graph=graph, group_id=group_id, default_graph="default_db")


def test_a_group_opens_the_graph_of_its_name():
    assert choose(["default_db", "tenant"], group_id="tenant") == Scope("tenant", "tenant")


def test_a_group_without_a_graph_is_looked_for_in_the_default_graph():
    assert choose(["default_db"], group_id="tenant") == Scope(
        "default_db", "tenant", whole_graph=False
    )


def test_graph_and_group_together_mean_the_group_inside_that_graph():
    assert choose(["a", "tenant"], graph="a", group_id="tenant") == Scope(
        "a", "tenant", whole_graph=False
    )


def test_a_group_inside_a_graph_that_is_not_there_is_not_said_to_be_missing():
    with pytest.raises(UnknownGraph, match=r"^there is no graph 'b' here; graphs: a$"):
        choose_scope(["a"], graph="b", group_id="a", default_graph="default_db")


def test_a_long_name_does_not_hide_the_sentence():
    with pytest.raises(UnknownGraph) as refused:
        choose(["a"], group_id="g" * 5_000)
    assert len(str(refused.value)) < 130


def test_nothing_named_means_the_whole_default_graph():
    assert choose(["default_db", "x"]) == Scope("default_db", None)


@pytest.mark.parametrize("wanted", [{"graph": "nosuch"}, {"group_id": "nosuch"}, {}])
def test_an_unknown_graph_is_an_error_that_lists_what_there_is(wanted):
    with pytest.raises(UnknownGraph, match="graphs: alpha, beta"):
        choose(["alpha", "beta"], **wanted)


def test_an_unknown_group_is_an_error_that_lists_the_groups():
    with pytest.raises(UnknownGraph, match=r"no group 'x'.*groups there: a, b"):
        require_group(Scope("g", "x", whole_graph=False), {"b", "a"})


@pytest.mark.parametrize("spelling", ["", "_", "\\_"])
def test_every_spelling_of_the_default_group_is_accepted(spelling):
    require_group(Scope("default_db", spelling, whole_graph=False), {"\\_"})
    require_group(Scope("default_db", spelling, whole_graph=False), {"_"})


def test_a_long_list_of_graphs_stays_short():
    with pytest.raises(UnknownGraph) as caught:
        choose([f"tenant-{i}" for i in range(5_000)], graph="x")
    assert str(caught.value).endswith("and 4994 more")
    assert len(str(caught.value)) < 200


def test_very_long_names_are_cut():
    assert len(listed(["n" * 10_000])) < 50
