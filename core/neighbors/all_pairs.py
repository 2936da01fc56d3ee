"""All pairs of rows compared: each once, fast, and the answer refined in float64.

The rows are cut into blocks; each pair of blocks is one tile of sums, offered to the lists of its
rows and of its columns, so N² numbers are never held. Tiles carry float32 rounding. A list is
therefore longer than k, and proves itself: whatever it left out is at least its last sum less
the bound on the error. Where that is not above the k-th float64 sum, the row is completed from
every other row that the bound does not exclude.
"""

from contextlib import nullcontext
from threading import RLock

import numpy as np
from numba import njit
from threadpoolctl import threadpool_limits

from core.neighbors import quantised
from core.neighbors._tiles import Tiles, divergence_tiles, divergences, make_tiles
from core.neighbors._topk import empty_lists, insert, offer_tile
from core.neighbors.kernels import TILE, Rows, pair_sum, prepare, refine_float64, tile_sums
from core.parallel import run_tasks, slices
from core.progress import Progress, part, silent
from core.vectors import Vectors


def list_length(k: int) -> int:
    """Candidates kept for each row: few are as near as the k-th up to float32 rounding."""
    return k + 4 + k // 8


def nearest_others(
    vectors: Vectors, k: int, *, threads: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Indices and sums of the k nearest other rows of every row, by (sum, index)."""
    if vectors.is_normed:
        return nearest_rows(prepare(vectors), k, threads=threads, progress=progress)
    x = np.ascontiguousarray(vectors.x, dtype=np.float32)
    return nearest_by_tiles(divergence_tiles(x), len(x), k, threads=threads, progress=progress)


def nearest_rows(
    rows: Rows, k: int, *, threads: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Indices and float64 sums of the k nearest other rows of every row, by (sum, index)."""
    n = len(rows.x)
    if quantised.pays(rows):
        return quantised.nearest_quantised(rows, k, threads=threads, progress=progress)
    tiles = make_tiles(rows)
    if tiles.are_final:
        return nearest_by_tiles(tiles, n, k, threads=threads, progress=progress)
    length = min(n - 1, list_length(k))
    indices, sums = nearest_by_tiles(
        tiles, n, length, threads=threads, progress=part(progress, 0.0, 0.9)
    )
    errors = tiles.relative * np.abs(sums) + tiles.absolute
    at_least = sums - errors
    # What cannot be among the k best need not be refined.
    indices[at_least > (sums + errors)[:, [k - 1]]] = -1
    indices, sums = refine_float64(
        rows, indices, k, threads=threads, progress=part(progress, 0.9, 0.95)
    )
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

    run_tasks(
        work, slices(len(which), TILE), threads=threads, progress=progress, message="ordering ties"
    )


def nearest_of(
    vectors: Vectors, which: np.ndarray, k: int, *, threads: int, progress: Progress = silent
) -> tuple[np.ndarray, np.ndarray]:
    """Indices and distances of the k nearest other rows of some rows, both (len(which), k)."""
    n = len(vectors.x)
    sums, indices = empty_lists(n, k, np.float64)
    if not vectors.is_normed:
        x = np.ascontiguousarray(vectors.x, dtype=np.float32)

        def work(piece: slice) -> None:
            _complete_divergences(x, which[piece], sums, indices)

        run_tasks(work, slices(len(which), TILE), threads=threads, progress=progress)
    else:
        rows = prepare(vectors)
        complete(rows, which, indices, sums, threads=threads, progress=progress)
    return indices[which], vectors.to_distances(sums[which])


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
    first = boundary or 0
    before, after = slices(first, tiles.side), slices(n - first, tiles.side)
    blocks = before + [slice(b.start + first, b.stop + first) for b in after]
    # Blocks beside each other first, since rows in order are often near: lists are soon as good
    # as they get. Beyond those, pairs that follow each other have no block in common, so that
    # threads seldom wait.
    pairs = [(i, i + gap) for gap in range(len(blocks)) for i in range(len(blocks) - gap)]
    if boundary is not None:
        pairs = [(i, j) for i, j in pairs if i < len(before) <= j]
    sums, indices = empty_lists(n, length, tiles.dtype)
    limits = sums[:, -1].copy()
    locks = [RLock() for _ in blocks]

    def compare(pair: tuple[int, int]) -> None:
        i, j = pair
        tile = tiles.fill(blocks[i], blocks[j])
        with locks[i], locks[j]:
            offer_tile(tile, blocks[i].start, blocks[j].start, sums, indices, limits)

    with threadpool_limits(1, user_api="blas") if tiles.uses_blas else nullcontext():
        run_tasks(compare, pairs, threads=threads, progress=progress, message="comparing all pairs")
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
