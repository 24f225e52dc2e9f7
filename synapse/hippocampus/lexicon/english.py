"""What English relation names mean: the words, as data.

Written from the language alone. A word stands where its ordinary meaning puts it, never because a
relation of that name was seen in some graph. Words stand in their plain form (*work*, *city*), the
grammar finds their inflections; words of a compound are joined by ``_``. To teach it a word, add
the word to a list.
"""

from __future__ import annotations

from synapse.hippocampus.lexicon.grammar import Kind, RelationLexicon


def _bag(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _phrases(text: str) -> frozenset[str]:
    return frozenset(" ".join(phrase.split()) for phrase in text.split(",") if phrase.strip())


# One at a time by what they are: places, measures, identifiers, states, offices held by one.
_ONE_NOUNS = """
    capital anthem flag motto population area elevation altitude latitude longitude coordinate
    height weight age gender sex birthday birthdate birthplace birth deathdate deathplace death
    burial hometown gravesite name surname forename lastname firstname title rank status state
    stage phase mode mood version release revision build port host hostname domain url uri link
    website homepage webpage email mail mailbox phone telephone mobile fax address street city zip
    zipcode postcode town village country province region continent county municipality timezone
    location place site whereabouts position residence home headquarters hq seat venue room floor
    desk salary wage income revenue turnover profit budget price cost fee amount total sum balance
    value rate rating score grade level priority severity size length width depth duration
    distance speed temperature pressure limit threshold timeout interval frequency quota capacity
    count number quantity percentage percent ratio share date time year month day hour deadline
    start end begin beginning expiry expiration inception timestamp id pid identifier uuid code
    hash checksum digest password username login handle type kind class species breed color colour
    shape format unit ceo cto cfo coo president chairman chairwoman chair chairperson mayor
    governor premier minister chancellor monarch king queen emperor pope bishop leader head chief
    captain commander coach manager boss supervisor principal dean rector superintendent owner
    holder occupant tenant incumbent officeholder successor predecessor spouse wife husband fiance
    fiancee mother father employer job party nationality ethnicity race religion faith
    denomination sign publisher manufacturer operator landlord model license licence schema locale
    theme setting default constraint plan tier subscription image entrypoint baseline target eta
    diameter radius volume mass density voltage currency isbn iso tongue orbit seniority tenure
    assignee registrar registry ticker maker brand logo slogan mascot nickname abbreviation acronym
    symbol visibility encoding charset compiler runtime interpreter handedness outcome origin
    etymology gdp ranking standing formation dosage dose ministry portfolio constituency district
    precinct parish diocese term terminus debut health availability uptime
    env image_tag docker_tag git_tag version_tag release_tag commit_hash area_code language_code
    alma_mater mother_tongue next_step body_mass home_team blood_type
"""

# Mostly one, or one in most people's use of the word.
_ONE_USUALLY_NOUNS = """
    role occupation profession career field affiliation citizenship director author creator
    founder designer architect composer inventor developer maintainer provider vendor carrier
    sponsor doctor dentist physician lawyer accountant therapist mentor advisor adviser tutor
    trainer editor illustrator librettist conductor driver pilot agent broker bank insurer engine
    database backend frontend framework platform environment protocol server cluster branch
    department division team club school university college office squad league label network
    station channel account wallet partner girlfriend boyfriend lover roommate company
    organization organisation organizer base source destination purpose goal objective focus
    strategy approach method policy vehicle car workplace key secret token path directory folder
    workspace repository repo endpoint agency authority government cabinet legislature parliament
    court judge jurisdiction instance category education sport genre material shift schedule crew
    ship lead administrator admin secretary treasurer speaker deputy storage store dialect
    scheduler orchestrator proxy gateway container condition diet performer parent_company
    parent_organization parent_organisation
"""

_MANY_NOUNS = """
    member part component element piece item child kid son daughter sibling brother sister parent
    friend colleague coworker teammate neighbor neighbour relative relation cousin aunt uncle
    nephew niece grandparent grandchild grandson granddaughter grandmother grandfather ancestor
    descendant offspring heir follower subscriber customer client user employee staff worker
    student pupil fan supporter resident inhabitant award prize medal honor honour nomination
    achievement accomplishment skill ability talent strength weakness hobby interest passion pet
    tag keyword topic cast actor actress character episode season film movie book song album track
    game publication article paper post product service feature capability function property
    attribute parameter argument option variable dependency requirement prerequisite plugin
    extension library tool technology module package submodule file document record note comment
    message task subtask issue bug ticket problem error failure exception risk symptom allergy
    disease illness medication treatment ingredient example use instrument committee subcommittee
    board project initiative investment investor shareholder stakeholder competitor rival enemy
    opponent ally border tributary landmark attraction influence reference citation quote alias
    synonym variant translation preference idea opinion thought concern fear worry memory
    observation experience contribution contributor participant attendee guest candidate nominee
    certificate certification qualification degree diploma credential device asset subsidiary
    holding possession acquisition collaborator mate connection contact association relationship
    interaction conversation meeting discussion trip step stop rule permission privilege right
    responsibility duty obligation benefit advantage disadvantage effect consequence impact cause
    finding recommendation suggestion insight lesson question answer request response call
    transaction payment order purchase invoice test benchmark metric dataset chapter section page
    subset subclass subtype topping flavor sample evidence specialty speciality expertise
    discipline subject course crime conviction pattern workflow integration resource attachment
    screenshot summary report review snapshot commit change modification fix improvement log entry
    table column row index mount import export hook callback handler language designation result
    output input side_effect milestone
"""

# What these name happened and stays true.
_EVENT_NOUNS = """
    event appearance performance match fight battle war accident incident occurrence celebration
    ceremony election win victory defeat loss participation visit arrival departure announcement
    decision action activity encounter winner laureate champion medalist finalist runner_up
"""

_ONE_VERBS = """
    live in, live at, reside in, reside at, dwell in, stay in, stay at, locate in, locate at,
    locate on, situate in, situate at, base in, base at, headquarter in, headquarter at, house in,
    house at, host at, host by, position in, position at, place at, station in, station at,
    bear in, bear on, bear at, die in, die on, die at, die of, bury in, bury at, marry to, wed to,
    engage to, employ by, employ at, employ as, work at, work for, work as, work out of,
    assign to, allocate to, own by, manage by, lead by, head by, chair by, govern by, rule by,
    run by, operate by, supervise by, direct by, coach by, administer by, captain by, report to,
    answer to, serve under, name, name as, call as, title, entitle, price at, value at, rank,
    rank as, rank at, rate, rate as, rate at, schedule for, schedule at, schedule on, due, due on,
    due by, manufacture by, issue by, program in, license under, license as, set to, set as,
    configure as, configure to, equal, default to, point to, resolve to, bind to, listen on,
    listen at, run on, run at, run as, store at, play for, sign to, contract to, cost, weigh,
    measure, expire, expire on, expire at, expire in, start on, start at, start in, begin on,
    begin at, begin in, end on, end at, end in, finish at, finish on, open at, open on, close at,
    close on, last, last for, occur on, occur at, happen on, happen at, take place in,
    take place on, take place at, inhabit, occupy, stand at, sit at, sit in, orbit, classify as,
    identify by, identify as, denote by, precede by, succeed by, supersede by, govern from,
    reign over, earn, cap at, pin to, pin at, lock to, lock at, found in, found on, establish in,
    establish on, incorporate in, form in, originate in, hail from, raise in, grow up in,
    retire in, insure by, insure with, bank with, divorce from, seat in, hold office,
    hold position, hold rank, hold title, preside over, mean, signify, stand for, park at,
    rent from, lease from, native to
"""

_ONE_USUALLY_VERBS = """
    create by, write by, author by, compose by, design by, invent by, develop by, found by,
    produce by, paint by, sculpt by, establish by, discover by, perform by, sing by, publish by,
    broadcast by, make by, build by, approve by, sign by, appoint by, edit by, maintain by,
    control by, back by, power by, fuel by, drive by, rent to, lease to, follow by, replace by,
    create in, invent in, discover in, release in, release on, launch in, launch on, publish in,
    publish on, make in, produce in, build in, build on, record in, film in, hire in, hire on,
    introduce in, adopt in, sign on, announce on, complete in, complete on, air on, broadcast on,
    educate at, study at, enrol at, enroll at, enrol in, enroll in, register in, deploy on,
    deploy in, deploy to, deploy at, host on, host in, store in, run in, keep in, keep at, base on,
    belong to, affiliate to, affiliate with, attach to, tie to, map to, route to, redirect to,
    limit to, work in, come from, originate from, descend from, write in, code in, sign with,
    marry, head, chair, serve as, wait for, represent
"""

_MANY_VERBS = """
    use, utilize, utilise, like, love, hate, dislike, enjoy, adore, know, know as, know for,
    know about, recognize, support, include, contain, comprise, consist of, compose of, make of,
    make up of, depend on, depend upon, rely on, rely upon, require, need, want, wish, desire,
    import, invoke, implement, extend, inherit from, override, provide, offer, speak, understand,
    own, have, possess, manage, supervise, oversee, lead, direct, coach, employ, teach, study,
    learn, practice, practise, play, sing, cook, sell, produce, make, manufacture, publish, serve,
    serve on, sit on, cover, interact with, integrate with, integrate into, connect to,
    connect with, link to, link with, communicate with, talk to, speak to, relate to,
    associate with, collaborate with, cooperate with, work with, work on,
    work alongside, partner with,
    interest in, participate in, take part in, involve in, involve, engage in, specialize in,
    specialise in, skill in, believe, believe in, think, feel, follow, subscribe to, monitor,
    track, watch, observe, test, verify, validate, affect, influence, influence by, impact,
    enable, allow, permit, prevent, block, trigger, cause, lead to, result in, expose, feature,
    display, show, store, cache, save, handle, process, parse, log, befriend, trust, respect,
    admire, fear, suffer from, diagnose with, treat, belong with, sponsor, fund, invest in,
    compete with, compete in, compete against, border, neighbor, neighbour, derive from,
    read from, write to, emit, consume, listen to, return, accept, access, query, load, render,
    wrap, define, declare, describe, document, explain, mention, mention in, refer to, reference,
    cite, discuss, discuss in, address, solve, resolve, contribute to, commit to, care about,
    worry about, intend to, aim to, hope to, want to, need to, try to, tend to, prefer, favor,
    favour, recommend, suggest, advise, advocate, oppose, criticize, endorse, eat, drink, wear,
    drive, ride, collect, read, write, write about, listen, grow, raise, breed, keep, carry, host,
    organize, organise, attend, travel to, frequent, shop at, volunteer at, volunteer for,
    donate to, feature in, appear in, star in, act in, perform in, perform at, perform with,
    apply to, use by, use in, use for, use with, use as, like by, love by, know by, visit by,
    require by, support by, include in, contain in, list in, tag with, tag as, label with,
    label as, mark as, share with, share border with, twin with, authorize to, allow to, run,
    execute, operate, maintain, control, deploy, generate, build, develop, design, compose,
    invoke by, trigger by, call by, modify by, change by, update by, review by, test by,
    read by, see by, view by, watch by, inspect, help, assist, guide, mentor, train, tutor,
    protect, guard, defend, supply, report, notify, alert, inform, respond to, react to,
    synchronize with, sync with, conflict with, replace, supersede, succeed, precede, inspire by,
    inspire, translate to, translate into, convert into, facilitate, improve, enhance, optimize,
    reduce, increase, ensure, guarantee, demonstrate, illustrate, indicate, symbolize, exemplify,
    reveal, correspond to, match, overlap with, intersect, hold, invest, call, power, drive,
    govern, judge, regulate, coordinate, initiate, absorb, secure, bind, locate near, near,
    adjacent to, next to, close to, similar to, same as, equivalent to, opposite of,
    different from, compatible with, responsible for, accountable for, capable of, eligible for,
    available in, available on, available at, applicable to, expert in, proficient in,
    experience in, experience with, allergic to, famous for, good at, fond of, afraid of
"""

_EVENT_VERBS = """
    meet, win, lose, send, say, tell, state, announce, claim, note, ask, answer, reply, propose,
    decide, agree, disagree, request, order, buy, purchase, pay, receive, obtain, acquire, get,
    give, grant, award, nominate, nominate for, invent, discover, found, cofound, establish,
    launch, create, release, post, upload, download, install, uninstall, add, append, insert,
    remove, delete, drop, modify, change, edit, update, patch, upgrade, upgrade to, downgrade to,
    fix, repair, debug, refactor, rename, rename to, move, move to, move from, migrate to,
    migrate from, relocate to, switch to, switch from, change to, convert to, transfer to,
    promote to, copy, merge, commit, push, pull, clone, fork, revert, open, close, start, stop,
    restart, finish, complete, cancel, reject, approve, review, sign, submit, search, search for,
    look for, look up, look at, find, examine, investigate, analyze, analyse, evaluate, compare,
    calculate, check, encounter, experience, happen, occur, crash, fail, break, arrive in,
    arrive at, depart from, leave, join, enter, exit, quit, resign from, retire from, fire, hire,
    recruit, graduate from, graduate, enlist in, emigrate to, immigrate to, escape from, flee,
    travel, fly to, drive to, walk to, go to, come to, return to, borrow, lend, steal, destroy,
    attack, kill, arrest, convict of, sue, injure, celebrate, perform, sing at, score, defeat,
    beat, compete, try, attempt, interview, photograph, film, record, sell to, trade, bid, donate,
    visit, contact, email, message, text, invite, introduce, present, deliver, participate,
    die from, debut in, premiere at, marry in
"""

# "X of": how many things one is the … of.
_ONE_OF = """
    capital ceo cto cfo coo president chairman chairwoman chair chairperson mayor governor premier
    chancellor monarch king queen emperor pope head chief captain commander coach principal dean
    rector spouse wife husband widow fiance fiancee version instance type kind subsidiary resident
    native successor predecessor headquarters seat secretary speaker leader citizen inhabitant
    employee copy clone replica subtype rank unit status state name birthplace abbreviation
"""
_MANY_OF = """
    part parent father mother child son daughter brother sister friend fan author creator founder
    cofounder inventor director producer writer composer designer architect developer contributor
    owner manager user example supporter customer student teacher mentor aspect cause effect result
    source host sponsor editor translator publisher manufacturer supplier provider member
    shareholder investor maintainer recipient superclass disciple
"""

ENGLISH_RELATIONS = RelationLexicon(
    language="en",
    fillers=_bag(
        "is are was were be been being am has have had having gets get got does do did the a an "
        "its their his her my our your this that user"
    ),
    prepositions=_bag(
        "of in at on to for from with by as into onto about under over within inside near via per "
        "through against between among during after before since until toward towards around upon "
        "alongside behind beside outside using"
    ),
    one_marks=_bag(
        "current currently present primary main principal default latest newest active chosen "
        "selected favorite favourite official legal permanent sole only exact net gross next "
        "native original initial first last final biological assigned designated expected "
        "estimated scheduled target env environment setting"
    ),
    amount_marks=_bag("total overall average mean median maximum max minimum min"),
    many_marks=_bag(
        "former formerly past ex other another additional also alternative alternate secondary "
        "notable known related associated various several multiple many some all any each common "
        "frequent frequently often sometimes regularly occasionally usual possible potential old "
        "previously mutual shared co key significant"
    ),
    nouns={
        Kind.ONE: _bag(_ONE_NOUNS),
        Kind.ONE_USUALLY: _bag(_ONE_USUALLY_NOUNS),
        Kind.MANY: _bag(_MANY_NOUNS),
        Kind.EVENT: _bag(_EVENT_NOUNS),
    },
    roles_of={Kind.ONE_USUALLY: _bag(_ONE_OF), Kind.MANY: _bag(_MANY_OF)},
    verbs={
        Kind.ONE: _phrases(_ONE_VERBS),
        Kind.ONE_USUALLY: _phrases(_ONE_USUALLY_VERBS),
        Kind.MANY: _phrases(_MANY_VERBS),
        Kind.EVENT: _phrases(_EVENT_VERBS),
    },
    memberships={
        Kind.ONE: _bag("party household family tribe species class regiment"),
        Kind.ONE_USUALLY: _bag("team squad crew club band department cabinet parliament congress"),
    },
    place_words=_bag("in at on within inside under near"),
    state_words=_bag("in at on within under using"),
    light_verbs=_bag("play use run hold carry bear need require"),
    one_endings=(
        "tion", "ment", "ness", "ity", "ship", "ance", "ence", "age", "ism", "cy",
        "er", "or", "ist", "ian", "ant",
    ),
    definite_sentences=(
        r"^the (?!(?:other|second|third|new) )[^,]*⟨s⟩(?:'s)?[^,]* is ⟨o⟩$",
        r"^⟨s⟩'s? (?!(?:other|second|third) )[^,]{1,40} is ⟨o⟩$",
    ),
    synonyms=(
        ("work at", "work for", "employed by", "employer", "employed at"),
        ("live in", "live at", "reside in", "residence", "place of residence", "dwells in"),
        ("spouse", "married to", "wife", "husband", "spouse of", "wife of", "husband of", "wed to"),
        ("birthplace", "place of birth", "born in", "born at"),
        ("birthdate", "birthday", "date of birth", "born on"),
        ("deathplace", "place of death", "died in"),
        ("deathdate", "date of death", "died on"),
        ("headquarters", "headquartered in", "hq", "headquarters in", "headquarters location",
         "headquarters located in", "headquartered at"),
        ("ceo", "chief executive officer", "chief executive"),
        ("cto", "chief technology officer"),
        ("cfo", "chief financial officer"),
        ("author", "authored by", "written by"),
        ("founded by", "established by"),
        ("led by", "headed by"),
        ("manufactured by", "made by", "maker"),
        ("located in", "location", "situated in"),
        ("citizen of", "citizenship", "nationality", "country of citizenship"),
        ("email", "email address", "mail address"),
        ("phone", "phone number", "telephone", "telephone number"),
        ("website", "homepage", "official website"),
        ("child", "parent of", "father of", "mother of", "son", "daughter"),
        ("parent", "child of", "son of", "daughter of"),
        ("educated at", "studied at", "alma mater"),
        ("use", "utilize", "utilise"),
        ("capital", "capital city"),
        ("country", "in country", "located in country"),
        ("speak", "speaks language", "language spoken"),
        ("report to", "supervisor", "boss"),
    ),
)  # fmt: skip
