"""Sums of differences between rows, which order pairs just as their distances do.

Σ w·|x_i − x_j|^norm grows with the statistical distance, and ranks ask for no more than that.
Jensen–Shannon, which is no norm of differences, is compared by its own distance.
"""

from dataclasses import dataclass
from functools import cached_property

import numba
import numpy as np

from core.neighbors.kernels import TILE, Rows, prepare, tile_sums
from core.parallel import run_tasks, slices
from core.progress import Progress, silent
from core.vectors import Vectors, statistical_distance

# Rows compared with all others in one piece of work: fewer would fetch the others too often.
_FEWEST_ROWS = 32
_BLOCK_BYTES = 4 * 2**20
# Tiles on a side of what a thread takes at a time.
_TILES = 4


@dataclass(frozen=True, eq=False)
class RowSums:
    """Compares rows of ``vectors``; infinite between a row and itself."""

    vectors: Vectors

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.vectors.x)

    @cached_property
    def _rows(self) -> Rows:
        return prepare(self.vectors)

    def block_rows(self) -> int:
        """How many rows to compare with all others at a time."""
        return max(_FEWEST_ROWS, _BLOCK_BYTES // (4 * self.n))

    def of(self, points: np.ndarray) -> np.ndarray:
        """Sums of some rows with all: float32 (points, n)."""
        sums = np.empty((len(points), self.n), np.float32)
        if not self.vectors.is_normed:
            sums[:] = statistical_distance(self.vectors, points[:, None], np.arange(self.n))
        else:
            rows = self._rows
            compare_with_all(rows.x, rows.bounds, rows.weights, rows.norm, points, sums)
        sums[np.arange(len(points)), points] = np.inf
        return sums

    def of_all(self, *, threads: int | None = None, progress: Progress = silent) -> np.ndarray:
        """Sums of all rows with all, each pair compared once: float32 (n, n)."""
        sums = np.empty((self.n, self.n), np.float32)
        blocks = slices(self.n, _TILES * TILE)
        everything = np.arange(self.n)

        def compare(pair: tuple[slice, slice]) -> None:
            a, b = pair
            if not self.vectors.is_normed:
                tile = statistical_distance(self.vectors, everything[a, None], everything[b])
                sums[a, b] = tile
                sums[b, a] = tile.T
            else:
                rows = self._rows
                compare_blocks(
                    rows.x, rows.bounds, rows.weights, rows.norm, everything[a], everything[b], sums
                )

        pairs = [(a, b) for i, a in enumerate(blocks) for b in blocks[i:]]
        run_tasks(compare, pairs, threads=threads, progress=progress)
        np.fill_diagonal(sums, np.inf)
        return sums


@numba.njit(nogil=True, cache=True)
def compare_blocks(x, bounds, weights, norm, rows_a, rows_b, out):  # type: ignore[no-untyped-def]
    """Fill ``out[i, j]`` and ``out[j, i]`` between two runs of consecutive rows, by tiles.

    Of a run with itself, only tiles on and above the diagonal are computed.
    """
    tile = np.empty((TILE, TILE))
    for first in range(0, len(rows_a), TILE):
        some = rows_a[first : first + TILE]
        for start in range(0, len(rows_b), TILE):
            others = rows_b[start : start + TILE]
            if others[0] < some[0]:
                continue
            tile_sums(x, some, others, bounds, weights, norm, tile)
            rows, columns = len(some), len(others)
            for i in range(rows):
                out[some[i], others[0] : others[0] + columns] = tile[i, :columns]
            for j in range(columns):
                out[others[j], some[0] : some[0] + rows] = tile[:rows, j]


@numba.njit(nogil=True, cache=True)
def compare_with_all(x, bounds, weights, norm, points, out):  # type: ignore[no-untyped-def]
    """Fill ``out[i, j]`` with the sum between row ``points[i]`` and row j, by tiles."""
    n = len(x)
    tile = np.empty((TILE, TILE))
    for first in range(0, len(points), TILE):
        some = points[first : first + TILE]
        for start in range(0, n, TILE):
            others = np.arange(start, min(start + TILE, n))
            tile_sums(x, some, others, bounds, weights, norm, tile)
            out[first : first + len(some), start : start + len(others)] = tile[
                : len(some), : len(others)
            ]
