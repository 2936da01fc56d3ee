"""The distortion of maps whose distortion is known, and a dense implementation of the formula."""

import numpy as np
import pytest
from embedding_points import neighbors_of

from core.density import learn_metric
from core.errors import Cancelled, InputError
from core.fields import MAX_METRIC_DIM


def metric_of(x, y, k=20, **options):
    near = neighbors_of(x, k)
    return learn_metric(y, near.indices, near.distances, **options)


def dense_metric(x, y, k):
    """The formula of the docs, written out with n × n matrices."""
    n, d = y.shape
    near = neighbors_of(x, k)
    apart = np.full((n, n), np.inf)
    np.put_along_axis(apart, near.indices.astype(int), near.distances, axis=1)
    epsilon, c = near.distances[:, -1] ** 2, 0.25
    weights = np.exp(-(apart**2) / epsilon[:, None])
    walk = weights / weights.sum(axis=1, keepdims=True)
    laplacian = (walk - np.eye(n)) / (c * epsilon[:, None])
    dual = np.empty((n, d, d))
    for a in range(d):
        for b in range(d):
            u, v = y[:, a], y[:, b]
            dual[:, a, b] = (laplacian @ (u * v) - u * (laplacian @ v) - v * (laplacian @ u)) / 2
    step = np.array([walk[i][near.indices[i]] @ near.distances[i] ** 2 for i in range(n)])
    dual *= (2 * c * epsilon * d / step)[:, None, None]
    metric = np.linalg.inv(dual)
    mean = [
        (metric[i] + np.tensordot(weights[i], metric, axes=1)) / (1 + weights[i].sum())
        for i in range(n)
    ]
    return np.linalg.inv(mean)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_agrees_with_the_dense_formula(rng, d):
    x = rng.normal(size=(80, 4))
    y = np.tanh(x[:, :d] + x[:, 1 : d + 1] ** 2)
    found = metric_of(x, y, 9)
    np.testing.assert_allclose(found.dual, dense_metric(x, y, 9), rtol=1e-9)
    np.testing.assert_allclose(found.area, np.sqrt(np.linalg.det(found.dual)))


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_turned_and_scaled_copy_is_stretched_alike_everywhere(rng, d):
    x = rng.uniform(size=(600, d))
    turn, _ = np.linalg.qr(rng.normal(size=(d, d)))
    found = metric_of(x, 3 * x @ turn)
    lengths, _ = found.stretch()
    # K neighbours leave some noise, which makes the mean of the inverse large.
    assert np.median(lengths.prod(axis=1)) == pytest.approx(3**d, rel=0.06 * d)
    assert np.quantile(found.distortion, [0.1, 0.9]) == pytest.approx([1, 1], abs=0.25)


def test_finds_where_a_map_stretches_and_in_which_direction(rng):
    x = rng.uniform(0.5, 2, size=(2000, 2))
    y = np.column_stack([x[:, 0] ** 3, x[:, 1]])
    found = metric_of(x, y)
    inside = np.all((x > 0.7) & (x < 1.8), axis=1)
    truth = 3 * x[:, 0] ** 2
    error = np.log(found.area[inside] / truth[inside])
    assert np.abs(np.median(error)) < 0.1
    assert error.std() < 0.15
    lengths, axes = found.stretch()
    clear = inside & (truth > 4)
    assert np.median(np.abs(axes[clear, 0, 0])) > 0.99
    assert np.all(lengths[:, 0] >= lengths[:, 1])


def test_sparse_places_do_not_look_stretched(rng):
    # The same map everywhere, but ninety times as many points per area on the left.
    x = np.vstack([rng.uniform(0, 1, (1500, 2)), rng.uniform(0, 1, (150, 2)) * [3, 3] + [2, 0]])
    found = metric_of(x, x)
    assert np.median(found.area[:1500]) == pytest.approx(np.median(found.area[1500:]), rel=0.1)


def test_at_its_own_points_it_is_the_metric_there(rng):
    x = rng.normal(size=(150, 3))
    y = x[:, :2] ** 3
    near = neighbors_of(x, 10)
    found = learn_metric(y, near.indices, near.distances)
    again = found.at(y, y[:7], near.indices[:7], near.distances[:7])
    np.testing.assert_allclose(again, found.dual[:7], rtol=1e-12)


def test_duplicates_and_collapsed_places_are_finite(rng):
    x = rng.normal(size=(120, 2))
    x[:40] = x[0]
    y = x.copy()
    y[60:90] = 0.0
    found = metric_of(x, y, 12)
    assert np.isfinite(found.dual).all()
    assert (found.area > 0).all()


def test_a_far_point_has_a_metric(rng):
    x = rng.normal(size=(200, 2))
    x[0] = 1e4
    found = metric_of(x, x, 10)
    lengths, axes = found.stretch()
    # All its neighbours are in one direction: along it there is no distortion to speak of, and
    # across it they are as one place.
    assert 0.5 < lengths[0, 0] < 2
    np.testing.assert_allclose(np.abs(axes[0, :, 0]), np.sqrt(0.5), rtol=1e-2)
    assert found.distortion[0] < 0.1


def test_a_line_in_the_plane_keeps_its_length(rng):
    t = rng.uniform(size=(200, 1))
    found = metric_of(t, np.hstack([3 * t, 4 * t]), 10)
    lengths, axes = found.stretch()
    # All length is along one direction of two.
    assert np.median(lengths[:, 0]) == pytest.approx(5 * np.sqrt(2), rel=0.02)
    np.testing.assert_allclose(np.abs(axes[:, :, 0]), [[0.6, 0.8]] * 200, rtol=1e-6)


def test_one_place_has_no_metric(rng):
    x = rng.normal(size=(30, 2))
    assert metric_of(x, np.ones((30, 2)), 5) is None
    assert metric_of(np.ones((30, 2)), x, 5) is None
    assert learn_metric(x[:1], np.empty((1, 0), int), np.empty((1, 0))) is None


def test_threads_change_nothing(rng):
    x = rng.normal(size=(300, 3))
    one = metric_of(x, x[:, :2] ** 3, threads=1)
    three = metric_of(x, x[:, :2] ** 3, threads=3)
    assert np.array_equal(one.dual, three.dual)


def test_too_many_axes_are_refused(rng):
    x = rng.normal(size=(50, MAX_METRIC_DIM + 1))
    with pytest.raises(InputError, match=f"up to {MAX_METRIC_DIM} axes"):
        metric_of(x, x)


def test_cancel(rng):
    def cancel(fraction, message=""):
        raise Cancelled

    with pytest.raises(Cancelled):
        metric_of(rng.normal(size=(50, 2)), rng.normal(size=(50, 2)), progress=cancel)


@pytest.fixture
def rng():
    return np.random.default_rng(5)
