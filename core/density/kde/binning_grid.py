"""A regular grid over most of the points, and linear binning onto it.

Binning shares each point out to the corners of its cell, by nearness; reading interpolates
between them in the same way.
"""

import math
from dataclasses import dataclass

import numba
import numpy as np
from scipy import fft


@dataclass(frozen=True, eq=False)
class Grid:
    """Where the grid is: cell coordinates are ``(z − origin) / step``, per axis.

    ``low`` and ``high`` bound the points that the grid can evaluate; around them is a margin of
    `REACH` bandwidths, so that all they can see is on the grid, and what the periodic FFT wraps
    around stays in the margin.
    """

    low: np.ndarray
    high: np.ndarray
    step: float
    shape: tuple[int, ...]

    @property
    def origin(self) -> np.ndarray:
        """Coordinates of the first cell."""
        spare = np.array(self.shape) * self.step - (self.high - self.low)
        return self.low - spare / 2

    def cells(self, z: np.ndarray) -> np.ndarray:
        """Cell coordinates of points (n, d), one row an axis: (d, n)."""
        return np.ascontiguousarray(((z - self.origin) / self.step).T)

    def bin(self, z: np.ndarray) -> np.ndarray:
        """Share points (n, d) out to the grid; those beyond its margin are left out."""
        counts = np.zeros(math.prod(self.shape))
        add_to_grid(self.cells(z), np.array(self.shape), counts)
        return counts.reshape(self.shape)

    def read(self, z: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Interpolate values on the grid at points (n, d) that it holds."""
        result = np.empty(len(z))
        read_from_grid(self.cells(z), np.array(self.shape), values.ravel(), result)
        return result

    @property
    def frequency_squared(self) -> np.ndarray:
        """|ω|² of the frequencies of the real FFT of values on the grid."""
        axes = [2 * math.pi * fft.fftfreq(size, self.step) for size in self.shape[:-1]]
        axes.append(2 * math.pi * fft.rfftfreq(self.shape[-1], self.step))
        return sum(axis**2 for axis in np.meshgrid(*axes, indexing="ij", sparse=True))

    def holds(self, z: np.ndarray) -> np.ndarray:
        """Which points (n, d) the grid can evaluate."""
        return np.all((z >= self.low) & (z <= self.high), axis=1)


def lay_grid(
    z: np.ndarray, *, step: float, margin: float, max_cells: int, max_outside: int
) -> Grid:
    """Lay a grid over all points, or, where that takes too many cells, over most of them.

    On each axis it is the stretch with the most points in it. Where more than ``max_outside``
    points (n, d) would be off the grid, the step grows.
    """
    low, high = z.min(axis=0), z.max(axis=0)
    room = max_cells * step - 2 * margin
    if np.any(high - low > room):
        axes = np.sort(z, axis=0).T
        while True:
            low, high = np.array([_fullest_stretch(axis, room) for axis in axes]).T
            if np.sum(np.any((z < low) | (z > high), axis=1)) <= max_outside:
                break
            room *= 1.2
        step = max(step, (room + 2 * margin) / max_cells)
    cells = np.ceil((high - low + 2 * margin) / step).astype(int) + 2
    return Grid(
        low, high, step, tuple(fft.next_fast_len(size, real=True) for size in cells.tolist())
    )


def _fullest_stretch(values: np.ndarray, length: float) -> tuple[float, float]:
    """First and last of the sorted values in the stretch of a given length that holds the most."""
    ends = np.searchsorted(values, values + length, side="right")
    start = int(np.argmax(ends - np.arange(len(values))))
    return values[start], values[ends[start] - 1]


@numba.njit(nogil=True, cache=True)
def add_to_grid(cells: np.ndarray, shape: np.ndarray, grid: np.ndarray) -> None:
    """Share each point out to the corners around it, by its nearness; skip those off the grid."""
    d, n = cells.shape
    for i in range(n):
        if not _on_grid(cells, shape, i):
            continue
        for corner in range(1 << d):
            weight, place = _corner(cells, shape, i, corner)
            grid[place] += weight


@numba.njit(nogil=True, cache=True)
def read_from_grid(
    cells: np.ndarray, shape: np.ndarray, grid: np.ndarray, values: np.ndarray
) -> None:
    """Interpolate linearly between the corners around each point, all of them on the grid."""
    d, n = cells.shape
    for i in range(n):
        value = 0.0
        for corner in range(1 << d):
            weight, place = _corner(cells, shape, i, corner)
            value += weight * grid[place]
        values[i] = value


@numba.njit(nogil=True, cache=True)
def _on_grid(cells: np.ndarray, shape: np.ndarray, i: int) -> bool:
    inside = True
    for axis in range(shape.size):
        inside &= 0 <= cells[axis, i] < shape[axis] - 1
    return inside


@numba.njit(nogil=True, cache=True)
def _corner(cells: np.ndarray, shape: np.ndarray, i: int, corner: int) -> tuple[float, int]:
    """Weight and flat index of one corner of the cell of a point; bit a is the side on axis a."""
    weight = 1.0
    place = 0
    for axis in range(shape.size):
        cell = math.floor(cells[axis, i])
        right = cells[axis, i] - cell
        if (corner >> axis) & 1:
            cell += 1
            weight *= right
        else:
            weight *= 1.0 - right
        place = place * shape[axis] + cell
    return weight, place
