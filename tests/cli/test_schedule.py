"""What ``synapse schedule print`` prints is understood by the programs it is for, and runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.addresses import public_address
from synapse.errors import ConfigurationError, UsageError
from synapse.integrations.schedules import Batch, Occasion
from tests.cli.conftest import run_program
from tests.conftest import REPOSITORY

AWKWARD = 'it\'s 100% of "Zürich" $HOME $(date) \\ 记忆 \\% ; # `x`'
printable = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1)
needs = {
    name: pytest.mark.skipif(shutil.which(name) is None, reason=f"there is no {name} here")
    for name in ("systemd-analyze", "crontab", "kubectl")
}


def printed(
    *arguments: str, folder: Path = REPOSITORY, code: int = 0, uri: str = "", **variables: str
) -> str:
    ended = run_program(
        ["-m", "synapse", "schedule", "print", *arguments], uri, folder,
        PYTHONPATH=str(REPOSITORY), **variables,
    )  # fmt: skip
    assert ended.code == code, ended.err
    return ended.err if code else ended.out


def job_line(crontab: str) -> tuple[str, str]:
    """Fields and command of the only job, as cron reads them."""
    (line,) = [one for one in crontab.splitlines() if re.match(r"[\d*]", one)]
    fields, command = line.split(" ", 5)[:5], line.split(" ", 5)[5]
    assert not re.search(r"(?<!\\)%", command), "cron ends a command at a bare %"
    return " ".join(fields), command.replace(r"\%", "%")


def run_by_cron(crontab: str, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the job as cron does: /bin/sh, a bare environment, the home as working directory."""
    named = dict(re.findall(r"^(\w+)=(.*)$", crontab, re.MULTILINE))
    bare = {"HOME": str(home), "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin", "LOGNAME": "me"}
    _, command = job_line(crontab)
    return subprocess.run(
        ["/bin/sh", "-c", command], env={**bare, **named, **variables}, cwd=home,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize("folder", ["plain", "mit Leerzeichen & Ümläut's"])
def test_cron_runs_the_job_from_a_bare_environment(demo, falkordb_uri, tmp_path, folder):
    home = tmp_path / folder
    home.mkdir()
    (home / "synapse.toml").write_text("[forgetting]\nbase_half_life_days = 9\n")
    crontab = printed("--cron", "--group-id", demo, "--schemas", "--prune", folder=home)
    assert f"--config {shlex.quote(str(home / 'synapse.toml'))}" in crontab
    variables = {"FALKORDB_URI": falkordb_uri, "PYTHONPATH": str(REPOSITORY)}
    for run in (1, 2):
        ended = run_by_cron(crontab, home, **variables)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", ""), "cron would mail it"
        lines = (home / "synapse.jsonl").read_text().splitlines()
        assert len(lines) == run
    summary = json.loads(lines[0])
    assert summary["graph"] == demo and summary["schemas"]["count"] and "pruning" in summary
    variables["FALKORDB_URI"] = "redis://localhost:1"
    ended = run_by_cron(crontab, home, **variables)
    assert ended.returncode == 75 and ended.stderr.startswith("no FalkorDB answers at")


def test_cron_finds_the_server_that_is_set_here(demo, falkordb_uri, tmp_path):
    crontab = printed("--cron", folder=tmp_path, uri=falkordb_uri, FALKORDB_DATABASE=demo)
    ended = run_by_cron(crontab, tmp_path, PYTHONPATH=str(REPOSITORY))
    assert ended.returncode == 0, ended.stderr
    assert json.loads((tmp_path / "synapse.jsonl").read_text())["graph"] == demo


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("rediss://me:s%25cret@db.example:1/0", "rediss://me:PASSWORD@db.example:1/0"),
        ("redis://:s%25cret@db.example", "redis://:PASSWORD@db.example"),
        (
            "redis://db.example?password=s%25cret&x=1",
            "redis://db.example?password=PASSWORD&OPTIONS",
        ),
        ("redis://me:s%25cret/@db.example", "redis://PASSWORD"),
        ("", "redis://me:PASSWORD@db.example:6379"),
    ],
)
@pytest.mark.parametrize("kind", ["--cron", "--systemd", "--kubernetes"])
def test_the_password_is_not_printed_and_where_to_write_it_is(tmp_path, kind, uri, shown):
    parts = {"HOST": "db.example", "USERNAME": "me", "PASSWORD": "s%cret"}
    variables = {} if uri else {f"FALKORDB_{name}": value for name, value in parts.items()}
    text = printed(
        kind, folder=tmp_path, uri=uri, SYNAPSE_PRUNING__THRESHOLD="0.1234567", **variables
    )
    assert f"FALKORDB_URI={shown}" in text
    assert "cret" not in text.replace("secret", "") and "0.1234567" not in text
    (place,) = re.findall(r"# In (.*), write the password for PASSWORD", text)
    assert f"SYNAPSE_PRUNING__THRESHOLD; write what matters into {place}." in text
    assert not re.search(r"^Environment=.*PASSWORD", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("redis://s3cret@h", "redis://PASSWORD@h"),
        ("redis://u%3As3cret@h", "redis://PASSWORD@h"),
        ("redis://s3cret:@h", "redis://PASSWORD@h"),
        ("redis://u%3As3cret:pw@h", "redis://PASSWORD@h"),
        ("redis://h?p%61ssword=s3cret", "redis://h?OPTIONS"),
        ("redis://h?Password=s3cret", "redis://h?OPTIONS"),
        ("redis://h?db=0;password=s3cret", "redis://h?OPTIONS"),
        ("redis://h?x=s3cret&y=s3cret&db=1", "redis://h?OPTIONS&db=1"),
        ("redis://h/s3cret", "redis://h?OPTIONS"),
        ("redis://h:s3cret", "redis://PASSWORD"),
        ("redis://h/0#s3cret", "redis://h/0"),
        ("redis:u:s3cret@h", None),
        ("http://u:s3cret@h", None),
        ("u:s3cret@h", None),
        ("redis://u:s3[cr]et@h", None),
        ("redis://u:s3cret@[::1", None),
        ("REDIS://u:s3cret@[::1]:1", "redis://u:PASSWORD@[::1]:1"),
        ("redis://u:s3cret@h1,u:s3cret@h2", "redis://u:PASSWORD@h2"),
        ("unix://u:s3cret@/run/x.sock?db=0&y=s3cret", "unix://u:PASSWORD@/run/x.sock?db=0&OPTIONS"),
        ("redis://:s3cret@", "redis://:PASSWORD@"),
    ],
)
def test_an_odd_address_shows_no_secret(uri, shown):
    if shown is not None:
        assert public_address(uri) == shown
        return
    with pytest.raises(ConfigurationError, match=r"^the database URI .*FALKORDB_URI$") as refused:
        public_address(uri)
    assert "s3" not in str(refused.value) and refused.value.__cause__ is None


@pytest.mark.parametrize("kind", ["--cron", "--systemd", "--kubernetes"])
def test_what_an_odd_address_needs_is_said(tmp_path, kind):
    text = printed(kind, folder=tmp_path, uri="redis://s3cret@h?x=s3cret")
    assert "FALKORDB_URI=redis://PASSWORD@h?OPTIONS" in text and "s3cret" not in text
    for placeholder in ("PASSWORD", "OPTIONS"):
        assert re.search(rf"^# In .*, write .*for {placeholder}", text, re.MULTILINE)
    assert not re.search(r"^Environment=FALKORDB", text, re.MULTILINE)
    refusal = printed(kind, folder=tmp_path, uri="redis://u:p[w]x@h", code=2)
    assert refusal.startswith("the database URI cannot be read") and refusal.count("\n") == 1


odd = st.text(st.sampled_from("s3cret:@/?#[]%&;=.,ü \\"), max_size=12)


@given(odd, odd, odd, odd)
def test_no_address_shows_a_secret(first, second, third, fourth):
    secret = "hushhush"
    for address in (
        f"redis://{first}:{secret}{second}@{third}?{fourth}",
        f"redis://{secret}{first.replace(':', '')}@{second}/{third}",
        f"redis://h?{first}={secret}{second}&{third}",
    ):
        with suppress(ConfigurationError):
            assert secret not in public_address(address), address


def test_a_file_that_is_taken_along_names_the_server(tmp_path):
    (tmp_path / "synapse.toml").write_text('[falkordb]\nuri = "redis://:s3cret@db.example"\n')
    crontab = printed("--cron", folder=tmp_path)
    assert "FALKORDB_URI" not in crontab and "s3cret" not in crontab
    other = printed("--cron", folder=tmp_path, SYNAPSE_CONFIG=str(tmp_path / "synapse.toml"))
    assert f"--config {tmp_path / 'synapse.toml'}" in other


@pytest.mark.parametrize(
    "uri", ["", "redis://127.0.0.1:1", "redis://:pw@localhost", "unix:///run/x", "embedded:/data"]
)
def test_a_container_is_not_told_an_address_that_means_itself(tmp_path, uri):
    text = printed("--kubernetes", folder=tmp_path, uri=uri)
    assert "FALKORDB_URI=redis://…" in text and "PASSWORD" not in text


@given(printable)
def test_cron_hands_every_argument_on_as_it_is(word):
    tell = "import json,sys;print(json.dumps(sys.argv[1:]))"
    _, command = job_line(Batch("python", [word], 60).as_crontab(Occasion()))
    command = command.replace("python -P -m synapse consolidate", f"{sys.executable} -c '{tell}'")
    command = command.removesuffix(' >> "$HOME/synapse.jsonl"')
    done = subprocess.run(["/bin/sh", "-c", os.fsencode(command)], capture_output=True, check=True)
    assert json.loads(done.stdout) == [word]


@pytest.mark.parametrize(
    ("when", "fields", "moments"),
    [
        (Occasion.daily("18:00"), "0 18 * * *", "18:00:00"),
        (Occasion.daily("7:05"), "5 7 * * *", "07:05:00"),
        (Occasion.every("24h"), "0 0 * * *", "00:00:00"),
        (Occasion.every("6h"), "0 */6 * * *", "00/6:00:00"),
        (Occasion.every("1h"), "0 * * * *", "00/1:00:00"),
        (Occasion.every("60m"), "0 * * * *", "00/1:00:00"),
        (Occasion.every("20m"), "*/20 * * * *", "*:00/20:00"),
        (Occasion.every("1m"), "*/1 * * * *", "*:00/1:00"),
    ],
)
def test_moments_that_are_the_same_every_day(when, fields, moments):
    assert when.as_cron() == fields
    assert when.as_timer() == f"OnCalendar=*-*-* {moments}\nPersistent=true"


@pytest.mark.parametrize("span", ["90m", "5h", "7m", "25h", "48h"])
def test_what_cron_cannot_say_is_refused_and_systemd_counts(span):
    when = Occasion.every(span)
    with pytest.raises(UsageError, match="cron cannot say every"):
        when.as_cron()
    assert f"OnUnitActiveSec={when.every_minutes}min" in when.as_timer()


@pytest.mark.parametrize("span", ["", "0h", "6", "6d", "-6h", "1.5h", "9999h", "６h "])
def test_a_span_that_is_none_is_refused(span):
    with pytest.raises(UsageError, match="--every"):
        Occasion.every(span)


@pytest.mark.parametrize("moment", ["", "24:00", "18:60", "18", "6pm", "18:00:00"])
def test_a_moment_that_is_none_is_refused(moment):
    with pytest.raises(UsageError, match="--at"):
        Occasion.daily(moment)


def units(folder: Path, text: str) -> list[str]:
    """The files, as a person cuts them out."""
    folder.mkdir(exist_ok=True)
    names = []
    for part in re.split(r"\n(?=# synapse-consolidate\.)", text):
        names.append(str(folder / re.match(r"# (\S+):", part)[1]))
        Path(names[-1]).write_text(part)
    assert [Path(name).suffix for name in names] == [".service", ".timer"]
    return names


@needs["systemd-analyze"]
@pytest.mark.parametrize("when", [["--at", "18:00"], ["--every", "90m"], []])
def test_systemd_takes_the_units(tmp_path, when):
    text = printed(
        "--systemd", "--group-id", AWKWARD, "--ping", "https://hc.example/a%20b$c", *when
    )
    command = ["systemd-analyze", "verify", "--user", *units(tmp_path / "units", text)]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    ours = [x for x in (done.stdout + done.stderr).splitlines() if "synapse-consolidate" in x]
    assert done.returncode == 0 and ours == [], done.stderr
    for moment in re.findall(r"OnCalendar=(.*)", text):
        subprocess.run(["systemd-analyze", "calendar", moment], check=True, capture_output=True)


@given(st.lists(printable, max_size=3))
def test_systemd_hands_every_argument_on_as_it_is(words):
    service = Batch("/my python", words, 60).as_units(Occasion())["synapse-consolidate.service"]
    start = re.search(r"^ExecStart=(.*)$", service, re.MULTILINE)[1]
    for doubled in ("%", "$"):
        assert start.count(doubled * 2) * 2 == start.count(doubled)
        start = start.replace(doubled * 2, doubled)
    assert shlex.split(start)[5:] == words


@needs["crontab"]
def test_crontab_takes_the_lines(tmp_path):
    file = tmp_path / "crontab"
    file.write_text(printed("--cron", "--group-id", AWKWARD, "--ping", "https://hc.example/a%20b"))
    done = subprocess.run(["crontab", "-T", file], capture_output=True, text=True)
    assert done.returncode == 0 or "invalid option" in done.stderr, done.stderr


def keys(value: Any) -> Counter[str]:
    """How often each key occurs in a document."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = Counter(value) if isinstance(value, dict) else Counter()
    return sum(map(keys, inside), Counter(dict.fromkeys(own, 1)))


@needs["kubectl"]
def test_kubernetes_knows_every_field(tmp_path):
    """kubectl reads the file into its own types: a field it does not know does not come back."""
    text = printed(
        "--kubernetes", "--group-id", AWKWARD, "--at", "18:00", "--ping", "https://x.y/z"
    )
    file = tmp_path / "job.yaml"
    file.write_text(text)
    command = ["kubectl", "annotate", "--local", "-f", file, "-o", "json", "a=b"]
    known = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    written = Counter(re.findall(r"^ *(?:- )?(\w+):(?= |$)", text, re.MULTILINE))
    assert written and written <= keys(known), written - keys(known)
    assert known["spec"]["schedule"] == "0 18 * * *"
    (container,) = known["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["command"][3].replace("$$", "$") == AWKWARD
    assert container["env"] == [{"name": "SYNAPSE_HEALTH_CHECK_URL", "value": "https://x.y/z"}]


def test_the_interval_is_a_setting(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNAPSE_CONSOLIDATION_INTERVAL_HOURS", "4")
    assert job_line(printed("--cron", folder=tmp_path))[0] == "0 */4 * * *"
    monkeypatch.setenv("SYNAPSE_CONSOLIDATION_INTERVAL_HOURS", "1.5")
    assert "OnUnitActiveSec=90min" in printed("--systemd", folder=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "one of --cron"),
        (["--cron", "--systemd"], "one of --cron"),
        (["--cron", "--at", "18:00", "--every", "6h"], "excludes"),
        (["--cron", "--every", "90m"], "cron cannot say"),
        (["--kubernetes", "--config", "x.toml"], "inside a container"),
        (["--cron", "--group-id", "a\nb"], "line break"),
        (["--cron", "--ping", "https://x\n* * * * * evil"], "no spaces"),
        (["--cron", "--ping", "ftp://x"], "https://"),
        (["--cron", "--ping", "https://me:pw@x"], "no user name"),
        (["--cron", "--ping", "https://x:99999999"], "port"),
        (["--cron", "--ping", ""], "https://"),
        (["--cron", "--at", ""], "--at"),
        (["--cron", "--every", ""], "--every"),
        (["--cron", "--max-seconds", "99999999999"], "--max-seconds"),
        (["--cron", "--all-groups", "--graph", "x"], "excludes"),
    ],
)
def test_what_cannot_be_scheduled_is_refused(tmp_path, arguments, says):
    (tmp_path / "x.toml").write_text("")
    assert says in printed(*arguments, folder=tmp_path, code=2)
