import numpy as np
import pytest
from scipy.stats import ttest_ind

from core.groups.permutation import Deals, adjusted_tail_share, group_distances, tail_share
from core.vectors import Vectors


def random_shares(rng, n, blocks, bins):
    return rng.dirichlet(np.ones(bins), size=(n, blocks))


@pytest.mark.parametrize("distance", ["tv", "hellinger", "js"])
def test_distance_is_that_of_the_groups_mean_distributions(distance):
    rng = np.random.default_rng(1)
    shares = random_shares(rng, 9, 4, 5)
    x = np.sqrt(shares / 2) if distance == "hellinger" else shares
    vectors = Vectors.from_array(x.reshape(9, -1).astype(np.float32), distance=distance, blocks=4)
    in_first = np.arange(9) < 4
    found = group_distances(vectors, np.arange(9), Deals.of(in_first, 19, 1))[0]
    p, q = shares[:4].mean(axis=0), shares[4:].mean(axis=0)
    middle = (p + q) / 2
    entropy = (p * np.log2(p / middle) + q * np.log2(q / middle)).sum(axis=1) / 2
    expected = {
        "tv": (np.abs(p - q).sum(axis=1) / 2).mean(),
        "hellinger": np.sqrt((1 - np.sqrt(p * q).sum(axis=1)).mean()),
        "js": entropy.mean(),
    }[distance]
    assert found == pytest.approx(expected, rel=1e-4)


def test_welch_is_that_of_scipy():
    rng = np.random.default_rng(2)
    values = rng.gamma(2, size=(15, 3))
    in_first = np.arange(15) < 6
    found = Deals.of(in_first, 19, 1).t_statistics(values)[0]
    expected = ttest_ind(values[:6], values[6:], equal_var=False).statistic
    np.testing.assert_allclose(found, expected)


def test_every_deal_keeps_the_sizes():
    deals = Deals.of(np.arange(10) < 3, 50, 1)
    assert ((deals.first > 0).sum(axis=1) == 3).all()
    assert ((deals.first > 0) ^ (deals.second > 0)).all()


def test_the_smallest_p_is_one_in_all_deals():
    deals = Deals.of(np.arange(40) < 20, 99, 1)
    values = np.where(np.arange(40) < 20, 5.0, 0.0)[:, None]
    assert tail_share(deals.differences(values))[0] == 0.01


def test_adjusted_p_is_never_below_the_plain_one():
    rng = np.random.default_rng(3)
    t = Deals.of(np.arange(20) < 10, 99, 1).t_statistics(rng.normal(size=(20, 8)))
    assert (adjusted_tail_share(t) >= tail_share(t)).all()


def rejections(repetitions: int, seed: int) -> tuple[float, float]:
    """Share of p ≤ 5 % of the distance, and of the smallest adjusted p, without a difference."""
    rng = np.random.default_rng(seed)
    # Homes differ, and some by much; their labels are arbitrary.
    shares = random_shares(rng, 24, 2, 6) ** 2
    shares /= shares.sum(axis=2, keepdims=True)
    vectors = Vectors.from_array(shares.reshape(24, -1).astype(np.float32), distance="tv", blocks=2)
    values = rng.gamma(0.5, size=(24, 6))
    by_distance = by_hours = 0
    for repetition in range(repetitions):
        in_first = rng.permutation(24) < 9
        deals = Deals.of(in_first, 99, repetition)
        by_distance += (
            tail_share(group_distances(vectors, np.arange(24), deals)[:, None])[0] <= 0.05
        )
        by_hours += adjusted_tail_share(deals.t_statistics(values)).min() <= 0.05
    return by_distance / repetitions, by_hours / repetitions


def test_one_in_twenty_shuffled_labels_is_significant_at_5_percent():
    for share in rejections(5000, seed=4):
        assert share == pytest.approx(0.05, abs=0.01)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 15))
def test_the_size_of_the_test_at_length(seed):
    for share in rejections(40_000, seed=seed):
        assert share == pytest.approx(0.05, abs=0.005)
