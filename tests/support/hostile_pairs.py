"""Pairs of facts of which the newer one replaces the older one, or only seems to.

The relation and the value of the newer fact alone would replace the older one; what its sentence
says decides. *ask*: the sentence says something else, or is not clear enough to change anybody's
memory without a question. *write*: it is.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.support.fact_graphs import Said

_TABLE = Path(__file__).parent.parent / "golden" / "hostile_pairs.tsv"


class Pair(NamedTuple):
    """Two facts of one subject."""

    older: Said
    newer: Said


def pairs(expected: str) -> list[Pair]:
    """The pairs of the table of which this is expected."""
    with _TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Pair(
            Said(row["subject"], row["relation"], row["value"], row["sentence"]),
            Said(row["subject"], row["newer relation"], row["newer value"], row["newer sentence"]),
        )
        for row in rows
        if row["expected"] == expected
    ]


def numbered(pairs: Sequence[Pair]) -> list[Pair]:
    """The same pairs, each with a subject of its own, so that all can stand in one graph."""
    return [
        Pair(_renamed(pair.older, number), _renamed(pair.newer, number))
        for number, pair in enumerate(pairs)
    ]


def _renamed(said: Said, number: int) -> Said:
    subject = f"{said.source}{number}"
    text = re.sub(rf"\b{said.source}\b", subject, said.text, flags=re.IGNORECASE)
    return said._replace(source=subject, text=text)
