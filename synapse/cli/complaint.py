"""What went wrong, in one line on stderr."""

from __future__ import annotations

import re
import sys
import textwrap
import traceback
from contextlib import suppress

from synapse.errors import REWRITTEN_WORDS

FIRST_LINE_CHARACTERS = 130
COMPLAINT_CHARACTERS = 2_000


def complain(sentence: str, error: BaseException | None, verbose: bool) -> None:
    """Tell a person; where a program listens, without the words that it would rewrite.

    Args:
        sentence: what went wrong; more than fits into one line follows on the next.
        error: where it comes from.
        verbose: whether that is told as well.
    """
    words = " ".join(sentence.split())
    if sys.stderr is None:  # print would turn to stdout
        return
    if not sys.stderr.isatty():
        words = REWRITTEN_WORDS.sub(_broken_up, words)
    first = textwrap.shorten(words, FIRST_LINE_CHARACTERS, placeholder=" …")
    if len(words) > FIRST_LINE_CHARACTERS and first == "…":
        first = words[: FIRST_LINE_CHARACTERS - 1] + "…"
    with suppress(OSError):  # nobody may be listening
        print(first, file=sys.stderr)
        if first != words:
            print(words[:COMPLAINT_CHARACTERS], file=sys.stderr)
        if verbose and error is not None:
            traceback.print_exception(error, file=sys.stderr)


def remark(sentence: str) -> None:
    """Say on stderr what is good to know; a command does not fail because nobody can hear it."""
    with suppress(OSError):
        if sys.stderr is not None:  # print would turn to stdout
            print(sentence, file=sys.stderr)


def _broken_up(found: re.Match[str]) -> str:
    """A word that a job host would take for its own: it can only come from somebody's name."""
    return f"{found[0][0]}·{found[0][1:]}"
