import numpy as np
import pytest
from scipy.stats import false_discovery_control, kstest

from core.anomalies.detector import Statistic
from core.anomalies.evidence import (
    combined_p,
    false_discovery_rate,
    tail_values,
    week_groups,
)


def test_tails_are_minus_log_shares():
    values = np.random.default_rng(0).exponential(size=(20_000, 1))
    weeks = np.full(len(values), 10)
    tails = tail_values(values, weeks, [Statistic("x")])[:, 0]
    for share in (0.5, 0.1, 0.01):
        at = np.quantile(values, 1 - share)
        found = tails[np.abs(values[:, 0] - at).argmin()]
        assert found == pytest.approx(-np.log(share), abs=0.15)


def test_a_normal_tail_has_a_shape_above_one():
    values = np.random.default_rng(1).normal(size=(20_000, 1))
    weeks = np.full(len(values), 10)
    heavy, light = (
        tail_values(values, weeks, [Statistic("x", shape=shape)]).max() for shape in (1.0, 1.6)
    )
    assert heavy < np.log(20_000) - 2
    assert light == pytest.approx(np.log(20_000), abs=3)


def test_small_differences_do_not_count():
    values = np.zeros((100, 1))
    values[0] = 0.1
    tails = tail_values(values, np.full(100, 5), [Statistic("x", least=1.0)])
    assert tails[0, 0] == pytest.approx(np.log(2) + 0.1)


def test_short_records_are_judged_among_short_records():
    rng = np.random.default_rng(2)
    weeks = np.repeat([5, 13], 200)
    values = rng.exponential(np.where(weeks == 5, 3.0, 1.0))[:, None]
    tails = tail_values(values, weeks, [Statistic("x")])[:, 0]
    first = np.argsort(-tails)[:40]
    assert 0.3 <= (weeks[first] == 5).mean() <= 0.7


def test_groups_hold_enough_households():
    groups = week_groups(np.repeat([2, 5, 6, 13], [10, 90, 100, 100]))
    assert np.bincount(groups).min() >= 60
    assert week_groups(np.full(30, 7)).max() == 0


def test_p_of_ordinary_households_is_uniform():
    tails = np.random.default_rng(3).exponential(size=(3000, 15))
    p = combined_p(tails, np.full(3000, 13))
    assert kstest(p[p < 0.5] * 2, "uniform").statistic < 0.06
    assert (p < 0.01).mean() == pytest.approx(0.01, abs=0.01)


def test_faults_hardly_move_the_p_of_others():
    rng = np.random.default_rng(4)
    tails = rng.exponential(size=(400, 15))
    with_faults = tails.copy()
    with_faults[:30, 0] += 12
    before, after = (combined_p(each, np.full(400, 13)) for each in (tails, with_faults))
    assert after[:30].max() < 0.01
    np.testing.assert_allclose(np.log(after[30:]), np.log(before[30:]), atol=1.2)


def test_false_discovery_rate_is_benjamini_and_hochberg():
    p = np.random.default_rng(5).random(200) ** 2
    np.testing.assert_allclose(false_discovery_rate(p), false_discovery_control(p))


def test_changes_say_less_in_short_records():
    values = np.linspace(0, 10, 101)[:, None]
    statistic = Statistic("x", weeks=12)
    full, short = (tail_values(values, np.full(101, weeks), [statistic])[:, 0] for weeks in (12, 6))
    loud = full > np.log(10)
    np.testing.assert_allclose(short[loud] - np.log(10), (full[loud] - np.log(10)) / 2)
    np.testing.assert_allclose(short[~loud], full[~loud])
