"""What English sentences do, and what stands in them: the words, as data.

Questions, guesses, memories, corrections; circumstances, states, units. Written from the language
alone. To teach it a phrase, add a row.
"""

from __future__ import annotations

from typing import Any


def _bag(words: str) -> frozenset[str]:
    return frozenset(words.split())


STATEMENTS: dict[str, Any] = dict(  # noqa: C408 - fields of a class, as they are called
    fillers=_bag(
        "a an the its their his her our my old former previous current existing "
        "use uses used using with on in at to for by from via anymore being as"
    ),
    followers=_bag(
        "and or but nor so as because since due for from to with by in on at of after before when "
        "while where which that who during if until till via per through within across now then "
        "today yesterday here there anymore again entirely completely is was are were has had it "
        "they he she we last this earlier recently altogether"
    ),
    negations=_bag(
        "not never without cannot can't won't isn't aren't wasn't weren't hasn't haven't hadn't "
        "doesn't don't didn't"
    ),
    vetoes=(
        r"\?|\b(?:could|might|should|would|will|shall|(?-i:may)|if|whether|consider\w*|"
        r"plan(?:s|ned|ning)?|intend\w*|going to|want\w*|hop(?:es?|ed|ing)|wish\w*|propos\w*|"
        r"suggest\w*|recommend\w*|think\w*|discuss\w*|evaluat\w*|debat\w*|ask(?:s|ed|ing)?|"
        r"wonder\w*|prefer\w*|also|as well|additionally|in addition|besides)\b"
    ),
    asks=(
        r"\?\s*$|^\W*(?:does|do|did|should|could|would|can|will|has|have|is|are|was|were|which|"
        r"what|"
        r"who|whose|when|where|why|how|whether)\b(?=.*\?)|^\W*whether\b"
    ),
    supposes=(
        r"\b(?:could|might|would|should|will|shall|(?-i:may)|if|whether|unless|maybe|perhaps|"
        r"probably|possibly|potential\w*|hypothetical\w*|allegedly|reportedly|supposedly|"
        r"rumou?r\w*|"
        r"consider(?:s|ed|ing)?|plan(?:s|ned|ning)?|intend\w*|intention|going to(?! ⟨o⟩)|about to|"
        r"aims? to|"
        r"wants?|wanted|wanting|hop(?:es?|ed|ing)|wish(?:es|ed)?|dream\w*|propos\w*|proposal|"
        r"suggest\w*|recommend\w*|thinks?|thinking|thought|discuss\w*|evaluat\w*|explor(?:es|ed|"
        r"ing)|"
        r"debat\w*|wonder\w*|appl(?:y|ies|ied|ying) (?:to|for)|interview\w*|looking (?:for|to|"
        r"into)|"
        r"expect(?:s|ed)? to|supposed to|try to|tries to|trying to|offered|tempted|toy(?:s|ed|"
        r"ing) with|"
        r"weigh(?:s|ed|ing)|imagin\w*|suppose\w*|tentative\w*)\b|\bapplied\b(?=.* to\b)"
    ),
    adds=(
        r"\b(?:also|as well|additionally|in addition|besides|alongside|along with|together with|"
        r"plus|another|too|apart from|on top of|both|second|secondary|other|side by side|part[- "
        r"]time|"
        r"as a backup|in parallel|simultaneously|at the same time|concurrently|while (?:still|"
        r"keeping))\b"
    ),
    recalls=(
        r"\b(?:formerly|previously|used to|in the past|once|originally|initially|at first|"
        r"years ago|months ago|back (?:in|when|then)|at the time|historically|in (?:his|her|their) "
        r"(?:youth|childhood)|grew up|growing up|as a (?:child|kid|boy|girl|teen\w*|student|young "
        r"\w+)|"
        r"during (?:his|her|their|its) (?:studies|childhood|youth)|before (?:\w+ing|that|then)|"
        r"until|no longer|any ?more|ex)\b"
    ),
    corrects=(
        r"\b(?:correction|corrected|erratum|actually|contrary to|in error|misspoke|mistakenly|"
        r"misremembered|misstated|(?:was|were|am|is|been) (?:a mistake|a typo|an error|incorrect|"
        r"mistaken|wrong))\b|^\W*(?:no|sorry|oops|in fact)\b"
    ),
    negates=(
        r"\b(?:no longer|not(?! (?:only|just|merely|simply|long|to mention)\b)|never|"
        r"neither|cannot|"
        r"without(?! \w+ing\b)|ceased to)\b|n['’]t\b(?! (?:only|just|merely|simply)\b)"
    ),
    half_denied=(
        r"^ (?:(?:the|an?|\w+ly) )?(?:only|just|merely|simply|always|necessarily|all|every\w*|long|"
        r"yet|until|even|sure|quite|really|because|much|many|best|first|last|for|in|on|at)\b"
    ),
    mood_needles=(
        "whether", "could", "might", "would", "should", "will", "shall", " may ", " if ",
        "unless", "maybe", "perhaps", "probabl", "possibl", "potential", "hypothetical",
        "allegedly", "reportedly", "suppos", "rumo", "consider", "plan", "inten", "going to",
        "about to", "aim to", "aims to", "want", "hope", "hopi", "wish", "dream", "propos",
        "suggest", "recommend", "think", "thought", "discuss", "evaluat", "explor", "debat",
        "wonder", "appl", "interview", "looking", "expect", "try to", "tries to", "trying",
        "offered", "tempted", "toying", "toyed", "weigh", "imagin", "tentative",
        "also", "as well", "addition", "besides", "alongside", "along with", "together", "plus",
        "another", " too", "apart from", "on top of", "both", "second", "other", "side by side",
        "part-time", "part time", "backup", "parallel", "simultaneous", "same time",
        "concurrently", "while still", "while keep", "former", "previous",
        "used to", "past", "once", "original",
        "initial", "at first", "years ago", "months ago", "back ", "at the time", "historical",
        "youth", "childhood", "grew up", "growing up", "as a ", "during h", "during their",
        "during its", "before", "until",
        "no longer", "any more", "anymore", " ex-", "not ", "n't ", "n’t ", "never", "neither",
            "cannot",
        "without", "ceased",
    ),
    correction_needles=(
        "correct", "erratum", "mistake", "wrong", "error", "typo", "misspoke", "misstate",
        "misremember", "sorry", "oops", "actually", "in fact", "contrary", " no, ", " no ",
    ),
    past_states=_bag(
        "lived worked resided stayed used liked loved preferred ran played studied taught spoke "
        "served had belonged led managed held depended relied drove attended wore sat stood headed "
        "chaired coached cached stored supported required included contained employed cost weighed "
        "kept dwelt dated trained slept believed knew"
    ),
    scopes=(
        ("environment", _bag(
            "staging production prod dev development test testing local locally localhost qa uat "
            "preview sandbox ci demo canary")),
        ("part of day", _bag(
            "morning mornings afternoon afternoons evening evenings night nights noon lunchtime "
            "breakfast lunch dinner")),
        ("day", _bag(
            "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays "
            "thursdays fridays saturdays sundays weekday weekdays weekend weekends")),
        ("season", _bag("spring summer autumn winter summers winters")),
        ("place of doing", _bag("home office school gym abroad remotely onsite")),
        ("platform", _bag(
            "linux windows macos android ios mobile desktop frontend backend")),
    ),
    states=tuple(_bag(row) for row in (
        "on off", "up down", "enabled disabled", "open opened closed", "active inactive",
        "online offline", "alive dead deceased", "single married divorced widowed engaged",
        "employed unemployed retired jobless", "passing failing broken green red passed failed",
        "running stopped paused", "public private", "draft published", "pending approved rejected",
        "true false", "yes no", "healthy unhealthy degraded", "valid invalid", "locked unlocked",
        "available unavailable", "connected disconnected", "full empty", "installed uninstalled",
        "vegetarian vegan omnivore", "pregnant", "sick well", "awake asleep", "visible hidden",
        "optional required mandatory", "supported unsupported", "deprecated maintained",
        "started finished completed", "todo done", "blocked unblocked", "merged unmerged",
        "synchronous asynchronous", "manual automatic", "hot cold", "in_progress",
        "stable unstable", "secure insecure", "paid unpaid", "signed unsigned", "wet dry",
        "present absent", "low high medium", "beginner intermediate advanced expert",
    )),
    relates=(
        r"\b(?:parts?|contain(?:s|ed)?|include[sd]?|locat\w+|situated|capital|city|town|country|"
        r"region|district|province|suburb|subsidiary|acquire[sd]?|merge[sd]?|renamed?|alias|aka|"
        r"known as|duplicate|same|belongs?|division|branch|department|offices?|own(?:s|ed)?)\b"
    ),
    fixed=_bag("bear birth birthplace birthday die death deathplace bury create invent found "
               "founder "
               "compose author write develop design discover establish origin originate native"),
    units=(
        ("length", {"mm": 0.001, "cm": 0.01, "m": 1.0, "meter": 1.0, "meters": 1.0, "metre": 1.0,
                    "metres": 1.0, "km": 1e3, "kilometer": 1e3, "kilometers": 1e3,
                    "kilometre": 1e3,
                    "kilometres": 1e3, "mile": 1609.344, "miles": 1609.344, "mi": 1609.344,
                    "ft": 0.3048, "feet": 0.3048, "foot": 0.3048, "inch": 0.0254,
                    "inches": 0.0254}),
        ("mass", {"mg": 1e-6, "g": 1e-3, "gram": 1e-3, "grams": 1e-3, "kg": 1.0, "kilogram": 1.0,
                  "kilograms": 1.0, "kilos": 1.0, "lb": 0.45359237, "lbs": 0.45359237,
                  "pound": 0.45359237, "pounds": 0.45359237, "ton": 1e3,
                  "tons": 1e3, "tonnes": 1e3}),
        ("time", {"ms": 1e-3, "millisecond": 1e-3, "milliseconds": 1e-3, "s": 1.0, "sec": 1.0,
                  "secs": 1.0, "second": 1.0, "seconds": 1.0, "min": 60.0, "mins": 60.0,
                  "minute": 60.0, "minutes": 60.0, "h": 3600.0, "hr": 3600.0, "hrs": 3600.0,
                  "hour": 3600.0, "hours": 3600.0, "day": 86400.0, "days": 86400.0,
                  "week": 604800.0, "weeks": 604800.0, "year": 31557600.0, "years": 31557600.0,
                  "month": 2629800.0, "months": 2629800.0}),
        ("data", {"b": 1.0, "byte": 1.0, "bytes": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
                  "kib": 1024.0, "mib": 1024.0**2, "gib": 1024.0**3}),
        ("", {"%": 0.01, "percent": 0.01}),
        ("volume", {"l": 1.0, "liter": 1.0, "liters": 1.0, "litre": 1.0, "litres": 1.0,
                    "dl": 0.1, "cl": 0.01, "ml": 0.001, "milliliter": 0.001,
                    "milliliters": 0.001, "millilitre": 0.001, "millilitres": 0.001}),
        ("usd", {"$": 1.0, "usd": 1.0, "dollar": 1.0, "dollars": 1.0, "cents": 0.01}),
        ("eur", {"€": 1.0, "eur": 1.0, "euro": 1.0, "euros": 1.0}),
        ("gbp", {"£": 1.0, "gbp": 1.0}),
    ),
    magnitudes={"k": 1e3, "K": 1e3, "M": 1e6, "bn": 1e9, "thousand": 1e3, "million": 1e6,
                "billion": 1e9},
    months=("january", "february", "march", "april", "may", "june", "july", "august", "september",
            "october", "november", "december"),
    number_words=tuple(
        word for row in (
            "zero one two three four five six seven eight nine ten eleven twelve thirteen",
            "fourteen fifteen sixteen seventeen eighteen nineteen twenty",
        ) for word in row.split()
    ),
    first_person=r"\b(?:i|we|my|our|me|i['’]\w+|we['’]\w+)\b",
    never=r"\b(?:i|we)(?:['’]ve| have|['’]d| had)? never\b(?: (?:actually|really|even|ever|once))?",
    clause_ends=r",|;|\bbut\b|\bwhich\b|\bso\b|\bbecause\b|\band (?:i|we)\b|[.!?]",
    function_words=_bag(
        "a an the i i'm i've i'd i'll my me we we've we're our us you your it it's its this that "
        "these those is are was were be been being am do does did don't didn't have has had "
        "haven't "
        "and or but so if of to in on at for with from by as about into onto not no never any some "
        "can can't could should would will just like really than then there here what what's how "
        "which who when where why think know want need help get got make try trying bit lot more "
        "most much many now currently recently actually way since after before all them they "
        "he she his her their up out over using use used looking look ago during through per each "
        "every also still again well very too kinda sure"
    ),
    definite=(
        r"^the (?!(?:other|second|third|new) )[^,]*⟨s⟩[^,]* is ⟨o⟩\W*$|"
        r"^⟨s⟩['’]s? (?!(?:other|second|third) )[^,]{1,40} is ⟨o⟩\W*$|"
        r"^⟨o⟩ is the (?!(?:other|second|third|first) )[^,]{1,40} (?:of|at|for|in) ⟨s⟩\W*$"
    ),
    condition_needles=(" for ", "during", "when ", "while"),
    conditions=r"\b(?:for|during|when|while)(?: (?:the|its|all|any|an?))? ([^\W\d_]{3,})",
)  # fmt: skip
"""Fields of a :class:`~synapse.hippocampus.wording.Wording`."""
