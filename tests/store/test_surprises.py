"""Surprises of an ingestion wait in a room for the next run, each of them once."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from synapse.errors import StoreError
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.room import Surprise
from synapse.store.keys import room_key


def test_an_episode_is_noticed_once(any_store: MemoryStore, graph_name: str) -> None:
    seen = [
        Surprise("f1", "f0", "same_property", 0.9, 1.0),
        Surprise("f2", "", "", 0.5, 1.0, "novel"),
    ]
    assert any_store.record_surprises(graph_name, {"episode 1": seen})
    assert not any_store.record_surprises(graph_name, {"episode 1": seen})
    both = {"episode 1": seen, "episode 2": seen[:1]}
    assert any_store.record_surprises(graph_name, both) == 1
    waiting = any_store.read_room(graph_name).surprises
    assert [(s.fact, s.against, s.kind) for s in waiting] == [
        ("f1", "f0", "contradicts"), ("f2", "", "novel"), ("f1", "f0", "contradicts")
    ]  # fmt: skip


def test_an_event_is_noticed_once_in_whatever_episodes(
    any_store: MemoryStore, graph_name: str
) -> None:
    seen = [
        Surprise("f1", "f0", "same_property", 0.9, 1.0, event="f0 and f1"),
        Surprise("f2", "", "", 0.5, 1.0, "novel"),
    ]
    assert any_store.record_surprises(graph_name, {"episode 1": [seen[0], seen[0]]})
    assert any_store.record_surprises(graph_name, {"episode 2": seen})
    assert any_store.record_surprises(graph_name, {"": seen[:1]})
    waiting = any_store.read_room(graph_name).surprises
    assert [(s.fact, s.against) for s in waiting] == [("f1", "f0"), ("f2", "")]


@pytest.mark.parametrize("entry", [{"fact": "f"}, {"at_s": "soon"}])
def test_a_damaged_surprise_is_named(
    store: MemoryStore, falkordb_uri: str, graph_name: str, entry: dict[str, str]
) -> None:
    whole = {"fact": "f", "against": "g", "rule": "r", "surprise_ratio": "1", "at_s": "1"}
    added: Any = whole | entry if "at_s" in entry else entry
    with redis.Redis.from_url(falkordb_uri) as client:
        entry_id = client.xadd(room_key(graph_name, "surprises"), added)
    assert isinstance(entry_id, bytes)
    with pytest.raises(StoreError, match=entry_id.decode()):
        store.read_room(graph_name)
