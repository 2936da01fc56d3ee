"""Exact neighbours: every pair is compared once, fast, and the answer is settled in float64.

The rows are cut into blocks; each pair of blocks is one tile of sums, offered to the lists of its
rows and of its columns, so N² numbers are never held. Tiles carry float32 rounding. A list is
therefore longer than k, and proves itself: whatever it left out is at least its last sum less
the bound on the error. Where that is not above the k-th float64 sum, the row is completed from
every other row that the bound does not exclude.
"""

import math
from contextlib import nullcontext
from threading import RLock
from typing import Any, ClassVar

import numpy as np
from numba import njit
from threadpoolctl import threadpool_limits

from core.distance import Vectors
from core.neighbors.cost import Cost, Machine, Problem
from core.neighbors.interface import Backend, Neighbors
from core.neighbors.kernels import TILE, Rows, distances, pair_sum, prepare, settle, tile_sums
from core.neighbors.nearest import empty_lists, insert, offer_tile
from core.neighbors.threads import share, slices
from core.neighbors.tiles import (
    LARGEST_SIDE,
    Tiles,
    by_products,
    divergence_tiles,
    divergences,
    make_tiles,
)
from core.progress import Progress, part, silent


class Exact(Backend):
    """Compare all pairs."""

    name: ClassVar[str] = "exact"
    title: ClassVar[str] = "Exact"
    help: ClassVar[str] = "Compares all pairs. Always right; time grows with N²."
    seeded: ClassVar[bool] = False
    distances: ClassVar[tuple[str, ...]] = ("hellinger", "tv", "js")
    automatic: ClassVar[bool] = True

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
            x = np.ascontiguousarray(vectors.x, dtype=np.float32)
            tiles = divergence_tiles(x)
            indices, sums = nearest_by_tiles(tiles, len(x), k, threads=threads, progress=progress)
        else:
            rows = prepare(vectors)
            indices, sums = nearest_rows(rows, k, threads=threads, progress=progress)
        return Neighbors(indices, to_distances(vectors, sums), self.name, settings)

    def cost(self, problem: Problem, machine: Machine, **settings: Any) -> Cost:
        """Half of all pairs, p differences each, and the lists' share of them."""
        n, p, length = problem.n, problem.p, list_length(problem.k)
        pairs = n * (n + TILE) / 2
        counts = problem.norm == 1 and problem.itemsize == 1
        if problem.norm == 0:
            compare = p * machine.js
        elif problem.norm == 2 and by_products(n, p):
            compare = p * machine.l2_product + machine.product_pair
        else:
            rate = machine.l1_counts if counts else machine.l1_float
            compare = p * rate + machine.difference_pair
        # Threads that are at one block of rows wait for its lists: offering is done by one.
        inserts = n * length * (1 + math.log(max(n / length, 1.0)))
        offering = pairs * machine.offer + inserts * machine.insert
        settling = 0.0
        if problem.norm != 0 and not counts:
            # In float64, which takes two registers for one and converts.
            settling = n * problem.k * (machine.fetch(n, p) + 4 * p * machine.l1_float)
        memory = n * length * 40 + problem.threads * LARGEST_SIDE**2 * 8
        shared = (pairs * compare + settling) / problem.threads
        return Cost(shared + offering, memory / 1e6)


def list_length(k: int) -> int:
    """Candidates kept for each row: few are as near as the k-th up to float32 rounding."""
    return k + 4 + k // 8


def nearest_rows(
    rows: Rows, k: int, *, threads: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Indices and float64 sums of the k nearest other rows of every row, by (sum, index)."""
    n = len(rows.x)
    tiles = make_tiles(rows)
    if tiles.are_settled:
        return nearest_by_tiles(tiles, n, k, threads=threads, progress=progress)
    length = min(n - 1, list_length(k))
    indices, sums = nearest_by_tiles(
        tiles, n, length, threads=threads, progress=part(progress, 0.0, 0.9)
    )
    errors = tiles.relative * np.abs(sums) + tiles.absolute
    at_least = sums - errors
    # What cannot be among the k best need not be settled.
    indices[at_least > (sums + errors)[:, [k - 1]]] = -1
    indices, sums = settle(rows, indices, k, threads=threads, progress=part(progress, 0.9, 0.95))
    unproven = np.flatnonzero(sums[:, -1] >= at_least[:, -1])
    if length < n - 1:
        complete(rows, unproven, indices, sums, threads=threads, progress=part(progress, 0.95, 1.0))
    progress(1.0)
    return indices, sums


def complete(
    rows: Rows,
    which: np.ndarray,
    indices: np.ndarray,
    sums: np.ndarray,
    *,
    threads: int,
    progress: Progress = silent,
) -> None:
    """Make the lists of some rows exact, in place.

    ``sums[i, -1]`` must be at least the true k-th sum of row i; infinity always is.
    """
    slack = 1 + 2 * rows.relative_error

    def work(piece: slice) -> None:
        some = which[piece]
        _complete(rows.x, rows.bounds, rows.weights, rows.norm, slack, some, sums, indices)

    share(
        work, slices(len(which), TILE), threads=threads, progress=progress, message="settling ties"
    )


def nearest_of(
    vectors: Vectors, which: np.ndarray, k: int, *, threads: int, progress: Progress = silent
) -> tuple[np.ndarray, np.ndarray]:
    """Indices and distances of the k nearest other rows of some rows, both (len(which), k)."""
    n = len(vectors.x)
    sums, indices = empty_lists(n, k, np.float64)
    if vectors.norm == 0:
        x = np.ascontiguousarray(vectors.x, dtype=np.float32)

        def work(piece: slice) -> None:
            _complete_divergences(x, which[piece], sums, indices)

        share(work, slices(len(which), TILE), threads=threads, progress=progress)
    else:
        rows = prepare(vectors)
        complete(rows, which, indices, sums, threads=threads, progress=progress)
    return indices[which], to_distances(vectors, sums[which])


def to_distances(vectors: Vectors, sums: np.ndarray) -> np.ndarray:
    """Turn sums of rows, or divergences, into statistical distances."""
    if vectors.norm == 0:
        return vectors.scale * (np.sqrt(sums) if vectors.blocks == 1 else sums)
    return distances(sums, vectors.norm, vectors.scale)


def nearest_by_tiles(
    tiles: Tiles,
    n: int,
    length: int,
    *,
    threads: int,
    progress: Progress,
    boundary: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Indices and sums of the ``length`` nearest other rows as the tiles see them.

    With a ``boundary``, rows before it are compared with the rows from it on, and with no others;
    a list that is not full then ends with the index −1 and infinity.
    """
    if boundary is None:
        blocks = slices(n, tiles.side)
        # Row by row: the first block of a pair is then still in the shared cache.
        pairs = [(i, j) for i in range(len(blocks)) for j in range(i, len(blocks))]
    else:
        before, after = slices(boundary, tiles.side), slices(n - boundary, tiles.side)
        blocks = before + [slice(b.start + boundary, b.stop + boundary) for b in after]
        pairs = [(i, j) for i in range(len(before)) for j in range(len(before), len(blocks))]
    sums, indices = empty_lists(n, length, tiles.dtype)
    limits = sums[:, -1].copy()
    locks = [RLock() for _ in blocks]

    def compare(pair: tuple[int, int]) -> None:
        i, j = pair
        tile = tiles.fill(blocks[i], blocks[j])
        with locks[i], locks[j]:
            offer_tile(tile, blocks[i].start, blocks[j].start, sums, indices, limits)

    with threadpool_limits(1, user_api="blas") if tiles.uses_blas else nullcontext():
        share(compare, pairs, threads=threads, progress=progress, message="comparing all pairs")
    return indices, sums.astype(np.float64, copy=False)


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
                # Rows come in order, so one at distance zero has no chance after k others.
                if sums[i, -1] == 0.0 or i == j:
                    continue
                if tile[r, c] <= min(limits[r], sums[i, -1] * slack):
                    insert(sums, indices, i, pair_sum(x, i, j, bounds, weights, norm), j)


@njit(cache=True, nogil=True)
def _complete_divergences(x, rows, sums, indices):  # type: ignore[no-untyped-def]
    """Find the nearest of some rows among all by their Jensen–Shannon divergence."""
    n = len(x)
    tile = np.empty((len(rows), TILE))
    for start in range(0, n, TILE):
        stop = min(start + TILE, n)
        divergences(x[rows], x[start:stop], tile)
        for r, i in enumerate(rows):
            for j in range(start, stop):
                if i != j:
                    insert(sums, indices, i, tile[r, j - start], j)
