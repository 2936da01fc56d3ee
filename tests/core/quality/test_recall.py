from dataclasses import replace

import numpy as np
import pytest

from core.errors import InputError
from core.neighbors import find_neighbors
from core.quality.recall import recall
from core.vectors import Vectors


@pytest.fixture(scope="module")
def vectors():
    x = np.random.default_rng(0).random((500, 16), dtype=np.float32)
    return Vectors.from_array(x, distance="tv")


@pytest.fixture(scope="module")
def exact(vectors):
    return find_neighbors(vectors, k=10, backend="exact")


@pytest.fixture(scope="module")
def half(vectors):
    """Neighbours of ranks 6 to 15 of ten true ones: half are right."""
    more = find_neighbors(vectors, k=15, backend="exact")
    return replace(more, indices=more.indices[:, 5:], distances=more.distances[:, 5:])


def test_exact_neighbours_have_recall_one(vectors, exact):
    found = recall(exact, vectors)
    assert (found.value, found.low, found.high, found.n) == (1.0, 1.0, 1.0, 500)


@pytest.mark.parametrize("distance", ["hellinger", "js"])
def test_other_distances(vectors, distance):
    x = vectors.x / vectors.x.sum(axis=1, keepdims=True)
    other = Vectors.from_array(x, distance=distance)
    exact = find_neighbors(other, k=6, backend="exact")
    assert recall(exact, other).value == 1.0
    assert recall(exact, other, sample=40).value == 1.0
    assert recall(exact, exact).value == 1.0


def test_wrong_ranks_are_wrong(vectors, exact, half):
    assert recall(half, vectors).value == 0.5
    assert recall(half, exact).value == 0.5


def test_equally_near_is_equally_right():
    """Every point of a simplex is as near as every other: any answer is right."""
    vectors = Vectors.from_array(np.eye(30, dtype=np.float32), distance="tv")
    exact = find_neighbors(vectors, k=3, backend="exact")
    others = np.array([[(i + s) % 30 for s in (11, 17, 23)] for i in range(30)], dtype=np.int32)
    assert recall(replace(exact, indices=others), vectors).value == 1.0


def test_a_sample_brackets_the_truth(vectors):
    rough = find_neighbors(vectors, k=10, backend="annoy", n_trees=3, search_k=20)
    truth = recall(rough, vectors).value
    assert 0 < truth < 1
    inside = 0
    for seed in range(30):
        found = recall(rough, vectors, sample=60, seed=seed)
        assert found.n == 60
        assert 0 <= found.low <= found.value <= found.high <= 1
        inside += found.low <= truth <= found.high
    assert inside >= 27


def test_a_sample_without_errors_is_no_certainty(vectors, exact):
    found = recall(exact, vectors, sample=50)
    assert found.value == found.high == 1.0
    assert 0.9 < found.low < 1.0


def test_a_larger_sample_is_surer(vectors, half):
    few, many = (recall(half, vectors, sample=size) for size in (30, 300))
    assert many.high - many.low < few.high - few.low


def test_what_cannot_be_compared_is_refused(vectors, exact):
    fewer = find_neighbors(vectors, k=5, backend="exact")
    with pytest.raises(InputError, match="at least 10 exact neighbours"):
        recall(exact, fewer)
    with pytest.raises(InputError, match="at least one point"):
        recall(exact, vectors, sample=0)
    single = Vectors.from_array(vectors.x[:1], distance="tv")
    with pytest.raises(InputError, match="at least two points"):
        recall(find_neighbors(single, backend="exact"), single)
