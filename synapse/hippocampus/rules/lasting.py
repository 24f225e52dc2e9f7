"""Whether a state is meant to last: *works there since May*, but not *works there in May*."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from synapse.hippocampus.lexicon.assertions import AssertionWords
from synapse.hippocampus.lexicon.words import is_past
from synapse.hippocampus.rules.tokens import Token
from synapse.hippocampus.rules.verb_group import VerbGroup
from synapse.hippocampus.rules.vocabulary import Vocabulary


def lasts(verb: VerbGroup, times: Sequence[Token], known: Vocabulary) -> bool:
    """Whether what a verb tells goes on after the times told beside it; beginnings always do.

    Args:
        verb: the verb.
        times: what stands before and behind the statement.
        known: the words of the relation.
    """
    head = verb.told[0] if verb.told else None
    if head is not None and head.stem in known.begins and is_past(head.word):
        return True
    if verb.is_perfect:
        words = {token.word for token in (*verb.told, *times)}
        return not words.union(verb.forms).isdisjoint(known.words.lasting)
    return is_open(times, known.words)


def is_open(times: Sequence[Token], w: AssertionWords) -> bool:
    """Whether the times told, if any, have a beginning and no end: *since May*."""
    words = {token.word for token in times}
    if words.isdisjoint(w.times):
        return True
    ends = any(
        token.word in w.closing and (after.word in w.times or after.word[0].isdigit())
        for token, after in pairwise(times)
    )
    return not words.isdisjoint(w.onward) and not ends
