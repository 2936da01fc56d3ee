"""The density of a map away from its points."""

import numpy as np
import pytest

from core.density import hdr_density, survey
from core.density.map_density import EXACT_POINTS, Plane


def cloud(n: int, dim: int = 2) -> np.ndarray:
    rng = np.random.default_rng(4)
    y = rng.normal(size=(n, dim)) * np.arange(1, dim + 1)
    y[: n // 10] = rng.normal(size=(n // 10, dim)) * 0.2 + 6
    y[0] = 30.0
    return y


def direct(y: np.ndarray, places: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Mean of Gaussian kernels, written out."""
    inverse = np.linalg.inv(covariance)
    height = 1 / np.sqrt(np.linalg.det(2 * np.pi * covariance))
    away = places[:, None] - y[None]
    return height * np.exp(-0.5 * np.einsum("ijk,kl,ijl->ij", away, inverse, away)).mean(axis=1)


def test_density_anywhere_is_that_of_the_kernels():
    y = cloud(3000)
    bandwidth = hdr_density(y).bandwidth
    places = np.concatenate([np.random.default_rng(5).normal(size=(40, 2)), [[20, 3], [29, 30.5]]])
    found = survey(y).at(places, left_out=np.full(42, -1))
    expected = direct(y, places, bandwidth)
    np.testing.assert_allclose(found[:40], expected[:40], rtol=2e-3)
    # Where there is next to nothing, a grid says nothing: those are summed up one by one.
    np.testing.assert_allclose(found[40:], expected[40:], rtol=1e-9)
    assert found[40] < 1e-12


@pytest.mark.parametrize("n", [EXACT_POINTS, 4 * EXACT_POINTS])
def test_at_the_points_themselves_it_is_their_density(n):
    y = cloud(n)
    own = hdr_density(y).density
    land = survey(y)
    found = land.at(y, left_out=np.arange(n))
    np.testing.assert_allclose(found, own, rtol=5e-3, atol=1e-9 * own.max())
    lowest = np.argsort(own)[: EXACT_POINTS // 2]
    np.testing.assert_array_equal(found[lowest], own[lowest])
    with_itself = land.at(y, left_out=np.full(n, -1))
    assert (with_itself[lowest] > own[lowest]).all()


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_a_place_by_itself_has_the_same_density(dim):
    y = cloud(2500, dim)
    land = survey(y)
    places = np.concatenate([y[5:9] + 0.1, y[:1] + 3])
    none = np.full(len(places), -1)
    together = land.at(places, left_out=none)
    alone = [land.at(place[None], left_out=none[:1])[0] for place in places]
    np.testing.assert_array_equal(together, alone)


def test_more_than_two_axes_are_seen_in_their_plane():
    y = cloud(300, 4)
    plane = Plane.of(y)
    centred = y - y.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    found = plane(y)
    expected = centred @ axes[:2].T
    for axis in range(2):
        sign = np.sign(found[:, axis] @ expected[:, axis])
        np.testing.assert_allclose(found[:, axis], sign * expected[:, axis], atol=1e-9)
    assert "first two principal components of 4 axes" in plane.notices[0]
    assert Plane.of(y[:, :2]).notices == ()


def test_the_wide_bandwidth_is_that_of_an_averaged_shifted_histogram():
    """R's ash2 with hdrcde's settings: 20 × 20 bins over 1.3 ranges, biweight of 5 bins."""
    y = cloud(4000)[1:]
    low, high = y.min(axis=0), y.max(axis=0)
    edges = [
        np.linspace(a - 0.15 * (b - a), b + 0.15 * (b - a), 21)
        for a, b in zip(low, high, strict=True)
    ]
    counts, *_ = np.histogram2d(y[:, 0], y[:, 1], bins=edges)
    weights = (1 - (np.arange(-4, 5) / 5) ** 2) ** 2
    weights /= weights.sum()
    smooth = np.apply_along_axis(np.convolve, 0, counts, weights, "same")
    smooth = np.apply_along_axis(np.convolve, 1, smooth, weights, "same")
    cell = [edge[1] - edge[0] for edge in edges]
    expected = smooth[6:14, 6:14] / len(y) / np.prod(cell)
    middles = [(edge[:-1] + edge[1:])[6:14] / 2 for edge in edges]
    places = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, 2)
    found = survey(y, bandwidth="wide").at(places, left_out=np.full(64, -1))
    # The kernel is a Gaussian of the same width, not a biweight.
    assert np.corrcoef(found, expected.ravel())[0, 1] > 0.99
    assert found.max() == pytest.approx(expected.max(), rel=0.1)


def test_the_wide_bandwidth_is_a_share_of_the_range():
    y = cloud(500)
    kernel = survey(y, bandwidth="wide").kernel
    np.testing.assert_allclose(np.diag(kernel) / np.ptp(y, axis=0), 0.124, atol=5e-4)
    line = np.column_stack([y[:, 0], 2 * y[:, 0]])
    assert survey(line, bandwidth="wide").kernel.shape == (2, 1)
    assert np.isfinite(survey(np.ones((5, 2)), bandwidth="wide").at_points()[0]).all()
