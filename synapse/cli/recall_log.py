"""``synapse recall-log``: recalls that another system has logged."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TextIO

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
from synapse.errors import UsageError


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
        imported_count = store.import_recalls(target, recall_sets)
    print(
        json.dumps({"graph": target, "recall_sets": len(recall_sets), "imported": imported_count})
    )
    return 0


@contextmanager
def _opened(file: str) -> Iterator[TextIO]:
    if file == "-":
        yield sys.stdin
        return
    with Path(file).open(encoding="utf-8-sig") as opened:
        yield opened
