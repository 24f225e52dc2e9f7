"""Relations whose sentences name another relation: *led by chief executive Ann* tells the CEO.

Names of one property are brought together where the graph's relations are learned. What is left are
relations that say less than their sentences. A sentence names a role where the words stand right
before the value, or right before *of* and the subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from synapse.hippocampus.lexicon.english import ENGLISH_RELATIONS
from synapse.hippocampus.model import Floats, Ints
from synapse.hippocampus.rules.statement import SUBJECT, TARGET
from synapse.hippocampus.wording import CACHED_COUNT

_ROLE_WORDS_MAX = 3
_WORD = re.compile(r"⟨[so]⟩|[^\W\d_]+(?:['’][^\W\d_]+)?")
_BEFORE_ROLE = frozenset(
    ("the", "a", "an", "its", "their", "his", "her", "our", "my", "by", "is", "was", "as", "with")
)
"""Words before a whole role; any other word is a part of it: *vice chair*."""


def roles_in(masked: str) -> Iterator[str]:
    """Phrases that may name what the value is to the subject.

    >>> list(roles_in("⟨s⟩ is led by chief executive ⟨o⟩"))
    ['chief executive']
    >>> list(roles_in("⟨o⟩ is the mayor of ⟨s⟩"))[:1]
    ['mayor']
    """
    words = [word.casefold() for word in _WORD.findall(masked)]
    ends = []
    if TARGET in words:
        ends.append(words.index(TARGET))
    if SUBJECT in words and words.index(SUBJECT) > 1:
        place = words.index(SUBJECT)
        if words[place - 1] == "of" and TARGET in words[:place]:
            ends.append(place - 1)
    for end in ends:
        for count in range(1, min(_ROLE_WORDS_MAX, end) + 1):
            phrase = words[end - count : end]
            if SUBJECT in phrase or TARGET in phrase:
                break
            before = words[end - count - 1] if end > count else "the"
            if before in _BEFORE_ROLE:
                yield " ".join(phrase)


@lru_cache(CACHED_COUNT)
def _normal_roles(masked: str) -> tuple[str, ...]:
    return tuple(map(ENGLISH_RELATIONS.normal, roles_in(masked)))


def earliest_and_latest(relation: Ints, start_s: Floats, count: int) -> Ints:
    """Facts that stand for each relation: those that began first and last."""
    known = np.isfinite(start_s)
    first, last = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(first, relation[known], start_s[known])
    np.maximum.at(last, relation[known], start_s[known])
    return np.flatnonzero((start_s == first[relation]) | (start_s == last[relation]))


def relations_by_role(
    names: Sequence[str], may_join: Sequence[bool], sentences: Sequence[tuple[int, str]]
) -> dict[int, int]:
    """Relations that mean the same as another one, by number.

    Args:
        names: all relations.
        may_join: relations that may turn out to be another one.
        sentences: relation and masked sentence of the facts that stand for the relations.

    >>> relations_by_role(["HAS_CEO", "LED_BY"], [True, True], [(1, "⟨s⟩ is led by its CEO ⟨o⟩")])
    {1: 0}
    """
    number_of = {ENGLISH_RELATIONS.normal(name): i for i, name in reversed(list(enumerate(names)))}
    meant: dict[int, set[int]] = {}
    for relation, masked in sentences:
        own = ENGLISH_RELATIONS.normal(names[relation])
        if may_join[relation]:
            roles = _normal_roles(masked)
            told = {number_of[role] for role in roles if role in number_of and role != own}
            meant[relation] = meant.get(relation, told) & told
    return {
        relation: next(iter(told))
        for relation, told in meant.items()
        if len(told) == 1 and next(iter(told)) not in _meant_by(meant)
    }


def _meant_by(meant: dict[int, set[int]]) -> set[int]:
    """Relations that themselves mean another one: chains are not followed."""
    return {relation for relation, told in meant.items() if told}
