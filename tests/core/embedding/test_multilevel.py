"""The start of large layouts: the smoothest functions of the graph, by way of smaller graphs."""

import numpy as np
import pytest
from embedding_points import curved_sheet, neighbors_of
from scipy.sparse import csr_array

from core.embedding import _multilevel
from core.embedding._multilevel import join_groups, spectral_start
from core.embedding.graph import union_graph


def graph_of(x: np.ndarray, k: int = 12) -> csr_array:
    neighbors = neighbors_of(x, k)
    graph = union_graph(neighbors.indices, neighbors.distances)
    return csr_array(graph.matrix(np.ones(len(graph.lengths))))


def test_groups_are_of_neighbours_and_leave_nobody_out():
    graph = graph_of(curved_sheet(500))
    group = join_groups(graph)
    assert set(group) == set(range(group.max() + 1))
    assert group.max() + 1 < 500 / 4
    steps = (graph @ graph + graph).toarray() > 0
    for each in range(group.max() + 1):
        members = np.flatnonzero(group == each)
        # All are within two steps of the one that the group began with.
        assert (steps[np.ix_(members, members)].sum(axis=1) >= len(members) - 1).any()


def test_a_point_without_edges_is_a_group():
    assert join_groups(csr_array((3, 3), dtype=np.float32)).tolist() == [0, 1, 2]


def test_it_is_close_to_the_eigenvectors(monkeypatch):
    graph = graph_of(curved_sheet(800))
    root = np.sqrt(graph.sum(axis=1))
    walk = graph.toarray() / root[:, np.newaxis] / root
    vectors = np.linalg.eigh(walk)[1][:, -3:-1] / root[:, np.newaxis]
    monkeypatch.setattr(_multilevel, "COARSEST", 60)
    start = spectral_start(graph, 2, seed=1)
    assert np.abs(start).max() == pytest.approx(10, abs=0.01)
    # The plane that they span: what is left of the start outside of it.
    basis = np.column_stack([np.ones(800), vectors])
    rest = start - basis @ np.linalg.lstsq(basis, start, rcond=None)[0]
    assert np.linalg.norm(rest) < 0.1 * np.linalg.norm(start - start.mean(axis=0))


def test_components_are_side_by_side():
    x = np.concatenate([curved_sheet(60), curved_sheet(50) + 40, curved_sheet(3) - 40])
    start = spectral_start(graph_of(x, 2), 2, seed=1)
    assert np.isfinite(start).all()
    assert len(np.unique(start, axis=0)) == len(x)
    np.testing.assert_array_equal(start, spectral_start(graph_of(x, 2), 2, seed=1))
