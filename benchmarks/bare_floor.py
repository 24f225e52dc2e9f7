"""The least that a batch over a Graphiti graph can cost: the bytes, and nothing made of them.

Reads the columns that a consolidation needs with raw commands, in ranges of about 20 ms of the
server's time, and drops the replies. With ``--write`` it also writes as many trace bytes as a
first run keeps, in hashes of the same layout. Built from redis-py and hiredis alone.
"""

from __future__ import annotations

import argparse
import re
from typing import Any

import redis

TARGET_MS, LARGEST_STEP = 20.0, 2048
TRACE_BYTES = 58
BUCKETS_COUNT = FIELDS_COUNT = 256

TABLES = {
    "(a)-[x:RELATES_TO]->(b)": (
        "ID(a)", "ID(b)", "x.created_at", "x.valid_at", "x.invalid_at", "x.expired_at",
        "x.name", "x.group_id", "x.uuid", "x.fact", "x.episodes",
    ),
    "(a)-[x:MENTIONS]->(b)": ("ID(a)", "ID(b)"),
    "(a:Entity)": (
        "ID(a)", "a.created_at", "a.group_id", "a.uuid", "a.name", "a.summary", "labels(a)",
    ),
    "(a:Episodic)": ("ID(a)", "a.created_at", "a.valid_at", "a.group_id", "a.uuid"),
}  # fmt: skip
LISTS = ("x.episodes", "labels(a)")


def read(connection: redis.Redis, graph: str, form: str) -> int:
    """Read every table, and count entities and facts the way any reader must."""
    ((last_id,),) = _ask(connection, graph, "MATCH (a) RETURN max(ID(a))")[1]
    memories_count = 0
    for pattern, columns in TABLES.items():
        returned = _joined(columns) if form == "joined" else ", ".join(columns)
        low, step = 0, 256
        while low <= last_id:
            where = f"ID(a) >= {low} AND ID(a) < {low + step}"
            reply = _ask(connection, graph, f"MATCH {pattern} WHERE {where} RETURN {returned}")
            low += step
            step = int(step * min(max(TARGET_MS / _took_ms(reply), 0.25), 2.0))
            step = min(max(step, 1), LARGEST_STEP)
    for pattern in ("(:Entity)", "()-[x:RELATES_TO]->()"):
        counted = "x" if "[x" in pattern else "*"
        reply = _ask(connection, graph, f"MATCH {pattern} RETURN count({counted})")
        memories_count += int(reply[1][0][0])
    return memories_count


def write(connection: redis.Redis, graph: str, memories_count: int) -> None:
    """Write the traces of that many memories, spread evenly over all hashes and fields."""
    fields_count = min(memories_count, BUCKETS_COUNT * FIELDS_COUNT)
    records, more = divmod(memories_count, fields_count)
    with connection.pipeline(transaction=True) as pipe:
        for bucket in range(BUCKETS_COUNT):
            blocks = {
                bytes((place >> 8,)): bytes(TRACE_BYTES * (records + (place < more)))
                for place in range(bucket, fields_count, BUCKETS_COUNT)
            }
            if blocks:
                pipe.hset(f"floor:{{{graph}}}:{bucket:02x}", mapping=blocks)
        pipe.execute()


def _joined(columns: tuple[str, ...]) -> str:
    cells = [
        f"string.join({c}, '\x1e')"
        if c in LISTS
        else f"tostring({c})"
        if c.startswith("ID(")
        else f"coalesce({c}, '')"
        for c in columns
    ]
    return f"count(a), string.join(collect(string.join([{', '.join(cells)}], '\x1f')), '\x1f')"


def _ask(connection: redis.Redis, graph: str, query: str) -> Any:
    return connection.execute_command("GRAPH.RO_QUERY", graph, query)  # type: ignore[no-untyped-call]


def _took_ms(reply: Any) -> float:
    found = re.search(rb"internal execution time: ([\d.]+)", reply[-1][-1])
    return max(float(found[1]), 0.01) if found else TARGET_MS


def main() -> None:
    """Pay the floor once."""
    parser = argparse.ArgumentParser(description="the bare floor")
    parser.add_argument("uri")
    parser.add_argument("graph")
    parser.add_argument("--form", choices=("rows", "joined"), default="rows")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    with redis.Redis.from_url(arguments.uri, protocol=2, socket_timeout=600.0) as connection:
        memories_count = read(connection, arguments.graph, arguments.form)
        if arguments.write:
            write(connection, arguments.graph, memories_count)


if __name__ == "__main__":
    main()
