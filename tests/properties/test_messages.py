"""Names in messages: whole where they are short, and never more than a line can carry."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.errors import shown

ANYTHING = st.none() | st.integers() | st.text(st.characters(codec=None)) | st.lists(st.text())


@given(ANYTHING)
def test_a_name_is_short_on_one_line_and_can_be_written(name: object) -> None:
    text = shown(name)
    assert len(text) <= 40 and len(text.splitlines()) == 1
    text.encode()


@pytest.mark.parametrize("name", ["my-agent", "Café", "Ann's", "x" * 38, None, 7])
def test_a_short_name_is_whole(name: object) -> None:
    assert shown(name) == repr(name)


@pytest.mark.parametrize("name", ["x" * 39, "it's " * 20, "\n" * 30, "\ud800" * 10])
def test_a_long_name_says_that_it_goes_on(name: str) -> None:
    text = shown(name)
    assert len(text) == 40 and text[0] == text[-1] and text[-2] == "…"
    assert repr(name).startswith(text[:-2])
