"""How a map stretches and squeezes: the Riemannian metric of an embedding, at every point.

Perrault-Joncas and Meilă (2013) find it with the Laplacian L of the neighbour graph: for
coordinates y^a and y^b of the map, the dual metric is

    H^ab = ½ [L(y^a · y^b) − y^a · L y^b − y^b · L y^a].

With L = (P − I) / cε and P the random walk on the graph, that is the second moment of a step of
the walk, H_i = Σ_j P_ij (y_j − y_i)(y_j − y_i)ᵀ / 2cε. A short way of statistical length δ becomes
a step of length δ √λ on the map, along an eigenvector of H with eigenvalue λ; an area becomes
√det H times as large.

Three things differ from the paper, because our graph has K neighbours per point and not all within
a radius (docs/explanation.md has the reasons, benchmarks/corrected_density.py the figures):

- The kernel of the walk is as wide as the K neighbours reach, exp(−δ_ij² / δ_iK²): with one width
  for all, the nearest alone would count in a sparse place, which has no area.
- 2cε / d is the squared length of a step where neighbours have no end. Where there are K, a step is
  shorter, so its length is measured: H_i = d · Σ_j P_ij (y_j − y_i)(y_j − y_i)ᵀ / Σ_j P_ij δ_ij².
- K neighbours leave H_i noisy, and a neighbour on the other side of a tear makes it huge. A metric
  is smooth: G_i = H_i⁻¹ is averaged over the point and its neighbours, where a tear counts little.
"""

from dataclasses import dataclass

import numpy as np

from core.errors import InputError
from core.fields import MAX_METRIC_DIM
from core.parallel import run_tasks, slices
from core.progress import Progress, part, silent

# A direction that is this much shorter (squared) than the map's typical one is taken to be flat.
_FLAT = 1e-6
_ROWS = 5_000


@dataclass(frozen=True, eq=False)
class RiemannianMetric:
    """The dual metric of a map at its points.

    Attributes
    ----------
    dual : ndarray of shape (n, d, d)
        H, the squared stretch of the map, in squared map units per squared statistical distance.
    local : ndarray of shape (n, d, d)
        G of each point by itself, before it is averaged with its neighbours'.
    typical : float
        The squared stretch of a typical point; what is 10⁶ times less is flat.
    """

    dual: np.ndarray
    local: np.ndarray
    typical: float

    @property
    def area(self) -> np.ndarray:
        """√det H, (n,): map area per unit of area between the distributions (length for d = 1)."""
        return np.sqrt(np.linalg.det(self.dual))

    @property
    def distortion(self) -> np.ndarray:
        """Area over that of the typical point, (n,): 2 is drawn twice as large as it should be."""
        area = self.area
        return area / np.median(area)

    def stretch(self) -> tuple[np.ndarray, np.ndarray]:
        """Return how much longer the map makes a step along each axis of H, and those axes.

        Returns
        -------
        lengths : ndarray of shape (n, d)
            Greatest first, in map units per unit of statistical distance.
        axes : ndarray of shape (n, d, d)
            ``axes[i, :, a]`` is a unit vector on the map, the direction of ``lengths[i, a]``.
        """
        squares, axes = np.linalg.eigh(self.dual)
        return np.sqrt(squares[:, ::-1]), axes[:, :, ::-1]

    def at(
        self, y: np.ndarray, places: np.ndarray, indices: np.ndarray, distances: np.ndarray
    ) -> np.ndarray:
        """Return the dual metric (m, d, d) at new points of the map.

        Parameters
        ----------
        y : ndarray of shape (n, d)
            The map's points.
        places : ndarray of shape (m, d)
            Where the new points are.
        indices, distances : ndarrays of shape (m, k)
            Their neighbours among the map's points.
        """
        own = _invert(_step_moments(y, places, indices, distances), self.typical)
        return _smooth(own, self.local[indices], distances)


def learn_metric(
    y: np.ndarray,
    indices: np.ndarray,
    distances: np.ndarray,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> RiemannianMetric | None:
    """Estimate the metric of a map from the neighbour lists that it was made of.

    Parameters
    ----------
    y : ndarray of shape (n, d)
        The map; d is at most `MAX_METRIC_DIM`.
    indices, distances : ndarrays of shape (n, k)
        Neighbours of each point and their statistical distances.

    Returns
    -------
    RiemannianMetric or None
        None where all of the map, or all of the data, is in one place: nothing can be measured.
    """
    n, d = y.shape
    if d > MAX_METRIC_DIM:
        raise InputError(
            f"the distortion of a map is measured for up to {MAX_METRIC_DIM} axes, got {d}; "
            f"choose dim up to {MAX_METRIC_DIM}"
        )
    if not distances.any():
        return None
    moments, dual = np.empty((n, d, d)), np.empty((n, d, d))

    def measure(rows: slice) -> None:
        moments[rows] = _step_moments(y, y[rows], indices[rows], distances[rows])

    def smooth(rows: slice) -> None:
        dual[rows] = _smooth(local[rows], local[indices[rows]], distances[rows])

    blocks = slices(n, _ROWS)
    run_tasks(measure, blocks, threads=threads, progress=part(progress, 0.0, 0.5))
    known = np.isfinite(moments[:, 0, 0])
    typical = float(np.median(np.linalg.eigvalsh(moments[known])[:, -1]))
    if typical == 0:
        return None
    local = _invert(moments, typical)
    run_tasks(smooth, blocks, threads=threads, progress=part(progress, 0.5, 1.0))
    return RiemannianMetric(dual, local, typical)


def _weights(distances: np.ndarray) -> np.ndarray:
    """exp(−δ² / δ_K²) of neighbour lists (m, k); 1 for those of duplicates alone."""
    reach = distances[:, -1:]
    return np.exp(-((distances / np.where(reach > 0, reach, 1.0)) ** 2))


def _step_moments(
    y: np.ndarray, places: np.ndarray, indices: np.ndarray, distances: np.ndarray
) -> np.ndarray:
    """H by itself at each place (m, d, d); NaN where all neighbours are at distance zero."""
    weights = _weights(distances)
    steps = y[indices] - places[:, None]
    moments = np.einsum("ik,ika,ikb->iab", weights, steps, steps)
    length = np.einsum("ik,ik->i", weights, distances**2)[:, None, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(length > 0, y.shape[1] * moments / length, np.nan)


def _invert(moments: np.ndarray, typical: float) -> np.ndarray:
    """G = H⁻¹ (m, d, d), of a typical size along what is flat or unknown."""
    squares, axes = np.linalg.eigh(np.nan_to_num(moments, nan=0.0))
    squares = np.maximum(squares, _FLAT * typical)
    squares[np.isnan(moments[:, 0, 0])] = typical
    return (axes / squares[:, None]) @ axes.transpose(0, 2, 1)


def _smooth(own: np.ndarray, near: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """H (m, d, d) from G averaged over each point (m, d, d) and its neighbours (m, k, d, d)."""
    weights = _weights(distances)
    total = own + np.einsum("ik,ikab->iab", weights, near)
    dual = np.linalg.inv(total / (1 + weights.sum(axis=1))[:, None, None])
    return (dual + dual.transpose(0, 2, 1)) / 2
