"""How many dimensions points have, whatever space they lie in: TWO-NN.

Facco, d'Errico, Rodriguez and Laio (2017), "Estimating the intrinsic dimension of datasets by a
minimal neighborhood information", Scientific Reports 7, 12140.
"""

from dataclasses import dataclass

import numpy as np

# The largest ratios are left out: they belong to outliers, and the fit of the paper does so too.
DISCARD = 0.1

LEAST_POINTS = 20


@dataclass(frozen=True)
class IntrinsicDimension:
    """An estimate of the number of dimensions.

    Attributes
    ----------
    value : float
    low, high : float
        95 % of estimates of as many independent points lie within.
    n : int
        Points that it is made of: those with two neighbours at different places than their own.
    """

    value: float
    low: float
    high: float
    n: int


def two_nn(distances: np.ndarray, *, discard: float = DISCARD) -> IntrinsicDimension | None:
    """Estimate the intrinsic dimension from the distances to the two nearest neighbours.

    On a d-dimensional manifold the ratio μ of the second distance to the first has
    P(μ ≤ m) = 1 − m^−d wherever the density is locally even, so −log(1 − P) is a line of slope d in
    log μ, fitted through the origin.

    Parameters
    ----------
    distances : ndarray of shape (n, ≥ 2)
        To the nearest neighbours, increasing in every row, the point itself not among them.
    discard : float
        The share of the largest ratios that is left out of the fit.

    Returns
    -------
    IntrinsicDimension, or None where fewer than twenty points have two distinct neighbours.
    """
    if distances.ndim != 2 or distances.shape[1] < 2:
        return None
    first, second = np.asarray(distances[:, :2], np.float64).T
    # Duplicates have no ratio.
    usable = (first > 0) & np.isfinite(second)
    n = int(usable.sum())
    if n < LEAST_POINTS:
        return None
    log_ratio = np.sort(np.log(second[usable] / first[usable]))
    kept = max(2, int(n * (1 - discard)))
    x, y = log_ratio[:kept], -np.log1p(-np.arange(1, kept + 1) / (n + 1))
    if not (x @ x) > 0:
        return None
    value = float(x @ y / (x @ x))
    # log μ is exponential with rate d; the estimate from k of them spreads like d / √k.
    reach = 1.96 * value / np.sqrt(kept)
    return IntrinsicDimension(value, max(value - reach, 0.0), value + reach, n)
