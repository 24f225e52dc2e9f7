"""Graphs written as a list of facts, with times in days since 2026-01-01."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from synapse.hippocampus.model import Entities, Episodes, Facts, Floats, GraphSnapshot, Mentions
from synapse.hippocampus.ragged import Ragged

NEW_YEAR_S = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
DAY_S = 86_400.0


class Said(NamedTuple):
    """One fact. Entities are known by their names."""

    source: str
    relation: str
    target: str
    text: str = ""
    valid: float | None = None
    ended: float | None = None
    retired: float | None = None
    recorded: float | None = None
    episodes: Sequence[str] = ()
    uuid: str = ""


def at(day: float | None) -> float:
    """Seconds of a day, NaN for none."""
    return float("nan") if day is None else NEW_YEAR_S + day * DAY_S


def fact_graph(
    facts: Sequence[Said],
    episodes: Mapping[str, float] | None = None,
    labels: Mapping[str, tuple[str, ...]] | None = None,
) -> GraphSnapshot:
    """A snapshot of these facts; entities get ``id of <name>`` as uuid, facts ``fact-<number>``."""
    episodes, labels = episodes or {}, labels or {}
    names = list(dict.fromkeys(name for f in facts for name in (f.source, f.target)))
    entity, episode = ({name: i for i, name in enumerate(n)} for n in (names, episodes))
    return GraphSnapshot(
        graph="facts",
        entities=Entities(
            uuid=[f"id of {name}" for name in names],
            name=names,
            summary=[""] * len(names),
            group_id=["facts"] * len(names),
            labels=[labels.get(name, ()) for name in names],
            created_at_s=np.full(len(names), np.nan),
        ),
        facts=Facts(
            uuid=[f.uuid or f"fact-{i}" for i, f in enumerate(facts)],
            relation=[f.relation for f in facts],
            text=[f.text for f in facts],
            group_id=["facts"] * len(facts),
            source=np.array([entity[f.source] for f in facts], np.int64),
            target=np.array([entity[f.target] for f in facts], np.int64),
            created_at_s=np.array([at(f.recorded) for f in facts], np.float64),
            valid_at_s=np.array([at(f.valid) for f in facts], np.float64),
            invalid_at_s=np.array([at(f.ended) for f in facts], np.float64),
            expired_at_s=np.array([at(f.retired) for f in facts], np.float64),
            episodes=Ragged.from_lists([[episode[e] for e in f.episodes] for f in facts]),
        ),
        episodes=Episodes(
            uuid=list(episodes),
            group_id=["facts"] * len(episodes),
            created_at_s=np.full(len(episodes), np.nan),
            valid_at_s=np.array([at(day) for day in episodes.values()], np.float64),
        ),
        mentions=Mentions(np.zeros(0, np.int64), np.zeros(0, np.int64)),
    )


def real_graph(folder: Path, name: str) -> GraphSnapshot:
    """A real Graphiti graph from its export as JSON lines."""
    entities, facts, episodes = (
        _lines(folder / f"{name}.{part}.jsonl") for part in ("entities", "edges", "episodes")
    )
    entity, episode = ({row["uuid"]: i for i, row in enumerate(t)} for t in (entities, episodes))
    return GraphSnapshot(
        graph=name,
        entities=Entities(
            uuid=[row["uuid"] for row in entities],
            name=[row["name"] for row in entities],
            summary=[row.get("summary", "") for row in entities],
            group_id=[row["group_id"] for row in entities],
            labels=[() for _ in entities],
            created_at_s=_times(entities, "created_at"),
        ),
        facts=Facts(
            uuid=[row["uuid"] for row in facts],
            relation=[row["name"] for row in facts],
            text=[row["fact"] for row in facts],
            group_id=[row["group_id"] for row in facts],
            source=np.array([entity[row["source_node_uuid"]] for row in facts], np.int64),
            target=np.array([entity[row["target_node_uuid"]] for row in facts], np.int64),
            created_at_s=_times(facts, "created_at"),
            valid_at_s=_times(facts, "valid_at"),
            invalid_at_s=_times(facts, "invalid_at"),
            expired_at_s=_times(facts, "expired_at"),
            episodes=Ragged.from_lists(
                [sorted({episode[e] for e in row["episodes"] if e in episode}) for row in facts]
            ),
        ),
        episodes=Episodes(
            uuid=[row["uuid"] for row in episodes],
            group_id=[row["group_id"] for row in episodes],
            created_at_s=_times(episodes, "created_at"),
            valid_at_s=_times(episodes, "valid_at"),
        ),
        mentions=Mentions(np.zeros(0, np.int64), np.zeros(0, np.int64)),
    )


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _times(rows: Sequence[dict[str, Any]], key: str) -> Floats:
    return np.array([_seconds(row.get(key)) for row in rows], np.float64)


def _seconds(text: str | None) -> float:
    if not text:
        return float("nan")
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
