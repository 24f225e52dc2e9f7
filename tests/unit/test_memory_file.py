"""Memory files in every accepted form, and one sentence for everything that can be wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.errors import UsageError
from synapse.hippocampus.ports import GraphDocument
from synapse.integrations import memory_file
from synapse.integrations.memory_file import read_memory_file

NOW = "2026-03-01T12:00:00+00:00"
Write = Callable[..., Path]

OBSERVATIONS = ["Runs on port 7100", "Written in Go"]
ENTITY = {"name": "ferry", "entityType": "build tool", "observations": OBSERVATIONS}
OTHER = {"name": "quay", "entityType": "service", "observations": []}
RELATION = {"from": "ferry", "to": "quay", "relationType": "deploysTo"}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a value as JSON, several as JSON lines, text and bytes as they are."""

    def write_file(*values: Any, name: str = "memory.json") -> Path:
        path = tmp_path / name
        if len(values) == 1 and isinstance(values[0], bytes):
            path.write_bytes(values[0])
        else:
            texts = (value if isinstance(value, str) else json.dumps(value) for value in values)
            path.write_text("\n".join(texts), encoding="utf-8")
        return path

    return write_file


def read(path: Path, group_id: str = "harbour", now_iso: str = NOW) -> GraphDocument:
    return read_memory_file(path, group_id=group_id, now_iso=now_iso)


def fact_texts(document: GraphDocument) -> list[str]:
    return [fact["fact"] for fact in document.facts]


MCP_FORMS: dict[str, tuple[Any, ...]] = {
    "JSON lines": (
        {"type": "entity", **ENTITY}, {"type": "entity", **OTHER}, {"type": "relation", **RELATION},
    ),
    "one document": ({"entities": [ENTITY, OTHER], "relations": [RELATION]},),
    "observations with a time": (
        {"type": "entity", **ENTITY, "observations": [{"text": o} for o in OBSERVATIONS]},
        {"type": "entity", **OTHER},
        {"type": "relation", **RELATION},
    ),
    "nodeType": (
        {"type": "node", "name": "ferry", "nodeType": "build tool", "observations": OBSERVATIONS},
        {"type": "node", "name": "quay", "nodeType": "service"},
        {"type": "edge", "from": "ferry", "to": "quay", "edgeType": "deploysTo"},
    ),
    "nodeType and metadata": (
        {"type": "node", "name": "ferry", "nodeType": "build tool", "metadata": OBSERVATIONS},
        {"type": "node", "name": "quay", "nodeType": "service", "metadata": [""]},
        {"type": "edge", "from": "ferry", "to": "quay", "edgeType": "deploysTo"},
    ),
    "kinds within the document": (
        {
            "entities": [{"type": "entity", **ENTITY}, {"type": "entity", **OTHER}],
            "relations": [{"type": "relation", **RELATION}],
        },
    ),
    "type, and relations as triples": (
        {
            "entities": [
                {"name": "ferry", "type": "build tool", "observations": OBSERVATIONS},
                {"name": "quay", "type": "service"},
            ],
            "relations": [["ferry", "deploysTo", "quay"]],
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", MCP_FORMS)
def test_every_mcp_form_gives_the_same_memory(form: str, write: Write) -> None:
    document = read(write(*MCP_FORMS[form]))
    assert [(e["name"], e["labels"], e["entity_type"]) for e in document.entities] == [
        ("ferry", ["BuildTool"], "build tool"),
        ("quay", ["Service"], "service"),
    ]
    ferry, quay = (entity["uuid"] for entity in document.entities)
    assert [
        (f["source_node_uuid"], f["name"], f["target_node_uuid"], f["fact"]) for f in document.facts
    ] == [
        (ferry, "OBSERVED", ferry, "Runs on port 7100"),
        (ferry, "OBSERVED", ferry, "Written in Go"),
        (ferry, "DEPLOYS_TO", quay, "ferry deploys to quay"),
    ]
    assert document == read(write(*MCP_FORMS["one document"]))


def test_observation_times_become_valid_at_and_date_the_entity(write: Write) -> None:
    observations = [
        {"text": "Has two masts", "timestamp": "2026-02-03T10:00:00+01:00"},
        {"text": "Has three masts", "timestamp": "2026-02-20T08:00:00Z"},
        "Is blue",
        {"text": "Will be sold", "timestamp": "2027-01-01"},
    ]
    document = read(write({"type": "entity", "name": "ferry", "observations": observations}))
    assert [(f.get("valid_at"), f["created_at"]) for f in document.facts] == [
        ("2026-02-03T09:00:00+00:00", "2026-02-03T09:00:00+00:00"),
        ("2026-02-20T08:00:00+00:00", "2026-02-20T08:00:00+00:00"),
        (None, NOW),
        ("2027-01-01T00:00:00+00:00", NOW),
    ]
    assert document.entities[0]["created_at"] == "2026-02-03T09:00:00+00:00"


def test_the_same_observation_at_another_time_is_another_fact(write: Write) -> None:
    said = [{"text": "Is blue", "timestamp": f"2026-0{month}-01"} for month in (1, 2, 1)]
    document = read(write({"entities": [{"name": "ferry", "observations": said}]}))
    assert [f["valid_at"][:7] for f in document.facts] == ["2026-01", "2026-02"]


def test_entities_of_one_name_are_one_entity(write: Write) -> None:
    document = read(
        write(
            {"type": "entity", "name": "ferry", "entityType": "ship", "observations": ["a"]},
            {"type": "entity", "name": "ferry", "entityType": "tool", "observations": ["b"]},
        )
    )
    assert [entity["labels"] for entity in document.entities] == [["Ship", "Tool"]]
    assert fact_texts(document) == ["a", "b"]


def test_a_type_never_becomes_one_of_graphitis_own_labels(write: Write) -> None:
    names = ["Community", "saga", "Entity", "episodic", "3D model", "项目", "Démo"]
    entities = [{"name": name, "entityType": name, "observations": []} for name in names]
    document = read(write({"entities": entities}))
    assert [entity["labels"] for entity in document.entities] == [[]] * 6 + [["Demo"]]
    assert [entity["entity_type"] for entity in document.entities] == names


GRAPHITI: dict[str, list[dict[str, Any]]] = {
    "entities": [
        {"uuid": "n1", "name": "Ines", "summary": "A sailor.", "created_at": "2026-01-02T08:00:00",
         "group_id": "other", "labels": ["Entity", "Person"], "name_embedding": [0.5, -0.25],
         "rank": 3, "languages": ["pt", "en"], "attributes": {"berth": "B4", "name": "no"}},
        {"uuid": "n2", "name": "Lisbon", "summary": "", "created_at": "2026-01-02T08:00:00Z"},
    ],
    "facts": [
        {"uuid": "f1", "name": "LIVES_IN", "fact": "Ines lives in Lisbon.",
         "source_node_uuid": "n1", "target_node_uuid": "n2", "episodes": ["e1", "gone"],
         "created_at": "2026-01-02T08:05:00+00:00", "valid_at": "2026-01-01T00:00:00+00:00",
         "invalid_at": "2026-02-01T00:00:00+00:00", "expired_at": None, "group_id": "other"},
    ],
    "episodes": [
        {"uuid": "e1", "name": "first", "content": "Ines moved to Lisbon.", "source": "message",
         "source_description": "chat", "created_at": "2026-01-02T08:00:00Z", "valid_at": "",
         "group_id": "other"},
    ],
    "mentions": [
        {"uuid": "m1", "episode": "e1", "entity": "n1"},
        {"uuid": "m2", "source_node_uuid": "e1", "target_node_uuid": "n2"},
    ],
}  # fmt: skip


def typed_lines() -> list[dict[str, Any]]:
    kinds = {"entities": "entity", "facts": "edge", "episodes": "Episode", "mentions": "mention"}
    return [{"type": kinds[s], **item} for s, items in GRAPHITI.items() for item in items]


def untyped_lines() -> list[dict[str, Any]]:
    return [item for items in reversed(GRAPHITI.values()) for item in items]


def test_a_graphiti_export_keeps_what_it_says(write: Write) -> None:
    document = read(write(GRAPHITI))
    assert document.entities[0] == {
        "uuid": "n1", "name": "Ines", "summary": "A sailor.", "labels": ["Person"],
        "created_at": "2026-01-02T08:00:00+00:00", "group_id": "harbour", "rank": 3,
        "name_embedding": [0.5, -0.25], "languages": ["pt", "en"], "berth": "B4",
    }  # fmt: skip
    fact = GRAPHITI["facts"][0]
    assert document.facts[0] == {key: value for key, value in fact.items() if value is not None} | {
        "group_id": "harbour"
    }
    assert document.episodes[0]["valid_at"] == "2026-01-02T08:00:00+00:00"
    assert [(m["uuid"], m["episode_uuid"], m["entity_uuid"]) for m in document.mentions] == [
        ("m1", "e1", "n1"),
        ("m2", "e1", "n2"),
    ]


@pytest.mark.parametrize(
    "values",
    [
        (dict(zip(("nodes", "edges", "episodes", "mentions"), GRAPHITI.values(), strict=True)),),
        typed_lines(),
        untyped_lines(),
        (untyped_lines(),),
        (json.dumps(GRAPHITI, indent=2).replace("\n", "\r\n"),),
        (b"\xef\xbb\xbf" + json.dumps(GRAPHITI, ensure_ascii=False).encode(),),
    ],
    ids=["nodes and edges", "typed lines", "bare lines", "array", "Windows lines", "BOM"],
)
def test_every_graphiti_form_gives_the_same_memory(values: Any, write: Write) -> None:
    assert read(write(*values)) == read(write(GRAPHITI))


def test_ends_given_by_name_are_found_or_created(write: Write) -> None:
    facts = [
        {"source": "Ines", "target": "Porto", "name": "VISITED", "created_at": "2026-02-02"},
        {"source": "n1", "target": "Porto", "relation": "likes", "fact": "Ines likes Porto."},
    ]
    document = read(write({"entities": GRAPHITI["entities"], "facts": facts}))
    porto = document.entities[-1]
    assert (porto["name"], porto["created_at"]) == ("Porto", "2026-02-02T00:00:00+00:00")
    assert {(f["source_node_uuid"], f["target_node_uuid"]) for f in document.facts} == {
        ("n1", porto["uuid"])
    }
    assert [(f["name"], f["fact"]) for f in document.facts] == [
        ("VISITED", "Ines visited Porto"),
        ("LIKES", "Ines likes Porto."),
    ]


def test_uuids_follow_from_group_and_content_alone(write: Write) -> None:
    path = write(*MCP_FORMS["JSON lines"])
    first, later = read(path), read(path, now_iso="2026-09-09T00:00:00Z")
    other_group = read(path, group_id="elsewhere")

    def uuids(document: GraphDocument) -> list[str]:
        return [item["uuid"] for item in (*document.entities, *document.facts)]

    assert uuids(first) == uuids(later)
    assert len({*uuids(first), *uuids(other_group)}) == 2 * len(uuids(first))


def test_a_fact_said_again_gains_an_episode(write: Write) -> None:
    said = {"source": "Ines", "target": "Porto", "name": "VISITED", "valid_at": "2026-02-02"}
    facts = [said | {"episodes": episodes} for episodes in (["e1"], ["e2", "e1"])]
    document = read(write({"facts": facts}))
    assert [fact["episodes"] for fact in document.facts] == [["e1", "e2"]]


def test_one_record_twice_is_one_record(write: Write) -> None:
    assert read(write(*typed_lines(), *typed_lines())) == read(write(GRAPHITI))


def test_nested_values_are_kept_as_text_and_numbers_stay_numbers(write: Write) -> None:
    entity = {"type": "entity", "name": "n", "a": {"b": [1]}, "c": [1, None], "d": True,
              "big": 2**70, "f": 0.5, "none": None}  # fmt: skip
    item = read(write(entity, {"type": "entity", "name": "m"})).entities[0]
    assert {k: item.get(k) for k in ("a", "c", "d", "big", "f", "none")} == {
        "a": '{"b": [1]}', "c": "[1, null]", "d": True, "big": str(2**70), "f": 0.5, "none": None,
    }  # fmt: skip


HOSTILE = [
    "'; MATCH (n) DETACH DELETE n //", '"}) DELETE n //', "\\", "a\nb\u2028c\r", "🧠" * 50,
    "`tick`", "x" * 10_000, "$param", "{", "entity",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_and_texts_are_data(name: str, write: Write) -> None:
    lines = [
        {"type": "entity", "name": name, "entityType": name, "observations": [name]},
        {"type": "relation", "from": name, "to": name, "relationType": name},
    ]
    document = read(write(*lines))
    assert [entity["name"] for entity in document.entities] == [name]
    assert document.facts[0]["fact"] == name
    assert all(label.isidentifier() for label in document.entities[0]["labels"])


def test_characters_no_graph_can_store_are_replaced(write: Write) -> None:
    path = write(r'{"type": "entity", "name": "a\ud83d\u0000", "summary": "\ud83d\ude00"}')
    entity = read(path).entities[0]
    assert (entity["name"], entity["summary"]) == ("a\ufffd\ufffd", "😀")


F1 = GRAPHITI["facts"][0]
WRONG: dict[str, tuple[tuple[Any, ...], str]] = {
    "empty": (("",), "memory.json is empty: it should hold a memory as JSON"),
    "blank": ((" \n ",), "memory.json is empty: it should hold a memory as JSON"),
    "not UTF-8": ((b'{"a": "\xff"}',), "memory.json is not UTF-8 text (byte 8): save it as UTF-8"),
    "UTF-16": (("{}".encode("utf-16"),), "memory.json is not UTF-8 text (byte 1)"),
    "not JSON": (("hello",), "memory.json, line 1: not JSON at column 1"),
    "broken line": (({"type": "entity", **ENTITY}, '{"type": '), "memory.json, line 2: not JSON"),
    "broken document": (('{\n"entities": [\n{]}',), "memory.json, line 3: not JSON at column 2"),
    "first line broken": (('{"type": "entity",}', "{}"), "memory.json, line 1: not JSON"),
    "NaN": (('{"type": "entity", "name": "x", "y": NaN}',), "a number that JSON cannot hold (NaN)"),
    "endless number": (('{"a": ' + "9" * 5000 + "}",), "a number that JSON cannot hold"),
    "deep": (("[" * 100_000,), "memory.json, line 1: nested too deeply to read"),
    "a number": (("42",), "memory.json, record 1: not an object but 42"),
    "a list of text": ((["x"],), 'memory.json, record 1: not an object but "x"'),
    "no records": (({"entities": [], "relations": []},), "holds no entities, facts, episodes"),
    "unknown type": (
        ({"type": "entity", **ENTITY}, {"type": "community", "name": "x", "summary": "y"}),
        'memory.json, line 2: type "community" is no entity, fact, relation, episode or mention',
    ),
    "unknown keys": (({"foo": 1},), "memory.json, record 1: this record is no entity, fact"),
    "unknown section": (
        ({"entities": [ENTITY], "communities": [{"name": "x"}]},),
        'memory.json: cannot load "communities", only entities, facts, episodes, mentions',
    ),
    "section no list": (({"entities": {"a": 1}},), "memory.json: entities must be a list"),
    "item no object": (({"entities": [3]},), "memory.json, entities record 1: not an object but 3"),
    "no name": (({"entities": [{"uuid": "x"}]},), "entities record 1: the entity has no name"),
    "blank name": (({"entities": [{"name": " "}]},), "entities record 1: the entity has no name"),
    "name no text": (({"entities": [{"name": 7}]},), "entities record 1: name is not text but 7"),
    "observations no list": (
        ({"entities": [{"name": "x", "observations": "y"}]},),
        'entities record 1: observations must be a list, not "y"',
    ),
    "observation a number": (
        ({"entities": [{"name": "x", "observations": ["y", 5]}]},),
        "entities record 1, observation 2: neither text nor an object with text and timestamp",
    ),
    "bad time": (
        ({**GRAPHITI, "facts": [F1 | {"valid_at": "last Tuesday"}]},),
        'facts record 1: valid_at "last Tuesday" is no time like 2026-01-05T09:30Z',
    ),
    "time a number": (
        ({"entities": [{"name": "x", "created_at": 1767600000}]},),
        "entities record 1: created_at 1767600000 is no time like",
    ),
    "time out of range": (
        ({"entities": [{"name": "x", "created_at": "0001-01-01T00:00:00+14:00"}]},),
        'entities record 1: created_at "0001-01-01T00:00:00+14… is no time like',
    ),
    "bad timestamp": (
        ({"entities": [{"name": "x", "observations": [{"text": "y", "timestamp": "?"}]}]},),
        'entities record 1, observation 1: timestamp "?" is no time like',
    ),
    "end unknown": (
        ({**GRAPHITI, "facts": [F1 | {"target_node_uuid": "n9"}]},),
        'facts record 1: no entity of this file is "n9"',
    ),
    "end unknown, as name": (
        ({"facts": [{"source": "a", "target": "1b671a64-40d5-491e-99b0-da01ff1f3341"}]},),
        'facts record 1: no entity of this file is "1b671a64-40d5-491e-99b0-da01ff1f3341"',
    ),
    "end missing": (({"facts": [{"source": "a"}]},), "facts record 1: target is missing"),
    "end ambiguous": (
        ({"entities": [{"uuid": u, "name": "x"} for u in "ab"], "relations": [["x", "is", "y"]]},),
        'relations record 1: 2 entities are named "x": refer to one by its uuid',
    ),
    "episodes no list": (
        ({**GRAPHITI, "facts": [F1 | {"episodes": "e1"}]},),
        'facts record 1: episodes must be a list, not "e1"',
    ),
    "episodes no text": (
        ({**GRAPHITI, "facts": [F1 | {"episodes": [1]}]},),
        "facts record 1: episodes must hold uuids as text, not [1]",
    ),
    "mentioned episode unknown": (
        ({**GRAPHITI, "mentions": [{"episode": "e9", "entity": "n1"}]},),
        'mentions record 1: no episode of this file is "e9"',
    ),
    "mentioned entity unknown": (
        ({**GRAPHITI, "mentions": [{"episode": "e1", "entity": "n9"}]},),
        'mentions record 1: no entity of this file is "n9"',
    ),
    "mention of a list": (
        ({**GRAPHITI, "mentions": [{"episode": ["e1"], "entity": "n1"}]},),
        "mentions record 1: episode_uuid is missing or not text",
    ),
    "one uuid for two": (
        ({**GRAPHITI, "facts": [F1, F1 | {"fact": "Ines left."}]},),
        'facts record 2: uuid "f1" is already used (facts record 1)',
    ),
    "one uuid for two kinds": (
        ({**GRAPHITI, "facts": [F1 | {"uuid": "n1"}]},),
        'facts record 1: uuid "n1" is already used (entities record 1)',
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_one_sentence(case: str, write: Write) -> None:
    values, sentence = WRONG[case]
    with pytest.raises(UsageError) as raised:
        read(write(*values))
    assert sentence in str(raised.value)
    assert_fits_one_line(raised.value)


@pytest.mark.parametrize("case", WRONG)
def test_the_sentence_stays_short_for_long_file_names(case: str, write: Write) -> None:
    with pytest.raises(UsageError) as raised:
        read(write(*WRONG[case][0], name=f"{'long name ' * 20}.json"))
    assert_fits_one_line(raised.value)


GRAPHITI_KEYS = {key for items in GRAPHITI.values() for item in items for key in item}
MCP_KEYS = {"nodeType", "entityType", "from", "to", "relationType", "text", "timestamp"}
LIST_KEYS = {"attributes", "labels", "observations", "metadata", *memory_file.SECTIONS}
KEYS = sorted({"type"} | GRAPHITI_KEYS | MCP_KEYS | LIST_KEYS)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from(["n1", "e1", "entity", "Edge", "2026-01-05", *memory_file.TYPES])
)  # fmt: skip
ANY_JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=25,
)
MCP_DOCUMENT: dict[str, list[dict[str, Any]]] = {
    "entities": [ENTITY, OTHER],
    "relations": [RELATION],
}


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, list[dict[str, Any]]]:
    """A good document with some values replaced by anything."""
    sound = draw(st.sampled_from([GRAPHITI, MCP_DOCUMENT]))
    document: dict[str, list[dict[str, Any]]] = deepcopy(sound)
    for _ in range(draw(st.integers(1, 2))):
        record = draw(st.sampled_from(document[draw(st.sampled_from(sorted(document)))]))
        record[draw(st.sampled_from(KEYS))] = draw(ANY_JSON)
    return document


@given(ANY_JSON | damaged())
def test_whatever_the_file_holds_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, value: Any
) -> None:
    path = tmp_path_factory.getbasetemp() / "anything.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    try:
        document = read(path)
    except UsageError as error:
        assert_fits_one_line(error)
        return
    items = (*document.entities, *document.facts, *document.episodes, *document.mentions)
    assert items
    assert all(item["group_id"] == "harbour" and item["uuid"] for item in items)
    json.dumps(items, allow_nan=False)


def assert_fits_one_line(error: UsageError) -> None:
    sentence = str(error)
    assert len(sentence) <= 130, sentence
    assert "\n" not in sentence


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 200)
    with pytest.raises(UsageError, match=r"there is no file …x+: check the path") as raised:
        read(path)
    assert_fits_one_line(raised.value)


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder: name the file in it"):
        read(tmp_path)


@pytest.mark.parametrize("name", ["nul\0byte", "x" * 5000])
def test_a_path_that_cannot_be(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read ") as raised:
        read(tmp_path / name)
    assert_fits_one_line(raised.value)


def test_a_file_too_large_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(memory_file.MAX_FILE_BYTES + 1)
    with pytest.raises(UsageError, match=r"huge\.json is larger than 512 MiB: split it"):
        read(path)


@pytest.mark.parametrize("group_id", ["", "a b", "a;b", "é", "a\n", "x" * 200 + "!"])
def test_a_group_graphiti_would_refuse(group_id: str, write: Write) -> None:
    with pytest.raises(UsageError, match="use letters, digits, _ and - only") as raised:
        read(write(GRAPHITI), group_id=group_id)
    assert_fits_one_line(raised.value)


def test_agent_memories_from_public_repositories_are_read_whole(shared_data: Path) -> None:
    folder = shared_data / "mcp_graphs"
    for line in (folder / "index.jsonl").read_text(encoding="utf-8").splitlines():
        listed = json.loads(line)
        document = read(folder / f"{listed['graph']}.graph.json")
        observed = sum(fact["name"] == "OBSERVED" for fact in document.facts)
        assert {
            "entities": len(document.entities),
            "observations": observed,
            "relations": len(document.facts) - observed,
        } == {key: listed[key] for key in ("entities", "observations", "relations")}


def test_a_real_graphiti_memory_is_read_whole(shared_data: Path, write: Write) -> None:
    kinds = ("edges", "mentions", "entities", "episodes")
    files = [shared_data / "graphiti_real" / f"july.{kind}.jsonl" for kind in kinds]
    document = read(write(b"".join(file.read_bytes() for file in files)))
    assert [
        len(items)
        for items in (document.entities, document.facts, document.episodes, document.mentions)
    ] == [393, 309, 686, 953]
    assert sum("valid_at" in fact for fact in document.facts) == 293
    assert {item["group_id"] for item in (*document.entities, *document.mentions)} == {"harbour"}
