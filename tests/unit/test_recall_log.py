"""Logs of recalls that other systems have written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from synapse.errors import UsageError
from synapse.hippocampus.recall import RecallSet
from synapse.integrations.recall_log import read_recall_log

NOW_S = 1_768_000_000.0
GOOD = '{"uuids": ["a"], "at": "2026-01-05T08:00:00Z"}'


def one(**record: Any) -> RecallSet:
    (recall_set,) = read_recall_log([json.dumps(record)], now_s=NOW_S)
    return recall_set


def test_the_order_of_uuids_is_their_rank() -> None:
    found = one(uuids=["b", "a"], at="2026-01-05T08:00:00Z", source="search", asked=False)
    assert found == RecallSet((("b", 1), ("a", 2)), "search", 1767600000.0, asked=False)


def test_what_a_line_need_not_say() -> None:
    assert one(ranks={"b": 7}, at=5) == RecallSet((("b", 7),), "log", 5.0, asked=True)


@pytest.mark.parametrize(
    "at", ["2026-01-05T08:00:00", "2026-01-05T09:00:00+01:00", 1767600000, 1767600000.0]
)
def test_times_may_be_stamps_or_seconds(at: object) -> None:
    assert one(uuids=["a"], at=at).at_s == 1767600000.0


def test_a_log_is_put_in_order_of_time() -> None:
    lines = [json.dumps({"uuids": ["a"], "at": at}) for at in (3, 1, 2)]
    assert [r.at_s for r in read_recall_log(lines, now_s=NOW_S)] == [1.0, 2.0, 3.0]


def test_a_search_that_found_nothing_is_a_line_like_any_other() -> None:
    assert one(uuids=[], at=1).ranks == ()


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a JSON object"),
        ('{"uuids": ["a"]}', "is no time"),
        ('{"uuids": ["a"], "at": "soon"}', "is no time"),
        ('{"uuids": ["a"], "at": true}', "is no time"),
        ('{"uuids": ["a"], "at": NaN}', "seconds since 1970"),
        ('{"uuids": ["a"], "at": -5}', "seconds since 1970"),
        ('{"uuids": ["a"], "at": 1768000000000}', "lies in the future"),
        ('{"uuids": ["a"], "at": 1' + "0" * 400 + "}", "lies in the future"),
        ('{"uuids": ["a"], "at": "2026-02-05T08:00:00Z"}', "lies in the future"),
        ('{"at": 5}', "uuids"),
        ('{"uuids": "a", "at": 5}', "uuids"),
        ('{"uuids": ["a"], "ranks": {"a": 1}, "at": 5}', "either"),
        ('{"uuids": [7], "at": 5}', "uuid"),
        ('{"uuids": [""], "at": 5}', "uuid"),
        ('{"ranks": {"a": 0}, "at": 5}', "ranks its memories from 1"),
        ('{"ranks": {"a": "1"}, "at": 5}', "ranks its memories from 1 to 1000000, not '1'"),
        ('{"ranks": {"a": 1000001}, "at": 5}', "from 1 to 1000000, not 1000001"),
        ('{"ranks": {"a": null}, "at": 5}', "from 1 to 1000000, not null"),
        ('{"ranks": {"a": 1, "a": 5}, "at": 5}', "'a' stands twice"),
        ('{"uuids": ["a"], "at": 5, "at": 6}', "'at' stands twice"),
        ('{"uuids": ["a"], "at": null}', "at null is no time"),
        ('{"uuids": ["a"], "at": 5, "source": ""}', "source"),
        ('{"uuids": ["a"], "at": 5, "source": null}', "source"),
        ('{"uuids": ["a"], "at": 5, "asked": 1}', "asked"),
        ('{"uuids": ["a"], "at": 5, "askd": false}', "unknown key 'askd'"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(line: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint) as refusal:
        read_recall_log([GOOD, "", line, GOOD], now_s=NOW_S)
    assert str(refusal.value).startswith("line 3: ")
    assert len(str(refusal.value)) < 130
