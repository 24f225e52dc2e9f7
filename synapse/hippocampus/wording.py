"""What words say: relation names made comparable, and phrases that announce a change.

The phrases are data. A language is one :class:`Wording`; adding a language or a phrase is adding
a row, and no code knows any word of any language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from synapse.hippocampus.model import Ints

DUPLICATE_RELATION = "IS_DUPLICATE_OF"
"""Graphiti's housekeeping: this relation says nothing about the world."""

_EDGES = "\"'`“”‘’«»()[]{}<>,;:!?.…"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_NAME_WORDS_MAX = 8
_WORDS_MAX = 16
_WINDOW_CHARACTERS = 400
_BATCH_TEXTS_COUNT = 32


@dataclass(frozen=True, slots=True)
class Cue:
    """One phrase that announces a change, and where the name of the value that ends stands."""

    name: str
    needle: str
    """A lower-case part of every text in which the pattern can match: the cheap first test."""
    pattern: str
    """Regular expression of the phrase; case does not matter."""
    ended: Literal["after", "before"]
    """On which side of the phrase the ended value is named."""
    confidence: float
    """How often, from 0 to 1, the phrase means what it seems to mean."""
    skipped_words_count: int = 0
    """How many words of any kind may stand between the phrase and the name."""


@dataclass(frozen=True)
class Wording:
    """The phrases of one language.

    A cue counts only where the name stands whole (see ``followers``) and the sentence states
    something: a sentence with a word of ``vetoes``, or a question, states nothing, and a phrase
    shortly after one of ``negations`` says the opposite.
    """

    language: str
    cues: tuple[Cue, ...]
    fillers: frozenset[str]
    """Words that may stand between a phrase and the name: *instead of using the …*."""
    followers: frozenset[str]
    """Words that may follow the name directly; any other makes it part of a longer name."""
    negations: frozenset[str]
    vetoes: str
    """Regular expression of questions, plans, wishes and additions."""

    @cached_property
    def matchers(self) -> tuple[tuple[Cue, re.Pattern[str]], ...]:
        """Each cue with its compiled pattern."""
        return tuple((cue, re.compile(cue.pattern, re.IGNORECASE)) for cue in self.cues)

    @cached_property
    def _veto(self) -> re.Pattern[str]:
        return re.compile(self.vetoes, re.IGNORECASE)

    def denies(self, before: str, after: str) -> bool:
        """Whether what stands around a phrase in its sentence takes its force away."""
        negated = not self.negations.isdisjoint(_words(before)[-3:])
        return negated or bool(self._veto.search(before) or self._veto.search(after))


def _bag(words: str) -> frozenset[str]:
    return frozenset(words.split())


ENGLISH = Wording(
    language="en",
    cues=(
        Cue("instead_of", "instead of", r"\binstead of\b", "after", 0.9),
        Cue("switched_from", " from ",
            r"\b(?:switched|migrated|moved|upgraded|downgraded|changed|took over)(?: away)? from\b",
            "after", 0.9),
        Cue("replaces", "replac", r"\breplac(?:es|ed|ing)\b(?! (?:by|with)\b)", "after", 0.9),
        Cue("replaced_by", "replaced",
            r"(?:\b(?:was|were|is|are|has|have|had|been|being|got) ){0,4}\breplaced (?:by|with)\b",
            "before", 0.9),
        Cue("no_longer", "no longer", r"\bno longer\b", "after", 0.8, skipped_words_count=3),
        Cue("rather_than", "rather than", r"\brather than\b", "after", 0.7),
        Cue("not", "not ", r"\bnot\b", "after", 0.6),
    ),
    fillers=_bag(
        "a an the its their his her our my old former previous current existing "
        "use uses used using with on in at to for by from via anymore"
    ),
    followers=_bag(
        "and or but nor so as because since due for from to with by in on at of after before when "
        "while where which that who during if until till via per through within across now then "
        "today yesterday here there anymore again entirely completely is was are were has had it "
        "they he she we"
    ),
    negations=_bag(
        "not never without cannot can't won't isn't aren't wasn't weren't hasn't haven't hadn't "
        "doesn't don't didn't"
    ),
    vetoes=(
        r"\?|\b(?:could|might|should|would|will|shall|(?-i:may)|if|whether|consider\w*|"
        r"plan(?:s|ned|ning)?|intend\w*|going to|want\w*|hop(?:es?|ed|ing)|wish\w*|propos\w*|"
        r"suggest\w*|recommend\w*|think\w*|discuss\w*|evaluat\w*|debat\w*|ask(?:s|ed|ing)?|"
        r"wonder\w*|prefer\w*|also|as well|additionally|in addition|besides)\b"
    ),
)  # fmt: skip

LANGUAGES = (ENGLISH,)


@dataclass(frozen=True, slots=True)
class Hit:
    """A cue in a text, and the known name that it says has ended."""

    cue: Cue
    name: str
    """Folded, see :func:`fold_name`."""


def fold_name(name: str) -> str:
    """A name as it is compared: words in lower case, without punctuation at their edges.

    >>> fold_name(" Berlin,  Germany ")
    'berlin germany'
    """
    return " ".join(_words(name))


def normal_relation(relation: str) -> str:
    """A relation name as it is compared.

    >>> normal_relation("works at"), normal_relation("Works-At"), normal_relation("WORKS_AT")
    ('WORKS_AT', 'WORKS_AT', 'WORKS_AT')
    """
    return "_".join(re.split(r"[\s_\-]+", relation.strip())).upper()


def relation_codes(relations: Sequence[str]) -> tuple[Ints, list[str]]:
    """Number the relations: one code per item, and the sorted normal names the codes stand for.

    >>> codes, names = relation_codes(["uses", "KNOWS", "Uses"])
    >>> codes.tolist(), names
    ([1, 0, 1], ['KNOWS', 'USES'])
    """
    normal = {relation: normal_relation(relation) for relation in set(relations)}
    names = sorted(set(normal.values()))
    code_of_name = {name: code for code, name in enumerate(names)}
    code_of = {relation: code_of_name[name] for relation, name in normal.items()}
    codes = np.fromiter(map(code_of.__getitem__, relations), np.int64, len(relations))
    return codes, names


def rows_with_cues(texts: Sequence[str], wording: Wording) -> list[int]:
    """Rows whose text can hold a cue: a fast test that lets some others through."""
    needles = sorted({cue.needle for cue in wording.cues})
    rows: list[int] = []
    for first in range(0, len(texts), _BATCH_TEXTS_COUNT):
        batch = texts[first : first + _BATCH_TEXTS_COUNT]
        joined = "\n".join(batch).lower()
        for needle in needles:
            if needle in joined:
                rows += [row for row, text in enumerate(batch, first) if needle in text.lower()]
    return sorted(set(rows))


def find_hits(text: str, wording: Wording, is_known: Callable[[str], bool]) -> Iterator[Hit]:
    """Cues in a text that name something known as ended.

    Args:
        text: any text; only sentences that state something count.
        wording: the language.
        is_known: tells whether a folded name is one that could have ended.

    >>> known = {"postgresql"}.__contains__
    >>> [hit.name for hit in find_hits("A uses MongoDB instead of PostgreSQL.", ENGLISH, known)]
    ['postgresql']
    >>> list(find_hits("Should A use MongoDB instead of PostgreSQL?", ENGLISH, known))
    []
    """
    lowered = text.lower()
    for cue, pattern in wording.matchers:
        if cue.needle in lowered:
            for match in pattern.finditer(text):
                before = text[max(0, match.start() - _WINDOW_CHARACTERS) : match.start()]
                after = text[match.end() : match.end() + _WINDOW_CHARACTERS]
                before, after = _SENTENCE_END.split(before)[-1], _SENTENCE_END.split(after)[0]
                name = _ended_name(before, after, cue, wording, is_known)
                if name is not None and not wording.denies(before, after):
                    yield Hit(cue, name)


def _ended_name(
    before: str, after: str, cue: Cue, wording: Wording, is_known: Callable[[str], bool]
) -> str | None:
    if cue.ended == "before":
        return _longest(_words(before)[::-1], is_known, reverse=True)
    tokens = [token for token in after.split(maxsplit=_WORDS_MAX)[:_WORDS_MAX] if _fold(token)]
    words = [_fold(token) for token in tokens]
    skipped_count = 0
    for start, word in enumerate(words):
        name = _longest(words[start:], is_known)
        if name is not None:
            end = start + name.count(" ") + 1
            closed = end == len(words) or tokens[end - 1][-1] in _EDGES
            return name if closed or words[end] in wording.followers else None
        if word not in wording.fillers:
            skipped_count += 1
            if skipped_count > cue.skipped_words_count:
                return None
    return None


def _longest(
    words: list[str], is_known: Callable[[str], bool], reverse: bool = False
) -> str | None:
    for count in range(min(len(words), _NAME_WORDS_MAX), 0, -1):
        phrase = words[:count]
        name = " ".join(phrase[::-1] if reverse else phrase)
        if is_known(name):
            return name
    return None


def _words(text: str) -> list[str]:
    return [word for token in text.split() if (word := _fold(token))]


def _fold(token: str) -> str:
    return token.strip(_EDGES).casefold()
