"""The line on stdout stays one line of valid JSON, whatever a graph is called and holds."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from synapse.errors import REWRITTEN_WORDS
from synapse.hippocampus.json_line import json_line
from synapse.hippocampus.report import (
    MAX_SUMMARY_CHARACTERS,
    ConsolidationReport,
    Contradictions,
    GroupsReport,
    Pruning,
    Schemas,
    shortened,
    summary_line,
)
from tests.support.host_filters import baited, filtered

hostile = (
    baited
    | st.text(st.characters(exclude_categories=()), max_size=400)
    | st.sampled_from(
        ["\x00" * 300, "🧠" * 300, '"' * 300, "\\" * 300, "\ud800" * 90, "\u2028\n\r" * 90]
    )
)


@st.composite
def reports(draw):
    text = draw(hostile)
    return ConsolidationReport(
        run_id="r",
        graph=text,
        group_id=draw(hostile),
        now="2026-01-01T00:00:00Z",
        config_digest="0" * 12,
        status=draw(st.sampled_from(["ok", "failed", "lock_busy"])),
        error=draw(st.none() | hostile),
        contradictions=Contradictions(
            top=[{"fact": shortened(text, 64), "by": shortened(text, 64)}] * 5
        ),
        schemas=Schemas(top=[{"id": "0" * 12, "name": shortened(text, 60), "members": 3}] * 5),
        pruning=Pruning(threshold=0.05, top=[{"uuid": shortened(text, 64)}] * 5),
        warnings=[text] * draw(st.integers(0, 40)),
        reason_for_zero={"contradictions": "nothing " * 10},
    )


def check(line: str):
    assert len(line) < MAX_SUMMARY_CHARACTERS + 1
    assert line.isascii() and len(line.splitlines()) == 1
    whole = json.loads(line)
    arrived = json.loads(filtered(line))
    assert arrived.keys() == whole.keys() and arrived["status"] == whole["status"]
    return whole


@given(reports())
def test_one_graph(report):
    whole = check(summary_line(report.as_dict()))
    assert whole["schema_version"] == 1 and whole["status"] == report.status
    assert ("error" in whole) == (report.error is not None)


@given(st.lists(reports(), max_size=12))
def test_several_graphs(groups):
    whole = check(summary_line(GroupsReport(status="ok", groups=groups).as_dict()))
    assert whole["totals"]["groups"] == len(groups)
    left_out = whole.get("left_out", {"groups": 0})["groups"]
    assert left_out + len(whole["groups"]) == len(groups)


@given(hostile)
def test_the_line_says_what_json_says(text):
    assert json.loads(json_line([text, {text: 1.5}])) == json.loads(json.dumps([text, {text: 1.5}]))


@given(baited, baited)
def test_a_failure_is_free_of_the_words_that_hosts_rewrite(graph, error):
    report = ConsolidationReport(
        run_id="4290d401", graph=graph, group_id=None, now="2026-01-01T00:00:00Z",
        config_digest="0429abc", status="failed", error=error,
    )  # fmt: skip
    # A few letters have such a number as their own, and ASCII JSON no other way to write them.
    line = re.sub(r"\\u(?:.429|429.)", "", summary_line(report.as_dict()))
    assert not REWRITTEN_WORDS.search(line)


@given(hostile, st.integers(2, 200))
def test_shortened_never_outgrows_its_limit_as_json(text, limit):
    assert len(json.dumps(shortened(text, limit))) - 2 <= limit + 5
