"""Density on the map, highest density regions, and the ranks of anomalies.

A point is in the α-HDR when its density is at least the (1 − α) quantile of the density at the
points (Hyndman 1996): the α-HDR is the smallest region that holds a share α of the points.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from core.errors import InputError
from core.kde import BinnedDensity, Sphering
from core.landscape import survey
from core.neighbors.threads import available_threads, share, slices
from core.progress import Progress, part, silent
from core.quality.ranks import nearest_distances

RankBy = Literal["density", "isolation", "surprise"]

# The shares of points that the regions hold, in percent, and what lies outside the last.
COVERAGES = (1, 20, 40, 60, 80, 99)
LEVELS = (*(str(coverage) for coverage in COVERAGES), f">{COVERAGES[-1]}")

_CONTOUR_CELLS = 256


@dataclass(frozen=True, eq=False)
class Contours:
    """The density on a regular grid over the map, for contour lines.

    ``density[a, b]`` is that at ``origin + a · steps[0] + b · steps[1]`` (one index for 1-D).
    """

    density: np.ndarray
    origin: np.ndarray
    steps: np.ndarray

    def points(self) -> np.ndarray:
        """Coordinates of the grid's points, of the density's shape and d more."""
        index = np.moveaxis(np.indices(self.density.shape), 0, -1)
        return self.origin + index @ self.steps


@dataclass(frozen=True, eq=False)
class HDR:
    """Density, HDR level and anomaly rank of every point.

    Attributes
    ----------
    density : float64 ndarray of shape (n,)
        Leave-one-out density, per unit area of the map (length for a line).
    level : int8 ndarray of shape (n,)
        Codes of `LEVELS`: 0 for the 1 % HDR, 6 for outside the 99 % HDR.
    rank : int64 ndarray of shape (n,)
        1 is the most anomalous, n the most typical.
    anomalies : int64 ndarray
        The points of the lowest ranks, most anomalous first.
    typical : int64 ndarray
        The points in the 1 % HDR, densest first.
    thresholds : float64 ndarray of shape (6,)
        The least density in each region of `COVERAGES`.
    bandwidth : float64 ndarray of shape (d, d)
        Covariance matrix of the kernel, in the coordinates of the map.
    contours : Contours
        In the coordinates of the map.
    rank_by : str
        What ``rank`` and ``anomalies`` go by.
    notices : tuple of str
        What a reader should know.
    """

    density: np.ndarray
    level: np.ndarray
    rank: np.ndarray
    anomalies: np.ndarray
    typical: np.ndarray
    thresholds: np.ndarray
    bandwidth: np.ndarray
    contours: Contours
    rank_by: RankBy = "density"
    notices: tuple[str, ...] = ()

    @property
    def labels(self) -> np.ndarray:
        """The level of every point in words: ``1``, ``20``, … ``>99``."""
        return np.array(LEVELS)[self.level]


def hdr_density(
    y: np.ndarray,
    *,
    n_anomalies: int = 10,
    k: int = 20,
    rank_by: RankBy = "density",
    isolation: np.ndarray | None = None,
    surprise: np.ndarray | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> HDR:
    """Estimate the density of an embedding at its points, their HDR levels and anomaly ranks.

    Parameters
    ----------
    y : ndarray of shape (n, d)
        The embedding. For d = 1 the density is 1-D; for d > 2 it is that of the first two
        principal components, with a notice.
    n_anomalies : int
        How many of the lowest ranks are named as anomalies.
    k : int
        Equal densities are ranked by the distance to the k-th neighbour on the map.
    rank_by : {"density", "isolation", "surprise"}
        Anomalies of one kind can form a dense cluster of their own on the map, which no density
        sees, and an event of a few hours moves a point hardly at all. ``isolation`` ranks by how
        far a point is from its neighbours on the manifold itself, ``surprise`` by how far it is
        from what they lead one to expect; levels remain those of the density.
    isolation : ndarray of shape (n,), optional
        For ``rank_by="isolation"``: the distance to the K-th neighbour in the statistical
        distance, ``Neighbors.distances[:, -1]``. It is used as it is, not divided by what a
        sample size of m would explain: that would hide small units that really are unusual.
        `sample_size_notice` says when ranks and sample sizes go together.
    surprise : ndarray of shape (n,), optional
        For ``rank_by="surprise"``: the ``score`` of :func:`core.surprise.measure_surprise`.
    """
    y = _check_embedding(y)
    n = len(y)
    if n_anomalies < 0:
        raise InputError(f"n_anomalies must be at least 0, got {n_anomalies}")
    land = survey(y)
    progress(0.4)
    density, exact = land.at_points(threads=threads, progress=part(progress, 0.4, 0.9))
    if rank_by == "density":
        order = _order_by_density(y, density, exact, k=k, threads=threads)
    else:
        given = {"isolation": isolation, "surprise": surprise}[rank_by]
        order = np.argsort(-_check_score(rank_by, given, n), kind="stable")
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(1, n + 1)
    thresholds = np.quantile(density, 1 - np.array(COVERAGES) / 100)
    level = (density[:, None] < thresholds).sum(axis=1).astype(np.int8)
    typical = np.flatnonzero(level == 0)
    progress(1.0)
    return HDR(
        density=density,
        level=level,
        rank=rank,
        anomalies=order[:n_anomalies],
        typical=typical[np.argsort(-density[typical], kind="stable")],
        thresholds=thresholds,
        bandwidth=_kernel_covariance(land.sphering, land.binned.bandwidth),
        contours=_contours(land.sphering, land.binned),
        rank_by=rank_by,
        notices=land.notices,
    )


def sample_size_notice(rank: np.ndarray, sample_size: np.ndarray) -> str | None:
    """Say when anomaly ranks go with sample sizes, and None when they do not.

    Small samples look far from everything: where ranks follow m, what looks unusual may be only
    short. The measure is Spearman's correlation.
    """
    if len(rank) < 10 or np.ptp(sample_size) == 0:
        return None
    correlation = float(np.corrcoef(pd.Series(sample_size).rank(), rank)[0, 1])
    if correlation < 0.3:
        return None
    return (
        f"anomaly rank and sample size correlate ({correlation:.2f}): units with few readings "
        "rank as more anomalous; colour by m, or raise the minimum sample size"
    )


def _check_embedding(y: np.ndarray) -> np.ndarray:
    y = np.asarray(y, np.float64)
    if y.ndim == 1:
        y = y[:, None]
    if y.ndim != 2 or 0 in y.shape:
        raise InputError(f"the embedding must be a table of points, got an array of {y.shape}")
    bad = np.flatnonzero(~np.isfinite(y).all(axis=1))
    if bad.size:
        raise InputError(f"{bad.size} points of the embedding are not finite, first {bad[0]}")
    return y


def _check_score(name: str, score: np.ndarray | None, n: int) -> np.ndarray:
    if score is None:
        raise InputError(f"rank_by={name!r} needs {name}, a number for every point")
    score = np.asarray(score, np.float64)
    if score.shape != (n,) or np.isnan(score).any():
        raise InputError(f"{name} must be {n} numbers, got an array of {score.shape}")
    return score


def _order_by_density(
    y: np.ndarray, density: np.ndarray, exact: np.ndarray, *, k: int, threads: int | None
) -> np.ndarray:
    """All points from the lowest density up; ties by the k-th distance, far first, then index."""
    far = np.zeros(len(y))
    values, inverse, counts = np.unique(density[exact], return_inverse=True, return_counts=True)
    tied = exact[counts[inverse] > 1]
    k = min(k, len(y) - 1)
    if k > 0 and tied.size and len(values) > 1:
        axes = np.ascontiguousarray(y.T)
        _, first, inverse = np.unique(y[tied], axis=0, return_index=True, return_inverse=True)
        distances = np.empty(len(first))

        def work(block: slice) -> None:
            nearest_distances(axes, tied[first[block]], k, distances[block])

        share(work, slices(len(first), 50), threads=threads or available_threads())
        far[tied] = distances[inverse]
    return np.lexsort((-far, density))


def _kernel_covariance(sphering: Sphering, bandwidth: float) -> np.ndarray:
    shape = sphering.axes * (sphering.scales * bandwidth)
    return shape @ shape.T


def _contours(sphering: Sphering, binned: BinnedDensity) -> Contours:
    """The grid thinned to what a picture can show, in the coordinates of the map."""
    grid = binned.grid
    stride = max(1, -(-max(grid.shape) // _CONTOUR_CELLS))
    thinned = binned.on_grid[tuple(slice(None, None, stride) for _ in grid.shape)]
    back = (sphering.axes * sphering.scales).T
    return Contours(
        density=(thinned / sphering.volume).astype(np.float32),
        origin=sphering.centre + grid.origin @ back,
        steps=stride * grid.step * back,
    )
