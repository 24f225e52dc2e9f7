"""Which of what a graph holds was there when a statement was made.

A result may be observed long after its call, or together with later ones: what came after a
statement tells nothing about it.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isnan
from typing import NamedTuple

import numpy as np

from synapse.hippocampus.model import GraphSnapshot, Ints
from synapse.integrations.ingestion import Ingested, Said


class Moment(NamedTuple):
    """When a statement was made."""

    place: float
    """Of its episode in the call."""
    at_s: float


class Arrivals:
    """The order in which facts and episodes came into a graph.

    Of what one call has written Graphiti tells the order of its episodes, of all else when it was
    created. What is not known was there.

    Args:
        known: the graph.
        what: one call.
        new: rows and statements of the facts that are new in it.
    """

    def __init__(
        self, known: GraphSnapshot, what: Ingested, new: Iterable[tuple[int, Said]]
    ) -> None:
        self._known = known
        self._place_of = {uuid: place for place, uuid in enumerate(what.episodes)}
        self._first_place = {
            row: self._place_of[one.episode] for row, one in new if one.episode in self._place_of
        }
        self._episode_row = {uuid: row for row, uuid in enumerate(known.episodes.uuid)}

    def moment_of(self, row: int, one: Said, *, is_new: bool) -> Moment:
        """When a fact was stated; of a triplet nothing tells, so that it comes after all else."""
        place = self._place_of.get(one.episode)
        if place is None:
            return Moment(inf, inf)
        at_s = inf
        if is_new:
            at_s = float(self._known.facts.created_at_s[row])
        elif one.episode in self._episode_row:
            at_s = float(self._known.episodes.created_at_s[self._episode_row[one.episode]])
        return Moment(place, inf if isnan(at_s) else at_s)

    def had_fact(self, row: int, moment: Moment) -> bool:
        """Whether a fact was there by then, one of the same episode included."""
        if row in self._first_place:
            return self._first_place[row] <= moment.place
        return not self._known.facts.created_at_s[row] > moment.at_s

    def had_begun_with(self, row: int, moment: Moment) -> bool:
        """Whether a fact is new in the very episode of that moment."""
        return self._first_place.get(row) == moment.place

    def episodes_before(self, row: int, one: Said, moment: Moment) -> list[int]:
        """The episodes that had stated a fact before that statement, by row."""
        return [
            episode
            for episode in self._known.facts.episodes[row].tolist()
            if self._known.episodes.uuid[episode] != one.episode
            and self._had_episode(episode, moment)
        ]

    def first_episode(self, row: int) -> str:
        """Uuid of the episode that was the first to state a fact; empty if none is known."""
        episodes = self._known.episodes
        told = [
            (episodes.created_at_s[e], episodes.valid_at_s[e], episodes.uuid[e])
            for e in self._known.facts.episodes[row].tolist()
        ]
        return str(min(told)[-1]) if told else ""

    def _had_episode(self, episode: int, moment: Moment) -> bool:
        place = self._place_of.get(self._known.episodes.uuid[episode])
        if place is not None:
            return place < moment.place
        return not self._known.episodes.created_at_s[episode] > moment.at_s


def begun_s(known: GraphSnapshot, row: int) -> float:
    """Since when a fact holds, as far as anything tells: its date, its first episode, its record.

    Infinite where nothing does.
    """
    facts = known.facts
    said_s = np.sort(known.episodes.valid_at_s[facts.episodes[row]]).tolist()
    told_s = [float(facts.valid_at_s[row]), *said_s, float(facts.created_at_s[row])]
    return next((at_s for at_s in told_s if not isnan(at_s)), inf)


def said_again_s(known: GraphSnapshot, episodes: Ints | list[int]) -> list[float]:
    """When some episodes of a fact said it again, in order of time.

    The first of them tells since when it holds, later ones that it still does.
    """
    said_s: list[float] = np.sort(known.episodes.valid_at_s[episodes]).tolist()
    return said_s[1:]
