"""The summary and the sentences of failures, through the filters of a real Hermes."""

import importlib.util
import json
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synapse.cli import main
from synapse.hippocampus.report import MAX_SUMMARY_CHARACTERS, GroupsReport, summary_line
from tests.properties.test_summary_line import reports
from tests.support.host_filters import BAIT


@pytest.fixture(scope="session")
def redacted(hermes_program):
    """Hermes' own search for secrets."""
    python = hermes_program.with_name("python")
    find = "import importlib.util as u; print(u.find_spec('agent.redact').origin)"
    where = subprocess.run([python, "-c", find], capture_output=True, text=True, check=True)
    spec = importlib.util.spec_from_file_location("redact_of_hermes", where.stdout.strip())
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.redact_sensitive_text("password=geheimnis") != "password=geheimnis"
    return module.redact_sensitive_text


def check(line, redacted):
    arrived = redacted(line)
    assert len(line) <= MAX_SUMMARY_CHARACTERS
    assert json.loads(arrived).keys() == json.loads(line).keys()
    assert json.loads(arrived)["status"] == json.loads(line)["status"]


@settings(max_examples=1500)
@given(report=reports())
def test_the_summary_arrives_as_json(redacted, report):
    check(summary_line(report.as_dict()), redacted)


@settings(max_examples=300)
@given(groups=st.lists(reports(), max_size=6))
def test_the_summary_of_all_groups_arrives_as_json(redacted, groups):
    check(summary_line(GroupsReport.of(groups).as_dict()), redacted)


TELL = """
import json, sys
from cron.scheduler import _summarize_cron_failure_for_delivery as told
print(json.dumps([told({"name": "x"}, error) for error in json.load(sys.stdin)]))
"""


def test_every_failure_is_told_in_our_own_words(
    hermes_program, redacted, falkordb_uri, monkeypatch, capsys
):
    errors = []
    for name in BAIT:
        for uri in (falkordb_uri, "redis://localhost:1"):
            monkeypatch.setenv("FALKORDB_URI", uri)
            with pytest.raises(SystemExit) as ended:
                main(["consolidate", "--group-id", f"no {name}"])
            out, err = capsys.readouterr()
            assert ended.value.code in (2, 75) and len(err.splitlines()[0]) <= 130
            out, err = redacted(out.strip()), redacted(err.strip())
            errors.append(
                f"Script exited with code {ended.value.code}\nstderr:\n{err}\nstdout:\n{out}"
            )
    told = subprocess.run(
        [hermes_program.with_name("python"), "-c", TELL],
        input=json.dumps(errors), capture_output=True, text=True, check=True,
    )  # fmt: skip
    for error, line in zip(errors, json.loads(told.stdout.splitlines()[-1]), strict=True):
        assert line.startswith("⚠️ Cron 'x' failed: Script exited with code"), (error, line)
