"""How far to trust a map: which neighbours it keeps, and whether it shows anything at all."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from core.density.riemannian_metric import RiemannianMetric
from core.parallel import available_cores
from core.summary import Summarized

# A map whose points are within this share of its width from each other shows one place.
_ONE_PLACE = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class MapTrust(Summarized):
    """How far to trust a map at every point. NaN is what cannot be measured.

    Attributes
    ----------
    kept : ndarray of shape (n,)
        Share of the point's neighbours that are its neighbours on the map, too.
    distortion : ndarray of shape (n,)
        How large the map draws what is around the point: 1 as a typical point, 2 with twice the
        area (length on a line, volume for more axes).
    elongation : ndarray of shape (n,)
        The greatest stretch over the least; 1 is the same in all directions.
    direction : ndarray of shape (n, d)
        The direction of the greatest stretch on the map, of length one; its sign has no meaning.
    """

    kept: np.ndarray
    distortion: np.ndarray
    elongation: np.ndarray
    direction: np.ndarray


def measure_trust(
    y: np.ndarray,
    indices: np.ndarray,
    metric: RiemannianMetric | None,
    *,
    threads: int | None = None,
) -> MapTrust:
    """Say how far to trust a map (n, d) with neighbours (n, k) at every point.

    ``metric`` is None where the map has none, see :func:`core.density.learn_metric`.
    """
    kept = neighbors_kept(y, indices, threads=threads)
    if metric is None:
        unknown = np.full(len(y), np.nan)
        return MapTrust(kept, unknown, unknown, np.full(y.shape, np.nan))
    lengths, axes = metric.stretch()
    return MapTrust(kept, metric.distortion, lengths[:, 0] / lengths[:, -1], axes[:, :, 0])


def neighbors_kept(y: np.ndarray, indices: np.ndarray, *, threads: int | None = None) -> np.ndarray:
    """Return the share of each point's neighbours that are its neighbours on the map, too.

    The mean over all points is the ``q_nx`` of the quality measures, where the neighbours are
    exact and no two distances on the map are equal.

    Parameters
    ----------
    y : ndarray of shape (n, d)
        The map.
    indices : int ndarray of shape (n, k)
        Neighbours in the statistical distance.

    Returns
    -------
    ndarray of shape (n,)
        From 0 to 1; NaN for a single point.
    """
    n, k = indices.shape
    if k == 0:
        return np.full(n, np.nan)
    workers = threads or available_cores()
    near = cKDTree(y).query(y, k + 1, workers=workers)[1]
    # Among more than K duplicates, a point may not find itself.
    itself = near == np.arange(n)[:, None]
    itself[~itself.any(axis=1), -1] = True
    near = near[~itself].reshape(n, k)
    # Pairs of a point and a neighbour as single numbers.
    offsets = np.arange(n)[:, None] * n
    kept = np.isin(indices + offsets, near + offsets, assume_unique=True)
    return kept.mean(axis=1)


def kept_by_dimension(y: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return what share of neighbours the first axes of a map keep, one axis and more: (d,).

    ``y`` is the map, (n, d), and ``indices`` the neighbours in the statistical distance, (n, k).
    """
    counts = range(1, y.shape[1] + 1)
    return np.array([neighbors_kept(y[:, :count], indices).mean() for count in counts])


def degenerate_notice(y: np.ndarray) -> str | None:
    """Say when most points of a map (n, d) are in one place, and None when they are not."""
    n = len(y)
    width = np.ptp(y, axis=0).max() if n else 0.0
    away = np.abs(y - np.median(y, axis=0)).max(axis=1) if n else np.zeros(0)
    collapsed = int(np.sum(away <= _ONE_PLACE * width))
    if width == 0 or 2 * collapsed <= n:
        return None
    return (
        f"the map is degenerate: {collapsed:,} of its {n:,} points lie in one place, within a "
        "thousandth of its width, and it tells nothing about them; choose another method or K"
    )
