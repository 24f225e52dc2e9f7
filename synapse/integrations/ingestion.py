"""What one call to Graphiti has written, read from its result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

from pydantic import BaseModel

from synapse.errors import UsageError
from synapse.hippocampus.bearing import Told


@dataclass(frozen=True, slots=True)
class Noticed:
    """How one statement of a fact sits with what was known of its subject."""

    fact: str
    """Uuid of the fact."""
    kind: Literal["expected", "novel", "contradicts"]
    surprise: float
    """From 0 to 1."""
    against: str = ""
    """Uuid of the known fact it contradicts, empty where there is none."""
    rule: str = ""
    evidence: str = ""
    said_in: str = ""
    """Uuid of the episode that states it; empty for a triplet that came without one."""


@dataclass(frozen=True, slots=True)
class Said:
    """One fact, stated by one episode."""

    fact: str
    episode: str
    """Its uuid, empty where there is none."""
    is_new: bool
    """Whether the fact was not known before."""


@dataclass(frozen=True, slots=True)
class Ingested:
    """The facts that one call to Graphiti has written."""

    said: tuple[Said, ...]
    """What was stated, in the order of the episodes. What was only ended is not among it."""
    episodes: tuple[str, ...]
    """Uuids of the call's episodes, in its order; a triplet has none."""
    statements: tuple[Told, ...]
    """All of them as they are told, the ended ones too."""

    @property
    def new_count(self) -> int:
        """Facts that were not known before."""
        return sum(one.is_new for one in self.said)


def ingested(result: Any) -> Ingested:
    """Read what a result says.

    A fact whose first episode is one of this call is new, unless it is older than that episode:
    then a triplet had said it before. Each further episode of the call that states it has
    confirmed it. A fact that no episode of the call states was ended.

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
    edges: dict[str, Any] = {}
    for edge in result.edges:  # a bulk result names an edge once for each episode that states it
        edges.setdefault(edge.uuid, edge)
    episodes = episodes_of(result)
    told = _by_episodes(edges.values(), episodes) if episodes else _by_triplet(edges.values())
    return Ingested(
        said=tuple(told),
        episodes=tuple(episode.uuid for episode in episodes),
        statements=tuple(
            Told(edge.source_node_uuid, edge.name, edge.target_node_uuid, edge.fact or "")
            for edge in edges.values()
        ),
    )


def episodes_of(result: Any) -> list[Any]:
    """The episodes of a result; a triplet has none."""
    one = getattr(result, "episode", None)
    return [one] if one is not None else list(getattr(result, "episodes", None) or ())


def with_surprises(result: Any, noticed: list[Noticed]) -> Any:
    """A result of its own class with one more field, ``surprises``; what can have none as it is."""
    kind = type(result)
    if not issubclass(kind, BaseModel):
        return result
    if kind not in _OBSERVED:
        _OBSERVED[kind] = type(f"Observed{kind.__name__}", (kind,), {
            "__annotations__": {"surprises": list[Noticed]}, "surprises": [],
            "__doc__": f"{kind.__name__}, with what Synapse noticed.",
            "__reduce__": lambda observed: (with_surprises, _parted(observed, kind)),
        })  # fmt: skip
    return _OBSERVED[kind].model_construct(**{**vars(result), "surprises": noticed})


_OBSERVED: dict[type[BaseModel], Any] = {}


def _parted(observed: Any, kind: type[BaseModel]) -> tuple[Any, list[Noticed]]:
    fields = dict(vars(observed))
    noticed = fields.pop("surprises")
    return kind.model_construct(**fields), noticed


def _by_episodes(edges: Iterable[Any], episodes: Sequence[Any]) -> Iterator[Said]:
    created_s = {episode.uuid: _created_s(episode, -inf) for episode in episodes}
    stated = [(edge, set(edge.episodes or ())) for edge in edges]
    new = {
        edge.uuid
        for edge, named in stated
        if named and _created_s(edge, inf) >= created_s.get(edge.episodes[0], inf)
    }
    for episode in episodes:
        for edge, named in stated:
            if episode.uuid in named:
                yield Said(edge.uuid, episode.uuid, edge.uuid in new)
                new.discard(edge.uuid)


def _created_s(one: Any, unknown_s: float) -> float:
    created_at = getattr(one, "created_at", None)
    return unknown_s if created_at is None else float(created_at.timestamp())


def _by_triplet(edges: Iterable[Any]) -> Iterator[Said]:
    """Graphiti tells first what was stated, then what that has ended."""
    for place, edge in enumerate(edges):
        if place == 0 or edge.expired_at is None:
            named = edge.episodes or ()
            yield Said(edge.uuid, named[-1] if named else "", len(named) < 2)
