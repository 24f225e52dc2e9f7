"""How English says plainly that somebody has a value, and how it only seems to: words, as data.

Written from the language alone. To teach it a word, add the word to a list.
"""

from __future__ import annotations

from synapse.hippocampus.lexicon.assertions import AssertionWords


def _bag(words: str) -> frozenset[str]:
    return frozenset(words.split())


_STORY = (
    r"(?:novels?|fiction|stor(?:y|ies)|books?|films?|movies?|plays?|dreams?|nightmares?|games?|"
    r"sitcom|series|show|episode|comics?|scenes?|scenarios?|simulations?|examples?|myths?|legends?|"
    r"tales?|fairy ?tales?|fantas(?:y|ies)|rehearsals?|jokes?|pranks?|parod(?:y|ies)|satires?|"
    r"role[- ]?plays?|poems?|songs?|sketch|hypothes[ie]s|thought experiments?|manga|anime|"
    r"screenplay|script|chapter|alternate (?:history|universe|timeline)|imagination|argument)"
)
_SAID = (
    r"claim(?:s|ed|ing)?|assert(?:s|ed)?|believ(?:es?|ed)|sa(?:y|ys|id|ying)|tells?|told|"
    r"report(?:s|ed)?(?! to\b)|mention(?:s|ed)|guess(?:es|ed)?|heard|hears|reckon(?:s|ed)|"
    r"insist(?:s|ed)?|swears?|swore|argue[sd]?|alleg(?:es|ed)|assum(?:es?|ed|ing|ption)|presum\w+|"
    r"suspect(?:s|ed)?|speculat\w+|estimat(?:es|ed)|predict\w*|expect(?:s|ed)?|remember(?:s|ed)?|"
    r"recall(?:s|ed)?|pretend\w*|according to|states? that|stated that|writes? that|wrote that|"
    r"read(?:s)? that|knows? that|gossip\w*|hint(?:s|ed)|impl(?:y|ies|ied)|suppos\w+|imagin\w+|"
    r"convinced|feels? like|quot(?:e[sd]?|ing)|cit(?:es|ed|ing)|purport\w*|legend has"
)

_UNSURE = (
    r"wip|draft|ideas?|avoid\w*|promis\w+|applied|appl(?:y|ies)|instead|candidate|potential|future|"
    r"missed|without|rather than|ignor\w+|unlike|except|perhaps|mostly|partly|mainly|sometimes|"
    r"often|occasionally|temporarily|briefly|nominally|officially not|half|on and off|for now"
)

_WHILE = (
    r"(?:moments?|minutes?|hours?|days?|nights?|weeks?|weekends?|fortnights?|months?|years?|"
    r"seasons?|semesters?|terms?|summers?|winters?|autumns?|sprints?|time being|while|trials?|"
    r"tests?|demos?|experiments?|maintenance|migration|outage|holidays?)"
)
_GUEST = (
    r"(?:volunteer|guest|visitor|tourist|lodger|student|scholar|patient|substitute|stand-in|"
    r"stopgap|placeholder|fallback|trial|test|experiment|pilot|workaround|demo|favou?r|"
    r"joke|prank|back-?up|spare)"
)

ENGLISH_ASSERTIONS = AssertionWords(
    determiners=_bag("a an the its his her their our my this"),
    pronouns=_bag("he she it they"),
    present=_bag("is are am has have 's 're"),
    past=_bag("was were had"),
    copulas=_bag("is are am was were 's 're"),
    been=_bag("been being got"),
    pluperfect=_bag("had"),
    adverbs=_bag(
        "now back currently presently still already again just recently since finally "
        "permanently meanwhile today newly fulltime full-time actually successfully fully "
        "completely definitively been being"
    ),
    adjectives=_bag(
        "new own current present main primary principal official permanent entire whole "
        "latest favourite favorite preferred own sole"
    ),
    prepositions=_bag("in at on to for with by as of into onto over under via within inside using"),
    occasions=_bag(
        "january february march april may june july august september october november december "
        "jan feb mar apr jun jul aug sep sept oct nov dec spring summer autumn fall winter monday "
        "tuesday wednesday thursday friday saturday sunday year years month months week weeks day "
        "days quarter early mid late last this today yesterday morning evening since as of on in "
        "from starting beginning effective date after now ago first second third q1 q2 q3 q4 "
        "half again here there time utc"
    ),
    news=_bag("no sorry correction update note news now actually fact oops"),
    because=_bag("because due thanks"),
    beside=_bag("with by"),
    acting_as=_bag("as"),
    from_then=_bag("since"),
    clauses=_bag("so where"),
    clause_subjects=_bag("he she they that"),
    whenever=_bag("when while where whenever if unless during"),
    endings_openers=_bag("because due since thanks"),
    helping=_bag("did does do been being got gets"),
    bare=_bag(
        "switch move migrate upgrade downgrade change relocate transfer transition convert bump "
        "raise increase decrease reduce lower extend shorten reschedule postpone rename promote "
        "demote update drop abandon ditch deprecate discard discontinue eliminate uninstall "
        "remove retire decommission scrap swap replace stop cease leave resign cancel delete port"
    ),
    moments=_bag("early late morning evening noon lunch here there half first again monday tuesday "
                 "wednesday thursday friday saturday sunday"),
    reasons=_bag("work family love health studies school reasons good personal tax"),
    relatives=_bag("that which where whose used called"),
    begins=_bag(
        "move relocate settle transfer change switch migrate convert transition upgrade downgrade "
        "bump update rename promote demote appoint elect name become join start begin take accept "
        "get land hire recruit set reset raise lower increase decrease reduce extend shorten "
        "reschedule postpone push adopt choose select pick marry wed sign assign reassign "
        "register enrol enroll go make put place bring port deploy return"
    ),
    begins_of={
        "residence": _bag("move relocate settle transfer"),
        "employment": _bag("join hire recruit transfer"),
        "membership": _bag("join sign transfer register enrol enroll"),
        "leadership": _bag("elect appoint name become choose select promote"),
        "rank": _bag("become promote demote appoint name elect"),
        "marriage": _bag("marry wed"),
        "use": _bag("switch migrate convert transition upgrade downgrade move adopt deploy port"),
        "ownership": _bag("transfer"),
        "schedule": _bag("move reschedule postpone push set extend shorten"),
        "name": _bag("rename name"),
        "version": _bag("upgrade downgrade bump update migrate move switch"),
    },
    fields=_bag("software data product project sales marketing research account human resources"),
    closings=r" (?:any ?(?:more|longer)|for good|once and for all|for ever|forever)(\W*)$",
    failing=_bag(
        "fail fails failed failing crashed broke breaks regretted regrets lost lasted lasts ended "
        "ends overturned reversed blocked vetoed rejected cancelled went left fired sacked "
        "dismissed quit died not never didn't doesn't wasn't isn't hasn't but though although "
        "however only except"
    ),
    changes=_bag(
        "set reset raise lower increase decrease reduce extend shorten change update bump move "
        "relocate switch migrate rename transfer postpone push reschedule upgrade downgrade "
        "convert transition"
    ),
    becomes=_bag("become"),
    appoints=_bag("appoint elect choose select pick name assign reassign promote demote"),
    takes_on=_bag("hire recruit employ appoint engage"),
    of_people=_bag("leadership marriage"),
    times=_bag(
        "january february march april may june july august september october november december "
        "jan feb mar apr jun jul aug sep sept oct nov dec spring summer autumn fall winter monday "
        "tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays "
        "fridays saturdays sundays year years month months week weeks day days quarter morning "
        "evening q1 q2 q3 q4"
    ),
    onward=_bag("since as from starting beginning effective"),
    closing=_bag("to until till through"),
    lasting=_bag("since for now still currently presently"),
    standing=_bag("instead place no longer not rather"),
    rates=_bag("a an per each every"),
    lesser=_bag("first third last vice deputy assistant associate junior co sub under acting "
                "honorary shadow"),
    apart=_bag("after since before than like unlike"),
    occupations=_bag(
        "engineer developer programmer manager director analyst designer nurse doctor physician "
        "surgeon teacher lecturer professor lawyer attorney consultant accountant architect "
        "scientist researcher technician driver chef cook officer editor writer "
        "journalist reporter "
        "salesperson executive lead head trainee apprentice intern administrator clerk assistant "
        "secretary cashier waiter waitress mechanic electrician plumber carpenter pharmacist "
        "dentist librarian receptionist translator photographer pilot economist statistician "
        "recruiter strategist coordinator specialist president vice chief senior junior staff job "
        "role position post work"
    ),
    agent_endings=("er", "or"),
    posts=_bag("employment leadership rank membership"),
    others=_bag(
        "mother father mom mum dad parent parents brother sister sibling siblings son daughter "
        "child children kid kids baby husband wife spouse partner fiance fiancee girlfriend "
        "boyfriend ex friend friends bestfriend flatmate roommate housemate neighbour neighbor "
        "neighbours neighbors colleague colleagues coworker coworkers boss manager supervisor "
        "assistant secretary employee employees employer client clients customer customers "
        "landlord tenant teacher tutor student students pupil pupils doctor lawyer therapist aunt "
        "uncle cousin cousins niece nephew grandmother grandfather grandparents grandson "
        "granddaughter stepmother stepfather twin relatives family ancestors dog cat pet fan fans "
        "namesake rival rivals competitor competitors enemy impersonator lookalike clone "
        "predecessor successor subsidiary parent sibling supplier fork mirror replica backup copy "
        "character avatar double ghostwriter biographer team-mate teammate people man woman "
        "someone somebody everyone nobody none"
    ),
    weak=_bag("support need want know like connect integrate visit attend follow study engage date "
              "miss open time"),
    joins=_bag("and"),
    unreal=(
        r"\b(?:refus\w+|declin(?:e[sd]?|ing)|almost|nearly|barely|hardly|"
        r"scarcely|fail(?:s|ed|ing)?|"
        r"hesitat\w+|reject\w*|turn(?:s|ed|ing) down|decided? against|deciding against|"
        r"decid(?:es|ed) not|offer(?:s|ed|ing)?|meant to|intended to|ought to|"
        r"yet to|has to|have to|"
        r"need(?:s|ed)? to|plann\w+|scheduled to|set to (?!⟨o⟩)|due to (?=\w+ (?:to|in|at)\b)|"
        r"to-?do|fixme|xxx|afraid|fear(?:s|ed)?|attempt\w*|tri(?:es|ed) to|"
        r"threaten\w*|refrain\w*|forb[ia]d\w*|prevent\w*|stop(?:s|ped)? short|cancel\w*|"
        r"seem\w*|appears? to|apparently|ostensibly|evidently|seemingly|(?:is|"
        r"are|was|were) said to|"
        r"(?:is|are|was|were) (?:believed|thought|rumou?red|assumed|alleged|reported|supposed) to|"
        r"pretend\w*|jok(?:e[sd]?|ing)|lie[sd]?\b(?! in\b)|lying about|den(?:y|"
        r"ies|ied)|feign\w*|fak(?:e[sd]?|ing)|"
        r"imagin\w*|let['’]?s (?:say|assume|pretend)|say,|suppose|false that|untrue that|not true|"
        r"myth that|wrong that|claim that|reluctant\w*|unwilling\w*|unable|"
        r"longs? to|yearn\w*|dream\w*|fantasi\w+|incapable|thinking of|thought of|toy\w*|"
        r"negotiat\w+|bid(?:s|ding)?|wait(?:s|ing|ed)? (?:to|for)|prospective|would-be|"
        r"aspiring|proposed|interview\w*|lost out|barred|banned)\b"
    ),
    unreal_after=(
        r"\b(?:cancel\w*|called off|fell through|falls through|never happened|did not happen|"
        r"(?:was|is|were|are|been|proved|turned out) (?:to be )?(?:rejected|"
        r"declined|denied|refused|"
        r"blocked|postponed|abandoned|dropped|shelved|reverted|rolled back|wrong|false|untrue|"
        r"incorrect|fake|fictional|fictitious|a lie|a joke|a hoax|a mistake|a myth|a rumou?r)|"
        r"in theory|on paper|in name only|if only|supposedly|allegedly|pending|subject to|unless|"
        r"provided that|ended|expired|is over|was over|was short-lived|lapsed|fictional)\b|"
        r"\(\s*(?:fiction\w*|proposed|planned|draft|todo|tbd|tbc|cancelled|rejected|hypothetical)"
    ),
    reported=rf"\b(?:{_SAID}|{_UNSURE})\b",
    invented=(
        rf"\b(?:in|on|for|throughout|inside) (?:an?|the|her|his|their|my|our|its|this|that|some)?"
        rf" ?(?:[^\W\d_]+ ){{0,2}}{_STORY}\b(?! ⟨)|\b(?:plays?|played|playing|portray\w*|as) an? "
        rf"(?:[^\W\d_]+ ){{0,3}}who\b|\bfiction\w*|\bfictitious\w*|\bhypothetical\w*|"
        rf"\bis the (?:first|opening|last|famous) (?:sentence|line)|"
        rf"\bfor example\b|\bfor instance\b|"
        rf"\bsake of\b|\bcharacter\b"
    ),
    ended=(
        r"\b(?:mov|relocat|migrat|switch|transfer|transition|convert|chang|port|came|com|join|"
        r"return|flew|emigrat|hail|deport|evict|expell|escap|fle|upgrad|downgrad)\w*"
        r"(?: [^\s,.;]+){0,4} (?:from|out of|off) (?:(?:an?|the|its|his|her|their) )?(?:\w+ )?⟨o⟩|"
        r"\baway from (?:\w+ ){0,2}⟨o⟩|\b(?:former|previous|ex|erstwhile|one-?time|past|prior|"
        r"late|ancestral|childhood|abandoned)\b[- ](?:[^\s,.;]+ ){0,4}⟨o⟩|"
        r"\bleft (?:\w+ ){0,4}⟨o⟩|\b(?:sold|gave up|vacated|lost|quit|left|resigned|departed|"
        r"retired|fired|laid off|sacked|dismissed|ousted|evicted|expelled|divorced|dumped|"
        r"uninstalled|removed|dropped|ditched|abandoned|retired|deprecated|decommissioned|"
        r"discontinued|terminated|ended|stopped|replaced|superseded|succeeded)"
        r"\b(?:(?! (?:and|by|to|for|with)\b) [^\s,.;]+){0,5} ⟨o⟩|"
        r"⟨o⟩(?:['’]s)? (?:\w+ ){0,2}(?:was|were|has been|have been|is|got|being) (?:\w+ )?"
        r"(?:replaced|superseded|dropped|retired|decommissioned|removed|abandoned|discontinued|"
        r"terminated|uninstalled|phased out|deprecated|sold|shut down|closed)\b|"
        r"(?:from|over|than|instead of|in place of|after (?:leaving|quitting)|before|until|till|"
        r"not|not in|not at) ⟨o⟩ (?:to|for|into|by) (?!work|live|be)|"
        r"⟨o⟩ (?:ended|expired|lapsed)\b|"
        r"\bfrom ⟨o⟩ (?:originally|to)\b|\bhad (?:[a-z]+ly |long |once |also )?"
        r"(?:lived|worked|resided|stayed|been|used|served|played|studied|run|ran|dwelt|belonged|"
        r"held|led|managed|owned|had)\b|\b(?:years|months|decades|weeks|stint|time|career) "
        r"(?:in|at|with|as|of) ⟨o⟩"
    ),
    following=(
        r"\b(?:next (?:week|month|year|spring|summer|autumn|fall|winter|quarter|monday|tuesday|"
        r"wednesday|thursday|friday|saturday|sunday)|tomorrow|soon|later|"
        r"eventually|someday|one day|"
        r"in the future|shortly|upcoming|by the end of|from next)\b"
    ),
    passing=(
        rf"\b(?:provisional\w*|momentarily|interim|acting|caretaker|honorary|visiting|"
        rf"on (?:loan|trial|probation|secondment|leave|sabbatical|holiday|vacation|standby)|"
        rf"on an? (?:trial|temporary|interim) \w+|(?:stands?|stood|standing|fill(?:s|ed|ing)?) in "
        rf"(?:as|for)|(?:during|throughout) (?:\w+ ){{0,2}}{_WHILE}|as an? (?:\w+ ){{0,2}}{_GUEST}|"
        rf"(?:parts?|some|most|portion|fraction|percent|third|quarter) of|kidding|or so|"
        rf"(?:began|starts?|started|begins|launched) (?:\w+ ){{0,2}}career|"
        rf"by (?:accident|mistake|error|chance|coincidence)|accidental\w*|mistakenly|erroneously|"
        rf"(?<!as of )(?<!since )(?<!from )(?<!starting )(?:today|tonight|this (?:week|weekend|"
        rf"morning|afternoon|evening|night|time|once))|"
        rf"undo(?:es|ne|ing)?|undid|(?:re-?(?:hired|joined|instated)|reversed|reverted|restored|"
        rf"(?:rolled|rolls?) back)(?! (?:by|to|in|at) ⟨o⟩))\b|"
        rf"(?:\b(?:and|then|but|later)\b|,) (?:\w+ ){{0,3}}(?:re-?set|again)\b|"
        rf"\b(?:return(?:s|ed|ing)?|back)\b(?![- ](?:end|office))"
        rf"(?! (?:(?:home|over) )?(?:(?:from|off|out of) ⟨x⟩ )?(?:to|into|in|at|on|with) "
        rf"(?:(?:the|its|her|his|their) )?(?:\w+ )?⟨o⟩)(?! (?:to ⟨o⟩ )?(?:from|off) ⟨x⟩)|"
        rf"^(?!.*\b(?:has|have) (?:\w+ly |also |now )?(?:been|lived|worked|resided|stayed|used|run|"
        rf"had|held|played|studied|owned)\b).*\bfor (?:\w+ ){{0,3}}{_WHILE}\b"
    ),
    sorts=_bag(
        "city town village state province region country county municipality republic district "
        "island borough community position role rank title post office job level status value "
        "amount sum rate headquarters month year day name type kind"
    ),
    owning=_bag("has have"),
    indefinite=_bag("a an some another"),
    companions=_bag("with by under over via using for within"),
)  # fmt: skip
