"""Quantiles over the week against pandas, density curves against their definition."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.errors import InputError
from core.figures.demand_summary import REGIONS, demand_curve, week_quantiles


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_week_quantiles_agree_with_pandas(rng):
    times = pd.date_range("2024-02-01 13:00", periods=4000, freq="30min")
    kwh = rng.gamma(1.5, 0.3, len(times))
    keep = rng.random(len(times)) < 0.8
    times, kwh = times[keep], kwh[keep]
    week = week_quantiles(times.to_numpy(), kwh, 30)
    slots = times.day_of_week * 48 + times.hour * 2 + times.minute // 30
    grouped = pd.Series(kwh).groupby(np.asarray(slots))
    np.testing.assert_allclose(week.median, grouped.median())
    for region, low, high in zip(REGIONS, week.low, week.high, strict=True):
        tail = (100 - region) / 200
        np.testing.assert_allclose(low, grouped.quantile(tail))
        np.testing.assert_allclose(high, grouped.quantile(1 - tail))
    assert week.days[1] == pytest.approx(1 / 48)


def test_slots_without_readings_are_nan():
    times = np.array(["2024-01-01T00:00", "2024-01-08T00:00"], dtype="datetime64[m]")
    week = week_quantiles(times, np.array([1.0, 3.0]), 60)
    assert week.median[0] == 2
    assert len(week.median) == 168
    assert np.isnan(week.median[1:]).all()


def test_demand_curve_is_a_density_that_starts_at_zero(rng):
    kwh = rng.exponential(0.5, 3000)
    values, density = demand_curve(kwh)
    assert values[0] == 0
    assert np.trapezoid(density, values) == pytest.approx(1, abs=0.01)
    # Without reflection at zero the curve would lose half of its height there.
    at = np.interp([0.02, 0.5, 1.0], values, density)
    np.testing.assert_allclose(at, stats.expon(scale=0.5).pdf([0.02, 0.5, 1.0]), rtol=0.15)


def test_demand_curve_of_net_export_reaches_below_zero(rng):
    values, density = demand_curve(rng.normal(0, 1, 2000))
    assert values[0] < -3
    np.testing.assert_allclose(
        np.interp([-1.0, 0.0, 1.0], values, density), stats.norm.pdf([-1, 0, 1]), rtol=0.1
    )


@pytest.mark.parametrize("kwh", [[0.0], [0.3, 0.3, 0.3], [0, 0, 0, 0, 5.0]])
def test_demand_curves_of_odd_readings_are_finite(kwh):
    values, density = demand_curve(np.array(kwh))
    assert np.isfinite(values).all()
    assert np.isfinite(density).all()
    assert np.trapezoid(density, values) == pytest.approx(1, abs=0.05)


def test_no_readings_are_an_error():
    with pytest.raises(InputError, match="no readings"):
        demand_curve(np.array([]))
    with pytest.raises(InputError, match="1 times for 2 readings"):
        week_quantiles(np.array(["2024-01-01"], dtype="datetime64[m]"), np.ones(2), 30)
