"""The gate between reading and writing: what of a turn asks, and what of it states.

A memory that ingests questions learns what nobody said: *does Ann live in Oslo?* becomes *Ann
lives in Oslo*. So only statements pass. A turn is cut into sentences and a sentence into clauses;
a clause asks when

1. its sentence ends with a question mark and no later clause of it opens a question,
2. it opens with an auxiliary before its subject (*is the*, *could you*),
3. it opens with an interrogative before an auxiliary (*where do*, *how many days does*), or
4. it opens with a request for an answer (*tell me*, *any idea*), or from a phrase on that
   wonders (*I was wondering if*).

The first clause of a sentence is read more closely, since many type no mark and no capitals: *does
ann live here* asks, *was in Rome* leaves its subject out, *has Ann moved* asks by its participle,
*what port* by its shortness; *where Ann lives is Oslo* and *could you note that* tell, and so do
*can't eat nuts*, which leaves its subject out, and *should it fail, Bob restarts it*, a condition.
A tag at its end (*, doesn't she?*) asks about the whole sentence.

What stands before the first clause that asks is a statement, unless it only supposes (*if I move*).
These are the forms of direct questions (Huddleston and Pullum, The Cambridge Grammar of the English
Language, 2002, chapter 10), and nothing of a sentence's meaning is guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from synapse.hippocampus.lexicon.english_questions import ENGLISH_QUESTIONS, QuestionWords
from synapse.hippocampus.sentences import INVISIBLE, clause_starts, sentences

TURN_CHARACTERS_MAX = 100_000
_FENCE = re.compile(r"```.*?```", re.DOTALL)
_CLOSERS = "\"'”’»)]*_~` " + INVISIBLE
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+")
_STATING_WORDS_MIN = 3
_FRAGMENT_WORDS_MAX = 3
_CLOSING_CHARACTERS_MAX = 16
# A turn may be hostile: what is looked at again and again is short, so that time grows with length.
_CLAUSE_CHARACTERS_MAX = 400


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn states and what it asks, in the order in which it was said."""

    statements: tuple[str, ...]
    questions: tuple[str, ...]
    left_out_characters_count: int = 0
    """Characters of code between fences, and of what lies beyond :data:`TURN_CHARACTERS_MAX`: they
    are neither."""

    @property
    def stated(self) -> str:
        """What may be ingested; empty if the turn only asks."""
        return " ".join(self.statements)

    @property
    def asked(self) -> str:
        """What is to be answered from what is known."""
        return " ".join(self.questions)


class QuestionGate:
    """Tells questions from statements by the words of one language.

    >>> gate = QuestionGate()
    >>> gate.is_question("where does Ann live"), gate.is_question("Ann lives in Oslo.")
    (True, False)
    >>> turn = gate.split("I moved to Oslo in May, what is a good bakery there?")
    >>> turn.stated, turn.asked
    ('I moved to Oslo in May', 'what is a good bakery there?')
    >>> gate.split("If I move to Oslo, can I keep my phone number?").statements
    ()
    """

    def __init__(self, words: QuestionWords = ENGLISH_QUESTIONS) -> None:
        self._words = words
        self._marked = re.compile(rf"[{re.escape(words.marks)}][.!\uff01\u203c]*$")
        (
            self._requests, self._wonders, self._openers, self._suppositions,
            self._exclamations, self._tellings, self._proposals, self._conditions,
        ) = (
            re.compile(pattern, re.IGNORECASE)
            for pattern in (
                words.requests, words.wonders, words.openers, words.suppositions,
                words.exclamations, words.tellings, words.proposals, words.conditions,
            )
        )  # fmt: skip

    def is_question(self, text: str) -> bool:
        """Whether a text only asks: it holds a question, and nothing that could be ingested."""
        turn = self.split(text)
        return bool(turn.questions) and not turn.statements

    def split(self, text: str) -> Turn:
        """Part what a turn states from what it asks.

        What lies beyond :data:`TURN_CHARACTERS_MAX`, and code between fences, is left out of both
        and counted.
        """
        heard = text[:TURN_CHARACTERS_MAX]
        unfenced = _FENCE.sub("", heard)
        statements: list[str] = []
        questions: list[str] = []
        for sentence in sentences(_FENCE.sub(" ", heard)):
            start = self._asks_from(sentence)
            said = sentence[:start].strip()
            if start < len(sentence):
                questions.append(sentence[start:].strip())
                said = said.rstrip(" ,;:–—-(")
                if not self._states(said):
                    continue
            statements.append(said)
        return Turn(tuple(statements), tuple(questions), len(text) - len(unfenced))

    def _asks_from(self, sentence: str) -> int:
        """Where a sentence begins to ask; its length if it does not."""
        if self._is_tagged(sentence):
            return 0
        mark = self._marked.search(sentence.rstrip(_CLOSERS)[-_CLOSING_CHARACTERS_MAX:])
        tells = self._tells(sentence)
        marked = mark is not None and not tells
        relative = None
        for start in clause_starts(sentence):
            clause = sentence[start : start + _CLAUSE_CHARACTERS_MAX]
            if start == 0 and (tells or (not marked and self._only_looks_asked(clause))):
                continue
            if not self._opens_question(clause, marked, is_first=start == 0):
                continue
            if not (start and self._goes_on(clause)):
                return start
            relative = start if relative is None else relative
        wondering = self._wonders.search(sentence)
        if wondering:
            return wondering.start()
        if marked:
            return relative or 0
        return len(sentence)

    def _tells(self, sentence: str) -> bool:
        return bool(self._tellings.match(self._bare(sentence)))

    def _only_looks_asked(self, clause: str) -> bool:
        """What proposes, or opens with a condition: *should the job fail, Bob restarts it*."""
        bare = self._bare(clause)
        condition = self._conditions.match(bare)
        if condition:
            return not self._opens_question(bare[condition.end() :], False, is_first=True)
        return bool(self._proposals.match(bare))

    def _is_tagged(self, sentence: str) -> bool:
        """*Ann lives in Rome, doesn't she?*: the tag asks about what stands before it, while
        *I like tea, do you?* asks something of its own."""
        said, _, tag = sentence.rpartition(",")
        words = _folded(_WORD.findall(tag[:_CLAUSE_CHARACTERS_MAX]))
        if len(words) != 2 or not self._is_tag(*words):
            return False
        before = _folded(_WORD.findall(self._bare(said)))
        if words[1] == "you":
            return before[:1] == ["you"]
        return words[0] in self._words.negations or not self._words.negations.isdisjoint(before)

    def _is_tag(self, auxiliary: str, pronoun: str) -> bool:
        return auxiliary in self._words.auxiliaries and pronoun in self._words.pronouns

    def _bare(self, clause: str) -> str:
        opener = self._openers.match(clause)
        return clause[opener.end() :] if opener else clause

    def _goes_on(self, clause: str) -> bool:
        """*, which is a pity*, but not *, where do you live*."""
        first, *after = [word.casefold() for word in _WORD.findall(clause[:200])[:3]]
        inverted = len(after) == 2 and after[0] in self._words.auxiliaries
        asks = inverted and after[1] in self._words.pronouns
        return first in self._words.relatives and not asks

    def _opens_question(self, clause: str, marked: bool, is_first: bool) -> bool:
        bare = self._bare(clause)
        starts = {start for start in (bare, clause) if start}
        return any(self._asks_at_once(start, marked, is_first) for start in starts)

    def _asks_at_once(self, clause: str, marked: bool, is_first: bool) -> bool:
        if self._exclamations.match(clause):
            return False
        if self._requests.match(clause):
            return True
        heard = _WORD.findall(clause[:200])[: self._words.nouns_between_max + 4]
        words = _folded(heard)
        if not words:
            return False
        if words[0] in self._words.interrogatives:
            return marked or self._asks_about(words, heard, is_first)
        return self._is_inverted(words, heard, marked) or (
            is_first and self._asks_first(words, heard)
        )

    def _asks_about(self, words: list[str], heard: list[str], is_first: bool) -> bool:
        """*what is*, *how many days does*: an interrogative, some nouns, an auxiliary."""
        if is_first and self._is_relative(words, heard):
            return False
        if "'" in words[0] or words[0] == "who":
            return True
        if is_first and (words[0] in self._words.fragments or len(words) <= _FRAGMENT_WORDS_MAX):
            return True
        following = words[1 : 2 + self._words.nouns_between_max]
        if words[0] == "how" and following[:1] and following[0] in self._words.measures:
            return True
        return any(word in self._words.auxiliaries for word in following)

    def _is_relative(self, words: list[str], heard: list[str]) -> bool:
        """*where Ann lives is Oslo*, *what Ann said is true*: a clause that stands for a noun."""
        if len(words) < 4 or not heard[1][0].isupper() or words[1] in self._words.auxiliaries:
            return False
        is_past = words[2] in self._words.past_forms or words[2].endswith("ed")
        heads = words[0] in self._words.relative_heads or is_past
        is_inverted = words[2] in self._words.auxiliaries
        return heads and not is_inverted and not self._words.auxiliaries.isdisjoint(words[3:])

    def _is_inverted(self, words: list[str], heard: list[str], marked: bool) -> bool:
        """*is the*, *did Ann*: an auxiliary before its subject."""
        if words[0] not in self._words.auxiliaries or len(words) < 2:
            return False
        if marked:
            return True
        if words[0] in self._words.imperatives:
            return words[1] in self._words.pronouns
        is_name = heard[1][0].isupper() and words[0] not in self._words.names
        return words[1] in self._words.subjects or is_name

    def _asks_first(self, words: list[str], heard: list[str]) -> bool:
        """*does ann live here*: an auxiliary opens a sentence without mark or capitals."""
        w, auxiliary = self._words, words[0]
        if auxiliary not in w.auxiliaries or len(words) < _FRAGMENT_WORDS_MAX:
            return False
        subject, verb, is_name = words[1], words[2], heard[1][0].isupper()
        if subject in w.no_subjects or subject in w.auxiliaries or self._is_participle(subject):
            return False
        if auxiliary in w.perfects:
            return self._asks_whether_done(words, is_name)
        if auxiliary in w.negations or auxiliary in w.firsts:
            return False
        if auxiliary in w.modals:
            return (is_name or auxiliary in w.names) and self._is_bare(verb)
        if auxiliary in w.imperatives:
            names_some = is_name or subject.endswith(w.inflections[:1])
            return names_some and (verb == "and" or self._is_bare(verb))
        if auxiliary in w.before_verbs:
            return not self._is_bare(subject) or verb not in w.subjects | w.no_verbs
        return not subject.endswith(w.inflections[2:]) or subject in w.things or "or" in words

    def _asks_whether_done(self, words: list[str], is_name: bool) -> bool:
        """*has Ann moved*, *has the invoice been paid*, but not *has a dog called Rex*."""
        w, (auxiliary, subject) = self._words, words[:2]
        if is_name:
            return any(map(self._is_participle, words[2:]))
        if subject not in w.subjects:
            return self._is_participle(words[2])
        nouns = list(takewhile(lambda word: word not in w.no_subjects, words[3:6]))
        is_definite = subject in w.definites and auxiliary in w.presents
        return "been" in words[3:6] or (is_definite and any(map(self._is_participle, nouns)))

    def _is_participle(self, word: str) -> bool:
        w = self._words
        return word in w.past_forms | w.same_forms or word.endswith(w.inflections[1:2])

    def _is_bare(self, word: str) -> bool:
        """Whether a word may be a verb without an ending."""
        w = self._words
        others = w.no_subjects | w.subjects | w.auxiliaries | w.past_forms
        return word.isalpha() and word not in others and not word.endswith(w.inflections)

    def _states(self, said: str) -> bool:
        """Whether what stands before a question says something of its own."""
        bare = self._bare(said)
        enough = len(_WORD.findall(bare)) >= _STATING_WORDS_MIN
        return enough and not self._suppositions.match(bare)


def _folded(words: list[str]) -> list[str]:
    return [word.replace("’", "'").casefold() for word in words]


@lru_cache(1)
def _english() -> QuestionGate:
    return QuestionGate()


def is_question(text: str) -> bool:
    """Whether an English text only asks, so that nothing of it should be believed.

    >>> is_question("Tell me where Ann lives"), is_question("Remember that Ann lives in Oslo")
    (True, False)
    """
    return _english().is_question(text)
