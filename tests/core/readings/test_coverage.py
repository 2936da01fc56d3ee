"""Readings by household and day, checked against pandas."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_dataset import random_readings, write_dataset

from core.errors import Cancelled, InputError
from core.readings import Dataset, DatasetError
from core.readings.coverage import (
    Coverage,
    count_days,
    expected_readings,
    make_coverage,
    pool_coverage,
)


def build_coverage(dataset: Dataset, **options) -> Coverage:
    return make_coverage(dataset, count_days(dataset, **options))


@pytest.fixture(scope="module")
def gappy() -> pd.DataFrame:
    """Readings of five households; some are lost, one household starts late, one ends early."""
    readings = random_readings(households=5, days=30)
    rng = np.random.default_rng(3)
    kept = rng.random(len(readings)) > 0.2
    kept &= ~((readings["household"] == "H01") & (readings["time"] < "2024-01-12"))
    kept &= ~((readings["household"] == "H03") & (readings["time"] >= "2024-01-20"))
    return readings[kept].reset_index(drop=True)


@pytest.fixture(scope="module")
def dataset(gappy, tmp_path_factory):
    # Row groups of 1,000 readings: every household lies in several of them.
    return write_dataset(tmp_path_factory.mktemp("gappy") / "data", gappy)


@pytest.fixture(scope="module")
def coverage(dataset) -> Coverage:
    return build_coverage(dataset)


def table(gappy: pd.DataFrame) -> pd.DataFrame:
    days = pd.date_range("2024-01-03", periods=30)
    return (
        gappy.groupby(["household", gappy["time"].dt.floor("D")])
        .size()
        .unstack(fill_value=0)
        .reindex(columns=days, fill_value=0)
    )


def test_counts_are_those_of_pandas(coverage, gappy):
    np.testing.assert_array_equal(coverage.readings, table(gappy).to_numpy())
    np.testing.assert_array_equal(
        coverage.days, table(gappy).columns.to_numpy().astype("datetime64[D]")
    )


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shard_rows", [1, 1500, 1 << 20])
def test_shards_and_threads_do_not_matter(dataset, coverage, threads, shard_rows, monkeypatch):
    monkeypatch.setattr("core.readings.shards.SHARD_ROWS", shard_rows)
    again = build_coverage(dataset, threads=threads)
    np.testing.assert_array_equal(again.readings, coverage.readings)


def test_times_before_1970_are_counted_on_their_day(tmp_path):
    times = pd.to_datetime(["1969-12-30 23:30", "1969-12-31 00:00", "1970-01-01 00:00"])
    readings = pd.DataFrame({"household": "old", "time": times, "kwh": 0.1})
    coverage = build_coverage(write_dataset(tmp_path / "data", readings))
    assert coverage.readings.tolist() == [[1, 1, 1]]
    assert coverage.expected.tolist() == [1, 48, 1]


def test_progress_rises_and_may_stop_the_work(dataset):
    told: list[float] = []
    build_coverage(dataset, progress=lambda fraction, message="": told.append(fraction))
    assert told == sorted(told)
    assert told[-1] == 1.0

    def stop(fraction: float, message: str = "") -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        build_coverage(dataset, progress=stop)


def test_the_share_agrees_with_the_account_of_the_demo(demo_path):

    dataset = Dataset.open(demo_path)
    missing = 1 - build_coverage(dataset).share
    np.testing.assert_allclose(missing, dataset.households["missing_share"], atol=1e-12)


def expected(first: str, last: str, minutes: int = 30, zone: str | None = None) -> list[int]:
    times = np.datetime64(first), np.datetime64(last)
    return expected_readings(*times, interval_minutes=minutes, timezone=zone).tolist()


def test_a_complete_day_has_one_reading_an_interval():
    assert expected("2024-05-01T00:00", "2024-05-02T23:30") == [48, 48]
    assert expected("2024-05-01T00:00", "2024-05-02T23:45", 15) == [96, 96]


def test_the_first_and_last_day_count_from_and_to_the_readings():
    assert expected("2024-05-01T22:30", "2024-05-03T00:00") == [3, 48, 1]
    assert expected("2024-05-01T22:30", "2024-05-01T22:30") == [1]


@pytest.mark.parametrize(
    ("day", "readings"), [("2024-03-31", 46), ("2024-10-27", 50), ("2024-10-28", 48)]
)
def test_days_of_clock_changes_are_shorter_or_longer(day, readings):
    assert expected(f"{day}T00:00", f"{day}T23:30", zone="Europe/Dublin") == [readings]
    assert expected(f"{day}T00:00", f"{day}T23:30") == [48]


@pytest.mark.parametrize("zone", ["Europe/Dublin", "Australia/Sydney", "America/New_York"])
def test_expected_readings_are_the_half_hours_that_pass(zone):
    # Counted on the other clock: half-hours of UTC, told in local time.
    year = pd.date_range("2023-01-01", "2024-01-01", freq="30min", tz=zone, inclusive="left")
    by_day = year.tz_localize(None).floor("D").value_counts().sort_index()
    assert expected("2023-01-01T00:00", "2023-12-31T23:30", zone=zone) == by_day.tolist()


def test_orders(coverage, gappy):
    assert coverage.order("id").tolist() == [0, 1, 2, 3, 4]
    readings = table(gappy).sum(axis=1).to_numpy()
    assert coverage.order("coverage").tolist() == np.argsort(readings).tolist()
    # H03 ends first of those that start on the first day, H01 starts last.
    assert coverage.order("first").tolist() == [3, 0, 2, 4, 1]
    with pytest.raises(InputError, match="sorted by 'size'"):
        coverage.order("size")


def test_a_household_without_readings_is_never_metered(tmp_path):
    readings = random_readings(households=1, days=3)
    dataset = write_dataset(tmp_path / "data", readings, households=["H00", "empty"])
    coverage = build_coverage(dataset)
    assert coverage.share.tolist() == [1.0, 0.0]
    pooled = pool_coverage(coverage, coverage.order("id"), most_rows=10, most_columns=10)
    assert pooled.metered.tolist() == [[True] * 3, [False] * 3]


def test_cells_outside_a_households_own_days_are_not_metered(coverage):
    pooled = pool_coverage(coverage, coverage.order("id"), most_rows=10, most_columns=100)
    late, early = pooled.metered[1], pooled.metered[3]
    assert late.tolist() == [False] * 9 + [True] * 21
    assert early.tolist() == [True] * 17 + [False] * 13


@given(
    shape=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    most=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    part=st.tuples(*[st.integers(-3, 15)] * 4),
    seed=st.integers(0, 99),
)
def test_pools_add_up(shape, most, part, seed):
    rng = np.random.default_rng(seed)
    readings = rng.integers(0, 49, shape).astype(np.uint16)
    coverage = Coverage(readings, np.full(shape[1], 48), np.datetime64("2024-01-01"))
    order = rng.permutation(shape[0])
    pooled = pool_coverage(
        coverage,
        order,
        households=(part[0], part[1]),
        days=(part[2], part[3]),
        most_rows=most[0],
        most_columns=most[1],
    )
    rows, columns = pooled.households, pooled.days
    assert 0 <= rows[0] < rows[1] <= shape[0]
    assert 0 <= columns[0] < columns[1] <= shape[1]
    # What was asked for is in it; where it had to be widened, one more pool may show.
    assert rows[0] <= max(min(part[0], shape[0] - 1), 0)
    assert rows[1] >= min(part[1], shape[0])
    assert pooled.readings.shape[0] <= most[0] + 1
    assert pooled.readings.shape[1] <= most[1] + 1
    shown = readings[order][slice(*rows), slice(*columns)]
    assert pooled.readings.sum() == shown.sum()
    assert pooled.expected.sum() == 48 * shown.size
    for (row, column), total in np.ndenumerate(pooled.readings):
        top, left = row * pooled.households_each, column * pooled.days_each
        cells = shown[top : top + pooled.households_each, left : left + pooled.days_each]
        assert total == cells.sum()


def test_a_dataset_of_no_readings_is_refused(tmp_path):
    dataset = write_dataset(tmp_path / "data", random_readings(households=1, days=1))
    vars(dataset)["households"] = dataset.households.assign(first=pd.NaT, last=pd.NaT)
    with pytest.raises(InputError, match="has no readings"):
        build_coverage(dataset)


def test_damaged_readings_are_told(tmp_path):
    dataset = write_dataset(tmp_path / "data", random_readings(households=1, days=9))
    file = dataset.path / "readings.parquet"
    content = bytearray(file.read_bytes())
    content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
    file.write_bytes(content)
    with pytest.raises(DatasetError, match=r"was replaced, changed or removed after it was opened"):
        build_coverage(dataset)
    with pytest.raises(DatasetError, match=r"readings\.parquet is damaged and cannot be read"):
        build_coverage(Dataset.open(dataset.path))
