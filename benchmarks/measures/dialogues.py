"""Long dialogues: their facts, and the evidence that questions about them need."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.model import Bools, Floats, Ints
from synapse.hippocampus.ports import GraphDocument
from synapse.hippocampus.stages import Thoughts
from synapse.hippocampus.standing import Standing
from synapse.store.memory import InMemoryStore

from .data import DataFolder, Row, moment
from .engine import GRAPH

KEPT_RATIOS = tuple(k / 10 for k in range(1, 10))
_CATEGORIES = {1, 2, 3, 4}
"""Questions that can be answered."""


@dataclass(frozen=True)
class Dialogue:
    """Facts of one conversation; for each question and piece of evidence the facts that tell it."""

    name: str
    facts: list[Row]
    evidence: list[list[int]]

    def held(self, is_kept: Bools) -> float:
        """Share of the evidence of which a fact is kept."""
        return float(np.mean([is_kept[rows].any() for rows in self.evidence]))

    def lost_without(self, gone: Ints) -> float:
        """Share of the evidence of which no fact is left."""
        is_kept = np.ones(len(self.facts), np.bool_)
        is_kept[gone] = False
        return 1.0 - self.held(is_kept)

    def area(self, score: Floats) -> float:
        """Mean share held when the best 10 to 90 % are kept; ties in order of the facts."""
        order = np.argsort(-score, kind="stable")
        held = []
        for ratio in KEPT_RATIOS:
            is_kept = np.zeros(len(order), np.bool_)
            is_kept[order[: round(ratio * len(order))]] = True
            held.append(self.held(is_kept))
        return float(np.mean(held))

    def end(self, days: int) -> datetime:
        """So many days after the last session."""
        return max(moment(row["valid_at"]) for row in self.facts) + timedelta(days=days)

    def standing(
        self,
        config: HippocampusConfig,
        now: datetime,
        left: Ints | None = None,
        archived_count: int = 0,
    ) -> Standing:
        """How the facts stand as a graph: one episode a session, each fact about its speaker.

        Args:
            config: the constants.
            now: the present.
            left: the facts that are still there, if not all.
            archived_count: how many the runs of the last ninety days have taken.
        """
        rows = self.facts if left is None else [self.facts[i] for i in left.tolist()]
        store = InMemoryStore()
        store.write_memory(GRAPH, _document(rows))
        thoughts = Thoughts(store.read_graph(GRAPH), now.timestamp(), config)
        known = thoughts.standing
        usage = replace(known.usage, archived_count=archived_count)
        return Standing(known.outline, known.kept, known.now_s, config, usage)


def dialogues(data: DataFolder) -> list[Dialogue]:
    """The conversations with those questions that can be answered."""
    facts: defaultdict[str, list[Row]] = defaultdict(list)
    told: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for row in data.rows("locomo_nc", "facts"):
        for turn in row["dia"]:
            told[row["conv"], turn].append(len(facts[row["conv"]]))
        facts[row["conv"]].append(row)
    evidence: defaultdict[str, list[list[int]]] = defaultdict(list)
    for row in data.rows("locomo_nc", "qa"):
        if row["category"] in _CATEGORIES:
            tellers = [told[row["conv"], turn] for turn in row["evidence"]]
            evidence[row["conv"]] += [rows for rows in tellers if rows]
    return [Dialogue(name, rows, evidence[name]) for name, rows in facts.items() if evidence[name]]


def _document(rows: list[Row]) -> GraphDocument:
    entities, episodes, facts = {}, {}, []
    for row in rows:
        at, session = moment(row["valid_at"]).isoformat(), f"session-{row['session']}"
        speaker = {"uuid": f"speaker-{row['speaker']}", "name": row["speaker"], "group_id": GRAPH}
        entities[row["speaker"]] = speaker
        times = {"created_at": at, "valid_at": at, "group_id": GRAPH}
        episodes[session] = {"uuid": session, "name": session, **times}
        facts.append(
            {"uuid": row["id"], "name": "SAID", "fact": row["fact"], "episodes": [session],
             "source_node_uuid": speaker["uuid"], "target_node_uuid": speaker["uuid"], **times}
        )  # fmt: skip
    return GraphDocument(tuple(entities.values()), tuple(facts), tuple(episodes.values()))
