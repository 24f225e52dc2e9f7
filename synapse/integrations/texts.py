"""Texts as callers give them."""

from __future__ import annotations

from typing import Any

from synapse.errors import UsageError


def refuse_what_is_no_text(**given: Any) -> None:
    """Refuse arguments that are no text.

    Args:
        given: the arguments by their names.

    Raises:
        UsageError: one of them is something else.
    """
    for name, value in given.items():
        if not isinstance(value, str):
            raise UsageError(f"{name} must be text, not {type(value).__name__}; write it out")


def plain(text: str) -> str:
    """A text without what no graph can hold: NUL and unpaired surrogates.

    >>> plain("Ann\\0 lives in \\ud800Oslo")
    'Ann lives in ?Oslo'
    """
    return text.replace("\0", "").encode("utf-8", "replace").decode()
