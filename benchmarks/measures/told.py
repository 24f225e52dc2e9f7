"""M13: the block an agent is told, after every fact was believed one by one without a batch.

For each single-hop question of FactConsolidation (subject and property are given) the block is
right if the active part holds an accepted answer and none of the values that were replaced. The
size of the block about everything that is known of the subject stands beside it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import repeat
from statistics import median
from typing import NamedTuple

from synapse.hippocampus.context import CHANGES_TITLE
from synapse.integrations.belief import Believer, Statement
from synapse.integrations.briefing import Briefer
from synapse.integrations.relation_memory import RelationMemory

from .answers import Question, questions_of
from .data import Edge, MissingSet
from .engine import Bench
from .result import Bar, Measured, Table, ratio

TITLE = "M13 told"
SIZES = ("6k", "32k")
RIGHT_BAR, WORDS_BAR = 0.97, 60


class Told(NamedTuple):
    """The blocks about the questions, and about their whole subjects."""

    blocks: list[str]
    of_subjects: list[str]


def measure(bench: Bench) -> Measured:
    """Believe the facts of each size in order, then ask for the subject of each question."""
    measured = Measured()
    table = Table(
        "M13 told: blocks with an accepted answer and no replaced value",
        [
            "set",
            "facts",
            "questions",
            "right",
            "changes told",
            "median words",
            "most words",
            "of the whole subject: median",
            "most",
        ],
    )
    measured.tables = [table]
    for size in SIZES:
        try:
            edges = bench.data.consolidation_edges(size, "clean")
        except MissingSet as reason:
            measured.skipped.append(f"FC {size}: {reason}")
            continue
        questions = questions_of(bench, size, edges, measured)
        told = _told(bench, f"told-{size}", edges, questions)
        right = [_is_right(*each) for each in zip(questions, repeat(edges), told.blocks)]
        words = [len(block.split()) for block in told.blocks]
        whole = [len(block.split()) for block in told.of_subjects]
        changes = sum(CHANGES_TITLE in block for block in told.blocks)
        share = ratio(sum(right), len(right))
        table.add(
            f"FC {size}", len(edges), len(questions), share, ratio(changes, len(questions)),
            median(words), max(words), median(whole), max(whole),
        )  # fmt: skip
        measured.bars += [
            Bar(f"M13 {size} right", share, RIGHT_BAR),
            Bar(f"M13 {size} most words", float(max(words)), WORDS_BAR, "at most"),
        ]
        if bench.details:
            wrong = [q for q, is_right in zip(questions, right, strict=True) if not is_right]
            measured.notes += [f"wrong: {question}" for question in wrong]
    return measured


def _told(bench: Bench, name: str, edges: list[Edge], questions: Sequence[Question]) -> Told:
    """Believe everything, then brief about the subject and property of each question."""
    store, graph = bench.store_and_graph(True, name)
    now_s = 0.0
    relations = RelationMemory(store, bench.config.relations, lambda: now_s)
    believer, facts = Believer(store), defaultdict(list)
    for edge in sorted(edges, key=lambda edge: edge.start):
        now_s = edge.start.timestamp()
        said = Statement(edge.subject, edge.name, edge.object, edge.text, now_s)
        belief = believer.believe(graph, "g", said, relations.of(graph), now_s)
        relations.tell(graph, 1)
        facts[edge.slot].append(belief.fact)
    now_s += 86_400.0
    relations.forget(graph)
    briefer, table = Briefer(store, bench.config), relations.of(graph)
    uuids = store.find_entities(graph, {question.subject for question in questions})

    def brief(question: Question, only: list[str] | None) -> str:
        return briefer.brief(graph, uuids[question.subject], table, now_s, 1_000, only)

    return Told(
        [brief(q, facts[q.subject, q.relation]) for q in questions],
        [brief(q, None) for q in questions],
    )


def _is_right(question: Question, edges: list[Edge], block: str) -> bool:
    active = block.split(CHANGES_TITLE)[0].replace(question.subject, "").casefold()
    mine = [edge for edge in edges if edge.slot == (question.subject, question.relation)]
    slot = sorted(mine, key=lambda edge: edge.start)
    accepted = [answer.casefold() for answer in question.accepted]
    replaced = {edge.object.casefold() for edge in slot[:-1]} - {slot[-1].object.casefold()}
    replaced = {value for value in replaced if not any(value in answer for answer in accepted)}
    return any(answer in active for answer in accepted) and not any(
        re.search(rf"(?<!\w){re.escape(value)}(?!\w)", active) for value in replaced
    )
