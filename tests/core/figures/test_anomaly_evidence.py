"""The pictures behind a finding."""

import numpy as np
import pytest

from core.anomalies import Finding
from core.figures.anomaly_evidence import anomaly_evidence
from core.figures.calendar import demand_calendar

MONDAY = np.datetime64("2013-01-07")
WEEKS = 4


def calendar(kwh, minutes=30):
    """The calendar of whole weeks from a Monday; ``kwh`` has one row per day."""
    steps = np.arange(kwh.size) * np.timedelta64(minutes, "m")
    return demand_calendar(MONDAY.astype("datetime64[m]") + steps, kwh.ravel(), minutes)


def finding(slots, since="NaT"):
    return Finding(
        reason="",
        direction="higher",
        slots=slots,
        since=np.datetime64(since, "D"),
        kwh_per_week=0.0,
        profile=np.full(48, 2.0),
        expected=np.full(48, 0.5),
        daily=np.zeros(7 * WEEKS),
    )


@pytest.fixture
def kwh():
    return np.random.default_rng(1).uniform(0.1, 1, (7 * WEEKS, 48))


def test_days_are_summed_over_the_hours_concerned(kwh):
    hours = np.zeros(48, bool)
    hours[:8] = True
    kwh[3, :5] = np.nan  # more than half of the hours concerned
    kwh[4, :2] = np.nan
    found = anomaly_evidence(finding(np.tile(hours, 7), "2013-01-20"), "hours", calendar(kwh))
    expected = kwh[:, :8].sum(axis=1)
    expected[3] = np.nan
    expected[4] = kwh[4, 2:8].mean() * 8  # as the hours that were read
    np.testing.assert_allclose(found.kwh, expected)
    assert found.expected_kwh == pytest.approx(8 * 0.5)
    assert found.daily_name == "kWh a day, 00:00–04:00"
    assert found.own_name == "this home since 20 January"
    assert found.since == np.datetime64("2013-01-20")
    np.testing.assert_array_equal(found.hours, hours)


def test_all_hours_are_not_named(kwh):
    found = anomaly_evidence(finding(np.ones(336, bool)), "level", calendar(kwh))
    assert found.daily_name == "kWh a day"
    assert not found.hours.any()
    np.testing.assert_array_equal(found.own, 2.0)
    np.testing.assert_array_equal(found.usual, 0.5)


def test_a_span_over_midnight_is_one(kwh):
    hours = np.zeros(48, bool)
    hours[[46, 47, 0, 1]] = True
    found = anomaly_evidence(finding(np.tile(hours, 7)), "hours", calendar(kwh))
    assert found.daily_name == "kWh a day, 23:00–01:00"


def test_an_event_compares_its_day_of_the_week_with_the_others(kwh):
    slots = np.zeros((7, 48), bool)
    slots[2, 20:24] = True
    found = anomaly_evidence(finding(slots.ravel(), "2013-01-14"), "event", calendar(kwh))
    late = kwh[7:]
    wednesday = np.arange(len(late)) % 7 == 2
    np.testing.assert_allclose(found.own, late[wednesday].mean(axis=0))
    np.testing.assert_allclose(found.usual, late[~wednesday].mean(axis=0))
    assert (found.own_name, found.usual_name) == ("Wednesdays", "other days")
    np.testing.assert_array_equal(found.days, MONDAY + np.arange(2, 28, 7))
    np.testing.assert_allclose(found.kwh, kwh[2::7, 20:24].sum(axis=1))


@pytest.mark.parametrize("minutes", [15, 60])
def test_other_intervals_are_told_by_the_half_hour(kwh, minutes):
    raw = np.repeat(kwh, 2, axis=1) / 2 if minutes == 15 else kwh.reshape(-1, 24, 2).sum(axis=2)
    found = anomaly_evidence(finding(np.ones(336, bool)), "rhythm", calendar(raw, minutes))
    half_hours = kwh if minutes == 15 else np.repeat(raw / 2, 2, axis=1)
    weekend = np.arange(7 * WEEKS) % 7 >= 5
    np.testing.assert_allclose(found.own, half_hours[weekend].mean(axis=0))
    np.testing.assert_allclose(found.kwh, kwh.sum(axis=1))
