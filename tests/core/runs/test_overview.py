"""What a dataset holds, checked against pandas, and the store that keeps it."""

import numpy as np
import pandas as pd
import pytest
from small_dataset import random_readings, write_dataset

from core.runs import Store
from core.runs.overview import SIZE_LEVELS, make_overview, stored_overview
from core.slots import slot_of


@pytest.fixture(scope="module")
def readings() -> pd.DataFrame:
    """Four weeks of five households; one has readings on a single day, one hardly any."""
    readings = random_readings(households=5, days=28)
    one_day = readings["time"].dt.strftime("%F") == "2024-01-10"
    few = readings["time"] < "2024-01-03 04:00"
    keep = (readings["household"] < "H03") | ((readings["household"] == "H03") & one_day)
    return readings[keep | ((readings["household"] == "H04") & few)].reset_index(drop=True)


@pytest.fixture(scope="module")
def dataset(readings, tmp_path_factory):
    return write_dataset(tmp_path_factory.mktemp("overview") / "data", readings)


def test_the_reference_is_the_distribution_of_all_readings(dataset, readings):
    reference = make_overview(dataset).reference
    kwh = readings["kwh"].to_numpy()
    edges = np.concatenate([[-np.inf], reference.edges, [np.inf]])
    expected = pd.cut(readings["kwh"], edges).value_counts(sort=False)
    np.testing.assert_array_equal(reference.readings, expected)
    assert (reference.lowest, reference.highest) == (kwh.min(), kwh.max())
    assert reference.share.sum() == pytest.approx(1)
    assert reference.bins == 100
    assert reference.n_bins == len(reference.edges) + 1


def test_slot_sizes_are_quantiles_over_households(dataset, readings):
    sizes = (
        readings.groupby(["household", slot_of(readings["time"].to_numpy(), 30)])
        .size()
        .unstack(fill_value=0)
    )
    np.testing.assert_allclose(
        make_overview(dataset).slot_sizes, sizes.quantile(SIZE_LEVELS).to_numpy()
    )


def test_households_that_maps_do_not_show_are_named(dataset):
    left_out = make_overview(dataset).left_out
    assert left_out.to_dict("records") == [
        {
            "unit": "profiles",
            "label": "H03",
            "m": 48,
            "reason": "more than 5% of the slots empty",
        },
        {"unit": "profiles", "label": "H04", "m": 8, "reason": "fewer than 20 readings"},
        {"unit": "households", "label": "H04", "m": 8, "reason": "fewer than 20 readings"},
    ]


def test_a_map_of_nothing_is_told(tmp_path):
    tiny = random_readings(households=1, days=1).head(5)
    overview = make_overview(write_dataset(tmp_path / "data", tiny))
    assert len(overview.left_out) == 0
    assert [notice.split(" can be shown")[0] for notice in overview.notices] == [
        "none of 1 profiles",
        "none of 1 households",
    ]


def test_it_is_kept_and_comes_back_the_same(dataset, tmp_path, monkeypatch):
    store = Store(tmp_path / "store")
    assert stored_overview(dataset, store) is None
    made = make_overview(dataset, store=store)
    monkeypatch.delattr("core.runs.overview.count_days")  # it must not be counted again
    kept = make_overview(dataset, store=store)
    np.testing.assert_array_equal(kept.coverage.readings, made.coverage.readings)
    np.testing.assert_array_equal(kept.coverage.expected, made.coverage.expected)
    np.testing.assert_array_equal(kept.slot_sizes, made.slot_sizes)
    np.testing.assert_array_equal(kept.reference.edges, made.reference.edges)
    np.testing.assert_array_equal(kept.reference.readings, made.reference.readings)
    assert kept.reference.highest == made.reference.highest
    assert kept.notices == made.notices
    pd.testing.assert_frame_equal(kept.left_out, made.left_out)


def test_a_disk_that_does_not_take_it_is_no_error(dataset, tmp_path):
    (tmp_path / "file").touch()
    store = Store(tmp_path / "file" / "store")
    assert make_overview(dataset, store=store).reference.bins == 100
    assert stored_overview(dataset, store) is None
