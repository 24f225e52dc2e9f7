"""What the facts about a server mean for the memories on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from synapse.hippocampus.diagnosis import Finding, Judgement, Level, short, some, span, unchecked
from synapse.hippocampus.health import ServerHealth

TESTED_MODULE = (4, 16)
CLOSE_CLOCKS_S, APART_CLOCKS_S = 5.0, 60.0
FULL_RATIO, NEARLY_FULL_RATIO = 0.95, 0.8
_MEBIBYTE = 2**20


def diagnose_server(server: ServerHealth) -> list[Finding]:
    """One finding for each check of a server.

    >>> [f.level for f in diagnose_server(ServerHealth(role="slave")) if f.check == "role"]
    ['problem']
    """
    return [Finding(name, *check(server)) for name, check in _CHECKS.items()]


def _version(server: ServerHealth) -> Judgement:
    if server.redis_version is None or server.module_version is None:
        return unchecked("the version", "info")
    major, rest = divmod(server.module_version, 10_000)
    minor, patch = divmod(rest, 100)
    what = f"Redis {server.redis_version} with FalkorDB {major}.{minor}.{patch}"
    tested = ".".join(map(str, TESTED_MODULE))
    if (major, minor) < TESTED_MODULE:
        return "note", f"{what} is older than {tested}, which Synapse is tested with; upgrade it"
    if major > TESTED_MODULE[0]:
        return "note", f"{what} is newer than {tested}, which Synapse is tested with; try it first"
    return "ok", what


def _role(server: ServerHealth) -> Judgement:
    if server.role is None:
        return unchecked("whether the server is a replica", "info")
    if server.role == "slave":
        return "problem", "the server is a read-only replica: no run can write; use the primary"
    return "ok", "the server is a primary"


def _persistence(server: ServerHealth) -> Judgement:
    if server.failed_writes:
        failed = ", ".join(server.failed_writes)
        return "problem", f"the server could not write to its disk ({failed}); make room there"
    if server.is_append_only is None:
        return unchecked("persistence", "info")
    if server.is_append_only:
        return "ok", "every write goes to the append-only file"
    if server.save_points is None:
        return unchecked("when the server takes snapshots", "config|get")
    if not server.save_points:
        return "problem", "persistence is off: a restart loses every memory; set appendonly yes"
    return "note", (
        f"only snapshots are kept (save {server.save_points}): a crash loses what came after the "
        "last one; set appendonly yes"
    )


def _memory(server: ServerHealth) -> Judgement:
    limit, used, policy = (
        server.maxmemory_bytes,
        server.used_memory_bytes,
        server.maxmemory_policy,
    )
    if limit is None or used is None or policy is None:
        return unchecked("the memory limit", "info")
    if policy.startswith("allkeys"):
        then = "a full server deletes whole graphs; set maxmemory-policy noeviction"
        return "problem" if limit else "note", f"maxmemory-policy is {policy}: {then}"
    if not limit:
        return "ok", f"no memory limit is set; {used / _MEBIBYTE:.0f} MiB are in use"
    share = f"{used / _MEBIBYTE:.0f} of {limit / _MEBIBYTE:.0f} MiB are in use"
    if used >= FULL_RATIO * limit:
        return "problem", f"{share}: the server refuses writes when it is full; raise maxmemory"
    return "note" if used >= NEARLY_FULL_RATIO * limit else "ok", share


def _answer_size(server: ServerHealth) -> Judgement:
    size = server.resultset_size
    if size is None:
        return unchecked("RESULTSET_SIZE", "graph.config")
    if size < 0:
        return "ok", "answers may have any number of rows"
    if size == 0:
        return "problem", "RESULTSET_SIZE 0 cuts every answer to nothing; set it to -1"
    return "note", (
        f"RESULTSET_SIZE cuts answers to {size} rows without a word: Synapse reads past it, other "
        "tools do not; set it to -1"
    )


def _comparison(server: ServerHealth) -> Judgement:
    if server.compares_wrongly is None:
        return "note", (
            "how the server compares indexed texts could not be checked: "
            "a scratch graph beside the memory could not be written"
        )
    if server.compares_wrongly:
        return "note", (
            "< and <= on indexed texts find too much on this server: Synapse never uses them on "
            "times, but Graphiti's filters by date do; do not rely on those"
        )
    return "ok", "indexed texts are compared rightly"


def _clock(server: ServerHealth) -> Judgement:
    ahead_s = server.clock_ahead_s
    if ahead_s is None:
        return unchecked("the server's clock", "time")
    if abs(ahead_s) <= CLOSE_CLOCKS_S:
        return "ok", "the server's clock and ours agree"
    way = "ahead of" if ahead_s > 0 else "behind"
    level: Level = "problem" if abs(ahead_s) > APART_CLOCKS_S else "note"
    return level, f"the server's clock is {span(abs(ahead_s))} {way} ours; set both by NTP"


def _graph_names(server: ServerHealth) -> Judgement:
    if server.graphs is None:
        return unchecked("which graphs there are", "graph.list")
    if not server.graphs:
        return "note", "the server holds no graph yet; has an episode been added, and here?"
    return "ok", f"the server holds {some(server.graphs)}"


def _rooms(server: ServerHealth) -> Judgement:
    rooms = server.orphaned_rooms
    if rooms is None:
        return unchecked("whether rooms are left of graphs that are gone", "scan")
    if not rooms:
        return "ok", "every room belongs to a graph"
    key = f"synapse:{{{short(rooms[0])}}}:*"
    return "note", (
        f"{some(rooms)}: the graph is gone and its room is left; if that was meant, "
        f"delete the keys {key}, its archive among them"
    )


_CHECKS: Mapping[str, Callable[[ServerHealth], Judgement]] = {
    "version": _version,
    "role": _role,
    "persistence": _persistence,
    "memory": _memory,
    "answer size": _answer_size,
    "comparison": _comparison,
    "clock": _clock,
    "graphs": _graph_names,
    "rooms": _rooms,
}
