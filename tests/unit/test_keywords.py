from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.hippocampus import keywords
from synapse.hippocampus.config import SalienceConfig
from synapse.hippocampus.keywords import count_hits

WORDS = SalienceConfig().emotion_words


def reference(text: str, words: list[str] | tuple[str, ...]) -> int:
    folded_words = {word.strip().casefold() for word in words} - {""}
    return sum(
        len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", text.casefold()))
        for word in folded_words
    )


@pytest.mark.parametrize(
    "text",
    [
        "mustard",
        "prefix",
        "whatever",
        "unimportant",
        "needless",
        "hated",
        "bug_fix",
        "fix2",
        "2fix",
        "fixé",
        "éfix",
        "terror errors",
        "",
    ],
)
def test_parts_of_words_do_not_count(text: str) -> None:
    assert count_hits([text], WORDS).tolist() == [0]


@pytest.mark.parametrize(
    "text",
    [
        "fix",
        "Fix!",
        "the FIX.",
        "hot-fix",
        "“fix”",
        "—fix—",
        "(fix)",
        "fix\0it",
        "it\nfix",
        "🔥fix🔥",
    ],
)
def test_punctuation_of_any_script_separates(text: str) -> None:
    assert count_hits([text], WORDS).tolist() == [1]


def test_every_occurrence_counts() -> None:
    assert count_hits(["urgent: fix the fix, or else crisis"], WORDS).tolist() == [4]


def test_other_scripts_and_inner_spaces() -> None:
    texts = ["Es ist DRINGEND, größer!", "СРОЧНО", "это не срочность", "GRÖSSER", "no longer"]
    words = ["dringend", "срочно", "größer", "No Longer", "longer"]
    assert count_hits(texts, words).tolist() == [2, 1, 0, 1, 2]


def test_blank_repeated_and_unusable_keywords_are_ignored() -> None:
    assert count_hits(["fix it", " "], ["", " ", "fix", "FIX", " fix ", "it\0", "\0"]).tolist() == [
        1,
        0,
    ]
    assert count_hits(["fix it"], []).tolist() == [0]
    assert count_hits([], WORDS).shape == (0,)


def test_keywords_that_begin_or_end_with_punctuation() -> None:
    assert count_hits(["c++ and c", "c+++", "!!"], ["c++", "!!"]).tolist() == [1, 1, 1]


def test_hostile_texts_are_only_data() -> None:
    texts = ["fix\\", "'fix'", '"); DROP fix', "\0fix\0", "x" * 10_000 + " fix", "\ud800 fix"]
    assert count_hits(texts, WORDS).tolist() == [1] * len(texts)


def test_slabs_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["fix"] * 3 + ["", "must fix", "mustard"] * 4
    whole = count_hits(texts, WORDS)
    monkeypatch.setattr(keywords, "SLAB_TEXTS_COUNT", 4)
    np.testing.assert_array_equal(count_hits(texts, WORDS), whole)


any_text = st.text(max_size=40)
spiced_text = st.lists(
    st.sampled_from(["fix", "FIX", "must", "ß", "ss", "é", "_", "1", " ", "-", "—", "\0", "İ", "a"])
    | st.text(max_size=2),
    max_size=12,
).map("".join)
words = st.lists(
    st.sampled_from(["fix", "must", "ß", "ss", "é", "a a", "fix must", "İ", "—", "_"])
    | st.text(st.characters(exclude_characters="\0"), max_size=3),
    max_size=6,
)


@given(st.lists(any_text | spiced_text, max_size=8), words)
def test_equals_a_plain_regular_expression(texts: list[str], words: list[str]) -> None:
    assert count_hits(texts, words).tolist() == [reference(text, words) for text in texts]
