"""Stamps become seconds exactly, in bulk or one by one, and never raise."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from synapse.store.times import FEW_COUNT, format_time, parse_times

MOMENT = datetime(2026, 1, 3, 9, 30, 15, 123456, tzinfo=UTC)
ZONES = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


def one(text: str) -> float:
    stamp = text.encode("utf-8", "surrogatepass")
    alone, in_bulk = (float(parse_times([stamp] * count)[0]) for count in (1, FEW_COUNT + 1))
    assert repr(alone) == repr(in_bulk)
    return alone


def exact(moment: datetime) -> float:
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return float(since // timedelta(microseconds=1)) / 1e6


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-03T09:30:15.123456+00:00", MOMENT),
        ("2026-01-03T09:30:15.123456Z", MOMENT),
        ("2026-01-03 09:30:15.123456+00:00", MOMENT),
        ("2026-01-03T15:00:15.123456+05:30", MOMENT),
        ("2026-01-03T09:30:15.123456", MOMENT),
        ("2026-01-03T09:30:15+00:00", MOMENT.replace(microsecond=0)),
        ("2026-01-03T09:30:15Z", MOMENT.replace(microsecond=0)),
        ("2026-01-03T09:30:15", MOMENT.replace(microsecond=0)),
        (" 2026-01-03T09:30:15Z ", MOMENT.replace(microsecond=0)),
        ("2026-01-03T09:30:15.1+00:00", MOMENT.replace(microsecond=100_000)),
        ("2026-01-03T09:30:15.12345Z", MOMENT.replace(microsecond=123_450)),
        ("2026-01-03", MOMENT.replace(hour=0, minute=0, second=0, microsecond=0)),
        ("2024-02-29T00:00:00Z", datetime(2024, 2, 29, tzinfo=UTC)),
        ("0002-01-01T00:00:00Z", datetime(2, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999Z", datetime.max.replace(tzinfo=UTC)),
        ("1969-12-31T23:59:59.500000+00:00", datetime.fromtimestamp(-0.5, UTC)),
    ],
)
def test_every_form_gives_the_moment(text: str, moment: datetime) -> None:
    assert one(text) == exact(moment)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "nan",
        "inf",
        "None",
        "yesterday",
        "0000-01-01T00:00:00+00:00",
        "10000-01-01T00:00:00+00:00",
        "2026-00-01T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-01-01T25:00:00Z",
        "2026-01-01T23:60:00Z",
        "2026-01-01T23:59:60Z",
        "2026-01-01T00:00:00+00:0x",
        "2026/01/01T00:00:00Z",
        "２０２６-01-01T00:00:00Z",
        "2026-01-01T00:00:0\x00Z",
        "\ud800" * 8,
        "x" * 10_000,
    ],
)
def test_what_is_not_a_time_is_unknown(text: str) -> None:
    assert math.isnan(one(text))


@given(
    st.datetimes(datetime(2, 1, 2), timezones=st.one_of(st.none(), st.just(UTC), ZONES)),
    st.sampled_from(["T", " "]),
    st.sampled_from(["auto", "seconds", "milliseconds", "microseconds"]),
)
@example(datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-5))), "T", "auto")
@example(datetime(2, 1, 1, 12, tzinfo=timezone(timedelta(hours=5))), "T", "auto")
def test_any_datetime_is_read_exactly(moment: datetime, between: str, detail: str) -> None:
    text = moment.isoformat(between, detail)
    meant = datetime.fromisoformat(text)
    meant = meant if meant.tzinfo else meant.replace(tzinfo=UTC)
    assert one(text) == exact(meant)
    assert one(text.replace("+00:00", "Z")) == exact(meant)


@given(st.dates(min_value=date(2, 1, 1)))  # year 1 stands for an unknown time
def test_a_date_is_its_midnight(day: date) -> None:
    assert one(day.isoformat()) == exact(datetime(day.year, day.month, day.day, tzinfo=UTC))


@given(st.lists(st.one_of(st.binary(max_size=40), st.datetimes().map(lambda d: str(d).encode()))))
def test_in_company_as_alone(values: list[bytes]) -> None:
    alone = [parse_times([value])[0] for value in values]
    for company in (values, values + [b"2026-01-03"] * FEW_COUNT):
        read = parse_times(company)[: len(values)]
        assert np.array_equal(read, np.array(alone, np.float64), equal_nan=True)


STAMP = "2026-01-03T09:30:15.123456+00:00"


@given(st.integers(0, len(STAMP) - 1), st.characters(codec="ascii"))
def test_one_wrong_character_is_judged_as_by_the_standard_library(at: int, other: str) -> None:
    text = STAMP[:at] + other + STAMP[at + 1 :]
    try:
        meant = exact(datetime.fromisoformat(text.strip()).astimezone(UTC))
    except ValueError:
        meant = math.nan
    assert one(text) == meant or (math.isnan(meant) and math.isnan(one(text)))


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)).map(lambda d: d.replace(tzinfo=UTC))
)
def test_writing_and_reading_are_inverse(moment: datetime) -> None:
    assert format_time(exact(moment)) == moment.isoformat()
    assert one(format_time(exact(moment))) == exact(moment)


def test_no_stamps_no_times() -> None:
    assert parse_times([]).shape == (0,)


@pytest.mark.parametrize(
    "text", ["0001-01-01T00:00:00Z", "0001-06-01", "1712011512345", "20260101"]
)
def test_a_stamp_for_no_time_and_figures_without_dashes_are_unknown(text: str) -> None:
    assert np.isnan(parse_times([text.encode()])[0])
