"""What one speaker said about herself: another count of the same thing, or the contrary.

A remark is a fact that links an entity to itself and whose text speaks in the first person. Two
remarks are compared where they count the same noun in sentences that share most of their words, or
where the newer one says *never* of what the older one tells. Similar topics alone show nothing:
what adds up sounds as alike as what replaces.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from synapse.hippocampus.finding import Finding, date
from synapse.hippocampus.lexicon.words import stem
from synapse.hippocampus.phrase import compiled
from synapse.hippocampus.rules.graph_reading import GraphReading
from synapse.hippocampus.wording import Wording

OTHER_COUNT, NEVER = "other_count", "never"
_COUNT_CONFIDENCE, _NEVER_CONFIDENCE = 0.7, 0.75
_SHARED_MIN_COUNT, _SHARED_MIN_RATIO = 3, 0.4
_NEVER_MIN_COUNT, _NEVER_MIN_RATIO = 2, 0.5
_CHARACTERS_MAX, _SENTENCE_WORDS_MAX = 2_000, 60
_COMPARED_MAX_COUNT = 16
_NOUN_WORDS_MAX = 4

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_TOKEN = re.compile(r"\d[\d,]*(?:\.\d+)?(?:st|nd|rd|th|%|k)?|[^\W\d_][\w'’+-]*|[.,;:!?()$€£]")
_NUMBER = re.compile(r"^(\d[\d,]*(?:\.\d+)?)(k?)$")


@dataclass(frozen=True, slots=True)
class _Count:
    row: int
    number: float
    words: frozenset[str]


class _Remarks:
    """Reads remarks of one language."""

    def __init__(self, wording: Wording) -> None:
        self._skipped = wording.function_words
        self._number_of = {word: float(i) for i, word in enumerate(wording.number_words)}
        self._speaks = compiled(wording.first_person)
        self.never = compiled(wording.never)
        self._clause_end = compiled(wording.clause_ends)

    def sentences(self, text: str) -> list[str]:
        return [s for s in _SENTENCE.split(text[:_CHARACTERS_MAX]) if self._speaks.search(s)]

    def stems(self, text: str) -> frozenset[str]:
        """Content words without their inflections."""
        words = (word.casefold().replace("’", "'") for word in _TOKEN.findall(text))
        return frozenset(
            stem(word) for word in words
            if len(word) > 2 and word[0].isalpha() and word not in self._skipped
            and word not in self._number_of
        )  # fmt: skip

    def denied(self, sentence: str) -> frozenset[str]:
        """What a speaker says she never did."""
        match = self.never.search(sentence)
        if match is None:
            return frozenset()
        return self.stems(self._clause_end.split(sentence[match.end() :])[0])

    def counts(self, row: int, sentence: str) -> Iterator[tuple[str, _Count]]:
        """Each noun that is counted, with its number and the other words of the sentence."""
        tokens = [token.casefold() for token in _TOKEN.findall(sentence)[:_SENTENCE_WORDS_MAX]]
        words = self.stems(" ".join(tokens))
        for place, token in enumerate(tokens):
            number = self._number(token)
            if number is None or tokens[place - 1 : place] in (["$"], ["€"], ["£"]):
                continue
            for noun in tokens[place + 1 : place + 1 + _NOUN_WORDS_MAX]:
                if not noun[0].isalpha() or noun in self._skipped:
                    break
                yield stem(noun), _Count(row, number, words - {stem(noun)})

    def _number(self, token: str) -> float | None:
        if token in self._number_of:
            return self._number_of[token]
        match = _NUMBER.match(token)
        if match is None:
            return None
        return float(match[1].replace(",", "")) * (1000.0 if match[2] else 1.0)


def remarks(graph: GraphReading) -> Iterator[Finding]:
    """Active remarks that a newer remark of the same speaker contradicts."""
    wording = graph.languages[0]
    facts, time = graph.snapshot.facts, graph.time
    loops = np.flatnonzero(graph.speaking & (facts.source == facts.target))
    loops = loops[np.bincount(facts.source[loops])[facts.source[loops]] > 1]
    speaks = compiled(wording.first_person)
    rows = loops[[bool(speaks.search(facts.text[row])) for row in loops.tolist()]]
    if len(rows) < 2:
        return
    order = np.lexsort((time.created_s[rows], time.start_s[rows], facts.source[rows]))
    rows = rows[order]
    reader = _Remarks(wording)
    bounds = np.flatnonzero(np.diff(facts.source[rows])) + 1
    for of_speaker in np.split(rows, bounds):
        if len(of_speaker) > 1:
            told = [(row, reader.sentences(facts.text[row])) for row in of_speaker.tolist()]
            yield from _other_counts(graph, told, reader)
            yield from _nevers(graph, told, reader)


def _other_counts(
    graph: GraphReading, told: list[tuple[int, list[str]]], reader: _Remarks
) -> Iterator[Finding]:
    by_noun: defaultdict[str, list[_Count]] = defaultdict(list)
    for row, sentences in told:
        for sentence in sentences:
            for noun, count in reader.counts(row, sentence):
                for before in by_noun[noun][-_COMPARED_MAX_COUNT:]:
                    if before.number != count.number and _is_same_matter(before, count):
                        yield from _finding(
                            graph, before.row, row, OTHER_COUNT, _COUNT_CONFIDENCE,
                            f"counts the same otherwise: {before.number:g} -> {count.number:g}",
                        )  # fmt: skip
                by_noun[noun].append(count)


def _is_same_matter(old: _Count, new: _Count) -> bool:
    shared = len(old.words & new.words)
    fewer = min(len(old.words), len(new.words))
    return shared >= _SHARED_MIN_COUNT and shared >= _SHARED_MIN_RATIO * fewer


def _nevers(
    graph: GraphReading, told: list[tuple[int, list[str]]], reader: _Remarks
) -> Iterator[Finding]:
    by_word: defaultdict[str, list[int]] = defaultdict(list)
    words_of: dict[int, frozenset[str]] = {}
    for row, sentences in told:
        for sentence in sentences:
            denied = reader.denied(sentence)
            if len(denied) < _NEVER_MIN_COUNT:
                continue
            shared: Counter[int] = Counter()
            for word in sorted(denied, key=lambda w: (len(by_word[w]), w)):
                shared.update(by_word[word][-_COMPARED_MAX_COUNT:])
            for before, _ in shared.most_common(_COMPARED_MAX_COUNT):
                common = len(denied & words_of[before])
                if common >= max(_NEVER_MIN_COUNT, _NEVER_MIN_RATIO * len(denied)):
                    yield from _finding(
                        graph, before, row, NEVER, _NEVER_CONFIDENCE,
                        "says that it never was so",
                    )  # fmt: skip
        if not any(reader.never.search(sentence) for sentence in sentences):
            words_of[row] = reader.stems(graph.snapshot.facts.text[row][:_CHARACTERS_MAX])
            for word in sorted(words_of[row]):
                by_word[word].append(row)


def _finding(
    graph: GraphReading, old: int, new: int, rule: str, confidence: float, why: str
) -> Iterator[Finding]:
    time = graph.time
    at_s = float(time.start_s[new])
    if graph.active[old] and old != new and float(time.start_s[old]) < at_s:
        yield Finding(
            fact=old,
            by=new,
            verdict="missed",
            rule=rule,
            confidence=confidence,
            invalid_at_s=at_s,
            evidence=f"A newer remark, from {date(at_s)}, {why}.",
        )
