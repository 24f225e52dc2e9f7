"""M12: the gate between reading and writing, on the sentences of published dialogues.

Labels by rule, where the text shows them: a sentence that ends with a question mark asks, at least
in its last clause; one that ends with a full stop, begins with a pronoun or possessive of the first
or third person and holds no word of asking states. Every sentence is judged as written, and once
more without its last mark, as people type.
"""

from __future__ import annotations

import re

from synapse.hippocampus.gate import QuestionGate

from .data import MissingSet
from .engine import Bench
from .result import Bar, Measured, Table, ratio

TITLE = "M12 gate"
SETS = ("longmemeval", "beam")
INGESTED_BAR, REFUSED_BAR = 0.01, 0.03

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]+")
_STATES = re.compile(r"(?:i|i['’](?:m|ve|d|ll)|we|my|our|he|she|his|her|they|it|the)\b", re.I)
_ASKING = re.compile(
    r"\b(?:what|which|who|whose|when|where|why|how|whether|if|wonder\w*|curious|know|tell|show|"
    r"explain|suggest\w*|recommend\w*|advice|ideas?|tips|can you|could you|would you|help)\b",
    re.I,
)


def measure(bench: Bench) -> Measured:
    """Questions that would be ingested and statements that would be refused, by set."""
    measured = Measured()
    table = Table(
        "M12 gate: share of sentences on the wrong side",
        ["set and form", "questions", "ingested", "statements", "refused"],
    )
    measured.tables = [table]
    gate = QuestionGate()
    for name in SETS:
        try:
            turns = {row[side] for row in bench.data.rows(name, "pairs") for side in ("old", "new")}
        except MissingSet as reason:
            measured.skipped.append(str(reason))
            continue
        asking, stating = _labelled(turns)
        for form, cut in (("as written", str), ("without its last mark", _unmarked)):
            ingested = [q for q in asking if _ingests(gate, cut(q))]
            refused = [s for s in stating if gate.split(cut(s)).questions]
            if bench.details:
                measured.notes += [f"{name} ingested: {q.strip()}" for q in ingested]
                measured.notes += [f"{name} refused: {s.strip()}" for s in refused]
            shares = ratio(len(ingested), len(asking)), ratio(len(refused), len(stating))
            table.add(f"{name}, {form}", len(asking), shares[0], len(stating), shares[1])
            if form == "as written":
                measured.bars += [
                    Bar(f"M12 {name} questions ingested", shares[0], INGESTED_BAR, "at most"),
                    Bar(f"M12 {name} statements refused", shares[1], REFUSED_BAR, "at most"),
                ]
    return measured


def _labelled(turns: set[str]) -> tuple[list[str], list[str]]:
    sentences = sorted({s.strip() for turn in turns for s in _SENTENCE.findall(turn)})
    asking = [s for s in sentences if s.endswith("?")]
    stating = [
        s for s in sentences if s.endswith(".") and _STATES.match(s) and not _ASKING.search(s)
    ]
    return asking, stating


def _ingests(gate: QuestionGate, question: str) -> bool:
    """Whether the last clause, which asks, would be taken for a statement."""
    return not gate.split(question).questions


def _unmarked(sentence: str) -> str:
    return sentence.rstrip("?!. ")
