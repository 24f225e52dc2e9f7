"""Processes that end, with and without their will."""

from __future__ import annotations

import os
import select
import signal

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
