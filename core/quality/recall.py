"""How many of the true nearest neighbours a backend has found."""

import math
from dataclasses import dataclass

import numpy as np

from core.errors import InputError
from core.neighbors import Neighbors
from core.neighbors.all_pairs import nearest_of
from core.parallel import available_cores
from core.progress import Progress, silent
from core.vectors import Vectors

# Under total variation a quarter of the rows tie at rank K: equally near is equally right.
TOLERANCE = 1e-9
_Z = 1.959964  # two-sided 95 %


@dataclass(frozen=True)
class Recall:
    """Share of returned neighbours that are right.

    Attributes
    ----------
    value : float
        The mean over the points looked at.
    low, high : float
        A 95 % confidence interval for all points; both are ``value`` when all were looked at.
    n : int
        How many points were looked at.
    """

    value: float
    low: float
    high: float
    n: int


def recall(
    neighbors: Neighbors,
    truth: Vectors | Neighbors,
    *,
    sample: int | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: Progress = silent,
) -> Recall:
    """Compare found neighbours with the true ones.

    A returned neighbour is right when its distance is at most the true K-th distance + 1e-9.

    Parameters
    ----------
    neighbors : Neighbors
        What a backend found.
    truth : Vectors or Neighbors
        The vectors it searched, whose true neighbours are then found, or the exact neighbours
        themselves, at least as many for each point.
    sample : int, optional
        Look at so many points, drawn without replacement; at all by default.
    seed : int
        Draws the sample.
    """
    n, k = neighbors.indices.shape
    if k == 0:
        raise InputError("recall needs at least two points: a single one has no neighbours")
    rows = np.arange(n)
    if sample is not None and sample < n:
        if sample < 1:
            raise InputError(f"the sample must have at least one point, got {sample}")
        rows = np.sort(np.random.default_rng(seed).choice(n, sample, replace=False))
    if isinstance(truth, Neighbors):
        if truth.n != n or truth.k < k:
            raise InputError(
                f"{n} × {k} neighbours cannot be compared with {truth.n} × {truth.k} true ones; "
                f"find at least {k} exact neighbours of the same {n} points"
            )
        kth = truth.distances[rows, k - 1]
    else:
        _, distances = nearest_of(
            truth, rows, k, threads=threads or available_cores(), progress=progress
        )
        kth = distances[:, -1]
    right = neighbors.distances[rows] <= kth[:, None] + TOLERANCE
    value = float(right.mean())
    low, high = _interval(value, len(rows), n)
    return Recall(value, low, high, len(rows))


def _interval(value: float, size: int, n: int) -> tuple[float, float]:
    """Wilson's interval for a mean of ``size`` of n points.

    A point's recall lies between 0 and 1, so it varies at most as much as a coin with the same
    mean: the interval errs on the wide side, and does not shrink to nothing at 0 or 1.
    """
    if size == n:
        return value, value
    effective = size * (n - 1) / (n - size)
    z2 = _Z**2 / effective
    centre = (value + z2 / 2) / (1 + z2)
    margin = math.sqrt(value * (1 - value) * z2 + z2**2 / 4) / (1 + z2)
    return max(0.0, centre - margin), min(1.0, centre + margin)
