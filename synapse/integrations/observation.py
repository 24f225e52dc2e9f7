"""What one ingestion has changed, and how it sits with what was known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel

from synapse.errors import UsageError
from synapse.hippocampus.finding import Finding
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.ports import MemoryStore, Surprise
from synapse.hippocampus.prediction_error import PredictionErrorDetector
from synapse.hippocampus.relation_table import RelationTable


@dataclass(frozen=True, slots=True)
class Noticed:
    """How one new fact sits with what was known of its subject."""

    fact: str
    """Uuid of the new fact."""
    kind: Literal["expected", "novel", "contradicts"]
    surprise: float
    """From 0 to 1."""
    against: str = ""
    """Uuid of the known fact it contradicts, empty where there is none."""
    rule: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Ingested:
    """The facts that one call to Graphiti has written, told apart."""

    key: str
    """Names the call: uuids of its episodes, or of its fact."""
    episodes: frozenset[str]
    """Uuids of its episodes."""
    new: tuple[str, ...]
    touched: tuple[str, ...]
    """Known facts that it has confirmed."""
    invalidated: tuple[str, ...]
    """Known facts that Graphiti has ended."""
    relations: Mapping[str, frozenset[str]]
    """By the uuid of each entity that these facts start at, the names of their relations."""
    objects: Mapping[str, frozenset[str]]
    """By the same, the uuids of their objects."""


def ingested(result: Any) -> Ingested:
    """Tell the facts of a result apart.

    A fact whose first episode is one of this call is new; one that names such an episode later on
    was confirmed; one that names none was ended by it.

    Args:
        result: what ``add_episode``, ``add_episode_bulk`` or ``add_triplet`` has returned.

    Raises:
        UsageError: it has no list of facts.
    """
    if getattr(result, "edges", None) is None:
        raise UsageError(
            "only what Graphiti's add_episode, add_episode_bulk or add_triplet returned can be "
            f"observed, not {type(result).__name__}"
        )
    episodes = episodes_of(result)
    here = {episode.uuid for episode in episodes}
    parts: dict[str, list[Any]] = {"new": [], "touched": [], "invalidated": []}
    for edge in result.edges:
        parts[_part(edge, here)].append(edge)
    uuids = {part: tuple(edge.uuid for edge in edges) for part, edges in parts.items()}
    return Ingested(
        key="+".join(sorted(here)) or "+".join(sorted(uuids["new"])),
        episodes=frozenset(here),
        relations=_by_subject(result.edges, "name"),
        objects=_by_subject(result.edges, "target_node_uuid"),
        **uuids,
    )


def episodes_of(result: Any) -> list[Any]:
    """The episodes of a result; a triplet has none."""
    one = getattr(result, "episode", None)
    return [one] if one is not None else list(getattr(result, "episodes", None) or ())


def _by_subject(edges: Iterable[Any], field: str) -> dict[str, frozenset[str]]:
    said: defaultdict[str, set[str]] = defaultdict(set)
    for edge in edges:
        said[edge.source_node_uuid].add(getattr(edge, field))
    return {subject: frozenset(values) for subject, values in said.items()}


def _part(edge: Any, episodes: set[str]) -> str:
    if not episodes:  # a triplet comes without one
        return "new" if edge.expired_at is None else "invalidated"
    if edge.episodes and edge.episodes[0] in episodes:
        return "new"
    return "touched" if episodes.intersection(edge.episodes or ()) else "invalidated"


def with_surprises(result: Any, noticed: Sequence[Noticed]) -> Any:
    """A result of its own class with one more field, ``surprises``; what can have none as it is."""
    kind = type(result)
    if not issubclass(kind, BaseModel):
        return result
    if kind not in _OBSERVED:
        _OBSERVED[kind] = type(f"Observed{kind.__name__}", (kind,), {
            "__annotations__": {"surprises": list[Noticed]}, "surprises": [],
            "__doc__": f"{kind.__name__}, with what Synapse noticed.",
        })  # fmt: skip
    return _OBSERVED[kind].model_construct(**{**vars(result), "surprises": noticed})


_OBSERVED: dict[type[Any], Any] = {}


class Observer:
    """Judges what an ingestion has brought, and puts it into the durable queue.

    Args:
        store: where the graph is.
        detector: the rules.
    """

    def __init__(self, store: MemoryStore, detector: PredictionErrorDetector) -> None:
        self._store = store
        self._detector = detector

    def observe(
        self, graph: str, what: Ingested, relations: RelationTable | None, now_s: float
    ) -> list[Noticed]:
        """Judge what was said and record the outcome, once for each ingestion.

        A fact that is said again is expected, whatever it replaced when it was new, unless it has
        meanwhile been replaced: then it contradicts what had replaced it.

        Args:
            graph: name of the graph.
            what: from :func:`ingested`.
            relations: what the whole graph shows about its relations.
            now_s: the moment, seconds since 1970.
        """
        if not what.new and not what.touched:
            return []
        matters = {
            subject: what.objects[subject].union(
                *(relations.names(name) if relations else {name} for name in named)
            )
            for subject, named in what.relations.items()
        }
        known = self._store.read_subjects(graph, what.relations, matters)
        noticed = list(self._judged(known, what, relations, now_s))
        self._store.record_surprises(graph, _as_surprises(noticed, now_s), what.key)
        return noticed

    def _judged(
        self,
        known: GraphSnapshot,
        what: Ingested,
        relations: RelationTable | None,
        now_s: float,
    ) -> Iterable[Noticed]:
        uuids = known.facts.uuid
        row_of = {uuid: row for row, uuid in enumerate(uuids)}
        rows = [row_of[uuid] for uuid in (*what.new, *what.touched) if uuid in row_of]
        errors = self._detector.judge_all(known, rows, now_s, relations)
        for row, error in zip(rows, errors, strict=True):
            against = error.findings
            if uuids[row] in what.touched:
                against = tuple(f for f in against if _is_news(known, f, row, what.episodes))
            if error.kind == "contradicts" and against:
                first = against[0]
                other = uuids[first.fact if first.by == row else first.by]
                said = other, first.rule, first.evidence
                yield Noticed(uuids[row], "contradicts", error.surprise, *said)
            elif uuids[row] in what.touched:
                yield Noticed(uuids[row], "expected", 0.0)
            else:
                yield Noticed(uuids[row], error.kind, error.surprise)


def _is_news(known: GraphSnapshot, found: Finding, row: int, here: Collection[str]) -> bool:
    """Whether what a fact that is said again contradicts was said since it was said last.

    An episode that states a fact tells since when it holds, later ones that it still does.
    """
    if found.fact == row:
        return True
    facts, episodes = known.facts, known.episodes
    said_s = np.sort(episodes.valid_at_s[facts.episodes[found.fact]])
    begun_s = float(facts.valid_at_s[found.fact])
    if isnan(begun_s):
        begun_s = float(said_s[0]) if len(said_s) else inf
    other_s = max([begun_s, *said_s[1:].tolist()])
    before = [e for e in facts.episodes[row].tolist() if episodes.uuid[e] not in here]
    return not any(episodes.valid_at_s[e] >= other_s for e in before)


def _as_surprises(noticed: Iterable[Noticed], now_s: float) -> list[Surprise]:
    return [Surprise(n.fact, n.against, n.rule, n.surprise, now_s, n.kind) for n in noticed]
