"""English words without their inflections, and the words of a relation name."""

from __future__ import annotations

import re
from functools import lru_cache

from synapse.hippocampus.wording import CACHED_COUNT

_IRREGULAR_VERBS = """
    meet:met win:won lose:lost send:sent say:said tell:told write:wrote,written run:ran
    give:gave,given get:got,gotten take:took,taken buy:bought sell:sold build:built make:made
    find:found see:saw,seen hear:heard go:went,gone come:came leave:left begin:began,begun
    choose:chose,chosen speak:spoke,spoken teach:taught think:thought sit:sat break:broke,broken
    drive:drove,driven eat:ate,eaten drink:drank fly:flew,flown feel:felt forget:forgot,forgotten
    hide:hid,hidden shoot:shot sleep:slept spend:spent steal:stole,stolen swim:swam
    throw:threw,thrown wake:woke wear:wore,worn lead:led pay:paid keep:kept hold:held deal:dealt
    know:knew,known grow:grew,grown bear:bore,born fight:fought catch:caught bring:brought
    ride:rode,ridden sing:sang,sung rise:rose,risen show:shown stand:stood
    understand:understood become:became draw:drew,drawn fall:fell,fallen mean:meant seek:sought
    override:overrode,overridden
"""
_IRREGULAR_PLURALS = "child:children person:people man:men woman:women wife:wives life:lives"
_OTHER_FORMS = "die:dying lie:lying tie:tying"
_AMBIGUOUS = frozenset({"found", "lives", "left"})
"""Forms that are also plain words of another meaning, which is the more frequent one in names."""
_NO_PLURAL_WORDS = """
    status address series species news headquarters analysis basis class process access business
    progress success lens bus axis dns https tls alias canvas boss princess bonus virus campus
    genus corpus focus menu census radius previous various os gps css js aws pass
"""
_NO_PLURAL = frozenset(_NO_PLURAL_WORDS.split())
_SPLIT = re.compile(r"[^0-9A-Za-z\u00c0-\uffff]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_VOWEL = re.compile(r"[aeiouy]")
_ES_PLURAL = re.compile(r"(?:ss|sh|ch|x|zz)es$")


def _forms(text: str) -> dict[str, str]:
    pairs = [entry.split(":") for entry in text.split()]
    forms = {form: plain for plain, listed in pairs for form in listed.split(",")}
    return {form: plain for form, plain in forms.items() if form not in _AMBIGUOUS}


_PAST = _forms(_IRREGULAR_VERBS)
_PLURAL = _forms(_IRREGULAR_PLURALS)
_PLAIN = _PAST | _PLURAL | _forms(_OTHER_FORMS)


@lru_cache(CACHED_COUNT)
def split_name(relation: str) -> tuple[str, ...]:
    """The words of a relation name, in lower case.

    >>> split_name("WORKS_AT"), split_name("hasHTTPPort"), split_name("place of birth")
    (('works', 'at'), ('has', 'http', 'port'), ('place', 'of', 'birth'))
    """
    return tuple(word.casefold() for word in _SPLIT.split(relation) if word)


@lru_cache(CACHED_COUNT)
def stem(word: str) -> str:
    """What the inflections of an English word have in common; not a word to be read by people.

    >>> {stem(word) for word in ("work", "works", "worked", "working")}
    {'work'}
    >>> stem("cities") == stem("city"), stem("running") == stem("ran"), stem("use") == stem("used")
    (True, True, True)
    """
    word = _plain(word)
    if len(word) > 2 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 2 and word[-1] == word[-2]:
        word = word[:-1]
    return word


def is_plain(word: str) -> bool:
    """Whether a word carries no inflection: *use*, but not *uses*, *used*, *using*."""
    return _plain(word) == word


def is_plural(word: str) -> bool:
    """Whether a noun stands for several: *ports*, *children*, but not *status*.

    >>> is_plural("ports"), is_plural("children"), is_plural("status"), is_plural("port")
    (True, True, False, False)
    """
    return word in _PLURAL or (len(word) > 3 and _ends_in_s(word))


def is_past(word: str) -> bool:
    """Whether a verb is a past tense or a past participle.

    >>> is_past("visited"), is_past("won"), is_past("born"), is_past("speed"), is_past("visits")
    (True, True, True, False, False)
    """
    if word in _PAST:
        return True
    return len(word) > 3 and word[-2:] == "ed" and word[-3:] != "eed" and bool(
        _VOWEL.search(word[:-2])
    )  # fmt: skip


def _ends_in_s(word: str) -> bool:
    return word[-1] == "s" and word not in _NO_PLURAL and word[-2:] not in ("ss", "us", "is")


def _plain(word: str) -> str:
    if word in _PLAIN:
        return _PLAIN[word]
    if len(word) <= 3 or word in _NO_PLURAL:
        return word
    if word.endswith(("ies", "ied")):
        return word[:-1] if len(word) == 4 else word[:-3] + "y"
    for ending in ("ing", "ed"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) > 1 and _VOWEL.search(rest):
            return rest
    if _ES_PLURAL.search(word):
        return word[:-2]
    return word[:-1] if _ends_in_s(word) else word
