"""The corrected density against loops, against known densities, and its invariants."""

import numpy as np
import pytest
from embedding_points import neighbors_of
from scipy import stats

from core.density import corrected, hdr_density, learn_metric, survey
from core.density.corrected import correct
from core.errors import Cancelled


def written_out(y, dual, r, places=None, area=None, left_out=None):
    """(1/N) Σ_i r^−d (det H_j / det H_i)^½ K(‖H_i^−½ (y_j − y_i)‖ / r), point by point."""
    n, d = y.shape
    places = y if places is None else places
    area = np.sqrt(np.linalg.det(dual)) if area is None else area
    left_out = np.arange(n) if left_out is None else left_out
    found = np.zeros(len(places))
    for j, place in enumerate(places):
        others = [i for i in range(n) if i != left_out[j]]
        for i in others:
            values, vectors = np.linalg.eigh(dual[i])
            root = vectors @ np.diag(values**-0.5) @ vectors.T
            away = np.linalg.norm(root @ (place - y[i])) / r
            kernel = np.exp(-(away**2) / 2) / (2 * np.pi) ** (d / 2)
            found[j] += area[j] / np.sqrt(np.linalg.det(dual[i])) * kernel / r**d
        found[j] /= len(others)
    return found


def warped(rng, n, d=2):
    """Points of a normal distribution, a map that warps them, and the metric of the map."""
    x = rng.normal(size=(n, d))
    y = np.arctan(2 * x) + 0.1 * x
    near = neighbors_of(x, 15)
    return x, y, near, learn_metric(y, near.indices, near.distances)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_agrees_with_the_formula_written_out(rng, d):
    _, y, _, metric = warped(rng, 90, d)
    field = correct(survey(y), y, metric, bandwidth="plug-in")
    density, exact = field.at_points()
    np.testing.assert_allclose(density, written_out(y, metric.dual, field.radius), rtol=1e-10)
    assert np.array_equal(exact, np.arange(90))


def test_agrees_with_the_formula_at_new_points(rng):
    x, y, *_ = warped(rng, 100)
    old = np.arange(90)
    kept = neighbors_of(x[old], 15)
    metric = learn_metric(y[old], kept.indices, kept.distances)
    field = correct(survey(y[old]), y[old], metric, bandwidth="plug-in")
    apart = np.linalg.norm(x[90:, None] - x[None, old], axis=2)
    indices = np.argsort(apart, axis=1)[:, :15]
    dual = metric.at(y[old], y[90:], indices, np.take_along_axis(apart, indices, axis=1))
    area = np.sqrt(np.linalg.det(dual))
    left_out = np.array([-1, 3, -1, -1, 7, -1, -1, -1, -1, -1])
    found = field.at(y[90:], area, left_out=left_out)
    expected = written_out(y[old], metric.dual, field.radius, y[90:], area, left_out)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_merged_kernels_are_nearly_exact_and_the_lowest_exact(rng, monkeypatch):
    _, y, _, metric = warped(rng, 2500)
    field = correct(survey(y), y, metric, bandwidth="plug-in")
    expected, _ = field.at_points()
    monkeypatch.setattr(corrected, "ALL_PAIRS", 1000)
    found, exact = field.at_points()
    np.testing.assert_allclose(found, expected, atol=5e-3 * expected.max())
    assert len(exact) < 1200
    assert set(np.argsort(expected)[:900]) <= set(exact)
    np.testing.assert_array_equal(found[exact], expected[exact])


def test_is_the_density_of_the_data_whatever_the_map(rng):
    # The map draws all parts of a uniform square but one much smaller; data and truth are flat.
    x = rng.uniform(-1, 1, size=(2000, 2))
    y = np.where(np.abs(x) < 0.5, x, np.sign(x) * (0.5 + 0.1 * (np.abs(x) - 0.5)))
    near = neighbors_of(x, 20)
    metric = learn_metric(y, near.indices, near.distances)
    inside = np.all(np.abs(x) < 0.85, axis=1)
    plain, right = hdr_density(y), hdr_density(y, metric=metric)
    assert np.quantile(plain.density[inside], 0.95) > 8 * np.quantile(plain.density[inside], 0.05)
    assert np.quantile(right.density[inside], 0.95) < 4 * np.quantile(right.density[inside], 0.05)
    # Per unit of area of the data: four units of area hold all points.
    assert np.median(right.density[inside]) == pytest.approx(1 / 4, rel=0.25)


def test_ranks_follow_the_true_density_better_than_the_map(rng):
    x, y, _, metric = warped(rng, 1500)
    truth = -(x**2).sum(axis=1)
    plain, right = hdr_density(y), hdr_density(y, metric=metric)
    follows = stats.spearmanr(right.density, truth).statistic
    assert follows > 0.9
    assert follows > stats.spearmanr(plain.density, truth).statistic + 0.1
    assert np.array_equal(np.sort(right.rank), np.arange(1, 1501))


@pytest.mark.parametrize("bandwidth", ["plug-in", "wide"])
def test_a_turned_and_scaled_map_has_the_same_density(rng, bandwidth):
    _, y, near, metric = warped(rng, 400)
    turn = np.array([[0.0, -1.0], [1.0, 0.0]]) * 1024
    there = learn_metric(y @ turn, near.indices, near.distances)
    here = hdr_density(y, metric=metric, bandwidth=bandwidth)
    turned = hdr_density(y @ turn, metric=there, bandwidth=bandwidth)
    np.testing.assert_allclose(turned.density, here.density, rtol=1e-6)


def test_contours_pass_between_the_levels(rng):
    _, y, _, metric = warped(rng, 1200)
    hdr = hdr_density(y, metric=metric)
    grid = hdr.contours.points().reshape(-1, 2)
    nearest = np.linalg.norm(grid[None] - y[::10, None], axis=2).argmin(axis=1)
    drawn = hdr.contours.density.ravel()[nearest]
    assert stats.spearmanr(drawn, hdr.density[::10]).statistic > 0.95


def test_many_axes_have_a_density_and_no_contours(rng):
    _, y, _, metric = warped(rng, 300, 4)
    hdr = hdr_density(y, metric=metric)
    assert hdr.contours.density.ndim == 1
    assert "all 4 axes" in hdr.notices[0]
    assert hdr.bandwidth.shape == (4, 4)


def test_a_line_and_far_points_are_finite(rng):
    t = rng.normal(size=(300, 1))
    t[0] = 1e5
    near = neighbors_of(t, 10)
    y = np.hstack([t, 2 * t])
    hdr = hdr_density(y, metric=learn_metric(y, near.indices, near.distances))
    assert np.isfinite(hdr.density).all()
    assert hdr.rank[0] == 1


def test_threads_change_nothing(rng):
    _, y, _, metric = warped(rng, 500)
    one, three = (hdr_density(y, metric=metric, threads=threads) for threads in (1, 3))
    assert np.array_equal(one.density, three.density)


def test_cancel(rng):
    def cancel(fraction, message=""):
        raise Cancelled

    _, y, _, metric = warped(rng, 100)
    with pytest.raises(Cancelled):
        hdr_density(y, metric=metric, progress=cancel)


@pytest.fixture
def rng():
    return np.random.default_rng(8)
