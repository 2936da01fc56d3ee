"""The rows nearest to new points: those of a map to new households, landmarks to all points.

Each point is searched by itself and its answer refined in float64, so it does not depend on which
other points are asked for. The kernels compare rows of one array: the points come after the rows,
some megabytes of them at a time.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from core.neighbors._tiles import Tiles, divergence_tiles, make_tiles
from core.neighbors._topk import empty_lists, offer_rows
from core.neighbors.all_pairs import list_length
from core.neighbors.kernels import Rows, candidate_sums, prepare, refine_float64
from core.parallel import run_tasks, slices
from core.progress import Progress, part, silent
from core.vectors import Vectors

# Points are laid out behind the rows this much at a time.
_BATCH_BYTES = 64 * 2**20


def nearest_rows_of_points(
    vectors: Vectors, points: Vectors, k: int, *, threads: int, progress: Progress = silent
) -> tuple[np.ndarray, np.ndarray]:
    """Find the k rows that are nearest to each point.

    Returns
    -------
    indices : ndarray of shape (points, k), int32
        By (sum, index).
    sums : ndarray of shape (points, k), float64
        What :meth:`core.vectors.Vectors.to_distances` turns into distances.
    """
    n, m = len(vectors.x), len(points.x)
    sums, indices = empty_lists(m, k, np.float64)
    for piece, rows in with_points(vectors, points):
        report = part(progress, piece.start / m, piece.stop / m)
        indices[piece], sums[piece] = _nearest(rows, n, k, threads, report)
    return indices, sums


def refine_points(
    vectors: Vectors, points: Vectors, candidates: np.ndarray, k: int, *, threads: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Choose the k best candidates of each point by (float64 sum, index).

    A point with fewer than k of them is compared with all rows.

    Parameters
    ----------
    candidates : ndarray of shape (points, c), int32
        Different rows; −1 where there is none.

    Returns
    -------
    indices, sums : ndarrays of shape (points, k)
    completed : int
        How many points were compared with all rows.
    """
    n, m = len(vectors.x), len(points.x)
    sums, indices = empty_lists(m, k, np.float64)
    completed = 0
    for piece, rows in with_points(vectors, points):
        found, apart = refine_float64(rows, candidates[piece], k, first=n, threads=threads)
        short = np.flatnonzero((found < 0).any(axis=1))
        _compare_with_all(rows, n, short, found, apart)
        indices[piece], sums[piece] = found, apart
        completed += len(short)
    return indices, sums, completed


def with_points(vectors: Vectors, points: Vectors) -> Iterator[tuple[slice, Rows]]:
    """Yield rows with some of the points behind them, and which points these are."""
    check_comparable(vectors, points)
    counts = are_bytes(vectors) and are_bytes(points)
    rows = _lay_out(vectors, counts)
    n, m = len(rows.x), len(points.x)
    size = max(1, _BATCH_BYTES // max(1, rows.x.shape[1] * rows.x.itemsize))
    together = np.empty((n + min(m, size), rows.x.shape[1]), rows.x.dtype)
    together[:n] = rows.x
    for piece in slices(m, size):
        x = together[: n + piece.stop - piece.start]
        x[n:] = _lay_out(replace(points, x=points.x[piece]), counts).x
        yield piece, replace(rows, x=x)


def are_bytes(vectors: Vectors) -> bool:
    """Whether the kernels may read rows as bytes."""
    return vectors.x.dtype.kind == "u" and vectors.x.max(initial=0) <= np.iinfo(np.uint8).max


def _lay_out(vectors: Vectors, counts: bool) -> Rows:
    if vectors.is_normed:
        return prepare(vectors, counts=counts)
    x = np.ascontiguousarray(vectors.x, dtype=np.float32)
    return Rows(x, bounds=np.array([0, x.shape[1]]), weights=np.ones(1), norm=0)


def check_comparable(vectors: Vectors, points: Vectors) -> None:
    """Refuse points whose columns mean something else than those of the rows."""
    if (
        vectors.distance != points.distance
        or vectors.blocks != points.blocks
        or vectors.x.shape[1] != points.x.shape[1]
        or not np.array_equal(_weights(vectors), _weights(points))
    ):
        raise ValueError("points must have the distance, the columns and the weights of the rows")


def _weights(vectors: Vectors) -> np.ndarray:
    return np.ones(1) if vectors.block_weights is None else vectors.block_weights


def _nearest(
    rows: Rows, n: int, k: int, threads: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """The k of the first n rows that are nearest to each of the others."""
    tiles = make_tiles(rows) if rows.norm else divergence_tiles(rows.x)
    length = k if tiles.are_final else min(n, list_length(k))
    indices, sums = _by_tiles(tiles, len(rows.x), n, length, threads, progress)
    if not tiles.are_final:
        # Whatever a list left out is at least its last sum less the bound on the error.
        last = sums[:, -1]
        left_out_from = last - (tiles.relative * np.abs(last) + tiles.absolute)
        indices, sums = refine_float64(rows, indices, k, first=n, threads=threads)
        if length < n:
            unproven = np.flatnonzero(sums[:, -1] >= left_out_from)
            _compare_with_all(rows, n, unproven, indices, sums)
    return indices, sums


def _by_tiles(
    tiles: Tiles, total: int, n: int, length: int, threads: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    sums, indices = empty_lists(total - n, length, tiles.dtype)
    others = slices(n, tiles.side)

    def work(block: slice) -> None:
        own = slice(n + block.start, n + block.stop)
        for other in others:
            offer_rows(tiles.fill(own, other), other.start, sums[block], indices[block])

    with threadpool_limits(1, user_api="blas") if tiles.uses_blas else nullcontext():
        run_tasks(
            work,
            slices(total - n, tiles.side),
            threads=threads,
            progress=progress,
            message="comparing with the map",
        )
    return indices, sums.astype(np.float64, copy=False)


def _compare_with_all(
    rows: Rows, n: int, which: np.ndarray, indices: np.ndarray, sums: np.ndarray
) -> None:
    """Find the nearest of a few points anew, all in float64."""
    others = np.arange(n, dtype=np.int32)
    found = np.empty((1, n))
    for point in which:
        own = np.array([n + point])
        candidate_sums(rows.x, rows.bounds, rows.weights, rows.norm, own, others[None], found)
        order = np.lexsort((others, found[0]))[: indices.shape[1]]
        indices[point], sums[point] = others[order], found[0, order]
