import numpy as np
import pytest

from core.anomalies.change_point import change_point, change_span, permuted_p


def test_a_step_is_found_where_it_is():
    series = 0.5 * np.random.default_rng(0).normal(size=80)
    series[50:] += 3
    series[10:14] = np.nan
    step = change_point(series)
    assert step.position == pytest.approx(50, abs=1)
    assert step.after - step.before == pytest.approx(3, abs=0.6)
    before, after = series[: step.position], series[step.position :]
    total = np.nansum((series - np.nanmean(series)) ** 2)
    within = sum(np.nansum((part - np.nanmean(part)) ** 2) for part in (before, after))
    assert step.explained == pytest.approx(1 - within / total)


def test_series_that_are_short_or_flat_have_no_step():
    assert change_point(np.ones(40)) is None
    assert change_point(np.arange(10.0)) is None


def test_permuted_p_is_uniform_without_a_change():
    series = np.random.default_rng(1).normal(size=(400, 13))
    p = permuted_p(series)
    assert (p <= 0.1).mean() == pytest.approx(0.1, abs=0.05)
    assert (p <= 0.5).mean() == pytest.approx(0.5, abs=0.08)


def test_permuted_p_is_small_with_a_change_whatever_is_missing():
    series = np.random.default_rng(2).normal(size=(20, 13))
    series[:, 9:] += 6
    series[:, 3] = np.nan
    assert permuted_p(series).max() <= 0.02
    assert permuted_p(np.full((1, 13), np.nan))[0] == 1


def test_span_is_the_stretch_that_explains_most():
    series = np.random.default_rng(3).normal(size=60)
    series[20:41] += 3
    series[30] = np.nan
    span = change_span(series)
    assert (span.first, span.stop) == (20, 41)
    y = np.delete(series, 30)
    inside = np.zeros(59, bool)
    inside[20:40] = True
    fitted = np.where(inside, y[inside].mean(), y[~inside].mean())
    assert span.explained == pytest.approx(
        1 - ((y - fitted) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    )


def test_no_span_without_days_around_it():
    assert change_span(np.arange(20.0)) is None
    assert change_span(np.ones(60)) is None
