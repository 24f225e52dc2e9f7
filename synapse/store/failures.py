"""What goes wrong at the database, in words for a person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import redis
from redis import exceptions as said

from synapse import errors
from synapse.store.keys import Connection, misplaced_key, unknown_graph

_FIRST_LINE_MAX = 129
_WITHOUT_GRAPH = "operation on empty key"
_PIPELINE = re.compile(r"(?s)^Command # \d+ \(.*\) of pipeline caused error: ")


def is_without_graph(error: said.ResponseError) -> bool:
    """Whether a query failed because there is no graph of that name."""
    return _WITHOUT_GRAPH in str(error)


@contextmanager
def needing(graph: str) -> Iterator[None]:
    """Name the graph where a query fails since there is none of that name.

    Raises:
        UnknownGraph: there is no such graph.
    """
    try:
        yield
    except said.ResponseError as error:
        if is_without_graph(error):
            raise unknown_graph(graph) from error
        raise


@contextmanager
def naming_misplaced(connection: Connection, graph: str) -> Iterator[None]:
    """Name the key of a room where a command finds another kind of value than it should.

    Raises:
        StoreError: some key holds another kind of value.
    """
    try:
        yield
    except said.ResponseError as error:
        if "WRONGTYPE" not in str(error):
            raise
        try:
            key = misplaced_key(connection, graph)
        except said.NoPermissionError:  # the user may not look for it
            key = None
        if key is None:
            raise
        raise errors.StoreError(
            f"key {key} holds another kind of value than it should; move that key away"
        ) from error


@contextmanager
def explained(uri: str) -> Iterator[None]:
    """Turn what the client or the server says into one of :mod:`synapse.errors`.

    Args:
        uri: where the connection leads; its user name and password are never shown.

    >>> with explained("redis://me:secret@localhost:1"):
    ...     raise redis.exceptions.BusyLoadingError
    Traceback (most recent call last):
    synapse.errors.StoreUnreachable: FalkorDB at redis://localhost:1 is still loading; try later
    """
    try:
        yield
    except (redis.RedisError, said.RedisClusterException, OSError) as error:
        raise _translated(error, _shown(uri)) from error


def _shown(uri: str) -> str:
    """The address without user name, password and options, short enough for a sentence."""
    parts = urlsplit(uri)
    place = parts.path if parts.scheme == "unix" else parts.netloc.rpartition("@")[2]
    if parts.scheme != "unix" and "@" not in parts.netloc and "@" in uri:
        place = "…"  # an unquoted password has cut the address in the wrong place
    return f"{parts.scheme}://{place if len(place) <= 40 else '…' + place[-39:]}"


def _translated(error: Exception, where: str) -> errors.SynapseError:
    """The first line of :data:`_SENTENCES` that fits, or the server's own words."""
    words = _PIPELINE.sub("", str(error)).partition("\n")[0]
    for kind, pattern, leaf, sentence in _SENTENCES:
        if isinstance(error, kind) and re.search(pattern, words):
            return leaf(sentence.format(where=where, command=_command(words)))
    if isinstance(error, said.ResponseError):
        return errors.StoreError(_line(f"FalkorDB at {where} answered: ", words))
    reason = _reason(error)
    return errors.StoreUnreachable(f"no FalkorDB answers at {where} ({reason}); check FALKORDB_URI")


_SENTENCES: tuple[tuple[type[Exception], str, type[errors.SynapseError], str], ...] = (
    (
        said.AuthenticationError,
        "",
        errors.AccessRefused,
        "FalkorDB at {where} refuses the user name or password; check FALKORDB_PASSWORD",
    ),
    (
        said.BusyLoadingError,
        "",
        errors.StoreUnreachable,
        "FalkorDB at {where} is still loading; try later",
    ),
    (
        said.NoPermissionError,
        "key",
        errors.AccessRefused,
        "the user at {where} has no right to a key it needs; grant %RW~ on the graph's keys",
    ),
    (
        said.NoPermissionError,
        "",
        errors.AccessRefused,
        "the user at {where} may not run {command}; grant it with ACL SETUSER",
    ),
    (
        said.ReadOnlyError,
        "",
        errors.AccessRefused,
        "FalkorDB at {where} is a read-only replica; connect to the primary",
    ),
    (
        said.OutOfMemoryError,
        "",
        errors.OutOfMemory,
        "FalkorDB at {where} is at its memory limit; free memory or raise maxmemory",
    ),
    (
        said.ResponseError,
        "^MISCONF",
        errors.StoreError,
        "FalkorDB at {where} cannot write to its disk and refuses to change; make room there",
    ),
    (
        said.ResponseError,
        r"(?i)max pending queries|^MASTERDOWN|^CLUSTERDOWN|link with master",
        errors.StoreUnreachable,
        "FalkorDB at {where} cannot take a query now; try later",
    ),
    (
        said.ResponseError,
        r"(?i)unknown command '?graph\.",
        errors.NotFalkorDB,
        "the server at {where} is not FalkorDB: it has no graph commands; load its module",
    ),
    (
        said.ResponseError,
        _WITHOUT_GRAPH,
        errors.UnknownGraph,
        "FalkorDB at {where} has no graph of that name; synapse status lists those it has",
    ),
    (
        said.ResponseError,
        "^WRONGTYPE",
        errors.StoreError,
        "a key at {where} holds another kind of value than it should; move that key away",
    ),
    (
        said.ResponseError,
        "^Query timed out",
        errors.StoreError,
        "FalkorDB at {where} stopped a query at its own time limit; raise that limit",
    ),
    (
        said.ConnectionError,
        "^Too many connections",
        errors.StoreUnreachable,
        "all connections to {where} are in use; raise max_connections in its address",
    ),
    (
        said.ConnectionError,
        "(?i)(hostname|ip address) mismatch",
        errors.StoreUnreachable,
        "the certificate of {where} names another host; connect by the name that it holds",
    ),
    (
        said.ConnectionError,
        "(?i)certificate verify failed",
        errors.StoreUnreachable,
        "the certificate of {where} is not trusted; add ?ssl_ca_certs=FILE to its address",
    ),
    (
        said.TimeoutError,
        "",
        errors.StoreUnreachable,
        "FalkorDB at {where} gave no answer in time; is it busy, or the network down?",
    ),
)


def _command(words: str) -> str:
    named = re.search(r"'([\w.|-]+)'", words)
    return named.group(1).upper() if named else "a command"


def _line(start: str, words: str) -> str:
    """One line of bounded length, without the words that job schedulers rewrite."""
    return (start + errors.REWRITTEN_WORDS.sub("…", words).strip())[:_FIRST_LINE_MAX]


def _reason(error: Exception) -> str:
    text = str(error).lower()
    for words in ("refused", "no such file", "name or service not known", "certificate", "closed"):
        if words in text:
            return words
    return "not reachable"
