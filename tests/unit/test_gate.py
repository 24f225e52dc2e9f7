"""What asks must not be believed, and what states must not be lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.hippocampus.gate import QuestionGate, is_question

ASKS = """
Where does Mira live?
where does mira live
Does the API still run on port 8080?
does the api still run on port 8080
is Oslo where Mira lives
Is the database PostgreSQL or MySQL?
What's our deploy target
what database do we use
which of the two servers is faster
how many retries does the client make
how long is the token valid
who owns the billing service
who's on call
whose laptop is this
why did the build fail
when is the next release
Tell me where Mira lives.
tell me about the billing service
Please show me the last deployment
remind me what port redis listens on
Do you know which region we use
Can you list all services
Could you please summarise the incident
any idea why the tests are slow
Hey, what about the staging server
So, is it MySQL now
By the way, did Ann call?
I was wondering if the port changed.
I'd like to know who wrote this.
I wonder whether Ann moved.
let me know when the build is green
You moved to Oslo?
Really?
If I move to Oslo, can I keep my number?
When the token expires, does the client retry?
Мира живёт в Осло?
Mira, where do you live
haven't we migrated yet
Explain the retry policy.
"Is it done?"
does ann live in oslo
is ann in rome
did bob call
will ann move to rome
are cats mammals
can ann drive
is rome where ann lives
has ann moved to rome
Has Ann moved to Rome
Have Ann and Bob moved to Rome
Do Ann and Bob live in Oslo
do cats eat mice
May Ann come
Will Ann move to Rome
why ann moved to rome
what port
wheres ann
whats anns port
anyone know ann's address
know where ann lives
Ann lives in Oslo?!
Can you remember the port?
What Redis version is it
How about we use Postgres?
How about we meet on Tuesday
any clue who owns billing
any hints where the keys are
is staging on postgres 15 or 16
is staging on redis 7
is running it on one server or two better
has the invoice been paid
has a decision been made
has the build passed
have all tests been run
had our server been patched
hasn't ann moved
Ann lives in Rome, doesn't she?
Ann isn't in Rome, is she?
We deploy on Fridays, don't we
Bob moved to Rome and Ann lives there too, doesn't she?
You can't swim, can you?
should we renew the certificate
should the certificate be renewed
should the certificate expire, or is it renewed
Should the job fail, who is paged?
should the job fail, is bob paged
were you in Rome, Bob
Were it not for him, would you go?
Can't you see it
can't we use redis
Won't Ann come
am i late
You know what Ann said
You know what, is it done?
would bob in accounting come
did deploys to prod fail
""".strip().splitlines()

STATES = """
Mira lives in Oslo.
mira lives in oslo
We moved from PostgreSQL to MySQL.
The API runs on port 9090 now
When I was in Rome, I met Ann.
What a lovely office we have.
What I like is green tea.
How nice that Ann visited.
Remember that the port is 5433.
Note: deploys happen on Fridays.
Please remember I am allergic to nuts.
Use tabs from now on.
Do not use tabs.
Don't deploy on Fridays.
Have a nice day.
I had a call with Ann and had a blast.
Will Smith plays the lead.
May 5th is the deadline.
Might is not right.
I know where Ann lives.
He asked whether we moved.
I told her what happened.
She showed me the new office yesterday.
Ann wondered about the port.
The question is settled.
I can swim.
Whatever happens, the port stays 5432.
Dr. Who is on tonight.
It costs 3.50 EUR.
Who we hire matters.
I met Ann, who is a chef in Oslo.
We pay 30 EUR, which is a fair price.
The server is in Oslo, where the racks are cheap.
The port changed, when is unclear.
Mira zog nach Oslo.
what Ann said is true
Where Ann lives is Oslo.
Which is why I moved to Rome.
Could you note that my new address is 5 Elm St?
Can you please remember that Ann lives in Oslo?
Did you know that Ann lives in Oslo?
How about we use Postgres from now on.
Was in Rome yesterday.
Is not ready yet.
Have moved to Oslo.
Had lunch with Ann in Oslo.
Will moved to Rome.
will smith plays the lead
May is my daughter.
May Day is a holiday.
Must buy milk today.
Do dishes on Sundays.
Do not ask Ann.
Can't eat gluten.
Can't stand cilantro.
Won't be in the office on Friday.
Didn't sleep well.
Couldnt find the invoice
Am vegan since January.
Am always early.
Should the certificate expire, Tom renews it.
Should you need me, call Bob.
Were it not for the backups, we would have lost it all.
Had Ann known, she'd have called.
You know what, I quit smoking in March.
Guess what, Ann moved to Rome.
Could be that Ann moves in May.
Would be nice to move.
Would love to move.
Should work now.
Can be reached in Oslo.
Could use some help.
Has a dog called Rex.
Has the flu and stayed home.
Had the car washed yesterday.
Is working on the port.
""".strip().splitlines()


@pytest.mark.parametrize("text", ASKS)
def test_what_asks_is_not_ingested(text):
    assert is_question(text)
    assert QuestionGate().split(text).stated == ""


@pytest.mark.parametrize("text", STATES)
def test_what_states_is_ingested_whole(text):
    turn = QuestionGate().split(text)
    assert not is_question(text)
    assert turn.questions == ()
    assert turn.stated == text


@pytest.mark.parametrize(
    ("text", "stated", "asked"),
    [
        ("I moved to Oslo. Do you know a bakery?", "I moved to Oslo.", "Do you know a bakery?"),
        ("What is the port? It was 5432.", "It was 5432.", "What is the port?"),
        (
            "We switched to MySQL last week, so is the backup job still right?",
            "We switched to MySQL last week",
            "so is the backup job still right?",
        ),
        (
            "Ann left the team and I was wondering if Bob takes over.",
            "Ann left the team and",
            "I was wondering if Bob takes over.",
        ),
        ("The port is 5433 now\nwho changed it", "The port is 5433 now", "who changed it"),
        (
            "I met Ann, who is a chef, what should I cook for her?",
            "I met Ann, who is a chef",
            "what should I cook for her?",
        ),
        ("I like tea, do you?", "I like tea", "do you?"),
        ("Note that Ann moved, will you?", "Note that Ann moved", "will you?"),
        ("You know what? I quit smoking.", "I quit smoking.", "You know what?"),
        ("We use e.g. Redis 7.2. ok?", "We use e.g. Redis 7.2.", "ok?"),
    ],
)
def test_a_mixed_turn_is_split(text, stated, asked):
    turn = QuestionGate().split(text)
    assert (turn.stated, turn.asked) == (stated, asked)


def test_code_is_neither_stated_nor_asked():
    turn = QuestionGate().split("Ann owns this:\n```\nif x: why()\n```\nIs it right?")
    assert (turn.stated, turn.asked) == ("Ann owns this:", "Is it right?")


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "...", "```", "\0", "🙂"])
def test_nothing_to_ask_is_no_question(text):
    assert not is_question(text)


@given(st.text(max_size=300))
def test_any_text_is_split_without_adding_words(text):
    turn = QuestionGate().split(text)
    for part in (*turn.statements, *turn.questions):
        assert part.strip() and part in text


@given(st.lists(st.sampled_from(STATES), min_size=1, max_size=4), st.sampled_from(ASKS))
def test_a_question_at_the_end_costs_no_statement(statements, question):
    dotted = [s if s.endswith(".") else f"{s}." for s in statements]
    assert QuestionGate().split("\n".join([*dotted, question])).statements == tuple(dotted)


def test_a_long_turn_takes_linear_time():
    import time

    gate, spent_s = QuestionGate(), []
    for size in (5_000, 40_000):
        turn = "and so on, " * (size // 11)
        started_s = time.process_time()
        gate.split(turn)
        spent_s.append(time.process_time() - started_s)
    assert spent_s[1] < 40 * max(spent_s[0], 0.001)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Ann lives in Oslo.", 0),
        ("Ann owns this:\n```\nx = 1\n```\nIndeed.", 13),
        ("ab " * 40_000, 20_000),
    ],
)
def test_what_was_not_read_is_counted(text, count):
    assert QuestionGate().split(text).left_out_characters_count == count


def test_a_note_and_a_question_are_told_apart():
    turn = QuestionGate().split("Could you note that I moved to Oslo, and where does Bob live?")
    assert turn.stated == "Could you note that I moved to Oslo"
    assert turn.asked == "and where does Bob live?"
