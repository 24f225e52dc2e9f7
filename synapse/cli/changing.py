"""What the commands that change a graph share: one graph, opened, and a run to change it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from synapse.cli.common import free_graph, moment, opened_store, read_settings, wanted_run

if TYPE_CHECKING:
    from synapse.hippocampus.applier import Job
    from synapse.hippocampus.changes import GraphChanges
    from synapse.hippocampus.run import Run
    from synapse.settings import Settings
    from synapse.store.falkordb import FalkorStore


@dataclass(frozen=True)
class Opened:
    """A graph that is open, and the run that is to change it."""

    store: FalkorStore
    settings: Settings
    run: Run
    changes: GraphChanges
    lock_token: str

    def job(self, command: str, **more: Any) -> Job:
        """What the run does."""
        from synapse.hippocampus.applier import Job

        run = self.run
        return Job(run.run_id, command, run.now_s, at_s=run.at_s, dry_run=run.dry_run, **more)


@contextmanager
def changing(
    config: Path | None,
    graph: str | None,
    group_id: str | None,
    now: str | None,
    *,
    lock_wait_s: float,
    dry_run: bool,
    **what: Any,
) -> Iterator[Opened]:
    """Open the graph that the options name; where it is to be written, once no run works on it."""
    from synapse.hippocampus.changes import GraphChanges

    settings = read_settings(config)
    with opened_store(settings) as store:
        run = wanted_run(
            store, settings, graph, group_id, now_s=moment(now), dry_run=dry_run, **what
        )
        if not dry_run:
            free_graph(store, run.scope.graph, lock_wait_s)
        changes = GraphChanges(store, run.scope, settings.hippocampus)
        yield Opened(store, settings, run, changes, uuid4().hex)
