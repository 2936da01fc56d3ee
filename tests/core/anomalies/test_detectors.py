"""Detectors' numbers against simple implementations."""

import numpy as np
import pytest
from scipy.stats import median_abs_deviation
from sklearn.linear_model import Ridge

from core.anomalies import (
    clock,
    distributions,
    event,
    hours,
    isolated,
    meter,
    random_readings,
    rank_households,
    rhythm,
)
from core.anomalies.homes import Homes
from core.anomalies.rearranged import gain, log_distances
from core.anomalies.statistics import (
    Splits,
    largest,
    present_mean,
    record_mean,
    ridge_residuals,
    standardize,
)
from core.anomalies.symptoms import QUANTILES, summarize, to_half_hours


@pytest.fixture(scope="module")
def symptoms(ordinary):
    return summarize(ordinary.kwh[:40])


def test_weekly_summaries(ordinary, symptoms):
    i, week = (
        map(int, np.argwhere(symptoms.usable & (symptoms.zero > 0))[0])
        if (symptoms.usable & (symptoms.zero > 0)).any()
        else (3, 5)
    )
    x = ordinary.kwh[i, week]
    quantiles = np.log(np.nanquantile(x, QUANTILES) + 0.002)
    np.testing.assert_allclose(symptoms.quantiles[i, week], quantiles, rtol=1e-4, atol=1e-4)
    days = x.reshape(7, 48)
    three = np.concatenate([np.roll(days, shift, axis=1) for shift in (-1, 0, 1)])
    np.testing.assert_allclose(symptoms.mean[i, week], np.nanmean(three, axis=0), rtol=1e-4)
    low = np.log(np.nanquantile(three, 0.2, axis=0) + 0.005).reshape(24, 2).mean(axis=1)
    np.testing.assert_allclose(symptoms.low[i, week], low, rtol=1e-3, atol=1e-4)
    hourly = np.sqrt(days.reshape(7, 24, 2).mean(axis=2))
    np.testing.assert_allclose(symptoms.day[i, week], hourly, rtol=1e-4)


def test_zeros_and_held_values():
    x = np.random.default_rng(0).random((1, 1, 336)).astype(np.float32) + 0.1
    x[0, 0, 10:20] = 0
    x[0, 0, 100:106] = 0.5  # six in a row count
    x[0, 0, 200:205] = 0.7  # five do not
    summary = summarize(x)
    assert summary.zero[0, 0] == pytest.approx(10 / 336)
    assert summary.constant[0, 0] == pytest.approx(6 / 336)


def test_links_are_correlations_of_successive_log_readings(ordinary, symptoms):
    i, week = np.argwhere(symptoms.usable & np.isfinite(ordinary.kwh[:40]).all(axis=2))[7]
    logs = np.log(ordinary.kwh[i, week] + 0.005)
    expected = np.corrcoef(logs[:-1], logs[1:])[0, 1]
    assert symptoms.linked[i, week] == pytest.approx(expected, abs=1e-5)
    assert summarize(np.ones((1, 1, 336), np.float32)).linked[0, 0] == 1


def test_readings_at_random_are_found_and_told(ordinary, plant_into):
    assert not random_readings.measure(summarize(ordinary.kwh)).any()
    weeks, _ = plant_into(ordinary, 9, "random mean", "strong", "whole")
    table = rank_households(weeks, resamples=0).table.set_index("household")
    assert table.loc["h9", ["rank", "detector"]].tolist() == [1, "random"]
    assert "jump up and down" in table.loc["h9", "reason"]


def test_weeks_with_gaps_do_not_count():
    x = np.ones((1, 3, 336), np.float32)
    x[0, 0, :120] = np.nan
    x[0, 1].reshape(7, 48)[:, 10:13] = np.nan  # three half-hours of every day
    assert summarize(x).usable.tolist() == [[False, False, True]]


def test_other_intervals_become_half_hours(ordinary):
    from dataclasses import replace

    quarter = replace(ordinary, kwh=np.repeat(ordinary.kwh, 2, axis=2) / 2, interval_minutes=15)
    np.testing.assert_allclose(to_half_hours(quarter), ordinary.kwh, rtol=1e-6)
    hourly = replace(ordinary, kwh=ordinary.kwh.reshape(*ordinary.kwh.shape[:2], 168, 2).sum(3))
    np.testing.assert_allclose(np.nansum(to_half_hours(hourly)), np.nansum(hourly.kwh), rtol=1e-4)


def test_standardize_is_robust_z(rng=None):
    values = np.random.default_rng(1).normal(size=(50, 3))
    scale = median_abs_deviation(values, axis=0, scale="normal")
    expected = (values - np.median(values, axis=0)) / scale
    np.testing.assert_allclose(standardize(values), expected, rtol=1e-3)


def test_ridge_residuals_leave_the_household_out():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(30, 4)), rng.normal(size=(30, 1))
    residuals = ridge_residuals(x, y, penalty=0.0)
    for row in (0, 17):
        others = np.delete(np.arange(30), row)
        model = Ridge(alpha=0).fit(x[others], y[others])
        assert residuals[row, 0] == pytest.approx((y[row] - model.predict(x[[row]]).ravel())[0])


def test_means_before_and_after(symptoms):
    splits = Splits.of(symptoms)
    before, after = splits.means(symptoms, symptoms.zero)
    row, cut = 5, 4
    week = splits.cuts[cut]
    usable = symptoms.usable[row]
    weekly = symptoms.zero[row]
    early = usable & (np.arange(len(usable)) < week)
    late = usable & (np.arange(len(usable)) >= week)
    assert before[row, cut] == pytest.approx(weekly[early].mean())
    assert after[row, cut] == pytest.approx(weekly[late].mean())
    assert (splits.before[row, cut], splits.after[row, cut]) == (early.sum(), late.sum())
    np.testing.assert_allclose(
        record_mean(symptoms, symptoms.low)[row], symptoms.low[row][usable].mean(axis=0), rtol=1e-5
    )


def test_largest_and_present_mean_skip_what_is_missing():
    values = np.array([[1.0, np.nan], [np.nan, np.nan]])
    assert largest(values).tolist() == [1.0, 0.0]
    means = present_mean(values, axis=1)
    assert means[0] == 1.0
    assert np.isnan(means[1])


def test_meter_measures_log_shares(symptoms):
    measured = meter.measure(symptoms)
    share = [
        week[usable].mean() for week, usable in zip(symptoms.zero, symptoms.usable, strict=True)
    ]
    np.testing.assert_allclose(measured[:, 0], np.log(np.array(share) + 0.05), rtol=1e-5)


def test_blocks_are_predicted_from_hours_that_are_not_near():
    assert len(hours.BLOCKS) == 24 * len(hours.LENGTHS)
    for inside, rest in hours.BLOCKS:
        gap = np.abs(inside[:, None] - rest[None, :])
        assert np.minimum(gap, 24 - gap).min() > hours.GUARD
    np.testing.assert_allclose(hours.WEIGHTS.sum(axis=1), 1)


def test_shifted_days_are_found_at_their_shift(symptoms):
    kwh = symptoms.kwh.copy()
    kwh[7] = np.roll(kwh[7].reshape(-1), -10).reshape(kwh[7].shape)  # stamped five hours early
    gains = gain(clock.shift_distances(summarize(kwh)))[7]
    assert abs(int(clock.shifts()[gains.argmax()]) - 10) <= 2
    assert gains.max() > gain(clock.shift_distances(symptoms))[7].max()


def test_a_day_that_no_shift_mends_is_no_wrong_clock(symptoms):
    kwh = symptoms.kwh.copy()
    kwh[7] = 0.02
    kwh[7].reshape(-1, 48)[:, 2:5] = 3.0
    homes = Homes(summarize(kwh), np.datetime64("2009-01-05"))
    assert clock.explain(homes, 7, "shifted") is None


def test_exchanged_days_are_found(symptoms):
    kwh = symptoms.kwh.copy()
    days = kwh[7].reshape(-1, 7, 48)
    days[:, 5:] *= 3
    days[:, [1, 2, 5, 6]] = days[:, [5, 6, 1, 2]]
    measured = rhythm.measure(summarize(kwh))[:, 0]
    assert measured.argmax() == 7


def test_distances_leave_the_household_out():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(40, 5))
    x[3] = 9.0
    found = log_distances(x, lambda v: [v[:, ::-1]], penalty=0.1, floor=1.0)
    center = np.median(x, axis=0)
    spread = 1.4826 * np.median(np.abs(x - center), axis=0)
    z = np.clip((x - center) / spread, -4, 4)
    weight = np.ones(40)
    for _ in range(3):
        mean, last = np.average(z, axis=0, weights=weight), weight
        scatter = (z - mean).T @ np.diag(weight) @ (z - mean)
        scatter = scatter + 0.1 * np.trace(scatter) / 5 * np.eye(5)
        squared = np.empty(40)
        for i, y in enumerate(z - mean):
            squared[i] = y @ np.linalg.inv(scatter - weight[i] * np.outer(y, y)) @ y
        weight = np.minimum(1, np.median(squared) / squared) ** 2
    moved = np.clip((x[:, ::-1] - center) / spread, -4, 4) - mean
    for i in (0, 3, 20):
        own = z[i] - mean
        inverse = np.linalg.inv(scatter - last[i] * np.outer(own, own))
        for column, y in enumerate((own, moved[i])):
            expected = np.log(last.sum() * y @ inverse @ y + 1.0)
            assert found[i, column] == pytest.approx(expected)


def test_best_run_is_the_largest_weighted_mean():
    excess = np.random.default_rng(3).normal(size=336)
    brute = max(
        np.take(excess, np.arange(start, start + length), mode="wrap").mean()
        * np.sqrt(min(length, event.FULL_LENGTH))
        for length in event.LENGTHS
        for start in range(336)
    )
    assert event.best_run(excess[None])[0] == pytest.approx(brute)


def test_squared_distances_are_products_of_halves(symptoms):
    roots = distributions.root_distributions(symptoms)
    homes = np.arange(len(symptoms))
    squared = distributions.squared_distances(roots, homes)
    first, second = roots
    assert squared[2, 9] == pytest.approx((first[2] - first[9]) @ (second[2] - second[9]))
    np.testing.assert_allclose((roots**2).sum(axis=2), 0.5, rtol=1e-6)


def test_distances_between_samples_of_one_distribution_are_zero_on_average():
    rng = np.random.default_rng(4)
    kwh = rng.gamma(2, 0.2, size=(60, 6, 336)).astype(np.float32)
    roots = distributions.root_distributions(summarize(kwh))
    squared = distributions.squared_distances(roots, np.arange(60))
    apart = squared[~np.eye(60, dtype=bool)]
    plain = ((roots[0][:, None] - roots[0][None]) ** 2).sum(axis=2)[~np.eye(60, dtype=bool)]
    assert abs(apart.mean()) < 0.02 * plain.mean()


def test_the_isolated_home_is_the_one_unlike_others(symptoms):
    kwh = symptoms.kwh.copy()
    kwh[11] = np.random.default_rng(5).choice([0.001, 3.0], size=kwh[11].shape)
    assert isolated.measure(summarize(kwh))[:, 0].argmax() == 11
