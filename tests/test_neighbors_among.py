import numpy as np
import pytest
from scipy.spatial.distance import cdist

from core.distance import Vectors
from core.neighbors.among import nearest_among


def probabilities(n: int, p: int = 30) -> np.ndarray:
    x = np.random.default_rng(2).gamma(0.5, size=(n, p))
    return (x / x.sum(axis=1, keepdims=True)).astype(np.float32)


def truth(x: np.ndarray, count: int, distance: str) -> np.ndarray:
    a, b = x[count:].astype(float), x[:count].astype(float)
    if distance == "tv":
        return cdist(a, b, "cityblock") / 2
    if distance == "hellinger":
        return cdist(a, b)
    return cdist(a, b, lambda p, q: jensen_shannon(p, q))


def jensen_shannon(p: np.ndarray, q: np.ndarray) -> float:
    middle = (p + q) / 2
    terms = [v * np.log2(v / m) for side in (p, q) for v, m in zip(side, middle, strict=True) if v]
    return np.sqrt(max(sum(terms) / 2, 0))


@pytest.mark.parametrize(
    ("distance", "n", "count"),
    [("tv", 300, 120), ("hellinger", 300, 120), ("hellinger", 3000, 2100), ("js", 60, 30)],
)
def test_nearest_are_those_of_brute_force(distance, n, count):
    x = probabilities(n)
    x[count + 3] = x[4]
    vectors = Vectors.from_array(x, distance=distance)
    indices, distances = nearest_among(vectors, count, 7, threads=2)
    all_distances = truth(x, count, distance)
    expected = np.argsort(all_distances, axis=1, kind="stable")[:, :7]
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(distances, np.take_along_axis(all_distances, expected, 1), atol=1e-7)
    assert distances[3, 0] == 0


def test_a_row_asked_alone_gets_the_same_answer():
    x = np.sqrt(probabilities(2600) / 2)
    count = 2100
    together = nearest_among(Vectors.from_array(x, distance="hellinger"), count, 9, threads=2)
    for row in (0, 7, 499):
        one = np.concatenate([x[:count], x[count + row : count + row + 1]])
        alone = nearest_among(Vectors.from_array(one, distance="hellinger"), count, 9, threads=1)
        np.testing.assert_array_equal(alone[0][0], together[0][row])
        np.testing.assert_array_equal(alone[1][0], together[1][row])


def test_more_equal_rows_than_a_list_is_long():
    x = np.zeros((90, 8), np.float32)
    x[80:, 0] = 0.1
    indices, distances = nearest_among(Vectors.from_array(x, distance="tv"), 80, 3, threads=1)
    np.testing.assert_array_equal(indices, np.tile([0, 1, 2], (10, 1)))
    assert np.unique(distances).tolist() == [np.float64(np.float32(0.1)) / 2]


def test_no_more_than_there_are():
    vectors = Vectors.from_array(probabilities(9), distance="tv")
    indices, _ = nearest_among(vectors, 4, 20, threads=1)
    assert indices.shape == (5, 4)
