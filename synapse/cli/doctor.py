"""``synapse doctor``: whether the server, the graphs and the rooms beside them are sound."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from synapse.cli.common import (
    AsJson,
    ConfigFile,
    GraphName,
    GroupId,
    Verbose,
    opened_store,
    present,
    read_settings,
    wanted_graph,
)
from synapse.errors import StoreError, StoreUnreachable, SynapseError, UnknownGraph

if TYPE_CHECKING:
    from synapse.hippocampus.diagnosis import Finding
    from synapse.settings import Settings
    from synapse.store.falkordb import FalkorStore


def doctor(
    group_id: GroupId = None,
    graph: GraphName = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> int:
    """Check the server, every graph and what Synapse keeps; no graph is written."""
    findings, least = _examined(read_settings(config), graph, group_id)
    has_problem = any(finding.level == "problem" for finding in findings)
    if as_json:
        print(json.dumps(_as_dict(findings, has_problem, least)))
    else:
        print(_as_text(findings, least))
    return 1 if has_problem else 0


def _examined(
    settings: Settings, graph: str | None, group_id: str | None
) -> tuple[list[Finding], str | None]:
    """What was found, and the rights that are enough where the server could be asked."""
    from synapse.hippocampus.diagnosis import Finding
    from synapse.store.rights import least_rights

    findings: list[Finding] = []
    try:
        with opened_store(settings) as store:
            if group_id is not None:
                graph = wanted_graph(store, settings, graph, group_id)
            findings += _all_findings(store, graph, settings.connection.database)
    except StoreError as error:
        return [*findings, Finding("connection", "problem", str(error))], None
    return findings, least_rights("GRAPH" if graph is None else graph)


def _all_findings(store: FalkorStore, named: str | None, default: str) -> Iterator[Finding]:
    from synapse.hippocampus.server_diagnosis import diagnose_server

    server = store.inspect_server(named or default, time.time)
    yield from diagnose_server(server)
    if named is not None:
        yield from _graph_findings(store, named)
        return
    for graph in (default,) if server.graphs is None else server.graphs:
        try:
            yield from _graph_findings(store, graph)
        except UnknownGraph as error:  # deleted meanwhile, or a default that nobody has used
            yield _failed(graph, error)


def _graph_findings(store: FalkorStore, graph: str) -> list[Finding]:
    from synapse.hippocampus.graph_diagnosis import diagnose_graph

    try:
        return diagnose_graph(store.inspect_graph(graph, present().timestamp()))
    except StoreUnreachable:
        raise
    except StoreError as error:  # one damaged graph must not hide the others
        return [_failed(graph, error)]


def _failed(graph: str, error: SynapseError) -> Finding:
    from synapse.hippocampus.diagnosis import Finding

    return Finding("graph", "problem", str(error), graph)


def _as_dict(findings: list[Finding], has_problem: bool, least: str | None) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "ok": not has_problem,
        "findings": [finding.as_dict() for finding in findings],
        "least_rights": least,
    }


def _as_text(findings: list[Finding], least: str | None) -> str:
    lines: list[str] = []
    graph: str | None = None
    for finding in findings:
        if finding.graph != graph:
            graph = finding.graph
            lines += ["", " ".join(str(graph).split())]
        sentence = " ".join(finding.sentence.split())
        lines.append(f"{finding.level:<8} {finding.check:<12} {sentence}")
    problems, notes = (sum(f.level == level for f in findings) for level in ("problem", "note"))
    lines += ["", f"Problems: {problems}, notes: {notes}."]
    if least is not None:
        lines += ["Enough for a database user on one graph:", f"  {least}"]
    return "\n".join(lines)
