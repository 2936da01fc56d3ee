"""Density on the map, highest density regions, and the ranks of anomalies.

A point is in the α-HDR when its density is at least the (1 − α) quantile of the density at the
points (Hyndman 1996): the α-HDR is the smallest region that holds a share α of the points.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.density.corrected import CorrectedDensity, correct
from core.density.map_density import Contours, Landscape, survey
from core.density.riemannian_metric import RiemannianMetric
from core.errors import InputError
from core.fields import Bandwidth, RankBy
from core.parallel import available_cores, run_tasks, slices
from core.progress import Progress, part, silent
from core.quality.ranks import nearest_distances
from core.summary import Summarized

# The shares of points that the regions hold, in percent, and what lies outside the last.
COVERAGES = (1, 20, 40, 60, 80, 99)
LEVELS = (*(str(coverage) for coverage in COVERAGES), f">{COVERAGES[-1]}")


@dataclass(frozen=True, eq=False, repr=False)
class HDR(Summarized):
    """Density, HDR level and anomaly rank of every point.

    Attributes
    ----------
    density : float64 ndarray of shape (n,)
        Leave-one-out density, per unit area of the map (length for a line), or corrected.
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
        Covariance matrix of the kernel, in the coordinates of the map; of the corrected density,
        one of the size of a typical kernel.
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
    bandwidth: Bandwidth = "plug-in",
    metric: RiemannianMetric | None = None,
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
        For ``rank_by="surprise"``: the ``score`` of :func:`core.anomalies.measure_surprise`.
    bandwidth : {"plug-in", "wide"}
        See :func:`core.density.survey`.
    metric : RiemannianMetric, optional
        How the map stretches and squeezes, see :func:`core.density.learn_metric`. With it the
        density is that of the data, per unit of volume of the statistical distance, over all d
        axes; without it, that of the points on the map.
    """
    y = _check_embedding(y)
    n = len(y)
    if n_anomalies < 0:
        raise InputError(f"n_anomalies must be at least 0, got {n_anomalies}")
    plain = survey(y, bandwidth=bandwidth)
    land: Landscape | CorrectedDensity = plain
    if metric is not None:
        land = correct(plain, y, metric, bandwidth=bandwidth)
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
    level = assign_levels(density, thresholds)
    progress(1.0)
    return HDR(
        density=density,
        level=level,
        rank=rank,
        anomalies=order[:n_anomalies],
        typical=typical_points(density, level),
        thresholds=thresholds,
        bandwidth=land.kernel @ land.kernel.T,
        contours=land.contours(),
        rank_by=rank_by,
        notices=land.notices,
    )


def assign_levels(density: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Put every point into the smallest region that holds it, as codes of `LEVELS`.

    Without ties that is the region whose threshold the density reaches. Of points with the very
    density of a threshold, a region takes in only as many as it has room for, the first by index:
    on a map that collapses onto one place, the 1 % region would hold all of them otherwise.

    Parameters
    ----------
    density : ndarray of shape (n,)
    thresholds : ndarray of shape (6,)
        Quantiles of it, one for each of `COVERAGES`.

    Returns
    -------
    int8 ndarray of shape (n,)
    """
    n = len(density)
    order = np.argsort(-density, kind="stable")
    falling = -density[order]
    # How many points reach each threshold, and how many of those do so only just.
    counts = np.searchsorted(falling, -thresholds, side="right")
    tied = counts - np.searchsorted(falling, falling[np.maximum(counts, 1) - 1], side="left")
    room = n - np.ceil((n - 1) * (1 - np.array(COVERAGES) / 100) - 1e-9).astype(np.int64)
    counts = np.where(tied > 1, np.minimum(counts, room), counts)
    level = np.empty(n, np.int8)
    level[order] = np.searchsorted(counts, np.arange(n), side="right")
    return level


def typical_points(density: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return the points in the 1 % region, densest first."""
    typical = np.flatnonzero(level == 0)
    return typical[np.argsort(-density[typical], kind="stable")]


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

        run_tasks(work, slices(len(first), 50), threads=threads or available_cores())
        far[tied] = distances[inverse]
    return np.lexsort((-far, density))
