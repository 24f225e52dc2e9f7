"""Whether a state is meant to last: *works there since May*, but not *works there in May*."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import dropwhile

from synapse.hippocampus.lexicon.assertions import AssertionWords
from synapse.hippocampus.lexicon.words import is_past
from synapse.hippocampus.rules.tokens import Token
from synapse.hippocampus.rules.vocabulary import Vocabulary


def lasts(verb: Sequence[Token], times: Sequence[Token], known: Vocabulary) -> bool:
    """Whether what a verb tells goes on after the times told beside it; beginnings always do.

    Args:
        verb: from the first form of *be* or *have* on.
        times: what stands before and behind the statement.
        known: the words of the relation.
    """
    w = known.words
    helping = w.present | w.past | w.adverbs
    head = next(dropwhile(lambda token: token.word in helping, verb), None)
    if head is not None and head.stem in known.begins and is_past(head.word):
        return True
    if any(token.word in w.owning for token in verb) and (head is None or is_past(head.word)):
        return any(token.word in w.lasting for token in (*verb, *times))
    return is_open(times, w)


def is_open(times: Sequence[Token], w: AssertionWords) -> bool:
    """Whether the times told, if any, have a beginning and no end: *since May*."""
    words = {token.word for token in times}
    if words.isdisjoint(w.times):
        return True
    return not words.isdisjoint(w.onward) and words.isdisjoint(w.closing)
