"""Gathers what an agent is told about some subjects: what holds, and what was replaced."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf, isfinite

import numpy as np

from synapse.hippocampus.circles import circles
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.context import ActiveFact, Change, context_block
from synapse.hippocampus.contradiction import ContradictionDetector
from synapse.hippocampus.finding import Finding, date
from synapse.hippocampus.model import Facts, GraphSnapshot
from synapse.hippocampus.ports import MemoryStore
from synapse.hippocampus.relation_table import RelationTable
from synapse.hippocampus.resolution import replaces_nothing
from synapse.integrations.recall import strengths


class Briefer:
    """Writes the prompt block about some subjects.

    Args:
        store: where the graph is.
        config: the constants; a contradiction that ``--resolve`` would write counts as resolved.
    """

    def __init__(self, store: MemoryStore, config: HippocampusConfig) -> None:
        self._store = store
        self._config = config
        self._detector = ContradictionDetector(config.contradictions)

    def brief(
        self, graph: str, subjects: Collection[str], relations: RelationTable, at_s: float,
        max_tokens: int, only: Collection[str] | None = None, group_id: str | None = None,
    ) -> str:  # fmt: skip
        """The block about some subjects as of a moment.

        Of each property whose value has changed it tells the one that holds and the oldest other;
        what is stored twice it tells once, since it began.
        A fact that another one seems to contradict is not *verified*: it is left out, and told as a
        change only where that is certain; of facts that replace each other in a circle the newest
        is told. Where it tells of several entities of one name, each fact
        says which of them it is about.

        Args:
            graph: name of the graph.
            subjects: uuids of entities.
            relations: what the graph shows about its relations.
            at_s: the moment, seconds since 1970.
            max_tokens: budget.
            only: uuids of the facts that matter; by default all.
            group_id: whose facts may be told; by default all, whatever groups the graph holds.
        """
        known = self._store.read_subjects(graph, subjects)
        facts = known.facts
        found = _leaving_one(known, self._detector.detect(known, at_s, relations).findings, at_s)
        replaced_by = {f.fact: f.by for f in found if f.by >= 0 and self._is_sure(f)}
        ended = {r for r, end_s in enumerate(facts.invalid_at_s.tolist()) if end_s <= at_s}
        ended |= {f.fact for f in found if f.verdict == "missed"}
        begun = [not begin_s > at_s for begin_s in facts.valid_at_s.tolist()]
        wanted = self._wanted(known, replaced_by, only)
        if group_id is not None:
            wanted = [row for row in wanted if facts.group_id[row] == group_id]
        holding = [row for row in wanted if row not in ended and begun[row]]
        since_s = _since(known, found, holding)
        active = list(since_s)
        strength = strengths(
            self._store, graph, [], [facts.uuid[row] for row in active], at_s, self._config
        )
        alive = [1.0 if value != value else float(value) for value in strength.tolist()]
        replaced = _replaced(known, ended, replaced_by, set(holding))
        of = _numbers(known, {int(facts.source[row]) for row in (*active, *replaced)})
        told = [
            ActiveFact(facts.text[row], _day(since_s[row]), value, _of(facts, row, of))
            for row, value in zip(active, alive, strict=True)
        ]
        changes = [
            Change(
                facts.text[row], _value(known, last, row), _day(facts.valid_at_s[last]),
                _of(facts, last, of),
            )
            for last, row in replaced.items()
        ]  # fmt: skip
        return context_block(told, changes, max_tokens)

    def _is_sure(self, finding: Finding) -> bool:
        sure = finding.confidence >= self._config.contradictions.resolve_confidence
        return finding.verdict == "superseded" or (finding.verdict == "missed" and sure)

    @staticmethod
    def _wanted(
        known: GraphSnapshot, replaced_by: dict[int, int], only: Collection[str] | None
    ) -> list[int]:
        """The facts that matter, and those that have replaced one of them."""
        rows = range(len(known.facts))
        if only is None:
            return list(rows)
        wanted = {row for row in rows if known.facts.uuid[row] in only}
        return sorted(wanted | {_chain(row, replaced_by)[-1] for row in wanted})


def _leaving_one(known: GraphSnapshot, found: Sequence[Finding], at_s: float) -> list[Finding]:
    """The findings, without those that would leave no value at all.

    What had itself ended by the moment of a finding has replaced nothing, and of facts that
    replace each other in a circle the newest that has not ended stays.
    """
    ends_s, begins_s = known.facts.invalid_at_s, known.facts.valid_at_s
    found = [f for f in found if f.verdict != "missed" or not replaces_nothing(known, f)]
    by = {f.fact: f.by for f in found if f.by >= 0 and f.verdict in ("missed", "superseded")}
    newest = set[int]()

    def begin(row: int) -> tuple[float, str]:
        at_s = float(begins_s[row])
        return at_s if isfinite(at_s) else -inf, known.facts.uuid[row]

    for circle in circles(by):
        held = [row for row in circle if not (ends_s[row] <= at_s or begins_s[row] > at_s)]
        newest |= set(sorted(held, key=begin)[-1:])
    return [f for f in found if f.fact not in newest]


def _since(
    known: GraphSnapshot, found: Sequence[Finding], holding: Sequence[int]
) -> dict[int, float]:
    """The facts to tell, and since when they hold; of what is stored twice the newer."""
    text, begins_s = known.facts.text, known.facts.valid_at_s
    since_s = {row: float(begins_s[row]) for row in holding}
    again = {
        f.fact: f.by
        for f in found
        if f.verdict == "duplicate" and {f.fact, f.by} <= since_s.keys()
        and text[f.fact] == text[f.by]
    }  # fmt: skip
    for row in again:
        newest = _chain(row, again)[-1]
        since_s[newest] = float(np.fmin(since_s[newest], begins_s[row]))
    return {row: at_s for row, at_s in since_s.items() if row not in again}


def _replaced(
    known: GraphSnapshot, ended: set[int], replaced_by: dict[int, int], active: set[int]
) -> dict[int, int]:
    """By each fact that holds and has replaced others, the oldest of these.

    A value that has come back since is not among them.
    """
    oldest: dict[int, int] = {}
    begins_s = known.facts.valid_at_s
    for row in sorted(ended):
        chain = _chain(row, replaced_by)
        last = chain[-1]
        if last not in active or known.facts.text[row] == known.facts.text[last]:
            continue
        if not _has_come_back(known, chain):
            first = oldest.setdefault(last, row)
            if begins_s[row] < begins_s[first]:
                oldest[last] = row
    return oldest


def _has_come_back(known: GraphSnapshot, chain: list[int]) -> bool:
    """Whether the first fact of a chain gives the last one's value, and others came between."""
    value = _object(known, chain[-1])
    return _object(known, chain[0]) == value and any(_object(known, x) != value for x in chain)


def _numbers(known: GraphSnapshot, entities: Iterable[int]) -> dict[int, str]:
    """Tells entities of one name apart, the oldest first."""
    of_name: defaultdict[str, list[int]] = defaultdict(list)
    table = known.entities
    for row in sorted(entities, key=lambda row: (table.created_at_s[row], table.uuid[row])):
        of_name[table.name[row].casefold()].append(row)
    return {
        row: f"{number} of {len(rows)}"
        for rows in of_name.values()
        for number, row in enumerate(rows, 1)
        if len(rows) > 1
    }


def _of(facts: Facts, row: int, numbers: Mapping[int, str]) -> str:
    return numbers.get(int(facts.source[row]), "")


def _value(known: GraphSnapshot, row: int, before: int) -> str:
    """What a fact says of its subject in the place of another one.

    The name of its object, where the fact spells it, and where it is what has changed.
    """
    text, name = known.facts.text[row], known.entities.name[int(known.facts.target[row])]
    is_loop = known.facts.source[row] == known.facts.target[row]
    is_other = _object(known, row) != _object(known, before)
    return name if is_other and not is_loop and name.casefold() in text.casefold() else text


def _object(known: GraphSnapshot, row: int) -> str:
    """The name of a fact's object, in any case."""
    return known.entities.name[int(known.facts.target[row])].casefold()


def _chain(row: int, replaced_by: dict[int, int]) -> list[int]:
    """A fact, what has replaced it, and so on."""
    chain = {row: None}  # in order, and quick to look up
    while row in replaced_by and replaced_by[row] not in chain:
        row = replaced_by[row]
        chain[row] = None
    return list(chain)


def _day(time_s: float) -> str:
    return date(float(time_s)) if isfinite(time_s) else ""
