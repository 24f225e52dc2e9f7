"""The demo memory: whole, of one piece, and rich enough to show every kind of result."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from typing import Any

import pytest

from synapse.demo import DEMO_NOW, demo_path
from synapse.hippocampus.config import ContradictionConfig
from synapse.hippocampus.contradiction import ContradictionDetector
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.ports import GraphDocument
from synapse.integrations.memory_file import read_memory_file
from synapse.store.memory import InMemoryStore

NOW_S = datetime.fromisoformat(DEMO_NOW).timestamp()


@pytest.fixture(scope="module")
def demo() -> GraphDocument:
    return read_memory_file(demo_path(), group_id="demo", now_iso=DEMO_NOW)


@pytest.fixture(scope="module")
def snapshot(demo: GraphDocument) -> GraphSnapshot:
    store = InMemoryStore()
    store.write_memory("demo", demo)
    return store.read_graph("demo")


def counts(snapshot: GraphSnapshot) -> dict[str, int]:
    return {
        "entities": len(snapshot.entities),
        "facts": len(snapshot.facts),
        "episodes": len(snapshot.episodes),
        "mentions": len(snapshot.mentions),
    }


COUNTS = {"entities": 55, "facts": 128, "episodes": 64, "mentions": 286}


def test_it_has_the_size_that_is_promised(snapshot: GraphSnapshot) -> None:
    assert counts(snapshot) == COUNTS
    assert snapshot.left_out == {}


def test_everything_hangs_together(demo: GraphDocument) -> None:
    episodes = {episode["uuid"] for episode in demo.episodes}
    entities = {entity["uuid"] for entity in demo.entities}
    ends = {f[end] for f in demo.facts for end in ("source_node_uuid", "target_node_uuid")}
    assert {e for fact in demo.facts for e in fact["episodes"]} <= episodes
    assert {mention["episode_uuid"] for mention in demo.mentions} == episodes
    assert {mention["entity_uuid"] for mention in demo.mentions} == entities
    assert ends <= entities
    for fact in demo.facts:
        assert fact["created_at"] < DEMO_NOW
        assert ("expired_at" not in fact) or ("invalid_at" in fact)


def test_it_spans_half_a_year_before_its_moment(demo: GraphDocument) -> None:
    times = [episode["valid_at"] for episode in demo.episodes]
    assert times == sorted(times)
    assert (times[0][:10], times[-1][:10]) == ("2026-01-05", "2026-06-28")


def test_every_line_says_what_it_is_and_uuids_are_stable(demo: GraphDocument) -> None:
    lines = [json.loads(line) for line in demo_path().read_text(encoding="utf-8").splitlines()]
    assert Counter(line["type"] for line in lines) == {
        "entity": 55, "fact": 128, "episode": 64, "mention": 286,
    }  # fmt: skip
    other = read_memory_file(demo_path(), group_id="other", now_iso="2027-01-01")
    assert [fact["uuid"] for fact in other.facts] == [fact["uuid"] for fact in demo.facts]


def test_it_shows_what_real_memories_have(demo: GraphDocument) -> None:
    pairs = Counter((f["source_node_uuid"], f["target_node_uuid"]) for f in demo.facts)
    assert sum(source == target for source, target in pairs) >= 5, "facts about one entity"
    assert max(pairs.values()) >= 5, "parallel facts"
    assert sum("valid_at" not in fact for fact in demo.facts) >= 5, "undated facts"
    assert any(fact.get("valid_at", "") > DEMO_NOW for fact in demo.facts), "a future fact"
    mentions = Counter(mention["episode_uuid"] for mention in demo.mentions)
    assert max(mentions.values()) >= 12, "an episode with many entities"
    assert max(len(fact["episodes"]) for fact in demo.facts) >= 6, "a theme that comes back"
    plain_ends = [f for f in demo.facts if "invalid_at" in f and "expired_at" not in f]
    assert len(plain_ends) == 1, "an end that the text gave"


def verdicts(snapshot: GraphSnapshot) -> dict[str, set[str]]:
    found = ContradictionDetector(ContradictionConfig()).detect(snapshot, NOW_S)
    by_verdict: dict[str, set[str]] = {}
    for finding in found.findings:
        by_verdict.setdefault(finding.verdict, set()).add(snapshot.facts.text[finding.fact])
    return by_verdict


def test_its_changes_are_found(snapshot: GraphSnapshot) -> None:
    found = verdicts(snapshot)
    assert found["superseded"] == {
        "booking-api keeps its bookings in SQLite.",
        "Yuki is a member of the product team.",
        "Every change to Spokeboard is checked by GitHub Actions.",
        "booking-api runs on a server at Hetzner.",
        "Beatriz is the contact at Velo Nord.",
    }
    assert found["missed"] >= {
        "notify-worker reads its jobs from RabbitMQ.",
        "Spokeboard pins its dependencies with Poetry.",
        "booking-api caches the calendar in Redis.",
        "booking-api has Tomas on call.",
        "Mira lives in Gothenburg.",
    }
    assert found["doubtful"] == {
        "Mira visited Lisbon in March.",
        "ledger-sync checks every night that no job of booking-api is missing.",
    }


def test_what_is_true_in_several_ways_is_no_contradiction(snapshot: GraphSnapshot) -> None:
    several = {"SPEAKS", "REVIEWS", "WORKS_ON", "DEPLOYED", "VISITED", "PART_OF", "DEPENDS_ON"}
    texts = {
        text
        for relation, text in zip(snapshot.facts.relation, snapshot.facts.text, strict=True)
        if relation in several
    }
    found = verdicts(snapshot)
    assert len(texts) >= 30
    assert not texts & (found["superseded"] | found["missed"])


def test_a_real_graph_holds_it_as_it_is(
    store: Any, graph_name: str, demo: GraphDocument, snapshot: GraphSnapshot
) -> None:
    for _ in range(2):
        store.write_memory(graph_name, demo)
        read = store.read_graph(graph_name)
        assert counts(read) == COUNTS
    by_uuid = dict(zip(read.facts.uuid, read.facts.text, strict=True))
    assert by_uuid == dict(zip(snapshot.facts.uuid, snapshot.facts.text, strict=True))
    assert read.group_ids() == {"demo"}
    assert verdicts(read) == verdicts(snapshot)
