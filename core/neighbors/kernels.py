"""Distances between rows: fast tiles to find candidates, float64 pairs to order them.

A row is cut into *chunks* of columns that one weight covers. A tile sums |a − b| (or its square)
inside a chunk in float32 (integers for counts) and adds the weighted chunks up in float64, so its
error is bounded by the chunk's width and not by the row's: see ``Rows.relative_error``. Pairs are
summed in float64 in an order that the chunks alone decide; what they give does not depend on
tiles or threads. All kernels release the GIL.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from core.neighbors._simd import (
    ROWS_A,
    ROWS_B,
    ROWS_PAIRED,
    l1_block,
    l1_pair,
    l1_pairs,
    l2_block,
    l2_pair,
    l2_pairs,
    lanes,
)
from core.parallel import run_tasks, slices
from core.progress import Progress, silent
from core.vectors import Vectors

# Wide enough that adding a register up is rare; two tiles of TILE rows stay in a core's L2 cache.
CHUNK_BYTES = 4096
TILE = 96
# Differences refined between two reports of progress, about a tenth of a second.
_WORK = 100_000_000
# Columns from which pairs that both rows list are worth finding: each is then compared once.
_MUTUAL_FROM = 1_024


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows ready for the kernels.

    Attributes
    ----------
    x : C-contiguous ndarray of shape (n, width)
        float32 or uint8. Columns may be padded with zeros and in another order than given.
    bounds : ndarray of shape (chunks + 1,), int64
        Where each chunk of columns starts; the last entry is the width.
    weights : ndarray of shape (chunks,), float64
        What a difference of one in each chunk is worth.
    norm : {0, 1, 2}
        0 for rows that are compared by their divergence, which the kernels here do not know.
    """

    x: np.ndarray
    bounds: np.ndarray
    weights: np.ndarray
    norm: int

    @property
    def relative_error(self) -> float:
        """Bound on how far a tile's sum is from the pair's, relative to either.

        Adding w non-negative float32 numbers in any order is off by at most (w − 1)·2⁻²⁴ of the
        sum; the difference and its square round three times more, and the pair in float64. Sums of
        counts are integers, and their chunks are weighted and added alike in tiles and pairs: no
        difference at all.
        """
        if self.x.dtype == np.uint8:
            return 0.0
        width = int(np.diff(self.bounds).max())
        return (width + 4) * 2.0**-24 * (1 + 1e-3) + len(self.weights) * 2.0**-52


def prepare(vectors: Vectors, *, counts: bool = True) -> Rows:
    """Lay the rows of L1 or L2 vectors out for the kernels, copying only where it must.

    Blocks of one weight come together, so that a chunk can be wide, and are padded to whole
    vector registers. Counts above 255, or all where ``counts`` is false, become float32, which
    holds them exactly.
    """
    if not vectors.is_normed:
        raise ValueError("the row kernels know L1 and L2 only")
    x = vectors.x
    weights = vectors.block_weights
    counts = counts and x.dtype.kind == "u" and vectors.norm == 1
    if not counts or x.max(initial=0) > np.iinfo(np.uint8).max:
        x = np.asarray(x, dtype=np.float32)
    else:
        x = np.asarray(x, dtype=np.uint8)
    if weights is None:
        groups = [(1.0, np.arange(1))]
        bins = x.shape[1]
    else:
        distinct, group = np.unique(np.asarray(weights, dtype=np.float64), return_inverse=True)
        groups = [(weight, np.flatnonzero(group == g)) for g, weight in enumerate(distinct)]
        bins = x.shape[1] // vectors.blocks

    step = lanes(x.dtype)
    chunk = CHUNK_BYTES // x.itemsize
    widths = [-(-len(blocks) * bins // step) * step for _, blocks in groups]
    starts = np.concatenate([[0], np.cumsum(widths)])
    if len(groups) > 1 or widths[0] != x.shape[1]:
        laid_out = np.zeros((len(x), starts[-1]), dtype=x.dtype)
        stacked = x.reshape(len(x), -1, bins)
        for start, (_, blocks) in zip(starts, groups, strict=False):
            stop = start + len(blocks) * bins
            laid_out[:, start:stop] = stacked[:, blocks].reshape(len(x), -1)
        x = laid_out
    pieces = [
        (first, weight if vectors.norm == 1 else weight**2)
        for start, width, (weight, _) in zip(starts, widths, groups, strict=False)
        for first in range(start, start + width, chunk)
    ]
    return Rows(
        x=np.ascontiguousarray(x),
        bounds=np.array([first for first, _ in pieces] + [starts[-1]], dtype=np.int64),
        weights=np.array([weight for _, weight in pieces], dtype=np.float64),
        norm=vectors.norm,
    )


@njit(cache=True, nogil=True)
def tile_sums(x, rows_a, rows_b, bounds, weights, norm, out):  # type: ignore[no-untyped-def]
    """Fill ``out[i, j]`` with Σ w·|x[rows_a[i]] − x[rows_b[j]]|^norm, before root and scale.

    Parameters
    ----------
    x, bounds, weights, norm
        Those of ``Rows``.
    rows_a, rows_b : ndarrays of int64
        Which rows; up to about TILE of each stay in the cache.
    out : ndarray of shape (len(rows_a), len(rows_b)) or larger, float64
    """
    out[: len(rows_a), : len(rows_b)] = 0.0
    for chunk in range(len(weights)):
        start, stop, weight = bounds[chunk], bounds[chunk + 1], weights[chunk]
        for i in range(0, len(rows_a), ROWS_A):
            for j in range(0, len(rows_b), ROWS_B):
                if norm == 1:
                    l1_block(x, rows_a, i, rows_b, j, start, stop, weight, out)
                else:
                    l2_block(x, rows_a, i, rows_b, j, start, stop, weight, out)


@njit(cache=True, nogil=True)
def pair_sum(x, i, j, bounds, weights, norm):  # type: ignore[no-untyped-def]
    """Σ w·|a − b|^norm of two rows in float64, added in an order that only the chunks decide."""
    total = 0.0
    for chunk in range(len(weights)):
        start, stop, weight = bounds[chunk], bounds[chunk + 1], weights[chunk]
        if norm == 1:
            total += weight * l1_pair(x, i, j, start, stop)
        else:
            total += weight * l2_pair(x, i, j, start, stop)
    return total


@njit(cache=True, nogil=True)
def candidate_sums(x, bounds, weights, norm, rows, candidates, out):  # type: ignore[no-untyped-def]
    """Fill ``out[r, c]`` with the pair sum of ``rows[r]`` and ``candidates[r, c]``.

    Negative candidates get infinity. Chunk by chunk, so that one chunk of all rows stays in the
    cache; the sums are those of :func:`pair_sum` to the last bit.
    """
    out[:, :] = 0.0
    # Candidates without gaps, and their sums, which are spread again at the end.
    near = np.empty(candidates.shape, np.int64)
    counts = np.zeros(len(candidates), np.int64)
    for r in range(candidates.shape[0]):
        for c in range(candidates.shape[1]):
            if candidates[r, c] >= 0:
                near[r, counts[r]] = candidates[r, c]
                counts[r] += 1
    for chunk in range(len(weights)):
        start, stop, weight = bounds[chunk], bounds[chunk + 1], weights[chunk]
        for r in range(len(near)):
            others = near[r, : counts[r]]
            for c in range(0, len(others), ROWS_PAIRED):
                if norm == 1:
                    l1_pairs(x, rows, r, others, c, start, stop, weight, out)
                else:
                    l2_pairs(x, rows, r, others, c, start, stop, weight, out)
    for r in range(len(near)):
        left = counts[r]
        for c in range(candidates.shape[1] - 1, -1, -1):
            if candidates[r, c] < 0:
                out[r, c] = np.inf
            else:
                left -= 1
                out[r, c] = out[r, left]


def refine_float64(
    rows: Rows,
    candidates: np.ndarray,
    k: int,
    *,
    first: int = 0,
    threads: int = 1,
    progress: Progress = silent,
) -> tuple[np.ndarray, np.ndarray]:
    """Choose the k best of each row's candidates by (float64 sum, index).

    Parameters
    ----------
    rows : Rows
    candidates : ndarray of shape (n, c), int32
        At least k different rows each, never the row itself; −1 where there is none.
    k : int
    first : int
        The row whose candidates come first.
    threads : int
    progress : Progress

    Returns
    -------
    indices : ndarray of shape (n, k), int32
    sums : ndarray of shape (n, k), float64
    """
    candidates = np.ascontiguousarray(candidates, dtype=np.int32)
    everything = np.arange(first, first + len(candidates))
    sums = np.empty(candidates.shape)
    compared = candidates
    if rows.x.shape[1] >= _MUTUAL_FROM:
        # A sum does not depend on the order of its two rows.
        mutual = _mutual_places(candidates, first)
        compared = np.where(mutual < 0, candidates, np.int32(-1))

    def fill(piece: slice) -> None:
        candidate_sums(
            rows.x,
            rows.bounds,
            rows.weights,
            rows.norm,
            everything[piece],
            compared[piece],
            sums[piece],
        )

    # A thread takes longer to start than this many differences.
    differences = candidates.size * rows.x.shape[1]
    useful = min(threads, 1 + differences // 1_000_000)
    pieces = max(useful, differences // _WORK)
    run_tasks(
        fill,
        slices(len(candidates), -(-len(candidates) // pieces)),
        threads=useful,
        progress=progress,
        message="refining the nearest",
    )
    if compared is not candidates:
        known = mutual >= 0
        sums[known] = sums.ravel()[mutual[known]]
    order = np.lexsort((candidates, sums))[:, :k]
    return np.take_along_axis(candidates, order, axis=1), np.take_along_axis(sums, order, axis=1)


@njit(cache=True, nogil=True)
def _mutual_places(candidates, first):  # type: ignore[no-untyped-def]
    """For pairs that an earlier row lists too, its flat place in ``candidates``; else −1."""
    places = np.full(candidates.shape, -1, np.int64)
    for r in range(candidates.shape[0]):
        for c in range(candidates.shape[1]):
            earlier = candidates[r, c] - first
            if 0 <= earlier < r:
                for place in range(candidates.shape[1]):
                    if candidates[earlier, place] == first + r:
                        places[r, c] = earlier * candidates.shape[1] + place
                        break
    return places
