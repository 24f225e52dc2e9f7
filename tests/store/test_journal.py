"""The journal: what runs changed in Graphiti's own data, written before they did."""

from __future__ import annotations

import pytest

from synapse.errors import LockLost
from synapse.hippocampus.plan import ConsolidationPlan
from synapse.hippocampus.ports import MemoryStore


def test_what_is_written_comes_back(any_store: MemoryStore, graph_name: str) -> None:
    assert any_store.read_journal(graph_name) == {}
    assert any_store.acquire_lock(graph_name, "mine", 60.0)
    any_store.append_journal(graph_name, "one", {"now": "ü", "changes": [{"uuid": "a"}]}, "mine")
    any_store.append_journal(graph_name, "two", {"changes": []}, "mine")
    any_store.append_journal(graph_name, "two", {"undone_by": "three"}, "mine")
    written = {"one": {"now": "ü", "changes": [{"uuid": "a"}]}, "two": {"undone_by": "three"}}
    assert any_store.read_journal(graph_name) == written


def test_it_is_written_with_the_ledger_or_not_at_all(
    any_store: MemoryStore, graph_name: str
) -> None:
    plan = ConsolidationPlan(graph_name, "run", "c0ffee", 0, journal={"run": {"changes": [1]}})
    assert not plan.is_empty
    with pytest.raises(LockLost):
        any_store.apply(plan, "mine")
    assert any_store.read_journal(graph_name) == {}
    any_store.acquire_lock(graph_name, "mine", 60.0)
    any_store.apply(plan, "mine")
    assert any_store.read_journal(graph_name) == {"run": {"changes": [1]}}
    with pytest.raises(LockLost):
        any_store.append_journal(graph_name, "run", {}, "somebody")
    assert any_store.read_journal(graph_name) == {"run": {"changes": [1]}}
