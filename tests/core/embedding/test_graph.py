import numpy as np
import pytest
from embedding_points import curved_sheet, neighbors_of, vectors_of
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from core.embedding import graph as graphs
from core.embedding._geodesics import geodesics, nearest_sources
from core.embedding.graph import from_edges, join, union_graph
from core.errors import Cancelled
from core.progress import silent
from core.vectors import Vectors, statistical_distance


def graph_of(x, k):
    neighbors = neighbors_of(x, k)
    return union_graph(neighbors.indices, neighbors.distances)


def dense(graph):
    """Lengths as a matrix, infinite where there is no edge."""
    lengths = np.full((graph.n, graph.n), np.inf)
    heads = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    lengths[heads, graph.indices] = graph.lengths
    return lengths


def test_union_joins_points_when_either_lists_the_other():
    x = curved_sheet(40)
    neighbors = neighbors_of(x, 4)
    expected = np.full((40, 40), np.inf)
    for i in range(40):
        for j, length in zip(neighbors.indices[i], neighbors.distances[i], strict=True):
            expected[i, j] = expected[j, i] = length
    np.testing.assert_array_equal(dense(graph_of(x, 4)), expected)


def test_edges_of_length_zero_are_edges():
    x = np.repeat(curved_sheet(5), 3, axis=0)
    graph = graph_of(x, 2)
    assert (graph.lengths == 0).all()
    assert len(graph.lengths) == 5 * 3 * 2
    count, labels = graph.components()
    assert count == 5
    np.testing.assert_array_equal(labels, np.repeat(np.arange(5), 3))


def test_the_shorter_of_two_given_lengths_counts():
    graph = from_edges(np.array([0, 1]), np.array([1, 0]), np.array([2.0, 1.0]), 2)
    np.testing.assert_array_equal(graph.lengths, [1.0, 1.0])


@settings(max_examples=25)
@given(n=st.integers(2, 60), k=st.integers(1, 6), distinct=st.integers(1, 60), seed=st.integers(0))
def test_geodesics_agree_with_scipy(n, k, distinct, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(distinct, 2))[rng.integers(0, distinct, n)]
    graph = graph_of(x, k)
    ours = geodesics(graph, np.arange(n), threads=2, progress=silent)
    np.testing.assert_allclose(ours, dijkstra(graph.matrix(graph.lengths)), rtol=1e-12)


@settings(max_examples=25)
@given(n=st.integers(5, 80), k=st.integers(1, 5), data=st.data())
def test_nearest_sources_are_those_of_all_geodesics(n, k, data):
    x = np.random.default_rng(n).normal(size=(n, 2))
    graph = graph_of(x, 4)
    count = data.draw(st.integers(k, n))
    sources = np.sort(np.random.default_rng(count).choice(n, count, replace=False))
    which, lengths = nearest_sources(graph, sources, k, progress=silent)
    every = geodesics(graph, sources, threads=1, progress=silent).T
    np.testing.assert_allclose(lengths, np.sort(every, axis=1)[:, :k], rtol=1e-12)
    found = which >= 0
    np.testing.assert_array_equal(found, np.isfinite(lengths))
    rows = np.nonzero(found)[0]
    np.testing.assert_allclose(every[rows, which[found]], lengths[found], rtol=1e-12)
    np.testing.assert_array_equal(which[sources, 0], np.arange(count))


def test_nearest_sources_can_be_cancelled(monkeypatch):
    monkeypatch.setattr("core.embedding._geodesics.PIECE", 10)
    graph = graph_of(curved_sheet(60), 5)
    heard = []

    def stop(fraction, message=""):
        heard.append(fraction)
        if fraction > 0.5:
            raise Cancelled("enough")

    with pytest.raises(Cancelled):
        nearest_sources(graph, np.arange(0, 60, 3), 4, progress=stop)
    assert len(heard) > 3


@pytest.fixture
def four_groups():
    return np.concatenate([curved_sheet(20, seed=s, p=6) + 5 * s for s in range(4)])


@pytest.mark.parametrize("distance", ["hellinger", "tv", "js"])
def test_each_pair_of_components_gets_its_shortest_link(four_groups, distance):
    x = np.abs(four_groups)
    if distance == "js":
        x = x / x.sum(axis=1, keepdims=True)
    vectors = Vectors.from_array(x.astype(np.float32), distance=distance)
    labels = np.repeat(np.arange(4), 20)
    empty = from_edges(np.arange(0), np.arange(0), np.zeros(0), 80)
    joined = join(empty, labels, vectors, silent)
    assert joined.links == 6
    assert not joined.spanning_tree
    rows = np.arange(80)
    apart = statistical_distance(vectors, rows[:, np.newaxis], rows)
    linked = dense(joined.graph)
    for a in range(4):
        for b in range(a):
            between = np.ix_(labels == a, labels == b)
            assert linked[between].min() == pytest.approx(apart[between].min(), rel=1e-6)
            assert np.isfinite(linked[between]).sum() == 1


def test_many_components_get_a_minimum_spanning_tree(four_groups, monkeypatch):
    from scipy.sparse.csgraph import minimum_spanning_tree

    monkeypatch.setattr(graphs, "MANY_COMPONENTS", 3)
    labels = np.repeat(np.arange(20), 4)
    vectors = vectors_of(four_groups)
    empty = from_edges(np.arange(0), np.arange(0), np.zeros(0), 80)
    joined = join(empty, labels, vectors, silent)
    assert joined.spanning_tree
    assert joined.links == 19
    apart = statistical_distance(vectors, np.arange(80)[:, np.newaxis], np.arange(80))
    pairs = apart.reshape(20, 4, 20, 4).min(axis=(1, 3))
    total = minimum_spanning_tree(pairs).sum()
    assert joined.graph.lengths.sum() / 2 == pytest.approx(total)


def test_large_components_are_compared_by_samples(four_groups, monkeypatch):
    monkeypatch.setattr(graphs, "LINK_BUDGET", 6 * 6 * 5 * 5)  # five points of each of four groups
    graph = graph_of(four_groups, 4)
    labels = graph.components()[1]
    joined = join(graph, labels, vectors_of(four_groups), silent)
    assert joined.sampled
    assert joined.graph.components()[0] == 1


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(0, 4), st.integers(0, 2**31))
def test_components_are_counted_alike_with_and_without_the_union_graph(n, k, seed):
    indices = np.random.default_rng(seed).integers(0, n, (n, k))
    counted, _ = union_graph(indices, np.zeros((n, k))).components()
    assert graphs.count_components(indices) == counted
