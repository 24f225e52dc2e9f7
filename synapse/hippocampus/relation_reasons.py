"""Why a relation counts as it does, in sentences for people."""

from __future__ import annotations

from collections.abc import Iterator

from synapse.hippocampus.lexicon.grammar import Kind, Reading
from synapse.hippocampus.quantity import quantity
from synapse.hippocampus.relation_corrections import FEW_COUNT
from synapse.hippocampus.relation_evidence import Evidence

HOUSEKEEPING = "Graphiti's own note that two entities are one; it says nothing about the world."
UNDECIDED = "Not sure enough to decide: without a word of change its values replace nothing."
DEFINITE = "Its sentences presuppose one value."
MEASURES = "Its values are numbers, versions or dates."
_CORRECTING = (
    "In the rest of this graph second values replace the first: hardly any subject has a third."
)
_TOO_FEW = f"Fewer than {FEW_COUNT} of its own subjects show that, so it is not taken for certain."
_COARSE = "Its dates are known to the {} alone and decide little."
_YEAR_DAYS, _MONTH_DAYS = 365.0, 30.0


def said(name: str, reading: Reading) -> str:
    """What the name says.

    >>> said("CAPITAL", Reading(Kind.ONE, "the noun 'capital'"))
    "CAPITAL: the noun 'capital' suggests one value at a time."
    """
    if reading.kind is Kind.UNKNOWN:
        return f"{name}: {reading.reason} does not tell how many values it holds."
    return f"{name}: {reading.reason} suggests {reading.kind.meaning}."


def shown(evidence: Evidence, code: int, is_corrected: bool) -> Iterator[str]:
    """What the graph shows about one property."""
    yield from _values(evidence, code)
    for count, things, words in (
        (evidence.replacements_count[code], "value", "began when the one before ended"),
        (evidence.overlaps_count[code], "value", "began while the one before was still true"),
        (evidence.returns_count[code], "value", "came back after another one"),
        (evidence.repeats_count[code], "fact", "only repeated a known value"),
        (
            evidence.self_loops_count[code],
            "fact",
            "linked an entity to itself, which shows nothing",
        ),
    ):
        if count:
            yield f"{quantity(int(count), things)} {words}."
    if is_corrected:
        yield _CORRECTING
        if evidence.corrected_count[code] < FEW_COUNT:
            yield _TOO_FEW


def _values(evidence: Evidence, code: int) -> Iterator[str]:
    """How many values the subjects have had, and when the further ones began."""
    subjects, shared = int(evidence.subjects_count[code]), int(evidence.shared_subjects_count[code])
    steps, together = int(evidence.steps_count[code]), int(evidence.together_count[code])
    if subjects == 1:
        yield f"Its one subject had {'more than one' if shared else 'one'} value."
    elif shared:
        yield f"{shared} of {subjects} subjects had more than one value."
    elif subjects:
        yield f"Each of its {subjects} subjects had one value."
    if not steps:
        return
    if not together:
        further = "The further value" if steps == 1 else f"All {steps} further values"
        yield f"{further} began later than the one before."
    elif steps == 1:
        yield "The further value began together with the one before."
    else:
        chance = evidence.chance_count[code]
        by_chance = f"; by chance about {chance:.0f} would" if chance >= 0.5 else ""
        yield f"{together} of {steps} further values began together with another one{by_chance}."
    days = evidence.resolution_days[code]
    if days >= _MONTH_DAYS:
        yield _COARSE.format("year" if days >= _YEAR_DAYS else "month")
