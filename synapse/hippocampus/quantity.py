"""A number with the noun it counts, in sentences for people."""

from __future__ import annotations


def quantity(count: int, noun: str) -> str:
    """The number, and the noun in singular or plural.

    >>> quantity(1, "memory"), quantity(0, "memory"), quantity(2, "trace"), quantity(2, "day")
    ('1 memory', '0 memories', '2 traces', '2 days')
    """
    if count == 1:
        return f"1 {noun}"
    is_consonant_y = noun[-1] == "y" and noun[-2] not in "aeiou"
    return f"{count} {noun[:-1]}ies" if is_consonant_y else f"{count} {noun}s"
