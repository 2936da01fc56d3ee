"""Tiles of sums between two blocks of rows: differences, matrix products, divergences.

A tile says how far its sums may be from those in float64, so that a choice of neighbours by it
can be proved.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from core.neighbors.kernels import TILE, Rows, tile_sums

# A tile takes about this many differences, some 10 ms: long for Python, short for Cancel.
_WORK = 3e8
# The largest tile of float32 that a core's own cache holds.
LARGEST_SIDE = 5 * TILE
# From so many rows on, matrix products are faster; up to this width their error bound is useful.
_PRODUCT_ROWS = 2048
_PRODUCT_WIDTH = 1024
_FLOAT32 = 2.0**-24


@dataclass(frozen=True)
class Tiles:
    """A way to make tiles.

    Attributes
    ----------
    fill : callable
        ``fill(a, b)`` gives the sums between rows of slice a and of slice b; of a tile on the
        diagonal, at least the part above it.
    side : int
        Rows of a slice that suit it.
    dtype : type
        Of the tiles.
    relative, absolute : float
        A tile's sum s is within ``relative · s + absolute`` of that in float64.
    uses_blas : bool
        Whether ``fill`` calls BLAS, which must then not start threads of its own.
    """

    fill: Callable[[slice, slice], np.ndarray]
    side: int
    dtype: type
    relative: float = 0.0
    absolute: float = 0.0
    uses_blas: bool = False

    @property
    def are_final(self) -> bool:
        """Whether the sums are final, to the last bit."""
        return self.relative == 0 and self.absolute == 0


def make_tiles(rows: Rows) -> Tiles:
    """Choose the fastest tiles for some rows."""
    if rows.norm == 2 and (rows.weights == 1).all() and by_products(*rows.x.shape):
        return product_tiles(rows)
    return difference_tiles(rows)


def by_products(n: int, width: int) -> bool:
    """Whether L2 between n rows is better found by matrix products."""
    return n >= _PRODUCT_ROWS and width <= _PRODUCT_WIDTH


def difference_tiles(rows: Rows) -> Tiles:
    """Tiles of the row kernels."""
    everything = np.arange(len(rows.x))

    def fill(a: slice, b: slice) -> np.ndarray:
        tile = np.empty((a.stop - a.start, b.stop - b.start))
        _differences(
            rows.x, everything[a], everything[b], rows.bounds, rows.weights, rows.norm, tile
        )
        return tile

    side = TILE * max(1, round(math.sqrt(_WORK / rows.x.shape[1]) / TILE))
    return Tiles(fill, min(side, LARGEST_SIDE), np.float64, relative=rows.relative_error)


def product_tiles(rows: Rows) -> Tiles:
    """Tiles of |a|² + |b|² − 2ab, for L2 rows without weights.

    A float32 product of p terms is off by at most p·2⁻²⁴·|a||b| in whatever order it is added;
    the squares and the two additions round a few times more. It is an absolute error: rows much
    nearer to each other than to the origin are for ``difference_tiles``.
    """
    x = rows.x
    squares = np.einsum("ij,ij->i", x, x, dtype=np.float64)
    rounded = squares.astype(np.float32)

    def fill(a: slice, b: slice) -> np.ndarray:
        tile = np.matmul(x[a], x[b].T)
        _products_to_squares(tile, rounded[a], rounded[b])
        return tile

    largest = float(squares.max(initial=0.0))
    absolute = (2 * x.shape[1] + 16) * _FLOAT32 * (1 + 1e-3) * largest
    return Tiles(fill, LARGEST_SIDE, np.float32, absolute=absolute, uses_blas=True)


def divergence_tiles(x: np.ndarray) -> Tiles:
    """Tiles of the Jensen–Shannon divergence in base 2 between rows of probabilities."""

    def fill(a: slice, b: slice) -> np.ndarray:
        tile = np.empty((a.stop - a.start, b.stop - b.start))
        divergences(x[a], x[b], tile)
        return tile

    return Tiles(fill, TILE, np.float64)


@njit(cache=True, nogil=True)
def _differences(x, rows_a, rows_b, bounds, weights, norm, tile):  # type: ignore[no-untyped-def]
    """Fill a tile piece by piece, so that the rows of a piece stay in the cache."""
    diagonal = rows_a[0] == rows_b[0]
    for i in range(0, len(rows_a), TILE):
        for j in range(i if diagonal else 0, len(rows_b), TILE):
            a, b = rows_a[i : i + TILE], rows_b[j : j + TILE]
            tile_sums(x, a, b, bounds, weights, norm, tile[i : i + TILE, j : j + TILE])


@njit(cache=True, nogil=True)
def _products_to_squares(tile, squares_a, squares_b):  # type: ignore[no-untyped-def]
    two = np.float32(2)
    for i in range(len(squares_a)):
        row = tile[i]
        for j in range(len(squares_b)):
            row[j] = (squares_a[i] + squares_b[j]) - two * row[j]


@njit(cache=True, nogil=True)
def divergences(a, b, tile):  # type: ignore[no-untyped-def]
    """Fill ``tile[i, j]`` with the JSD of rows of a and b, summed over blocks.

    A term is ½(p·log₂(p/m) + q·log₂(q/m)) with m = (p + q)/2: exactly zero where p = q, so
    duplicates are at distance zero, and half of what is there where the other is empty.
    """
    for i in range(len(a)):
        for j in range(len(b)):
            total = 0.0
            for g in range(a.shape[1]):
                p, q = np.float64(a[i, g]), np.float64(b[j, g])
                if p == q:
                    continue
                if p == 0.0 or q == 0.0:
                    total += p + q
                else:
                    double = 2.0 / (p + q)
                    total += p * np.log2(p * double) + q * np.log2(q * double)
            tile[i, j] = total / 2
