"""M8: does the forgetting curve look like people's forgetting?

(a) Savings scores of four people who learned nonsense syllables: how close does each law come when
its time scale is free (nobody expects an agent's days to be theirs)? (b) Reviews of flash cards
after at least half a day: how well does strength at that moment predict whether the card was
recalled? Nothing is fitted there: the constants are the configuration's, salience is 0, the first
review is an episode and every later one a recall. A card that was not recalled loses half its
stability, which the product never sees happen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from synapse.hippocampus.config import ForgettingConfig
from synapse.hippocampus.decay import Decay, ExponentialDecay, PowerDecay
from synapse.hippocampus.forgetting import ForgettingCurve
from synapse.hippocampus.model import Bools, Floats
from synapse.hippocampus.stability import Recalls, Stability

from . import first_places
from .data import DataFolder, MissingSet, moment, read_lines
from .engine import Bench
from .event_streams import SECONDS_PER_DAY, area_under_curve, streams
from .result import Bar, Measured, Table, mean

TITLE = "M8 forgetting curve"
MAX_RMSE = 0.05
MAX_LOG_LOSS, MIN_AREA = 0.495, 0.645
LEAST_GAP_DAYS = 0.5
LAPSE_RATIO = 0.5
BINS_COUNT = 20
SCALES_DAYS = np.exp(np.linspace(np.log(1e-6), np.log(1e3), 1_000))
TRIED_EXPONENTS = (0.1, 0.13, 0.15, 0.17, 0.2, 0.25, 0.3)
EXPONENTS = np.arange(0.05, 1.0, 0.01)
_NEVER_SURE = 1e-4
_SAVINGS = ("ebbinghaus_1885", "mack", "seitz", "dros_2015")


def measure(bench: Bench) -> Measured:
    """Both parts."""
    measured = Measured()
    for name, part in (("M8a", _savings), ("M8b", _reviews)):
        try:
            part(bench, measured)
        except MissingSet as reason:
            measured.skipped.append(f"{name}: {reason}")
            measured.bars.append(Bar(name, None, 0.0))
    for name, part in (("M8 exponent", _exponents), ("M8 demand", _demand)):
        try:
            part(bench, measured)
        except MissingSet as reason:
            measured.skipped.append(f"{name}: {reason}")
    return measured


# (a) savings


def savings(data: DataFolder) -> tuple[Floats, list[Floats]]:
    """After how many days how much was left, for each person."""
    file = data.folder / "forgetting" / "savings.jsonl"
    if not file.is_file():
        raise MissingSet("forgetting/savings.jsonl is not there")
    rows = read_lines(file)
    days = np.array([row["minutes"] for row in rows]) / 1_440.0
    return days, [np.array([row[name] for row in rows]) for name in _SAVINGS]


def _savings(bench: Bench, measured: Measured) -> None:
    days, scores = savings(bench.data)
    configured = PowerDecay(bench.config.forgetting.power_exponent)
    seed = ForgettingCurve(ForgettingConfig(curve="exponential"))
    table = Table("M8a savings: root mean square error", ["curve", *_SAVINGS])
    table.add("seed, half-life 7 d", *(_rmse(seed.strength(days, 0.0), s) for s in scores))
    table.add("exponential, best scale", *(_best(ExponentialDecay(), days, s) for s in scores))
    table.add(f"power {configured.exponent:g}, best scale",
              *(_best(configured, days, s) for s in scores))  # fmt: skip
    best = [min((_best(PowerDecay(a), days, s), a) for a in EXPONENTS.tolist()) for s in scores]
    table.add("power, best scale and exponent", *(error for error, _ in best))
    table.add("  exponent", *(exponent for _, exponent in best))
    measured.tables.append(table)
    measured.bars += [
        Bar(f"M8a power curve, exponent {exponent:g} fitted to {name}", error, MAX_RMSE, "at most")
        for name, (error, exponent) in zip(_SAVINGS, best, strict=True)
    ]
    as_shipped = [_best(configured, days, s) for s in scores]
    measured.notes.append(
        f"M8a with the configured exponent {configured.exponent:g} the same bar of {MAX_RMSE:g} is "
        f"met by {sum(error <= MAX_RMSE for error in as_shipped)} of {len(scores)} tables: "
        + ", ".join(f"{n} {e:.3f}" for n, e in zip(_SAVINGS, as_shipped, strict=True))
    )


def _best(decay: Decay, days: Floats, scores: Floats) -> float:
    return min(_rmse(decay.left(days / scale), scores) for scale in SCALES_DAYS.tolist())


def _rmse(curve: Floats, scores: Floats) -> float:
    return float(np.sqrt(np.mean((curve - scores) ** 2)))


# (b) reviews


@dataclass(frozen=True)
class Reviews:
    """Reviews of many cards; shape (cards, reviews), NaN and False behind each card's last."""

    times_s: Floats
    recalled: Bools
    elapsed_days: Floats
    """Since the review before."""

    @property
    def is_asked(self) -> Bools:
        """The reviews that are to be predicted."""
        return self.elapsed_days >= LEAST_GAP_DAYS


def reviews(data: DataFolder) -> Reviews:
    """The reviews of this half, card by card in order of time."""
    cards: defaultdict[str, list[tuple[float, bool]]] = defaultdict(list)
    for row in data.rows("forgetting", "reviews"):
        cards[row["card"]].append((moment(row["t"]).timestamp(), bool(row["recalled"])))
    shape = (len(cards), max(map(len, cards.values())))
    times_s, recalled = np.full(shape, np.nan), np.zeros(shape, np.bool_)
    for i, card in enumerate(cards.values()):
        card.sort()
        times_s[i, : len(card)], recalled[i, : len(card)] = zip(*card, strict=True)
    elapsed_days = np.diff(times_s, axis=1, prepend=np.nan) / SECONDS_PER_DAY
    return Reviews(times_s, recalled, elapsed_days)


def _reviews(bench: Bench, measured: Measured) -> None:
    found = reviews(bench.data)
    came_true = found.recalled[found.is_asked]
    config = bench.config.forgetting
    exponential = config.model_copy(update={"curve": "exponential"})
    seed = ForgettingCurve(ForgettingConfig(curve="exponential"))
    since_first_days = (found.times_s - found.times_s[:, :1]) / SECONDS_PER_DAY
    doubling = _grown(found, lambda before, gap_s: np.minimum(2.0 * before, 256.0), least=1 / 64)
    predictions = {
        "always the mean": np.full(found.times_s.shape, came_true.mean()),
        "seed by age": seed.strength(since_first_days, 0.0),
        "seed by last review": seed.strength(found.elapsed_days, 0.0),
        "seed with recall boost": seed.strength(since_first_days, 0.0, 1.0, found.elapsed_days),
        "power, doubling and halving": PowerDecay(0.2).left(found.elapsed_days / 7.0 / doubling),
        "ours, exponential": _ours(found, exponential),
        "ours, power": _ours(found, config.model_copy(update={"curve": "power"})),
    }
    table = Table(
        f"M8b reviews: {len(came_true)} after at least {LEAST_GAP_DAYS:g} days",
        ["curve", "log-loss", f"RMSE in {BINS_COUNT} bins", "AUC"],
    )
    scores = {n: _scores(p[found.is_asked], came_true) for n, p in predictions.items()}
    for name, row in scores.items():
        table.add(name, *row)
    measured.tables.append(table)
    loss, _, area = scores["ours, " + config.curve]
    pairs = zip(scores["ours, exponential"], scores["seed by age"], strict=True)
    better = [ours < seeds for ours, seeds in pairs][:2]
    better.append(scores["ours, exponential"][2] > scores["seed by age"][2])
    measured.bars += [
        Bar("M8b log-loss", loss, MAX_LOG_LOSS, "at most"),
        Bar("M8b AUC", area, MIN_AREA),
        Bar("M8b figures on which the exponential with stability beats the seed's curve",
            float(sum(better)), 3.0),
    ]  # fmt: skip


def _exponents(bench: Bench, measured: Measured) -> None:
    """One exponent has to serve both; the other constants are the configuration's."""
    (days, scores), found = savings(bench.data), reviews(bench.data)
    came_true, config = found.recalled[found.is_asked], bench.config.forgetting
    table = Table(
        "M8 one exponent for both: mean RMSE of the savings, and the reviews",
        ["exponent", "savings", "log-loss", f"RMSE in {BINS_COUNT} bins"],
    )
    for exponent in sorted({*TRIED_EXPONENTS, config.power_exponent}):
        law = {"curve": "power", "power_exponent": exponent}
        predicted = _ours(found, config.model_copy(update=law))[found.is_asked]
        shape = float(np.mean([_best(PowerDecay(exponent), days, s) for s in scores]))
        table.add(f"{exponent:g}", shape, *_scores(predicted, came_true)[:2])
    measured.tables.append(table)


def _demand(bench: Bench, measured: Measured) -> None:
    found, events = reviews(bench.data), streams(bench.data)
    came_true, config = found.recalled[found.is_asked], bench.config.forgetting
    table = Table(
        "M8 weight of demand, every recall taken as a first place: the reviews, and the streams",
        ["demand_boost", "log-loss", f"RMSE in {BINS_COUNT} bins", "AUC", "AUC of the streams"],
    )
    without = _stability(found, config)
    for boost in sorted({*first_places.BOOSTS, config.demand_boost}):
        tried = config.model_copy(update={"demand_boost": boost})
        stability = first_places.raised(without, found.times_s, found.recalled, tried)
        predicted = ForgettingCurve(tried).strength(found.elapsed_days, 0.0, stability)
        areas = [first_places.stream_area(stream, tried) for stream in events]
        table.add(f"{boost:g}", *_scores(predicted[found.is_asked], came_true), mean(areas))
    measured.tables.append(table)


def _ours(found: Reviews, config: ForgettingConfig) -> Floats:
    return ForgettingCurve(config).strength(found.elapsed_days, 0.0, _stability(found, config))


def _stability(found: Reviews, config: ForgettingConfig) -> Floats:
    stability = Stability(config)

    def recalled(before: Floats, gap_s: Floats) -> Floats:
        pairs = np.arange(len(gap_s) + 1)
        recalls = Recalls(gap_s, np.arange(len(gap_s)))
        gain = stability.column(np.zeros(len(gap_s)), pairs, recalls) - 1.0
        return np.minimum(before + gain, config.stability_max)

    return _grown(found, recalled, least=1.0)


def _grown(found: Reviews, recalled: Callable[[Floats, Floats], Floats], least: float) -> Floats:
    """Stability at each review, by the reviews before it."""
    stability = np.ones(found.times_s.shape)
    for n in range(1, stability.shape[1]):
        before, gap_s = stability[:, n - 1], found.elapsed_days[:, n - 1] * SECONDS_PER_DAY
        after = recalled(before, np.nan_to_num(gap_s))
        lapsed = np.maximum(before * LAPSE_RATIO, least)
        stability[:, n] = np.where(found.recalled[:, n - 1], after, lapsed)
        if n == 1:
            stability[:, n] = 1.0
    return stability


def _scores(predicted: Floats, came_true: Bools) -> tuple[float, float, float]:
    sure = np.clip(predicted, _NEVER_SURE, 1.0 - _NEVER_SURE)
    loss = -np.mean(np.where(came_true, np.log(sure), np.log1p(-sure)))
    bins = np.minimum((sure * BINS_COUNT).astype(np.int64), BINS_COUNT - 1)
    count = np.bincount(bins, minlength=BINS_COUNT)
    off = np.bincount(bins, sure - came_true, BINS_COUNT) / np.maximum(count, 1)
    rmse = np.sqrt(np.sum(count * off**2) / count.sum())
    return float(loss), float(rmse), area_under_curve(sure, came_true) or 0.0
