"""M9: are the things that come up together with one among its associates?

The first 70 % of the events of a stream are history. Of every later event with at least two items
that are known, each known item in turn is the cue: how many of the others (at most ten count) are
among the ten items that are named first?
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.model import Floats, GraphSnapshot
from synapse.hippocampus.stages import Thoughts
from synapse.store.memory import InMemoryStore

from .data import MissingSet
from .engine import GRAPH, Bench
from .event_streams import SECONDS_PER_DAY, Stream, streams
from .result import Bar, Measured, Table, mean

TITLE = "M9 co-activation"
HISTORY_RATIO = 0.7
NAMED_COUNT = 10
HALF_LIFE_DAYS = 30.0

Namer = Callable[[int], Sequence[int]]
"""Item -> the items that are named with it, the first ones first."""


def measure(bench: Bench) -> Measured:
    """Every stream."""
    measured = Measured()
    columns = ["stream", "episodes asked", "ours", "popularity", "recency", "count",
               "count, 30 d half-life", "Jaccard"]  # fmt: skip
    table = Table(f"M9 co-activation: recall among the first {NAMED_COUNT}", columns)
    try:
        found = streams(bench.data)
    except MissingSet as reason:
        measured.skipped.append(f"M9: {reason}")
        measured.bars.append(Bar("M9 recall", None, 0.0))
        found = []
    for stream in found:
        past = _Past.of(stream, int(HISTORY_RATIO * len(stream.items)))
        namers = [_ours(past, bench.config), *_baselines(past)]
        recalls = [_recall(past, stream, namer) for namer in namers]
        table.add(stream.name, len(recalls[0]), *map(mean, recalls))
        row = table.rows[-1]
        measured.bars.append(Bar(f"M9 {stream.name}", _ratio(row[2]), _ratio(row[6]) or 0.0))
        differ = int(_shuffled_differs(past, bench.config))
        measured.bars.append(Bar(f"M9 {stream.name}, shuffled input differs", differ, 0, "at most"))
    measured.tables.append(table)
    return measured


@dataclass(frozen=True)
class _Past:
    """The first events of a stream."""

    items: list[str]
    events: list[list[int]]
    days: list[float]
    events_of: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    graph: GraphSnapshot | None = None

    @classmethod
    def of(cls, stream: Stream, events_count: int) -> _Past:
        store = InMemoryStore()
        store.write_memory(GRAPH, stream.document(events_count))
        graph = store.read_graph(GRAPH)
        number = {uuid: i for i, uuid in enumerate(graph.entities.uuid)}
        events = [[number[i] for i in items] for items in stream.items[:events_count]]
        days = [time_s / SECONDS_PER_DAY for time_s in stream.times_s[:events_count]]
        past = cls(graph.entities.uuid, events, days, graph=graph)
        for event, items in enumerate(events):
            for item in items:
                past.events_of[item].append(event)
        return past

    @property
    def now_days(self) -> float:
        return self.days[-1]


def _ours(past: _Past, config: HippocampusConfig) -> Namer:
    assert past.graph is not None
    thoughts = Thoughts(past.graph, past.now_days * SECONDS_PER_DAY, config)
    return lambda item: [a.row for a in thoughts.associates.of(item)]


def _shuffled_differs(past: _Past, config: HippocampusConfig) -> bool:
    """Whether the weights depend on the order in which mentions are read."""
    assert past.graph is not None
    order = np.random.default_rng(9).permutation(len(past.graph.mentions))
    mentions = past.graph.mentions
    shuffled = GraphSnapshot(
        GRAPH, past.graph.entities, past.graph.facts, past.graph.episodes,
        type(mentions)(mentions.episode[order], mentions.entity[order]),
    )  # fmt: skip
    now_s = past.now_days * SECONDS_PER_DAY
    first, second = (Thoughts(g, now_s, config).associates for g in (past.graph, shuffled))
    return any(first.of(item) != second.of(item) for item in range(len(past.items)))


def _baselines(past: _Past) -> list[Namer]:
    last = [past.days[past.events_of[item][-1]] for item in range(len(past.items))]
    popular = [float(len(past.events_of[item])) for item in range(len(past.items))]
    age = [past.now_days - day for day in past.days]

    def together(weight: Callable[[int], float]) -> Callable[[int], Floats]:
        def scores(item: int) -> Floats:
            score = np.zeros(len(past.items))
            for event in past.events_of[item]:
                score[past.events[event]] += weight(event)
            return score

        return scores

    count = together(lambda event: 1.0)
    decayed = together(lambda event: 2.0 ** (-age[event] / HALF_LIFE_DAYS))

    def jaccard(item: int) -> Floats:
        shared = count(item)
        return shared / (np.array(popular) + popular[item] - shared)

    scorers: list[Callable[[int], Floats]] = [
        lambda item: np.array(popular), lambda item: np.array(last), count, decayed, jaccard
    ]  # fmt: skip
    return [_best_of(scorer) for scorer in scorers]


def _best_of(scores: Callable[[int], Floats]) -> Namer:
    def named(item: int) -> list[int]:
        score = scores(item)
        score[item] = -1.0
        return [int(i) for i in np.argsort(-score, kind="stable")[:NAMED_COUNT]]

    return named


def _recall(past: _Past, stream: Stream, namer: Namer) -> list[float]:
    number = {item: i for i, item in enumerate(past.items)}
    named: dict[int, set[int]] = {}
    recalls = []
    for items in stream.items[len(past.events) :]:
        known = {number[item] for item in items if item in number}
        if len(known) < 2:
            continue
        for cue in known - named.keys():
            named[cue] = set(namer(cue)[:NAMED_COUNT])
        possible_count = min(NAMED_COUNT, len(known) - 1)
        found = [len(named[cue] & (known - {cue})) / possible_count for cue in sorted(known)]
        recalls.append(float(np.mean(found)))
    return recalls


def _ratio(cell: object) -> float | None:
    return float(cell) if isinstance(cell, (int, float)) else None
