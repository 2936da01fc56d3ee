from dataclasses import fields

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial import cKDTree

from core.errors import Cancelled, InputError
from core.neighbors import BACKENDS, Neighbors, find_neighbors
from core.neighbors import kdtree as module
from core.neighbors._kdtree_build import Tree, build, tree_depth
from core.neighbors.cost import Machine, SearchSize
from core.neighbors.kernels import prepare
from core.progress import silent
from core.vectors import Vectors


def vectors_of(x, norm, **blocks):
    return Vectors.from_array(x, distance="tv" if norm == 1 else "hellinger", **blocks)


def search(vectors, k, *, epsilon=0.0, leaf_size=8, threads=2, progress=silent) -> Neighbors:
    return find_neighbors(
        vectors,
        k=k,
        backend="kdtree",
        threads=threads,
        progress=progress,
        epsilon=epsilon,
        leaf_size=leaf_size,
    )


def weighted(vectors):
    x = vectors.x.astype(np.float64)
    if vectors.block_weights is not None:
        x = x * np.repeat(vectors.block_weights, x.shape[1] // vectors.blocks)
    return x


def brute_force(vectors, k):
    x = weighted(vectors)
    d = np.array([np.linalg.norm(x - row, ord=vectors.norm, axis=1) for row in x]) * vectors.scale
    np.fill_diagonal(d, np.inf)
    order = np.argsort(d, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(d, order, axis=1)


def check_list(vectors, found):
    """Distances are those of the indices, ascending by (distance, index), nobody twice or self."""
    x = weighted(vectors)
    n = len(x)
    for i in range(n):
        sums = (np.abs(x[found.indices[i]] - x[i]) ** vectors.norm).sum(axis=1)
        true = vectors.scale * sums ** (1 / vectors.norm)
        np.testing.assert_allclose(found.distances[i], true, rtol=1e-12)
        assert i not in found.indices[i]
        assert len(set(found.indices[i])) == found.k
        assert (np.diff(found.distances[i]) >= 0).all()
        # Different sums may have the same root; those are not ties.
        tied = (np.diff(found.distances[i]) == 0) & (np.diff(sums) == 0)
        assert (np.diff(found.indices[i])[tied] > 0).all()


def check_exact(vectors, k, **options):
    found = search(vectors, k, **options)
    check_list(vectors, found)
    indices, true = brute_force(vectors, k)
    np.testing.assert_allclose(found.distances, true, rtol=1e-12, atol=1e-12)
    exact = find_neighbors(vectors, k=k, backend="exact", threads=2)
    np.testing.assert_array_equal(found.indices, exact.indices)
    np.testing.assert_array_equal(found.distances, exact.distances)
    return found, indices


def make(kind, rng, n=120, p=9):
    if kind == "normal":
        return rng.standard_normal((n, p))
    if kind == "duplicated":
        return np.repeat(rng.random((n // 6, p)), 6, axis=0)
    if kind == "constant":
        return np.full((n, p), 0.25)
    if kind == "sparse":
        return rng.random((n, p)) * (rng.random((n, p)) < 0.1)
    if kind == "grid":
        return rng.integers(0, 3, (n, p))
    return rng.random((n, 3 * module._LONG))  # long


KINDS = ["normal", "duplicated", "constant", "sparse", "grid", "long"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("norm", [1, 2])
def test_epsilon_zero_is_exact_ties_included(kind, norm):
    x = make(kind, np.random.default_rng(1)).astype(np.float32)
    found, indices = check_exact(vectors_of(x, norm), 7)
    if kind in ("constant", "grid", "duplicated"):
        # Sums of these are equal in any arithmetic, so ties are ties: the lower index first.
        np.testing.assert_array_equal(found.indices, indices)


@pytest.mark.parametrize("kind", ["normal", "duplicated", "sparse", "grid", "long"])
@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 10.0])
def test_each_distance_is_within_one_plus_epsilon(kind, norm, epsilon):
    vectors = vectors_of(make(kind, np.random.default_rng(2)).astype(np.float32), norm)
    found = search(vectors, 5, epsilon=epsilon, leaf_size=4)
    check_list(vectors, found)
    _, true = brute_force(vectors, 5)
    assert (found.distances <= (1 + epsilon) * true * (1 + 1e-12) + 1e-12).all()


@settings(max_examples=60)
@example(
    x=np.array([[5.9604645e-08, 0], [0, 4], [0, 0]], np.float32),
    norm=2,
    epsilon=0.0,
    k=2,
    leaf_size=2,
)
@given(
    x=hnp.arrays(
        np.float32,
        st.tuples(st.integers(2, 40), st.integers(1, 6)),
        elements=st.floats(-8, 8, width=16),
    ),
    norm=st.sampled_from([1, 2]),
    epsilon=st.sampled_from([0.0, 0.3, 2.0]),
    k=st.integers(1, 50),
    leaf_size=st.integers(2, 9),
)
def test_promise_holds_for_any_points(x, norm, epsilon, k, leaf_size):
    vectors = vectors_of(x, norm)
    k = min(k, len(x) - 1)
    found = search(vectors, k, epsilon=epsilon, leaf_size=leaf_size, threads=1)
    check_list(vectors, found)
    _, true = brute_force(vectors, k)
    assert (found.distances <= (1 + epsilon) * true * (1 + 1e-9) + 1e-12).all()


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("spread", [1e-3, 1.0])
def test_agrees_with_scipy(norm, spread):
    rng = np.random.default_rng(3)
    x = (100 + spread * rng.standard_normal((2000, 4))).astype(np.float32)
    vectors = vectors_of(x, norm)
    found = search(vectors, 10, leaf_size=32)
    true, _ = cKDTree(x.astype(np.float64)).query(x.astype(np.float64), 11, p=norm)
    np.testing.assert_allclose(found.distances, vectors.scale * true[:, 1:], rtol=1e-9)


def test_larger_epsilon_prunes_more():
    rng = np.random.default_rng(4)
    rows = prepare(vectors_of(rng.standard_normal((3000, 6)).astype(np.float32), 2))
    tree = build(rows, 16)
    compared = [
        module.search(rows, tree, 10, epsilon=epsilon, threads=2, progress=silent)[2]
        for epsilon in (0.0, 1.0, 10.0)
    ]
    everything = len(rows.x) * tree.n_leaves
    assert everything > 2 * compared[0] > 4 * compared[1] > 4 * compared[2] > 0


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("leaf_size", [2, 64])
def test_tiny_data_and_more_neighbours_than_points(n, leaf_size):
    x = np.arange(3 * n, dtype=np.float32).reshape(n, 3)
    found = search(vectors_of(x, 1), 20, epsilon=1.0, leaf_size=leaf_size)
    assert found.indices.shape == found.distances.shape == (n, n - 1)
    if n > 1:
        check_list(vectors_of(x, 1), found)


@pytest.mark.parametrize("bins", [10, 2 * module._LONG])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_counts(bins, dtype, epsilon):
    rng = np.random.default_rng(5)
    sizes = np.array([20, 40, 20])
    x = np.concatenate(
        [rng.multinomial(m, rng.dirichlet(np.ones(bins), 90)) for m in sizes], axis=1
    ).astype(dtype)
    vectors = vectors_of(x, 1, blocks=3, block_weights=1 / sizes)
    if epsilon == 0:
        check_exact(vectors, 6)
    found = search(vectors, 6, epsilon=epsilon)
    check_list(vectors, found)
    _, true = brute_force(vectors, 6)
    assert (found.distances <= (1 + epsilon) * true * (1 + 1e-12)).all()


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
@pytest.mark.parametrize("p", [5, 2 * module._LONG])
def test_threads_do_not_matter(p, epsilon):
    x = np.random.default_rng(6).random((400, p)).astype(np.float32)
    one, *others = (
        search(vectors_of(x, 1), 9, epsilon=epsilon, threads=threads) for threads in (1, 2, 5)
    )
    for other in others:
        np.testing.assert_array_equal(one.indices, other.indices)
        np.testing.assert_array_equal(one.distances, other.distances)


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_memo_does_not_matter(epsilon, monkeypatch):
    x = np.random.default_rng(7).random((300, module._LONG)).astype(np.float32)
    x[:, 1:] *= np.linspace(0, 1, 300, dtype=np.float32)[:, None]
    remembered = search(vectors_of(x, 2), 9, epsilon=epsilon)
    monkeypatch.setattr(module, "_MEMO_BYTES", 0)
    forgotten = search(vectors_of(x, 2), 9, epsilon=epsilon)
    np.testing.assert_array_equal(remembered.indices, forgotten.indices)
    np.testing.assert_array_equal(remembered.distances, forgotten.distances)


@settings(max_examples=60)
@given(
    x=hnp.arrays(
        np.float32,
        st.tuples(st.integers(1, 70), st.integers(1, 5)),
        elements=st.sampled_from([0.0, 0.5, 1.0, 3.0, -2.0]),
    ),
    leaf_size=st.integers(2, 12),
)
def test_tree_halves_and_bounds_tightly(x, leaf_size):
    rows = prepare(vectors_of(x, 1))
    tree = build(rows, leaf_size, threads=2)
    np.testing.assert_array_equal(np.sort(tree.order), np.arange(len(x)))
    sizes = np.diff(tree.spans, axis=1)[:, 0]
    leaves = tree.spans[tree.first_leaf :]
    np.testing.assert_array_equal(leaves[:-1, 1], leaves[1:, 0])
    assert tree.n_leaves * leaf_size >= len(x)
    assert max(sizes[tree.first_leaf :]) <= leaf_size
    assert min(sizes) >= 1
    assert np.ptp(sizes[tree.first_leaf :]) <= 1
    for node, (start, stop) in enumerate(tree.spans):
        members = rows.x[tree.order[start:stop]]
        np.testing.assert_array_equal(tree.lower[node], members.min(axis=0))
        np.testing.assert_array_equal(tree.upper[node], members.max(axis=0))


def test_nodes_split_the_widest_dimension_at_the_median():
    rng = np.random.default_rng(8)
    rows = prepare(vectors_of(rng.standard_normal((101, 8)).astype(np.float32), 1))
    tree = build(rows, 10)
    for node in range(tree.first_leaf):
        widths = tree.upper[node] - tree.lower[node]
        values = rows.x[:, np.argmax(widths)]
        (left, middle), (_, right) = tree.spans[2 * node + 1], tree.spans[2 * node + 2]
        ordered = np.sort(values[tree.order[left:right]])
        midpoint = (ordered[middle - left - 1] + ordered[middle - left]) / 2
        assert (values[tree.order[left:middle]] < midpoint).all()
        assert (values[tree.order[middle:right]] >= midpoint).all()


def test_widths_of_counts_are_weighted():
    x = np.array([[0, 0], [0, 3], [2, 0], [2, 3]], np.uint8)
    tree: Tree = build(prepare(vectors_of(x, 1, blocks=2, block_weights=np.array([1.0, 0.1]))), 2)
    np.testing.assert_array_equal(tree.order, [0, 1, 2, 3])


def test_jensen_shannon_is_refused():
    x = np.full((4, 2), 0.5, np.float32)
    vectors = Vectors.from_array(x, distance="js")
    with pytest.raises(InputError, match="k-d tree cannot search by 'js'"):
        search(vectors, 2)


@pytest.mark.parametrize("settings", [{"epsilon": -0.1}, {"leaf_size": 1}])
def test_bad_parameters_are_refused(settings):
    with pytest.raises(InputError, match="must be"):
        search(vectors_of(np.zeros((4, 2), np.float32), 1), 2, **settings)


def test_progress_rises_and_cancels():
    x = np.random.default_rng(9).random((300, 2 * module._LONG)).astype(np.float32)
    seen = []
    search(vectors_of(x, 1), 3, threads=1, progress=lambda fraction, _="": seen.append(fraction))
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1)

    def cancel(fraction, message=""):
        if fraction > 0.2:
            raise Cancelled

    with pytest.raises(Cancelled):
        search(vectors_of(x, 1), 3, progress=cancel)


def test_cost_grows_with_the_problem():
    machine = Machine(**{field.name: 1e-10 for field in fields(Machine)})
    small, large = (
        BACKENDS["kdtree"].cost(
            SearchSize(n=n, p=100, k=20, norm=1), machine, epsilon=1.0, leaf_size=64
        )
        for n in (1000, 10_000)
    )
    assert 50 * small.seconds < large.seconds < 200 * small.seconds
    assert small.memory_mb < large.memory_mb


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("epsilon", [0.0, 1.0])
@pytest.mark.parametrize("p", [6, 10, 14])
def test_share_expected_of_points_that_fill_a_cube(norm, epsilon, p):
    x = np.random.default_rng(10).random((4000, p), dtype=np.float32)
    rows, k = prepare(vectors_of(x, norm)), 10
    tree = build(rows, 32)
    _, _, compared = module.search(rows, tree, k, epsilon=epsilon, threads=2, progress=silent)
    problem = SearchSize(n=len(x), p=p, k=k, norm=norm)
    expected = module.expected_share(problem, tree_depth(len(x), 32), epsilon)
    # A query always meets its own leaf.
    share = max(expected, 1 / tree.n_leaves)
    assert 0.4 < share / (compared / len(x) / tree.n_leaves) < 2.5


def test_nothing_is_expected_to_be_pruned_of_whole_weeks():
    problem = SearchSize(n=3639, p=33600, k=20, norm=1)
    assert module.expected_share(problem, tree_depth(3639, 64), 1.0) == pytest.approx(1)
