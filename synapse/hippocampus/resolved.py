"""What became of the contradictions that a run was to resolve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from synapse.hippocampus.ledger import WOULD_RESOLVE, Entry
from synapse.hippocampus.room import Room


@dataclass(frozen=True, slots=True)
class Resolved:
    """What became of the contradictions. In a dry run: what would become of them."""

    room: Room
    """As it is afterwards."""
    ended: frozenset[str] = frozenset()
    """Uuids of the facts that were ended."""
    reopened: frozenset[str] = frozenset()
    """Uuids of those that were made valid again, by a decision that had been overwritten."""
    changed: tuple[str, ...] = ()
    """Uuids of those that were left alone since they, or what replaces them, have changed."""
    given_up: Mapping[str, Entry] = field(default_factory=dict)
    """Entries of the ledger that are no longer written."""
    reverts_count: int = 0
    """Decisions that an ingestion had overwritten."""
    is_dry: bool = False
    refusal: str = ""
    """Why a run would refuse what this dry run has planned."""

    @property
    def has_written(self) -> bool:
        """Whether the graph is no longer what was read."""
        return not self.is_dry and bool(self.ended or self.reopened)

    def seen_in(self, ledger: Mapping[str, Entry]) -> dict[str, Entry]:
        """A ledger for a report: it says what was left alone, and what a run would write."""
        states = dict.fromkeys(self.changed, "changed")
        if self.is_dry:
            states |= dict.fromkeys(self.ended | self.reopened, WOULD_RESOLVE)
        told = {u: ledger[u] | {"state": state} for u, state in states.items() if u in ledger}
        return {**ledger, **told}
