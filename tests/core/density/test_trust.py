"""Neighbours that a map keeps, and maps that show one place."""

import numpy as np
import pytest
from embedding_points import curved_sheet, neighbors_of, vectors_of

from core.density import degenerate_notice, kept_by_dimension, neighbors_kept
from core.quality import measure_quality


def test_the_mean_is_q_nx(rng):
    x = curved_sheet(150)
    y = x[:, :2] + rng.normal(0, 0.05, (150, 2))
    kept = neighbors_kept(y, neighbors_of(x, 8).indices)
    assert kept.mean() == pytest.approx(measure_quality(vectors_of(x), y, k=8).q_nx)


def test_counts_point_by_point(rng):
    y = rng.normal(size=(60, 3))
    indices = neighbors_of(rng.normal(size=(60, 2)), 6).indices
    near = neighbors_of(y, 6).indices
    expected = [len(set(a) & set(b)) / 6 for a, b in zip(near, indices, strict=True)]
    np.testing.assert_allclose(neighbors_kept(y.astype(np.float32), indices), expected)


def test_a_faithful_map_keeps_all_and_a_single_point_has_none(rng):
    x = rng.normal(size=(40, 2)).astype(np.float32)
    assert (neighbors_kept(3 * x, neighbors_of(x, 5).indices) == 1).all()
    assert np.isnan(neighbors_kept(x[:1], np.empty((1, 0), int))).all()


def test_a_collapsed_map_keeps_few(rng):
    indices = neighbors_of(rng.normal(size=(200, 2)), 5).indices
    assert neighbors_kept(np.zeros((200, 2)), indices).mean() < 0.1


def test_collapsed_maps_are_named(rng):
    y = rng.normal(size=(622, 2))
    assert degenerate_notice(y) is None
    y[17:] = 1e-5 * rng.normal(size=(605, 2)) + 3
    assert "605 of its 622 points lie in one place" in degenerate_notice(y)
    # Half of the points is not most of them, and a map without width says so elsewhere.
    y[:311] = rng.normal(size=(311, 2))
    assert degenerate_notice(y) is None
    assert degenerate_notice(np.ones((10, 2))) is None


@pytest.fixture
def rng():
    return np.random.default_rng(2)


def test_every_further_axis_keeps_more(rng):
    y = rng.normal(size=(300, 3))
    indices = neighbors_of(y, 10).indices
    kept = kept_by_dimension(y, indices)
    assert kept[-1] == 1
    assert (np.diff(kept) > 0.1).all()
    assert kept[1] == neighbors_kept(y[:, :2], indices).mean()
