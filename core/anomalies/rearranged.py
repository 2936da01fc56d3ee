"""How much more ordinary a record looks when it is rearranged: moved by hours, days exchanged.

A fault that rearranges a record is undone by the opposite rearrangement. What is ordinary is told
by a normal distribution over households, so that a habit that many share counts for little.
"""

from collections.abc import Callable, Iterable

import numpy as np

# A single value counts at most this many deviations.
MOST = 4.0

# What is ordinary is fitted again with less weight on households beyond the median distance.
REWEIGHTINGS = 2


def log_distances(
    features: np.ndarray,
    rearrange: Callable[[np.ndarray], Iterable[np.ndarray]],
    *,
    penalty: float,
    floor: float,
) -> np.ndarray:
    """Return how far from ordinary each household is, as it is and rearranged, (n, 1 + r).

    Parameters
    ----------
    features : ndarray, shape (n, …)
        What is rearranged.
    rearrange : callable
        Takes the features and yields rearranged ones, of the same shape.
    penalty : float
        Added to the covariance, in multiples of its mean variance: with few households it is
        known roughly.
    floor : float
        Added to squared distances: all that are much smaller are alike.

    Returns
    -------
    ndarray
        Log squared Mahalanobis distances from the mean of the other households, the first column
        without a rearrangement.
    """
    n = len(features)
    flat = features.reshape(n, -1)
    center = np.median(flat, axis=0)
    spread = np.maximum(1.4826 * np.median(np.abs(flat - center), axis=0), 1e-6)

    def scaled(values: np.ndarray) -> np.ndarray:
        return np.clip((values.reshape(n, -1) - center) / spread, -MOST, MOST)

    z = scaled(features)
    # Households that are far off teach little about what is ordinary, above all several alike.
    weight = np.ones(n)
    for _ in range(REWEIGHTINGS + 1):
        mean = weight @ z / weight.sum()
        y = z - mean
        scatter = (y * weight[:, None]).T @ y
        scatter += penalty * np.trace(scatter) / len(scatter) * np.eye(len(scatter))
        inverse = np.linalg.inv(scatter)
        own = y @ inverse
        leverage = weight * (own * y).sum(axis=1)
        squared = (own * y).sum(axis=1) / (1 - leverage)
        last, weight = weight, np.minimum(1.0, np.median(squared) / squared) ** 2
    weight = last

    def log_distance(values: np.ndarray) -> np.ndarray:
        # The covariance without the household itself, by the Sherman–Morrison formula.
        y = scaled(values) - mean
        without = weight * (own * y).sum(axis=1) ** 2 / (1 - leverage)
        squared = ((y @ inverse) * y).sum(axis=1) + without
        return np.log(weight.sum() * squared + floor)

    return np.stack([log_distance(each) for each in (features, *rearrange(features))], axis=1)


def gain(distances: np.ndarray) -> np.ndarray:
    """Return how much nearer to ordinary each rearrangement brings a household, (n, r)."""
    return distances[:, :1] - distances[:, 1:]
