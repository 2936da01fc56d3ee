"""Sums of Gaussian kernels, each of its own shape, at many places.

Places are kept in strips along the second axis and sorted along the first within each, so that a
kernel visits little more than the places it reaches. Each task has strips of its own and visits the
kernels in their order: the sums do not depend on the number of threads.
"""

import math
from dataclasses import dataclass

import numba
import numpy as np

from core.parallel import run_tasks
from core.progress import Progress, silent

# Beyond this many standard deviations a Gaussian is zero in double precision.
HORIZON = 38.6
# Kernels are merged when they are closer than this share of their narrowest deviation.
_MERGE = 0.5
_PLACES_PER_STRIP = 64


@dataclass(frozen=True, eq=False)
class Kernels:
    """Gaussian kernels.

    Attributes
    ----------
    centres : ndarray of shape (m, d)
    covariances : ndarray of shape (m, d, d)
    weights : ndarray of shape (m,)
        What each integrates to.
    """

    centres: np.ndarray
    covariances: np.ndarray
    weights: np.ndarray

    @property
    def heights(self) -> np.ndarray:
        """Height of each at its centre, for a weight of one."""
        return 1 / np.sqrt(np.linalg.det(2 * math.pi * self.covariances))

    def one_at(self, places: np.ndarray, which: np.ndarray) -> np.ndarray:
        """What one of the kernels, taken with a weight of one, is at each place (q, d)."""
        offsets = places - self.centres[which]
        inverse = np.linalg.inv(self.covariances)[which]
        squared = np.einsum("qa,qab,qb->q", offsets, inverse, offsets)
        return self.heights[which] * np.exp(-squared / 2)


def merge(kernels: Kernels) -> tuple[Kernels, np.ndarray]:
    """Put kernels of about the same place, width and length into one, with the same moments.

    Returns
    -------
    kernels : Kernels
        Fewer of them.
    group : int ndarray of shape (m,)
        The new kernel that each old one is part of.
    """
    squares = np.linalg.eigvalsh(kernels.covariances)
    # Sizes by factors of two, and cells of a size of their own for each.
    sizes = np.floor(np.log2(squares) / 2)
    cell = _MERGE * 2.0 ** sizes[:, :1]
    places = np.floor(kernels.centres / cell)
    _, group = np.unique(np.hstack([sizes[:, [0, -1]], places]), axis=0, return_inverse=True)
    group = group.ravel()
    count = int(group.max()) + 1
    weights = np.bincount(group, kernels.weights, count)

    def mean(values: np.ndarray) -> np.ndarray:
        flat = values.reshape(len(values), -1)
        sums = [np.bincount(group, kernels.weights * column, count) for column in flat.T]
        return (np.stack(sums, axis=1) / weights[:, None]).reshape(count, *values.shape[1:])

    centres = mean(kernels.centres)
    offsets = kernels.centres - centres[group]
    spread = offsets[:, :, None] * offsets[:, None, :]
    return Kernels(centres, mean(kernels.covariances + spread), weights), group


def sum_at(
    kernels: Kernels,
    places: np.ndarray,
    *,
    left_out: np.ndarray | None = None,
    reach: float = HORIZON,
    threads: int | None = None,
    progress: Progress = silent,
) -> np.ndarray:
    """Sum kernels at places (q, d).

    Parameters
    ----------
    left_out : int ndarray of shape (q,), optional
        The kernel that does not count at each place; −1 where all do.
    reach : float
        Where kernels end, in standard deviations.

    Returns
    -------
    ndarray of shape (q,)
    """
    q, d = places.shape
    if left_out is None:
        left_out = np.full(q, -1)
    second = places[:, 1] if d > 1 else np.zeros(q)
    n_strips = max(1, math.isqrt(q // _PLACES_PER_STRIP)) if d > 1 else 1
    # Strips of as many places each, whatever one far place does.
    bounds = np.quantile(second, np.linspace(0, 1, n_strips + 1)[1:-1])
    strip = np.searchsorted(bounds, second, side="right")
    order = np.lexsort((places[:, 0], strip))
    starts = np.searchsorted(strip[order], np.arange(n_strips + 1))
    lows = np.minimum.reduceat(second[order], np.minimum(starts[:-1], q - 1))
    highs = np.maximum.reduceat(second[order], np.minimum(starts[:-1], q - 1))
    spans = reach * np.sqrt(np.einsum("maa->ma", kernels.covariances))
    inverses = np.linalg.inv(kernels.covariances)
    heights = kernels.heights * kernels.weights
    sorted_places, sorted_left_out = places[order], left_out[order]
    sums = np.zeros(q)

    def work(number: int) -> None:
        if starts[number] == starts[number + 1]:
            return
        rows = slice(starts[number], starts[number + 1])
        _add_kernels(
            kernels.centres,
            inverses,
            heights,
            spans,
            reach**2,
            sorted_places[rows],
            sorted_left_out[rows],
            lows[number],
            highs[number],
            sums[rows],
        )

    run_tasks(work, range(n_strips), threads=threads, progress=progress)
    result = np.empty(q)
    result[order] = sums
    return result


@numba.njit(nogil=True, cache=True)
def _add_kernels(
    centres: np.ndarray,
    inverses: np.ndarray,
    heights: np.ndarray,
    spans: np.ndarray,
    limit: float,
    places: np.ndarray,
    left_out: np.ndarray,
    low: float,
    high: float,
    sums: np.ndarray,
) -> None:
    """Add to the sums at places of one strip, sorted along the first axis, what kernels give."""
    d = centres.shape[1]
    first = places[:, 0].copy()
    offset = np.empty(d)
    for i in range(len(centres)):
        if d > 1 and (centres[i, 1] + spans[i, 1] < low or centres[i, 1] - spans[i, 1] > high):
            continue
        start = np.searchsorted(first, centres[i, 0] - spans[i, 0])
        stop = np.searchsorted(first, centres[i, 0] + spans[i, 0], side="right")
        for j in range(start, stop):
            if left_out[j] == i:
                continue
            squared = 0.0
            for a in range(d):
                offset[a] = places[j, a] - centres[i, a]
                across = 0.0
                for b in range(a):
                    across += inverses[i, a, b] * offset[b]
                squared += offset[a] * (inverses[i, a, a] * offset[a] + 2.0 * across)
            if squared < limit:
                sums[j] += heights[i] * math.exp(-0.5 * squared)
