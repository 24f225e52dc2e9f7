"""What the product knows about relations, and the same with half of its evidence taken away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from importlib.util import find_spec
from inspect import signature
from typing import Any, Literal, Protocol

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.model import GraphSnapshot

Evidence = Literal["both", "words", "graph"]
_SWITCHES: dict[Evidence, dict[str, bool]] = {
    "both": {},
    "words": {"use_graph": False},
    "graph": {"use_words": False},
}


class RelationTable(Protocol):
    """What the product knows about the relations of a graph."""

    def cardinality(self, relation: str) -> str:
        """``single``, ``multi``, ``event`` or ``unknown``."""


def relation_table(
    config: HippocampusConfig, snapshot: GraphSnapshot, now: datetime, evidence: Evidence = "both"
) -> RelationTable | None:
    """The product's table of relations; ``None`` where the product cannot make it."""
    learner = _learner()
    if learner is None or not _SWITCHES[evidence].keys() <= signature(learner).parameters.keys():
        return None
    made = learner(getattr(config, "relations", config), **_SWITCHES[evidence])
    table: RelationTable = made.learn(snapshot, now.timestamp())
    return table


@contextmanager
def only_evidence(evidence: Evidence) -> Iterator[None]:
    """Within the block the whole product decides by the words alone, or by the graph alone."""
    learner = _learner()
    if evidence == "both" or learner is None:
        yield
        return
    whole = learner.__init__

    def partial(self: Any, *arguments: Any, **named: Any) -> None:
        whole(self, *arguments, **{**_SWITCHES[evidence], **named})

    learner.__init__ = partial
    try:
        yield
    finally:
        learner.__init__ = whole


def _learner() -> Any:
    if find_spec("synapse.hippocampus.relations") is None:
        return None
    from synapse.hippocampus.relations import RelationLearner

    return RelationLearner
