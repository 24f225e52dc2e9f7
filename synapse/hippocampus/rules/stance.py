"""Whether a relation name or a sentence says yes or no, and about which matters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from synapse.hippocampus.lexicon.words import split_name, stem
from synapse.hippocampus.phrase import compiled
from synapse.hippocampus.rules.ending import EndingReader
from synapse.hippocampus.rules.grade import Grade
from synapse.hippocampus.rules.statement import TARGET, StatementReader
from synapse.hippocampus.wording import CACHED_COUNT

_DENIED_CONFIDENCE, _OPPOSITE_CONFIDENCE = 0.85, 0.9
_WORDS_BETWEEN_MAX = 6
_WORDS_WITHOUT_NAME_MAX = 14
_SURER: tuple[Grade, ...] = ("plainly", "perhaps", "doubtfully", "not")
OWN = "own property"
"""The matter of a fact's own property."""
_WORD = re.compile(r"⟨[so]⟩|[^\W_]+(?:['’][^\W_]+)?")


@dataclass(frozen=True, slots=True)
class Stance:
    """What a fact says about its two entities."""

    yes: bool
    matters: frozenset[str]
    """Families, opposites, and the fact's own property."""
    confidence: float
    grade: Grade = "plainly"
    """How surely a sentence that denies means what it says."""


_UNDONE = Stance(False, frozenset(), 0.0, "not")


def _surest(grades: Sequence[Grade]) -> Grade:
    return min(grades, key=_SURER.index)


class StanceReader:
    """Reads from relation names and sentences whether they affirm or deny.

    >>> from synapse.hippocampus.lexicon.english_changes import ENGLISH
    >>> from synapse.hippocampus.lexicon.english import ENGLISH_RELATIONS
    >>> from synapse.hippocampus.lexicon.english_assertions import ENGLISH_ASSERTIONS
    >>> from synapse.hippocampus.rules.assertion import AssertionReader
    >>> statements = StatementReader(ENGLISH)
    >>> reader = StanceReader(statements, EndingReader(
    ...     AssertionReader(statements, ENGLISH_ASSERTIONS, ENGLISH_RELATIONS)))
    >>> reader.of_relation("DISLIKES").yes, reader.of_relation("LIKES").yes
    (False, True)
    >>> reader.denial("⟨s⟩ resigned from ⟨o⟩", "LEFT").yes
    False
    >>> reader.denial("⟨s⟩ left Acme and joined ⟨o⟩", "JOINED") is None
    True
    """

    def __init__(self, reader: StatementReader, clauses: EndingReader) -> None:
        wording = reader.wording
        self._reader = reader
        self._clauses = clauses
        self._half_denied = compiled(wording.half_denied)
        self._endings = [(ending, compiled(ending.pattern)) for ending in wording.endings]
        self._negates = compiled(wording.negates)
        self._opposites = [
            (o.name, frozenset(map(stem, o.yes)), frozenset(map(stem, o.no)))
            for o in wording.opposites
        ]
        self.of_relation = lru_cache(CACHED_COUNT)(self._of_relation)
        self.denial = lru_cache(CACHED_COUNT)(self._denial)
        self.matters = lru_cache(CACHED_COUNT)(self._matters)

    def _of_relation(self, relation: str) -> Stance:
        words = " ".join(split_name(relation))
        opposites, denies = self._opposed(words)
        families = self._reader.families(words) | _verbs(words)
        ending = [e for e, pattern in self._endings if pattern.search(words)]
        if ending:
            matters = frozenset[str]().union(*(e.families or families | {OWN} for e in ending))
            return Stance(False, matters | opposites, ending[0].confidence)
        if self._negates.search(words):
            return Stance(False, families | opposites | {OWN}, _DENIED_CONFIDENCE)
        own = frozenset() if denies else families | {OWN}
        return Stance(not denies, own | opposites, _OPPOSITE_CONFIDENCE)

    def _denial(self, masked: str, relation: str) -> Stance | None:
        """What a sentence denies, ``None`` if it denies nothing about its two entities.

        A sentence that says of an end that there was none denies no matter, by the grade *not*.
        """
        confidence, matters, undone = 0.0, frozenset[str](), False
        grades: list[Grade] = []
        for ending, pattern in self._endings:
            match = pattern.search(masked)
            if match and self._is_about_target(masked, match):
                grade = self._clauses.grade(masked, match, relation)
                if grade == "not" or self._undone(masked, match):
                    undone = True
                    continue
                matters |= ending.families or self._ended(masked, match, relation)
                confidence = max(confidence, ending.confidence)
                grades.append(grade)
        if matters or undone:
            return Stance(False, matters, confidence, _surest(grades)) if matters else _UNDONE
        match = self._negates.search(masked)
        if match and self._is_about_target(masked, match):
            return self._negation(masked, match, relation)
        return self._contrary(masked, relation)

    def _contrary(self, masked: str, relation: str) -> Stance | None:
        """What a sentence denies by a verb such as *dislikes*."""
        for match in list(_WORD.finditer(masked))[:3]:
            opposites, denies = self._opposed(match[0])
            if denies and not match[0].startswith("⟨"):
                grade = self._clauses.grade(masked, match, relation)
                if grade == "not":
                    return _UNDONE
                return Stance(False, opposites, _OPPOSITE_CONFIDENCE, grade)
        return None

    def _negation(self, masked: str, match: re.Match[str], relation: str) -> Stance | None:
        """What a sentence with *not* denies: nothing where it denies less than the whole."""
        before, after = masked[: match.start()], masked[match.end() :]
        opposites, denies = self._opposed(masked)
        if denies or self._half_denied.search(after) or self._negates.search(after):
            return None
        if TARGET in before and TARGET not in after:
            words = _WORD.findall(before)
            if not words or words[-1].casefold() not in self._clauses.helping_forms:
                return None
        grade = self._clauses.grade(masked, match, relation)
        if grade == "not":
            return _UNDONE
        matters = self._ended(masked, match, relation) | opposites
        return Stance(False, matters, _DENIED_CONFIDENCE, grade)

    def _matters(self, masked: str) -> frozenset[str]:
        """What an affirming sentence speaks of."""
        verb = self._verb(masked)
        return self._reader.families(masked) | self._opposed(verb)[0] | _verbs(verb)

    @staticmethod
    def _verb(masked: str) -> str:
        return " ".join(word for word in _WORD.findall(masked)[:3] if not word.startswith("⟨"))

    def _ended(self, masked: str, match: re.Match[str], relation: str) -> frozenset[str]:
        """What a phrase that ends *whatever the sentence speaks of* ends."""
        following = split_name(" ".join(_WORD.findall(masked[match.end() :])[:3]))
        told = " ".join(following)
        families = self._reader.families(told) | _verbs(told)
        verb = next((w for w in following if not self._clauses.is_light(w)), "")
        own = self.of_relation(relation)
        if verb and own.yes and not self._clauses.speaks_of(verb, relation):
            return self._reader.families(verb) | _verbs(verb)
        return families | (own.matters if own.yes else frozenset()) | {OWN}

    def _opposed(self, words: str) -> tuple[frozenset[str], bool]:
        stems = {stem(word) for word in split_name(words)}
        denied = frozenset(name for name, _, no in self._opposites if stems & no)
        affirmed = frozenset(name for name, yes, _ in self._opposites if stems & yes)
        return (denied or affirmed), bool(denied)

    def _is_about_target(self, masked: str, match: re.Match[str]) -> bool:
        before, after = _WORD.findall(masked[: match.start()]), _WORD.findall(masked[match.end() :])
        if TARGET not in before and TARGET not in after:
            return len(before) + len(after) <= _WORDS_WITHOUT_NAME_MAX
        between = after[: after.index(TARGET)] if TARGET in after else before[
            len(before) - before[::-1].index(TARGET) :
        ]  # fmt: skip
        blocked = self._reader.wording.blockers & {word.casefold() for word in between}
        return len(between) <= _WORDS_BETWEEN_MAX and not blocked

    def _undone(self, masked: str, match: re.Match[str]) -> bool:
        """Whether the ending itself is denied: *has not left*."""
        before = " ".join(_WORD.findall(masked[: match.start()])[-3:])
        return bool(self._negates.search(before))


def _verbs(words: str) -> frozenset[str]:
    """The words themselves as matters, without their inflections."""
    return frozenset(f"to {stem(word)}" for word in split_name(words) if len(word) > 3)
