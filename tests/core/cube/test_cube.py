import json
import threading

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_dataset import random_readings, write_dataset

from core.cube import build_cube, sample_size_summary
from core.cube._scan import bins_of
from core.cube.day_table import make_day_table, merge_day_tables
from core.cube.partition import (
    Partition,
    ValueCounts,
    edge_ranks,
    edges_from_counts,
    merge_value_counts,
    value_counts,
)
from core.errors import Cancelled, InputError
from core.parallel import map_in_threads
from core.readings import Dataset, DatasetError
from core.readings.shards import split
from core.slots import slot_of


def sorted_edges(kwh: np.ndarray, bins: int) -> np.ndarray:
    """The oracle: a plain sort and ⌈k·r/T⌉ in whole numbers."""
    ordered = np.sort(kwh)
    ranks = [(k * len(ordered) + bins - 1) // bins for k in range(1, bins)]
    return np.unique(ordered[np.array(ranks) - 1])


def counted(readings: pd.DataFrame, edges: np.ndarray, interval: int) -> np.ndarray:
    """The oracle: every reading by itself, bins closed on the right."""
    ids = sorted(readings["household"].unique())
    counts = np.zeros((len(ids), 7 * 1440 // interval, len(edges) + 1), dtype=int)
    for household, time, kwh in readings[["household", "time", "kwh"]].itertuples(index=False):
        slot = (time.weekday() * 1440 + time.hour * 60 + time.minute) // interval
        counts[ids.index(household), slot, sum(edge < kwh for edge in edges)] += 1
    return counts


def assert_same(a, b):
    assert a.counts.dtype == b.counts.dtype
    np.testing.assert_array_equal(a.counts, b.counts)
    np.testing.assert_array_equal(a.edges, b.edges)
    np.testing.assert_array_equal(a.sample_sizes, b.sample_sizes)
    np.testing.assert_array_equal(a.households, b.households)


@pytest.mark.parametrize("interval", [15, 30, 60])
def test_the_cube_counts_every_reading_once(tmp_path, interval):
    readings = random_readings(households=2, days=9, interval_minutes=interval)
    dataset = write_dataset(tmp_path / "d", readings, interval_minutes=interval, row_group_size=500)
    cube = build_cube(dataset, bins=20)
    edges = sorted_edges(readings["kwh"].to_numpy(), 20)
    np.testing.assert_array_equal(cube.edges, edges)
    np.testing.assert_array_equal(cube.counts, counted(readings, edges, interval))
    np.testing.assert_array_equal(cube.sample_sizes, cube.counts.sum(axis=2))
    assert cube.counts.dtype == np.uint8
    assert cube.n_readings == len(readings)
    assert cube.n_slots == 7 * 1440 // interval


def test_bins_hold_equal_shares_of_the_reference(tmp_path):
    readings = random_readings(households=3, days=40)
    readings["kwh"] = np.random.default_rng(3).permutation(len(readings)) / 1000
    cube = build_cube(write_dataset(tmp_path / "d", readings), bins=100)
    shares = cube.counts.sum(axis=(0, 1), dtype=int)
    assert cube.n_bins == 100
    assert shares.max() - shares.min() <= 1


@given(r=st.integers(1, 10**12), bins=st.integers(2, 1000))
def test_edge_ranks_are_whole_number_ceilings(r, bins):
    ranks = edge_ranks(r, bins)
    k = np.arange(1, bins)
    for rank, step in zip(ranks.tolist(), k.tolist(), strict=True):
        assert (rank - 1) * bins < step * r <= rank * bins


watt_hours = st.integers(-3000, 3000).map(lambda number: number / 1000)
any_number = st.floats(allow_nan=False, allow_infinity=False) | watt_hours | st.just(-0.0)


@settings(max_examples=60)
@given(
    kwh=st.lists(watt_hours, min_size=1, max_size=200)
    | st.lists(any_number, min_size=1, max_size=200),
    bins=st.integers(2, 40),
    row_group_size=st.integers(1, 60),
)
def test_edges_equal_those_of_a_plain_sort(tmp_path_factory, kwh, bins, row_group_size):
    times = pd.date_range("2024-01-01", periods=len(kwh), freq="30min")
    readings = pd.DataFrame({"household": "A", "time": times, "kwh": kwh})
    path = tmp_path_factory.mktemp("sort") / "d"
    dataset = write_dataset(path, readings, row_group_size=row_group_size)
    cube = build_cube(dataset, bins=bins, threads=1)
    edges = sorted_edges(np.array(kwh) + 0.0, bins)
    np.testing.assert_array_equal(cube.edges, edges)
    expected = np.bincount(np.searchsorted(edges, kwh, side="left"), minlength=len(edges) + 1)
    np.testing.assert_array_equal(cube.counts.sum(axis=(0, 1)), expected)


@pytest.mark.parametrize("kind", ["normal", "fine grid", "float32", "huge", "one stray"])
def test_edges_of_readings_that_are_no_watt_hours(tmp_path, kind):
    rng = np.random.default_rng(5)
    readings = random_readings(households=3, days=60)
    n = len(readings)
    readings["kwh"] = {
        "normal": rng.normal(0, 1, n),
        "fine grid": np.round(rng.gamma(2, 0.2, n), 4),
        "float32": rng.gamma(2, 0.2, n).astype(np.float32).astype(float),
        "huge": np.round(rng.gamma(2, 1e6, n), 3),
        "one stray": np.append(readings["kwh"].to_numpy()[1:], 0.1 + 0.2),
    }[kind]
    cube = build_cube(write_dataset(tmp_path / "d", readings), bins=100)
    np.testing.assert_array_equal(cube.edges, sorted_edges(readings["kwh"].to_numpy(), 100))
    assert cube.counts.sum() == n


def test_negative_readings_have_bins_of_their_own(tmp_path):
    readings = random_readings(households=2, days=30)
    readings["kwh"] = np.round(readings["kwh"] - 0.3, 3)
    cube = build_cube(write_dataset(tmp_path / "d", readings), bins=10)
    np.testing.assert_array_equal(cube.edges, sorted_edges(readings["kwh"].to_numpy(), 10))
    assert cube.edges[0] < 0 < cube.edges[-1]
    np.testing.assert_array_equal(cube.counts, counted(readings, cube.edges, 30))


def test_coinciding_edges_are_merged_and_reported(tmp_path):
    readings = random_readings(households=1, days=10)
    readings["kwh"] = np.where(np.arange(480) < 400, 0.0, np.arange(480) / 1000)
    cube = build_cube(write_dataset(tmp_path / "d", readings), bins=12)
    assert cube.bins == 12
    assert cube.edges.tolist() == [0.0, 0.439]
    assert cube.n_bins == 3
    assert cube.counts.sum(axis=(0, 1)).tolist() == [400, 40, 40]


def test_a_reading_on_an_edge_belongs_to_the_bin_below():
    partition = Partition(np.array([0.1, 0.2, 0.3]), 4, 9, True)
    values = np.array([-5.0, 0.0, 0.1, 0.101, 0.2, 0.201, 0.3, 0.301, 99.0])
    expected = [0, 0, 0, 1, 1, 2, 2, 3, 3]
    assert partition.bin_of(values).tolist() == expected
    by_search = Partition(partition.edges, 4, 9, False)
    assert by_search.bin_of(values).tolist() == expected


def test_rows_in_any_order_and_shards_of_any_size_give_the_same_cube(tmp_path):
    readings = random_readings(households=5, days=15)
    expected = build_cube(write_dataset(tmp_path / "a", readings, row_group_size=10**6))
    shuffled = readings.sample(frac=1, random_state=2)
    for name, frame, size, threads in [
        ("b", readings, 97, 2),
        ("c", shuffled, 500, 2),
        ("d", shuffled, 10**6, 1),
    ]:
        cube = build_cube(
            write_dataset(tmp_path / name, frame, row_group_size=size), threads=threads
        )
        assert_same(cube, expected)


def test_many_small_shards_agree_with_one(tmp_path, monkeypatch):
    readings = random_readings(households=6, days=8)
    dataset = write_dataset(tmp_path / "a", readings, row_group_size=100)
    expected = build_cube(dataset)
    monkeypatch.setattr("core.readings.shards.SHARD_ROWS", 100)
    everybody = np.arange(6, dtype=np.int32)
    assert len(split(dataset, everybody)) == -(-len(readings) // 100)
    again = build_cube(write_dataset(tmp_path / "b", readings, row_group_size=100))
    assert_same(again, expected)


def test_shards_hold_few_households_where_histories_are_short(tmp_path, monkeypatch):
    monkeypatch.setattr("core.readings.shards.SHARD_HOUSEHOLDS", 2)
    readings = random_readings(households=7, days=2)
    dataset = write_dataset(tmp_path / "a", readings, row_group_size=96)
    shards = split(dataset, np.arange(7, dtype=np.int32))
    assert [len(shard.households) for shard in shards] == [2, 2, 2, 1]
    assert [(shard.start, shard.stop) for shard in shards] == [(0, 2), (2, 4), (4, 6), (6, 7)]


def test_partial_cubes_merge_in_any_order_and_grouping(tmp_path, monkeypatch):
    monkeypatch.setattr("core.readings.shards.SHARD_ROWS", 300)
    readings = random_readings(households=4, days=12)
    dataset = write_dataset(tmp_path / "a", readings, row_group_size=150)
    shards = split(dataset, np.arange(4, dtype=np.int32))
    cube = build_cube(dataset, bins=10)
    counts = merge_value_counts(value_counts(shard) for shard in shards)
    edges = edges_from_counts(counts, bins=10)
    np.testing.assert_array_equal(edges, cube.edges)
    partition = Partition(edges, 10, counts.n_readings, True)
    pieces = [bins_of(shard, partition=partition, interval_minutes=30) for shard in shards]
    left = merge_day_tables(
        [merge_day_tables([merge_day_tables(pieces[:2]), *pieces[2:4]]), *pieces[4:]]
    )
    right = merge_day_tables([*pieces[:3], merge_day_tables(pieces[:2:-1])][::-1])
    for merged in (left, right):
        counts, sample_sizes = merged.count(cube.n_bins)
        np.testing.assert_array_equal(merged.households, np.arange(4))
        np.testing.assert_array_equal(counts, cube.counts)
        np.testing.assert_array_equal(sample_sizes, cube.sample_sizes)
        assert counts.dtype == cube.counts.dtype


@given(st.permutations(range(4)))
def test_value_counts_merge_in_any_order(order):
    parts = [
        ValueCounts(5, np.array([1, 0, 2]), 1),
        ValueCounts(0, np.zeros(0, np.int64), 4),
        ValueCounts(-7, np.array([3]), 0),
        ValueCounts(6, np.array([1, 1, 1, 1]), 0),
    ]
    merged = merge_value_counts(parts[place] for place in order)
    assert merged.first == -7
    assert merged.counts.tolist() == [3] + [0] * 11 + [1, 1, 3, 1, 1]
    assert (merged.others, merged.n_readings) == (5, 15)


@pytest.mark.parametrize(("weeks", "dtype"), [(255, np.uint8), (256, np.uint16)])
def test_counts_have_the_smallest_type_that_holds_them(weeks, dtype):
    monday = 4 * 86_400_000_000  # 5 January 1970
    times = monday + np.arange(weeks) * 7 * 86_400_000_000
    table = make_day_table(
        np.zeros(weeks, np.int32),
        times,
        np.ones(weeks, np.uint8),
        households=np.array([0], np.int32),
        interval_minutes=60,
    )
    counts, sample_sizes = table.count(2)
    assert counts.dtype == dtype
    assert counts[0, 0].tolist() == [0, weeks]
    assert sample_sizes.sum() == weeks


def test_a_slot_of_more_than_255_equal_readings_is_counted_right(tmp_path):
    times = pd.date_range("2020-01-06", periods=300, freq="7D")
    readings = pd.DataFrame({"household": "A", "time": times, "kwh": 0.25})
    cube = build_cube(write_dataset(tmp_path / "d", readings, row_group_size=40), bins=5)
    assert cube.counts.dtype == np.uint16
    assert cube.counts[0, 0].tolist() == [300, 0]
    assert cube.sample_sizes[0, 0] == 300


def test_gaps_and_repeated_hours_fall_into_their_slots(tmp_path):
    stamps = ["1969-12-31 23:30", "1970-01-01 00:00", "2023-10-29 02:00", "2023-10-29 02:00"]
    stamps += ["2023-10-29 02:30", "2023-10-30 00:00", "2023-11-05 23:30", "2023-11-06 00:00"]
    times = pd.to_datetime(stamps)
    readings = pd.DataFrame({"household": "A", "time": times, "kwh": 1.0})
    cube = build_cube(write_dataset(tmp_path / "d", readings), bins=2)
    expected = np.bincount(slot_of(times.to_numpy(), 30), minlength=336)
    np.testing.assert_array_equal(cube.sample_sizes[0], expected)
    assert cube.sample_sizes[0, 335] == 1
    assert cube.sample_sizes[0, 0] == 2


def test_a_selection_has_a_partition_of_its_own(tmp_path):
    readings = random_readings(households=6, days=10)
    dataset = write_dataset(tmp_path / "d", readings, row_group_size=111)
    chosen = readings[readings["household"].isin(["H01", "H04"])]
    cube = build_cube(dataset, bins=15, reference_households=["H04", "H01", "H04"])
    assert cube.reference == "selection"
    assert cube.households.tolist() == [1, 4]
    assert cube.n_readings == len(chosen)
    np.testing.assert_array_equal(cube.edges, sorted_edges(chosen["kwh"].to_numpy(), 15))
    np.testing.assert_array_equal(cube.counts, counted(chosen, cube.edges, 30))


def test_choosing_everybody_is_the_whole_dataset(tmp_path):
    dataset = write_dataset(tmp_path / "d", random_readings(households=2, days=8))
    whole = build_cube(dataset)
    chosen = build_cube(dataset, reference_households=["H00", "H01"])
    assert chosen.digest == whole.digest
    assert chosen.reference == "dataset"


def test_a_household_without_readings_counts_nothing(tmp_path):
    readings = random_readings(households=2, days=8)
    ids = ["A", "H00", "H01", "Z"]
    dataset = write_dataset(tmp_path / "d", readings, households=ids)
    cube = build_cube(dataset)
    assert cube.sample_sizes.sum(axis=1).tolist() == [0, 384, 384, 0]
    with pytest.raises(InputError, match="no readings"):
        build_cube(dataset, reference_households=["Z"])


def test_one_reading_is_enough(tmp_path):
    readings = random_readings(households=1, days=1).head(1)
    cube = build_cube(write_dataset(tmp_path / "d", readings), bins=100)
    assert cube.edges.tolist() == readings["kwh"].tolist()
    assert cube.counts.sum() == 1
    assert sample_size_summary(cube) == {
        "bins": 100,
        "n_bins": 2,
        "reference": "dataset",
        "households": 1,
        "slots": 336,
        "sample_size": {"min": 0, "median": 0.0, "max": 1},
        "empty_slots": 335,
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 1}, "bins must be"),
        ({"bins": 1001}, "bins must be"),
        ({"bins": 2.5}, "bins must be"),
        ({"reference_households": []}, "choose at least one"),
        ({"reference_households": ["H0"]}, "did you mean H0"),
    ],
)
def test_wrong_options_are_refused(tmp_path, options, message):
    dataset = write_dataset(tmp_path / "d", random_readings(households=2, days=1))
    with pytest.raises(InputError, match=message):
        build_cube(dataset, **options)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_readings_that_are_no_numbers_are_refused(tmp_path, wrong):
    readings = random_readings(households=1, days=2)
    readings.loc[50, "kwh"] = wrong
    with pytest.raises(DatasetError, match="no numbers"):
        build_cube(write_dataset(tmp_path / "d", readings))


def test_the_cube_is_kept_and_read_back_memory_mapped(tmp_path, monkeypatch):
    readings = random_readings(households=2, days=10)
    readings["kwh"] /= 3
    dataset = write_dataset(tmp_path / "d", readings)
    built = build_cube(dataset, bins=30)
    assert isinstance(built.counts, np.memmap)
    monkeypatch.setattr("core.cube.build.bin_readings", None)
    kept = build_cube(Dataset.open(tmp_path / "d"), bins=30)
    assert_same(kept, built)
    assert isinstance(kept.counts, np.memmap)
    assert (kept.digest, kept.bins, kept.n_readings) == (built.digest, 30, len(readings))
    for array in (kept.counts, kept.sample_sizes, kept.edges, built.sample_sizes):
        assert not array.flags.writeable
    with pytest.raises(TypeError):
        build_cube(dataset, bins=31)  # another cube, which has to be built


@pytest.mark.parametrize("name", ["counts.npy", "sample_sizes.npy", "cube.json"])
@pytest.mark.parametrize("damage", ["cut", "flip", "remove"])
def test_a_damaged_cube_is_built_again(tmp_path, name, damage):
    dataset = write_dataset(tmp_path / "d", random_readings(households=2, days=10))
    built = build_cube(dataset)
    expected = np.array(built.counts)
    file = tmp_path / "d" / "cubes" / built.digest / name
    content = bytearray(file.read_bytes())
    if damage == "remove":
        file.unlink()
    elif damage == "cut":
        file.write_bytes(content[: len(content) // 2])
    else:
        content[len(content) // 2] ^= 4
        file.write_bytes(content)
    again = build_cube(dataset)
    np.testing.assert_array_equal(again.counts, expected)
    np.testing.assert_array_equal(again.sample_sizes, expected.sum(axis=2))
    assert json.loads((tmp_path / "d" / "cubes" / built.digest / "cube.json").read_text())


def test_where_nothing_can_be_written_the_cube_stays_in_memory(tmp_path):
    dataset = write_dataset(tmp_path / "d", random_readings(households=2, days=10))
    (tmp_path / "d" / "cubes").write_text("in the way")
    cube = build_cube(dataset)
    assert cube.counts.sum() == 2 * 480
    assert not isinstance(cube.counts, np.memmap)
    (notice,) = cube.notices
    assert "cannot be written" in notice


def test_progress_rises_to_one_and_can_cancel(tmp_path, monkeypatch):
    monkeypatch.setattr("core.readings.shards.SHARD_ROWS", 100)
    readings = random_readings(households=3, days=10)
    readings["kwh"] /= 3  # every pass over the readings is needed
    dataset = write_dataset(tmp_path / "d", readings, row_group_size=100)
    told: list[float] = []

    def cancel_halfway(fraction: float, message: str = "") -> None:
        assert message
        told.append(fraction)
        if fraction > 0.5:
            raise Cancelled

    threads = threading.active_count()
    with pytest.raises(Cancelled):
        build_cube(dataset, progress=cancel_halfway)
    assert threading.active_count() == threads
    assert not (tmp_path / "d" / "cubes").exists()
    told.clear()
    build_cube(dataset, progress=lambda fraction, message="": told.append(fraction))
    assert told == sorted(told)
    assert told[0] == 0.0
    assert told[-1] == pytest.approx(1.0)


def test_an_error_in_a_shard_reaches_the_caller():
    def fail(shard):
        raise DatasetError("broken")

    with pytest.raises(DatasetError, match="broken"):
        list(map_in_threads(2)(fail, [None] * 20))
