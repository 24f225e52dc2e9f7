"""Whether a sentence says of its own subject that it has the value now.

A fact's relation says what an extractor understood; the sentence says what was written. *Alice's
mother lives in Rome*, *In the novel, Alice lives in Rome*, *Alice refused to move to Rome* and
*Alice moved to Oslo from Rome* all may stand on an edge from Alice to Rome. So a sentence is read
word by word: it counts as a plain assertion only where every word is understood, or where the other
sentence of the pair has the same ones.
"""

from __future__ import annotations

from functools import lru_cache

from synapse.hippocampus.cue_hits import KnownNames, find_hits
from synapse.hippocampus.lexicon.assertions import AssertionWords
from synapse.hippocampus.lexicon.grammar import RelationLexicon
from synapse.hippocampus.lexicon.words import split_name, stem
from synapse.hippocampus.phrase import compiled
from synapse.hippocampus.rules.grade import Grade
from synapse.hippocampus.rules.plain_sentence import Assertion, PlainSentence
from synapse.hippocampus.rules.statement import SUBJECT, TARGET, StatementReader
from synapse.hippocampus.rules.tokens import sentences, tokens
from synapse.hippocampus.rules.vocabulary import Vocabulary
from synapse.hippocampus.wording import CACHED_COUNT

_TARGET_ALONE = KnownNames((TARGET,))
_NOT, _PERHAPS = Assertion("not"), Assertion("perhaps")
_ORDER: tuple[Grade, ...] = ("not", "plainly", "doubtfully", "perhaps")
"""What several sentences say together: the first of these that one of them says."""


class AssertionReader:
    """Reads assertions of one language.

    >>> from synapse.hippocampus.lexicon.english import ENGLISH_RELATIONS
    >>> from synapse.hippocampus.lexicon.english_assertions import ENGLISH_ASSERTIONS
    >>> from synapse.hippocampus.lexicon.english_changes import ENGLISH
    >>> reader = AssertionReader(StatementReader(ENGLISH), ENGLISH_ASSERTIONS, ENGLISH_RELATIONS)
    >>> for said in ("⟨s⟩ now lives in ⟨o⟩", "⟨s⟩ toured ⟨o⟩", "⟨s⟩'s aunt lives in ⟨o⟩"):
    ...     print(reader.read(said, "LIVES_IN").grade)
    plainly
    perhaps
    not
    """

    def __init__(
        self, statements: StatementReader, words: AssertionWords, relations: RelationLexicon
    ) -> None:
        self._statements = statements
        self.words = words
        self._relations = relations
        self._occupations = frozenset(map(stem, words.occupations))
        self.nouns = relations.noun_stems
        self._light = frozenset(map(stem, relations.light_verbs))
        self._weak = frozenset(map(stem, words.weak)) | words.present | words.past
        self._patterns = {
            name: compiled(getattr(words, name))
            for name in (
                "unreal", "unreal_after", "reported", "invented", "ended", "following", "passing"
            )
        }  # fmt: skip
        self.read = lru_cache(CACHED_COUNT)(self._read)
        self.is_about = lru_cache(CACHED_COUNT)(self._is_about)
        self.own = lru_cache(CACHED_COUNT)(self._own)
        self.evidence = lru_cache(CACHED_COUNT)(self._evidence)
        self._vocabulary = lru_cache(CACHED_COUNT)(self._words_about)

    def _is_about(self, masked: str, relation: str) -> bool:
        """Whether a sentence that names the value speaks of the relation in its own words."""
        if TARGET not in masked:
            return False
        stems = {token.stem for token in tokens(masked)}
        return bool(stems & self.evidence(relation) or self._statements.definite.search(masked))

    def is_occupation(self, name: str) -> bool:
        """Whether a name holds a word of an occupation."""
        return not self._occupations.isdisjoint(map(stem, split_name(name)))

    def _own(self, relation: str) -> frozenset[str]:
        """Stems of the words of a relation and of its synonyms."""
        w = self.words
        names = [relation, *self._relations.names_of(self._relations.normal(relation))]
        stems = {stem(word) for name in names for word in split_name(name)}
        stems |= {stem(s[:-2]) for s in stems if s.endswith(w.agent_endings) and len(s) > 4}
        return frozenset(stems - w.prepositions - w.determiners - w.present - w.past)

    def _evidence(self, relation: str) -> frozenset[str]:
        """Stems of all words that speak of a relation: its own and those of its family."""
        of_family = self._statements.wording.families
        families = self._statements.families(relation)
        stems = {stem(word) for family in families for word in of_family[family]} - self._weak
        if families & self.words.posts:
            stems |= self._occupations
        return self.own(relation) | stems

    def _words_about(self, relation: str) -> Vocabulary:
        w = self.words
        names = [relation, *self._relations.names_of(self._relations.normal(relation))]
        families = self._statements.families(relation)
        opening = frozenset[str]().union(*(w.begins_of.get(f, frozenset()) for f in families))
        own = self.own(relation)
        opening = frozenset(map(stem, opening))
        opening |= {verb for verb in map(stem, w.begins) if verb[:2] == "re" and verb[2:] in own}
        return Vocabulary(
            w, own, self.evidence(relation), self.nouns, self._light,
            w.companions.intersection(word for name in names for word in split_name(name)),
            opening, bool(families & w.of_people),
        )  # fmt: skip

    def _read(self, masked: str, relation: str) -> Assertion:
        """How surely a sentence gives ⟨s⟩ the value ⟨o⟩."""
        told = [tokens(sentence) for sentence in sentences(masked)]
        about = [words for words in told if any(w.word == TARGET for w in words)]
        if not about:
            return _PERHAPS
        evidence = self.evidence(relation)
        against = self._against(masked, evidence)
        if against is not None:
            return against
        named = any(w.is_name for words in told for w in words[1:])
        pronouns = not named and (SUBJECT in masked or len(told) == 1)
        vocabulary = self._vocabulary(relation)
        readings = [PlainSentence(vocabulary).read(words, pronouns) for words in about]
        reading = min(readings, key=lambda assertion: _ORDER.index(assertion.grade))
        if reading.grade == "plainly" and told[-1] and told[-1] not in about:
            return _PERHAPS  # what follows may take it back
        return reading

    def _against(self, masked: str, evidence: frozenset[str]) -> Assertion | None:
        """What shows that a sentence does not, or may not, say so."""
        first, last = _outer_names(masked)
        hits = find_hits(masked, self._statements.wording, _TARGET_ALONE)
        if self._finds("ended", masked, evidence) or next(hits, None) is not None:
            return _NOT
        if self._finds("invented", masked[:first], evidence):
            return _NOT
        grade = self.speech(masked[:last], masked[last:], evidence)
        if grade == "plainly" and self.is_passing(masked, evidence):
            grade = "doubtfully"
        return None if grade == "plainly" else Assertion(grade)

    def is_passing(self, masked: str, evidence: frozenset[str]) -> bool:
        """Whether a text says that what it tells holds only for a while, or was taken back.

        Args:
            masked: a text in which ⟨o⟩ is the value that counts in the end.
            evidence: stems of the words that speak of the relation.
        """
        return self._finds("passing", masked, evidence)

    def speech(self, before: str, after: str, evidence: frozenset[str]) -> Grade:
        """Whether what stands around a statement makes it a story, a wish, somebody's opinion."""
        if self._finds("unreal", before, evidence) or self._finds("unreal_after", after, evidence):
            return "not"
        for name in ("reported", "invented", "following"):
            if self._finds(name, before, evidence) or self._finds(name, after, evidence):
                return "doubtfully"
        return "plainly"

    def _finds(self, name: str, text: str, evidence: frozenset[str]) -> bool:
        """Whether a pattern is found by other words than the relation's own."""
        return any(
            evidence.isdisjoint(map(stem, split_name(text[match.start() : match.end()])[:1]))
            for match in self._patterns[name].finditer(text)
        )


def _outer_names(masked: str) -> tuple[int, int]:
    """Where the first of the two names begins, and where the second one ends."""
    places = [at for mark in (SUBJECT, TARGET) if (at := masked.find(mark)) >= 0]
    return min(places, default=0), max(places, default=0) + len(TARGET)
