"""A household that changes on a known day: watched, compared between periods, followed."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
from small_dataset import random_readings, write_dataset

from core.cube import build_day_table
from core.errors import InputError
from core.over_time import compare_periods, describe_alerts, household_paths, watch
from core.periods import Period
from core.placement import SavedMap, save_map
from core.placement.projection import Projection
from core.runs import RunConfig, Runner

DAYS = 21 * 7
CHANGED = "H03"


@pytest.fixture(scope="module")
def readings():
    """Whole weeks from a Monday; one household uses a fifth in the last eight weeks."""
    frame = random_readings(households=30, days=DAYS, seed=4)
    monday = pd.Timestamp("2013-01-07")
    frame["time"] += monday - frame["time"].min().normalize()
    frame["household"] = frame["household"].astype(str)
    late = frame["time"] >= monday + pd.Timedelta(days=DAYS - 56)
    frame.loc[late & (frame["household"] == CHANGED), "kwh"] *= 0.2
    return frame


@pytest.fixture(scope="module")
def dataset(readings, tmp_path_factory):
    return write_dataset(tmp_path_factory.mktemp("changes") / "data", readings)


@pytest.fixture(scope="module")
def change(dataset):
    return dataset.first_and_last_day[0] + timedelta(days=DAYS - 56)


@pytest.fixture(scope="module")
def saved(dataset, change, tmp_path_factory):
    path = tmp_path_factory.mktemp("map") / "map"
    runner = Runner(dataset)
    config = RunConfig(last_day=str(change - timedelta(days=1)), k=8)
    save_map(path, runner.run(config), *runner.inputs(config))
    return SavedMap.open(path)


def test_the_changed_household_is_the_first_alert_of_its_week(saved, dataset, change):
    found = watch(saved, dataset, since=change)
    alerts = describe_alerts(found, dataset)
    first = alerts.iloc[0]
    assert (first["household"], first["week"].date()) == (CHANGED, change)
    assert first["direction"] == "lower"
    usual, used = first["usual_kwh"], first["kwh"]
    assert used == pytest.approx(0.2 * usual, rel=0.15)
    assert f"{usual - used:.0f} kWh less" in first["reason"]


def test_weeks_one_by_one_or_at_once_give_the_same_alerts(saved, dataset, change):
    at_once = watch(saved, dataset, since=change)
    pd.testing.assert_frame_equal(at_once.judged, watch(saved, dataset, since=change).judged)
    last = watch(saved, dataset)
    assert last.weeks.tolist() == at_once.weeks[-1:].tolist()
    of_last = at_once.judged[at_once.judged["week"] == last.weeks[0]].reset_index(drop=True)
    pd.testing.assert_frame_equal(last.judged, of_last)


def test_later_weeks_do_not_change_what_was_said_before(saved, readings, dataset, change, tmp_path):
    end = pd.Timestamp(change) + pd.Timedelta(days=14)
    shorter = write_dataset(tmp_path / "data", readings[readings["time"] < end])
    then = watch(saved, shorter, since=change).judged
    now = watch(saved, dataset, since=change).judged
    now = now[now["week"] < end.to_datetime64()].reset_index(drop=True)
    pd.testing.assert_frame_equal(then, now)


def test_a_watch_without_a_whole_week_says_so(saved, dataset):
    last = dataset.first_and_last_day[1]
    with pytest.raises(InputError, match="after the last reading"):
        watch(saved, dataset, since=last + timedelta(days=30))


def test_who_moved_between_two_periods_is_the_one_that_changed(dataset, change):
    config = RunConfig(last_day=str(change - timedelta(days=1)), k=8)
    found = compare_periods(dataset, config, Period(first=change))
    table = found.table()
    assert table["household"].iat[0] == CHANGED
    assert table["q"].iat[0] <= 0.05
    assert (table["q"].iloc[1:] > 0.05).mean() > 0.9
    own = dataset.readings(CHANGED)
    late = own["time"] >= pd.Timestamp(change)
    means = own["kwh"].groupby(late).mean() * 336
    assert table["kwh_per_week"].iat[0] == pytest.approx(means[True] - means[False])
    np.testing.assert_allclose(found.season_shift, (found.y_second - found.y_first).mean(axis=0))


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("2013-01-07..2013-02-28", "2013-02-01..2013-03-31", "share days"),
        ("2013-01-07..2013-02-28", "2014-01-01..2014-02-01", "after the last reading"),
        ("2001-01-07..2001-02-28", "2013-02-01..2013-03-31", "before the first reading"),
        ("2013-01-07..2013-01-08", "2013-02-01..2013-03-31", "can be shown"),
    ],
)
def test_periods_that_cannot_be_compared_are_refused(dataset, first, second, message):
    begin, end = first.split("..")
    config = RunConfig(first_day=begin, last_day=end, k=8)
    with pytest.raises(InputError, match=message):
        compare_periods(dataset, config, Period.parse_range(second))


def test_the_path_of_the_changed_household_leaps_when_it_changes(dataset, change):
    runner, config = Runner(dataset), RunConfig(k=8)
    _, vectors = runner.inputs(config)
    projection = Projection.fit(vectors, runner.run(config).y)
    _, table = build_day_table(dataset, bins=config.bins)
    paths = household_paths(dataset, config, projection, table, step="week")
    own = paths.of(CHANGED)
    steps = np.linalg.norm(np.diff(own.y[0], axis=0), axis=1)
    assert own.dates[int(steps.argmax()) + 1] == np.datetime64(change)
    alone = household_paths(dataset, config, projection, table, households=[CHANGED], step="week")
    np.testing.assert_allclose(alone.of(CHANGED).y, own.y)


def test_paths_of_half_hours_are_refused(dataset):
    runner = Runner(dataset)
    config = RunConfig(k=8)
    _, vectors = runner.inputs(config)
    projection = Projection.fit(vectors, runner.run(config).y)
    _, table = build_day_table(dataset, bins=config.bins)
    slots = replace(config, unit="household-slots", distance="tv")
    with pytest.raises(InputError, match="choose unit profiles or households"):
        household_paths(dataset, slots, projection, table)


def test_dates_of_months_are_their_first_days(dataset):
    runner, config = Runner(dataset), RunConfig(k=8)
    _, vectors = runner.inputs(config)
    projection = Projection.fit(vectors, runner.run(config).y)
    _, table = build_day_table(dataset, bins=config.bins)
    paths = household_paths(dataset, config, projection, table, step="month")
    months = [date(2013, month, 1) for month in range(1, 7)]
    assert [day.item() for day in paths.dates][: len(months)] == months[: len(paths.dates)]
