"""Exact L1 neighbours of wide rows, most pairs discarded by a bound in one byte a column.

A value u ≥ 0, in units of a power of two, is held as q = round(min(u, 255)). With c = min(u, 255)
and the residual r = |c − q|,

    |u − v| ≥ |c_u − c_v| ≥ |q_u − q_v| − r_u − r_v,

because the minimum with 255 never moves two values apart. Summed over the columns, a pair is at
least as far apart as its bytes less the residual sums R of its two rows, which are known. The sum
of absolute differences of bytes is exact and four times as fast as that of float32. So each row
gets a list of the nearest by bytes; those that the bound does not exclude are compared in float64
as ever, and a row whose list cannot be proved complete is compared with every other row that the
bound does not exclude. The answer is that of all pairs in float64, to the last bit.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from core.neighbors._simd import lanes
from core.neighbors._tiles import difference_tiles
from core.neighbors._topk import insert
from core.neighbors.kernels import (
    CHUNK_BYTES,
    TILE,
    Rows,
    pair_sum,
    refine_float64,
    tile_sums,
)
from core.parallel import run_tasks, slices
from core.progress import Progress, part, silent

# Differences of all pairs from which the bytes are worth making, and columns from which the
# residuals of two rows are small beside their distance.
_PAYS_FROM = 2**33
_WIDTH_FROM = 2_048
# Rows that choose the unit.
_SAMPLE = 16
_LARGEST = 255.0


@dataclass(frozen=True, eq=False)
class QuantisedRows:
    """Rows as bytes.

    Attributes
    ----------
    rows : Rows
        The bytes, whose weights turn sums of them into those of the values.
    residuals : ndarray of shape (n,), float64
        R of each row, in the same measure as the sums.
    rounding : float
        Share of a sum by which float64 may round it.
    """

    rows: Rows
    residuals: np.ndarray
    rounding: float


def pays_for(n: int, width: int) -> bool:
    """Whether there are so many differences that bytes are worth making."""
    return width >= _WIDTH_FROM and n * n / 2 * width >= _PAYS_FROM


def pays(rows: Rows) -> bool:
    """Whether bytes are worth making of some rows, and can be."""
    return (
        rows.norm == 1
        and rows.x.dtype == np.float32
        and pays_for(*rows.x.shape)
        and bool((rows.weights == 1).all())
        and float(rows.x.min()) >= 0
        and float(rows.x.max()) > 0
    )


def list_length(k: int) -> int:
    """Candidates kept for each row; on profiles of households they are mostly enough."""
    return 3 * k + 24


def nearest_quantised(
    rows: Rows, k: int, *, threads: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Indices and float64 sums of the k nearest other rows of every row, by (sum, index)."""
    from core.neighbors.all_pairs import nearest_by_tiles

    n = len(rows.x)
    bytes_ = quantise(rows, threads=threads, progress=part(progress, 0.0, 0.1))
    candidates, sums = nearest_by_tiles(
        difference_tiles(bytes_.rows),
        n,
        min(n - 1, list_length(k)),
        threads=threads,
        progress=part(progress, 0.1, 0.7),
    )
    return refine_lists(
        rows, bytes_, candidates, sums, k, threads=threads, progress=part(progress, 0.7, 1.0)
    )


def refine_lists(
    rows: Rows,
    bytes_: QuantisedRows,
    candidates: np.ndarray,
    sums: np.ndarray,
    k: int,
    *,
    first: int = 0,
    threads: int = 1,
    progress: Progress = silent,
) -> tuple[np.ndarray, np.ndarray]:
    """Indices and float64 sums of the k nearest other rows, from the nearest by bytes.

    Parameters
    ----------
    candidates : ndarray of shape (m, length), int32
        The nearest others of rows ``first`` … ``first`` + m − 1 by bytes, at least k.
    sums : ndarray of shape (m, length), float64
        Their sums, increasing.
    """
    n, (m, length) = len(rows.x), candidates.shape
    residuals = bytes_.residuals[first : first + m]
    at_least = _bound(sums, residuals[:, np.newaxis], bytes_.residuals[candidates], bytes_)
    # Of what the list left out nothing but its last sum is known.
    beyond = _bound(sums[:, -1], residuals, bytes_.residuals.max(), bytes_)
    indices, sums = refine_float64(
        rows,
        candidates[:, :k],
        k,
        first=first,
        threads=threads,
        progress=part(progress, 0.0, 1 / 3),
    )
    rest = np.where(at_least[:, k:] <= sums[:, [-1]], candidates[:, k:], -1)
    if rest.size:
        best = min(k, rest.shape[1])
        more, more_sums = refine_float64(
            rows, rest, best, first=first, threads=threads, progress=part(progress, 1 / 3, 2 / 3)
        )
        indices, sums = _best(k, (indices, more), (sums, more_sums))
    unproven = np.flatnonzero(sums[:, -1] >= beyond)
    if length < n - 1:
        _complete(rows, bytes_, first, unproven, indices, sums, threads, part(progress, 2 / 3, 1.0))
    progress(1.0)
    return indices, sums


def quantise(rows: Rows, *, threads: int = 1, progress: Progress = silent) -> QuantisedRows:
    """Make bytes of rows that are not negative."""
    n, width = rows.x.shape
    scale = choose_scale(rows.x[:: max(1, n // _SAMPLE)])
    step = lanes(np.dtype(np.uint8))
    x = np.zeros((n, -(-width // step) * step), np.uint8)
    residuals = np.empty(n)

    def work(some: slice) -> None:
        _quantise(rows.x[some], scale, x[some], residuals[some])

    run_tasks(work, slices(n, TILE), threads=threads, progress=progress, message="making bytes")
    bounds = np.append(np.arange(0, x.shape[1], CHUNK_BYTES), x.shape[1])
    weights = np.full(len(bounds) - 1, 1 / scale)
    # Four sums of `width` terms: of a pair and its bytes, and the two residuals.
    rounding = 4 * width * 2.0**-53
    return QuantisedRows(Rows(x, bounds, weights, 1), residuals / scale, rounding)


def choose_scale(sample: np.ndarray) -> float:
    """The power of two that loses least: residuals shrink with it, and more is cut off at 255."""
    largest = float(sample.max(initial=0.0)) or 1.0
    coarsest = 2.0 ** np.floor(np.log2(_LARGEST / largest))
    best, least = coarsest, np.inf
    for scale in coarsest * 2.0 ** np.arange(9):
        units = sample.astype(np.float64) * scale
        kept = np.minimum(units, _LARGEST)
        lost = (2 * np.abs(kept - np.rint(kept)) + (units - kept)).sum() / scale
        if lost < least:
            best, least = scale, lost
    return float(best)


def _bound(
    sums: np.ndarray, residuals: np.ndarray, others: np.ndarray | float, bytes_: QuantisedRows
) -> np.ndarray:
    """What pairs are at least apart, as their float64 sums have it."""
    both = residuals + others
    bound: np.ndarray = sums - both - bytes_.rounding * (sums + both)
    return bound


def _best(
    k: int, indices: tuple[np.ndarray, ...], sums: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, np.ndarray]:
    all_indices, all_sums = np.hstack(indices), np.hstack(sums)
    order = np.lexsort((all_indices, all_sums))[:, :k]
    return (
        np.take_along_axis(all_indices, order, axis=1),
        np.take_along_axis(all_sums, order, axis=1),
    )


def _complete(
    rows: Rows,
    bytes_: QuantisedRows,
    first: int,
    which: np.ndarray,
    indices: np.ndarray,
    sums: np.ndarray,
    threads: int,
    progress: Progress,
) -> None:
    """Make some of the lists exact, in place; their last sums are at least the k-th."""

    def work(piece: slice) -> None:
        _complete_rows(
            (rows.x, rows.bounds, rows.weights),
            (bytes_.rows.x, bytes_.rows.bounds, bytes_.rows.weights),
            bytes_.residuals,
            bytes_.rounding,
            first,
            which[piece],
            sums,
            indices,
        )

    run_tasks(
        work, slices(len(which), TILE), threads=threads, progress=progress, message="ordering ties"
    )


@njit(cache=True, nogil=True)
def _quantise(x, scale, out, residuals):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        total = 0.0
        for g in range(x.shape[1]):
            kept = min(np.float64(x[i, g]) * scale, 255.0)
            nearest = np.floor(kept + 0.5)
            out[i, g] = np.uint8(nearest)
            total += abs(kept - nearest)
        residuals[i] = total


@njit(cache=True, nogil=True)
def _complete_rows(values, coarse, residuals, rounding, first, which, sums, indices):  # type: ignore[no-untyped-def]
    """Compare rows ``first + which`` with all others that their bytes do not exclude."""
    x, bounds, weights = values
    q, coarse_bounds, coarse_weights = coarse
    limits = np.empty(len(which))
    for r, place in enumerate(which):
        limits[r] = sums[place, -1]
        sums[place] = np.inf
        indices[place] = -1
    tile = np.empty((len(which), TILE))
    for start in range(0, len(x), TILE):
        others = np.arange(start, min(start + TILE, len(x)))
        tile_sums(q, first + which, others, coarse_bounds, coarse_weights, 1, tile)
        for r, place in enumerate(which):
            i = first + place
            for c, j in enumerate(others):
                # Rows come in order, so one at distance zero has no chance after k others.
                if sums[place, -1] == 0.0 or i == j:
                    continue
                both = residuals[i] + residuals[j]
                at_least = tile[r, c] - both - rounding * (tile[r, c] + both)
                if at_least <= min(limits[r], sums[place, -1]):
                    insert(sums, indices, place, pair_sum(x, i, j, bounds, weights, 1), j)
