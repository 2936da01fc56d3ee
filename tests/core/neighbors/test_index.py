"""An index is built once and asked for its own rows, for new points, and with other settings."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from core.neighbors import BACKENDS, build_index, find_neighbors, query_new
from core.vectors import Vectors

ABLE = [
    (name, distance)
    for name, backend in BACKENDS.items()
    for distance in ("tv", "hellinger", "js")
    if distance in backend.distances
]


def make(n: int, distance: str, p: int = 30, seed: int = 2) -> Vectors:
    """Distributions as the distance has them."""
    x = np.random.default_rng(seed).gamma(0.5, size=(n, p))
    x /= x.sum(axis=1, keepdims=True)
    x = np.sqrt(x / 2) if distance == "hellinger" else x
    return Vectors.from_array(x.astype(np.float32), distance=distance)


def truth(points: Vectors, rows: Vectors) -> np.ndarray:
    """All distances between points and rows."""
    a, b = points.x.astype(float), rows.x.astype(float)
    if rows.distance == "tv":
        return cdist(a, b, "cityblock") / 2
    if rows.distance == "hellinger":
        return cdist(a, b)
    return cdist(a, b, jensen_shannon)


def jensen_shannon(p: np.ndarray, q: np.ndarray) -> float:
    middle = (p + q) / 2
    terms = [v * np.log2(v / m) for side in (p, q) for v, m in zip(side, middle, strict=True) if v]
    return np.sqrt(max(sum(terms) / 2, 0))


def exhaustive(backend: str) -> dict[str, float]:
    """Settings by which a backend finds every neighbour of a few hundred points."""
    return {
        "kdtree": {"epsilon": 0.0, "leaf_size": 8},
        "annoy": {"search_k": 1_000_000},
        "hnsw": {"ef_search": 400},
    }.get(backend, {})


@pytest.mark.parametrize(("backend", "distance"), ABLE)
def test_new_points_find_the_nearest_rows(backend, distance):
    rows, points = make(300, distance), make(40, distance, seed=3)
    points.x[3] = rows.x[4]
    index = build_index(rows, backend=backend, **exhaustive(backend))
    found = index.query(points, 7, threads=2)
    assert found.backend == backend
    expected = np.sort(truth(points, rows), axis=1)[:, :7]
    right = found.distances <= expected[:, -1:] + 1e-7
    assert right.mean() >= (0.98 if backend == "hnsw" else 1)
    apart = np.take_along_axis(truth(points, rows), found.indices.astype(int), 1)
    np.testing.assert_allclose(found.distances, apart, atol=1e-7)
    assert (found.indices[3, 0], found.distances[3, 0]) == (4, 0)


# PyNNDescent compiles for each distance anew: one will do.
@pytest.mark.parametrize(
    ("backend", "distance"), [each for each in ABLE if each != ("nndescent", "tv")]
)
def test_an_index_serves_any_number_of_neighbours(backend, distance):
    rows = make(150, distance)
    index = build_index(rows, backend=backend, seed=4, threads=1)
    for k in (5, 40, 5):
        alone = find_neighbors(rows, k=k, backend=backend, seed=4, threads=1)
        shared = find_neighbors(rows, k=k, backend=backend, threads=1, index=index)
        np.testing.assert_array_equal(shared.indices, alone.indices)
        np.testing.assert_array_equal(shared.distances, alone.distances)
        assert (shared.parameters, shared.notices) == (alone.parameters, alone.notices)


@pytest.mark.parametrize("backend", BACKENDS)
def test_parameters_of_a_search_need_no_other_index(backend):
    rows = make(200, "hellinger", p=8)
    index = build_index(rows, backend=backend, seed=4, threads=1)
    for parameter in BACKENDS[backend].parameters:
        value = {parameter.name: parameter.low + 3}
        if not parameter.at_query:
            with pytest.raises(ValueError, match=f"{parameter.name} needs another index"):
                index.change(**value)
            continue
        alone = find_neighbors(rows, k=6, backend=backend, seed=4, threads=1, **value)
        shared = index.change(**value).query_own(6, threads=1)
        np.testing.assert_array_equal(shared.indices, alone.indices)
        assert shared.parameters == alone.parameters


@pytest.mark.parametrize("backend", ["exact", "kdtree"])
def test_a_point_asked_alone_gets_the_same_answer(backend, monkeypatch):
    rows, points = make(2100, "hellinger"), make(500, "hellinger", seed=3)
    index = build_index(rows, backend=backend, **exhaustive(backend))
    together = index.query(points, 9, threads=2)
    monkeypatch.setattr(query_new, "_BATCH_BYTES", 100 * rows.x[0].nbytes)  # five batches or more
    batches = index.query(points, 9, threads=2)
    np.testing.assert_array_equal(batches.indices, together.indices)
    np.testing.assert_array_equal(batches.distances, together.distances)
    for row in (0, 7, 499):
        one = Vectors.from_array(points.x[row : row + 1], distance="hellinger")
        alone = index.query(one, 9, threads=1)
        np.testing.assert_array_equal(alone.indices[0], together.indices[row])
        np.testing.assert_array_equal(alone.distances[0], together.distances[row])


@pytest.mark.parametrize("backend", ["exact", "kdtree", "annoy", "nndescent"])
@pytest.mark.parametrize("most", [20, 300])
def test_counts_are_compared_by_their_weights(backend, most):
    sizes = np.array([40, 80])
    rng = np.random.default_rng(5)

    def counts(n: int, highest: int) -> Vectors:
        x = rng.integers(0, highest, (n, 20)).astype(np.uint16)
        return Vectors.from_array(x, distance="tv", blocks=2, block_weights=1 / sizes)

    # Rows of small counts are bytes to the kernels, points of large ones are not.
    rows, points = counts(120, 20), counts(15, most)
    found = build_index(rows, backend=backend, **exhaustive(backend)).query(points, 4, threads=1)
    apart = cdist(points.coordinates(), rows.coordinates(), "cityblock") / 2
    expected = np.sort(apart, axis=1)[:, :4]
    np.testing.assert_allclose(found.distances, expected, rtol=1e-6 if most < 256 else 1e-5)


def test_more_equal_rows_than_a_list_is_long():
    rows = Vectors.from_array(np.zeros((80, 8), np.float32), distance="tv")
    x = np.zeros((10, 8), np.float32)
    x[:, 0] = 0.1
    found = build_index(rows).query(Vectors.from_array(x, distance="tv"), 3, threads=1)
    np.testing.assert_array_equal(found.indices, np.tile([0, 1, 2], (10, 1)))
    assert np.unique(found.distances).tolist() == [np.float64(np.float32(0.1)) / 2]


def test_all_rows_may_be_asked_for():
    found = build_index(make(4, "tv")).query(make(5, "tv", seed=3), 4, threads=1)
    np.testing.assert_array_equal(np.sort(found.indices, axis=1), np.tile(np.arange(4), (5, 1)))


def test_points_of_other_columns_are_refused():
    index = build_index(make(9, "tv"))
    for other in (make(3, "hellinger"), make(3, "tv", p=20)):
        with pytest.raises(ValueError, match="columns"):
            index.query(other, 2, threads=1)
