"""How the times in a graph are written: with a zone or without, readable or not."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from synapse.hippocampus.health import Stamps
from synapse.hippocampus.model import Floats
from synapse.store.columns import TableReader
from synapse.store.connection import Connection
from synapse.store.reader import ENTITIES, EPISODES, FACTS
from synapse.store.table import Part, Table
from synapse.store.wire import held_wire

_TABLES = {"facts": FACTS, "entities": ENTITIES, "episodes": EPISODES}
_ZONE = re.compile(rb"(?:Z|z|[+-]\d\d(?::?\d\d)?)\s*$")
_DATE_WIDTH = len("2026-01-01")


def read_stamps(connection: Connection, graph: str, now_s: float) -> dict[str, Stamps]:
    """Count by property and kind, such as ``valid_at of facts``.

    Args:
        connection: a client that answers with bytes.
        graph: name of the graph; it is never created.
        now_s: what is later lies in the future.
    """
    found = {}
    with held_wire(connection) as ask:
        for kind, table in _TABLES.items():
            only_times = replace(
                table, ids=table.ids[:1], uuid="", names=(), texts=(), words="", typed_words=""
            )
            counter = StampCounter(only_times, now_s)
            TableReader(ask, graph, only_times, counter).read()
            for expression, stamps in zip(table.times, counter.stamps, strict=True):
                found[f"{expression.partition('.')[2]} of {kind}"] = stamps
    return found


class StampCounter:
    """Counts the times of a table as they arrive, and keeps none of them."""

    def __init__(self, table: Table, now_s: float) -> None:
        self.stamps = [Stamps() for _ in table.times]
        self._table = table
        self._now_s = now_s

    def add(self, part: Part) -> None:
        """The next items of the table."""
        columns = part.split_fields(self._table).scalars if part.count else []
        times = part.times(self._table)
        for place, (texts, times_s) in enumerate(zip(columns, times, strict=False)):
            self.stamps[place] = _sum(self.stamps[place], self._counted(texts, times_s))

    def _counted(self, texts: list[bytes], times_s: Floats) -> Stamps:
        is_known = ~np.isnan(times_s)
        is_written = np.fromiter(map(bool, texts), np.bool_, len(texts))
        return Stamps(
            known_count=int(is_known.sum()),
            naive_count=sum(
                is_naive(text)
                for text, known in zip(texts, is_known.tolist(), strict=True)
                if known
            ),
            unreadable_count=int((is_written & ~is_known).sum()),
            future_count=int((times_s > self._now_s).sum()),
        )


def is_naive(stamp: bytes) -> bool:
    """Whether a readable time names no zone.

    >>> is_naive(b"2026-01-01T00:00:00"), is_naive(b"2026-01-01"), is_naive(b"2026-01-01 00:00+01")
    (True, True, False)
    """
    if stamp.endswith((b"+00:00", b"Z")):
        return False
    return not _ZONE.search(stamp[_DATE_WIDTH:])


def _sum(one: Stamps, other: Stamps) -> Stamps:
    return Stamps(
        one.known_count + other.known_count,
        one.naive_count + other.naive_count,
        one.unreadable_count + other.unreadable_count,
        one.future_count + other.future_count,
    )
