"""How much demand should weigh, on data that know of no rank: every recall taken as a first place.

Reviews of flash cards: demand comes from the reviews before that were recalled. Event streams: the
first event of an item is its episode, every later one a recall, one in each hour.
"""

from __future__ import annotations

import numpy as np

from synapse.hippocampus.config import ForgettingConfig
from synapse.hippocampus.demand import demands
from synapse.hippocampus.forgetting import ForgettingCurve
from synapse.hippocampus.model import Bools, Floats
from synapse.hippocampus.recall import RECENT_MAX_COUNT, hour_of
from synapse.hippocampus.stability import Recalls, Stability

from .event_streams import SECONDS_PER_DAY, Stream, area_under_curve
from .result import mean

BOOSTS = (0.0, 0.1, 0.25, 0.5, 1.0)
CUTS = (0.4, 0.5, 0.6, 0.7, 0.8)
SALIENCE = 0.35
"""Of what nothing is known but when it was touched."""


def raised(stability: Floats, times_s: Floats, recalled: Bools, config: ForgettingConfig) -> Floats:
    """Stability at each review with the demand of the reviews before it; shape (cards, reviews).

    Args:
        stability: without demand.
        times_s: of the reviews, NaN behind each card's last.
        recalled: whether each review was.
        config: ``demand_boost`` is the weight.
    """
    result = stability.copy()
    for number in range(1, stability.shape[1]):
        before = (slice(None), slice(1, number))
        card, review = np.nonzero(recalled[before] & np.isfinite(times_s[before]))
        times = times_s[before][card, review]
        demand = demands(Recalls(times, card, np.ones(len(card))), len(stability))
        column = Stability(config).raised(stability[:, number], demand, config.demand_boost)
        result[:, number] = column
    return result


def stream_area(stream: Stream, config: ForgettingConfig) -> float | None:
    """Area under the curve of strength: items that are touched again against the others."""
    return mean([_area_at(stream, int(cut * len(stream.items)), config) for cut in CUTS])


def _area_at(stream: Stream, events_count: int, config: ForgettingConfig) -> float | None:
    history, later = stream.history(events_count), stream.later(events_count)
    items, rehearsed = sorted(history), Stability(config)
    times_s, memory = [], []
    for row, item in enumerate(items):
        hours_s = sorted({hour_of(day * SECONDS_PER_DAY) for day in history[item][1:]})
        times_s += hours_s[-RECENT_MAX_COUNT:]
        memory += [row] * len(hours_s[-RECENT_MAX_COUNT:])
    recalls = Recalls(np.array(times_s), np.array(memory, np.int64), np.ones(len(memory)))
    first_s = np.array([history[item][0] * SECONDS_PER_DAY for item in items])
    stability = rehearsed.raised(
        rehearsed.column(first_s, np.arange(len(items) + 1), recalls),
        demands(recalls, len(items)),
        config.demand_boost,
    )
    now_days = stream.times_s[events_count - 1] / SECONDS_PER_DAY
    age_days = now_days - np.array([history[item][-1] for item in items])
    strength = ForgettingCurve(config).strength(age_days, SALIENCE, stability)
    return area_under_curve(strength, np.array([item in later for item in items]))
