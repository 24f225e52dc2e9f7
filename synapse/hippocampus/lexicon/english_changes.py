"""How English says that something changed, ended, or is otherwise: the words, as data.

Written from the language alone. To teach it a phrase, add a row.
"""

from __future__ import annotations

from synapse.hippocampus.lexicon.english_statements import STATEMENTS
from synapse.hippocampus.wording import Beginning, Cue, Ending, Opposites, Wording


def _bag(words: str) -> frozenset[str]:
    return frozenset(words.split())


_STAY = _bag("residence employment membership leadership")
_POST = _bag("employment membership leadership")
_KEEP = _bag("use ownership membership")
_HAVE = r"(?:\b(?:was|were|is|are|has|have|had|been|being|got|gets|getting) ){0,4}"
_CHANGED = (
    r"switch(?:es|ed|ing)?|migrat(?:es|ed|ing)|mov(?:es|ed|ing)|upgrad(?:es|ed|ing)|"
    r"downgrad(?:es|ed|ing)|chang(?:es|ed|ing)|relocat(?:es|ed|ing)|transferr?(?:s|ed|ing)|"
    r"transition(?:s|ed|ing)|convert(?:s|ed|ing)|went|going|bump(?:s|ed|ing)|rais(?:es|ed|ing)|"
    r"increas(?:es|ed|ing)|decreas(?:es|ed|ing)|reduc(?:es|ed|ing)|lower(?:s|ed|ing)|"
    r"extend(?:s|ed|ing)|shorten(?:s|ed|ing)|reschedul(?:es|ed|ing)|postpon(?:es|ed|ing)|"
    r"port(?:ed|ing)|renam(?:es|ed|ing)|promot(?:es|ed|ing)|demot(?:es|ed|ing)|"
    r"updat(?:es|ed|ing)|took over|rewritten|rewrote|reassigned|relicensed|rehosted|redeployed"
)
_DROPPED = (
    r"drop(?:s|ped|ping)|abandon(?:s|ed|ing)|ditch(?:es|ed|ing)|deprecat(?:es|ed|ing)|"
    r"discard(?:s|ed|ing)|discontinu(?:es|ed|ing)|eliminat(?:es|ed|ing)|uninstall(?:s|ed|ing)|"
    r"remov(?:es|ed|ing)|retir(?:es|ed|ing)|decommission(?:s|ed|ing)|scrapp(?:ed|ing)|"
    r"phas(?:es|ed|ing) out|got rid of|getting rid of|gave up|giving up|swapp?(?:s|ed|ing)(?: out)?"
)

_DROP_NEEDLES = (
    "drop", "abandon", "ditch", "deprecat", "discard", "discontinu", "eliminat", "uninstall",
    "remov", "retir", "decommission", "scrap", "phas", "rid of", "gave up", "giving up", "swap",
)  # fmt: skip

ENGLISH = Wording(
    language="en",
    cues=(
        Cue("instead_of", ("instead of", "in place of"), r"\bin(?:stead| place) of\b",
            "after", 0.9),
        Cue("switched_from", ("switch", "migrat", "move", "movi", "upgrad", "downgrad", "chang",
            "relocat", "transfer", "transition", "convert", "went ", "going ", "bump", "rais",
                "increas", "decreas", "reduc", "lower", "extend", "shorten", "reschedul",
                "postpon", "renam", "promot", "demot", "updat", "took over", "ported", "porting",
                "rewr", "reassign", "relicens", "rehost", "redeploy"),
            rf"\b(?:{_CHANGED})(?: (?!from\b|off\b|to\b)[^\s,.;]+){{0,4}}"
            r"(?: to(?: (?!from\b)[^\s,.;]+){1,4})?(?: away| over)? (?:from|"
            r"off(?: of)?)\b",
            "after", 0.9, also=(" from ", " off ")),
        Cue("replaces", ("replac", "supersed", "supplant", "succeed"),
            r"\b(?:replac(?:es|ed|ing)|supersed(?:es|ed|ing)|supplant(?:s|ed|ing)|succeed(?:s|ed|"
            r"ing))"
            r"\b(?! (?:by|with|in)\b)", "after", 0.9),
        Cue("replaced_by", ("replaced", "superseded", "succeeded", "supplanted"),
            _HAVE + r"\b(?:replaced|superseded|succeeded|supplanted) (?:by|with)\b", "before", 0.9),
        Cue("dropped_for", _DROP_NEEDLES,
            _HAVE + rf"\b(?:{_DROPPED}) (?:in favou?r of|for)\b", "before", 0.85),
        Cue("dropped", _DROP_NEEDLES,
            rf"\b(?:{_DROPPED})\b(?! from\b)", "after", 0.8, families=_bag("use ownership")),
        Cue("no_longer", ("no longer",), r"\bno longer\b", "after", 0.85, skipped_words_count=3),
        Cue("stopped", ("stop", "ceas", "quit "), r"\b(?:stop(?:s|ped)|ceas(?:es|ed)|quit)\b(?= "
                                                  r"\w+ing\b)",
            "after", 0.85, skipped_words_count=3),
        Cue("used_to", ("used to",), r"\bused to\b", "after", 0.75, skipped_words_count=3),
        Cue("anymore", ("anymore", "any more", "any longer"),
            r"(?:n't|n’t|\bnot)\b(?=[^.!?;]{0,200}\bany ?(?:more|longer)\b)", "after", 0.85,
            skipped_words_count=3),
        Cue("left", ("left", "leav", "resign", "quit", "depart"),
            r"\b(?:left|leaves|leaving|quit|quits|quitting|resign(?:s|ed|ing) from|depart(?:s|ed|"
            r"ing)(?: from)?)\b",
            "after", 0.85, skipped_words_count=1, families=_STAY),
        Cue("divorced", ("divorc", "separated from", "broke up with", "split from"),
            r"\b(?:divorc(?:ed|ing)|separated from|broke up with|split from)\b", "after", 0.85,
            families=_bag("marriage")),
        Cue("formerly", ("formerly", "previously"), r"\b(?:formerly|previously)\b", "after", 0.75,
            skipped_words_count=2),
        Cue("rather_than", ("rather than",), r"\brather than\b", "after", 0.7),
        Cue("not", ("not ",), r"\bnot\b", "after", 0.6),
    ),
    families={
        "residence": _bag("live reside residence dwell stay home house base headquarters "
                          "headquarter hq locate location situate inhabit settle apartment"),
        "employment": _bag("work employ employer employee job position staff intern contract "
                           "career "
                           "occupation profession role serve hire"),
        "membership": _bag("member membership belong affiliate affiliation play team club attend "
                           "enrol enroll study register participate party join group part "
                           "committee "
                           "board subscribe follow volunteer student educate train"),
        "leadership": _bag("lead leader head manage manager ceo cto cfo chair chairperson chairman "
                           "president run coach captain direct director govern chief executive"),
        "marriage": _bag("marry spouse wife husband wed engage date partner girlfriend boyfriend "
                         "fiance fiancee couple relationship"),
        "use": _bag("use utilize depend dependency rely run build store cache log require "
                    "integrate "
                    "connect import include contain host deploy adopt configure support need have "
                    "power write database backend library package tool framework stack service "
                    "storage queue broker provider engine feature subscribe employ leverage "
                    "operate"),
        "habit": _bag("drink smoke eat play practice practise take wear consume chew gamble train "
                      "watch visit do"),
        "problem": _bag("problem issue bug error fail failure block break crash need require todo "
                        "task miss lack blocker blocked outage"),
        "plan": _bag("plan will intend schedule book attend register go reserve order rsvp invite "
                     "appointment trip event meeting reservation subscription booking travel sign "
                     "commit agree expect"),
        "ownership": _bag("own owner possess have hold keep drive property"),
        "schedule": _bag("start begin time date day schedule meet deadline due open happen occur "
                         "launch take"),
        "name": _bag("name call title nickname know"),
        "version": _bag("version release run use require python constraint"),
        "rank": _bag("role position title rank job occupation grade level work"),
    },
    beginnings=(
        Beginning(r"\b(?:moved|relocated|emigrated|immigrated)(?: \w+){0,3} (?:to|into)\b|"
                  r"\bsettled (?:in|down in)\b|\b(?:moving|relocating) to\b(?=.*\b(?:done|"
                  r"completed)\b)",
                  _bag("residence schedule"), 0.85),
        Beginning(r"\b(?:started|began|start|begin|took|accepted|got|landed) (?:\w+ ){0,2}"
                  r"(?:work|working|job|position|role|employment)\b|\b(?:was |got |been )?hired "
                  r"by\b|"
                  r"\bjoined\b(?=.* as an? \b)|\bnow works\b|\btransferred to\b",
                  _bag("employment"), 0.85),
        Beginning(r"\bjoin(?:s|ed)\b", _bag("employment"), 0.6),
        Beginning(r"\bsigned (?:with|for|by)\b", _bag("membership"), 0.7, only=_bag("play")),
        Beginning(r"\b(?:married|wed)\b(?! to\b)|\bgot married to\b|\btied the knot\b",
                  _bag("marriage"), 0.8),
        Beginning(r"\bpromoted to\b|\bdemoted to\b|\bappointed(?: as| to)?\b|\bbecame\b",
                  _bag("rank leadership employment"), 0.8, only=_bag(
                      "role position title rank job occupation grade level")),
        Beginning(r"\b(?:took over as|elected|appointed|named|became) (?:\w+ ){0,3}"
                  r"(?:ceo|cto|cfo|president|chair\w*|head|leader|director|manager|captain|coach|"
                  r"mayor)\b",
                  _bag("leadership"), 0.8),
        Beginning(r"\brenamed (?:to|as)\b|\bnow (?:called|named|known as)\b", _bag("name"), 0.85),
        Beginning(r"\b(?:upgraded|updated|downgraded|bumped|rolled back|migrated)(?: \w+){0,3} "
                  r"to\b",
                  _bag("version"), 0.8),
        Beginning(r"\b(?:switched|migrated|moved|changed|converted|transitioned)(?: over)? to\b",
                  _bag("use"), 0.7),
        Beginning(r"\b(?:rescheduled|postponed|delayed|brought forward|pushed(?: back)?|moved)"
                  r"(?: \w+){0,3} (?:to|until)\b", _bag("schedule"), 0.85),
        Beginning(r"\bconverted to\b", _bag("religion"), 0.8, only=_bag("religion faith")),
    ),
    endings=(
        Ending(r"\bno longer\b|(?:n't|n’t|\bnot)\b(?=.{0,200}\bany ?(?:more|longer)\b)|"
               r"\b(?:stopped|ceased|quit|gave up|given up) (?=\w+ing\b)|\bceased to\b|"
               r"\bused to\b(?! be used)|\bformerly\b|\bpreviously\b|\bhas (?:ended|expired)\b",
               frozenset(), 0.9),
        Ending(r"\b(?:resign(?:s|ed)|step(?:s|ped) down|retir(?:es|ed)|was (?:fired|dismissed|"
               r"laid off|"
               r"let go)|got (?:fired|laid off)|fired|dismissed|sacked|ousted|expelled) (?:as|"
               r"from|by)\b|"
               r"\bresigned\b|\bfired\b|\blaid off\b|\bstepped down\b", _POST, 0.9),
        Ending(r"\b(?:left|leaves|departed|quit|exited|walked out of|parted ways with|"
               r"moved (?:out of|away from|from))\b", _STAY | _bag("marriage"), 0.9),
        Ending(r"\b(?:divorced|separated from|broke up with|split (?:up )?(?:from|with)|"
               r"annulled)\b",
               _bag("marriage"), 0.9),
        Ending(rf"\b(?:{_DROPPED}|deleted|stripped|purged|revoked|shut down|turned off|taken down|"
               r"unsubscribed|unfollowed|unregistered|disconnected|detached|withdrawn)\b",
               _KEEP | _bag("marriage residence"), 0.85),
        Ending(r"\b(?:uninstalled|decommissioned|(?:was|were|been|got) removed from)\b",
               _bag("use ownership"), 0.9),
        Ending(r"\b(?:cancel(?:s|led|ed|ling|ing)|call(?:s|ed) off|withdr(?:ew|aws|awn|awing)|"
               r"back(?:s|ed) out|pull(?:s|ed) out|drop(?:s|ped) out|declin(?:es|ed)|scrapp?ed|"
               r"abandon(?:s|ed)|unenrolled|skipp(?:s|ed)|postponed indefinitely|"
               r"decided (?:against|not))\b", _bag("plan membership use"), 0.9),
        Ending(r"\b(?:gave up|given up|quit|kicked|swore off|stopped)\b",
               _bag("habit use membership employment plan"), 0.85),
        Ending(r"\b(?:fixed|resolved|solved|repaired|addressed|closed|completed|finished|"
               r"unblocked)\b",
               _bag("problem plan"), 0.8),
        Ending(r"\b(?:sold|gave away|got rid of|lost|donated|traded in|disposed of|returned)\b",
               _bag("ownership"), 0.85),
        Ending(r"\b(?:dissolved|terminated|discontinued|ended|lapsed)\b",
               _bag("employment membership marriage use plan"), 0.8),
    ),
    beginning_needles=(
        "moved", "moving", "relocat", "migrat", "settled", "start", "began", "begin", "begun",
            "took", "accept", "got ",
        "landed", "hired", "join", "now ", "transfer", "signed", "married", "wed ", "wedd",
            "the knot",
        "promot", "demot", "appoint", "became", "elected", "named", "rename", "upgrad", "updat",
        "downgrad", "bumped", "rolled back", "switch", "chang", "convert", "transition",
            "reschedul",
        "postpon", "delay", "brought", "pushed",
    ),
    denial_needles=(
        "kicked", "swore off", "fixed", "resolved", "solved", "repaired", "addressed", "closed",
        "completed", "finished", "unblocked",
        "no longer", "n't ", "n’t ", "not ", "never", "anymore", "any more", "stop", "ceas", "quit",
        "gave", "given", "used to", "formerly", "previously", "ended", "expired", "resign", "step",
        "retir", "fired", "laid off", "let go", "dismiss", "sacked", "oust", "expel", "left",
        "leav", "depart", "exited", "walked out", "parted", "moved", "divorc", "separated", "broke",
        "split", "annulled", "drop", "abandon", "ditch", "deprecat", "discard", "discontinu",
        "eliminat", "uninstall", "remov", "decommission", "scrap", "phas", "rid of", "giving up",
        "swap", "delet", "stripped", "purged", "revoked", "shut down", "turned off", "taken down",
        "unsubscribed", "unfollowed", "unregistered", "disconnected", "detached", "withdr",
            "cancel",
        "called off", "calls off", "backed out", "pull", "declin", "unenrolled", "skip",
            "postponed",
        "decided", "sold", "lost", "donated", "traded", "disposed", "returned", "dissolved",
        "terminated", "lapsed", "cannot", "neither", "without",
    ),
    blockers=_bag("and but then instead joined join joining for new after before while when"),
    opposites=(
        Opposites("liking", _bag("like love enjoy adore"), _bag("dislike hate detest loathe "
                                                                "despise")),
        Opposites("support", _bag("support favor favour endorse back approve advocate"),
                  _bag("oppose reject condemn disapprove resist")),
        Opposites("permission", _bag("allow permit enable authorize"),
                  _bag("forbid prohibit block disallow ban deny disable prevent")),
        Opposites("switch", _bag("enable activate"), _bag("disable deactivate")),
        Opposites("trust", _bag("trust believe"), _bag("distrust mistrust doubt disbelieve")),
        Opposites("agreement", _bag("agree"), _bag("disagree")),
        Opposites("acceptance", _bag("accept"), _bag("reject decline refuse")),
        Opposites("inclusion", _bag("include contain"), _bag("exclude omit lack")),
        Opposites("following", _bag("follow subscribe"), _bag("unfollow unsubscribe")),
        Opposites("friendship", _bag("friend befriend ally"), _bag("enemy unfriend foe rival")),
        Opposites("membership", _bag("join"), _bag("leave quit")),
        Opposites("ability", _bag("can able"), _bag("cannot unable")),
        Opposites("compatibility", _bag("compatible"), _bag("incompatible")),
        Opposites("installation", _bag("install"), _bag("uninstall")),
        Opposites("connection", _bag("connect"), _bag("disconnect")),
        Opposites("use", _bag("use"), _bag("avoid disuse")),
    ),
    **STATEMENTS,
)  # fmt: skip

LANGUAGES = (ENGLISH,)
