"""What follows a statement: a reason, company, a date, a role, another clause.

*Moved to Rome because the rent is low*, *with her two kids*, *since May* and *as a nurse* leave a
statement as it is. *Is 60 s with the flag off*, *as a worst case*, *so rarely that*, *and left
again* do not. What is neither of the former is not understood.
"""

from __future__ import annotations

from collections.abc import Sequence

from synapse.hippocampus.lexicon.assertions import AssertionWords
from synapse.hippocampus.rules.tokens import Token
from synapse.hippocampus.rules.vocabulary import Vocabulary


def leave_it(told: Sequence[Token], known: Vocabulary) -> bool:
    """Whether what follows leaves a statement as it is.

    Args:
        told: the word that opens it, and the rest of the sentence.
        known: the words of the relation.
    """
    w, opener, rest = known.words, told[0].word, told[1:]
    if not rest or known.takes_back(rest):
        return False
    first = rest[0]
    if opener == ",":
        if first.word in w.openers | w.joins:
            return leave_it(rest, known)
        return first.word in w.relatives
    if opener in w.joins:
        return first.is_word and not first.is_name
    if opener in w.because or is_agreement(told, w):
        return True
    if opener in w.clauses:
        return first.word in w.clause_subjects
    if opener in w.beside:
        return _are_people(rest, w)
    if opener in w.acting_as and first.word in w.determiners | w.indefinite:
        return all(_is_role(token, known) for token in rest)
    return all(_is_known(token, known) for token in rest)


def is_agreement(told: Sequence[Token], w: AssertionWords) -> bool:
    """Whether somebody has agreed to what was told: *as agreed on Monday*."""
    return len(told) > 1 and told[0].word in w.acting_as and told[1].word.endswith("ed")


def _are_people(told: Sequence[Token], w: AssertionWords) -> bool:
    """Whether somebody is named, and nobody does anything: *her husband and their two kids*."""
    last = told[-1]
    if not (last.is_name or last.word in w.others):
        return False
    return w.whenever.isdisjoint(token.word for token in told)


def _is_role(token: Token, known: Vocabulary) -> bool:
    if token.word in known.words.others and token.stem not in known.evidence:
        return False
    return _is_known(token, known) or token.word.endswith(known.words.agent_endings)


def _is_known(token: Token, known: Vocabulary) -> bool:
    w = known.words
    return (
        any(token.word in some for some in (known.light, w.occasions, w.joins, w.fields))
        or token.word in w.indefinite
        or token.stem in known.evidence
        or not token.is_word
        or any(map(str.isdigit, token.word))
    )
