"""What the last full run found out, kept so that an unchanged graph need not be understood again.

A run's findings are a function of the graph, the constants, the product's version, the decisions
in the ledger, of which of the graph's times lie in the past, and of the near-duplicates where they
are looked for. A memo names all six; where they are the same, so are the findings, and only the
passing of time is left to work out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from synapse import __version__
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.kept_ledger import ledger_digest
from synapse.hippocampus.model import GraphSnapshot
from synapse.hippocampus.report import Timeless


class Memo(BaseModel):
    """Findings and what they hold for. ``None`` as a moment: no bound."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    graph_digest: str
    config_digest: str
    ledger_digest: str
    near_digest: str = ""
    """Of the near-duplicates, where they were looked for."""
    since_s: float | None
    """The latest time in the graph that lay in the past."""
    until_s: float | None
    """The earliest time in the graph that lay in the future: from then on, think again."""
    known: Timeless

    @classmethod
    def of(
        cls, snapshot: GraphSnapshot, config: HippocampusConfig, ledger: Mapping[str, Any],
        now_s: float, known: Timeless, near_digest: str = "",
    ) -> Memo:  # fmt: skip
        """What to keep of a full run."""
        since_s, until_s = _still(snapshot, now_s)
        page = known.outlived
        return cls(
            version=__version__,
            graph_digest=snapshot.digest,
            config_digest=config.digest,
            ledger_digest=ledger_digest(ledger),
            near_digest=near_digest,
            since_s=max((s for s in (since_s, page.since_s) if s is not None), default=None),
            until_s=min((s for s in (until_s, page.until_s) if s is not None), default=None),
            known=known,
        )

    @classmethod
    def read(cls, kept: Any) -> Memo | None:
        """The memo that a room holds; ``None`` where there is none that this version knows."""
        if not isinstance(kept, dict):
            return None
        try:
            return cls.model_validate(kept)
        except ValidationError:
            return None

    def holds(self, config: HippocampusConfig, ledger: Mapping[str, Any], now_s: float) -> bool:
        """Whether it still says what a full run would find, if the graph is the same."""
        return (
            bool(self.graph_digest)
            and self.version == __version__
            and self.config_digest == config.digest
            and self._holds_for(ledger)
            and (self.since_s is None or self.since_s <= now_s)
            and (self.until_s is None or now_s < self.until_s)
        )

    def _holds_for(self, ledger: Mapping[str, Any]) -> bool:
        # The same decisions may have been kept in other bytes.
        known = self.ledger_digest
        return known == ledger_digest(ledger) or known == ledger_digest(dict(ledger))


def _still(snapshot: GraphSnapshot, now_s: float) -> tuple[float | None, float | None]:
    """The times of the graph around this moment: between them nothing comes to pass."""
    facts, episodes = snapshot.facts, snapshot.episodes
    times_s = np.concatenate(
        [
            facts.created_at_s, facts.valid_at_s, facts.invalid_at_s, facts.expired_at_s,
            episodes.created_at_s, episodes.valid_at_s,
        ]
    )  # fmt: skip
    past, future = times_s[times_s <= now_s], times_s[times_s > now_s]
    return (
        float(past.max()) if len(past) else None,
        float(future.min()) if len(future) else None,
    )
