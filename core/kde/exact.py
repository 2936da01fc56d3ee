"""Density at some of the points, by direct summation over all the others."""

import math
from dataclasses import dataclass

import numba
import numpy as np

from core.neighbors.threads import available_threads, share, slices
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
    n, d = z.shape
    scaled = z / bandwidth
    _, first, inverse = np.unique(z[which], axis=0, return_index=True, return_inverse=True)
    distinct = which[first]
    # Sorted along an axis, all that a point can see is one stretch; for a far point, on the axis
    # on which it is far, a short one.
    stretches = [_Stretches.along(axis, scaled, distinct) for axis in range(d)]
    shortest = np.argmin([stretch.stop - stretch.start for stretch in stretches], axis=0)
    sums = np.empty(len(distinct))

    def work(block: slice) -> None:
        for axis, stretch in enumerate(stretches):
            rows = block.start + np.flatnonzero(shortest[block] == axis)
            found = np.empty(len(rows))
            sum_kernels(
                stretch.z, stretch.place[rows], stretch.start[rows], stretch.stop[rows], found
            )
            sums[rows] = found

    blocks = slices(len(distinct), 50)
    share(work, blocks, threads=threads or available_threads(), progress=progress)
    return sums[inverse] / (max(n - 1, 1) * (math.sqrt(2 * math.pi) * bandwidth) ** d)


@dataclass(frozen=True, eq=False)
class _Stretches:
    """Points sorted along an axis: where some of them are, and from where to where they see."""

    z: np.ndarray
    place: np.ndarray
    start: np.ndarray
    stop: np.ndarray

    @classmethod
    def along(cls, axis: int, z: np.ndarray, which: np.ndarray) -> "_Stretches":
        order = np.argsort(z[:, axis], kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        sorted_z = np.ascontiguousarray(z[order].T)
        centres = z[which, axis]
        return cls(
            z=sorted_z,
            place=place[which],
            start=np.searchsorted(sorted_z[axis], centres - _HORIZON, side="left"),
            stop=np.searchsorted(sorted_z[axis], centres + _HORIZON, side="right"),
        )


@numba.njit(nogil=True, cache=True)
def sum_kernels(
    z: np.ndarray, which: np.ndarray, start: np.ndarray, stop: np.ndarray, sums: np.ndarray
) -> None:
    """Σ_{j≠i} exp(−‖z_i − z_j‖² / 2) for some points i, over j from ``start`` to ``stop`` of each.

    ``z`` is (d, n), in bandwidths.
    """
    tile = 4096
    squared = np.empty(tile)
    for row in range(which.size):
        i = which[row]
        nearest = math.inf
        total = 0.0
        for first in range(start[row], stop[row], tile):
            last = min(first + tile, stop[row])
            distances = squared[: last - first]
            _squared_distances(z[:, first:last], z[:, i], distances)
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
