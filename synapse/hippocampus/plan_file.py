"""What is to change in Graphiti's own data, as a value that people can read, keep and hand on.

A plan is made from one state of one graph and carries, for each change, the digest of what was
there before. Its id is a digest of everything else in it: a plan that was edited is no longer the
plan that was made.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from synapse.errors import UsageError
from synapse.hippocampus.image import Kind

Do = Literal["end", "reopen", "archive", "restore"]
"""``end`` and ``reopen`` write when a fact ended; ``archive`` and ``restore`` move a memory."""

PLAN_VERSION: Literal[1] = 1


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Ends(_Frozen):
    """When a fact stopped to hold, and to be believed, as the graph writes it."""

    invalid_at: str | None = None
    expired_at: str | None = None


class PlannedChange(_Frozen):
    """One change: what, from what to what, and why. ``None`` where it does not apply."""

    do: Do
    memory: str
    """Uuid of the memory that changes."""
    kind: Kind = "fact"
    text: str = ""
    """Text of a fact, name of an entity, for whoever reads the plan."""
    by: str | None = None
    """Uuid of the fact that replaces it."""
    by_text: str | None = None
    was: Ends | None = None
    to: Ends | None = None
    reason: str = ""
    evidence: str = ""
    before: str = ""
    """Digest of the memory before the change."""
    by_before: str | None = None
    """Digest of the fact that replaces it."""
    claim: dict[str, Any] = {}
    """What the ledger is to say about the finding behind an end."""

    @property
    def is_end(self) -> bool:
        """Whether it writes the ends of a fact, and moves nothing."""
        return self.do in ("end", "reopen")


class Seen(_Frozen):
    """How many memories the caps are a share of."""

    entities: int = 0
    facts: int = 0


class MemoryPlan(_Frozen):
    """Changes of one graph, at most one for each memory.

    >>> plan = MemoryPlan(graph="g", now="2026-01-01T00:00:00Z", config_digest="c0ffee")
    >>> MemoryPlan.loads(plan.dumps()) == plan
    True
    """

    synapse_plan: Literal[1] = PLAN_VERSION
    graph: str
    group_id: str | None = None
    now: str
    """The moment that the plan was made for."""
    config_digest: str
    seen: Seen = Seen()
    changes: tuple[PlannedChange, ...] = ()

    @property
    def id(self) -> str:
        """Names the plan by its content."""
        raw = json.dumps(self.model_dump(), sort_keys=True)
        return hashlib.blake2b(raw.encode(), digest_size=16).hexdigest()

    def dumps(self) -> str:
        """JSON with one line for each change."""
        head = self.model_dump(exclude={"changes"})
        head = {"synapse_plan": head.pop("synapse_plan"), "id": self.id, **head}
        start = json.dumps(head)[:-1]
        lines = [_line(change) for change in self.changes]
        body = "\n  " + ",\n  ".join(lines) + "\n" if lines else ""
        return f'{start},\n "changes": [{body}]}}\n'

    @classmethod
    def loads(cls, text: str) -> MemoryPlan:
        """Read a plan.

        Raises:
            UsageError: it is no plan, of another version, or no longer what was made.
        """
        try:
            raw = json.loads(text)
            named = raw.pop("id")
            if raw.get("synapse_plan") != PLAN_VERSION:
                raise UsageError("the plan is of another version of Synapse; make a new plan")
            plan = cls.model_validate(raw)
        except (ValueError, AttributeError, KeyError, TypeError, RecursionError) as error:
            what = "damaged" if isinstance(error, ValidationError) else "no plan"
            raise UsageError(f"the file is {what}; make one with synapse plan -o FILE") from error
        if plan.id != named:
            raise UsageError("the plan was changed after it was made; make a new plan")
        if len({change.memory for change in plan.changes}) < len(plan.changes):
            raise UsageError("the plan names a memory twice; make a new plan")
        return plan


def _line(change: PlannedChange) -> str:
    shown = change.model_dump(exclude_defaults=True)
    shown |= {name: ends.model_dump() for name in ("was", "to") if (ends := getattr(change, name))}
    # Line separators of other alphabets would break the line in some editors.
    text = json.dumps(shown, ensure_ascii=False)
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
