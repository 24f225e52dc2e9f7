"""What goes wrong with a server that goes on running, and how it is mended."""

from __future__ import annotations

import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis

from synapse import errors
from synapse.store.embedded import EmbeddedServer

UNLIMITED = resource.RLIM_INFINITY


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong."""

    error: type[errors.StoreError]
    words: str
    """In the sentence that a person reads."""
    begin: Callable[[EmbeddedServer, Any], None]
    end: Callable[[EmbeddedServer, Any], None]
    """Both get the server and a client that is not affected."""


def _replicate(_: EmbeddedServer, admin: Any) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # and does not listen
        admin.execute_command("REPLICAOF", "127.0.0.1", held.getsockname()[1])


def _promote(_: EmbeddedServer, admin: Any) -> None:
    admin.execute_command("REPLICAOF", "NO", "ONE")


def _fill_memory(_: EmbeddedServer, admin: Any) -> None:
    admin.config_set("maxmemory", 1)


def _free_memory(_: EmbeddedServer, admin: Any) -> None:
    admin.config_set("maxmemory", 0)


def _fill_disk(server: EmbeddedServer, admin: Any) -> None:
    """No file of the server may grow any more; the next write finds that out."""
    files = [path for path in Path(server.folder).rglob("*") if path.is_file()]
    largest = max(path.stat().st_size for path in files if ".aof" in path.name)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (largest, UNLIMITED))
    admin.set("the drop", "x")
    assert _last_write(admin) == "err"


def _free_disk(server: EmbeddedServer, admin: Any) -> None:
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (UNLIMITED, UNLIMITED))
    for _ in range(200_000):  # the server tries again by itself, once a second
        if _last_write(admin) == "ok":
            admin.delete("the drop")
            return
    raise AssertionError("the server does not write again")


def _last_write(admin: Any) -> str:
    return str(admin.info("persistence")["aof_last_write_status"])


def _change_password(_: EmbeddedServer, admin: Any) -> None:
    admin.execute_command("ACL", "SETUSER", "default", "resetpass", ">another")
    admin.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


def _no_password(_: EmbeddedServer, admin: Any) -> None:
    admin.execute_command("ACL", "SETUSER", "default", "nopass")


def _withdraw_rights(_: EmbeddedServer, admin: Any) -> None:
    admin.execute_command("ACL", "SETUSER", "default", "-graph.query", "-eval", "-multi")


def _grant_rights(_: EmbeddedServer, admin: Any) -> None:
    admin.execute_command("ACL", "SETUSER", "default", "+@all")


FAULTS = {
    "read-only replica": Fault(errors.AccessRefused, "read-only replica", _replicate, _promote),
    "out of memory": Fault(errors.OutOfMemory, "memory limit", _fill_memory, _free_memory),
    "disk full": Fault(errors.StoreError, "cannot write to its disk", _fill_disk, _free_disk),
    "other password": Fault(
        errors.AccessRefused, "user name or password", _change_password, _no_password
    ),
    "rights withdrawn": Fault(errors.AccessRefused, "may not run", _withdraw_rights, _grant_rights),
}


@contextmanager
def administrator(server: EmbeddedServer) -> Iterator[Any]:
    """A client that keeps its connection whatever happens to the others."""
    with redis.Redis.from_url(server.uri, single_connection_client=True) as admin:
        admin.ping()
        yield admin
