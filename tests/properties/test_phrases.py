"""A pattern is found in lower case wherever it is found when case is ignored."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields

from hypothesis import given, settings
from hypothesis import strategies as st

from synapse.hippocampus.lexicon import english_doubts
from synapse.hippocampus.lexicon.english_assertions import ENGLISH_ASSERTIONS
from synapse.hippocampus.lexicon.english_changes import ENGLISH
from synapse.hippocampus.phrase import Phrase


def patterns() -> Iterator[str]:
    """Every pattern of the language."""
    for words in (ENGLISH, ENGLISH_ASSERTIONS):
        values = (getattr(words, field.name) for field in fields(words))
        yield from (value for value in values if isinstance(value, str))
    for listed in (ENGLISH.cues, ENGLISH.beginnings, ENGLISH.endings):
        yield from (each.pattern for each in listed)
    yield from (value for value in vars(english_doubts).values() if isinstance(value, str))


PATTERNS = sorted(set(patterns()))
SAID = sorted({word for pattern in PATTERNS for word in re.findall(r"[a-z']{2,}", pattern)})
WORD = st.one_of(
    st.sampled_from(SAID),
    st.sampled_from(SAID).map(str.upper),
    st.sampled_from(SAID).map(str.title),
    st.sampled_from(["⟨s⟩", "⟨o⟩", "I", "’s", "…", "2027", "May", "Ünal", "ſtop", "İt", "K", "?"]),
    st.text(max_size=4),
)


@settings(max_examples=200)
@given(st.lists(WORD, max_size=9).map(" ".join))
def test_case_is_ignored(text: str) -> None:
    for pattern in PATTERNS:
        ignoring = re.compile(pattern or r"(?!)", re.IGNORECASE)
        wanted = [match.span() for match in ignoring.finditer(text)]
        phrase = Phrase(pattern)
        assert [match.span() for match in phrase.finditer(text)] == wanted, pattern
        first = phrase.search(text)
        assert ([] if first is None else [first.span()]) == wanted[:1], pattern
