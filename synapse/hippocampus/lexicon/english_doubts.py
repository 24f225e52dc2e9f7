"""How English takes half back what it has just said: words, as data.

Written from the language alone. To teach it a phrase, add it to a pattern.
"""

from __future__ import annotations

UNSURE = (
    r"\b(?:apparently|unconfirmed|reportedly|allegedly|supposedly|purportedly|probably|possibly|"
    r"presumably|seemingly|hopefully|perhaps|maybe|likely|kind of|sort of|kinda|sorta|psych|"
    r"typos?|satir\w+|at times|now and then|from time to time|every so often|"
    r"in (?:his|her|their|its|my|our|your) (?:heads?|minds?|view|opinion|words?|dreams?|"
    r"imagination)|(?:i|we) (?:guess|think|hope|believe|fear)|if you ask)\b|"
    r"\b(?:mock[- ]?ups?|wireframes?|placeholder|dummy|sample data|test data|seed data)\b"
)
"""Words that make a statement a guess, a joke, or one that holds in part."""
DECADE = r"\b(?:in|during|of|from|since) the (?:early |mid-?|late )?(?:\d{2})?\d0['’]?s\b"
"""A time too long to tell what came first."""
ONLY_SOME_TIMES = r"(?:{times}) (?:and|or|to|through) (?:{times})\b"
"""Parts of a year, or of a week; ``{times}`` are the names of times."""
TAKES_BACK = r"\bbut\b|\bnot really\b|\bin name only\b"
"""The same, after the value."""
IN_A_ROLE = r"^\W*(?:\S+ ){0,4}as an? "
"""A role after the value: of an end, only the role ends."""
