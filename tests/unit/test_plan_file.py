"""A plan as a file: for people, and refused when it is no longer what was made."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from synapse.errors import UsageError
from synapse.hippocampus.plan_file import Ends, MemoryPlan, PlannedChange, Seen

CHANGE = PlannedChange(
    do="end",
    memory="f1",
    text='say "héllo" \u2028 🧠',
    by="f2",
    was=Ends(),
    to=Ends(invalid_at="2026-01-05T00:00:00+00:00", expired_at="2026-01-06T00:00:00+00:00"),
    reason="missed",
    evidence="…",
    before="c0ffee",
    claim={"verdict": "missed", "confidence": 0.9, "by": "f2"},
)
PLAN = MemoryPlan(
    graph="g",
    now="2026-01-06T00:00:00Z",
    config_digest="d",
    seen=Seen(entities=2, facts=3),
    changes=(CHANGE, PlannedChange(do="archive", memory="e1", kind="entity", before="d0d0")),
)


def test_comes_back_as_it_was_with_one_line_for_each_change() -> None:
    text = PLAN.dumps()
    assert MemoryPlan.loads(text) == PLAN
    lines = text.splitlines()
    assert [json.loads(line.rstrip(","))["memory"] for line in lines[2:-1]] == ["f1", "e1"]
    assert json.loads(lines[2].rstrip(","))["was"] == {"invalid_at": None, "expired_at": None}
    assert json.loads(text)["id"] == PLAN.id


@given(st.text(st.characters(), max_size=9))
@example("\udcff\udcfe no UTF-8, \ud83d half a pair")
@example("\x00\x01\x1b[31m\x7f\x85\r\n\u2028\u202e")
def test_any_text_is_written_on_one_line_and_read_again(text: str) -> None:
    changes = (CHANGE.model_copy(update={"text": text, "by_text": text, "reason": text}),)
    plan = PLAN.model_copy(update={"changes": changes})
    written = plan.dumps()
    assert MemoryPlan.loads(written.encode().decode()).dumps() == written
    assert len(written.splitlines()) == 4 and written.replace("\n", "").isprintable()


def test_the_same_content_has_the_same_name() -> None:
    assert PLAN.id == MemoryPlan.loads(PLAN.dumps()).id
    assert PLAN.id != PLAN.model_copy(update={"graph": "h"}).id


@given(st.data())
def test_whatever_is_edited_is_noticed(data: st.DataObject) -> None:
    text = PLAN.dumps()
    place = data.draw(st.integers(0, len(text) - 2))
    other = data.draw(st.characters(exclude_categories=["Cs"]))
    edited = text[:place] + other + text[place + 1 :]
    try:
        assert MemoryPlan.loads(edited) == PLAN  # white space, or an escape of the same character
    except UsageError as refusal:
        assert len(str(refusal)) < 130


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "null", "not json", '{"id": "x"}', '{"synapse_plan": 2, "id": "x"}',
        "[" * 9_999,
        PLAN.dumps().replace('"graph": "g"', '"graph": 1'),
    ],
)  # fmt: skip
def test_what_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="plan"):
        MemoryPlan.loads(text)


def test_a_memory_is_changed_once() -> None:
    twice = PLAN.model_copy(update={"changes": (CHANGE, CHANGE)})
    with pytest.raises(UsageError, match="twice"):
        MemoryPlan.loads(twice.dumps())
