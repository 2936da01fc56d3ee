"""Exact neighbours: every pair is compared once, fast, and the answer is settled in float64.

The rows are cut into blocks; each pair of blocks is one tile of sums, offered to the lists of its
rows and of its columns, so N² numbers are never held. Tiles carry float32 rounding. A list is
therefore longer than k, and proves itself: whatever it left out is at least its last sum less
the bound on the error. Where that is not above the k-th float64 sum, the row is completed from
every other row that the bound does not exclude.
"""

import math
from threading import RLock
from typing import Any, ClassVar

import numpy as np
from numba import njit

from core.distance import Vectors
from core.neighbors.cost import Cost, Machine, Problem
from core.neighbors.divergence import find_divergence_neighbors
from core.neighbors.interface import Backend, Neighbors
from core.neighbors.kernels import TILE, Rows, distances, pair_sum, prepare, settle, tile_sums
from core.neighbors.nearest import empty_lists, insert, offer_tile
from core.neighbors.threads import share, slices
from core.progress import Progress, part

# A tile of blocks takes about this many differences, some 10 ms: long for Python, short for Cancel.
_TILE_WORK = 3e8
_LARGEST_BLOCK = 5 * TILE


class Exact(Backend):
    """Compare all pairs."""

    name: ClassVar[str] = "exact"
    title: ClassVar[str] = "Exact"
    help: ClassVar[str] = "Compares all pairs. Always right; time grows with N²."
    distances: ClassVar[tuple[str, ...]] = ("hellinger", "tv", "js")

    def query(
        self,
        vectors: Vectors,
        k: int,
        *,
        seed: int,
        threads: int,
        progress: Progress,
        **settings: Any,
    ) -> Neighbors:
        """Find the k nearest other rows of every row."""
        if vectors.norm == 0:
            indices, found = find_divergence_neighbors(
                vectors, k, threads=threads, progress=progress
            )
        else:
            rows = prepare(vectors)
            indices, sums = nearest_rows(rows, k, threads=threads, progress=progress)
            found = distances(sums, rows.norm, vectors.scale)
        return Neighbors(indices, found, self.name, settings)

    def cost(self, problem: Problem, machine: Machine, **settings: Any) -> Cost:
        """Half of all pairs, p differences each."""
        differences = problem.n * (problem.n - 1) / 2 * problem.p
        if problem.norm == 0:
            rate = machine.js
        elif problem.norm == 2:
            rate = machine.l2
        else:
            rate = machine.l1_counts if problem.itemsize == 1 else machine.l1_float
        seconds = differences * rate / problem.threads
        lists = problem.n * (2.5 * problem.k + 16) * 12
        tiles = problem.threads * _LARGEST_BLOCK**2 * 8
        return Cost(seconds, (lists + tiles) / 1e6)


def nearest_rows(
    rows: Rows, k: int, *, threads: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Indices and float64 sums of the k nearest other rows of every row, by (sum, index)."""
    n = len(rows.x)
    exact_tiles = rows.relative_error == 0
    length = k if exact_tiles else min(n - 1, k + max(8, k // 2))
    sums, indices = _compare_all(rows, length, threads=threads, progress=part(progress, 0.0, 0.95))
    if exact_tiles:
        return indices, sums
    limits = sums[:, -1].copy()
    # What cannot be among the k best is not settled.
    hopeless = sums * (1 - rows.relative_error) > sums[:, [k - 1]] * (1 + rows.relative_error)
    indices[hopeless] = -1
    indices, sums = settle(rows, indices, k, threads=threads)
    unproven = np.flatnonzero(sums[:, -1] >= limits * (1 - rows.relative_error))
    if length < n - 1 and len(unproven) > 0:

        def complete(piece: slice) -> None:
            _complete(
                rows.x,
                rows.bounds,
                rows.weights,
                rows.norm,
                1 + rows.relative_error,
                unproven[piece],
                sums,
                indices,
            )

        share(
            complete,
            slices(len(unproven), TILE),
            threads=threads,
            progress=part(progress, 0.95, 1.0),
            message="settling ties",
        )
    progress(1.0)
    return indices, sums


def _compare_all(
    rows: Rows, length: int, *, threads: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Lists of the nearest rows by tile sums: sums (n, length) float64 and indices."""
    n, width = rows.x.shape
    side = TILE * max(1, round(math.sqrt(_TILE_WORK / width) / TILE))
    blocks = slices(n, min(side, _LARGEST_BLOCK))
    # Diagonal by diagonal, so that threads seldom meet at one block's lists.
    pairs = [(i, i + d) for d in range(len(blocks)) for i in range(len(blocks) - d)]
    sums, indices = empty_lists(n, length, np.float64)
    limits = sums[:, -1].copy()
    locks = [RLock() for _ in blocks]
    everything = np.arange(n)

    def compare(pair: tuple[int, int]) -> None:
        a, b = blocks[pair[0]], blocks[pair[1]]
        tile = np.empty((a.stop - a.start, b.stop - b.start))
        _fill_tile(rows.x, everything[a], everything[b], rows.bounds, rows.weights, rows.norm, tile)
        with locks[pair[0]], locks[pair[1]]:
            offer_tile(tile, a.start, b.start, sums, indices, limits)

    share(compare, pairs, threads=threads, progress=progress, message="comparing all pairs")
    return sums, indices


@njit(cache=True, nogil=True)
def _fill_tile(x, rows_a, rows_b, bounds, weights, norm, tile):  # type: ignore[no-untyped-def]
    """Fill a tile piece by piece, so that the rows of a piece stay in the cache."""
    diagonal = rows_a[0] == rows_b[0]
    for i in range(0, len(rows_a), TILE):
        for j in range(i if diagonal else 0, len(rows_b), TILE):
            a, b = rows_a[i : i + TILE], rows_b[j : j + TILE]
            tile_sums(x, a, b, bounds, weights, norm, tile[i : i + TILE, j : j + TILE])


@njit(cache=True, nogil=True)
def _complete(x, bounds, weights, norm, slack, rows, sums, indices):  # type: ignore[no-untyped-def]
    """Find the nearest of some rows anew among all that may be as near as their k-th.

    ``sums[i, -1]`` is at least the true k-th sum, so no row whose tile sum is above
    ``slack`` times it can belong to the answer.
    """
    n = len(x)
    limits = np.empty(len(rows))
    for r, i in enumerate(rows):
        limits[r] = sums[i, -1] * slack
        sums[i] = np.inf
        indices[i] = -1
    tile = np.empty((len(rows), TILE))
    for start in range(0, n, TILE):
        others = np.arange(start, min(start + TILE, n))
        tile_sums(x, rows, others, bounds, weights, norm, tile)
        for r, i in enumerate(rows):
            for c, j in enumerate(others):
                if tile[r, c] <= min(limits[r], sums[i, -1] * slack) and i != j:
                    insert(sums[i], indices[i], pair_sum(x[i], x[j], bounds, weights, norm), j)
