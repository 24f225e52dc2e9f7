"""Processes that end, with and without their will."""

from __future__ import annotations

import os
import select
import signal

import redis

from synapse.store.embedded import EmbeddedServer


def wait_until_gone(pid: int) -> None:
    """Wait for the end of a process that need not be our child."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], 30)[0], f"process {pid} does not end"
    finally:
        os.close(handle)


def kill(server: EmbeddedServer) -> None:
    """End a server the hard way, as a crash or the kernel would; ``start()`` brings it back."""
    pid = server.pid
    os.kill(pid, signal.SIGKILL)
    wait_until_gone(pid)


def kill_once_on_disk(server: EmbeddedServer) -> None:
    """The same once nothing is on its way to the disk, which takes up to a second."""
    with redis.Redis.from_url(server.uri) as client:
        assert client.execute_command("WAITAOF", 1, 0, 30_000)[0] == 1
    kill(server)
