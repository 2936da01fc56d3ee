from dataclasses import replace

import numpy as np
import pytest

from core import Dataset, RunConfig, find_anomalies
from core.anomalies import rank_half_hours
from core.anomalies.find import NOTHING
from core.anomalies.half_hours import _count_half_hours, _unexplained
from core.progress import silent


@pytest.fixture(scope="module")
def charged(ordinary, plant_into):
    return plant_into(ordinary, 7, "charging", "strong", "whole")


def test_planted_half_hours_come_first(charged):
    weeks, planted = charged
    found = rank_half_hours(weeks)
    assert len(found.table) == 336 * len(weeks.households)
    own = found.table[found.table["household"] == "h7"].head(40)
    assert set(own["slot"]) <= set(planted.slots.tolist())
    assert own["rank"].median() < 0.005 * len(found.table)
    assert (own["direction"] == "higher").all()
    assert own["kwh_per_week"].mean() == pytest.approx(1.5, rel=1 / 3)
    assert own["reason"].str.contains("uses more than similar homes").all()
    assert found.table["rank"].tolist() == list(range(1, len(found.table) + 1))
    assert (found.table["reason"][found.table["p"] > 0.1] == NOTHING).all()


def test_one_household_and_some_half_hours(charged):
    weeks, _ = charged
    whole = rank_half_hours(weeks).table
    some = rank_half_hours(weeks, households=["h7"], slots=np.arange(10)).table
    assert set(zip(some["household"], some["slot"], strict=True)) == {("h7", s) for s in range(10)}
    both = some.merge(whole, on=["household", "slot"], suffixes=("", "_whole"))
    np.testing.assert_array_equal(both["p"], both["p_whole"])


def test_other_half_hours_of_the_household_explain_nothing(ordinary):
    """A household that is odd at all hours is odd at each, though its hours are alike."""
    kwh = ordinary.kwh.copy()
    kwh[3] = np.where(np.isfinite(kwh[3]), 2.0, np.nan)
    table = rank_half_hours(replace(ordinary, kwh=kwh)).table
    assert (table["p"][table["household"] == "h3"] <= 0.1).mean() > 0.9
    assert table["household"].iloc[0] == "h3"


def test_chance_is_taken_off():
    rng = np.random.default_rng(1)
    kwh = rng.gamma(2, 0.2, size=(60, 8, 336)).astype(np.float32)
    usable = np.ones((60, 8), bool)
    similar = np.array([np.setdiff1d(np.arange(60), [row])[:20] for row in range(60)])
    counts, totals, sizes = _count_half_hours(kwh, usable, 1)
    excess, gap = _unexplained(counts, totals, sizes, similar, silent)
    assert abs(excess.mean()) < 0.02
    np.testing.assert_allclose(totals, kwh.sum(axis=1), rtol=1e-5)
    expected = kwh[5].mean(axis=0) - kwh[similar[5]].mean(axis=(0, 1))
    np.testing.assert_allclose(gap[5], expected, atol=1e-5)


def test_window_wraps_around_the_week():
    kwh = np.arange(336, dtype=np.float32)[None, None] / 336
    counts, _, sizes = _count_half_hours(kwh, np.ones((1, 1), bool), 1)
    assert (counts.sum(axis=2) == 3).all()
    assert (sizes == 1).all()
    assert counts[0, 0, -1] == 1  # the last half-hour of the week is beside the first


def test_units_of_a_dataset(demo_path):
    dataset = Dataset.open(demo_path)
    name = dataset.households["household"].iloc[3]
    found = find_anomalies(dataset, RunConfig(unit="slots", household=name, slots="Mon18:00-20:00"))
    assert found.table["slot"].sort_values().tolist() == [36, 37, 38, 39]
    assert set(found.table["household"]) == {name}
