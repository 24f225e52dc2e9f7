"""What a language's plain assertions consist of; see ``english_assertions`` for the words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class AssertionWords:
    """Words of sentences that say of somebody that she has a value now.

    What is not listed is not understood, so a list that lacks a word makes Synapse ask, never
    write. Verbs and nouns stand in their plain form. The patterns are searched for in sentences
    whose two names are ⟨s⟩ and ⟨o⟩; case does not matter.
    """

    determiners: frozenset[str]
    pronouns: frozenset[str]
    present: frozenset[str]
    """Forms of *be* and *have* in the present."""
    past: frozenset[str]
    """The same in the past."""
    copulas: frozenset[str]
    """Those of *be* alone."""
    been: frozenset[str]
    """Forms before a participle that make it a passive, besides :attr:`copulas`."""
    pluperfect: frozenset[str]
    """Words after which a participle tells what was so before something else."""
    adverbs: frozenset[str]
    adjectives: frozenset[str]
    prepositions: frozenset[str]
    occasions: frozenset[str]
    """Words of dates."""
    news: frozenset[str]
    """Words that introduce news at the beginning of a sentence."""
    because: frozenset[str]
    """Words after which, at the end of a sentence, a reason stands."""
    beside: frozenset[str]
    """The same of company."""
    acting_as: frozenset[str]
    """The same of a role."""
    from_then: frozenset[str]
    """The same of a time."""
    clauses: frozenset[str]
    """The same of a clause about somebody of :attr:`clause_subjects`."""
    clause_subjects: frozenset[str]
    whenever: frozenset[str]
    """Words that begin a condition."""
    endings_openers: frozenset[str]
    """Words after which, at the end of a sentence that tells of an end, anything may follow."""
    helping: frozenset[str]
    """Forms that stand before a verb, besides those of *be* and *have*."""
    bare: frozenset[str]
    """Verbs of change in the form of advice: *drop it*."""
    moments: frozenset[str]
    """Words after which an end is none: *left early*."""
    reasons: frozenset[str]
    """Why somebody does something: *for work*."""
    relatives: frozenset[str]
    """Words that make the words before them part of a longer name: *the type of music that*."""
    begins: frozenset[str]
    """Verbs that begin a value: *moved to*."""
    begins_of: Mapping[str, frozenset[str]]
    """Those of them that need no noun beside them to speak of a family of relations."""
    fields: frozenset[str]
    """Words that tell of an occupation only before another one: *product manager*."""
    closings: str
    """Words at the end of a sentence that only say that an end lasts: *any more*, *for good*; the
    first group is what stays."""
    failing: frozenset[str]
    """Words after which a change did not last."""
    changes: frozenset[str]
    """Verbs of change that may tell of a property: *the port of ⟨s⟩ was raised to*."""
    becomes: frozenset[str]
    """Those that tell of a person: *the head of ⟨s⟩ became*."""
    appoints: frozenset[str]
    """Verbs of which the object becomes the value, or gets it."""
    takes_on: frozenset[str]
    """Verbs of which the object gets a post: *hired*."""
    of_people: frozenset[str]
    """Families of relations whose values are people."""
    times: frozenset[str]
    """Names of times."""
    onward: frozenset[str]
    """Words before the beginning of a time: *since*."""
    closing: frozenset[str]
    """Words before its end: *until*."""
    lasting: frozenset[str]
    """Words with which *has lived* tells of the present."""
    standing: frozenset[str]
    """Words of phrases that tell of an end by telling what is so now: *instead of*."""
    rates: frozenset[str]
    """Words between an amount and the time for which it counts: *a month*."""
    lesser: frozenset[str]
    """Words that make an office another one: *vice president*."""
    apart: frozenset[str]
    """Words before a name that say that the name is not the value: *named after*."""
    occupations: frozenset[str]
    agent_endings: tuple[str, ...]
    """Endings of nouns that name who does something: *performer*."""
    posts: frozenset[str]
    """Families of relations of which an occupation tells: *is an engineer at*."""
    others: frozenset[str]
    """Who belongs to somebody and is somebody else: *mother*."""
    weak: frozenset[str]
    """Words of families that do not tell that something has the value: *supports*."""
    joins: frozenset[str]
    """Words between two clauses of one subject: *and*."""
    unreal: str
    """What did not, or not yet, happen, before the second of the names."""
    unreal_after: str
    """The same after it."""
    reported: str
    """What somebody says or believes, or what may hold only in part."""
    invented: str
    """What is so in a story, a game, an example."""
    ended: str
    """What says of ⟨o⟩ itself that it is the older value."""
    following: str
    """A time that has not come: *next month*."""
    passing: str
    """What is so only for a while or in part, or was taken back. ⟨o⟩ is the value that counts in
    the end, ⟨x⟩ one that has ended."""
    sorts: frozenset[str]
    """Nouns before *of* and a name that only say what the name is: *the city of*."""
    owning: frozenset[str]
    """Forms of *have* in the present."""
    indefinite: frozenset[str]
    companions: frozenset[str]
    """Prepositions that put a value beside the subject: *works with*."""

    @cached_property
    def forms(self) -> frozenset[str]:
        """Forms of *be* and *have*."""
        return self.present | self.past

    @cached_property
    def occasional(self) -> frozenset[str]:
        """Words that in front of a statement only tell when and where."""
        return self.occasions | self.news | self.determiners | self.adverbs | self.prepositions

    @cached_property
    def light(self) -> frozenset[str]:
        """Words that may stand anywhere."""
        return self.determiners | self.prepositions | self.adverbs | self.adjectives

    @cached_property
    def openers(self) -> frozenset[str]:
        """Words after which, at the end of a sentence, something else is told."""
        return self.because | self.beside | self.acting_as | self.from_then | self.clauses
