"""Sentences of a turn, and the places in them where a clause may begin."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ABBREVIATED = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|approx|no|inc|ltd|jr|sr|a\.m|p\.m|u\.s)|\b[A-Z])\.$",
    re.IGNORECASE,
)
INVISIBLE = "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
_END = re.compile(
    rf"(?<![.!?\u061f\uff1f])[.!?\u061f\uff1f]++[\"'”’»)\]{INVISIBLE}]*+(?=\s)|[\u3002\uff01\uff1f]"
)
_CLAUSE = re.compile(r"[,;:–—…]\s+|\s-{1,2}\s|\s\(|\.{3}\s*")
_JOINED = re.compile(r"\s(?=(?:and|but|so|or)\s)", re.IGNORECASE)
_ABBREVIATION_CHARACTERS_MAX = 16


def sentences(text: str) -> Iterator[str]:
    """Sentences and lines."""
    for line in text.splitlines():
        begin = 0
        for match in _END.finditer(line):
            end = match.end()
            if _ABBREVIATED.search(line[max(begin, end - _ABBREVIATION_CHARACTERS_MAX) : end]):
                continue
            if sentence := line[begin : match.end()].strip():
                yield sentence
            begin = match.end()
        if sentence := line[begin:].strip():
            yield sentence


def clause_starts(sentence: str) -> Iterator[int]:
    yield 0
    starts = {match.end() for match in _CLAUSE.finditer(sentence)}
    starts |= {match.end() for match in _JOINED.finditer(sentence)}
    yield from sorted(starts - {0, len(sentence)})
