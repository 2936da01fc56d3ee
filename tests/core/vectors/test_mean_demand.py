"""Mean demand against pandas, for every unit."""

import numpy as np
import pandas as pd
import pytest
from small_dataset import write_dataset

from core.readings import DatasetError
from core.runs import RunConfig, run
from core.slots import parse_slots, slot_of
from core.vectors.mean_demand import sum_demand


@pytest.fixture(scope="module")
def readings() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    times = pd.date_range("2024-01-03 07:30", periods=48 * 40, freq="30min")
    frames = [
        pd.DataFrame({"household": name, "time": times, "kwh": rng.gamma(2, 0.2, len(times))})
        for name in ("A", "B", "C", "D")
    ]
    whole = pd.concat(frames)
    # Gaps, so that slots differ in their sample sizes.
    return whole[rng.random(len(whole)) > 0.1].reset_index(drop=True)


@pytest.fixture(scope="module")
def dataset(readings, tmp_path_factory):
    path = tmp_path_factory.mktemp("demand") / "dataset"
    return write_dataset(path, readings, households=["A", "B", "C", "D", "without"])


def test_sums_are_those_of_pandas_whatever_the_threads(readings, dataset):
    slots = slot_of(readings["time"].to_numpy(), 30)
    expected = readings.groupby(["household", slots])["kwh"].agg(["sum", "size"])
    for threads in (1, 3):
        demand = sum_demand(dataset, threads=threads)
        assert demand.kwh.shape == demand.readings.shape == (5, 336)
        np.testing.assert_allclose(demand.kwh[:4].ravel(), expected["sum"], atol=1e-7)
        np.testing.assert_array_equal(demand.readings[:4].ravel(), expected["size"])
    assert not demand.readings[4].any()
    assert np.isnan(demand.mean_of_households(np.array([4])))


@pytest.mark.parametrize("large", [4294967295.0, -4294967295.0, 1e12, 1e12 + 0.5])
def test_sums_of_large_readings_do_not_wrap(large, tmp_path):
    times = pd.date_range("2024-01-01", periods=4, freq="7D")
    readings = pd.DataFrame({"household": "A", "time": times, "kwh": [large] * 3 + [0.25]})
    dataset = write_dataset(tmp_path / "d", readings, households=["A"])
    if large > 1e12:
        with pytest.raises(DatasetError, match="no meter gives"):
            sum_demand(dataset)
    else:
        assert sum_demand(dataset).kwh[0, 0] == 3 * large + 0.25


@pytest.mark.parametrize("slots", [None, "weekend"])
@pytest.mark.parametrize("unit", ["profiles", "households"])
def test_households_have_the_mean_of_the_chosen_slots(readings, dataset, unit, slots):
    result = run(dataset, RunConfig(unit=unit, slots=slots, k=2, minimum_sample=1))
    chosen = readings
    if slots:
        wanted = parse_slots(slots, 30)
        chosen = readings[np.isin(slot_of(readings["time"].to_numpy(), 30), wanted)]
    expected = chosen.groupby("household")["kwh"].mean()
    np.testing.assert_allclose(result.units["mean_kwh"], expected, atol=1e-8)


@pytest.mark.parametrize("window", [0, 1])
def test_half_hours_have_the_mean_of_their_window(readings, dataset, window):
    result = run(
        dataset, RunConfig(unit="household-slots", window=window, k=5, minimum_sample=1, seed=3)
    )
    slots = slot_of(readings["time"].to_numpy(), 30)
    for row in (0, 1, 335, 336, 700, 1343):
        unit = result.units.iloc[row]
        apart = (slots - unit["slot"] + 168) % 336 - 168
        near = (readings["household"] == unit["household"]) & (abs(apart) <= window)
        assert unit["mean_kwh"] == pytest.approx(readings[near]["kwh"].mean(), abs=1e-8)
