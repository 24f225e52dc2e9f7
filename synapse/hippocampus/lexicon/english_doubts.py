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
    r"\b(?:years|decades|centuries|ages|long) ago\b|\bby (?:year-end|day|night|the (?:end|\d0s))\b|"
    r"(?<!\w)['’]\d\d(?![\w'’])|\.{2,}|…|\?|[:;]-?[()DPp](?!\w)|"
    r"\b(?:mock[- ]?ups?|wireframes?|placeholder|dummy|sample data|test data|seed data)\b"
)
"""Words that make a statement a guess, a joke, or one that holds in part."""
MARKED = (
    r"^\W*?(?://|#|>|--)|\[[ x]?\]|\b(?:e\.g|i\.e|cf|vs)\.|[!]{2,}|~\W*$|"
    r"[\U0001F600-\U0001F64F\U0001F910-\U0001F92F]|\w['’]s? ⟨s⟩"
)
"""Signs of quotes, notes, lists and smiles; and an owner before the subject: *Kim's ⟨s⟩*."""
DECADE = r"\b(?:in|during|of|from|since) the (?:early |mid-?|late )?(?:\d{2})?\d0['’]?s\b"
"""A time too long to tell what came first."""
DENIED_IN_PART = (
    r"(?:\b(?:not|no longer|cannot|stopped|ceased|quit)\b|n['’]t\b).*\b(?:just|only|fully|wholly|"
    r"completely|entirely|altogether|full[- ]?time|part[- ]?time|exclusively|solely|purely|"
    r"actually|permanently|officially|directly|successfully|definitively)\b"
)
"""Denials of a degree: what is *no longer fully* so may be so still."""
HANGING = r"\b(?:after|before|since|until|till|while|when|once|because|although|though)\W*$"
"""What makes a sentence a clause of another one that is not there."""
ONLY_SOME_TIMES = r"(?:{times}) (?:and|or|to|through) (?:{times})\b"
"""Parts of a year, or of a week; ``{times}`` are the names of times."""
AT_LATEST = r"\bby (?:mid|early|late)?[- ]?(?:{times})\b"
"""A time by which something is to happen."""
TAKES_BACK = (
    r"\b(?:but|not really|in name only|errors?|bugs?|glitch\w*|fak\w+|hoax\w*|lie[sd]?|lying|"
    r"hallucinat\w+|mis(?:read|heard|spelt|spelled|took|taken?|understood|reported)\w*|bets?|dares?|"
    r"pranks?|typos?|confus\w+|mix(?:ed)?[- ]up)\b"
)
"""The same, after the value."""
IN_A_ROLE = r"^\W*(?:\S+ ){0,4}as an? "
"""A role after the value: of an end, only the role ends."""
STATE_NOUNS = frozenset(("status", "state", "condition", "situation"))
"""Last words of relations that hold whatever is so of a thing: *paid* and *shipped* alike."""
SAME_STATES: tuple[frozenset[str], ...] = tuple(
    frozenset(row.split()) for row in (
        "on enabled active", "off disabled inactive", "open opened", "dead deceased",
        "unemployed jobless", "passing passed green", "failing failed red", "broken failing red",
        "completed finished done", "required mandatory", "online up running", "offline down",
        "closed resolved", "in_progress active", "single unmarried",
    )
)  # fmt: skip
"""States that are one and the same, in other words."""
NATIONS = frozenset(("nationality", "citizenship", "citizen", "national"))
"""Words of relations whose values are a country or its people."""
PARTS = {"half": 0.5, "quarter": 0.25, "dozen": 12.0, "couple": 2.0}
"""Words that count by themselves, or before *of*."""
OTHER_UNITS = {
    "fortnight": ("time", 1_209_600.0),
    "fortnights": ("time", 1_209_600.0),
    "decade": ("time", 315_576_000.0),
}
"""Units that are none in most sentences: dimension, and size in its smallest unit."""
MEASURED = frozenset(["old", "long", "tall", "high", "wide", "deep", "full", "heavy", "thick"])
"""Words after a quantity that only say what it measures."""
DEMONYM_ENDINGS = ("ish", "ian", "an", "ese", "ch", "i", "ic", "ek", "ss")
"""How words for the people of a country end."""
OTHER_DEMONYMS: dict[str, frozenset[str]] = {
    "dutch": frozenset(("netherlands", "holland")),
    "british": frozenset(("uk", "united kingdom", "england", "scotland", "wales")),
    "american": frozenset(("us", "usa", "united states")),
    "danish": frozenset(("denmark",)),
}
"""Words for the people of a country that do not begin as its name does."""
