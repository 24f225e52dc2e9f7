"""Whether a phrase that ends something is meant so: who ends it, is it real, is it all of it?

*Stop using Redis*, *Bob left Acme, so Ann took his desk*, *In the story she left*, *left Acme a
note* and *not only Redis* all hold a phrase that announces an end. As with assertions, an end is
certain only where every word of its clause is understood.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import dropwhile

from synapse.hippocampus.lexicon.words import is_past, is_plural, split_name, stem
from synapse.hippocampus.phrase import compiled
from synapse.hippocampus.rules.afterwords import is_agreement
from synapse.hippocampus.rules.assertion import AssertionReader
from synapse.hippocampus.rules.grade import Grade
from synapse.hippocampus.rules.lasting import is_open
from synapse.hippocampus.rules.statement import SUBJECT, TARGET
from synapse.hippocampus.rules.tokens import POSSESSIVE, Token, is_numbered, tokens
from synapse.hippocampus.wording import CACHED_COUNT, Cue

ENDED = "⟨x⟩"
"""Mark in place of the name of the value that ends."""
_MARKS = frozenset((SUBJECT, TARGET, ENDED))
_FROM = frozenset(("from", "off", "of"))
_OF = frozenset(("of", "for"))
_QUOTES = frozenset('"“”«»')
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")


class EndingReader:
    """Reads the clause around a phrase that ends something.

    >>> from synapse.hippocampus.lexicon.english import ENGLISH_RELATIONS
    >>> from synapse.hippocampus.lexicon.english_assertions import ENGLISH_ASSERTIONS
    >>> from synapse.hippocampus.lexicon.english_changes import ENGLISH
    >>> from synapse.hippocampus.rules.statement import StatementReader
    >>> reader = EndingReader(
    ...     AssertionReader(StatementReader(ENGLISH), ENGLISH_ASSERTIONS, ENGLISH_RELATIONS))
    >>> left = re.compile("left")
    >>> for said in ("⟨s⟩ left ⟨o⟩ in May", "⟨s⟩ left ⟨o⟩ a note", "⟨s⟩'s boss left ⟨o⟩"):
    ...     print(reader.grade(said, left.search(said), "WORKS_AT"))
    plainly
    perhaps
    not
    """

    def __init__(self, assertions: AssertionReader) -> None:
        words = assertions.words
        self._assertions = assertions
        self._words = words
        self._begins = frozenset(map(stem, words.begins))
        self._changes = frozenset(map(stem, words.bare))
        self._occupations = frozenset(map(stem, words.occupations))
        self._nouns = assertions.nouns
        self._occasions = frozenset(map(stem, words.occasions | words.reasons | {"end"}))
        self._light = words.light
        self._closings = compiled(words.closings)
        self.helping_forms = words.forms | words.helping
        self._weak = _MARKS | self._light | self.helping_forms
        self._known = (self._weak | words.occasions | words.joins | {","}) - words.relatives
        self._own = self._weak | words.pronouns | {"away"}
        self._joints = words.joins | {",", ";", "("}
        self.cue_grade = lru_cache(CACHED_COUNT)(self._cue_grade)

    def _cue_grade(self, masked: str, cue: Cue, relation: str) -> Grade:
        """How surely a phrase that announces a change says that the value ⟨x⟩ ended."""
        matches = list(compiled(cue.pattern).finditer(masked))
        if ENDED not in masked or not matches:
            return "perhaps"
        after = cue.ended == "after"
        match = next(
            (m for m in matches if ENDED in (masked[m.end() :] if after else masked[: m.start()])),
            matches[0],
        )
        return self.grade(masked, match, relation)

    def grade(self, masked: str, match: re.Match[str], relation: str) -> Grade:
        """How surely a phrase says that something between ⟨s⟩ and the marked names ended.

        Args:
            masked: a text with marks for its names.
            match: the phrase in it.
            relation: of the fact that ends, or of the one that says so.
        """
        before = _BETWEEN_SENTENCES.split(masked[: match.start()])[-1]
        after = _BETWEEN_SENTENCES.split(masked[match.end() :])[0]
        evidence = self._assertions.evidence(relation)
        speech = self._assertions.speech(before, after, evidence)
        if speech in ("not", "doubtfully"):
            return speech
        in_the_end = masked if ENDED in masked else masked.replace(TARGET, ENDED)
        if self._assertions.is_passing(in_the_end, evidence):
            return "doubtfully"
        if _BETWEEN_SENTENCES.search(masked[match.end() :].rstrip()):
            return "perhaps"  # what follows may take it back
        clause, phrase = tokens(before), tokens(masked[match.start() : match.end()])
        rest = tokens(self._closings.sub(r"\1", after))
        if any(t.word in _QUOTES for t in (*clause, *rest)):
            return "doubtfully"
        if not self._lasts(clause, phrase, rest):
            return "perhaps"
        grades = (
            self._subject(clause, phrase, relation),
            self._phrase(phrase, evidence),
            self._rest(rest, evidence),
        )
        return min(grades, key=("not", "perhaps", "plainly").index)

    def _lasts(
        self, clause: Sequence[Token], phrase: Sequence[Token], rest: Sequence[Token]
    ) -> bool:
        """Whether an end told by what is so now lasts: not *uses ⟨o⟩ instead this month*."""
        stands = any(token.word in self._words.standing for token in phrase)
        happened = any(is_past(token.word) for token in clause)
        return not stands or happened or is_open([*clause, *rest], self._words)

    def is_light(self, word: str) -> bool:
        """Whether a word says little about what ends: an article, a preposition, a form of *be*."""
        return word in self._light or word in self.helping_forms or word in ("s", "o", "x")

    def speaks_of(self, word: str, relation: str) -> bool:
        """Whether a word speaks of a relation."""
        return stem(word) in self._assertions.evidence(relation)

    def _subject(self, clause: list[Token], phrase: Sequence[Token], relation: str) -> Grade:
        """Whether the clause before the phrase is about the fact's own entities alone."""
        evidence = self._assertions.evidence(relation)
        said = clause[self._lead_count(clause) :]
        if not said:
            return "plainly"
        said = said[self._own_phrase_count(said, relation) :]
        if said[0].word not in _MARKS and said[0].word not in self._words.pronouns:
            does_it_to_subject = SUBJECT in (t.word for t in phrase) and len(said) == 1
            return "plainly" if does_it_to_subject else self._of_others(said, evidence)
        owned = False
        if len(said) > 1 and (is_numbered(said[1]) or said[1].word in _OF):
            return "perhaps"  # "⟨s⟩ 2", "⟨s⟩ of the class"
        for place, token in enumerate(said[1:], 1):
            if token.word == POSSESSIVE:
                if self._of_others(said[place + 1 : place + 3], evidence) == "not":
                    return "not"
                owned = True
            elif not (self._is_own if owned else self._is_known)(token, evidence) or token.is_name:
                return self._of_others(said, evidence)
        return "plainly"

    def _own_phrase_count(self, said: Sequence[Token], relation: str) -> int:
        """How many words in front of ⟨s⟩ are the relation's own: *default branch of ⟨s⟩*."""
        place = next((i for i, token in enumerate(said) if token.word == SUBJECT), 0)
        if place < 2 or said[place - 1].word not in _OF:
            return 0
        told = [token.stem for token in said[: place - 1] if token.word not in self._light]
        own = [stem(w) for w in split_name(relation) if not self.is_light(w) and w != "has"]
        is_noun = bool(told) and told[-1] in self._nouns and not is_plural(said[place - 2].word)
        return place if is_noun and told == own else 0

    def _lead_count(self, clause: Sequence[Token]) -> int:
        """How many words in front only tell when and where."""
        w = self._words
        place = 0
        while place < len(clause):
            word = clause[place].word
            led = place > 0 and clause[place - 1].word in w.prepositions
            if not (
                word in w.occasional or (not word[0].isalpha() and (word not in _MARKS or led))
            ):
                break
            place += 1
        return place

    def _of_others(self, said: Sequence[Token], evidence: frozenset[str]) -> Grade:
        others = self._words.others
        return "not" if any(
            t.word in others and t.stem not in evidence for t in said
        ) else "perhaps"  # fmt: skip

    def _is_known(self, token: Token, evidence: frozenset[str]) -> bool:
        if token.word in self._known:
            return True
        return token.word not in self._words.relatives and (
            token.stem in evidence
            or token.stem in self._begins
            or token.stem in self._nouns
            or any(map(str.isdigit, token.word))
        )

    def _is_own(self, token: Token, evidence: frozenset[str]) -> bool:
        """Whether a word can stand where the subject, or its property, is what changes."""
        is_noun = token.stem in evidence and token.stem in self._nouns
        return (
            token.word in self._own
            or (is_noun and not is_plural(token.word))
            or any(map(str.isdigit, token.word))
        )

    def _phrase(self, phrase: Sequence[Token], evidence: frozenset[str]) -> Grade:
        """Whether the verb itself tells what happened, rather than what to do or is being done.

        What moves *from* somewhere must be the subject or its property: *moved the docs from*.
        """
        if not phrase:
            return "plainly"
        first = phrase[0]
        if first.word.endswith("ing") or first.word in self._words.bare:
            return "perhaps"
        moves = first.stem in self._begins and phrase[-1].word in _FROM
        if moves and not all(self._is_own(token, evidence) for token in phrase[1:-1]):
            return "perhaps"
        return "plainly"

    def _goes_on(self, rest: Sequence[Token]) -> bool:
        """Whether what follows another clause is of its own, and not about the same change."""
        w = self._words
        goes_on = w.joins | w.adverbs | {","}
        told = list(dropwhile(lambda t: t.word in goes_on, rest))
        if not told or is_agreement(told, w) or told[0].word in w.endings_openers:
            return True
        first, joined = told[0], len(told) < len(rest)
        hangs = w.prepositions if joined else w.prepositions | w.determiners
        return not (
            (first.is_name and first.word not in w.occasions)
            or first.word in hangs
            or any(t.word in _MARKS or t.word in w.failing or t.stem in self._changes for t in told)
        )

    def _begins_anew(self, told: Sequence[Token], evidence: frozenset[str]) -> bool:
        """Whether the same subject has another value from then on: *left ⟨x⟩ and joined ⟨o⟩*."""
        w = self._words
        words = [token.word for token in told]
        if words.count(TARGET) != 1 or ENDED in words or SUBJECT in words:
            return False
        verb = next((t for t in told if not (t.word in w.adverbs or t.word in w.present)), None)
        between, after = told[: words.index(TARGET)], told[words.index(TARGET) + 1 :]
        return (
            verb is not None
            and (verb.stem in evidence or verb.stem in self._begins)
            and all(
                t.word in self._light or t.word in w.present or t.stem == verb.stem for t in between
            )
            and all(t.word in w.occasions or t.word == "." for t in after)
        )

    def _rest(self, rest: Sequence[Token], evidence: frozenset[str]) -> Grade:
        """What follows: nothing that makes it less, or something else."""
        w = self._words
        words = [token.word for token in rest]
        named = min((words.index(mark) for mark in _MARKS if mark in words), default=0)
        if any(
            t.stem in self._nouns and not (t.stem in evidence or t.stem in self._occupations)
            for t in rest[:named]
        ):
            return "perhaps"  # "left the building of ⟨o⟩"
        for place, token in enumerate(rest):
            following = rest[place + 1] if place + 1 < len(rest) else None
            if token.word in w.endings_openers or is_agreement(rest[place:], w):
                return "plainly"
            if token.word in self._joints:
                more = rest[place + 1 :]
                goes_on = self._goes_on(more) or (
                    token.word in w.joins and place > named and self._begins_anew(more, evidence)
                )
                return "plainly" if goes_on else "perhaps"
            if token.word in _MARKS and (words[:place].count(token.word) or is_numbered(following)):
                return "perhaps"  # "to ⟨o⟩ to ⟨x⟩", "⟨x⟩ 3"
            if token.word == POSSESSIVE or (token.is_name and token.word not in w.occasions):
                return "perhaps"
            if token.word in w.moments or token.word in w.relatives:
                return "perhaps"
            if token.word not in "!.?" and not self._is_known(token, evidence):
                return "perhaps"
            is_other = token.stem in self._nouns and token.stem not in evidence
            if place > named and is_other and token.stem not in self._occasions:
                return "perhaps"  # "in the staging environment"
        return "plainly"
