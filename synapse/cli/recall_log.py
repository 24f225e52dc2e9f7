"""``synapse recall-log``: recalls that another system has logged."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from synapse.cli.common import (
    ConfigFile,
    GraphName,
    GroupId,
    Verbose,
    moment,
    opened_store,
    read_settings,
    wanted_run,
)
from synapse.cli.complaint import remark
from synapse.errors import PartlyApplied, QueueFull, UsageError
from synapse.hippocampus.quantity import quantity

if TYPE_CHECKING:
    from synapse.hippocampus.model import GraphSnapshot
    from synapse.hippocampus.ports import MemoryStore
    from synapse.hippocampus.recall import RecallSet


def recall_log(
    file: Annotated[str, typer.Argument(help="JSON lines, one recall set each; - for stdin.")],
    group_id: GroupId = None,
    graph: GraphName = None,
    config: ConfigFile = None,
    verbose: Verbose = False,
) -> int:
    """Take over a log of recalls; importing the same lines twice adds nothing."""
    from synapse.integrations.recall_log import read_recall_log

    now_s = moment(None)
    try:
        with _opened(file) as lines:
            recall_sets = read_recall_log(lines, now_s=now_s)
    except UnicodeDecodeError:
        raise UsageError(f"{file[-60:]} is not UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"cannot read {file[-60:]}: {error.strerror}") from None
    except UsageError as error:
        raise UsageError(f"{file[-40:]}, {error}") from None
    settings = read_settings(config)
    with opened_store(settings) as store:
        target = wanted_run(store, settings, graph, group_id, now_s=now_s).scope.graph
        unknown = _unknown(store.read_graph(target), recall_sets)
        imported_count, full = _imported(store, target, recall_sets)
    counts = {"recall_sets": len(recall_sets), "imported": imported_count}
    print(json.dumps({"graph": target, **counts, "naming_unknown": len(unknown)}))
    if unknown:
        sets = quantity(len(unknown), "recall set")
        remark(f"{sets} with memories that are not in the graph, as {unknown[0]}")
    if full and imported_count:
        taken = quantity(imported_count, "recall set")
        raise PartlyApplied(
            f"{taken} imported until the queue was full; run synapse consolidate, then import again"
        )
    if full:
        raise full
    return 0


def _imported(
    store: MemoryStore, graph: str, recall_sets: Sequence[RecallSet]
) -> tuple[int, QueueFull | None]:
    """How many were new, and why no more could be taken."""
    try:
        return store.import_recalls(graph, recall_sets), None
    except QueueFull as full:
        return full.taken_count, full


def _unknown(there: GraphSnapshot, recall_sets: Sequence[RecallSet]) -> list[str]:
    """For each recall set that names a memory that is not there, the first one."""
    known = {*there.entities.uuid, *there.facts.uuid}
    firsts = (next((u for u, _ in each.ranks if u not in known), None) for each in recall_sets)
    return [uuid for uuid in firsts if uuid is not None]


@contextmanager
def _opened(file: str) -> Iterator[TextIO]:
    if file == "-":
        yield sys.stdin
        return
    with Path(file).open(encoding="utf-8-sig") as opened:
        yield opened
