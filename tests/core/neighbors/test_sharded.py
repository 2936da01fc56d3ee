import numpy as np
import pytest

from core.engine import Local
from core.errors import InputError
from core.neighbors import find_neighbors, quantised
from core.neighbors.kernels import prepare
from core.neighbors.sharded import find_neighbors_by_shard, nearest_across
from core.quality.recall import recall
from core.vectors import Vectors


def make_rows(kind: str, n: int) -> Vectors:
    """Rows with duplicates and ties, of every kind that the exact search treats on its own."""
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 6, (n, 24)).astype(np.uint8)
    counts[n // 2] = counts[3]
    counts[-1] = counts[0]
    if kind == "counts":
        weights = 1 / np.array([40, 50, 40])
        return Vectors.from_array(counts, distance="tv", blocks=3, block_weights=weights)
    p = (counts / counts.sum(axis=1, keepdims=True)).astype(np.float32)
    if kind == "hellinger":
        return Vectors.from_array(np.sqrt(p / 2), distance="hellinger")
    return Vectors.from_array(p, distance=kind)


@pytest.mark.parametrize("kind", ["counts", "tv", "hellinger", "js"])
@pytest.mark.parametrize("shards", [1, 2, 4, 7])
def test_exact_neighbours_are_those_of_one_search(kind, shards):
    vectors = make_rows(kind, 150)
    whole = find_neighbors(vectors, k=9, backend="exact")
    with Local() as engine:
        found = find_neighbors_by_shard(vectors, k=9, backend="exact", engine=engine, shards=shards)
    np.testing.assert_array_equal(found.indices, whole.indices)
    np.testing.assert_array_equal(found.distances, whole.distances)
    assert (found.backend, found.parameters, found.notices) == ("exact", {}, ())


@pytest.mark.parametrize("shards", [2, 7])
@pytest.mark.parametrize("short", [False, True])
def test_bytes_of_all_shards_prove_the_same_answer(shards, short, monkeypatch):
    vectors = make_rows("tv", 150)
    whole = find_neighbors(vectors, k=9, backend="exact")
    refined = []

    def note(*arguments, first, **options):
        refined.append(first)
        return refine_lists(*arguments, first=first, **options)

    refine_lists = quantised.refine_lists
    monkeypatch.setattr(quantised, "refine_lists", note)
    monkeypatch.setattr(quantised, "_PAYS_FROM", 0)
    monkeypatch.setattr(quantised, "_WIDTH_FROM", 0)
    if short:  # nothing is proved, and all lists are completed
        monkeypatch.setattr(quantised, "list_length", lambda k: k)
    found = find_neighbors_by_shard(vectors, k=9, backend="exact", engine=Local(), shards=shards)
    np.testing.assert_array_equal(found.indices, whole.indices)
    np.testing.assert_array_equal(found.distances, whole.distances)
    assert len(refined) == shards * (shards + 1) // 2


def test_matrix_products_are_proven_too():
    """From 2,048 rows on L2 goes by products, whose float32 rounding must not show."""
    vectors = make_rows("hellinger", 4200)
    whole = find_neighbors(vectors, k=5, backend="exact")
    found = find_neighbors_by_shard(vectors, k=5, backend="exact", engine=Local(), shards=2)
    np.testing.assert_array_equal(found.indices, whole.indices)
    np.testing.assert_array_equal(found.distances, whole.distances)


def test_shards_smaller_than_k():
    vectors = make_rows("counts", 16)
    whole = find_neighbors(vectors, k=12, backend="exact")
    found = find_neighbors_by_shard(vectors, k=12, backend="exact", engine=Local(), shards=7)
    np.testing.assert_array_equal(found.indices, whole.indices)


def test_across_a_boundary_where_rounding_proves_nothing():
    """More rows at one distance than a list is long: each must be looked at in float64."""
    x = np.zeros((90, 8), np.float32)
    x[:40, 0] = 0.1
    rows = prepare(Vectors.from_array(x, distance="tv"))
    indices, sums = nearest_across(rows, 40, 3)
    np.testing.assert_array_equal(indices[:40], np.tile([40, 41, 42], (40, 1)))
    np.testing.assert_array_equal(indices[40:], np.tile([0, 1, 2], (50, 1)))
    assert np.unique(sums).tolist() == [np.float64(np.float32(0.1))]


@pytest.mark.parametrize("shards", [2, 4])
def test_approximate_recall_is_that_of_one_search_or_better(shards):
    vectors = make_rows("hellinger", 900)
    asked = {"k": 10, "backend": "annoy", "n_trees": 10, "search_k": 30}
    whole = find_neighbors(vectors, **asked)
    found = find_neighbors_by_shard(vectors, engine=Local(), shards=shards, **asked)
    assert recall(whole, vectors).value < 0.99
    assert recall(found, vectors).value >= recall(whole, vectors).value - 0.01
    assert all(len(set(row)) == 10 and -1 not in row for row in found.indices.tolist())
    own = found.indices == np.arange(900)[:, None]
    assert not own.any()
    assert "pairs of" in found.notices[0]


def test_what_one_search_refuses_is_refused():
    vectors = make_rows("js", 20)
    with pytest.raises(InputError, match="cannot search by 'js'"):
        find_neighbors_by_shard(vectors, backend="hnsw", engine=Local(), shards=3)
    clamped = find_neighbors_by_shard(vectors, k=50, engine=Local(), shards=3)
    assert clamped.k == 19
