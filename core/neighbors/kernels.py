"""Distances between rows: fast tiles to find candidates, float64 pairs to settle them.

A row is cut into *chunks* of columns that one weight covers. A tile sums |a − b| (or its square)
inside a chunk in float32 (integers for counts) and adds the weighted chunks up in float64, so its
error is bounded by the chunk's width and not by the row's: see :func:`relative_error`. Tiles
are thread-safe and release the GIL. ``pair_distances`` sums in float64 in an order fixed by the
chunks alone; what it returns does not depend on tiles or threads.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit, types
from numba.extending import overload

from core.distance import Vectors

# Wide enough that summing a register up is rare, narrow enough that 64 rows stay in L2.
CHUNK = 1024
_FLOAT32_ROUNDING = 2.0**-24


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows ready for the kernels.

    Attributes
    ----------
    x : C-contiguous ndarray of shape (n, p)
        float32, uint8 or uint16.
    bounds : ndarray of shape (chunks + 1,), int64
        Where each chunk of columns starts; the last entry is p.
    weights : ndarray of shape (chunks,), float64
        What a difference of one in each chunk is worth.
    norm : {1, 2}
    """

    x: np.ndarray
    bounds: np.ndarray
    weights: np.ndarray
    norm: int

    @property
    def relative_error(self) -> float:
        """Largest relative error of a tile's sum (before the root), whatever the order of adding.

        Summing w non-negative float32 terms in any order is off by at most (w − 1)·2⁻²⁴; the
        difference, the square and the weighting round a few more times. Counts are exact but for
        the float64 sum of chunks.
        """
        chunks = len(self.weights)
        if self.x.dtype.kind == "u":
            return (chunks + 2) * 2.0**-52
        width = int(np.diff(self.bounds).max(initial=1))
        return (width + 4) * _FLOAT32_ROUNDING * (1 + 1e-3) + chunks * 2.0**-52


def prepare(vectors: Vectors) -> Rows:
    """Make rows for the kernels of L1 or L2 vectors; neighbouring blocks of one weight merge."""
    if vectors.norm not in (1, 2):
        raise ValueError("the row kernels know L1 and L2 only")
    x = vectors.x
    if x.dtype not in (np.uint8, np.uint16):
        x = np.asarray(x, dtype=np.float32)
    p = x.shape[1]
    block_weights = vectors.block_weights
    if vectors.norm == 2 and block_weights is not None:
        x = x * np.repeat(block_weights, p // vectors.blocks).astype(np.float32)
        block_weights = None
    x = np.ascontiguousarray(x, dtype=np.float32 if vectors.norm == 2 else x.dtype)
    if block_weights is None:
        starts, weights = np.zeros(1, np.int64), np.ones(1)
    else:
        weights = np.asarray(block_weights, dtype=np.float64)
        new = np.flatnonzero(np.r_[True, weights[1:] != weights[:-1]])
        starts, weights = new * (p // vectors.blocks), weights[new]
    pieces = [
        (start, weight)
        for first, last, weight in zip(starts, np.r_[starts[1:], p], weights, strict=True)
        for start in range(int(first), int(last), CHUNK)
    ]
    bounds = np.array([start for start, _ in pieces] + [p], dtype=np.int64)
    return Rows(
        x, bounds, np.array([weight for _, weight in pieces], dtype=np.float64), vectors.norm
    )


def _chunk_sum(norm, a, b):  # type: ignore[no-untyped-def]
    """Σ |a − b|^norm over one chunk of two rows; compiled by dtype below."""
    raise NotImplementedError("only compiled code calls this")


@overload(_chunk_sum)
def _chunk_sum_of(norm, a, b):  # type: ignore[no-untyped-def]
    if isinstance(a.dtype, types.Integer):

        def counts(norm, a, b):  # type: ignore[no-untyped-def]
            total = np.uint32(0)
            for i in range(a.shape[0]):
                difference = np.int32(np.int32(a[i]) - np.int32(b[i]))
                total = np.uint32(total + np.uint32(abs(difference)))
            return np.float64(total)

        return counts

    def floats(norm, a, b):  # type: ignore[no-untyped-def]
        total = np.float32(0)
        if norm == 1:
            for i in range(a.shape[0]):
                total += abs(a[i] - b[i])
        else:
            for i in range(a.shape[0]):
                total += (a[i] - b[i]) ** 2
        return np.float64(total)

    return floats


@njit(cache=True, nogil=True, fastmath=True)
def tile_sums(a, b, bounds, weights, norm, out):  # type: ignore[no-untyped-def]
    """Fill ``out[i, j]`` with Σ w·|a_i − b_j|^norm, before the root and the scale.

    Parameters
    ----------
    a, b : ndarray of shape (rows, p)
        Rows of ``Rows.x``, contiguous along p.
    bounds, weights, norm
        Those of ``Rows``.
    out : ndarray of shape (rows of a, rows of b), float64
    """
    out[:, :] = 0.0
    for c in range(weights.shape[0]):
        start, stop = bounds[c], bounds[c + 1]
        for i in range(a.shape[0]):
            for j in range(b.shape[0]):
                out[i, j] += weights[c] * _chunk_sum(norm, a[i, start:stop], b[j, start:stop])


@njit(cache=True, nogil=True)
def pair_sum(a, b, bounds, weights, norm):  # type: ignore[no-untyped-def]
    """Σ w·|a − b|^norm of two rows in float64, added in an order that only the chunks decide."""
    total = 0.0
    for c in range(weights.shape[0]):
        chunk = 0.0
        for i in range(bounds[c], bounds[c + 1]):
            difference = abs(np.float64(a[i]) - np.float64(b[i]))
            chunk += difference if norm == 1 else difference * difference
        total += weights[c] * chunk
    return total


@njit(cache=True, nogil=True)
def candidate_sums(x, bounds, weights, norm, first, last, candidates, out):  # type: ignore[no-untyped-def]
    """Fill ``out[i, c]`` with the pair sum of row i and ``candidates[i, c]``, inf where negative.

    Only rows ``first`` … ``last`` − 1 are filled, so that threads can share the work.
    """
    for i in range(first, last):
        for c in range(candidates.shape[1]):
            j = candidates[i, c]
            out[i, c] = pair_sum(x[i], x[j], bounds, weights, norm) if j >= 0 else np.inf


def settle(
    rows: Rows, candidates: np.ndarray, k: int, *, scale: float
) -> tuple[np.ndarray, np.ndarray]:
    """Choose the k best of each row's candidates by (float64 distance, index).

    Parameters
    ----------
    rows : Rows
    candidates : ndarray of shape (n, c), int32
        At least k different rows each, never the row itself; −1 where there is none.
    k : int
    scale : float
        Turns the norm into the statistical distance.

    Returns
    -------
    indices : ndarray of shape (n, k), int32
    distances : ndarray of shape (n, k), float64
    """
    candidates = np.ascontiguousarray(candidates, dtype=np.int32)
    sums = np.empty(candidates.shape)
    candidate_sums(
        rows.x, rows.bounds, rows.weights, rows.norm, 0, len(candidates), candidates, sums
    )
    order = np.lexsort((candidates, sums))[:, :k]
    distances = np.take_along_axis(sums, order, axis=1)
    if rows.norm == 2:
        distances = np.sqrt(distances)
    return np.take_along_axis(candidates, order, axis=1), scale * distances
