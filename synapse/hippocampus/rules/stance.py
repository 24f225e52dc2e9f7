"""Whether a relation name or a sentence says yes or no, and about which matters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from synapse.hippocampus.lexicon.words import split_name, stem
from synapse.hippocampus.rules.statement import TARGET, StatementReader
from synapse.hippocampus.wording import compiled

_DENIED_CONFIDENCE, _OPPOSITE_CONFIDENCE = 0.85, 0.9
_WORDS_BETWEEN_MAX = 6
_WORDS_WITHOUT_NAME_MAX = 14
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


class StanceReader:
    """Reads from relation names and sentences whether they affirm or deny.

    >>> from synapse.hippocampus.lexicon.english_changes import ENGLISH
    >>> reader = StanceReader(StatementReader(ENGLISH))
    >>> reader.of_relation("DISLIKES").yes, reader.of_relation("LIKES").yes
    (False, True)
    >>> reader.denial("⟨s⟩ resigned from ⟨o⟩", "LEFT").yes
    False
    >>> reader.denial("⟨s⟩ left Acme and joined ⟨o⟩", "JOINED") is None
    True
    """

    def __init__(self, reader: StatementReader) -> None:
        wording = reader.wording
        self._reader = reader
        self._endings = [(ending, compiled(ending.pattern)) for ending in wording.endings]
        self._negates = compiled(wording.negates)
        self._opposites = [
            (o.name, frozenset(map(stem, o.yes)), frozenset(map(stem, o.no)))
            for o in wording.opposites
        ]
        self.of_relation = lru_cache(65_536)(self._of_relation)

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

    def denial(self, masked: str, relation: str) -> Stance | None:
        """What a sentence denies, ``None`` if it denies nothing about its two entities."""
        confidence, matters, undone = 0.0, frozenset[str](), False
        for ending, pattern in self._endings:
            match = pattern.search(masked)
            if match and self._is_about_target(masked, match):
                if self._undone(masked, match):
                    undone = True
                    continue
                matters |= ending.families or self._ended(masked, match, relation)
                confidence = max(confidence, ending.confidence)
        if matters or undone:
            return Stance(False, matters, confidence) if matters else None
        match = self._negates.search(masked)
        if match and self._is_about_target(masked, match):
            opposites, denies = self._opposed(masked)
            if not denies:
                return Stance(
                    False, self._ended(masked, match, relation) | opposites, _DENIED_CONFIDENCE
                )
            return None
        opposites, denies = self._opposed(self._verb(masked))
        return Stance(False, opposites, _OPPOSITE_CONFIDENCE) if denies else None

    def matters(self, masked: str) -> frozenset[str]:
        """What an affirming sentence speaks of."""
        verb = self._verb(masked)
        return self._reader.families(masked) | self._opposed(verb)[0] | _verbs(verb)

    @staticmethod
    def _verb(masked: str) -> str:
        return " ".join(word for word in _WORD.findall(masked)[:3] if not word.startswith("⟨"))

    def _ended(self, masked: str, match: re.Match[str], relation: str) -> frozenset[str]:
        """What a phrase that ends *whatever the sentence speaks of* ends."""
        following = " ".join(_WORD.findall(masked[match.end() :])[:3])
        own = self.of_relation(relation)
        following = " ".join(split_name(following))
        families = self._reader.families(following) | _verbs(following)
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
