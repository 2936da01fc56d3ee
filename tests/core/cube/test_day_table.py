from datetime import date, timedelta
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_dataset import random_readings, write_dataset

from core.cube import bin_days, build_cube, build_day_table, recount
from core.cube.day_table import make_day_table, merge_day_tables
from core.errors import InputError
from core.periods import Period
from core.readings import Dataset


def counted(readings: pd.DataFrame, edges: np.ndarray, ids: list[str]) -> np.ndarray:
    """The oracle: every reading by itself, bins closed on the right."""
    counts = np.zeros((len(ids), 336, len(edges) + 1), dtype=int)
    slots = readings["time"].dt.day_of_week * 48 + readings["time"].dt.hour * 2
    slots += readings["time"].dt.minute // 30
    for household, slot, kwh in zip(readings["household"], slots, readings["kwh"], strict=True):
        counts[ids.index(household), slot, sum(edge < kwh for edge in edges)] += 1
    return counts


@pytest.fixture(scope="module")
def readings() -> pd.DataFrame:
    """Three households, one of them late, with a gap and the hour that is repeated in autumn."""
    frame = random_readings(households=3, days=50)
    frame["time"] += pd.Timestamp("2023-09-20") - frame["time"].min()
    late = (frame["household"] == "H02") & (frame["time"] < "2023-10-11")
    gap = (frame["household"] == "H01") & (frame["time"].dt.strftime("%m-%d") == "10-03")
    frame = frame[~late & ~gap]
    again = frame[frame["time"].dt.strftime("%m-%d %H") == "10-29 01"].copy()
    again["kwh"] = np.round(again["kwh"] * 2.5 + 0.01, 3)
    return pd.concat([frame, again]).sort_values(["household", "time"], kind="stable")


@pytest.fixture(scope="module")
def dataset(readings, tmp_path_factory) -> Dataset:
    return write_dataset(tmp_path_factory.mktemp("days") / "d", readings, row_group_size=700)


PERIODS = [
    Period.parse("2023-10-01", "2023-10-31"),
    Period.parse("2023-10-29", "2023-10-29"),
    Period.parse(months="11"),
    Period.parse("2023-10-02", "2023-11-05", [10]),
]


@pytest.mark.parametrize("period", PERIODS, ids=str)
@pytest.mark.parametrize("fractions", [False, True])
def test_a_period_counts_its_own_readings(readings, period, fractions, tmp_path):
    if fractions:  # readings that are no whole watt-hours take another way
        readings = readings.assign(kwh=readings["kwh"] / 3)
    dataset = write_dataset(tmp_path / "d", readings, row_group_size=700)
    whole = build_cube(dataset, bins=20)
    cube = build_cube(dataset, bins=20, period=period)
    inside = period.holds(readings["time"].to_numpy())
    expected = counted(readings[inside], whole.edges, ["H00", "H01", "H02"])
    np.testing.assert_array_equal(cube.counts, expected)
    np.testing.assert_array_equal(cube.sample_sizes, expected.sum(axis=2))
    np.testing.assert_array_equal(cube.edges, whole.edges)
    assert cube.period == period
    assert cube.digest != whole.digest
    again = recount(dataset, edges=whole.edges, bins=20, period=period)
    np.testing.assert_array_equal(again.counts, cube.counts)


days = st.integers(0, 60).map(lambda step: date(2023, 9, 15) + timedelta(days=step))


@settings(max_examples=40)
@given(cuts=st.lists(days, min_size=1, max_size=4).map(lambda found: sorted(set(found))))
def test_periods_that_make_up_the_record_add_up_to_it(dataset, cuts):
    cube, table = build_day_table(dataset, bins=20)
    one = timedelta(days=1)
    ends = [*(cut - one for cut in cuts), None]
    parts = [Period(*pair) for pair in zip([None, *cuts], ends, strict=True)]
    counts, sizes = zip(*(table.count(cube.n_bins, period=part) for part in parts), strict=True)
    np.testing.assert_array_equal(np.sum(counts, axis=0, dtype=int), cube.counts)
    np.testing.assert_array_equal(np.sum(sizes, axis=0), cube.sample_sizes)


@settings(max_examples=60)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 2), st.integers(-60, 60), st.integers(0, 6)),
        min_size=1,
        max_size=60,
    ),
    cuts=st.lists(st.integers(0, 60), max_size=3),
)
def test_readings_in_any_order_and_grouping_give_one_table(rows, cuts):
    """Hours around 1970, some of them several times."""
    owners, hours, values = (np.array(column) for column in zip(*rows, strict=True))
    codes = np.array([3, 5, 8], dtype=np.int32)

    def table(part):
        return make_day_table(
            owners[part].astype(np.int32),
            hours[part] * 3_600_000_000,
            values[part].astype(np.uint8),
            households=codes,
            interval_minutes=60,
        )

    ends = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    parts = [slice(*pair) for pair in pairwise(ends)]
    merged = merge_day_tables([table(part) for part in parts][::-1], households=codes)
    ordered = table(np.lexsort((values, hours, owners)))
    for name in ("starts", "days", "values", "repeated"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(ordered, name))
    counts, sizes = merged.count(7)
    expected = np.zeros((3, 168, 7), dtype=int)
    np.add.at(expected, (owners, (hours + 72) % 168, values), 1)
    np.testing.assert_array_equal(counts, expected)
    np.testing.assert_array_equal(sizes, expected.sum(axis=2))


def test_one_byte_a_reading_and_two_where_bins_are_many(dataset):
    _, few = build_day_table(dataset, bins=100)
    _, many = build_day_table(dataset, bins=900)
    assert (few.values.dtype, many.values.dtype) == (np.uint8, np.uint16)
    assert len(few.days) == 49 + 50 + 29
    assert len(few.repeated) == 3 * 2
    assert few.count(900)[0].dtype == np.uint8


def test_a_selection_with_a_period_has_a_partition_of_its_own(readings, dataset):
    period = PERIODS[0]
    cube = build_cube(dataset, bins=15, reference_households=["H00", "H02"], period=period)
    chosen = readings[readings["household"].isin(["H00", "H02"])]
    chosen = chosen[period.holds(chosen["time"].to_numpy())]
    ordered = np.sort(chosen["kwh"].to_numpy())
    ranks = [-(-k * len(ordered) // 15) for k in range(1, 15)]
    np.testing.assert_array_equal(cube.edges, np.unique(ordered[np.array(ranks) - 1]))
    np.testing.assert_array_equal(cube.counts, counted(chosen, cube.edges, ["H00", "H02"]))
    assert cube.n_readings == len(chosen)


@pytest.mark.parametrize("damage", ["flip", "remove", "from before there were days"])
def test_damaged_or_missing_days_are_made_again(readings, tmp_path, damage):
    dataset = write_dataset(tmp_path / "d", readings)
    whole, table = build_day_table(dataset, bins=20)
    expected = np.array(table.values)
    folder = dataset.path / "cubes" / whole.digest
    if damage == "flip":
        content = bytearray((folder / "day_values.npy").read_bytes())
        content[len(content) // 2] ^= 4
        (folder / "day_values.npy").write_bytes(content)
    elif damage == "remove":
        (folder / "day_days.npy").unlink()
    else:
        for file in folder.glob("day_*"):
            file.unlink()
    again, made = build_day_table(dataset, bins=20)
    np.testing.assert_array_equal(made.values, expected)
    np.testing.assert_array_equal(again.counts, whole.counts)
    assert (folder / "day_values.npy").is_file()


def test_given_bins_serve_the_days_of_another_dataset(readings, dataset):
    cube, table = build_day_table(dataset, bins=20)
    again = bin_days(dataset, edges=cube.edges, bins=20)
    np.testing.assert_array_equal(again.values, table.values)
    np.testing.assert_array_equal(again.repeated, table.repeated)


def test_a_period_without_readings_is_refused(dataset):
    with pytest.raises(InputError, match="before the first reading"):
        build_cube(dataset, period=Period.parse(last="2020-01-01"))
    with pytest.raises(InputError, match="no day of the period Jul only"):
        recount(dataset, edges=np.array([0.1]), bins=2, period=Period.parse(months="7"))
