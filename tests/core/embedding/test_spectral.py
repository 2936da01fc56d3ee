import numpy as np
import pytest
from embedding_points import curved_sheet, neighbors_of, same_up_to_sign, vectors_of
from scipy.linalg import cholesky, eigh
from scipy.sparse import csr_array

from core.embedding import embed
from core.embedding._eigen import COLUMNS, factorise, largest, oriented, smallest
from core.embedding._packing import pack
from core.embedding.graph import union_graph
from core.embedding.hessian import full_penalty, quadratic_penalty
from core.embedding.neighborhoods import barycentric_weights, map_grams
from core.progress import silent
from core.vectors import Vectors


def fit(method, x, k=12, **options):
    return embed(method, neighbors_of(x, k), vectors_of(x), **options)


@pytest.mark.parametrize("n", [100, 700])  # by LAPACK, by shift and Cholesky
@pytest.mark.parametrize(("method", "theirs"), [("lle", "standard"), ("hessian", "hessian")])
def test_lle_and_hessian_agree_with_scikit_learn(n, method, theirs):
    from sklearn.manifold import LocallyLinearEmbedding

    x = curved_sheet(n)
    peer = LocallyLinearEmbedding(
        n_neighbors=12, n_components=2, method=theirs, eigen_solver="dense"
    ).fit_transform(x.astype(np.float64))
    assert same_up_to_sign(fit(method, x).y, peer, tolerance=1e-5)


@pytest.mark.parametrize("n", [100, 700])
@pytest.mark.parametrize("weights", ["unit", "heat"])
def test_laplacian_agrees_with_scikit_learn(n, weights):
    from sklearn.manifold import SpectralEmbedding

    x = curved_sheet(n)
    neighbors = neighbors_of(x, 12)
    graph = union_graph(neighbors.indices, neighbors.distances)
    sigma = np.median(neighbors.distances)
    heat = np.exp(-(graph.lengths**2) / (2 * sigma**2))
    adjacency = graph.matrix(heat if weights == "heat" else np.ones_like(heat))
    peer = SpectralEmbedding(affinity="precomputed", random_state=0).fit_transform(
        adjacency.toarray()
    )
    ours = fit("laplacian", x, weights=weights)
    assert same_up_to_sign(ours.y, peer, tolerance=1e-5)
    if weights == "heat":
        assert ours.parameters["sigma"] == sigma
        assert f"σ = {sigma:.4g}" in ours.notices[0]


@pytest.mark.parametrize("weights", ["unit", "heat"])
def test_groups_of_duplicates_are_one_place_each(weights):
    x = np.repeat(curved_sheet(3), 10, axis=0)
    result = fit("laplacian", x, k=4, weights=weights)
    assert result.components == 3
    assert len(np.unique(result.y, axis=0)) == 3


def test_hessian_by_quadratic_terms_alone_is_the_textbook_sum():
    from scipy.linalg import qr

    x = curved_sheet(80).astype(np.float64)
    neighbors = neighbors_of(x, 12)
    total = np.zeros((80, 80))
    for near in neighbors.indices:
        u = np.linalg.svd(x[near] - x[near].mean(axis=0))[0][:, :2]
        columns = np.column_stack([np.ones(12), u, u[:, 0] ** 2, u[:, 0] * u[:, 1], u[:, 1] ** 2])
        w = qr(columns, mode="economic")[0][:, 3:]
        total[np.ix_(near, near)] += w @ w.T
    expected = eigh(total, subset_by_index=(1, 2))[1]
    assert same_up_to_sign(fit("hessian", x, penalty="quadratic").y, expected, tolerance=1e-5)


@pytest.mark.parametrize("penalty", [full_penalty, quadratic_penalty])
def test_linear_functions_of_a_flat_neighbourhood_cost_nothing(penalty):
    flat = np.random.default_rng(0).normal(size=(1, 15, 2))
    local = penalty(flat @ flat.transpose(0, 2, 1), 2)[0]
    np.testing.assert_allclose(local @ np.ones(15), 0, atol=1e-12)
    np.testing.assert_allclose(local @ flat[0], 0, atol=1e-12)
    assert np.abs(local @ flat[0] ** 2).max() > 0.1


def test_barycentric_weights_rebuild_the_point():
    rng = np.random.default_rng(0)
    near = rng.normal(size=(7, 5, 9))
    true = rng.uniform(0.1, 1, (7, 5))
    true /= true.sum(axis=1, keepdims=True)
    local = near - np.einsum("bk,bkp->bp", true, near)[:, np.newaxis]
    weights = barycentric_weights(local @ local.transpose(0, 2, 1), 1e-9)
    np.testing.assert_allclose(weights, true, atol=1e-6)


def test_weights_of_coinciding_neighbours_are_equal():
    np.testing.assert_allclose(barycentric_weights(np.zeros((1, 4, 4)), 1e-3), 0.25)


def test_grams_of_counts_are_those_of_their_probabilities(monkeypatch):
    monkeypatch.setattr("core.embedding.neighborhoods.COLUMNS", 7)
    monkeypatch.setattr("core.embedding.neighborhoods.GATHER", 300)
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 50, (30, 20)).astype(np.uint8)
    weights = np.array([0.5, 0.1])
    vectors = Vectors.from_array(counts, distance="tv", blocks=2, block_weights=weights)
    p = counts * np.repeat(weights, 10)
    np.testing.assert_allclose(vectors.coordinates(np.arange(30)), p)
    near = rng.integers(0, 30, (30, 4))
    grams = map_grams(
        lambda gram: gram, vectors, np.arange(30), near, threads=2, progress=silent, message=""
    )
    local = p[near] - p[:, np.newaxis]
    np.testing.assert_allclose(grams, local @ local.transpose(0, 2, 1))


@pytest.mark.parametrize("n", [1, COLUMNS - 1, COLUMNS, COLUMNS + 1, 5 * COLUMNS + 60])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_factor_is_that_of_lapack_whatever_the_threads(n, order):
    root = np.random.default_rng(n).normal(size=(n, n))
    matrix = np.array(root @ root.T + n * np.eye(n), order=order)
    ours, alone = matrix.copy(order="K"), matrix.copy(order="K")
    heard = []
    factorise(ours, threads=3, progress=lambda fraction, message="": heard.append(fraction))
    factorise(alone, threads=1)
    np.testing.assert_allclose(np.tril(ours), cholesky(matrix, lower=True), atol=1e-10)
    np.testing.assert_array_equal(ours, alone)
    assert heard == sorted(heard)
    assert heard[-1] == 1
    assert len(heard) == -(-n // COLUMNS)


def test_a_matrix_that_is_not_positive_has_no_factor():
    matrix = np.eye(300)
    matrix[250, 250] = -1
    with pytest.raises(np.linalg.LinAlgError):
        factorise(matrix)


@pytest.mark.parametrize("n", [50, 800])
def test_smallest_leaves_the_known_null_vector_out(n):
    # A path's Laplacian: λ_j = 2 − 2 cos(πj/n), with the constant as its null vector.
    main = np.full(n, 2.0)
    main[[0, -1]] = 1
    path = csr_array(np.diag(main) - np.eye(n, k=1) - np.eye(n, k=-1))
    values, vectors = smallest(path, np.ones(n), 3, silent)
    np.testing.assert_allclose(values, 2 - 2 * np.cos(np.pi * np.arange(1, 4) / n), atol=1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(vectors.sum(axis=0), 0, atol=1e-6)
    assert np.abs(path @ vectors - vectors * values).max() < 1e-8


def test_smallest_survives_further_null_vectors():
    # Two components and a matrix of zeros: the null space is larger than the vector that is known.
    halves = np.kron(np.eye(2), np.eye(400) - 1 / 400)
    values, vectors = smallest(csr_array(halves), np.ones(800), 2, silent)
    np.testing.assert_allclose(values[0], 0, atol=1e-7)
    assert np.isfinite(vectors).all()
    values, vectors = smallest(csr_array((800, 800)), np.ones(800), 2, silent)
    np.testing.assert_allclose(values, 0, atol=1e-7)
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("n", [40, 700])
def test_largest_are_the_algebraically_largest(n):
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    spectrum = np.concatenate([[-9, 5, 3], rng.uniform(-1, 1, n - 3)])
    values, vectors = largest((basis * spectrum) @ basis.T, 2, silent)
    np.testing.assert_allclose(values, [5, 3])
    assert same_up_to_sign(vectors, basis[:, 1:3])


def test_the_largest_entry_of_a_column_is_positive():
    flipped = oriented(np.array([[1.0, 2.0, 0.0], [-3.0, 1.0, 0.0]]))
    np.testing.assert_array_equal(flipped, [[-1, 2, 0], [3, 1, 0]])


def test_packed_maps_are_equally_dense():
    rng = np.random.default_rng(0)
    parts = [rng.uniform(0, scale, (n, 2)) for n, scale in [(100, 1.0), (400, 0.01), (25, 50.0)]]
    areas = [np.ptp(part, axis=0).prod() for part in pack(parts)]
    np.testing.assert_allclose(np.array(areas) / [100, 400, 25], areas[0] / 100, rtol=0.25)


def test_landmark_maps_resemble_the_full_ones():
    from scipy.spatial import procrustes

    x = curved_sheet(600)
    for method in ("laplacian", "hessian"):
        full, few = fit(method, x).y, fit(method, x, landmarks=300).y
        assert procrustes(full, few)[2] < 0.1, method
