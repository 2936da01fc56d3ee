import numpy as np
import pytest

from core import Dataset
from core.anomalies import read_weeks
from core.periods import Period
from core.slots import slot_of


@pytest.fixture(scope="module")
def dataset(demo_path):
    return Dataset.open(demo_path)


def test_every_reading_is_in_its_week_and_slot(dataset):
    weeks = read_weeks(dataset)
    assert len(weeks.households) == len(dataset.households)
    name = weeks.households[7]
    readings = dataset.readings(name)
    times = readings["time"].to_numpy()
    slot = slot_of(times, 30)
    week = (times.astype("datetime64[D]") - weeks.monday).astype(int) // 7
    expected = np.full(weeks.kwh.shape[1:], np.nan, np.float32)
    expected[week, slot] = readings["kwh"].to_numpy()
    np.testing.assert_allclose(weeks.kwh[7], expected, rtol=1e-6)
    assert weeks.monday.astype("datetime64[D]").astype(object).weekday() == 0


def test_chosen_households_come_in_the_order_asked_for(dataset):
    names = dataset.households["household"].tolist()
    some = read_weeks(dataset, [names[9], names[2]])
    assert some.households == (names[9], names[2])
    whole = read_weeks(dataset)
    shift = int((some.monday - whole.monday) / np.timedelta64(7, "D"))
    part = whole.kwh[9, shift : shift + some.kwh.shape[1]]
    np.testing.assert_array_equal(some.kwh[0], part)


def test_days_outside_of_the_period_are_missing(dataset):
    whole = read_weeks(dataset)
    first = whole.date(20).astype(object)
    period = Period(first=first)
    part = read_weeks(dataset, period=period)
    days, whole_days = (each.kwh.reshape(len(each.households), -1, 48) for each in (part, whole))
    np.testing.assert_array_equal(days[:, 20:], whole_days[:, 20:])
    assert np.isnan(days[:, :20]).all()


def test_other_weeks_are_missing(dataset):
    weeks = read_weeks(dataset)
    odd = weeks.only(np.arange(0, weeks.kwh.shape[1], 2))
    assert np.isnan(odd.kwh[:, 1]).all()
    np.testing.assert_array_equal(odd.kwh[:, 2], weeks.kwh[:, 2])
