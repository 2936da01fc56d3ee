"""Density, highest density regions and ranks against scipy, known mixtures and invariants."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import cdist

from core.density import LEVELS, assign_levels, hdr_density, sample_size_notice
from core.density.kde import binned_density, exact_density, plug_in_bandwidth, sphere
from core.density.regions import COVERAGES
from core.errors import Cancelled, InputError


class KdeWithCovariance(stats.gaussian_kde):
    """scipy's estimator with a given covariance matrix of the kernel."""

    def __init__(self, y, covariance):
        self.given = covariance
        super().__init__(y.T)

    def _compute_covariance(self):
        self.covariance = self.given
        self.cho_cov = np.linalg.cholesky(self.covariance)
        self.log_det = 2 * np.log(np.diag(self.cho_cov * np.sqrt(2 * np.pi))).sum()


def leave_one_out(y, covariance):
    n = len(y)
    own = 1 / np.sqrt(np.linalg.det(2 * np.pi * covariance))
    return (n * KdeWithCovariance(y, covariance)(y.T) - own) / (n - 1)


def mixture(rng, n):
    """Three components of unequal weight, spread and direction, and their density."""
    means = np.array([[0.0, 0.0], [6.0, 2.0], [-3.0, 5.0]])
    shapes = np.array(
        [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.8], [0.8, 1.0]], [[0.2, 0.0], [0.0, 2.0]]]
    )
    weights = np.array([0.5, 0.3, 0.2])
    which = rng.choice(3, n, p=weights)
    draws = np.stack([rng.multivariate_normal(m, s, n) for m, s in zip(means, shapes, strict=True)])
    return draws[which, np.arange(n)]


@pytest.mark.parametrize("d", [1, 2])
def test_exact_density_agrees_with_scipy(rng, d):
    y = mixture(rng, 700)[:, :d]
    hdr = hdr_density(y)
    assert hdr.bandwidth.shape == (d, d)
    np.testing.assert_allclose(hdr.density, leave_one_out(y, hdr.bandwidth), rtol=1e-9)


@pytest.mark.parametrize("d", [1, 2])
def test_binned_density_agrees_with_scipy(rng, d):
    y = mixture(rng, 4000)[:, :d]
    hdr = hdr_density(y)
    expected = leave_one_out(y, hdr.bandwidth)
    np.testing.assert_allclose(hdr.density, expected, atol=2e-3 * expected.max())
    # The lowest thousand are exact to the last digits, however small.
    lowest = np.argsort(expected)[:900]
    np.testing.assert_allclose(hdr.density[lowest], expected[lowest], rtol=1e-9)


def test_contours_are_the_density(rng):
    y = mixture(rng, 3000)
    hdr = hdr_density(y)
    points = hdr.contours.points().reshape(-1, 2)
    expected = KdeWithCovariance(y, hdr.bandwidth)(points.T).reshape(hdr.contours.density.shape)
    np.testing.assert_allclose(hdr.contours.density, expected, atol=5e-3 * expected.max())


def test_plug_in_equals_the_normal_reference_for_a_normal_cloud(rng):
    for n in (300, 5000):
        z = rng.normal(size=(n, 2))
        assert plug_in_bandwidth(z) == pytest.approx(n ** (-1 / 6), rel=0.15)
        z = rng.normal(size=(n, 1))
        assert plug_in_bandwidth(z) == pytest.approx((4 / 3 / n) ** (1 / 5), rel=0.15)


def test_plug_in_follows_clusters(rng):
    centres = 10 * rng.normal(size=(12, 2))
    y = centres[rng.integers(12, size=2000)] + 0.1 * rng.normal(size=(2000, 2))
    hdr = hdr_density(y)
    bandwidth = np.sqrt(np.linalg.eigvalsh(hdr.bandwidth))
    # The best for one cluster of 2000 / 12 points is 0.1 · 167^(−1/6) = 0.043.
    assert bandwidth.max() < 0.5


@pytest.mark.parametrize("far", [1e3, 1e9, 1e15])
def test_a_far_point_does_not_blur_the_map(rng, far):
    y = mixture(rng, 2500)
    alone, beside = hdr_density(y), hdr_density(np.vstack([y, [far, -far]]))
    np.testing.assert_allclose(beside.bandwidth, alone.bandwidth, rtol=0.02)
    np.testing.assert_allclose(beside.density[:-1], alone.density, rtol=0.1, atol=1e-6)
    assert beside.rank[-1] == 1
    assert beside.density[-1] == 0


@pytest.mark.parametrize("far_share", [0.03, 0.2])
def test_far_clusters_keep_their_density(rng, far_share):
    y = rng.normal(size=(3000, 2))
    y[: int(far_share * 3000)] += 1e4
    hdr = hdr_density(y)
    np.testing.assert_allclose(
        hdr.density, leave_one_out(y, hdr.bandwidth), atol=1e-2 * hdr.density.max()
    )


def test_regions_cover_fresh_draws(rng):
    hdr = hdr_density(y := mixture(rng, 4000))
    fresh = KdeWithCovariance(y, hdr.bandwidth)(mixture(rng, 6000).T)
    for coverage, threshold in zip(COVERAGES, hdr.thresholds, strict=True):
        assert np.mean(fresh >= threshold) == pytest.approx(coverage / 100, abs=0.025)


def test_small_samples_cover_fresh_draws_on_average(rng):
    covered = []
    for _ in range(30):
        hdr = hdr_density(y := mixture(rng, 200))
        fresh = KdeWithCovariance(y, hdr.bandwidth)(mixture(rng, 400).T)
        covered.append([np.mean(fresh >= threshold) for threshold in hdr.thresholds])
    # Without leave-one-out the 99 % region would hold some 4 % fewer fresh draws than it says.
    np.testing.assert_allclose(np.mean(covered, axis=0), np.array(COVERAGES) / 100, atol=0.03)


def test_levels_are_shares_of_the_points(rng):
    hdr = hdr_density(mixture(rng, 1000))
    assert LEVELS == ("1", "20", "40", "60", "80", "99", ">99")
    shares = np.cumsum(np.bincount(hdr.level, minlength=7)) / 1000
    np.testing.assert_allclose(shares[:-1], np.array(COVERAGES) / 100, atol=0.002)
    assert set(hdr.labels[hdr.typical]) == {"1"}
    assert list(hdr.typical) == list(np.argsort(-hdr.density)[:10])
    assert hdr.typical.size == 10


def test_ranks_are_a_ranking_by_density(rng):
    hdr = hdr_density(mixture(rng, 1500), n_anomalies=7)
    assert sorted(hdr.rank) == list(range(1, 1501))
    assert np.all(np.diff(hdr.density[np.argsort(hdr.rank)]) >= 0)
    assert list(hdr.rank[hdr.anomalies]) == list(range(1, 8))


def test_ties_are_ranked_by_the_kth_distance(rng):
    # Far apart from all others, the last five points have a density of exactly zero.
    y = np.vstack(
        [rng.normal(size=(200, 2)), [[0, 1e4], [0, -2e4], [3e4, 0], [0, 9e4], [5e4, 5e4]]]
    )
    hdr = hdr_density(y, k=3)
    assert np.all(hdr.density[200:] == 0)
    kth = np.sort(cdist(y[200:], y), axis=1)[:, 3]
    assert list(hdr.anomalies[:5]) == list(200 + np.argsort(-kth))


def test_rank_by_isolation_leaves_the_levels(rng):
    y, isolation = mixture(rng, 300), rng.random(300)
    by_density = hdr_density(y)
    hdr = hdr_density(y, rank_by="isolation", isolation=isolation)
    assert list(hdr.anomalies) == list(np.argsort(-isolation)[:10])
    surprise = hdr_density(y, rank_by="surprise", isolation=isolation, surprise=-isolation)
    assert list(surprise.anomalies) == list(np.argsort(isolation)[:10])
    with pytest.raises(InputError, match="needs surprise"):
        hdr_density(y, rank_by="surprise", isolation=isolation)
    assert np.array_equal(hdr.level, by_density.level)
    with pytest.raises(InputError, match="needs isolation"):
        hdr_density(y, rank_by="isolation")
    with pytest.raises(InputError, match="300 numbers"):
        hdr_density(y, rank_by="isolation", isolation=isolation[1:])


clouds = st.builds(
    lambda n, seed, spread: np.random.default_rng(seed).standard_t(2, (n, 2)) * [1, spread],
    st.integers(3, 60),
    st.integers(0, 10_000),
    st.sampled_from([1.0, 0.1, 20.0]),
)


@settings(max_examples=40)
@given(y=clouds, seed=st.integers(0, 100))
def test_permuted_points_have_permuted_results(y, seed):
    order = np.random.default_rng(seed).permutation(len(y))
    here, there = hdr_density(y), hdr_density(y[order])
    np.testing.assert_allclose(there.density, here.density[order], rtol=1e-6)
    assert np.array_equal(there.rank, here.rank[order])


@settings(max_examples=40)
@given(
    y=clouds,
    shift=st.tuples(st.floats(-50, 50), st.floats(-50, 50)),
    power=st.integers(-20, 20),
    turn=st.floats(0, 6.28),
)
def test_moved_scaled_and_turned_maps_have_the_same_levels_and_ranks(y, shift, power, turn):
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    here, there = hdr_density(y), hdr_density((y @ rotation + shift) * 2.0**power)
    log_here = np.log(here.density + 1e-12 * here.density.max())
    log_there = np.log(there.density * 4.0**power + 1e-12 * here.density.max())
    np.testing.assert_allclose(log_there, log_here, atol=1e-3)
    # Where densities are apart by more than rounding, ranks and levels are the same.
    apart = np.diff(np.sort(log_here)).min(initial=1) > 1e-2
    if apart:
        assert np.array_equal(there.rank, here.rank)
        assert np.array_equal(there.level, here.level)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_few_points_are_finite(rng, n, d):
    hdr = hdr_density(rng.normal(size=(n, d)))
    assert np.isfinite(hdr.density).all()
    assert np.isfinite(hdr.bandwidth).all()
    assert np.isfinite(hdr.contours.density).all()
    assert sorted(hdr.rank) == list(range(1, n + 1))
    assert len(hdr.typical) >= 1
    assert len(hdr.anomalies) == min(n, 10)


def test_a_line_has_the_density_along_it(rng):
    t = rng.normal(size=500)
    along, plain = hdr_density(np.c_[3 * t + 1, 4 * t - 2]), hdr_density(5 * t)
    assert "line" in along.notices[0]
    np.testing.assert_allclose(along.density, plain.density, rtol=1e-6)
    assert np.array_equal(along.level, plain.level)
    assert along.contours.points().shape[-1] == 2


@pytest.mark.parametrize("n", [2, 50, 3000])
def test_one_point_repeated(n):
    hdr = hdr_density(np.full((n, 2), 0.1))
    assert np.isfinite(hdr.density).all()
    assert np.ptp(hdr.density) == 0
    assert "coincide" in hdr.notices[0]
    # No region holds more than its share; the first by index are in.
    for code, coverage in enumerate(COVERAGES):
        held = np.flatnonzero(hdr.level <= code)
        assert np.array_equal(held, np.arange(len(held)))
        assert len(held) <= 1 + coverage / 100 * n
    assert list(hdr.typical) == list(range(len(hdr.typical)))


def levels_without_ties(density):
    """As the definition has it: the smallest region whose threshold the density reaches."""
    thresholds = np.quantile(density, 1 - np.array(COVERAGES) / 100)
    return (density[:, None] < thresholds).sum(axis=1)


@given(n=st.integers(1, 500), seed=st.integers(0, 1000))
def test_levels_without_ties_are_those_of_the_thresholds(n, seed):
    density = np.random.default_rng(seed).permutation(n) ** 2 / 7
    thresholds = np.quantile(density, 1 - np.array(COVERAGES) / 100)
    assert np.array_equal(assign_levels(density, thresholds), levels_without_ties(density))


@given(values=st.lists(st.integers(0, 5), min_size=1, max_size=300))
def test_ties_never_fill_a_region_beyond_its_share(values):
    density = np.array(values, float)
    thresholds = np.quantile(density, 1 - np.array(COVERAGES) / 100)
    level = assign_levels(density, thresholds)
    # The same points, told apart by their index, have the same number in each region at most.
    apart = levels_without_ties(density - 1e-6 * np.arange(len(density)))
    for code in range(len(COVERAGES)):
        assert np.sum(level <= code) <= np.sum(apart <= code)
    # What is denser is never in a wider region, and of equals the first come first.
    order = np.lexsort((np.arange(len(density)), -density))
    assert np.all(np.diff(level[order]) >= 0)


def test_most_points_repeated(rng):
    y = np.zeros((2000, 2))
    y[:100] = rng.normal(size=(100, 2))
    hdr = hdr_density(y)
    assert np.isfinite(hdr.density).all()
    assert np.ptp(hdr.density[100:]) == 0
    assert set(hdr.anomalies) <= set(range(100))


def test_more_axes_use_two_principal_components(rng):
    y = rng.normal(size=(300, 4)) * [1, 5, 0.1, 3]
    hdr = hdr_density(y)
    assert "principal components of 4 axes" in hdr.notices[0]
    plane = hdr_density(y[:, [1, 3]])
    assert stats.spearmanr(hdr.density, plane.density).statistic > 0.98


def test_too_wide_embeddings_say_so(rng, monkeypatch):
    monkeypatch.setattr("core.density.kde.binned.MAX_CELLS", 100)
    y = rng.standard_t(1, (4000, 2))
    hdr = hdr_density(y)
    assert "bandwidth was raised" in hdr.notices[0]
    np.testing.assert_allclose(
        hdr.density, leave_one_out(y, hdr.bandwidth), atol=2e-2 * hdr.density.max()
    )


def test_off_grid_points_are_marked_and_the_rest_see_all_their_neighbours(rng, monkeypatch):
    monkeypatch.setattr("core.density.kde.binned.MAX_CELLS", 300)
    z = rng.standard_t(1.5, (3000, 2))
    binned = binned_density(z, 0.3)
    off = np.isnan(binned.at_points)
    assert 0 < off.sum() < 1100
    exact = exact_density(z, binned.bandwidth, np.arange(3000))
    np.testing.assert_allclose(binned.at_points[~off], exact[~off], atol=1e-2 * exact.max())


def test_sphering_is_round_and_turns_with_the_cloud(rng):
    y = rng.normal(size=(4000, 2)) @ [[5, 2], [0, 0.3]] + [100, -7]
    y[:80] = 1e6  # one in fifty is far away
    z = sphere(y)(y)[80:]
    np.testing.assert_allclose(np.cov(z.T), np.eye(2), atol=0.25)


@pytest.mark.parametrize("bad", [np.zeros((0, 2)), np.zeros((3, 0)), np.zeros((2, 2, 2))])
def test_bad_shapes_are_named(bad):
    with pytest.raises(InputError, match="table of points"):
        hdr_density(bad)


def test_bad_values_are_named(rng):
    y = rng.normal(size=(10, 2))
    y[3, 1] = np.inf
    with pytest.raises(InputError, match="first 3"):
        hdr_density(y)
    with pytest.raises(InputError, match="n_anomalies"):
        hdr_density(y[:3], n_anomalies=-1)


def test_small_samples_that_rank_high_are_said(rng):
    m = rng.integers(20, 200, 100)
    followed = sample_size_notice(stats.rankdata(m + rng.normal(size=100)), m)
    assert followed is not None
    assert "sample size" in followed
    assert sample_size_notice(rng.permutation(100) + 1, m) is None
    assert sample_size_notice(np.arange(1, 101), np.full(100, 50)) is None


def test_cancel(rng):
    def cancel(fraction, message=""):
        raise Cancelled

    with pytest.raises(Cancelled):
        hdr_density(rng.normal(size=(100, 2)), progress=cancel)


@pytest.fixture
def rng():
    return np.random.default_rng(11)
