"""What a sentence does: does it state something as true now, or ask, suppose, recall, add, correct?

A sentence is read without the names of the two entities that it links, so that no name is taken for
a word, and sentences of one shape are read once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from synapse.hippocampus.lexicon.words import is_past, split_name, stem
from synapse.hippocampus.phrase import compiled
from synapse.hippocampus.wording import CACHED_COUNT, Beginning, Wording

SUBJECT, TARGET = "⟨s⟩", "⟨o⟩"
"""Marks in place of the names of a fact's source and target."""

_MASKED_CHARACTERS_MAX = 600
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_AFTER_SUBJECT = re.compile(rf"^\W*(?:the |its |this )?{SUBJECT} (\w+)(?: (\w+))?")
_SHORT_CHARACTERS = 4


@dataclass(frozen=True, slots=True)
class Mood:
    """What one sentence does."""

    asserts: bool
    """It neither asks nor supposes."""
    asks: bool
    adds: bool
    """It adds to what is known."""
    recalls: bool
    """It speaks of what was so once."""
    is_past: bool
    """It stands in the past tense of a verb of state."""
    corrects: bool
    negates: bool
    scope: frozenset[tuple[str, str]]
    """Circumstances under which it holds."""
    conditions: frozenset[str]
    """Words of conditions: *for reads*."""
    acts: bool
    """It tells what somebody did: its first verb is a past tense."""

    def states_now(self) -> bool:
        """Whether what it says is meant to be true at its time, and instead of other values."""
        return self.asserts and not (self.adds or self.recalls or self.negates)


PLAIN = Mood(
    asserts=True,
    asks=False,
    adds=False,
    recalls=False,
    is_past=False,
    corrects=False,
    negates=False,
    scope=frozenset(),
    conditions=frozenset(),
    acts=False,
)
"""A plain statement about the present."""


def hide_names(text: str, subject: str, target: str) -> str:
    """A sentence with marks in place of its two names.

    >>> hide_names("Ann Lee lives in Rome; Ann Lee's cat, too.", "Ann Lee", "rome")
    "⟨s⟩ lives in ⟨o⟩; ⟨s⟩'s cat, too."
    """
    text = text[:_MASKED_CHARACTERS_MAX]
    if subject == target:
        return hide_name(text, subject, SUBJECT)
    if len(subject) < len(target):
        return hide_name(hide_name(text, target, TARGET), subject, SUBJECT)
    return hide_name(hide_name(text, subject, SUBJECT), target, TARGET)


def hide_name(text: str, name: str, mark: str) -> str:
    """A text with a mark in place of a name, wherever the name stands whole."""
    if not name:
        return text
    lowered, wanted = text, name
    place = text.find(name)
    if place < 0:
        lowered, wanted = text.casefold(), name.casefold()
        place = lowered.find(wanted) if len(lowered) == len(text) else -1
    masked, done = "", 0
    while place >= 0:
        end = place + len(wanted)
        before, after = lowered[place - 1 : place], lowered[end : end + 1]
        if not (before.isalnum() and wanted[0].isalnum()) and not (
            after.isalnum() and wanted[-1].isalnum()
        ):
            masked += text[done:place] + mark
            done = end
        place = lowered.find(wanted, end)
    return masked + text[done:]


class StatementReader:
    """Reads sentences of one language.

    >>> from synapse.hippocampus.lexicon.english_changes import ENGLISH
    >>> reader = StatementReader(ENGLISH)
    >>> reader.mood("Does ⟨s⟩ live in ⟨o⟩?", "LIVES_IN").asserts
    False
    >>> reader.mood("⟨s⟩ also uses ⟨o⟩", "USES").adds
    True
    >>> sorted(reader.mood("⟨s⟩ runs on ⟨o⟩ in staging", "RUNS_ON").scope)
    [('environment', 'staging')]
    """

    def __init__(self, wording: Wording) -> None:
        self.wording = wording
        self._asks, self._supposes = compiled(wording.asks), compiled(wording.supposes)
        self._adds, self._recalls = compiled(wording.adds), compiled(wording.recalls)
        self._corrects, self._negates = compiled(wording.corrects), compiled(wording.negates)
        self.definite = compiled(wording.definite)
        self._conditions = compiled(wording.conditions)
        self._kind_of = {word: kind for kind, words in wording.scopes for word in words}
        # Short words are looked for between blanks elsewhere: here they may stand anywhere.
        short = {word for word in self._kind_of if len(word) < _SHORT_CHARACTERS}
        short |= {needle.strip() for needle in wording.condition_needles}
        self._short_scopes = compiled("|".join(map(re.escape, sorted(short))))
        self._fixed = frozenset(map(stem, wording.fixed))
        self.mood = lru_cache(CACHED_COUNT)(self._mood)
        self.corrects = lru_cache(CACHED_COUNT)(self._is_correction)
        self.is_plain = lru_cache(CACHED_COUNT)(self._is_plain)
        self.is_fixed = lru_cache(CACHED_COUNT)(self._is_fixed)
        self.beginnings = [(b, compiled(b.pattern)) for b in wording.beginnings]
        self.named_beginning = lru_cache(CACHED_COUNT)(self._named_beginning)

    def may_scope(self, text: str) -> bool:
        """Whether a text may hold a short word of a circumstance, or letters beyond ASCII.

        >>> from synapse.hippocampus.lexicon.english_changes import ENGLISH
        >>> reader = StatementReader(ENGLISH)
        >>> reader.may_scope("Acme uses Redis (for reads)"), reader.may_scope("Acme uses Redis")
        (True, False)
        """
        return not text.isascii() or self._short_scopes.search(text) is not None

    def _is_plain(self, relation: str) -> bool:
        """Whether a relation name alone tells nothing special."""
        return self.mood(f"{SUBJECT} {TARGET}", relation) == PLAIN

    def _is_fixed(self, relation: str) -> bool:
        """Whether a relation never ends: births, foundations."""
        return not self._fixed.isdisjoint(map(stem, split_name(relation)))

    def _named_beginning(self, relation: str) -> tuple[Beginning | None, bool]:
        """What a relation name begins, and whether it holds a word that may begin something."""
        words = " ".join(split_name(relation))
        first = next((b for b, pattern in self.beginnings if pattern.search(words)), None)
        return first, any(map(words.__contains__, self.wording.beginning_needles))

    def _is_correction(self, masked: str) -> bool:
        """Whether a sentence corrects what was said before."""
        return self._corrects.search(masked) is not None

    def _mood(self, masked: str, relation: str) -> Mood:
        name = " ".join(split_name(relation))
        match = _AFTER_SUBJECT.match(masked)
        verb, after = (match[1].casefold(), (match[2] or "").casefold()) if match else ("", "")
        first, second = [*split_name(relation), "", ""][:2]
        past = any(
            word in self.wording.past_states and following not in ("by", "to")
            for word, following in ((verb, after), (first, second))
        )
        words = {word.casefold() for word in _WORD.findall(masked)}
        asks = bool(self._asks.search(masked))
        supposes = self._supposes.search(masked) or self._supposes.begins(name)
        return Mood(
            asserts=not (asks or supposes),
            asks=asks,
            adds=bool(self._adds.search(masked) or self._adds.begins(name)),
            recalls=bool(self._recalls.search(masked) or self._recalls.begins(name)),
            is_past=past,
            corrects=self.corrects(masked),
            negates=bool(self._negates.search(masked) or self._negates.search(name)),
            scope=frozenset((self._kind_of[word], word) for word in words & self._kind_of.keys()),
            conditions=frozenset(self._conditions.findall(masked.casefold())),
            acts=bool(verb) and is_past(verb) and not past,
        )

    @lru_cache(CACHED_COUNT)  # noqa: B019 - a reader lives as long as the program
    def families(self, words: str) -> frozenset[str]:
        """Families of which a relation name, or a sentence, has a word."""
        stems = {stem(word) for word in split_name(words)}
        return frozenset(f for f, members in self._family_stems().items() if stems & members)

    @lru_cache(1)  # noqa: B019
    def _family_stems(self) -> dict[str, frozenset[str]]:
        families = self.wording.families
        return {f: frozenset(map(stem, words)) for f, words in families.items()}


def scopes_part(left: Mood, right: Mood) -> Literal["no", "perhaps", "yes"]:
    """Whether two sentences hold under different circumstances.

    >>> from synapse.hippocampus.lexicon.english_changes import ENGLISH
    >>> reader = StatementReader(ENGLISH)
    >>> staging, production, anywhere = (
    ...     reader.mood(f"⟨s⟩ runs on ⟨o⟩{where}", "RUNS_ON")
    ...     for where in (" in staging", " in production", "")
    ... )
    >>> scopes_part(staging, production), scopes_part(staging, staging)
    ('yes', 'no')
    >>> scopes_part(staging, anywhere)
    'perhaps'
    """
    if left.conditions and right.conditions and not left.conditions & right.conditions:
        return "yes"
    if left.scope == right.scope:
        return "no"
    return "yes" if left.scope and right.scope else "perhaps"
