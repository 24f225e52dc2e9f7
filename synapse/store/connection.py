"""The connection to FalkorDB, made so that no command is ever sent twice.

The client is built from redis-py and not with ``falkordb.FalkorDB``: for a cluster that class
drops the socket limits and the TLS flag, it forces every reply through UTF-8 (Synapse keeps
packed bytes), and it cannot start for a user who may not run ``INFO``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

import redis
from redis import exceptions as said
from redis.backoff import NoBackoff
from redis.cluster import RedisCluster
from redis.retry import Retry
from redis.sentinel import Sentinel

from synapse import errors
from synapse.addresses import UNREADABLE
from synapse.store.failures import explained as explained
from synapse.store.failures import is_without_graph
from synapse.store.keys import room_key

Connection = redis.Redis
"""A client whose replies are ``bytes``. For a cluster it is a ``RedisCluster``, which answers to
the same calls but has no type in common with ``Redis``."""

OWN_PREFIX = "synapse:"
"""Graphs of this prefix are Synapse's own rooms, never a memory."""

_ALIASES = {"falkor": "redis", "falkors": "rediss"}
_SCHEMES = ("redis", "rediss", "unix")
_CONNECT_WITHIN_S = 5.0


def connect(
    uri: str, *, answer_within_s: float = 30.0, tls: Mapping[str, Any] = MappingProxyType({})
) -> Connection:
    """Open a connection and make sure that FalkorDB is at the other end.

    Args:
        uri: ``redis://``, ``rediss://`` (TLS, the host name is checked) or ``unix://``;
            ``falkor://`` and ``falkors://`` are other names of the first two. A cluster or a
            sentinel (of one primary) is recognised by itself.
        answer_within_s: how long to wait for any one answer, in seconds.
        tls: what a ``rediss://`` connection trusts and shows, as redis-py's ``ssl_…`` options;
            beats what the address says.

    Returns:
        A client whose replies are bytes. It never sends a command twice.

    Raises:
        ConfigurationError: the URI cannot be used.
        StoreUnreachable, AccessRefused, NotFalkorDB: see :func:`explained`.
    """
    uri = _normal(uri)
    with explained(uri):
        first = connection = _single(uri, answer_within_s, tls)
        try:
            connection = _topology(first, uri, answer_within_s)
            _require_graphs(connection)
        except (AttributeError, TypeError, ValueError):
            connection.close()
            raise errors.NotFalkorDB(
                "what answers there does not speak like FalkorDB, or the URI has an unknown option"
            ) from None
        except BaseException:
            connection.close()
            raise
        finally:
            if connection is not first:
                first.close()
    return connection


def list_graphs(connection: Connection) -> list[str]:
    """Names of all graphs, sorted, without Synapse's own.

    Raises:
        AccessRefused: the user may not run ``GRAPH.LIST``.
    """
    return sorted(name for name in _all_graphs(connection) if not name.startswith(OWN_PREFIX))


def list_archived(connection: Connection) -> list[str]:
    """Names of the graphs beside which there is an archive, whether or not they still exist.

    Raises:
        AccessRefused: the user may not run ``GRAPH.LIST``.
    """
    before, after = room_key("\0", "memory").split("\0")
    return sorted(
        name.removeprefix(before).removesuffix(after)
        for name in _all_graphs(connection)
        if name.startswith(before) and name.endswith(after)
    )


def _all_graphs(connection: Connection) -> set[str]:
    names: set[str] = set()
    for node in _primaries(connection):
        try:
            reply = node.execute_command("GRAPH.LIST")  # type: ignore[no-untyped-call]
        except said.NoPermissionError as error:
            raise errors.AccessRefused(
                "the database user may not run GRAPH.LIST; name one graph, or grant +graph.list"
            ) from error
        names.update(name.decode("utf-8", "replace") for name in reply)
    return names


def node_of(connection: Connection, key: str) -> Connection:
    """A client of the one server that holds a key; in a cluster that is one of many."""
    cluster: Any = connection
    if isinstance(cluster, RedisCluster):
        return cluster.get_redis_connection(cluster.get_node_from_key(key))  # type: ignore[no-untyped-call]
    return connection


def _normal(uri: str) -> str:
    scheme, colon, rest = uri.partition("://")
    scheme = _ALIASES.get(scheme.lower(), scheme.lower())
    if not colon or scheme not in _SCHEMES:
        raise errors.ConfigurationError(
            "the database URI must begin with redis://, rediss:// or unix://; check FALKORDB_URI"
        )
    return f"{scheme}://{rest}"


def _settings(answer_within_s: float) -> dict[str, Any]:
    return {
        "socket_timeout": answer_within_s,
        "socket_connect_timeout": min(answer_within_s, _CONNECT_WITHIN_S),
        # redis-py repeats a command up to ten times by default: an increment whose answer was
        # late is then applied twice.
        "retry": Retry(NoBackoff(), 0),
        # Here numbers come as numbers: turning the text of an embedding into its numbers takes
        # longer than everything else about its memory.
        "protocol": 3,
        "decode_responses": False,
    }


def _single(
    uri: str, answer_within_s: float, tls: Mapping[str, Any] = MappingProxyType({})
) -> redis.Redis:
    try:
        pool = redis.ConnectionPool.from_url(uri)
    except (ValueError, TypeError):
        # Without the cause, which may show a piece of the password.
        raise errors.ConfigurationError(UNREADABLE) from None
    # from_url lets options in the URI win; these are not theirs to change.
    pool.connection_kwargs.update(_settings(answer_within_s))
    if uri.startswith("rediss:"):
        pool.connection_kwargs.update({"ssl_check_hostname": True, **tls})
    return redis.Redis.from_pool(pool)


def _topology(first: redis.Redis, uri: str, answer_within_s: float) -> Connection:
    """The client that fits the kind of server that ``first`` has reached."""
    try:
        mode = first.info("server").get("redis_mode")
    except said.NoPermissionError:
        return first
    known = first.connection_pool.connection_kwargs
    if mode not in ("cluster", "sentinel") or "host" not in known:
        return first
    shared = {
        name: value
        for name, value in known.items()
        if name in ("username", "password") or name.startswith("ssl_")
    }
    shared |= {**_settings(answer_within_s), "ssl": uri.startswith("rediss:")}
    start = (known["host"], known.get("port", 6379))
    if mode == "cluster":
        # One node down must not keep us from the graphs of the others.
        return cast(Connection, RedisCluster(*start, require_full_coverage=False, **shared))
    primaries = list(first.sentinel_masters())
    if len(primaries) != 1:
        raise errors.ConfigurationError(
            f"the sentinel watches {len(primaries)} primaries; connect to the one you mean"
        )
    sentinel = Sentinel([start], sentinel_kwargs=shared, **shared)  # type: ignore[no-untyped-call]
    return cast(Connection, sentinel.master_for(primaries[0]))  # type: ignore[no-untyped-call]


def _require_graphs(connection: Connection) -> None:
    """Fail unless the server knows the commands of FalkorDB."""
    try:
        connection.execute_command(  # type: ignore[no-untyped-call]
            "GRAPH.RO_QUERY", f"{OWN_PREFIX}none", "RETURN 1"
        )
    except said.NoPermissionError:
        return  # an unknown command is refused before rights are looked at: this one is known
    except said.ResponseError as error:
        if not is_without_graph(error):
            raise
    else:
        raise errors.NotFalkorDB("the server there does not answer like FalkorDB; check the port")


def _primaries(connection: Connection) -> list[redis.Redis]:
    cluster: Any = connection
    if isinstance(cluster, RedisCluster):
        return [cluster.get_redis_connection(node) for node in cluster.get_primaries()]  # type: ignore[no-untyped-call]
    return [connection]
