"""Reads a folder of evaluation data, the half that is asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

Row = dict[str, Any]

_SERIAL_ZERO = datetime(1970, 1, 2, tzinfo=UTC)
_MUST, _MUST_NOT = "replaced", frozenset({"concurrent", "event", "last"})
_CLEAR_RATIO = 2 / 3


class MissingSet(Exception):
    """The folder lacks a set; the sentence says which file."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One dated statement and what is known to have become of it."""

    id: str
    subject: str
    name: str
    """The relation as an extractor wrote it."""
    object: str
    start: datetime
    text: str
    label: str
    next: str | None
    """The edge that replaced it."""
    true_name: str
    """The relation's one true name: several names may mean one property."""
    holds: bool = True
    """Nothing says that it is no longer true."""

    @property
    def slot(self) -> tuple[str, str]:
        """Subject and property."""
        return self.subject, self.true_name

    @property
    def truth(self) -> bool | None:
        """Whether it must be invalidated; ``None`` where the data do not say."""
        if self.label == _MUST:
            return True
        return False if self.label in _MUST_NOT else None


@dataclass(frozen=True)
class DataFolder:
    """A folder of sets, as seen from one half."""

    folder: Path
    split: str

    def rows(self, set_name: str, stem: str) -> list[Row]:
        """Lines of ``<stem>.<split>.jsonl``, or of ``<stem>.jsonl`` where they carry the split."""
        own = self.folder / set_name / f"{stem}.{self.split}.jsonl"
        if own.is_file():
            return read_lines(own)
        common = self.folder / set_name / f"{stem}.jsonl"
        if not common.is_file():
            raise MissingSet(f"neither {set_name}/{own.name} nor {common.name} is there")
        return [row for row in read_lines(common) if row.get("split", self.split) == self.split]

    def interval_edges(self, set_name: str) -> list[Edge]:
        """A set of facts with start and end years."""
        return [
            _edge(row, _year(row["start"]), row["end"] is None)
            for row in self.rows(set_name, "edges")
        ]

    def history_edges(self, set_name: str) -> list[Edge]:
        """A set read from snapshots or a version history."""
        return [
            _edge(row, moment(row["valid_at"]), row["gone_at"] is None)
            for row in self.rows(set_name, "edges")
        ]

    def edges(self, set_name: str) -> list[Edge]:
        """Any set of labelled edges."""
        intervals = set_name in ("wikidata12k", "yago11k")
        return self.interval_edges(set_name) if intervals else self.history_edges(set_name)

    def consolidation_edges(self, size: str, track: str = "clean") -> list[Edge]:
        """Facts of FactConsolidation: one a day, in the order of their serial numbers.

        Args:
            size: ``6k``, ``32k``, ``64k`` or ``262k``.
            track: ``clean`` (one name a property), ``noisy`` (an extractor's several names) or
                ``text`` (the relation says nothing, the sentence everything).
        """
        edges = []
        for row in self.rows("factconsolidation", f"facts_{size}"):
            follower = row["superseded_by"]
            edges.append(
                Edge(
                    id=row["id"],
                    subject=row["subject"],
                    name=row["name"],
                    object=row["object"],
                    start=_SERIAL_ZERO + timedelta(days=row["serial"]),
                    text=row["fact"],
                    label="replaced" if follower else "last",
                    next=follower,
                    true_name=row["name"],
                    holds=follower is None,
                )
            )
        if track == "text":
            return [replace(edge, name="RELATES_TO") for edge in edges]
        return self._noisy(edges) if track == "noisy" else edges

    def _noisy(self, edges: Sequence[Edge]) -> list[Edge]:
        folder = self.folder / "factconsolidation"
        files = [folder / f"noisy_names.{self.split}.json", folder / "noisy_names.json"]
        file = next((file for file in files if file.is_file()), None)
        if file is None:
            raise MissingSet("factconsolidation/noisy_names.json is not there")
        others: dict[str, list[str]] = json.loads(file.read_text(encoding="utf-8"))
        noisy = []
        for edge in edges:
            names = [edge.name, *others.get(edge.name, [])]
            pick = int(hashlib.sha1(edge.id.encode()).hexdigest(), 16) % len(names)
            noisy.append(replace(edge, name=names[pick]))
        return noisy

    @cached_property
    def judged_relations(self) -> list[Row]:
        """Relation names with their cardinality: name, gold, source."""
        return self.rows("cardinality", "predicates")

    def gold_cardinality(self, set_name: str, edges: Sequence[Edge]) -> dict[str, str]:
        """Cardinality of each property of a set.

        As judged, where the judged list of this half has the name; otherwise as the labels of
        the edges show it, by the rule of the judged list: two thirds either way.
        """
        try:
            rows = self.judged_relations
        except MissingSet:
            rows = []
        judged = {row["name"]: row["gold"] for row in rows}
        judged |= {row["name"]: row["gold"] for row in rows if row["source"] == set_name}
        shown = _cardinality_by_labels(edges)
        return {name: judged.get(name, kind) for name, kind in shown.items()}


def _cardinality_by_labels(edges: Sequence[Edge]) -> dict[str, str]:
    counts: dict[str, dict[str, int]] = {}
    for edge in edges:
        of_name = counts.setdefault(edge.true_name, {})
        of_name[edge.label] = of_name.get(edge.label, 0) + 1
    kinds = {}
    for name, labels in counts.items():
        replaced, beside = labels.get("replaced", 0), labels.get("concurrent", 0)
        happened = labels.get("event", 0)
        if happened > replaced + beside:
            kinds[name] = "event"
        elif replaced + beside == 0:
            kinds[name] = "unknown"
        else:
            share = replaced / (replaced + beside)
            clear = "single" if share >= _CLEAR_RATIO else "multi"
            kinds[name] = clear if abs(share - 0.5) >= _CLEAR_RATIO - 0.5 else "mixed"
    return kinds


def _edge(row: Row, start: datetime, holds: bool) -> Edge:
    words = row["name"].replace("_", " ").lower()
    return Edge(
        id=row["id"],
        subject=row["subject"],
        name=row["name"],
        object=row["object"],
        start=start,
        text=row.get("fact") or f"{row['subject']} {words} {row['object']}",
        label=row["label"],
        next=row["next"],
        true_name=row["name"],
        holds=holds,
    )


def read_lines(path: Path) -> list[Row]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def moment(text: str) -> datetime:
    """An ISO 8601 time; without an offset it is UTC."""
    time = datetime.fromisoformat(text)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _year(year: int) -> datetime:
    return datetime(max(year, 1), 1, 1, tzinfo=UTC)  # no time stamp holds a year before 1
