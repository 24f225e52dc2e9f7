"""What job hosts do to the output of a program, in the form that hurts most.

``make test-hosts`` holds the summary against the filter of a real host; these few rules keep
``make test`` honest without one.
"""

from __future__ import annotations

import re

from hypothesis import strategies as st

_NAME = r"(?:api[_-]?key|token|secret|password|passwd|credential|auth)"
_RULES = (
    rf"(?i)([\w.-]*{_NAME}[\w.-]*\s*=\s*['\"]?)(\S+)",  # NAME=value, to the next space
    r'(?i)("(?:api_?key|token|secret|password|bearer)"\s*:\s*")([^"]+)',  # "token": "value"
    r"(?i)((?:proxy-)?authorization:\s*(?:\w+\s+)?)([^\s\"']+)",  # headers
    r"(?i)((?:x-[a-z-]*|api-?)(?:key|token)\s*:\s*)(\S+)",
    r"(?i)([a-z]+://)([^\s:@/]{8,})(?=@)",  # a secret before the host of an address
    r"(?i)(redis://[^:\s]+:)([^@\s]+)(?=@)",
    r"()(?<![\w-])((?:sk|al|fal|pm|npm|vly|tvly|am|b_live|bb_live|fc)[-_][\w-]{10,})",  # keys
    r"()(eyJ[\w-]{10,}(?:\.[\w=-]{4,})*)",  # signed tokens
    r"()(-----BEGIN[A-Z ]*PRIVATE KEY-----[\s\S]*?-----END[A-Z ]*PRIVATE KEY-----)",
    r"()(\+[1-9]\d{6,14})(?![a-zA-Z0-9])",  # telephone numbers
)


def filtered(text: str) -> str:
    """The text as it arrives: what looks like a secret is cut out, in the middle or whole."""
    for rule in _RULES:
        text = re.sub(rule, lambda found: found[1] + _masked(found[2]), text)
    return text


def _masked(secret: str) -> str:
    return "***" if len(secret) < 18 else f"{secret[:6]}...{secret[-4:]}"


BAIT = (
    "DB_PASSWORD=abcd", "OPENAI_API_KEY = ", "app.auth.token=x", "password=", "x=y&token=z",
    '"token": "x"', "Authorization: Bearer ", 'authorization:"', "X-Api-Key:", "api-key : ",
    "https://aaaaa", "redis://me:", "@", "sk-", "sk_live_", "\fal_abcdefghij", "\npm_abcdefghij",
    "\tvly-abcdefghij", "\bb_live_abcdefghij", "îyJabcdefghij", "eyJhbGciOi", ".abcd",
    "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "------", "+12345678",
    "12345678:", "A" * 30, "429", "timed out", "timeout", "authentication", "usage limit", "403",
    '"', "'", "\\", "\\n", "\\u00", " ", "=", ":", "a", "0", "\x00", "\u2028", "🧠",
)  # fmt: skip

baited = st.lists(st.sampled_from(BAIT) | st.text(max_size=5), max_size=12).map("".join)
"""Names in which a filter finds something."""
