import numpy as np
import pytest
from embedding_points import curved_sheet, neighbors_of, same_up_to_sign, vectors_of

from core.embedding import embed


def isomap(x, k=10, **options):
    return embed("isomap", neighbors_of(x, k), vectors_of(x), **options)


@pytest.mark.parametrize("n", [100, 700])  # by LAPACK, by Lanczos
@pytest.mark.filterwarnings("ignore")
def test_agrees_with_scikit_learn(n):
    from sklearn.manifold import Isomap

    x = curved_sheet(n)
    theirs = Isomap(n_neighbors=10, n_components=3).fit_transform(x.astype(np.float64))
    ours = isomap(x, dim=3)
    assert same_up_to_sign(ours.y, theirs)
    assert (np.diff(ours.eigenvalues) <= 0).all()


@pytest.mark.filterwarnings("ignore")  # scikit-learn warns of components, which are the point
def test_joins_components_as_scikit_learn_does():
    from sklearn.manifold import Isomap

    x = np.concatenate([curved_sheet(30, seed=s) + 3 * s for s in range(3)])
    theirs = Isomap(n_neighbors=6).fit_transform(x.astype(np.float64))
    ours = isomap(x, k=6)
    assert ours.components == 3
    assert "joined by the shortest links (3 of them)" in ours.notices[0]
    assert same_up_to_sign(ours.y, theirs)


def test_duplicates_coincide():
    x = np.repeat(curved_sheet(40), 2, axis=0)
    y = isomap(x, k=8).y
    np.testing.assert_allclose(y[::2], y[1::2], atol=1e-9)


def test_a_straight_line_is_kept_to_scale():
    x = np.zeros((30, 3))
    x[:, 0] = np.sort(np.random.default_rng(0).uniform(0, 1, 30))
    y = isomap(x, k=3).y
    line = np.float32(x[:, 0]).astype(float)
    assert np.abs(y[:, 0] - y[0, 0]) == pytest.approx(line - line[0], abs=1e-6)
    np.testing.assert_allclose(y[:, 1], 0, atol=1e-6)


def test_landmarks_give_the_map_of_a_flat_sheet():
    side = np.linspace(0, 1, 16)
    # Along the rows and columns of a grid, geodesics are L1: a plane again after scaling.
    x = np.column_stack([np.repeat(side, 16), np.tile(side, 16)])
    full, few = isomap(x, k=8).y, isomap(x, k=8, landmarks=60).y
    from scipy.spatial import procrustes

    assert procrustes(full, few)[2] < 0.01


def test_more_dimensions_than_points_are_zero_and_said():
    result = isomap(curved_sheet(3), dim=4)
    assert not result.y[:, 2:].any()
    assert result.y[:, :2].any()
    assert "at most 2 coordinates" in result.notices[0]
