import numpy as np
import pandas as pd
import pytest
from small_dataset import random_readings, write_dataset

from core.errors import InputError
from core.readings import Dataset
from core.runs import RunConfig, Store
from core.segments import find_segments
from core.segments.naming import BETWEEN
from core.segments.week_points import read_week_points


@pytest.fixture(scope="module")
def demo(demo_path):
    return Dataset.open(demo_path)


def test_every_household_has_a_segment_or_is_between(demo):
    found = find_segments(demo)
    assert set(found.table["household"]) | set(found.left_out) == set(demo.households["household"])
    assert len(set(found.names)) == len(found.names) >= 2
    assert set(found.table["segment"]) <= {*found.names, BETWEEN}
    sizes = {name: len(own) for name, own in found.groups().items()}
    assert min(sizes.values()) >= 5
    parts = [part for name in found.names for part in found.parts[name]]
    assert len(set(parts)) == len(parts) >= len(found.names)
    for (segment, part), own in found.table.groupby(["segment", "part"]):
        assert part in found.parts.get(segment, (BETWEEN,))
        assert len(own) >= 5 or segment == BETWEEN
    first = found.table.iloc[0]
    expected = 48 * demo.readings(first["household"])["kwh"].mean()
    assert first["kwh_per_day"] == pytest.approx(expected, rel=0.02)


def test_it_is_kept_and_fetched(demo, tmp_path, monkeypatch):
    store = Store(tmp_path)
    made = find_segments(demo, store=store)
    monkeypatch.setattr("core.segments.find._find", lambda *_: pytest.fail("found again"))
    kept = find_segments(demo, store=store)
    pd.testing.assert_frame_equal(made.table, kept.table)
    assert (made.names, made.agreement, made.found) == (kept.names, kept.agreement, kept.found)
    with pytest.raises(pytest.fail.Exception):
        find_segments(demo, detail=1, store=store)


def test_shares_of_a_part_of_the_week_are_those_of_the_readings(demo):
    points = read_week_points(demo, RunConfig())
    household = points.households[2]
    readings = demo.readings(household)
    from core.cube import build_cube

    edges = build_cube(demo).edges
    time = readings["time"]
    week = int(np.flatnonzero(points.known[2])[0])
    monday = time.min().normalize() - pd.Timedelta(days=time.min().day_of_week)
    begin = monday + pd.Timedelta(weeks=week)
    inside = readings[
        time.between(begin, begin + pd.Timedelta(days=5), inclusive="left") & (time.dt.hour < 3)
    ]
    bins = np.searchsorted(edges, inside["kwh"], side="left")
    n_bins = len(edges) + 1
    expected = np.bincount(bins * 10 // n_bins, minlength=10) / len(inside)
    np.testing.assert_allclose(points.shares[2, week, 0], expected, atol=1e-6)


def test_chosen_households_alone(demo):
    ids = demo.households["household"].tolist()[:30]
    found = find_segments(demo, RunConfig(households=ids))
    assert set(found.table["household"]) == set(ids)


def test_too_few_weeks(tmp_path):
    dataset = write_dataset(tmp_path / "short", random_readings(households=3, days=20))
    with pytest.raises(InputError, match="no household has 4 whole weeks"):
        find_segments(dataset)


@pytest.mark.parametrize("interval", [15, 60, 120])
def test_other_intervals(tmp_path, interval):
    readings = random_readings(households=24, days=42, interval_minutes=interval)
    dataset = write_dataset(tmp_path / "d", readings, interval_minutes=interval)
    found = find_segments(dataset)
    own = readings[readings["household"] == "H05"]["kwh"].mean() * 24 * 60 / interval
    row = found.table.set_index("household").loc["H05"]
    assert row["kwh_per_day"] == pytest.approx(own, rel=0.02)
