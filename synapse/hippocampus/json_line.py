r"""JSON on one line that survives the filters of its host.

Job schedulers pass what a program prints through a search-and-replace that hides secrets. It works
on text, not on JSON: a graph called ``DB_PASSWORD=x`` loses its value, the closing quote goes with
it, and the line is no JSON any more. JSON may write any character of a string as ``\uXXXX``; where
a filter would reach for the end of a string, this is done, so that the same values arrive.

What a filter hides inside a string (a name shaped like a key of some provider) stays hidden.
"""

from __future__ import annotations

import json
import re
from typing import Any

from synapse.errors import REWRITTEN_WORDS

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
# Two alternatives are there to be stepped over: a backslash or quote that is escaped already.
_REACHED_FOR = r"""
      \\["\\]
    | \\[bfnrt]                       # \f and then "al_…" would read as the start of a key
    | \\u[0-9a-f]{4}                  # and so would the digits of an escape, if they are small
    | [=@]                            # NAME=value, scheme://user@host
    | (?:key|token|authorization)\ *: # headers
    | -----                           # blocks of key files
"""
_ESCAPED = re.compile(_REACHED_FOR, re.IGNORECASE | re.VERBOSE)
_WORDS = REWRITTEN_WORDS.pattern.replace(" ", "[ ]")
# A digit after an escape could make such a number with the digits of the escape.
_ESCAPED_IN_FAILURES = re.compile(
    rf"{_WORDS}|(?:{_REACHED_FOR})|(?<=u[0-9a-f]{{4}})[0-9]", re.IGNORECASE | re.VERBOSE
)
_CONTROL = {
    r"\b": r"\u0008",
    r"\t": r"\u0009",
    r"\n": r"\u000A",
    r"\f": r"\u000C",
    r"\r": r"\u000D",
}


def json_line(value: Any, *, failed: bool = False) -> str:
    r"""A value as one line of ASCII JSON.

    Args:
        value: anything JSON can hold.
        failed: whether the line is about a failure: then words that a host would take for the
            failure of a model provider are broken up by an escape as well.

    >>> json_line({"graph": "café", "group_id": "DB_PASSWORD=x"})
    '{"graph": "caf\\u00E9", "group_id": "DB_PASSWORD\\u003Dx"}'
    >>> json_line("busy: 429", failed=True)
    '"busy: 42\\u0039"'
    """
    pattern = _ESCAPED_IN_FAILURES if failed else _ESCAPED
    return _STRING.sub(lambda found: pattern.sub(_escaped, found[0]), json.dumps(value))


def _escaped(found: re.Match[str]) -> str:
    text = found[0]
    if text in _CONTROL:
        return _CONTROL[text]
    if text.startswith("\\"):
        return "\\u" + text[2:].upper() if text[1] == "u" else text
    return f"{text[:-1]}\\u{ord(text[-1]):04X}"
