"""Event streams: which items each event touched, and when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from synapse.hippocampus.model import Bools, Floats
from synapse.hippocampus.ports import GraphDocument

from .data import DataFolder, MissingSet, moment, read_lines
from .engine import GRAPH

SECONDS_PER_DAY = 86_400.0
LEAST_EVENTS_COUNT = 14
LEAST_LATER_COUNT = 5
"""Streams with fewer items that are touched again say nothing."""


@dataclass(frozen=True)
class Stream:
    """Events in order of time, each with the items that it touched."""

    name: str
    times_s: list[float]
    items: list[list[str]]

    def history(self, events_count: int) -> dict[str, list[float]]:
        """The touches of every item by the first events, in days."""
        touched: defaultdict[str, list[float]] = defaultdict(list)
        for time_s, items in zip(self.times_s[:events_count], self.items, strict=False):
            for item in items:
                touched[item].append(time_s / SECONDS_PER_DAY)
        return touched

    def later(self, events_count: int) -> set[str]:
        """Items that an event after the first ones touches."""
        return {item for items in self.items[events_count:] for item in items}

    def document(self, events_count: int) -> GraphDocument:
        """The first events as a graph: an entity an item, an episode an event."""
        names = sorted({item for items in self.items[:events_count] for item in items})
        entities = [{"uuid": name, "name": name, "group_id": GRAPH} for name in names]
        episodes, mentions = [], []
        for number in range(events_count):
            at = (moment("1970-01-01") + timedelta(seconds=self.times_s[number])).isoformat()
            episodes.append({"uuid": f"event-{number}", "name": "event", "group_id": GRAPH,
                             "created_at": at, "valid_at": at})  # fmt: skip
            mentions += [
                {"uuid": f"event-{number} {item}", "episode_uuid": f"event-{number}",
                 "entity_uuid": item, "group_id": GRAPH, "created_at": at}
                for item in self.items[number]
            ]  # fmt: skip
        return GraphDocument(tuple(entities), (), tuple(episodes), tuple(mentions))


def streams(data: DataFolder) -> list[Stream]:
    """Every stream of the folder that is long enough, agent memories first."""
    found = []
    for file in sorted((data.folder / "mcp_graphs").glob("*.events.jsonl")):
        events: defaultdict[float, set[str]] = defaultdict(set)
        for row in read_lines(file):
            if row["op"].startswith("+"):
                ends = [row["e"]] if "e" in row else [row["rel"][0], row["rel"][2]]
                events[moment(row["t"]).timestamp()].update(ends)
        found.append(_stream(file.name, [(t, sorted(items)) for t, items in events.items()]))
    for file in sorted((data.folder / "cochange").glob("*.episodes.jsonl")):
        rows = [
            (moment(r["t"]).timestamp(), sorted({*map(str, r["items"])})) for r in read_lines(file)
        ]
        found.append(_stream(file.name, rows))
    long_enough = [s for s in found if _says_something(s)]
    if not long_enough:
        raise MissingSet("neither mcp_graphs nor cochange holds a stream that is long enough")
    return long_enough


def kept_half(score: Sequence[float]) -> Bools:
    """The better half of the items, ties in their order."""
    order = np.argsort(-np.asarray(score, np.float64), kind="stable")
    is_kept = np.zeros(len(order), np.bool_)
    is_kept[order[: -(-len(order) // 2)]] = True
    return is_kept


def area_under_curve(score: Sequence[float] | Floats, is_true: Bools) -> float | None:
    """Probability that a true item stands above one that is not; ties count half."""
    true_count = int(is_true.sum())
    false_count = len(is_true) - true_count
    if not true_count or not false_count:
        return None
    _, place, count = np.unique(np.asarray(score), return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]
    above = rank[is_true].sum() - true_count * (true_count + 1) / 2
    return float(above / (true_count * false_count))


def _stream(file_name: str, events: list[tuple[float, list[str]]]) -> Stream:
    events.sort(key=lambda event: event[0])
    name = file_name.removesuffix(".jsonl").rsplit(".", 1)[0].split("__", 1)[-1]
    return Stream(name, [t for t, _ in events], [items for _, items in events])


def _says_something(stream: Stream) -> bool:
    if len(stream.items) < LEAST_EVENTS_COUNT:
        return False
    half = len(stream.items) // 2
    return len(stream.later(half) & set(stream.history(half))) >= LEAST_LATER_COUNT
