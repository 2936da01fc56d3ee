"""Density at some of the points, or anywhere, by direct summation over all the others."""

import math
from dataclasses import dataclass

import numba
import numpy as np

from core.parallel import run_tasks, slices
from core.progress import Progress, silent

# Beyond this many bandwidths a Gaussian is zero in double precision.
_HORIZON = 38.6


def exact_density(
    z: np.ndarray,
    bandwidth: float,
    which: np.ndarray,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> np.ndarray:
    """Leave-one-out density at some of the points (n, d).

    Parameters
    ----------
    which : int ndarray of shape (q,)
        The points to evaluate; identical ones are evaluated once.

    Returns
    -------
    ndarray of shape (q,)
        Per unit of volume of the coordinates.
    """
    _, first, inverse = np.unique(z[which], axis=0, return_index=True, return_inverse=True)
    distinct = which[first]
    found = exact_density_at(
        z, bandwidth, z[distinct], left_out=distinct, threads=threads, progress=progress
    )
    return found[inverse]


def exact_density_at(
    z: np.ndarray,
    bandwidth: float,
    places: np.ndarray,
    *,
    left_out: np.ndarray,
    threads: int | None = None,
    progress: Progress = silent,
) -> np.ndarray:
    """Density of points (n, d) at any places (q, d), each without a point of its own.

    Parameters
    ----------
    left_out : int ndarray of shape (q,)
        The point that does not count at each place; −1 where all do.

    Returns
    -------
    ndarray of shape (q,)
        Per unit of volume of the coordinates.
    """
    n, d = z.shape
    scaled, centres = z / bandwidth, places / bandwidth
    # Sorted along an axis, all that a place can see is one stretch; for a far place, on the axis
    # on which it is far, a short one.
    stretches = [_Stretches.along(axis, scaled, centres, left_out) for axis in range(d)]
    shortest = np.argmin([stretch.stop - stretch.start for stretch in stretches], axis=0)
    sums = np.empty(len(places))

    def work(block: slice) -> None:
        for axis, stretch in enumerate(stretches):
            rows = block.start + np.flatnonzero(shortest[block] == axis)
            found = np.empty(len(rows))
            sum_kernels(
                stretch.z,
                centres[rows],
                stretch.left_out[rows],
                stretch.start[rows],
                stretch.stop[rows],
                found,
            )
            sums[rows] = found

    blocks = slices(len(places), 50)
    run_tasks(work, blocks, threads=threads, progress=progress)
    counted = np.maximum(n - (left_out >= 0), 1)
    return sums / (counted * (math.sqrt(2 * math.pi) * bandwidth) ** d)


@dataclass(frozen=True, eq=False)
class _Stretches:
    """Points sorted along an axis, and from where to where some places see them."""

    z: np.ndarray
    left_out: np.ndarray
    start: np.ndarray
    stop: np.ndarray

    @classmethod
    def along(
        cls, axis: int, z: np.ndarray, places: np.ndarray, left_out: np.ndarray
    ) -> "_Stretches":
        order = np.argsort(z[:, axis], kind="stable")
        where = np.empty(len(order), np.int64)
        where[order] = np.arange(len(order))
        sorted_z = np.ascontiguousarray(z[order].T)
        centres = places[:, axis]
        return cls(
            z=sorted_z,
            left_out=np.where(left_out >= 0, where[left_out], -1),
            start=np.searchsorted(sorted_z[axis], centres - _HORIZON, side="left"),
            stop=np.searchsorted(sorted_z[axis], centres + _HORIZON, side="right"),
        )


@numba.njit(nogil=True, cache=True)
def sum_kernels(
    z: np.ndarray,
    centres: np.ndarray,
    left_out: np.ndarray,
    start: np.ndarray,
    stop: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Σ_j exp(−‖c − z_j‖² / 2) at centres c (q, d), over j from ``start`` to ``stop`` of each.

    ``z`` is (d, n); it and the centres are in bandwidths. The point ``left_out`` does not count.
    """
    tile = 4096
    squared = np.empty(tile)
    for row in range(len(centres)):
        i = left_out[row]
        nearest = math.inf
        total = 0.0
        for first in range(start[row], stop[row], tile):
            last = min(first + tile, stop[row])
            distances = squared[: last - first]
            _squared_distances(z[:, first:last], centres[row], distances)
            if first <= i < last:
                distances[i - first] = math.inf
            nearest = min(nearest, distances.min())
            # A term below e^-42 of the nearest one's cannot change the sum's twelfth digit.
            for j in range(distances.size):
                if distances[j] < nearest + 84.0:
                    total += math.exp(-0.5 * distances[j])
        sums[row] = total


@numba.njit(nogil=True, cache=True)
def _squared_distances(z: np.ndarray, centre: np.ndarray, out: np.ndarray) -> None:
    out[:] = 0.0
    for axis in range(z.shape[0]):
        coordinates = z[axis]
        for j in range(out.size):
            difference = coordinates[j] - centre[axis]
            out[j] += difference * difference
