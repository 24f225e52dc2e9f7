"""What the sentences of two facts say about the change from one value to the other."""

from __future__ import annotations

import re
from functools import lru_cache

from synapse.hippocampus.rules.grade import Grade
from synapse.hippocampus.rules.graph_reading import GraphReading
from synapse.hippocampus.rules.plain_sentence import Assertion
from synapse.hippocampus.rules.statement import SUBJECT, TARGET, hide_names
from synapse.hippocampus.wording import CACHED_COUNT

_NAME_PART = re.compile(r"[^\W_][\w.&'’-]{2,}")
_FRAME = re.compile(r"⟨[so]⟩|\w+|[\"“”?]")
_PLAINLY = Assertion("plainly")
_SURER: tuple[Grade, ...] = ("not", "doubtfully", "perhaps", "plainly")


def told(graph: GraphReading, old: int, new: int) -> Grade:
    """How surely the newer sentence gives the property another value than the older one did.

    A fact without a text is taken by its relation. Two sentences that differ in their values alone
    speak of one property, whatever words they use.
    """
    texts = graph.snapshot.facts.text
    if not texts[new].strip():
        return "plainly"
    now, before = read(graph, new), _PLAINLY
    if texts[old].strip():
        before = now if _is_like(graph, old, new) else read(graph, old)
    worst = min(now.grade, before.grade, key=_SURER.index)
    if worst in ("not", "doubtfully"):
        return worst
    if graph.tells_of_earlier_years(new):
        return "perhaps"
    if now.grade != "plainly" and _restates(graph, old, new):
        return "not"
    masked, relation = graph.masked(new), graph.relation_name(new)
    if frame(graph.masked(old)) == frame(masked) and graph.assertions.is_about(masked, relation):
        return "plainly"
    if now.kinds and before.kinds and now.kinds != before.kinds:
        return "not"
    return worst if now.qualifiers == before.qualifiers else "perhaps"


def _is_like(graph: GraphReading, old: int, new: int) -> bool:
    """Whether both facts are told by one relation in one sentence, names aside."""
    masked, relation = graph.masked(new), graph.time.relation
    return relation[old] == relation[new] and SUBJECT in masked and masked == graph.masked(old)


def read(graph: GraphReading, row: int) -> Assertion:
    """What a fact's sentence says of its own two entities."""
    masked = graph.masked(row)
    if SUBJECT not in masked:
        masked = _hide_part(masked, graph.source_name(row), SUBJECT)
    if TARGET not in masked:
        masked = _hide_part(masked, graph.target_name(row), TARGET)
    return graph.assertions.read(masked, graph.relation_name(row))


@lru_cache(CACHED_COUNT)
def frame(masked: str) -> str:
    """A sentence without its values, and without words that only say that it is so now.

    >>> frame("⟨s⟩ now lives in ⟨o⟩.") == frame("⟨s⟩ lives in ⟨o⟩")
    True
    """
    words = (word.casefold() for word in _FRAME.findall(masked))
    return " ".join(word for word in words if word not in ("now", "currently"))


def _hide_part(masked: str, name: str, mark: str) -> str:
    """A part of a longer name, such as *Ann* of *Ann Lee*, replaced by the mark."""
    for part in _NAME_PART.findall(name):
        if part[0].isupper() or len(part) > 4:
            hidden = re.sub(rf"(?<!\w){re.escape(part)}(?!\w)", mark, masked, count=1)
            if hidden != masked:
                return hidden
    return masked


def _restates(graph: GraphReading, old: int, new: int) -> bool:
    """Whether the newer sentence gives the older value instead of its own: *lives in A after B*."""
    text, value = graph.snapshot.facts.text[new], graph.target_name(old)
    if value.casefold() not in text.casefold():
        return False
    again = hide_names(text, graph.source_name(new), value)
    return (
        TARGET in again
        and graph.assertions.read(again, graph.relation_name(new)).grade == "plainly"
    )
