"""Embedding many points through a few of them.

What is fitted in full is bounded: all pairwise geodesics and the dense factorisations of the
spectral methods take N² numbers and N³ operations. Beyond ``FULL`` points a random sample is
fitted instead, and the rest are placed by it:

- ISOMAP measures the exact geodesics from the landmarks to all points over the whole graph, and
  places each point by them (landmark MDS, de Silva and Tenenbaum 2004). Nothing but the graph is
  needed, and no edge of it is left out.
- LLE, Hessian LLE and Laplacian eigenmaps work on the graph of the landmarks, each joined to the
  k landmarks that are nearest along the whole graph, so that the backend's graph still decides;
  the other points are rebuilt from their own k nearest landmarks with barycentric weights.
"""

from typing import TYPE_CHECKING

import numpy as np

from core.embedding.graph import Graph
from core.embedding.neighborhoods import barycentric_weights, map_grams
from core.progress import Progress
from core.registry import Parameter

if TYPE_CHECKING:
    from core.vectors import Vectors

# The largest problem solved in full: 10,000² float64 are 0.8 GB.
FULL = 10_000
# A dense factorisation of this size takes a few seconds.
SPECTRAL_LANDMARKS = 5_000
# Each ISOMAP landmark costs one search of the whole graph and a row of n numbers: a thousand
# landmarks up to 100,000 points, then fewer, but never below two hundred.
GEODESIC_LANDMARKS = 1_000
GEODESIC_LANDMARKS_MIN = 200
GEODESIC_ENTRIES = 100_000_000

LANDMARKS = Parameter(
    name="landmarks",
    default=0,
    low=0,
    high=FULL,
    help="Points to fit when there are more of them than this; the others are placed by these. "
    f"0 chooses: all up to {FULL:,} points, a sample beyond",
)


def spectral_count(n: int, chosen: int) -> int:
    """How many of n points a spectral method fits; n means all."""
    if chosen:
        return min(n, chosen)
    return n if n <= FULL else SPECTRAL_LANDMARKS


def geodesic_count(n: int, chosen: int) -> int:
    """How many of n points ISOMAP measures from; n means all."""
    if chosen:
        return min(n, chosen)
    if n <= FULL:
        return n
    return int(np.clip(GEODESIC_ENTRIES // n, GEODESIC_LANDMARKS_MIN, GEODESIC_LANDMARKS))


def choose(n: int, count: int, seed: int) -> np.ndarray:
    """Draw landmarks evenly: a sample keeps the density of the map, which is what is shown."""
    return np.sort(np.random.default_rng(seed).choice(n, count, replace=False))


def landmark_lists(
    graph: Graph, landmarks: np.ndarray, k: int, *, progress: Progress
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Neighbour lists among the landmarks, and every point's own nearest landmarks.

    Returns
    -------
    indices, distances : ndarray of shape (landmarks, k)
        Positions in ``landmarks`` and lengths along the graph.
    nearest : ndarray of shape (n, k)
        Positions in ``landmarks``.
    """
    from core.embedding._geodesics import nearest_sources

    which, lengths = nearest_sources(graph, landmarks, k + 1, progress=progress)
    # A landmark is its own nearest one, also among duplicates at distance zero.
    return which[landmarks, 1:], lengths[landmarks, 1:], which[:, :k]


def extend(
    y: np.ndarray,
    landmarks: np.ndarray,
    nearest: np.ndarray,
    rows: np.ndarray,
    vectors: "Vectors",
    *,
    ridge: float,
    threads: int,
    progress: Progress,
) -> np.ndarray:
    """Place every point by the landmarks nearest to it.

    Parameters
    ----------
    y : ndarray of shape (landmarks, dim)
        Where the landmarks are.
    landmarks : ndarray
        Positions of the landmarks among the points.
    nearest : ndarray of shape (n, k)
        The landmarks nearest to each point.
    rows : ndarray of shape (n,)
        The points' row numbers in the vectors.

    Returns
    -------
    ndarray of shape (n, dim)
    """
    placed = np.empty((len(rows), y.shape[1]))
    placed[landmarks] = y
    others = np.setdiff1d(np.arange(len(rows)), landmarks)
    placed[others] = barycentric_places(
        y,
        nearest[others],
        vectors,
        rows[others],
        rows[landmarks],
        ridge=ridge,
        threads=threads,
        progress=progress,
    )
    return placed


def barycentric_places(
    y: np.ndarray,
    nearest: np.ndarray,
    vectors: "Vectors",
    rows: np.ndarray,
    landmark_rows: np.ndarray,
    *,
    ridge: float,
    threads: int,
    progress: Progress,
) -> np.ndarray:
    """Place points by the weights that best rebuild each from the landmarks nearest to it.

    A point's place depends on itself and the landmarks alone, whatever points come with it.

    Parameters
    ----------
    y : ndarray of shape (landmarks, dim)
        Where the landmarks are.
    nearest : ndarray of shape (m, k)
        The landmarks nearest to each point, as positions in ``y``.
    rows : ndarray of shape (m,)
        The points' row numbers in the vectors.
    landmark_rows : ndarray of shape (landmarks,)
        Those of the landmarks.

    Returns
    -------
    ndarray of shape (m, dim)
    """
    weights = map_grams(
        lambda gram: barycentric_weights(gram, ridge),
        vectors,
        rows,
        landmark_rows[nearest],
        threads=threads,
        progress=progress,
        message="placing the other points",
    )
    return np.einsum("ik,ikd->id", weights, y[nearest])
