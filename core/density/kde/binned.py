"""Density by linear binning and FFT."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import fft

from core.density.kde.binning_grid import Grid, lay_grid

# Cells are this share of the bandwidth where there are not too many, and never more than the limit.
CELL = 0.125
CELL_LIMIT = 0.25
MAX_CELLS = 4096
# Beyond this many bandwidths a Gaussian is 1e-8 of its height, and the grid may end.
REACH = 6.0


@dataclass(frozen=True, eq=False)
class BinnedDensity:
    """Density by linear binning and FFT.

    Attributes
    ----------
    at_points : ndarray of shape (n,)
        Leave-one-out, per unit of volume of the round coordinates; NaN off the grid.
    on_grid : ndarray of ``grid.shape``
        The density itself.
    grid : Grid
    bandwidth : float
        As asked for, or larger where the grid would have had too many cells.
    """

    at_points: np.ndarray
    on_grid: np.ndarray
    grid: Grid
    bandwidth: float

    def at(self, places: np.ndarray, points: np.ndarray, left_out: np.ndarray) -> np.ndarray:
        """Density at any places (q, d), each without a point of its own; NaN off the grid.

        Parameters
        ----------
        points : ndarray of shape (n, d)
            The points that the density is of.
        left_out : int ndarray of shape (q,)
            The point that does not count at each place; −1 where all do.
        """
        n, d = points.shape
        held = self.grid.holds(places)
        found = np.full(len(places), np.nan)
        found[held] = n * self.grid.read(places[held], self.on_grid)
        own = np.flatnonzero(left_out >= 0)
        squared = ((places[own] - points[left_out[own]]) ** 2).sum(axis=1)
        height = (math.sqrt(2 * math.pi) * self.bandwidth) ** -d
        found[own] -= height * np.exp(-squared / (2 * self.bandwidth**2))
        return np.maximum(found, 0) / np.maximum(n - (left_out >= 0), 1)


def binned_density(z: np.ndarray, bandwidth: float) -> BinnedDensity:
    """Density of points (n, d) by linear binning and FFT, the grid fitted to the bandwidth."""
    n, d = z.shape
    grid = lay_grid(
        z,
        step=CELL * bandwidth,
        margin=REACH * bandwidth,
        max_cells=MAX_CELLS,
        max_outside=n // 200 + 1_000,
    )
    bandwidth = max(bandwidth, grid.step / CELL_LIMIT)
    # Binning and interpolation each widen a point by a variance of step² / 6; a kernel that is
    # narrower by as much leaves an error of fourth order in the step.
    variance = bandwidth**2 - grid.step**2 / 3
    spectrum = fft.rfftn(grid.bin(z))
    spectrum *= np.exp(-variance / 2 * grid.frequency_squared)
    # FFT rounding can leave empty places slightly below zero.
    summed = np.maximum(fft.irfftn(spectrum, grid.shape), 0) / grid.step**d
    held = grid.holds(z)
    values = grid.read(z[held], summed) - _own_share(grid.cells(z[held]), variance, grid.step)
    at_points = np.full(n, np.nan)
    at_points[held] = np.maximum(values, 0) / max(n - 1, 1)
    return BinnedDensity(at_points, summed / n, grid, bandwidth)


def _own_share(cells: np.ndarray, variance: float, step: float) -> np.ndarray:
    """What binning and interpolating give each point of itself: a sum over pairs of corners."""
    share = np.ones(cells.shape[1])
    height = 1 / math.sqrt(2 * math.pi * variance)
    neighbour = height * math.exp(-(step**2) / (2 * variance))
    for axis in cells:
        right = axis - np.floor(axis)
        left = 1 - right
        share *= (left**2 + right**2) * height + 2 * left * right * neighbour
    return share
