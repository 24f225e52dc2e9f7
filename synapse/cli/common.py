"""What the commands share: options, settings, the store, and the runs that the options mean."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from synapse.errors import AccessRefused, LockBusy, UsageError, shown

if TYPE_CHECKING:
    from synapse.hippocampus.ports import MemoryStore
    from synapse.hippocampus.run import Run
    from synapse.hippocampus.scope import Scope
    from synapse.hippocampus.stages import Thoughts
    from synapse.settings import Settings
    from synapse.store.falkordb import FalkorStore

GroupId = Annotated[
    str | None,
    typer.Option("--group-id", metavar="G", help="Graphiti group: the graph of that name."),
]
GraphName = Annotated[
    str | None, typer.Option("--graph", metavar="NAME", help="FalkorDB graph to read.")
]
Now = Annotated[str | None, typer.Option(metavar="ISO", help="Take this as the present moment.")]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", metavar="F", help="Configuration file (synapse.toml).")
]
MaxChanges = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Let this run change so many memories, not the caps."),
]
LockWait = Annotated[
    float,
    typer.Option(min=0.0, metavar="S", help="Wait so many seconds for a run at work to end."),
]
LOCK_WAIT_S = 5.0
"""How long the batch waits: a belief holds the lock for milliseconds, another run for seconds."""
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Tell more on stderr.")]


def discard_output() -> None:
    """Let go of a standard output whose reader has left, so that nothing fails on it later."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def read_settings(config: Path | None) -> Settings:
    """Settings from the environment and the configuration file."""
    from synapse.settings import load_settings

    return load_settings(config)


def present() -> datetime:
    """The present second."""
    return datetime.now(UTC).replace(microsecond=0)


def moment(now: str | None) -> float:
    """``--now`` in seconds since 1970; a naive time is UTC."""
    if now is None:
        return present().timestamp()
    try:
        named = datetime.fromisoformat(now)
        named_utc = (named if named.tzinfo else named.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(
            f"--now {shown(now)} is not an ISO 8601 time; write it like 2026-01-10T06:00:00Z"
        ) from None
    return named_utc.timestamp()


def is_typed() -> bool:
    """Whether a person has typed the command: a schedule has no terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


@contextmanager
def opened_store(settings: Settings, *, may_create: bool = False) -> Iterator[FalkorStore]:
    """The store, closed afterwards; most commands want one that holds a memory already."""
    from synapse.store import open_store

    store = open_store(settings.connection.address(), may_create=may_create)
    try:
        with redirect_stdout(sys.stderr):  # a library's print must not break the JSON line
            yield store
    finally:
        store.close()


def wanted_runs(
    store: MemoryStore,
    settings: Settings,
    all_groups: bool,
    graph: str | None,
    group_id: str | None,
    *,
    also_gone: bool = False,
    **what: Any,
) -> list[Run]:
    """One run for each graph that the options name; where asked for, also one that is gone."""
    from synapse.hippocampus.run import Run
    from synapse.hippocampus.scope import Scope

    if all_groups:
        scopes = [Scope(name) for name in store.graphs()]
    else:
        default = settings.connection.database
        scopes = [_scope(store, graph, group_id, default, also_gone=also_gone)]
    at_s = present().timestamp()
    return [Run(scope, run_id=uuid4().hex, at_s=at_s, **what) for scope in scopes]


def free_graph(store: MemoryStore, graph: str, lock_wait_s: float) -> None:
    """Wait at most so long for another run to end.

    Raises:
        LockBusy: it works on the graph still.
    """
    if not store.await_lock(graph, lock_wait_s):
        raise LockBusy(f"another run works on graph {shown(graph)}; try again, or add --lock-wait")


def wanted_run(
    store: MemoryStore, settings: Settings, graph: str | None, group_id: str | None, **what: Any
) -> Run:
    """The run for the one graph that the options name."""
    return wanted_runs(store, settings, False, graph, group_id, **what)[0]


def wanted_graph(
    store: MemoryStore, settings: Settings, graph: str | None, group_id: str | None
) -> str:
    """The graph that the options name, or that holds the group they name."""
    from synapse.hippocampus.scope import require_group

    scope = _scope(store, graph, group_id, settings.connection.database)
    if not scope.whole_graph:
        require_group(scope, store.read_graph(scope.graph).group_ids())
    return scope.graph


def archive_scope(
    store: MemoryStore, settings: Settings, graph: str | None, group_id: str | None
) -> Scope:
    """The graph that the options name, also one that is gone and whose archive is left."""
    return _scope(store, graph, group_id, settings.connection.database, also_gone=True)


def recollected(
    config: Path | None, graph: str | None, group_id: str | None, now: str | None
) -> Thoughts:
    """Thoughts about the one graph that the options name; nothing is written."""
    from synapse.hippocampus.recollector import Recollector

    settings = read_settings(config)
    with opened_store(settings) as store:
        run = wanted_run(store, settings, graph, group_id, now_s=moment(now))
        return Recollector(store, settings.hippocampus).recollect(run.scope, run.now_s)


def _scope(
    store: MemoryStore,
    graph: str | None,
    group_id: str | None,
    default: str,
    *,
    also_gone: bool = False,
) -> Scope:
    from synapse.hippocampus.scope import Scope, choose_scope

    try:
        graphs = store.graphs()
        if also_gone:
            graphs = sorted({*graphs, *store.archived_graphs()})
    except AccessRefused:  # a user with few rights names the graph, and reading it will tell
        if graph is not None:
            return Scope(graph, group_id, whole_graph=group_id is None)
        return Scope(default if group_id is None else group_id, group_id)
    return choose_scope(graphs, graph=graph, group_id=group_id, default_graph=default)
