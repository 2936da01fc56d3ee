"""Density corrected for the distortion of the map (DC-KDE: Cheng, Hyndman and Panagiotelis 2024).

A place where the map squeezes points together looks dense, one that it stretches looks empty. With
the dual metric H of the map (`RiemannianMetric`), the density of the data itself at point j is

    f(y_j) = √det H_j · mean over i ≠ j of N(y_j; y_i, r² H_i):

every kernel is a ball of radius r in the statistical distance, drawn as the ellipse that the map
makes of it, and √det H_j turns "per area of the map" into "per area of the data".
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from core.density.kernel_sums import Kernels, merge, sum_at
from core.density.map_density import Contours, Landscape, choose_kernel
from core.density.riemannian_metric import RiemannianMetric
from core.fields import Bandwidth
from core.progress import Progress, part, silent

# Up to this many points all pairs are summed; of more, kernels that nearly coincide are merged.
ALL_PAIRS = 8_192
# The lowest densities are evaluated exactly, as without correction.
EXACT_POINTS = 1_000
# Merged kernels end after this many standard deviations: e^−12 of their height.
_REACH = 5.0
# Where the metric of a place is not known, it is that of so many points around it.
_AROUND = 10


@dataclass(frozen=True, eq=False)
class CorrectedDensity:
    """The corrected density of a map, at its points and anywhere else.

    Attributes
    ----------
    y : ndarray of shape (n, d)
        The map.
    metric : RiemannianMetric
        Its distortion.
    radius : float
        r, the width of every kernel in the statistical distance.
    kernel : ndarray of shape (d, e)
        Axes of a kernel of typical size on the map, as long as its standard deviations.
    grid : Contours
        The grid for contour lines, with the density that is not corrected.
    notices : tuple of str
        What a reader should know.
    """

    y: np.ndarray
    metric: RiemannianMetric
    radius: float
    kernel: np.ndarray
    grid: Contours
    notices: tuple[str, ...] = ()

    @cached_property
    def _kernels(self) -> Kernels:
        return Kernels(self.y, self.radius**2 * self.metric.dual, np.ones(len(self.y)))

    @cached_property
    def _merged(self) -> tuple[Kernels, np.ndarray]:
        return merge(self._kernels)

    def at_points(
        self, *, threads: int | None = None, progress: Progress = silent
    ) -> tuple[np.ndarray, np.ndarray]:
        """Leave-one-out density at every point, and which of them (indices) are exact."""
        every, area = np.arange(len(self.y)), self.metric.area
        if len(self.y) <= ALL_PAIRS:
            return self._exact(self.y, area, every, threads, progress), every
        density = self._approximate(self.y, area, every, threads, part(progress, 0.0, 0.6))
        exact = np.flatnonzero(density <= _exact_up_to(density))
        density[exact] = self._exact(
            self.y[exact], area[exact], exact, threads, part(progress, 0.6, 1.0)
        )
        return density, exact

    def at(
        self,
        places: np.ndarray,
        area: np.ndarray,
        *,
        left_out: np.ndarray,
        threads: int | None = None,
    ) -> np.ndarray:
        """Density at other places of the map, found as that at its points is.

        Parameters
        ----------
        places : ndarray of shape (q, d)
        area : ndarray of shape (q,)
            √det H there, see :meth:`RiemannianMetric.at`.
        left_out : int ndarray of shape (q,)
            The point of the map that does not count at each place; −1 where all do.

        Returns
        -------
        ndarray of shape (q,)
            Per unit of volume of the statistical distance; that at a place does not depend on the
            others.
        """
        if len(self.y) <= ALL_PAIRS:
            return self._exact(places, area, left_out, threads, silent)
        density = self._approximate(places, area, left_out, threads, silent)
        exact = np.flatnonzero(density <= self._limit)
        density[exact] = self._exact(places[exact], area[exact], left_out[exact], threads, silent)
        return density

    @cached_property
    def _limit(self) -> float:
        every = np.arange(len(self.y))
        return _exact_up_to(self._approximate(self.y, self.metric.area, every, None, silent))

    def _exact(
        self,
        places: np.ndarray,
        area: np.ndarray,
        left_out: np.ndarray,
        threads: int | None,
        progress: Progress,
    ) -> np.ndarray:
        """Density at places from all kernels."""
        sums = sum_at(self._kernels, places, left_out=left_out, threads=threads, progress=progress)
        return area * sums / np.maximum(len(self.y) - (left_out >= 0), 1)

    def _approximate(
        self,
        places: np.ndarray,
        area: np.ndarray,
        left_out: np.ndarray,
        threads: int | None,
        progress: Progress,
    ) -> np.ndarray:
        """Density at places from merged kernels."""
        merged, group = self._merged
        sums = sum_at(merged, places, reach=_REACH, threads=threads, progress=progress)
        own = np.flatnonzero(left_out >= 0)
        sums[own] -= merged.one_at(places[own], group[left_out[own]])
        return area * np.maximum(sums, 0) / (len(self.y) - (left_out >= 0))

    def contours(self) -> Contours:
        """Density on a grid over the map; none for more than two axes.

        The area at a place without a point is the geometric mean of that of the points around.
        """
        d = self.y.shape[1]
        if d > 2:
            return Contours(np.empty(0, np.float32), np.zeros(d), np.zeros((1, d)))
        thinned = self.grid.density[(slice(None, None, 2),) * self.grid.density.ndim]
        grid = Contours(thinned, self.grid.origin, 2 * self.grid.steps)
        places = grid.points().reshape(-1, d)
        around = cKDTree(self.y).query(places, min(_AROUND, len(self.y)))[1]
        log_area = np.log(self.metric.area)[around.reshape(len(places), -1)]
        kernels = self._merged[0] if len(self.y) > ALL_PAIRS else self._kernels
        sums = sum_at(kernels, places, reach=_REACH)
        density = np.exp(log_area.mean(axis=1)) * sums / len(self.y)
        return replace(grid, density=density.reshape(thinned.shape).astype(np.float32))


def _exact_up_to(density: np.ndarray) -> float:
    """Approximate densities that are no higher are evaluated exactly."""
    return float(np.partition(density, EXACT_POINTS)[EXACT_POINTS])


def correct(
    land: Landscape, y: np.ndarray, metric: RiemannianMetric, *, bandwidth: Bandwidth
) -> CorrectedDensity:
    """Correct the density of a map.

    The radius is chosen such that the kernel of a typical point is as large on the map as the
    kernel of the density that is not corrected.

    Parameters
    ----------
    land : Landscape
        The density that is not corrected.
    y : ndarray of shape (n, d)
        The map.
    bandwidth : {"plug-in", "wide"}
        How ``land`` was made. With more than two axes, which it does not see all, ``plug-in`` is
        the rule of thumb for a normal cloud.
    """
    kernel, notices = land.kernel, land.notices
    if y.shape[1] > 2:
        sphering, _, width, _ = choose_kernel(y, bandwidth)
        kernel = sphering.axes * (sphering.scales * width)
        notices = (f"the density is that over all {y.shape[1]} axes and has no contour lines",)
    e = kernel.shape[1]
    volume = math.sqrt(np.linalg.det(kernel.T @ kernel))
    lengths, _ = metric.stretch()
    radius = (volume / np.median(lengths[:, :e].prod(axis=1))) ** (1 / e)
    return CorrectedDensity(y, metric, float(radius), kernel, land.contours(), notices)
