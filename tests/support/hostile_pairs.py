"""Pairs of facts of which the newer one only seems to replace the older one, by kind.

The relation and the value of the newer fact alone would replace the older one; its sentence says
something else, or is not clear enough to change anybody's memory without a question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.support.fact_graphs import Said


class Pair(NamedTuple):
    """Two facts of one subject."""

    older: Said
    newer: Said


OLDER = {
    "job": Said("Ann", "WORKS_AT", "Acme", "Ann works at Acme"),
    "home": Said("Ann", "LIVES_IN", "Paris", "Ann lives in Paris"),
    "broker": Said("Billing", "USES", "RabbitMQ", "Billing uses RabbitMQ"),
    "database": Said("Billing", "USES_DATABASE", "MySQL", "Billing uses the database MySQL"),
    "port": Said("Billing", "HAS_PORT", "8080", "Billing listens on port 8080"),
    "host": Said("Billing", "HOSTED_ON", "alpha", "Billing is hosted on alpha"),
    "limit": Said("Billing", "HAS_TIMEOUT", "30 s", "The timeout of Billing is 30 s"),
    "python": Said("Billing", "PYTHON_VERSION", "3.11", "Billing runs on Python 3.11"),
    "owner": Said("Billing", "OWNED_BY", "Platform", "Billing is owned by the team Platform"),
    "ceo": Said("Acme", "HAS_CEO", "Eva", "The CEO of Acme is Eva"),
    "seat": Said("Acme", "HEADQUARTERED_IN", "Berlin", "Acme is headquartered in Berlin"),
    "spouse": Said("Ann", "MARRIED_TO", "Tom", "Ann is married to Tom"),
    "boss": Said("Ann", "REPORTS_TO", "Carl", "Ann reports to Carl"),
    "team": Said("Ann", "PLAYS_FOR", "Rovers", "Ann plays for Rovers"),
    "school": Said("Ann", "STUDIES_AT", "Leiden", "Ann studies at Leiden"),
    "role": Said("Ann", "HAS_ROLE", "engineer", "Ann's role is engineer"),
    "car": Said("Ann", "DRIVES", "Volvo", "Ann drives a Volvo"),
    "email": Said("Ann", "HAS_EMAIL", "ann@acme.org", "Ann's email is ann@acme.org"),
    "weight": Said("Ann", "WEIGHS", "70 kg", "Ann weighs 70 kg"),
    "bank": Said("Ann", "BANKS_WITH", "Nordbank", "Ann banks with Nordbank"),
    "build": Said("Build", "HAS_STATUS", "passing", "The status of the build is passing"),
    "launch": Said("Launch", "SCHEDULED_FOR", "May 4", "The launch is scheduled for May 4"),
}

_NEVER: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "beside the value, or with somebody of it": [
        ("job", "Orbit", "Ann works closely with Orbit"),
        ("job", "Orbit", "Ann works opposite Orbit"),
        ("job", "Orbit", "Ann works on behalf of Orbit"),
        ("job", "Orbit", "Ann works at Orbit on Mondays"),
        ("job", "Orbit", "Ann is an engineer at the competitor of Orbit"),
        ("job", "Orbit", "Ann works for the owner of Orbit"),
        ("job", "Orbit", "Ann works for a supplier of Orbit"),
        ("job", "Orbit", "Ann works at Acme, a branch of Orbit"),
        ("job", "Orbit", "Ann works at Acme with Orbit as a client"),
        ("job", "Orbit", "The job at Orbit that Ann got pays well, she says"),
        ("job", "Orbit", "Ann got a call from the manager at Orbit"),
        ("job", "Orbit", "Ann joined Orbit's summer school"),
        ("home", "Lyon", "Ann lives near Lyon"),
        ("home", "Lyon", "Ann lives outside Lyon"),
        ("home", "Lyon", "Ann lives an hour off Lyon"),
        ("home", "Lyon", "Ann lives in the house of the mayor of Lyon"),
        ("home", "Lyon", "Ann lives under the patron of Lyon"),
        ("home", "Lyon", "Ann lives in a suburb of Lyon"),
        ("home", "Lyon", "Ann lives in Rue de Lyon"),
        ("home", "Lyon", "Ann lives two hours from Lyon"),
        ("home", "Lyon", "Ann lives with the Lyon twins"),
        ("database", "Postgres", "Billing reads the database of the owner of Postgres"),
        ("host", "beta", "Billing is hosted next to beta"),
        ("host", "beta", "Billing is hosted behind beta"),
        ("ceo", "Max", "Max is the deputy of the CEO of Acme"),
        ("ceo", "Max", "The CEO of Acme reports to Max"),
        ("ceo", "Max", "The CEO of Acme is a friend of Max"),
        ("ceo", "Max", "The CEO of Acme is the sister of Max"),
        ("spouse", "Jim", "Ann married Jim's brother"),
        ("spouse", "Jim", "Ann is married to the brother of Jim"),
        ("spouse", "Jim", "Ann was married by Jim, the registrar"),
        ("boss", "Dora", "Ann reports to the assistant of Dora"),
        ("team", "United", "Ann plays against United"),
        ("role", "manager", "Ann's role is deputy of the manager"),
        ("owner", "Core", "Billing is owned by the predecessor of Core"),
        ("bank", "Sudbank", "Ann banks with the parent company of Sudbank"),
        ("job", "Orbit", "Ann works harder than Orbit"),
    ],
    "another thing is had, moved, tested or told": [
        ("job", "Orbit", "Ann joined the board of Orbit"),
        ("job LEFT", "Acme", "Ann left the works council of Acme"),
        ("job RESIGNED", "Acme", "Ann resigned as treasurer of the choir at Acme"),
        ("home", "Lyon", "Ann moved her mother to Lyon"),
        ("home", "Lyon", "Ann moved her office to Lyon"),
        ("home", "Lyon", "Ann put her house in Lyon on the market"),
        ("home", "Lyon", "Ann bought a house in Lyon"),
        ("home", "Lyon", "Ann has an apartment in Lyon"),
        ("home", "Lyon", "Ann and Tom talked about Lyon"),
        ("broker", "Kafka", "Billing switched the logs from RabbitMQ to Kafka"),
        ("broker", "Kafka", "Billing migrated two queues from RabbitMQ to Kafka"),
        ("broker", "Kafka", "Billing moved half of the traffic from RabbitMQ to Kafka"),
        ("broker", "Kafka", "Billing tried Kafka instead of RabbitMQ"),
        ("broker", "Kafka", "Billing tested Kafka in place of RabbitMQ"),
        ("broker", "Kafka", "Billing replaced the RabbitMQ client with Kafka tooling"),
        ("broker", "Kafka", "Billing copies messages from RabbitMQ to Kafka"),
        ("broker", "Kafka", "Billing changed how it reads from RabbitMQ to Kafka"),
        ("broker", "Kafka", "Billing sends alerts to Kafka instead of RabbitMQ"),
        ("broker", "Kafka", "Billing documents Kafka instead of RabbitMQ"),
        ("broker", "Kafka", "Billing was compared with Kafka instead of RabbitMQ"),
        ("broker", "Kafka", "Billing is faster with Kafka than RabbitMQ"),
        ("broker", "Kafka", "Billing's team moved from RabbitMQ training to Kafka"),
        ("broker NO_LONGER_USES", "RabbitMQ", "Billing no longer uses the RabbitMQ dashboard"),
        ("database", "Postgres", "Billing runs the tests against the database Postgres"),
        ("database", "Postgres", "Billing has a backup of the database Postgres"),
        ("database", "Postgres", "Billing uses a copy of Postgres"),
        ("port", "9090", "Billing forwards to port 9090"),
        ("port", "9090", "The metrics port of Billing is 9090"),
        ("limit", "60 s", "The retry timeout of Billing is 60 s"),
        ("python", "3.12", "Billing is tested on Python 3.12"),
        ("python", "3.12", "Billing bumped the docs to Python 3.12"),
        ("seat", "Bonn", "Acme opened an office in Bonn"),
        ("seat", "Bonn", "Acme moved the archive from Berlin to Bonn"),
        ("spouse", "Jim", "Ann married off her daughter to Jim"),
        ("boss", "Dora", "Ann reports bugs to Dora"),
        ("role", "manager", "Ann's role is like that of a manager"),
        ("launch", "June 9", "The launch party is scheduled for June 9"),
    ],
    "once, in a time that has passed": [
        ("job", "Orbit", "Ann worked at Orbit from 2010 to 2014"),
        ("job", "Orbit", "Ann consulted for Orbit last year"),
        ("job", "Orbit", "Ann started at Orbit as an intern in 2009"),
        ("job", "Orbit", "Ann was hired by Orbit in 2011 and left two years later"),
        ("job", "Orbit", "Ann was an engineer at Orbit in 2012"),
        ("job", "Orbit", "Ann has worked at Orbit before"),
        ("job", "Orbit", "Ann worked at Orbit during her gap year"),
        ("home", "Lyon", "Ann stayed in Lyon over the weekend"),
        ("home", "Lyon", "Ann moved to Lyon in 2012"),
        ("host", "beta", "Billing was hosted on beta in 2019"),
        ("port", "9090", "Billing listened on port 9090 in 2019"),
        ("ceo", "Max", "Max was the CEO of Acme in 2015"),
        ("ceo", "Max", "The first CEO of Acme was Max"),
        ("seat", "Bonn", "Acme was headquartered in Bonn in 1990"),
        ("spouse", "Jim", "Ann was married to Jim in the nineties"),
        ("boss", "Dora", "Ann reported to Dora in 2020"),
        ("team", "United", "Ann played for United in 2015"),
        ("school", "Delft", "Ann studied at Delft for one semester"),
        ("weight", "72 kg", "Ann weighed 72 kg in 2010"),
        ("home", "Lyon", "Ann lives in Lyon. This is from an old letter."),
        ("job", "Orbit", "Ann works at Orbit. That was in 2012."),
    ],
    "for a while, or in part": [
        ("job", "Orbit", "Ann works at Orbit for a month"),
        ("job", "Orbit", "Ann took a job at Orbit for the summer"),
        ("job", "Orbit", "Ann is on loan to Orbit"),
        ("job", "Orbit", "Ann works at Orbit as a volunteer"),
        ("home", "Lyon", "Ann lives in Lyon for a week"),
        ("home", "Lyon", "Ann lives in Lyon during the week"),
        ("home", "Lyon", "Ann stays at a hotel in Lyon"),
        ("broker", "Kafka", "Billing switched from RabbitMQ to Kafka for a week"),
        ("broker", "Kafka", "Billing switched from RabbitMQ to Kafka as an experiment"),
        ("broker", "Kafka", "Billing replaced RabbitMQ with Kafka in one region"),
        ("broker", "Kafka", "Billing temporarily replaced RabbitMQ with Kafka"),
        ("broker", "Kafka", "Billing's staging cluster moved from RabbitMQ to Kafka"),
        ("broker", "Kafka", "Half of Billing switched from RabbitMQ to Kafka"),
        ("broker STOPPED_USING", "RabbitMQ", "Billing stopped using RabbitMQ for two days"),
        ("database", "Postgres", "Billing uses the database Postgres for a demo"),
        ("host", "beta", "Billing is hosted on beta until Friday"),
        ("port", "9090", "Billing listens on port 9090 during maintenance"),
        ("limit", "60 s", "The timeout of Billing is up to 60 s"),
        ("limit", "60 s", "The timeout of Billing is 60 s in version 2"),
        ("limit", "60 s", "The timeout of Billing is at most 60 s"),
        ("limit", "60 s", "The timeout of Billing was 60 s for an hour"),
        ("python", "3.12", "Billing runs on Python 3.12 in CI"),
        ("ceo", "Max", "Max is the acting CEO of Acme"),
        ("ceo", "Max", "Max became CEO of Acme for a day"),
        ("boss", "Dora", "Ann reports to Dora while Carl is away"),
        ("team", "United", "Ann is on loan at United for the season"),
        ("school", "Delft", "Ann studies at Delft as an exchange student"),
        ("role", "manager", "Ann stood in as manager in March"),
        ("car", "Fiat", "Ann drives a rented Fiat this week"),
        ("email", "x@orbit.org", "Ann's private email is x@orbit.org"),
        ("owner", "Core", "Billing is owned by Platform together with Core"),
        ("build", "failing", "The status of the build was failing for an hour"),
        ("build", "failing", "The status of the build is failing on the fork"),
    ],
    "taken back": [
        ("job LEFT", "Acme", "Ann left Acme for a sabbatical and came back in May"),
        ("job LEFT", "Acme", "Ann left Acme but was rehired"),
        ("job LEFT", "Acme", "Ann left Acme. She returned a month later."),
        ("home", "Lyon", "Ann moved to Lyon and back to Paris"),
        ("home", "Lyon", "Ann moved to Lyon, then returned to Paris"),
        ("home", "Lyon", "Ann is registered in Lyon but lives in Paris"),
        ("broker", "Kafka", "Billing switched from RabbitMQ to Kafka, then back"),
        ("broker", "Kafka", "Billing switched from RabbitMQ to Kafka. The change was rolled back."),
        ("broker", "Kafka", "Billing switched from RabbitMQ to Kafka and reverted the next day"),
        ("broker", "Kafka", "RabbitMQ was replaced by Kafka in Billing and restored on Friday"),
        ("limit", "60 s", "Billing's timeout was raised to 60 s and reset"),
        ("launch", "June 9", "The launch was scheduled for June 9 and moved back to May 4"),
        ("home", "Lyon", "Ann lives in Lyon? No, that was last year."),
        ("home", "Lyon", "Ann now lives in Lyon. Just kidding."),
    ],
    "somebody else": [
        ("home", "Lyon", "Ann's sister moved to Lyon"),
        ("home", "Lyon", "Tom moved to Lyon and Ann visits him"),
        ("seat", "Bonn", "Acme's rival moved its headquarters to Bonn"),
        ("email", "x@orbit.org", "Ann's assistant's email is x@orbit.org"),
        ("weight", "3 kg", "Ann's baby weighs 3 kg"),
    ],
    "supposed, hoped, heard or compared": [
        ("job", "Orbit", "Ann works for Orbit, as told in her story"),
        ("home", "Lyon", "Home is Lyon, for Ann, only in the songs"),
        ("broker", "Kafka", "Billing switched from RabbitMQ to Kafka when demand is high"),
        ("ceo", "Max", "The next CEO of Acme is Max"),
        ("launch", "June 9", "The launch is not scheduled for June 9"),
        ("home", "Lyon", "Word is that Ann lives in Lyon"),
        ("home", "Lyon", "If rents fall, Ann lives in Lyon by May"),
        ("home", "Lyon", "As far as Tom knows, Ann lives in Lyon"),
        ("home", "Lyon", "Ann lives in Lyon, or so Tom thinks"),
        ("home", "Lyon", "Ann lives in Lyon in Tom's memory"),
        ("home", "Lyon", "Ann lives in Lyon as much as in Paris"),
        ("home", "Lyon", "Ann lives in Lyon with one foot in Paris"),
        ("home", "Lyon", "Ann lives in Lyon when she is not in Paris"),
        ("job", "Orbit", "Ann works at Orbit too"),
        ("job", "Orbit", "Ann works at Orbit as well as at Acme"),
    ],
    "the same in another unit": [
        ("limit", "30000 ms", "The timeout of Billing is 30000 ms"),
        ("weight", "154 lbs", "Ann weighs 154 lbs"),
    ],
}
"""By kind: the older fact, with another relation after it where the newer one has one; the newer
fact's value; its sentence."""

_ALWAYS: Sequence[tuple[str, str, str]] = [
    ("job", "Orbit", "Ann now works at Orbit"),
    ("job", "Orbit", "Ann started a new job at Orbit in May"),
    ("job", "Orbit", "Ann works at the headquarters of Orbit"),
    ("job", "Orbit", "Ann joined Orbit as a data engineer"),
    ("job", "Orbit", "Ann has been an engineer at Orbit since March"),
    ("home", "Lyon", "Ann lives in the city of Lyon"),
    ("home", "Lyon", "Ann moved back to Lyon"),
    ("home", "Lyon", "Ann moved to Lyon for work"),
    ("home", "Lyon", "Ann has lived in Lyon for a month"),
    ("broker", "Kafka", "Billing switched its broker from RabbitMQ to Kafka"),
    ("broker", "Kafka", "Billing switched from RabbitMQ to Kafka because of the load"),
    ("broker", "Kafka", "Billing uses Kafka instead of RabbitMQ"),
    ("broker", "Kafka", "Billing permanently switched from RabbitMQ to Kafka and is happy"),
    ("port", "9090", "Billing listens on port 9090 now"),
    ("limit", "60 s", "The timeout of Billing was raised to 60 s"),
    ("ceo", "Max", "Max became the CEO of Acme"),
    ("seat", "Bonn", "Acme moved its headquarters to Bonn"),
    ("spouse", "Jim", "Ann married Jim"),
    ("boss", "Dora", "Ann now reports to Dora"),
    ("team", "United", "Ann signed for United"),
    ("launch", "June 9", "The launch was postponed to June 9"),
    ("job LEFT", "Acme", "Ann left Acme in May"),
    ("broker STOPPED_USING", "RabbitMQ", "Billing no longer uses RabbitMQ"),
]
"""The same of sentences that replace the older fact for certain."""


def _pair(key: str, value: str, text: str) -> Pair:
    name, _, relation = key.partition(" ")
    older = OLDER[name]
    return Pair(older, Said(older.source, relation or older.relation, value, text))


HOSTILE = {kind: [_pair(*told) for told in listed] for kind, listed in _NEVER.items()}
PLAIN = [_pair(*told) for told in _ALWAYS]


def numbered(pairs: Sequence[Pair]) -> list[Pair]:
    """The same pairs, each with a subject of its own, so that all can stand in one graph."""
    return [
        Pair(*(_renamed(said, pair.older.source, number) for said in pair))
        for number, pair in enumerate(pairs)
    ]


def _renamed(said: Said, subject: str, number: int) -> Said:
    text = re.sub(rf"\b{subject}\b", f"{subject}{number}", said.text, flags=re.IGNORECASE)
    return said._replace(source=f"{subject}{number}", text=text)
