"""Texts that were heard while they came in are read like texts that are there at once."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.hearing import Hearing
from synapse.hippocampus.keywords import count_hits
from synapse.hippocampus.lexicon.english_changes import LANGUAGES
from synapse.hippocampus.rules.spoken import PhraseSearch
from synapse.hippocampus.share import words_counts

SEARCH = PhraseSearch(LANGUAGES)
WORDS = HippocampusConfig().salience.emotion_words
TEXTS = st.lists(
    st.one_of(
        st.text(max_size=30),
        st.lists(
            st.sampled_from([*WORDS, "no longer", "Straße", "instead of", "moved to", "?", "İ"])
        ).map(" ".join),
    ),
    max_size=12,
)


def assert_reads(hearing: Hearing, texts: list[str]) -> None:
    spoken, expected = hearing.spoken(texts), SEARCH.find(texts)
    for name in ("moods", "scopes", "states", "denials", "beginnings", "corrections"):
        assert getattr(spoken, name).tolist() == getattr(expected, name).tolist()
    assert spoken.cues == expected.cues
    assert hearing.emotion_hits(texts).tolist() == count_hits(texts, WORDS).tolist()
    assert hearing.words_counts(texts).tolist() == words_counts(texts).tolist()


@settings(max_examples=40)
@given(st.lists(TEXTS, max_size=4))
def test_slabs_are_read_as_one(slabs: list[list[str]]) -> None:
    hearing = Hearing(WORDS)
    for slab in slabs:
        hearing.hear(slab)
    assert_reads(hearing, [text for slab in slabs for text in slab])


@settings(max_examples=40)
@given(TEXTS, TEXTS)
def test_other_texts_are_read_themselves(heard: list[str], asked: list[str]) -> None:
    hearing = Hearing(WORDS)
    hearing.hear(heard)
    assert_reads(hearing, asked)
    assert_reads(hearing, heard)


def test_texts_heard_twice_are_not_mixed_up() -> None:
    hearing, texts = Hearing(WORDS), ["It is urgent", "A no longer uses B"]
    hearing.hear(texts[:1])
    hearing.hear(texts)
    assert_reads(hearing, texts)
