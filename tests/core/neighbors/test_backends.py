import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from core.errors import Cancelled, InputError
from core.neighbors import BACKENDS, Neighbors, find_neighbors
from core.neighbors._tiles import difference_tiles, make_tiles, product_tiles
from core.neighbors.annoy_trees import Annoy
from core.neighbors.kernels import (
    candidate_sums,
    pair_sum,
    prepare,
    refine_float64,
    tile_sums,
)
from core.vectors import Vectors


def brute(vectors: Vectors, k: int) -> tuple[np.ndarray, np.ndarray]:
    x = vectors.x.astype(np.float64)
    if vectors.block_weights is not None:
        x = x * np.repeat(vectors.block_weights, x.shape[1] // vectors.blocks)
    d = vectors.scale * np.array([np.linalg.norm(x - row, ord=vectors.norm, axis=1) for row in x])
    np.fill_diagonal(d, np.inf)
    order = np.argsort(d, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(d, order, axis=1)


def make(kind: str, n: int, distance: str, seed: int = 0, p: int = 24) -> Vectors:
    """Dyadic numbers: sums of them are exact, so that ties are ties in any order of adding."""
    rng = np.random.default_rng(seed)
    x = (rng.integers(0, 1024, (n, p)) / 1024).astype(np.float32)
    if kind == "duplicated":
        x = x[rng.integers(0, max(1, n // 6), n)]
    elif kind == "constant":
        x[:] = x[0]
    elif kind == "sparse":
        x *= rng.random((n, p)) < 0.05
    elif kind == "one-hot":
        x = np.eye(p, dtype=np.float32)[rng.integers(0, p, n)]
    elif kind == "uint8":
        x = rng.integers(0, 4, (n, p)).astype(np.uint8)
    elif kind == "uint16":
        x = rng.integers(0, 1000, (n, p)).astype(np.uint16)
    if kind.startswith("uint"):
        weights = np.array([0.25, 0.5, 0.25, 1.0])
        return Vectors.from_array(x, distance=distance, blocks=4, block_weights=weights)
    return Vectors.from_array(x, distance=distance)


KINDS = ["random", "duplicated", "constant", "sparse", "one-hot", "uint8", "uint16"]
NORMED = ["tv", "hellinger"]


def searchable(name: str) -> list[str]:
    """Distances to test a backend by; PyNNDescent compiles for 15 s anew for each of its own."""
    return ["tv"] if name == "nndescent" else [d for d in NORMED if d in BACKENDS[name].distances]


def check_form(found: Neighbors, n: int, k: int) -> None:
    assert found.indices.shape == found.distances.shape == (n, k)
    assert found.indices.dtype == np.int32
    assert found.distances.dtype == np.float64
    assert not (found.indices == np.arange(n)[:, None]).any()
    for row, distances in zip(found.indices, found.distances, strict=True):
        assert len(set(row)) == k
        assert list(zip(distances, row, strict=True)) == sorted(zip(distances, row, strict=True))


@pytest.mark.parametrize("distance", NORMED)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 3, 50, 333])
def test_exact_is_brute_force_in_order(kind, distance, n):
    vectors = make(kind, n, distance)
    k = min(12, n - 1)
    found = find_neighbors(vectors, k=k, backend="exact", threads=2)
    check_form(found, n, k)
    indices, distances = brute(vectors, k)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, rtol=1e-12, atol=0)
    assert found.notices == ()


@settings(max_examples=25)
@given(
    n=st.integers(2, 40),
    p=st.integers(1, 70),
    k=st.integers(1, 45),
    levels=st.integers(1, 6),
    distance=st.sampled_from(NORMED),
    counts=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_exact_is_brute_force_for_any_shape(n, p, k, levels, distance, counts, seed):
    x = np.random.default_rng(seed).integers(0, levels, (n, p))
    vectors = Vectors.from_array(x.astype(np.uint8 if counts else np.float32), distance=distance)
    found = find_neighbors(vectors, k=k, backend="exact", threads=1)
    indices, distances = brute(vectors, min(k, n - 1))
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, rtol=1e-12)


@pytest.mark.parametrize("name", list(BACKENDS))
@pytest.mark.parametrize("kind", ["random", "duplicated", "constant", "sparse", "uint8"])
@pytest.mark.parametrize("n", [2, 3, 60])
def test_every_backend_returns_true_distances_in_form(name, kind, n):
    for distance in searchable(name):
        vectors = make(kind, n, distance)
        k = min(5, n - 1)
        found = find_neighbors(vectors, k=k, backend=name, threads=1, seed=3)
        check_form(found, n, k)
        everything, distances = brute(vectors, n - 1)
        table = np.full((n, n), np.inf)
        np.put_along_axis(table, everything, distances, axis=1)
        np.testing.assert_allclose(
            found.distances, np.take_along_axis(table, found.indices, axis=1), rtol=1e-6, atol=1e-12
        )
        assert (found.distances >= distances[:, :k] - 1e-9).all()


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("kdtree", {"epsilon": 0.0}),
        ("annoy", {"n_trees": 20, "search_k": 4000}),
        ("nndescent", {"graph_k": 40}),
        ("hnsw", {"ef_search": 300}),
    ],
)
def test_approximate_backends_find_nearly_all_when_asked_to(name, given):
    for distance in searchable(name):
        vectors = make("random", 400, distance, p=8)
        found = find_neighbors(vectors, k=10, backend=name, threads=1, **given)
        _, distances = brute(vectors, 10)
        assert (found.distances <= distances[:, -1:] + 1e-9).mean() > 0.98
        assert found.parameters.items() >= given.items()


@pytest.mark.parametrize("name", ["exact", "annoy", "nndescent", "hnsw"])
def test_a_seed_gives_one_answer(name):
    vectors = make("random", 300, searchable(name)[-1])
    first, second = (
        find_neighbors(vectors, k=7, backend=name, seed=5, threads=1) for _ in range(2)
    )
    np.testing.assert_array_equal(first.indices, second.indices)
    np.testing.assert_array_equal(first.distances, second.distances)


@pytest.mark.parametrize("name", ["annoy", "nndescent"])
def test_another_seed_gives_another_search(name):
    vectors = make("random", 600, "tv")
    given = {"n_trees": 2, "search_k": 10} if name == "annoy" else {"graph_k": 6, "n_iters": 1}
    first, second = (
        find_neighbors(vectors, k=6, backend=name, seed=seed, threads=1, **given) for seed in (1, 2)
    )
    assert (first.indices != second.indices).any()


@pytest.mark.parametrize("kind", ["random", "one-hot", "uint8"])
@pytest.mark.parametrize("distance", NORMED)
def test_exact_does_not_depend_on_threads_or_tiles(kind, distance, monkeypatch):
    rng = np.random.default_rng(1)
    vectors = make(kind, 700, distance, p=40)
    if kind == "random":
        noise = rng.random(vectors.x.shape, dtype=np.float32)
        vectors = Vectors.from_array(noise, distance=distance)
    first = find_neighbors(vectors, k=9, backend="exact", threads=1)
    monkeypatch.setattr("core.neighbors._tiles.LARGEST_SIDE", 96)
    second = find_neighbors(vectors, k=9, backend="exact", threads=3)
    np.testing.assert_array_equal(first.indices, second.indices)
    np.testing.assert_array_equal(first.distances, second.distances)


@pytest.mark.parametrize("kind", ["random", "duplicated", "constant", "one-hot", "near"])
def test_products_and_differences_give_one_answer(kind, monkeypatch):
    vectors = make("random" if kind == "near" else kind, 300, "hellinger")
    if kind == "near":  # far from the origin: the products alone know nothing
        near = (1000 + vectors.x.astype(np.float64) / 100).astype(np.float32)
        vectors = Vectors.from_array(near, distance="hellinger")
    rows = prepare(vectors)
    assert not make_tiles(rows).uses_blas
    first = find_neighbors(vectors, k=9, backend="exact", threads=2)
    monkeypatch.setattr("core.neighbors._tiles._PRODUCT_ROWS", 1)
    assert make_tiles(rows).uses_blas
    second = find_neighbors(vectors, k=9, backend="exact", threads=2)
    np.testing.assert_array_equal(first.indices, second.indices)
    np.testing.assert_array_equal(first.distances, second.distances)


@pytest.mark.parametrize("tiles_of", [difference_tiles, product_tiles])
def test_tiles_keep_their_promise_of_precision(tiles_of):
    x = np.random.default_rng(0).random((120, 1000), dtype=np.float32)
    rows = prepare(Vectors.from_array(x, distance="hellinger"))
    tiles = tiles_of(rows)
    tile = tiles.fill(slice(0, 50), slice(50, 120)).astype(np.float64)
    truth = ((x[:50, None].astype(np.float64) - x[None, 50:]) ** 2).sum(axis=2)
    error = np.abs(tile - truth)
    assert error.max() > 0
    assert (error <= tiles.relative * tile + tiles.absolute).all()


@pytest.mark.parametrize("kind", ["random", "uint8", "uint16"])
@pytest.mark.parametrize("distance", NORMED)
def test_tile_sums_of_any_rows(kind, distance):
    vectors = make(kind, 30, distance, p=5000)
    rows = prepare(vectors)
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 30, 7), rng.integers(0, 30, 5)
    out = np.empty((7, 5))
    tile_sums(rows.x, a, b, rows.bounds, rows.weights, rows.norm, out)
    x = vectors.x.astype(np.float64)
    if vectors.block_weights is not None:
        x *= np.repeat(vectors.block_weights, 1250)
    truth = (np.abs(x[a][:, None] - x[b][None]) ** vectors.norm).sum(axis=2)
    np.testing.assert_allclose(out, truth, rtol=rows.relative_error + 1e-12)


@pytest.mark.parametrize("itemsize", [1, 4])
@pytest.mark.parametrize("distance", NORMED)
@pytest.mark.parametrize("length", [1, 4, 11])
def test_candidate_sums_are_pair_sums_bit_for_bit(length, distance, itemsize):
    rng = np.random.default_rng(length)
    # Of all sizes, so that another order of adding would round otherwise; some rows twice.
    x = np.exp(rng.normal(0, 9, (30, 4100))).astype(np.float32)[rng.integers(0, 30, 30)]
    if itemsize == 1:
        x = np.minimum(x, 255).astype(np.uint8)
    vectors = Vectors.from_array(x, distance=distance, blocks=4, block_weights=rng.random(4))
    rows = prepare(vectors)
    some = rng.integers(0, 30, 9)
    candidates = rng.integers(-9, 30, (9, length)).astype(np.int32)
    candidates[0] = -1
    out = np.empty(candidates.shape)
    kernel = rows.bounds, rows.weights, rows.norm
    candidate_sums(rows.x, *kernel, some, candidates, out)
    truth = [
        [np.inf if j < 0 else pair_sum(rows.x, i, j, *kernel) for j in near]
        for i, near in zip(some, candidates, strict=True)
    ]
    np.testing.assert_array_equal(out, truth)


@pytest.mark.parametrize("distance", NORMED)
@pytest.mark.parametrize("first", [0, 7])
def test_pairs_that_both_rows_list_are_refined_as_if_by_one(first, distance):
    rng = np.random.default_rng(first)
    n, m, k = 20, 13, 6
    x = np.exp(rng.normal(0, 9, (n, 1100))).astype(np.float32)[rng.integers(0, 15, n)]
    rows = prepare(Vectors.from_array(x, distance=distance))
    # Most of all others, so that most pairs are listed twice; some places are free.
    others = [np.delete(np.arange(n), i) for i in range(first, first + m)]
    candidates = np.array([rng.permutation(each)[:15] for each in others], np.int32)
    candidates[:, -2:] = -1
    indices, sums = refine_float64(rows, candidates, k, first=first, threads=2)
    for i, near, found, apart in zip(
        range(first, first + m), candidates, indices, sums, strict=True
    ):
        truth = sorted(
            (pair_sum(rows.x, i, j, rows.bounds, rows.weights, rows.norm), j)
            for j in near
            if j >= 0
        )
        assert list(zip(apart, found, strict=True)) == truth[:k]


def test_counts_without_the_machine_instruction(tmp_path):
    """The portable form of the byte kernel, as a processor without AVX2 compiles it."""
    script = """
import numpy as np
from core.vectors import Vectors
from core.neighbors.kernels import prepare, tile_sums
x = np.random.default_rng(0).integers(0, 256, (6, 9000)).astype(np.uint8)
x[0], x[1] = 0, 255
rows = prepare(Vectors.from_array(x, distance="tv"))
out = np.empty((6, 6))
tile_sums(rows.x, np.arange(6), np.arange(6), rows.bounds, rows.weights, 1, out)
assert (out == np.abs(x[:, None].astype(int) - x).sum(axis=2)).all()
"""
    environment = os.environ | {
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)


def test_types_of_one_data_agree():
    counts = np.random.default_rng(0).integers(0, 200, (150, 64))
    answers = [
        find_neighbors(
            Vectors.from_array(counts.astype(dtype), distance="tv"), k=10, backend="exact"
        )
        for dtype in (np.uint8, np.uint16, np.float32, np.float64)
    ]
    for other in answers[1:]:
        np.testing.assert_array_equal(other.indices, answers[0].indices)
        np.testing.assert_array_equal(other.distances, answers[0].distances)


@pytest.mark.parametrize("blocks", [1, 3])
def test_jensen_shannon_is_root_of_one_block_and_sum_of_several(blocks):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(10, 0.3), (40, blocks))
    p[7] = p[3]
    p[p < 0.05] = 0
    p /= p.sum(axis=2, keepdims=True)
    x = p.reshape(40, -1).astype(np.float32)
    vectors = Vectors.from_array(x, distance="js", blocks=blocks)
    found = find_neighbors(vectors, k=6, backend="exact")
    check_form(found, 40, 6)
    table = np.zeros((40, 40))
    for i in range(40):
        for j in range(40):
            parts = [jensenshannon(p[i, b], p[j, b], base=2) for b in range(blocks)]
            table[i, j] = parts[0] if blocks == 1 else sum(part**2 for part in parts)
    np.fill_diagonal(table, np.inf)
    np.testing.assert_allclose(found.distances, np.sort(table, axis=1)[:, :6], atol=2e-4)
    assert found.indices[3, 0] == 7
    assert found.distances[3, 0] == 0


@pytest.mark.parametrize("name", list(BACKENDS))
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("beyond", [0, 1, 500])
def test_few_points_have_all_others_for_neighbours(name, n, beyond):
    for distance in ["tv", "hellinger", "js"] if name == "exact" else searchable(name):
        x = make("random", n, "tv").x
        vectors = Vectors.from_array(x / x.sum(axis=1, keepdims=True), distance=distance)
        found = find_neighbors(vectors, k=n + beyond, backend=name, threads=2)
        check_form(found, n, n - 1)
        assert found.backend == name
        assert f"K is {n - 1} instead" in found.notices[0]
        assert np.isfinite(found.distances).all()


@pytest.mark.parametrize("name", [name for name in BACKENDS if not BACKENDS[name].seeded])
def test_a_backend_that_is_not_seeded_finds_the_same_with_any_seed(name):
    vectors = make("duplicated", 200, "hellinger")
    first, second = (find_neighbors(vectors, k=7, backend=name, seed=seed) for seed in (1, 2))
    np.testing.assert_array_equal(first.indices, second.indices)
    np.testing.assert_array_equal(first.distances, second.distances)


def test_k_is_clamped_with_a_notice():
    found = find_neighbors(make("random", 4, "tv"), k=20, backend="exact")
    check_form(found, 4, 3)
    assert "K is 3 instead" in found.notices[0]


@pytest.mark.parametrize("name", ["auto", *BACKENDS])
def test_one_point_has_no_neighbours(name, monkeypatch, tmp_path):
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path))
    found = find_neighbors(make("random", 1, "hellinger"), k=5, backend=name)
    check_form(found, 1, 0)
    assert found.notices


@pytest.mark.parametrize("name", [name for name in BACKENDS if name != "exact"])
def test_others_refuse_jensen_shannon_and_say_why(name):
    x = np.full((5, 4), 0.25, dtype=np.float32)
    with pytest.raises(InputError, match=r"no norm .* choose exact"):
        find_neighbors(Vectors.from_array(x, distance="js"), k=2, backend=name)


def test_without_hnswlib_the_backend_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    with pytest.raises(InputError, match=r"pip install 'wattfold\[hnsw\]'"):
        find_neighbors(make("random", 9, "hellinger"), k=2, backend="hnsw")
    assert "hnsw" in BACKENDS


def test_hnsw_refuses_total_variation_and_names_others():
    with pytest.raises(InputError, match=r"L1 norm.* choose exact or kdtree or annoy"):
        find_neighbors(make("random", 9, "tv"), k=2, backend="hnsw")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k": 0}, "k must be at least 1"),
        ({"backend": "nearest"}, "no neighbour backend 'nearest'; choose one of exact"),
        ({"backend": "annoy", "n_trees": 0}, "n_trees must be a whole number from 1"),
        ({"backend": "exact", "n_trees": 5}, "has no parameter 'n_trees'"),
    ],
)
def test_what_cannot_be_used_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        find_neighbors(make("random", 9, "tv"), **given)


def test_numbers_that_are_not_finite_are_refused():
    x = np.ones((5, 4), dtype=np.float32)
    x[2, 1] = np.nan
    with pytest.raises(InputError, match="NaN"):
        find_neighbors(Vectors.from_array(x, distance="tv"), k=2, backend="exact")


def test_annoy_fills_short_rows_and_says_so():
    vectors = make("random", 200, "tv", p=4)
    found = find_neighbors(vectors, k=30, backend="annoy", n_trees=1, search_k=1)
    check_form(found, 200, 30)
    assert "searched again" in found.notices[0]


@pytest.mark.parametrize(("p", "one_leaf"), [(6, False), (400, True)])
def test_annoy_is_faithful_to_its_library(p, one_leaf):
    from annoy import AnnoyIndex

    vectors = make("random", 300, "tv", p=p)
    index = AnnoyIndex(p, "manhattan")
    index.set_seed(9)
    for i, row in enumerate(vectors.x):
        index.add_item(i, row)
    index.build(7, n_jobs=1)
    found = find_neighbors(
        vectors, k=4, backend=Annoy.name, n_trees=7, search_k=60, seed=9, threads=2
    )
    for i in range(300):
        theirs = [j for j in index.get_nns_by_item(i, 5, 60) if j != i][:4]
        assert set(found.indices[i]) == set(theirs)
    assert found.backend == Annoy.name
    assert any("brute force in disguise" in notice for notice in found.notices) == one_leaf


def test_progress_grows_to_one_and_cancel_stops():
    vectors = make("random", 900, "tv", p=40)
    seen = []
    me = threading.get_ident()

    def note(fraction: float, message: str = "") -> None:
        assert threading.get_ident() == me
        seen.append(fraction)

    find_neighbors(vectors, k=5, backend="exact", threads=2, progress=note)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0

    def cancel(fraction: float, message: str = "") -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        find_neighbors(vectors, k=5, backend="exact", threads=2, progress=cancel)
