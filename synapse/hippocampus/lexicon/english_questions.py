"""How English asks: the words, as data.

Written from the language alone. To teach it a phrase, add it; to teach another language, write
another :class:`QuestionWords`.
"""

from __future__ import annotations

from dataclasses import dataclass


def _bag(words: str) -> frozenset[str]:
    return frozenset(words.split())


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """How one language asks. Patterns are regular expressions, matched without regard to case."""

    marks: str
    """Characters that end a question."""
    interrogatives: frozenset[str]
    """Words that open a question before an auxiliary: *what is*, *where do*."""
    measures: frozenset[str]
    """Words that may follow *how* before the auxiliary: *how long*, *how many days does*."""
    nouns_between_max: int
    """Words that may stand between an interrogative and its auxiliary: *what kind of car is*."""
    auxiliaries: frozenset[str]
    subjects: frozenset[str]
    """Words that begin the subject after an auxiliary: *did she*, *is the server*."""
    imperatives: frozenset[str]
    """Auxiliaries that are orders, main verbs or names as well (*have a look*, *and had a blast*):
    without a question mark they ask only before a pronoun."""
    pronouns: frozenset[str]
    names: frozenset[str]
    """Auxiliaries that are names of people as well."""
    relatives: frozenset[str]
    """Interrogatives that, after a comma, mostly go on about what stands before it."""
    requests: str
    """Phrases at the beginning of a clause that ask for an answer."""
    wonders: str
    """Phrases within a sentence from which on it asks."""
    openers: str
    """What may stand before a question without being part of it: *so*, *by the way*, *hey*."""
    suppositions: str
    """Beginnings of a clause that supposes, and so belongs to the question after it."""
    exclamations: str
    """Beginnings that look like questions and state something: *what a*."""
    tellings: str
    """Beginnings that ask to take note, and so state what follows: *could you note that*."""
    proposals: str
    """What proposes, and so states, unless a question mark ends it: *from now on*."""
    conditions: str
    """Inverted conditions up to what follows from them: *should it fail, Bob restarts it*."""
    fragments: frozenset[str]
    """Interrogatives that ask at the beginning of a sentence whatever follows: *wheres Ann*."""
    relative_heads: frozenset[str]
    """Interrogatives that, before a name, stand for a noun: *where Ann lives is Oslo*."""
    perfects: frozenset[str]
    """Auxiliaries that ask if a participle follows their subject: *has Ann moved*."""
    modals: frozenset[str]
    """Auxiliaries that are names or stand without a subject as well (*Will Smith plays*): they ask
    if a bare verb follows their subject."""
    presents: frozenset[str]
    """Of the perfects those that, before *the*, ask: *had the car washed* mostly tells."""
    definites: frozenset[str]
    """Words that begin a subject which is known: *has the build passed*."""
    negations: frozenset[str]
    """Negated auxiliaries, which ask only before a subject that can be told as such (*can't eat
    nuts* leaves it out), and other words that negate a sentence."""
    firsts: frozenset[str]
    """Auxiliaries of *I*, which is often left out: *am in Rome*."""
    before_verbs: frozenset[str]
    """Auxiliaries with a bare verb after the subject: *would Ann come*."""
    no_verbs: frozenset[str]
    """Words that follow a verb, so that what stands before is no subject: *would love to*."""
    things: frozenset[str]
    """Subjects that end as a verb does: *is staging on Redis 7*."""
    no_subjects: frozenset[str]
    """Words that do not begin the subject after an auxiliary: *was in Rome*, *is not ready*."""
    past_forms: frozenset[str]
    """Irregular past tenses and participles that are no bare verbs."""
    same_forms: frozenset[str]
    """Participles that are bare verbs as well: *has Ann come*, *may Ann come*."""
    inflections: tuple[str, ...]
    """Endings of verbs that are not bare."""


ENGLISH_QUESTIONS = QuestionWords(
    marks="?\u037e\u061f\uff1f\u2047\u2048\u2049",
    interrogatives=_bag(
        "what what's whats which who who's whos whom whose when when's where where's wheres "
        "why why's how how's hows"
    ),
    measures=_bag(
        "long much many often far old big large tall deep wide high fast soon quickly likely "
        "well early late hard difficult easy important expensive cheap good bad best come about"
    ),
    nouns_between_max=4,
    auxiliaries=_bag(
        "is are was were am isn't aren't wasn't weren't do does did don't doesn't didn't "
        "have has had haven't hasn't hadn't can could can't couldn't will would won't wouldn't "
        "shall should shouldn't may might must mustn't "
        "isnt arent wasnt werent dont doesnt didnt havent hasnt hadnt cant couldnt wont wouldnt "
        "shouldnt"
    ),
    subjects=_bag(
        "i you we they he she it there this that these those the a an any anyone anybody anything "
        "someone somebody something everyone everybody everything my your our their his her its "
        "one both all either some"
    ),
    imperatives=_bag("do don't dont have has had may might must"),
    pronouns=_bag("i you we they it he she anyone there"),
    names=_bag("will"),
    relatives=_bag("which who whom whose when where"),
    requests=(
        r"(?:please |kindly |just |also |then |now )*(?:(?:tell|show|remind|give|teach|"
        r"walk) (?:me|us)"
        r"(?! \w+ (?:yesterday|today))|explain|describe|summari[sz]e|list|"
        r"let (?:me|us) know|help me (?:\w+ ){0,2}?(?:find|understand|remember|recall|figure|"
        r"decide)|"
        r"look up|find out|search for|what about|how about|how come|what if|"
        r"(?:(?:got|have) )?any (?:\w+ ){0,2}?(?:idea|ideas|clues?|hints?|guess(?:es)?|"
        r"thoughts?|advice|tips?|suggestions?|"
        r"recommendations?|chance|"
        r"news|updates?|luck|other|more)\b|"
        r"(?:do )?you (?:know|remember|recall|think) (?!what[,.!:;–—])"
        r"(?:what|which|who|whom|whose|when|where|why|"
        r"how|"
        r"if|whether|of|any)|"
        r"know (?:what|which|who|whom|whose|when|where|why|how|if|whether)|you sure|"
        r"(?:does |did )?(?:any|some)(?:one|body) (?:knows?|remembers?|recalls?)|"
        r"(?:could|can|would|will) (?:you|u)\b|"
        r"(?:remember|recall) (?:what|which|who|when|where|why|how))\b"
    ),
    wonders=(
        r"\b(?:(?:i(?:['’]m| am|['’]ve been| have been| was)?|(?:and|but) (?:was|am)) "
        r"(?:(?:just|also|still|really|kinda) )?wonder(?:ing|ed)?\b(?! woman| boy)|"
        r"i(?:['’]d| would) (?:(?:really|also) )?(?:like|love|want) to (?:know|hear|understand)\b|"
        r"i (?:(?:just|also|really) )?(?:want|need)(?:ed)? to (?:know|ask (?:you|if|whether|how|"
        r"what))\b|"
        r"(?:i(?:['’]m| am) )?curious (?:if|whether|about|how|what|why|when|where|who)\b|"
        r"(?:please )?(?:let|tell) me (?:know )?(?:what|which|who|when|where|why|how|if|whether)\b)"
    ),
    openers=(
        r"(?:(?:so|and|but|or|also|then|well|ok(?:ay)?|hey|hi|hello|hmm+|um+|uh|oh|ah|yes|yeah|"
        r"yep|no|"
        r"right|alright|anyway|actually|btw|by the way|now|again|please|pls|just|thanks|thank you|"
        r"sorry|great|cool|first|next|finally|lastly|otherwise|in that case|for example|"
        r"sounds good|got it|(?:you know|guess) what(?=[,.!:;–—]))\b[\s,.!:;–—-]*)+"
    ),
    suppositions=(
        r"(?:if|whether|unless|suppos(?:e|ing)|assuming|say|imagine|in case|provided|when|whenever|"
        r"once|before|until|depending on|in order to|to|for|with|without|besides|among|between|"
        r"instead of|rather than|apart from|other than|as for|regarding|concerning|about|out of)\b"
    ),
    exclamations=(
        r"(?:what an?\b|how (?:nice|great|lovely|cool|awesome|wonderful|sweet|sad|funny|kind|"
        r"exciting|"
        r"interesting|thoughtful|strange|odd|weird)|"
        r"which (?:is|was) (?:why|how|where|when|what|because)|"
        r"whatever|whoever|whenever|wherever|however|"
        r"what (?:i|we|he|she|they|you) |"
        r"(?:when|where|why|how|who|what|which) (?:i|we|he|she|they|you|it|the|my|our|this|that)\b)"
    ),
    tellings=(
        r"(?:(?:could|can|would|will) (?:you|u) (?:please |kindly |just |also )*(?:note(?: down)?|"
        r"remember|record|save|store|memori[sz]e|write down|keep in mind|bear in mind)"
        r"(?: that\b|:)|"
        r"did you know that\b)"
    ),
    proposals=r"how about (?:we|i)\b.*\b(?:from (?:now|here|today) on|going forward|in future)\b",
    conditions=(
        r"(?:should (?!i\b|we\b)[^,]*|(?:were|had)\b[^,]*(?=,.*(?:['’]d|\bwould|\bcould|\bmight|"
        r"\bshould)\b)),\s*(?!(?:or|and|but|which|who|where|please)\b)(?=\S+ \S)"
    ),
    fragments=_bag("why whats whos whens wheres whys hows"),
    relative_heads=_bag("where when why how"),
    perfects=_bag("has have had hasn't haven't hadn't hasnt havent hadnt"),
    modals=_bag("will may might must"),
    presents=_bag("has have hasn't haven't hasnt havent"),
    definites=_bag("the my our your his her its their this that these those"),
    negations=_bag(
        "isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't cannot "
        "couldn't won't wouldn't shouldn't mustn't isnt arent wasnt werent dont doesnt didnt "
        "havent hasnt hadnt cant couldnt wont wouldnt shouldnt "
        "not never no none nobody nothing nowhere neither hardly"
    ),
    firsts=_bag("am"),
    before_verbs=_bag("do does did can could would shall should"),
    no_verbs=_bag("to now then today yesterday tomorrow again back here there away off well"),
    things=_bag(
        "staging billing pricing marketing engineering accounting onboarding housing wedding "
        "morning evening spring string thing king ring ceiling"
    ),
    no_subjects=_bag(
        "be not never in at on to of for from with by as and or but so too very really quite just "
        "also already only still always often sometimes back here there out home away off up down "
        "now then today yesterday tomorrow well able born tired sick ill glad happy late busy sure "
        "sorry me us him them"
    ),
    past_forms=_bag(
        "been gone got gotten left became begun brought built bought caught chosen "
        "done drawn driven eaten fallen felt found flown forgotten given grown had heard held kept "
        "known led lost made met paid said sold seen sent slept spoken spent "
        "taken taught told thought understood won written went came did took began gave knew saw "
        "spoke wrote grew drove broke broken"
    ),
    same_forms=_bag("come become put read run set shut cut hit let"),
    inflections=("s", "ed", "ing"),
)
