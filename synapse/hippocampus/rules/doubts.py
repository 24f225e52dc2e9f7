"""What is read once more before a fact is ended: does the newer sentence stand by what it says?

The rules read a statement. *Left Acme, apparently*, *left Acme (satire)*, *left Acme, lied the
tabloid*, *left Acme at times* and *from March 2027 no longer works at Acme* all hold one that a
rule is sure of. Whatever stands around it and is not wholly understood makes it a question.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from synapse.hippocampus.finding import DENIED, Finding
from synapse.hippocampus.lexicon import english_doubts
from synapse.hippocampus.lexicon.assertions import AssertionWords
from synapse.hippocampus.lexicon.words import is_past
from synapse.hippocampus.phrase import Phrase, compiled
from synapse.hippocampus.rules.ending import ENDED
from synapse.hippocampus.rules.future import names_later_date
from synapse.hippocampus.rules.grade import UNREAD_CONFIDENCE
from synapse.hippocampus.rules.graph_reading import GraphReading
from synapse.hippocampus.rules.same_value import (
    holds_any_state,
    is_same_state,
    names_people_and_country,
)
from synapse.hippocampus.rules.statement import SUBJECT, TARGET, hide_name
from synapse.hippocampus.rules.tokens import Token, tokens
from synapse.hippocampus.wording import CACHED_COUNT

_AGENT = re.compile(r"^ by ([^\W\d_][^.]*)")
_PARTS = re.compile(r"([,;:(!–—]|\s-+\s)")
_CUE, _SO, _WITH = "cue_", "so", " with "


def weighed(graph: GraphReading, finding: Finding) -> Finding:
    """The finding, for review where the newer sentence leaves a doubt."""
    if finding.verdict != "missed" or finding.confidence <= UNREAD_CONFIDENCE:
        return finding
    if not _leaves_doubt(graph, finding):
        return finding
    return replace(finding, confidence=UNREAD_CONFIDENCE)


def _leaves_doubt(graph: GraphReading, finding: Finding) -> bool:
    new = finding.by
    if not finding.rule.startswith(_CUE) and _values_may_stand(graph, finding):
        return True
    masked = graph.masked(new)
    if not masked.strip():
        return False
    masked = hide_name(masked, graph.target_name(finding.fact), ENDED)
    words = graph.assertions.words
    if _is_unsure(masked) or _takes_back(masked, words):
        return True
    if names_later_date(masked, float(graph.time.start_s[new]), graph.languages[0].months):
        return True
    return _has_role(masked) and not _begins_work(graph, finding)


def _begins_work(graph: GraphReading, finding: Finding) -> bool:
    """Whether a role is that of a new post, rather than all that ends: *left Acme as a trainee*."""
    ends = finding.rule == DENIED or finding.rule.startswith(_CUE)
    return not ends and "employment" in graph.reader.families(graph.relation_name(finding.by))


def _values_may_stand(graph: GraphReading, finding: Finding) -> bool:
    """Whether the older value may be the newer one in other words, or stand beside it."""
    old, new = graph.target_name(finding.fact), graph.target_name(finding.by)
    if old == new:
        return False
    relation = graph.relation_name(finding.fact)
    if graph.same_values.may_be_one(old, new) or is_same_state(old, new):
        return True
    if names_people_and_country(relation, old, new):
        return True
    if holds_any_state(relation) and (
        graph.state_of(old) < 0 or graph.state_of(old) != graph.state_of(new)
    ):
        return True
    masked = [graph.masked(row) for row in (finding.fact, finding.by)]
    if holds_any_state(relation) and _tail(masked[1]).startswith(_WITH):
        return True  # a state needs no company
    agents = [_AGENT.findall(_tail(text)) for text in masked]
    return any(agents) and agents[0] != agents[1]  # "approved by Kim", "rejected by Lou"


@lru_cache(CACHED_COUNT)
def _is_unsure(masked: str) -> bool:
    """Whether a sentence has a word that makes it a guess, a joke, or true in part."""
    return any(
        compiled(pattern).search(masked)
        for pattern in (
            english_doubts.UNSURE,
            english_doubts.MARKED,
            english_doubts.DECADE,
            english_doubts.DENIED_IN_PART,
        )
    ) or bool(compiled(english_doubts.HANGING).search(masked.partition("⟨")[0]))


@lru_cache(CACHED_COUNT)
def _tail(masked: str) -> str:
    """What follows the last of the names."""
    places = [masked.rfind(mark) + len(mark) for mark in (SUBJECT, TARGET, ENDED) if mark in masked]
    return masked[max(places, default=len(masked)) :]


@lru_cache(CACHED_COUNT)
def _has_role(masked: str) -> bool:
    return compiled(english_doubts.IN_A_ROLE).search(_tail(masked)) is not None


@lru_cache(8)
def _of_times(times: frozenset[str]) -> tuple[Phrase, Phrase]:
    named = "|".join(sorted(times))
    at_latest, some_times = english_doubts.AT_LATEST, english_doubts.ONLY_SOME_TIMES
    return compiled(at_latest.format(times=named)), compiled(some_times.format(times=named))


def _takes_back(masked: str, words: AssertionWords) -> bool:
    """Whether what follows the last name is anything but a time, a reason, or what came of it."""
    at_latest, some_times = _of_times(words.times)
    if at_latest.search(masked):
        return True
    tail = _tail(masked)
    if not tail.strip(" ."):
        return False
    if some_times.search(tail) or compiled(english_doubts.TAKES_BACK).search(tail):
        return True
    _, *parts = _PARTS.split(tail)
    return any(
        not _is_clear(sign.strip(), tokens(part), words)
        for sign, part in zip(parts[::2], parts[1::2], strict=True)
    )


def _is_clear(sign: str, told: list[Token], words: AssertionWords) -> bool:
    """Whether a part of a sentence, set off by a sign, leaves the rest as it is."""
    told = [token for token in told if token.word != ")"]
    if all(_is_of_times(token, words) for token in told):
        return True
    if sign != ",":
        return False
    first, rest = told[0].word, told[1:]
    if not rest:
        return False
    following = rest[0].word
    if first in words.joins:
        goes_on = words.present | words.past | words.adverbs | words.pronouns | words.determiners
        return is_past(following) or following in goes_on
    if first in words.from_then | words.clauses:
        somebody = words.clause_subjects | words.pronouns | words.determiners
        return following in (somebody if first != _SO else words.clause_subjects)
    return first in words.because | words.beside | words.relatives


def _is_of_times(token: Token, words: AssertionWords) -> bool:
    return (
        token.word in words.occasions or token.word in words.determiners
        or token.word in words.adverbs or token.word in words.onward
        or any(map(str.isdigit, token.word))
    )  # fmt: skip
