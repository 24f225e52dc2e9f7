"""Entity kinds by dominant relation, and what is said about each."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from synapse.hippocampus.config import SchemaConfig
from synapse.hippocampus.schema import KindLink, Schema, SchemaExtractor, TypicalRelation
from tests.support.fact_graphs import Said, fact_graph


def schemas(
    facts: Sequence[Said],
    labels: dict[str, tuple[str, ...]] | None = None,
    min_members_count: int = 3,
    min_support_ratio: float = 0.5,
) -> tuple[Schema, ...]:
    config = SchemaConfig(min_members_count=min_members_count, min_support_ratio=min_support_ratio)
    return SchemaExtractor(config).extract(fact_graph(facts, labels=labels))


PEOPLE = [Said(person, "works at", "Acme") for person in ("Ann", "Bob", "Cem")]
SERVICES = [
    Said(service, "USES", tool)
    for service in ("auth", "billing", "chat", "search")
    for tool in ("Redis", "MySQL", "NATS")
]


def test_entities_that_take_part_in_the_same_relation_are_one_kind() -> None:
    kinds = schemas([*PEOPLE, *SERVICES])
    assert [(kind.name, kind.members_count) for kind in kinds] == [
        ("USES →", 4),
        ("WORKS_AT →", 3),
        ("→ USES", 3),
    ]


def test_a_schema_tells_what_its_members_share() -> None:
    extra = [Said("auth", "OWNED_BY", "Ann"), Said("billing", "OWNED_BY", "Bob")]
    (services, *_) = schemas([*PEOPLE, *SERVICES, *extra])
    assert services.relations == (
        TypicalRelation("USES →", 1.0),
        TypicalRelation("OWNED_BY →", 0.5),
    )
    assert services.links == (
        KindLink("USES", "→ USES", 12),
        KindLink("OWNED_BY", "WORKS_AT →", 2),
    )
    assert services.examples == ("id of auth", "id of billing", "id of chat")
    assert services.exceptions_count == 2


def test_the_most_frequent_pattern_of_an_entity_is_its_kind() -> None:
    facts = [*SERVICES, Said("Ann", "USES", "Redis"), Said("Ann", "KNOWS", "Bob")]
    facts += [Said("Ann", "KNOWS", "Cem"), Said("Bob", "KNOWS", "Cem"), Said("Cem", "KNOWS", "Ann")]
    assert kind_of("Ann", facts) == "KNOWS →"


def test_ties_go_to_the_more_frequent_relation_then_to_the_name_then_outwards() -> None:
    facts = [*SERVICES, Said("a", "USES", "y"), Said("a", "ADORES", "y")]
    assert kind_of("a", facts) == "USES →"
    assert kind_of("x", [Said("x", "B", "y"), Said("x", "A", "y")]) == "A →"
    assert kind_of("x", [Said("x", "A", "y"), Said("y", "A", "x")]) == "A →"


def test_labels_of_most_members_name_the_kind() -> None:
    labels = {"Ann": ("Person",), "Bob": ("Admin", "Person"), "Cem": ("Robot",)}
    kinds = schemas([*PEOPLE, *SERVICES], labels)
    assert [kind.name for kind in kinds] == ["USES →", "Person", "→ USES"]
    assert kinds[0].id == schemas(SERVICES)[0].id


def test_too_few_members_are_no_schema() -> None:
    assert schemas(PEOPLE, min_members_count=4) == ()


def test_duplicate_marks_and_isolated_entities_say_nothing() -> None:
    assert kind_of("Ann", [Said("Ann", "IS_DUPLICATE_OF", "Bob")]) is None
    marks = [Said(name, "IS_DUPLICATE_OF", "Ann") for name in ("Ben", "Cora", "Dan", "Eve")]
    assert schemas(marks) == ()
    assert schemas([*PEOPLE, *marks]) == schemas(PEOPLE)
    assert schemas([]) == ()


def test_self_loops_count_as_outgoing() -> None:
    (kind,) = schemas([Said(name, "HAS_LIMIT", name) for name in ("a", "b", "c")])
    assert kind.relations == (TypicalRelation("HAS_LIMIT →", 1.0),)
    assert (kind.name, kind.links) == ("HAS_LIMIT →", (KindLink("HAS_LIMIT", "HAS_LIMIT →", 3),))


def test_an_id_stays_when_members_come_and_go() -> None:
    (before, *_), (after, *_) = schemas(SERVICES), schemas(SERVICES[:-3])
    assert before.members_count != after.members_count
    assert before.id == after.id


def test_ids_are_unique() -> None:
    kinds = schemas([*PEOPLE, *SERVICES], min_members_count=1)
    assert len({kind.id for kind in kinds}) == len(kinds)


def test_a_schema_is_json() -> None:
    (kind, *_) = schemas(SERVICES)
    assert json.loads(json.dumps(kind.as_dict()))["links"][0]["target_kind"] == "→ USES"


def test_ten_times_the_facts_cost_no_more_than_their_share() -> None:
    def cpu_s(count: int) -> float:
        facts = [Said(f"a{i % 97}", f"R{i % 13}", f"b{i}") for i in range(count)]
        graph, extractor = fact_graph(facts), SchemaExtractor(SchemaConfig())
        start = time.process_time()
        extractor.extract(graph)
        return time.process_time() - start

    assert min(cpu_s(40_000) for _ in range(3)) < 15 * min(cpu_s(4_000) for _ in range(3))


def test_kinds_agree_with_published_types(shared_data: Path) -> None:
    folder = shared_data / "codex_s"
    triples = [json.loads(line) for line in (folder / "triples.jsonl").read_text().splitlines()]
    typed = [json.loads(line) for line in (folder / "entities.jsonl").read_text().splitlines()]
    graph = fact_graph([Said(t["s"], t["name"], t["o"]) for t in triples])
    patterns = SchemaExtractor(SchemaConfig()).dominant_patterns(graph)
    kinds = dict(zip(graph.entities.name, patterns, strict=True))
    ours, theirs = zip(*((kinds[e["id"]], e["cls"]) for e in typed), strict=True)
    assert _adjusted_rand_index(ours, theirs) >= 0.65
    assert len(set(ours)) <= 60


def kind_of(name: str, facts: Sequence[Said]) -> str | None:
    graph = fact_graph(facts)
    patterns = SchemaExtractor(SchemaConfig()).dominant_patterns(graph)
    return patterns[graph.entities.name.index(name)]


def _adjusted_rand_index(a: Sequence[object], b: Sequence[object]) -> float:
    """Hubert & Arabie, Journal of Classification 2 (1985): 1 for equal groupings, 0 for chance."""

    def pairs(groups: Counter[object]) -> int:
        return sum(math.comb(n, 2) for n in groups.values())

    both, in_a, in_b = pairs(Counter(zip(a, b, strict=True))), pairs(Counter(a)), pairs(Counter(b))
    chance = in_a * in_b / math.comb(len(a), 2)
    return (both - chance) / ((in_a + in_b) / 2 - chance)


def test_the_adjusted_rand_index_itself() -> None:
    assert _adjusted_rand_index("aabb", "xxyy") == 1.0
    assert _adjusted_rand_index("aabb", "xyxy") == pytest.approx(-0.5)
