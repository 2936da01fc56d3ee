"""What vectors know of themselves: their norm, their coordinates, their distances."""

import numpy as np
import pytest

from core.errors import InputError
from core.vectors import Vectors, statistical_distance

WEIGHTS = np.array([1 / 30, 1 / 50])


@pytest.fixture
def counts() -> Vectors:
    x = np.random.default_rng(1).integers(0, 9, (6, 8)).astype(np.uint8)
    return Vectors.from_array(x, distance="tv", blocks=2, block_weights=WEIGHTS)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_coordinates_have_the_weights_in_them(counts, dtype):
    expected = np.concatenate([counts.x[:, :4] / 30, counts.x[:, 4:] / 50], axis=1)
    found = counts.coordinates(dtype=dtype)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    rows = np.array([[0, 3], [5, 5]])
    np.testing.assert_allclose(
        counts.coordinates(rows, slice(2, 6), dtype=dtype), expected[rows, 2:6], rtol=1e-6
    )


def test_distances_are_norms_of_differences_of_coordinates(counts):
    points = counts.coordinates()
    a, b = np.triu_indices(6, 1)
    expected = np.abs(points[a] - points[b]).sum(axis=1) / 2
    np.testing.assert_allclose(statistical_distance(counts, a, b), expected, rtol=1e-12)


def test_coordinates_as_they_are_take_no_copy():
    x = np.random.default_rng(2).random((5, 3), dtype=np.float32)
    vectors = Vectors.from_array(x, distance="hellinger")
    assert np.shares_memory(vectors.coordinates(dtype=np.float32), x)
    assert vectors.without_counts() is vectors


@pytest.mark.parametrize(
    ("distance", "norm", "blocks", "sums", "expected"),
    [
        ("tv", 1, 1, 0.5, 0.25),
        ("hellinger", 2, 1, 0.25, 0.5),
        ("hellinger", 2, 3, 0.25, 0.5),
        ("js", 0, 1, 0.25, 0.5),
        ("js", 0, 3, 0.25, 0.25),
    ],
)
def test_the_distance_decides_the_norm(distance, norm, blocks, sums, expected):
    vectors = Vectors.from_array(np.zeros((2, 3), np.float32), distance=distance, blocks=blocks)
    assert vectors.norm == norm
    assert vectors.is_normed == (norm > 0)
    assert vectors.to_distances(np.array(sums)) == expected


def test_counts_of_unknown_samples_are_refused(counts):
    with pytest.raises(InputError, match="sample size of every block"):
        counts.without_counts()
