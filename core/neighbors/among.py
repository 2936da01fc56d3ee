"""The nearest of some rows among others: new points among those of a map, all among landmarks.

The rows in question come after the rows that they are compared with. Each is searched by itself,
and its answer settled in float64, so it does not depend on what other rows are asked for.
"""

from contextlib import nullcontext

import numpy as np
from threadpoolctl import threadpool_limits

from core.distance import Vectors
from core.neighbors.exact import list_length, to_distances
from core.neighbors.kernels import Rows, candidate_sums, prepare, settle
from core.neighbors.nearest import empty_lists, offer_rows
from core.neighbors.threads import share, slices
from core.neighbors.tiles import Tiles, divergence_tiles, make_tiles
from core.progress import Progress, silent


def nearest_among(
    vectors: Vectors, count: int, k: int, *, threads: int, progress: Progress = silent
) -> tuple[np.ndarray, np.ndarray]:
    """Find the k rows among the first ``count`` that are nearest to each row after them.

    Returns
    -------
    indices : ndarray of shape (n − count, k), int32
        By (distance, index).
    distances : ndarray of shape (n − count, k), float64
        In the units of the statistical distance.
    """
    k = min(k, count)
    if vectors.norm == 0:
        tiles = divergence_tiles(np.ascontiguousarray(vectors.x, dtype=np.float32))
        indices, sums = _by_tiles(tiles, len(vectors.x), count, k, threads, progress)
        return indices, to_distances(vectors, sums)
    rows = prepare(vectors)
    tiles = make_tiles(rows)
    length = k if tiles.are_settled else min(count, list_length(k))
    indices, sums = _by_tiles(tiles, len(rows.x), count, length, threads, progress)
    if not tiles.are_settled:
        # Whatever a list left out is at least its last sum less the bound on the error.
        last = sums[:, -1]
        left_out_from = last - (tiles.relative * np.abs(last) + tiles.absolute)
        indices, sums = settle(rows, indices, k, first=count, threads=threads)
        if length < count:
            _complete(rows, count, np.flatnonzero(sums[:, -1] >= left_out_from), indices, sums)
    return indices, to_distances(vectors, sums)


def _by_tiles(
    tiles: Tiles, n: int, count: int, length: int, threads: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    sums, indices = empty_lists(n - count, length, tiles.dtype)
    others = slices(count, tiles.side)

    def work(block: slice) -> None:
        own = slice(count + block.start, count + block.stop)
        for other in others:
            offer_rows(tiles.fill(own, other), other.start, sums[block], indices[block])

    with threadpool_limits(1, user_api="blas") if tiles.uses_blas else nullcontext():
        blocks = slices(n - count, tiles.side)
        share(work, blocks, threads=threads, progress=progress, message="comparing with the map")
    return indices, sums.astype(np.float64, copy=False)


def _complete(
    rows: Rows, count: int, which: np.ndarray, indices: np.ndarray, sums: np.ndarray
) -> None:
    """Find the nearest of a few rows anew, all in float64."""
    others = np.arange(count, dtype=np.int32)
    found = np.empty((1, count))
    for row in which:
        own = np.array([count + row])
        candidate_sums(rows.x, rows.bounds, rows.weights, rows.norm, own, others[None], found)
        order = np.lexsort((others, found[0]))[: indices.shape[1]]
        indices[row], sums[row] = others[order], found[0, order]
