"""Bytes that discard pairs discard no neighbour: the answer is that of float64, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.neighbors import find_neighbors, quantised
from core.neighbors.kernels import Rows, pair_sum, prepare
from core.progress import silent
from core.vectors import Vectors


def rows_of(x: np.ndarray) -> Rows:
    return prepare(Vectors.from_array(np.asarray(x, np.float32), distance="tv"))


def slow_twin(rows: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Every pair in float64, and a sort."""
    n = len(rows.x)
    sums = np.full((n, n), np.inf)
    for i in range(n):
        for j in range(n):
            if i != j:
                sums[i, j] = pair_sum(rows.x, i, j, rows.bounds, rows.weights, 1)
    order = np.lexsort((np.broadcast_to(np.arange(n), (n, n)), sums))[:, :k]
    return order, np.take_along_axis(sums, order, axis=1)


def probabilities(n: int, bins: int, blocks: int, rng, sizes=(60, 250)) -> np.ndarray:
    """Distributions of samples of unequal sizes."""
    shapes = rng.dirichlet(np.full(bins, 0.5), (4, blocks))
    rows = []
    for _ in range(n):
        row = []
        for block in shapes[rng.integers(4)]:
            m = rng.integers(*sizes)
            row.append(rng.multinomial(m, block) / m)
        rows.append(np.concatenate(row))
    return np.array(rows, np.float32)


def with_ties(x: np.ndarray, rng) -> np.ndarray:
    return np.round(x * 8) / 8


def with_duplicates(x: np.ndarray, rng) -> np.ndarray:
    return x[rng.integers(0, len(x) // 4, len(x))]


def with_tiny_distances(x: np.ndarray, rng) -> np.ndarray:
    return np.maximum(x[:1] + rng.normal(0, 1e-7, x.shape), 0)


def with_one_bin(x: np.ndarray, rng) -> np.ndarray:
    """Half of the rows have all of their mass in one column of each block."""
    x = x.copy()
    x[::2] = 0
    x[::2, ::20] = rng.choice([1.0, 0.999, 0.5], x[::2, ::20].shape)
    return x


def with_large_values(x: np.ndarray, rng) -> np.ndarray:
    return x * 1e6


def with_residuals_of_half(x: np.ndarray, rng) -> np.ndarray:
    """Values half-way between two bytes of any scale that may be chosen."""
    return (rng.integers(0, 200, x.shape) + 0.5) / 1024


def as_they_are(x: np.ndarray, rng) -> np.ndarray:
    return x


KINDS = (
    as_they_are,
    with_ties,
    with_duplicates,
    with_tiny_distances,
    with_one_bin,
    with_large_values,
    with_residuals_of_half,
)


@pytest.mark.parametrize("k", [1, 7, 79])
@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_those_of_the_slow_twin_bit_for_bit(kind, k):
    rng = np.random.default_rng(3)
    rows = rows_of(kind(probabilities(80, 20, 9, rng), rng))
    expected, expected_sums = slow_twin(rows, k)
    for threads in (1, 3):
        indices, sums = quantised.nearest_quantised(rows, k, threads=threads, progress=silent)
        np.testing.assert_array_equal(indices, expected)
        np.testing.assert_array_equal(sums, expected_sums)


@pytest.mark.parametrize("kind", KINDS)
def test_short_lists_are_completed(kind, monkeypatch):
    monkeypatch.setattr(quantised, "list_length", lambda k: k + 1)
    rng = np.random.default_rng(4)
    rows = rows_of(kind(probabilities(60, 20, 9, rng), rng))
    expected, expected_sums = slow_twin(rows, 5)
    indices, sums = quantised.nearest_quantised(rows, 5, threads=2, progress=silent)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(sums, expected_sums)


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 30), st.integers(1, 40), st.integers(0, 2**31), st.floats(1e-6, 1e6))
def test_the_bound_never_exceeds_a_sum(n, width, seed, size):
    rng = np.random.default_rng(seed)
    x = rng.random((n, width)) ** rng.integers(1, 12) * size
    x[rng.random((n, width)) < 0.3] = 0
    x[rng.random((n, width)) < 0.05] *= 1_000
    rows = rows_of(x)
    coarse = quantised.quantise(rows)
    residuals = coarse.residuals
    for i in range(n):
        for j in range(n):
            q = coarse.rows
            apart = np.array([pair_sum(q.x, i, j, q.bounds, q.weights, 1)])
            bound = quantised._bound(apart, residuals[i], residuals[j], coarse)
            assert bound[0] <= pair_sum(rows.x, i, j, rows.bounds, rows.weights, 1)


def test_wide_rows_take_it_and_others_do_not(monkeypatch):
    monkeypatch.setattr(quantised, "_PAYS_FROM", 0)
    rng = np.random.default_rng(0)
    x = probabilities(40, 100, 21, rng)
    vectors = Vectors.from_array(x, distance="tv")
    assert quantised.pays(prepare(vectors))
    used = []
    whole = quantised.nearest_quantised

    def note(*arguments, **options):
        used.append(True)
        return whole(*arguments, **options)

    monkeypatch.setattr(quantised, "nearest_quantised", note)
    found = find_neighbors(vectors, k=6, backend="exact")
    assert used == [True]
    monkeypatch.setattr(quantised, "pays", lambda rows: False)
    plain = find_neighbors(vectors, k=6, backend="exact")
    np.testing.assert_array_equal(found.indices, plain.indices)
    np.testing.assert_array_equal(found.distances, plain.distances)


@pytest.mark.parametrize(
    ("x", "distance"),
    [
        (np.ones((40, 2_100), np.float32), "hellinger"),
        (np.ones((40, 100), np.float32), "tv"),
        (np.zeros((40, 2_100), np.float32), "tv"),
        (-np.ones((40, 2_100), np.float32), "tv"),
        (np.ones((40, 2_100), np.uint8), "tv"),
    ],
)
def test_what_the_bound_is_not_made_for_is_left_alone(x, distance, monkeypatch):
    monkeypatch.setattr(quantised, "_PAYS_FROM", 0)
    assert not quantised.pays(prepare(Vectors.from_array(x, distance=distance)))
