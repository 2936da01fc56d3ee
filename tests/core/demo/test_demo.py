import argparse
import os
from collections import Counter
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.commands import demo as command
from core.demo import KINDS, TRUTH, make_demo
from core.demo._calendar_and_weather import SLOTS, make_setting
from core.demo._home_demand import simulate
from core.demo._patterns import PATTERNS, draw_home
from core.demo._presence import absence
from core.demo.generate import meter_numbers
from core.demo.planted_faults import (
    EVENT_KWH,
    HEAVY_LOAD_KWH,
    MORE_KINDS,
    STUCK_SHARE,
    planted_of_each_kind,
)
from core.errors import Cancelled, InputError
from core.progress import silent
from core.readings import Dataset
from core.readings.dataset import ACCOUNT_COLUMNS, ROW_GROUP_SIZE
from core.slots import slot_of

SPRING, AUTUMN = "2010-03-28", "2009-10-25"


@pytest.fixture(scope="module")
def year(tmp_path_factory) -> Dataset:
    return make_demo(tmp_path_factory.mktemp("demo") / "year", households=60)


@pytest.fixture(scope="module")
def readings(year) -> pd.DataFrame:
    return year.readings_file.read().to_pandas()


@pytest.fixture(scope="module")
def truth(year) -> pd.DataFrame:
    return pq.read_table(year.path / TRUTH).to_pandas()


def test_the_manifest_says_what_the_readings_are(year, readings):
    daily = 48 * readings.groupby("household")["kwh"].mean().median()
    assert year.manifest["unit"] == "kWh"
    assert year.manifest["stamp"] == "start"
    assert year.manifest["median_daily_kwh"] == pytest.approx(daily, abs=1e-4)


def contents(dataset: Dataset) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(dataset.path.iterdir())}


def half_hours(days: int) -> list[datetime]:
    """The wall-clock half-hours of the span, counted in UTC and read off the clock."""
    zone = ZoneInfo("Europe/Dublin")
    start = datetime(2009, 7, 13)
    now, stop = (
        moment.replace(tzinfo=zone).astimezone(ZoneInfo("UTC"))
        for moment in (start, start + timedelta(days=days))
    )
    times = []
    while now < stop:
        times.append(now.astimezone(zone).replace(tzinfo=None, fold=0))
        now += timedelta(minutes=30)
    return times


def test_same_seed_same_bytes_with_any_number_of_threads(tmp_path, monkeypatch):
    size = {"households": 60, "days": 40}
    first = contents(make_demo(tmp_path / "first", **size, seed=7))
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert contents(make_demo(tmp_path / "second", **size, seed=7)) == first
    other = contents(make_demo(tmp_path / "other", **size, seed=8))
    assert all(other[name] != first[name] for name in first if name != "health.json")


def test_a_household_does_not_depend_on_how_many_there_are(tmp_path):
    few = make_demo(tmp_path / "few", households=3, days=30)
    many = make_demo(tmp_path / "many", households=9, days=30)
    pd.testing.assert_frame_equal(few.households, many.households.head(3))
    for household in few.households["household"]:
        pd.testing.assert_frame_equal(few.readings(household), many.readings(household))


def test_the_dataset_opens_verifies_and_says_where_it_comes_from(year):
    opened = Dataset.open(year.path)
    opened.verify()
    assert opened.interval_minutes == 30
    assert opened.manifest["timezone"] == "Europe/Dublin"
    assert opened.manifest["sources"] == [
        {"name": "synthetic", "seed": 1, "households": 60, "days": 365}
    ]
    assert TRUTH in opened.manifest["files"]
    assert not list(year.path.parent.glob(".*"))


def test_readings_are_in_order_and_in_full_row_groups(year, readings):
    assert (readings["household"].diff().dropna() >= 0).all()
    backwards = readings["time"].diff() < pd.Timedelta(0)
    assert (readings["household"].diff()[backwards] == 1).all()
    metadata = year.readings_file.metadata
    sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    assert set(sizes[:-1]) == {ROW_GROUP_SIZE}


def test_readings_are_thousandths_of_a_kwh(readings):
    kwh = readings["kwh"].to_numpy()
    assert kwh.min() >= 0
    assert kwh.max() < 20
    assert np.array_equal(kwh, np.array([round(value * 1000) / 1000 for value in kwh]))


def test_the_clock_changes_show(year, readings):
    day = readings["time"].dt.strftime("%Y-%m-%d")
    most = readings.groupby([day, "household"]).size().groupby("time").max()
    assert most[SPRING] == 46
    assert most[AUTUMN] == 50
    assert set(most.drop([SPRING, AUTUMN])) == {48}
    spring = readings["time"][day == SPRING]
    assert not ((spring.dt.hour == 1).any())
    repeated = readings[readings.duplicated(["household", "time"], keep=False)]
    assert set(repeated["time"].astype(str)) == {f"{AUTUMN} 01:00:00", f"{AUTUMN} 01:30:00"}
    # The second pass of the hour is a reading of its own, not a copy of the first.
    passes = repeated.groupby(["household", "time"])["kwh"].agg(["first", "last"])
    assert (passes["first"] != passes["last"]).mean() > 0.5


@settings(max_examples=15)
@given(days=st.integers(1, 800))
def test_the_setting_follows_the_clock_on_the_wall(days):
    setting = make_setting(days, np.random.default_rng(0))
    expected = np.array(sorted(half_hours(days)), dtype="datetime64[us]")
    assert np.array_equal(setting.time, expected)
    assert np.array_equal(setting.slot, slot_of(expected, 30))
    day, half_hour = setting.day[setting.row], setting.half_hour[setting.row]
    skipped = half_hour != np.arange(48)
    assert np.array_equal(day, np.repeat(np.arange(days)[:, None], 48, axis=1))
    assert set(np.argwhere(skipped)[:, 1]) <= {2, 3}
    assert set(setting.date[np.argwhere(skipped)[:, 0]]) <= set(
        np.array(["2010-03-28", "2011-03-27"], dtype="datetime64[D]")
    )


def test_summer_is_warm_light_and_ahead_of_winter():
    setting = make_setting(365, np.random.default_rng(0))
    month = setting.month[setting.day]
    summer, winter = (month == 7), (month == 1)
    assert setting.celsius[summer].mean() > setting.celsius[winter].mean() + 7
    assert setting.darkness[summer].mean() < 0.45 < 0.6 < setting.darkness[winter].mean()
    assert setting.summer_time[setting.month == 7].all()
    assert not setting.summer_time[setting.month == 1].any()
    noon = setting.half_hour == 24
    assert setting.darkness[noon].max() < setting.darkness[setting.half_hour == 0].min()


def test_the_accounts_are_those_of_the_readings(year, readings):
    table = year.households
    assert tuple(table.columns[: len(ACCOUNT_COLUMNS)]) == ACCOUNT_COLUMNS
    assert list(year.metadata) == ["dwelling", "occupants", "tariff", "region"]
    assert list(table["household"]) == sorted(set(table["household"]))

    by_household = readings.groupby("household")
    assert table["accepted"].tolist() == by_household.size().tolist()
    assert table["input"].tolist() == table["accepted"].tolist()
    assert not table[["collapsed", "rejected"]].any(axis=None)
    assert table["first"].tolist() == by_household["time"].min().tolist()
    assert table["last"].tolist() == by_household["time"].max().tolist()
    missing = 1 - by_household.size() / len(half_hours(365))
    np.testing.assert_allclose(table["missing_share"], missing, atol=1e-12)
    assert 0.001 < missing.mean() < 0.1

    schema = pq.read_schema(year.path / "households.parquet")
    assert {schema.field(name).type for name in ("input", "collapsed")} == {pa.int64()}
    assert schema.field("first").type == pa.timestamp("us")
    assert year.health == {
        "input": len(readings),
        "accepted": len(readings),
        "collapsed": 0,
        "rejected": 0,
        "rejected_by_reason": {},
        "examples": {},
        "notices": [],
    }


def test_some_meters_start_late_and_some_end_early(readings):
    by_household = readings.groupby("household")["time"]
    assert (by_household.min() > by_household.min().min() + pd.Timedelta(days=7)).any()
    assert (by_household.max() < by_household.max().max() - pd.Timedelta(days=7)).any()


def test_demand_is_that_of_homes(readings):
    mean = readings.groupby("household")["kwh"].mean()
    assert 0.35 < mean.mean() < 0.65
    hour = readings.groupby(readings["time"].dt.hour)["kwh"].mean()
    assert hour[[3, 4]].max() < hour[12] < hour[18]
    season = readings.groupby(readings["time"].dt.month)["kwh"].mean()
    assert season[[12, 1, 2]].min() > 1.15 * season[[6, 7, 8]].max()


def test_the_homes_are_a_continuum_of_all_patterns():
    homes = [draw_home(np.random.default_rng(seed)) for seed in range(600)]
    counts = Counter(home.pattern.name for home in homes)
    for pattern in PATTERNS:
        assert counts[pattern.name] / 600 == pytest.approx(pattern.share, abs=0.05)
    # There is no hole between two patterns: from families to working couples, people come home
    # a few minutes later from one home to the next.
    families, couples = (
        [home.weeks[0].back for home in homes if home.pattern.name == name]
        for name in ("family", "working couple")
    )
    low, high = np.median(families), np.median(couples)
    back = np.sort([hour for hour in families + couples if low <= hour <= high])
    assert high - low > 2
    assert np.diff(back).max() < 0.25


@pytest.fixture(scope="module")
def lives() -> dict[str, pd.DataFrame]:
    """The mean demand of twelve homes of each pattern over a year, by half-hours."""
    setting = make_setting(365, np.random.default_rng(0))
    frame = pd.DataFrame({"time": setting.time}).set_index("time")
    homes: dict[str, list[np.ndarray]] = {pattern.name: [] for pattern in PATTERNS}
    seed = 0
    while min(map(len, homes.values())) < 12:
        rng = np.random.default_rng(seed)
        home, seed = draw_home(rng), seed + 1
        if len(homes[home.pattern.name]) < 12:
            away = absence(home, setting, rng)
            homes[home.pattern.name].append(simulate(home, setting, away, rng))
    return {name: frame.assign(kwh=np.mean(demands, axis=0)) for name, demands in homes.items()}


def demand_at(life: pd.DataFrame, hours: range, days: range, months: range = range(1, 13)) -> float:
    time = life.index
    chosen = time.hour.isin(hours) & time.day_of_week.isin(days) & time.month.isin(months)
    return float(life["kwh"][chosen].mean())


WEEK, WORKDAYS, SATURDAY_ON, SUNDAY = range(7), range(5), range(5, 7), range(6, 7)


def test_homes_live_as_their_patterns_say(lives):
    noon, evening, night = range(10, 15), range(18, 21), range(2, 5)

    couple = lives["working couple"]
    assert demand_at(couple, noon, WORKDAYS) < 0.75 * demand_at(couple, noon, SATURDAY_ON)
    assert demand_at(couple, evening, WORKDAYS) > 2.5 * demand_at(couple, noon, WORKDAYS)
    retired = lives["retired"]
    assert demand_at(retired, noon, WORKDAYS) > 0.45 * demand_at(retired, evening, WORKDAYS)
    shift = lives["shift worker"]
    assert demand_at(shift, evening, WORKDAYS) < 2.2 * demand_at(shift, noon, WORKDAYS)
    heating = lives["night heating"]
    winter, summer = range(1, 3), range(7, 9)
    assert demand_at(heating, range(2), WEEK, winter) > demand_at(heating, evening, WEEK, winter)
    assert demand_at(heating, night, WEEK, winter) > 2 * demand_at(heating, night, WEEK, summer)
    students = lives["student share"]
    assert demand_at(students, evening, WEEK, summer) < 0.7 * demand_at(
        students, evening, WEEK, range(10, 12)
    )
    holiday = lives["holiday home"]
    assert demand_at(holiday, evening, WEEK) < 0.5 * demand_at(couple, evening, WEEK)
    assert demand_at(holiday, evening, SATURDAY_ON) > 1.3 * demand_at(holiday, evening, range(4))
    business = lives["small business"]
    assert demand_at(business, noon, WORKDAYS) > 2 * demand_at(business, noon, SUNDAY)
    assert demand_at(business, noon, WORKDAYS) > 1.5 * demand_at(business, evening, WORKDAYS)


def test_an_empty_home_uses_only_what_nobody_switches():
    setting = make_setting(60, np.random.default_rng(0))
    for seed in range(30):
        home = draw_home(np.random.default_rng(seed))
        kwh = simulate(home, setting, np.ones(setting.n, dtype=bool), np.random.default_rng(seed))
        assert kwh.max() < 2.5 * (home.kwh.standby + home.kwh.cold)
        assert kwh.mean() == pytest.approx(home.kwh.standby + home.kwh.cold, rel=0.5)


@pytest.mark.parametrize(
    ("households", "of_each"), [(1, 0), (59, 0), (60, 1), (200, 1), (300, 1), (600, 2), (3639, 12)]
)
def test_two_per_cent_are_planted_in_equal_numbers(households, of_each):
    assert planted_of_each_kind(households) == of_each


def test_the_truth_lists_each_kind_once(year, truth):
    assert list(truth.columns) == ["household", "kind", "slots", "description"]
    assert sorted(truth["kind"]) == sorted(KINDS)
    assert set(truth["household"]) <= set(year.households["household"])
    assert truth["household"].is_unique
    assert truth["description"].str.len().min() > 20
    whole_week = truth[~truth["kind"].isin(["weekend-only", "weekly-event"])]
    assert all(np.array_equal(slots, np.arange(SLOTS)) for slots in whole_week["slots"])
    slots = truth.set_index("kind")["slots"]
    assert len(slots["weekly-event"]) == 12
    assert len(slots["weekend-only"]) == SLOTS - (14 + 48 + 40)  # Fri 17:00 to Sun 20:00


def test_the_planted_anomalies_are_in_the_readings(year, truth):
    for household, kind, slots in truth[["household", "kind", "slots"]].itertuples(index=False):
        readings = year.readings(household)
        kwh = readings["kwh"].to_numpy()
        slot = slot_of(readings["time"].to_numpy(), 30)
        affected = np.isin(slot, slots)
        by_hour = readings.groupby(readings["time"].dt.hour)["kwh"].mean()
        if kind == "vacant":
            assert kwh.max() < 0.2
        elif kind == "constant-heavy-load":
            assert HEAVY_LOAD_KWH <= kwh.min() < HEAVY_LOAD_KWH + 0.2
        elif kind == "stuck-meter":
            repeats = np.flatnonzero(np.diff(kwh, prepend=-1, append=-1))
            longest = np.diff(repeats).max() / len(kwh)
            assert longest == pytest.approx(STUCK_SHARE, abs=0.06)
        elif kind == "day-night-swapped":
            assert by_hour[14:18].mean() < by_hour[5:9].mean()
            assert by_hour.idxmin() in range(12, 21)
        elif kind == "weekend-only":
            assert kwh[affected].mean() < 0.5 * kwh[~affected].mean()
        elif kind == "weekly-event":
            rise = kwh[affected].mean() - kwh[~affected].mean()
            assert 0.7 * EVENT_KWH < rise < 1.2 * EVENT_KWH


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_mean_demand_finds_fewer_than_half_of_the_anomalies(tmp_path, seed):
    dataset = make_demo(tmp_path / "demo", households=600, days=56, seed=seed)
    planted = set(pq.read_table(dataset.path / TRUTH)["household"].to_pylist())
    readings = dataset.readings_file.read(["household", "kwh"]).to_pandas()
    mean = readings.groupby("household")["kwh"].mean().to_numpy()
    ids = dataset.households["household"].to_numpy()
    extreme_first = ids[np.argsort(-np.abs(mean - mean.mean()))]
    assert len(planted) == 2 * (len(KINDS) + len(MORE_KINDS))
    for listed in (len(planted), 2 * len(planted)):
        assert len(planted & set(extreme_first[:listed])) < len(planted) / 2
    lowest_first = ids[np.argsort(mean)]
    both_ends = {*lowest_first[: len(planted)], *lowest_first[-len(planted) :]}
    assert len(planted & both_ends) < len(planted) / 2


def test_larger_datasets_have_the_faults_of_the_benchmark(tmp_path):
    dataset = make_demo(tmp_path / "demo", households=200, days=56)
    truth = pq.read_table(dataset.path / TRUTH).to_pandas().set_index("kind")
    assert sorted(truth.index) == sorted([*KINDS, *MORE_KINDS])
    assert truth["household"].is_unique

    def days(kind):
        kwh = dataset.readings(truth.loc[kind, "household"]).set_index("time")["kwh"]
        slot = slot_of(kwh.index.to_numpy(), 30)
        return kwh[np.isin(slot, truth.loc[kind, "slots"])].resample("D").mean().dropna().to_numpy()

    assert (days("dead-meter")[30:] == 0).all()
    assert (days("dead-meter")[:26] > 0).all()
    theft, charging, solar = days("theft"), days("night-charging"), days("solar-panels")
    assert theft[28:].mean() == pytest.approx(0.3 * theft[:28].mean(), rel=0.4)
    assert charging[28:].mean() - charging[:28].mean() == pytest.approx(1.5, abs=0.2)
    assert solar[28:].mean() < 0.6 * solar[:28].mean()
    days_of = np.unique(np.asarray(truth.loc["exchanged-weekend", "slots"]) // 48)
    assert days_of.tolist() == [1, 2, 5, 6]


def test_few_households_have_no_anomalies_and_say_so(tmp_path):
    dataset = make_demo(tmp_path / "demo", households=1, days=1)
    assert pq.read_table(dataset.path / TRUTH).num_rows == 0
    assert dataset.health["notices"] == ["no anomalies are planted among fewer than 60 households"]
    assert dataset.households["accepted"].tolist() == [len(dataset.readings_file.read())]


@pytest.mark.parametrize(
    ("option", "value"),
    [("households", 0), ("households", 50_001), ("days", 0), ("days", 3661), ("seed", -1)],
)
def test_sizes_out_of_bounds_are_refused(tmp_path, option, value):
    with pytest.raises(InputError, match=f"{option} must be a whole number"):
        make_demo(tmp_path / "demo", **{option: value})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("households", "digits"), [(200, 4), (3639, 4), (6000, 5), (50_000, 6)])
def test_meter_numbers_sort_as_text_however_many(households, digits):
    ids = meter_numbers(households, seed=1)
    assert len(set(ids)) == households
    assert ids == sorted(ids)
    assert {len(name) for name in ids} == {digits}


def test_cancelling_leaves_nothing(tmp_path):
    def stop(fraction: float, message: str = "") -> None:
        if fraction > 0.3:
            raise Cancelled("enough")

    with pytest.raises(Cancelled):
        make_demo(tmp_path / "demo", households=30, days=10, progress=stop)
    assert not list(tmp_path.iterdir())


def test_progress_goes_up_to_one(tmp_path):
    fractions = []
    make_demo(
        tmp_path / "demo",
        households=20,
        days=5,
        progress=lambda fraction, message="": fractions.append(fraction),
    )
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1


def test_the_command_makes_a_dataset_and_reports_it(tmp_path):
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    defaults = parser.parse_args([str(tmp_path / "demo")])
    assert (defaults.households, defaults.days, defaults.seed) == (200, 365, 1)
    assert "same seed, same bytes (default 1)" in parser.format_help()

    args = parser.parse_args([str(tmp_path / "demo"), "--households", "60", "--days", "7"])
    result = command.run(args, silent)
    dataset = Dataset.open(tmp_path / "demo")
    assert result["path"] == str(tmp_path / "demo")
    assert result["households"] == 60
    assert result["readings"] == result["accepted"] == len(dataset.readings_file.read())
    assert (result["collapsed"], result["rejected"], result["rejected_by_reason"]) == (0, 0, {})
    assert (result["first"], result["last"]) == ("2009-07-13T00:00:00", "2009-07-19T23:30:00")
    assert result["missing_share"] == pytest.approx(1 - result["readings"] / (60 * SLOTS), abs=1e-6)
    assert result["planted"] == dict.fromkeys(KINDS, 1) | dict.fromkeys(MORE_KINDS, 0)
    text = command.render(result)
    assert "households    60" in text
    assert "1 stuck-meter" in text
